"""Chunks of a table, and what becomes of a library's complaint about a file."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner.errors import FileError, InputError, MemoryBudgetError
from lanner.events.io import read_sample
from lanner.events.io.table import (
    Table,
    by_columns,
    guarded,
    reading,
    refuse_inside,
    rows_per_chunk,
    steps,
    table_by_rows,
)
from tests.events.io.files import bits, formats, records, written


@formats
def test_a_damaged_file_is_an_input_error(name, tmp_path):
    source = written(tmp_path, name, bits())
    path = tmp_path / name
    whole = path.read_bytes()
    for damaged in (
        b"",
        b"\x93NUMPY",
        whole[: len(whole) // 3],
        b"\0" * 500,
        whole[:100] + b"\xff" * (len(whole) - 100),
    ):
        path.write_bytes(damaged)
        try:
            read_sample(source, features=["pt", "eta"])
        except (InputError, MemoryBudgetError) as refused:
            assert str(path) in str(refused)  # noqa: PT017  a text cut at a line's end is still a text
        else:
            assert "csv" in name or "txt" in name


def test_rows_of_a_chunk_fill_its_bytes_and_are_never_few():
    assert rows_per_chunk(80_000, 10) == 1000
    assert rows_per_chunk(1, 10) == rows_per_chunk(1, 1) == 256
    assert rows_per_chunk(80_000, 0) == 10_000


@given(st.integers(0, 1000), st.integers(1, 1500))
def test_steps_cover_all_rows_once(rows, step):
    taken = [row for part in steps(rows, step) for row in range(rows)[part]]
    assert taken == list(range(rows))
    assert all(part.stop - part.start <= step for part in steps(rows, step))


def joined(chunks):
    parts = list(chunks)
    return {name: np.concatenate([part[name] for part in parts]).tolist() for name in parts[0]}


COLUMNS = {"a": np.arange(600.0), "b": -np.arange(600)}


@pytest.mark.parametrize("chosen", [["a"], ["b", "a"]])
def test_columns_stored_one_by_one_are_cut_together(chosen):
    chunks = list(by_columns(COLUMNS.__getitem__, chosen, 1, "data"))
    assert [len(chunk[chosen[0]]) for chunk in chunks] == [256, 256, 88]
    assert joined(chunks) == {name: COLUMNS[name].tolist() for name in chosen}


def test_columns_of_different_length_are_refused_before_anything_is_cut():
    with pytest.raises(InputError, match="columns of data differ in length"):
        next(by_columns({"a": np.ones(2), "b": np.ones(3)}.__getitem__, ["a", "b"], 1, "data"))


@pytest.mark.parametrize("kind", ["records", "numbers"])
def test_what_is_stored_row_by_row_is_cut_into_the_chosen_columns(kind):
    array = records(COLUMNS) if kind == "records" else np.column_stack(list(COLUMNS.values()))
    table = table_by_rows("data", ("a", "b"), array, lambda chosen, rows: array[rows])
    assert table.usable() == ({"a": None, "b": None}, {})
    chunks = list(table.chunks(["b"], 1))
    assert [len(chunk["b"]) for chunk in chunks] == [256, 256, 88]
    assert joined(chunks) == {"b": COLUMNS["b"].tolist()}
    assert not np.shares_memory(chunks[0]["b"], array)


def test_fields_that_are_no_numbers_are_told_apart():
    array = np.zeros(2, dtype=[("a", float), ("text", "U3"), ("vector", float, 2), ("index", int)])
    hidden = frozenset({"index"})
    table = table_by_rows("data", array.dtype.names, array, lambda chosen, rows: array[rows], hidden=hidden)
    assert table.usable() == ({"a": None}, {"text": "holds text", "vector": "has shape (2, 2)"})


def test_a_renamed_table_has_the_same_columns():
    chunk = {"x0": np.ones(2)}
    table = Table("data", ("x0", "x1"), {"x0": None, "x1": "holds text"}.get, lambda names, size: iter([chunk]))
    renamed = table.renamed(["pt", "name"])
    assert renamed.names == ("pt", "name")
    assert renamed.usable() == ({"pt": None}, {"name": "holds text"})
    assert list(renamed.chunks(["pt"], 1)) == [{"pt": chunk["x0"]}]


# What a library raises


@pytest.mark.parametrize("error", [KeyError("x"), OSError("broken\nlong story"), struct.error("bad"), AssertionError()])
def test_whatever_a_library_raises_is_an_input_error(error):
    said = rf"a\.root cannot be read as ROOT \({type(error).__name__}: "
    with pytest.raises(InputError, match=said) as caught, reading(Path("a.root"), "ROOT"):
        raise error
    assert "long story" not in str(caught.value)
    assert caught.value.__cause__ is error


def test_errors_of_ours_and_interruptions_pass():
    for error in (InputError("ours"), FileError("ours"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, reading(Path("a.root"), "ROOT"):
            raise error
        assert caught.value is error


def test_no_memory_left_is_a_matter_of_the_budget():
    with pytest.raises(MemoryBudgetError, match=r"a\.root needs more memory"), reading(Path("a.root"), "ROOT"):
        raise MemoryError("3 GB")


def broken_table():
    def problem(name):
        raise KeyError(name)

    def chunks(names, size):
        yield {"a": np.ones(1)}
        raise struct.error("the second chunk")

    return Table("a.root:t", ("a",), problem, chunks)


def test_a_guarded_table_turns_errors_wherever_they_arise():
    table = guarded(broken_table(), Path("a.root"), "ROOT")
    with pytest.raises(InputError, match="KeyError"):
        table.problem("a")
    chunks = table.chunks(["a"], 1)
    assert next(chunks)["a"].tolist() == [1]
    with pytest.raises(InputError, match="the second chunk"):
        next(chunks)


def test_a_fault_of_whoever_uses_a_chunk_is_not_the_files():
    chunks = guarded(broken_table(), Path("a.root"), "ROOT").chunks(["a"], 1)
    next(chunks)
    with pytest.raises(ZeroDivisionError):
        chunks.throw(ZeroDivisionError())  # type: ignore[attr-defined]


def test_only_a_format_with_several_tables_has_something_inside():
    refuse_inside(Path("a.csv"), None, "a text file")
    with pytest.raises(InputError, match=r"a\.csv is a text file, which has no 'tree' inside: leave ':tree' out"):
        refuse_inside(Path("a.csv"), "tree", "a text file")
