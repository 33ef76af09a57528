"""What is kept of the chunks: counted, within the memory budget, and never lost unnoticed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import InputError, MemoryBudgetError
from lanner.events.io import read_sample
from lanner.events.io.builder import SPOOL, SampleBuilder, assembled
from lanner.events.io.memory import table_of
from lanner.events.io.request import make_request
from tests.events.io.files import formats, refusal, written


@formats
def test_every_format_counts_missing_numbers_by_column(name, tmp_path):
    columns = {"a": np.arange(6.0), "b": np.arange(6.0), "plot": np.full(6, np.nan)}
    columns["a"][[1, 2]] = columns["b"][[2, 5]] = np.nan
    source = written(tmp_path, name, columns)
    with pytest.raises(InputError) as refused:
        read_sample(source, features=["a", "b"], extra=["plot"])
    refusal(str(refused.value), source, "3 rows of 6", "column 'a' (2)", "column 'b' (2)", "drop_nan=True")
    events = read_sample(source, features=["a", "b"], extra=["plot"], drop_nan=True)
    assert events.dropped == 3
    assert events.sample.features.tolist() == [[0, 0], [3, 3], [4, 4]]
    assert len(events.extra["plot"]) == 3
    refusal(events.description, "3 of 6 events", "3 dropped for NaN")


@formats
def test_every_format_refuses_an_empty_table(name, tmp_path):
    source = written(tmp_path, name, {"a": np.empty(0)})
    with pytest.raises(InputError, match="is empty"):
        read_sample(source, features="a")


@formats
def test_an_empty_selection_says_what_there_is(name, tmp_path):
    source = written(tmp_path, name, {"mll": np.arange(5.0)})
    with pytest.raises(InputError) as refused:
        read_sample(source, where="mll > 100")
    refusal(str(refused.value), "'mll > 100'", "none of the 5 rows", source, "'mll' is 0 to 4", "loosen it")


@formats
def test_the_memory_budget_holds_for_what_is_kept(name, tmp_path):
    source = written(tmp_path, name, {"a": np.arange(20_000.0), "b": np.arange(20_000.0)})
    with pytest.raises(MemoryBudgetError) as refused:
        read_sample(source, features="a", extra=["b", "c=a+b"], memory=200_000)
    refusal(str(refused.value), "memory", source)
    if not name.endswith("npz"):  # archives come out of their file whole
        assert len(read_sample(source, features=["a", "b"], where="a < 100", memory=200_000).sample) == 100


def test_results_are_read_only():
    events = read_sample({"a": [1.0, 2.0]}, extra="a")
    assert not events.sample.features.flags.writeable
    assert not events.extra["a"].flags.writeable


def test_rows_say_where_the_events_stand_in_the_file():
    columns = {"x": [1.0, np.nan, 3.0, 4.0, 5.0], "y": [1.0, 1.0, 0.0, 1.0, 1.0]}
    events = read_sample(columns, features="x", where="y > 0", drop_nan=True)
    assert events.rows.tolist() == [0, 3, 4]
    assert read_sample(columns, features="y").rows is None


# Chunk by chunk


def build(chunks, *, budget=10**9, drop_nan=False, **asked):
    """Build a sample of chunks as `read_sample` does."""
    asked = {"features": ("a",), "weight": None, "where": None, "extra": (), **asked}
    columns = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    request = make_request(table_of(columns, None, "data"), what="data", **asked)
    builder = SampleBuilder(request, drop_nan, budget, "data")
    for chunk in chunks:
        builder.add(chunk)
    return builder


numbers = st.floats(-10, 10) | st.just(np.nan)


@settings(deadline=None)
@given(st.lists(numbers, min_size=1, max_size=20), st.sets(st.integers(1, 19)))
def test_the_sample_does_not_depend_on_where_the_chunks_end(values, ends):
    values = np.array([0.0, *values])  # at least one event is left
    chunks = [{"a": part, "b": -part} for part in np.split(values, sorted(end for end in ends if end < len(values)))]
    builder = build(chunks, extra=("b", "s=2*a"), drop_nan=True)
    sample, _, extra = builder.finish()
    kept = values[~np.isnan(values)]
    assert sample.features.ravel().tolist() == kept.tolist()
    assert extra["b"].tolist() == (-kept).tolist()
    assert extra["s"].tolist() == (2 * kept).tolist()
    assert builder.dropped == np.isnan(values).sum()
    rows = builder.kept_rows()
    np.testing.assert_array_equal(values if rows is None else values[rows], kept)


def test_nan_in_a_further_variable_costs_no_event():
    builder = build([{"a": np.ones(2), "b": np.array([1.0, np.nan])}], extra=("b",), drop_nan=True)
    assert len(builder.finish()[0]) == 2
    assert builder.dropped == 0


def test_rows_without_a_weight_are_dropped_too():
    builder = build([{"a": np.ones(3), "w": np.array([1.0, np.nan, 2.0])}], weight="w", drop_nan=True)
    assert builder.finish()[0].weights.tolist() == [1, 2]


def test_nothing_but_nan_is_refused_though_rows_may_be_dropped():
    with pytest.raises(InputError, match=r"in all 2 rows: column 'a' \(2\)"):
        build([{"a": np.full(2, np.nan)}], drop_nan=True).finish()


def test_the_range_of_an_empty_selection_covers_all_chunks():
    chunks = [{"a": np.array([1.0, np.inf])}, {"a": np.array([-3.0, np.nan])}]
    with pytest.raises(InputError, match=r"none of the 4 rows of data \('a' is -3 to 1\)"):
        build(chunks, where="a > 5 && a < 6").finish()


def test_features_beyond_a_quarter_of_the_budget_go_to_disk():
    chunks = [{"a": np.arange(100.0)}, {"a": np.arange(100.0)}]
    in_memory, on_disk = build(chunks, budget=8 * 200 * SPOOL), build(chunks, budget=8 * 200 * SPOOL - SPOOL)
    assert in_memory.spool is None
    assert on_disk.spool is not None
    assert on_disk.held == 0
    np.testing.assert_array_equal(in_memory.finish()[0].features, on_disk.finish()[0].features)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_parts_are_joined_in_order_and_let_go(lengths):
    parts = [np.full((length, 2), float(k)) for k, length in enumerate(lengths)]
    wanted = np.concatenate(parts)
    np.testing.assert_array_equal(assembled(parts), wanted)
    assert parts == []
