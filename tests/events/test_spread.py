"""A reference that is left in its files."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lanner
from lanner.errors import InputError
from lanner.events import spread as module
from lanner.events.effective_size import effective_size
from lanner.events.missing import ABSENT
from lanner.events.planning import for_planning
from lanner.events.spread import InTurn, Spread, SpreadSample, read_by, spread

EVENTS = np.random.default_rng(1).normal(size=(5000, 3))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two Parquet files of row groups of 300 events, of which at most 700 are read together."""
    monkeypatch.setattr(module, "_ROWS", 700)
    for k, part in enumerate(np.split(EVENTS, [3000])):
        table = pa.table({name: part[:, j] for j, name in enumerate("abc")})
        pq.write_table(table, tmp_path / f"{k}.parquet", row_group_size=300)
    return tmp_path


def opened(source: Spread) -> SpreadSample:
    return read_by(source, InTurn())


def test_row_groups_are_read_together_up_to_a_number_of_rows(files: Path) -> None:
    source = spread(files / "*.parquet")
    assert source.names == ("a", "b", "c")
    assert [part.groups for part in source.parts[:2]] == [(0, 1), (2, 3)]
    assert [len(source.read(k)) for k in range(len(source.parts))] == [600] * 5 + [600] * 3 + [200]
    np.testing.assert_array_equal(np.vstack([source.read(k) for k in range(len(source.parts))]), EVENTS)


def test_other_formats_are_read_file_by_file(tmp_path: Path) -> None:
    for k, part in enumerate(np.split(EVENTS, 2)):
        np.save(tmp_path / f"{k}.npy", part)
    found = opened(spread(tmp_path / "*.npy"))
    assert len(found.features.source.parts) == 2  # type: ignore[attr-defined]
    np.testing.assert_array_equal(found.features[:], EVENTS)


def test_events_keep_the_places_that_they_would_have_in_memory(files: Path, rng: np.random.Generator) -> None:
    found = opened(spread(files / "*.parquet"))
    assert (len(found), found.dimensions, found.names) == (5000, 3, ("a", "b", "c"))
    rows = rng.permutation(5000)[:77]
    np.testing.assert_array_equal(found.take(rows).features, EVENTS[rows])
    np.testing.assert_array_equal(found.features[1000:1003], EVENTS[1000:1003])
    np.testing.assert_array_equal(found.features.min(axis=0), EVENTS.min(axis=0))
    np.testing.assert_array_equal(found.features.max(axis=0), EVENTS.max(axis=0))


def test_selections_and_formulas_are_those_of_reading(files: Path) -> None:
    how = {"features": ["sum=a+b", "c"], "where": "a > 1.5"}
    truth = lanner.read_sample(str(files / "*.parquet"), **how).sample  # type: ignore[arg-type]
    found = opened(spread(files / "*.parquet", **how))  # type: ignore[arg-type]
    assert found.names == truth.names == ("sum", "c")
    np.testing.assert_array_equal(found.features[:], truth.features)


def test_a_part_of_which_nothing_is_selected_is_none(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", np.full((10, 1), -1.0))
    np.save(tmp_path / "1.npy", np.arange(1.0, 6.0)[:, None])
    found = opened(spread(tmp_path / "*.npy", where="x0 > 0"))
    assert len(found) == 5
    assert found.features.min(axis=0) == [1.0]
    with pytest.raises(InputError, match="no events left"):
        opened(spread(tmp_path / "*.npy", where="x0 > 100"))


def test_planning_takes_the_same_events_as_from_memory(files: Path) -> None:
    sample = lanner.Sample.of(EVENTS)
    for most in (1000, 5000):
        found = for_planning(opened(spread(files / "*.parquet")), most)
        np.testing.assert_array_equal(found.features, for_planning(sample, most).features)


def test_copies_are_found_wherever_they_are(files: Path, tmp_path: Path) -> None:
    assert effective_size(opened(spread(files / "*.parquet"))) == effective_size(lanner.Sample.of(EVENTS))
    for k in range(4):
        np.save(tmp_path / f"copy{k}.npy", EVENTS[:2000])
    size = effective_size(opened(spread(tmp_path / "copy*.npy")))
    assert (size.events, size.worth) == (8000, 2000)


def test_whoever_needs_all_events_at_once_is_told_what_to_do(files: Path) -> None:
    found = opened(spread(files / "*.parquet"))
    with pytest.raises(InputError, match=r"left in its files.*read_sample"):
        np.asarray(found.features)
    with pytest.raises(TypeError, match="stays where it is"):
        pickle.dumps(found)
    with pytest.raises(InputError, match="only a search can use"):
        lanner.tune(spread(files / "*.parquet"), expected=100)


def test_the_description_can_be_sent_elsewhere(files: Path) -> None:
    source = spread(files / "*.parquet")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(source)).read(1), source.read(1))


def test_a_missing_column_or_file_is_named(files: Path) -> None:
    with pytest.raises(InputError, match="'nope'"):
        spread(files / "*.parquet", features=["nope"])
    with pytest.raises(InputError, match="no file"):
        spread(files / "missing.parquet")


def test_missing_values_are_refused_or_dropped(tmp_path: Path) -> None:
    x = np.arange(20.0)[:, None]
    x[3] = np.nan
    np.save(tmp_path / "x.npy", x)
    with pytest.raises(InputError, match="NaN"):
        opened(spread(tmp_path / "x.npy"))
    assert len(opened(spread(tmp_path / "x.npy", drop_nan=True))) == 19


def test_what_a_part_has_none_of_other_parts_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 100)
    lists = [[1.0]] * 100 + [[1.0, 2.0]] * 100
    pq.write_table(pa.table({"pt": lists, "x": np.arange(200.0)}), tmp_path / "a.parquet", row_group_size=100)
    source = spread(tmp_path / "a.parquet", features=["pt2=pt[1]", "x"])
    assert [set(source.read(part)[:, 0]) for part in range(len(source.parts))] == [{ABSENT}, {2.0}]
