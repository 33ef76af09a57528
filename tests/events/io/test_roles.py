"""Files and tables with columns that are no features, read by somebody who names none."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from lanner.errors import ColumnWarning, InputError
from lanner.events import Sample
from lanner.events.io import read_sample
from lanner.events.io.roles import sample_like, sample_of_table
from lanner.events.spread import InTurn, read_by, spread
from tests.events.io.files import formats, write_csv, written

ROWS = 3000


def columns(seed: int = 1, rows: int = ROWS) -> dict[str, Any]:
    """As experiments publish events: what identifies them, what was measured, and what the simulation adds."""
    rng = np.random.default_rng(seed)
    return {
        "Run": np.sort(rng.choice([163286.0, 163374.0, 165548.0], rows)),
        "Event": rng.choice(10**9, rows, replace=False).astype(float),
        "pt": rng.exponential(30.0, rows),
        "Q": rng.choice([-1.0, 1.0], rows),
        "genWeight": rng.exponential(size=rows),
    }


@formats
def test_identifiers_and_weights_in_files_are_left_out_and_named(name, tmp_path):
    source = written(tmp_path, name, columns())
    with pytest.warns(ColumnWarning, match=r"'Run' looks like a run number .*. If 'genWeight' is the weight") as said:
        events = read_sample(source)
    assert len(said) == 1
    assert sorted(events.sample.names) == ["Q", "pt"]
    assert sorted(events.left_out) == ["Event", "Run", "genWeight"]
    assert "'Event' looks like an event number" in events.description


def test_what_is_named_is_taken(tmp_path):
    write_csv(tmp_path / "t.csv", columns())
    events = read_sample(tmp_path / "t.csv", features=["Event", "pt", "genWeight"])
    assert events.sample.names == ("Event", "pt", "genWeight")
    assert events.left_out == {}
    with pytest.warns(ColumnWarning, match="'Event'") as said:
        events = read_sample(tmp_path / "t.csv", weight="genWeight")
    assert events.sample.weights is not None
    assert "genWeight" not in str(said[0].message)


def test_a_sample_keeps_all_its_columns():
    sample = Sample.of(columns())
    assert read_sample(sample, where="pt > 1").sample.names == sample.names
    assert sample_of_table(sample, "reference") == (sample, {})


def test_runs_that_change_from_file_to_file_are_left_out_and_one_run_alone_is_not(tmp_path):
    rng = np.random.default_rng(1)
    for run in (163286.0, 163374.0):
        write_csv(tmp_path / f"{run:.0f}.csv", {"run": np.full(200, run), "x": rng.normal(size=200)})
    with pytest.warns(ColumnWarning, match="'run' looks like a run number"):
        assert read_sample(f"{tmp_path}/*.csv").sample.names == ("x",)
    assert read_sample(tmp_path / "163286.csv").sample.names == ("run", "x")


def test_missing_values_of_what_is_left_out_cost_no_event(tmp_path):
    table = columns()
    table["genWeight"][:10] = np.nan
    with pytest.warns(ColumnWarning):
        assert len(read_sample(table).sample) == ROWS


def test_where_nothing_is_left_the_reasons_are_given():
    with pytest.raises(InputError, match=r"'Event' looks like an event number .*features="):
        read_sample({"Event": columns()["Event"]})
    with pytest.raises(InputError, match=r"'Event' looks like an event number .*lanner\.Sample\.of"):
        sample_of_table({"Event": columns()["Event"]}, "reference")


def test_a_reference_that_stays_in_its_files_leaves_the_same_out(tmp_path):
    source = written(tmp_path, "t.parquet", columns())
    with pytest.warns(ColumnWarning, match="'Run' looks like a run number"):
        named = spread(source)
    assert named.names == ("pt", "Q")
    assert list(named.left_out) == ["Run", "Event", "genWeight"]
    assert read_by(named, InTurn()).names == ("pt", "Q")


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_tables_in_memory_leave_the_same_out_and_text_as_well(make):
    table = columns()
    table["type"] = np.where(table["Q"] > 0, "EB", "EE")
    sample, left_out = sample_of_table(make(table), "reference")
    assert sample.names == ("pt", "Q")
    assert list(left_out) == ["type", "Run", "Event", "genWeight"]
    assert sample_like(sample.names, make(table), "data").names == ("pt", "Q")


def test_a_further_column_of_the_data_that_may_be_a_feature_is_not_passed_over():
    data = columns() | {"eta": np.random.default_rng(2).normal(size=ROWS)}
    assert sample_like(("pt", "Q"), data, "data").names == tuple(data)


def test_vectors_in_a_table_are_refused_and_not_left_out():
    with pytest.raises(InputError, match=r"'p' of reference has shape \(2, 3\)"):
        sample_of_table({"x": [1.0, 2.0], "p": np.ones((2, 3))}, "reference")


def test_arrays_have_no_names_to_tell_by():
    assert sample_of_table(np.arange(6000.0).reshape(-1, 2), "reference")[0].dimensions == 2
