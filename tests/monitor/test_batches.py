"""Batches from files: whole, split by values or by number, with what is wrong kept to the batch that has it."""

from pathlib import Path

import numpy as np
import pytest

from lanner.events.io.paths import files_of
from lanner.monitor.batches import Batch, Reader, names_of, origin_of
from lanner.monitor.rates import Rates
from tests.monitor.folders import NAMES, batch, write_csv

READER = Reader(NAMES)


def whole(path: Path, reader: Reader = READER) -> Batch:
    (file,) = files_of(path, "batches")
    return reader.batch(file, "a", origin_of(file))


def split(path: Path, **how) -> list[Batch]:
    return list(Reader(NAMES, **how).split([str(path)], "runs", {"path": "runs"}))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Events of runs 7, 3 and 5, in this order, each in two sections."""
    columns = batch(1, 60)
    run = np.repeat([7.0, 3.0, 5.0], 20)
    return write_csv(tmp_path / "runs.csv", columns, run=run, lumi=np.tile([1.0, 2.0], 30), live=run / 10)


def test_a_file_is_a_batch_with_its_origin(tmp_path: Path) -> None:
    columns = batch(1, 9)
    found = whole(write_csv(tmp_path / "a.csv", columns, other=np.ones(9)))
    assert found.features.tolist() == np.column_stack(list(columns.values())).tolist()
    assert found.origin["path"].endswith("a.csv")
    assert found.origin["size"] == (tmp_path / "a.csv").stat().st_size


def test_a_selection_that_leaves_nothing_makes_an_empty_batch(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", batch(1, 9))
    assert whole(path, Reader(NAMES, where="energy > 1e9")).features.shape == (0, 2)
    assert whole(path, Reader(("twice=2*energy",))).features.shape == (9, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("energy,angle\n1,2\n3", "row|columns|cells"),
        ("energy,other\n1,2\n", "'angle'"),
        ("energy,angle\n1,nan\n2,3\n", "NaN"),
        ("energy,angle\n1,inf\n2,3\n", "infinite|finite"),
        ("", "empty"),
        ("\x00\x01", ""),
    ],
)
def test_what_cannot_be_used_is_a_reason_and_no_error(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    found = whole(tmp_path / "a.csv")
    assert found.features is None
    assert found.reason
    assert any(word in found.reason for word in said.split("|"))


def test_events_are_split_by_the_values_of_a_column(runs: Path) -> None:
    found = split(runs, by=("run",))
    assert [(b.name, b.key, len(b.features)) for b in found] == [(f"{r}", (float(r),), 20) for r in (7, 3, 5)]
    assert [b.name for b in split(runs, by=("run",), sort=True)] == ["3", "5", "7"]
    together = np.vstack([b.features for b in found])
    assert together.tolist() == np.column_stack(list(batch(1, 60).values())).tolist()


def test_events_are_split_by_run_and_section(runs: Path) -> None:
    found = split(runs, by=("run", "lumi"))
    assert [b.name for b in found] == ["7:1", "7:2", "3:1", "3:2", "5:1", "5:2"]
    assert found[1].key == (7.0, 2.0)


def test_events_are_split_by_their_number(runs: Path) -> None:
    assert [(b.name, len(b.features)) for b in split(runs, size=25)] == [("1-25", 25), ("26-50", 25), ("51-60", 10)]


def test_values_that_are_nan_cost_their_run_alone(tmp_path: Path) -> None:
    columns, run = batch(1, 60), np.repeat([7.0, 3.0, 5.0], 20)
    columns["angle"][25] = np.nan
    path = write_csv(tmp_path / "runs.csv", columns, run=run)
    found = split(path, by=("run",))
    assert [(b.name, b.features is not None) for b in found] == [("7", True), ("3", False), ("5", True)]
    assert "1 event of batch '3' have NaN" in found[1].reason or "NaN or missing" in found[1].reason
    assert [len(b.features) for b in split(path, by=("run",), drop_nan=True)] == [20, 19, 20]


def test_a_run_of_nothing_but_nan_is_refused_too(tmp_path: Path) -> None:
    columns, run = batch(1, 60), np.repeat([7.0, 3.0, 5.0], 20)
    columns["angle"][20:40] = np.nan
    found = split(write_csv(tmp_path / "runs.csv", columns, run=run), by=("run",))
    assert {b.name: b.features is not None for b in found} == {"7": True, "5": True, "3": False}


def test_events_without_a_run_are_no_batch(tmp_path: Path) -> None:
    run = np.repeat([7.0, np.nan], 10)
    found = split(write_csv(tmp_path / "runs.csv", batch(1, 20), run=run), by=("run",))
    assert [(b.name, b.features is None) for b in found] == [("run missing", True), ("7", False)]


def test_expected_numbers_come_from_a_number_a_column_or_a_file(runs: Path, tmp_path: Path) -> None:
    assert [b.expected for b in split(runs, size=30, expected=12.0)] == [12.0, 12.0]
    assert [b.expected for b in split(runs, by=("run",), column="live", rate=100)] == pytest.approx([70, 30, 50])
    mixed = split(runs, size=30, column="live")
    assert "must have one number above 0 within batch '1-30', but it has 0.3 to 0.7" in mixed[0].reason


def test_runs_of_which_events_are_expected_and_none_came_are_empty_batches_in_their_place(
    runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_text("1,5\n7,20\n4,30\n3,20\n5,20\n9,5\n")
    found = split(runs, by=("run",), rates=Rates.read(tmp_path / "r.csv"))
    # Before the first and after the last that came nobody knows.
    assert [(b.name, len(b.features), b.expected) for b in found] == [
        ("7", 20, 20), ("4", 0, 30), ("3", 20, 20), ("5", 20, 20)
    ]  # fmt: skip
    (tmp_path / "r.csv").write_text("7,20\n5,20\n")
    found = split(runs, by=("run",), rates=Rates.read(tmp_path / "r.csv"))
    assert [(b.name, b.features is None) for b in found] == [("7", False), ("3", True), ("5", False)]


def test_names_are_short_where_they_are_different(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for path in (tmp_path / "a.csv", tmp_path / "c.csv", tmp_path / "b" / "a.csv"):
        write_csv(path, batch(1, 3))
    assert names_of(files_of([str(tmp_path / "a.csv"), str(tmp_path / "c.csv")], "x")) == ["a", "c"]
    both = names_of(files_of([str(tmp_path / "a.csv"), str(tmp_path / "b" / "a.csv")], "x"))
    assert len(set(both)) == 2
