"""Folders of a blind search: the record, what belongs to it, and when the data were looked at."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanner.errors import FolderError, InputError
from lanner.run.blinded import (
    KIND,
    OPENED,
    RECORD,
    Blinded,
    digests_of_files,
    is_blind,
    open_folder,
    opened_at,
    read_blinded,
    refuse_blind,
    refuse_opened,
)
from lanner.run.manifest import written_together

RECORDED = Blinded({"expected": 100.0, "seed": 1}, "abc", ("pt", "eta"), (("mc.csv", "123"),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with written_together(tmp_path / "out", KIND) as files:
        RECORDED.write(files)
    return tmp_path / "out"


def test_a_record_is_read_as_it_was_written(folder: Path) -> None:
    assert read_blinded(folder) == RECORDED


def test_a_record_that_was_edited_is_refused_by_its_name(folder: Path) -> None:
    path = folder / RECORD
    path.write_text(path.read_text().replace("100.0", "120.0"))
    with pytest.raises(FolderError, match=RECORD):
        read_blinded(folder)


def test_a_folder_that_is_not_blind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the folder of a blind search"):
        read_blinded(tmp_path)
    refuse_blind(tmp_path)


def test_a_record_of_another_version_of_the_statistic_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanner.run.blinded.numbers_version", lambda: {"statistic": 99, "scheme": 1})
    with pytest.raises(InputError, match="another version of the statistic"):
        read_blinded(folder)


def test_the_file_of_the_reference_that_changed_is_named(tmp_path: Path) -> None:
    kept, changed = tmp_path / "a.csv", tmp_path / "b.csv"
    kept.write_text("pt\n1\n")
    changed.write_text("pt\n2\n")
    record = replace(RECORDED, files=digests_of_files([kept, changed]))
    record.check_files(digests_of_files([kept, changed]))
    changed.write_text("pt\n3\n")
    with pytest.raises(InputError, match=r"b\.csv was changed"):
        record.check_files(digests_of_files([kept, changed]))
    with pytest.raises(InputError, match="with 2 files"):
        record.check_files(digests_of_files([kept]))


def test_another_reference_is_refused() -> None:
    RECORDED.check_reference("abc", ("pt", "eta"))
    with pytest.raises(InputError, match="not the one that was blinded"):
        RECORDED.check_reference("abd", ("pt", "eta"))
    with pytest.raises(InputError, match="features"):
        RECORDED.check_reference("abc", ("pt",))


def test_the_first_time_of_looking_is_the_one_that_holds(folder: Path) -> None:
    assert opened_at(folder) is None
    with pytest.raises(InputError, match="is blind"):
        refuse_blind(folder)
    refuse_opened(folder)
    first = open_folder(folder)
    (folder / OPENED).write_text((folder / OPENED).read_text().replace(first, "2020-01-01 00:00:00 UTC"))
    assert open_folder(folder, "data") == opened_at(folder) == "2020-01-01 00:00:00 UTC"
    refuse_blind(folder)
    with pytest.raises(InputError, match="2020-01-01"):
        refuse_opened(folder)


def test_data_other_than_those_that_were_looked_at_are_refused(folder: Path) -> None:
    open_folder(folder)
    open_folder(folder, "these")
    open_folder(folder, "these")
    with pytest.raises(InputError, match="with other data"):
        open_folder(folder, "others")


def test_a_lost_time_does_not_make_a_folder_blind_again(folder: Path) -> None:
    (folder / OPENED).write_text("{")
    assert "lost" in str(opened_at(folder))
    refuse_blind(folder)


def test_a_path_that_can_be_none_is_not_blind() -> None:
    assert not is_blind(Path("a" * 5000))
