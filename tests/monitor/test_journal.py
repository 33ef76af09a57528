"""The journal: what is written is read, to the bit; a line that is cut off is ignored, any other damage is an error."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from lanner.errors import FolderError
from lanner.monitor.journal import Journal, Record


def record(k: int) -> Record:
    sums = np.random.default_rng(k).standard_normal(7)
    return Record(f"run {k}", f"digest {k}", 10 * k, None if k % 2 else 3.5, sums, (float(k), 2.0), {"path": "a\nb"})


@pytest.fixture
def written(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "journal.jsonl", "calibration")
    assert journal.read() == []
    for k in range(5):
        journal.append(record(k), wait=k == 4)
    return tmp_path / "journal.jsonl"


def names(path: Path) -> list[str]:
    return [one.name for one in Journal(path, "calibration").read()]


def test_what_is_written_is_read_to_the_bit(written: Path) -> None:
    for k, found in enumerate(Journal(written, "calibration").read()):
        assert found.sums.tobytes() == record(k).sums.tobytes()
        assert vars(found) | {"sums": None} == vars(record(k)) | {"sums": None}


def test_a_line_that_is_cut_off_anywhere_is_ignored_and_written_over(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    for cut in [*range(last, len(content), 23), len(content) - 1]:
        path = tmp_path / "cut.jsonl"
        path.write_bytes(content[:cut])
        journal = Journal(path, "calibration")
        assert [one.name for one in journal.read()] == [f"run {k}" for k in range(4)]
        journal.append(record(4))
        assert path.read_bytes() == content


def test_a_changed_line_is_an_error_that_names_it(written: Path) -> None:
    written.write_text(written.read_text().replace('"run 2"', '"run 7"'))
    with pytest.raises(FolderError, match=r"journal\.jsonl:4: this line is damaged"):
        names(written)


def test_a_line_that_is_missing_is_an_error(written: Path) -> None:
    lines = written.read_text().splitlines(keepends=True)
    written.write_text("".join(lines[:2] + lines[3:]))
    with pytest.raises(FolderError, match=":3: this line is damaged"):
        names(written)


def test_another_calibration_is_refused(written: Path) -> None:
    with pytest.raises(FolderError, match="another calibration"):
        Journal(written, "other").read()


def test_a_journal_that_is_only_looked_at_is_not_made(tmp_path: Path) -> None:
    assert Journal(tmp_path / "none.jsonl", "c").read(begin=False) == []
    assert not (tmp_path / "none.jsonl").exists()


def test_what_another_process_adds_is_seen_when_it_is_read_again(written: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    shutil.copy(written, copy)
    first = Journal(copy, "calibration")
    assert len(first.read()) == 5
    first.append(record(5))
    assert names(copy)[-1] == "run 5"
