"""Chunks of lists: every event once, in order, and none of the chunks too large."""

from itertools import pairwise

import awkward as ak
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.events.io.list_chunks import end_of_chunk, growing_chunks, numbers_per_event, pieces
from lanner.events.lists import Lists


def chunk_of(counts):
    content = np.arange(float(np.sum(counts)))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return {"x": np.arange(float(len(counts))), "a": Lists(offsets, content)}


def joined(parts):
    return np.concatenate([part["x"] for part in parts]), np.concatenate([part["a"].content for part in parts])


@given(st.sets(st.integers(1, 999)), st.integers(0, 1000), st.integers(1, 1500))
def test_chunks_cover_all_rows_once_and_end_with_blocks_where_they_can(blocks, rows, step):
    offsets = np.array(sorted({0, rows, *(block for block in blocks if block < rows)}))
    edges = [0]
    while edges[-1] < rows:
        edges.append(end_of_chunk(offsets, edges[-1], rows, step))
    assert edges[-1] == rows
    for start, stop in pairwise(edges):
        assert start < stop <= start + step
        inside = [offset for offset in offsets if start < offset <= start + step]
        assert stop == (max(inside) if inside else start + step)


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 2000))
def test_pieces_are_not_too_large_unless_an_event_is(counts, size):
    chunk = chunk_of(counts)
    parts = list(pieces(chunk, size))
    for part in parts:
        assert part["x"].nbytes + part["a"].nbytes - 8 <= size or len(part["x"]) == 1
    for whole, again in zip((chunk["x"], chunk["a"].content), joined(parts), strict=True):
        np.testing.assert_array_equal(again, whole)


def test_columns_of_one_number_are_not_cut():
    chunk = {"x": np.ones(1000)}
    assert list(pieces(chunk, 8)) == [chunk]


def test_numbers_of_an_event_are_counted_with_their_beginnings():
    assert numbers_per_event(chunk_of([2, 0, 4])) == 1 + 1 + 2
    assert numbers_per_event(chunk_of([])) == 0


@pytest.mark.parametrize("offsets", [[0], range(0, 5000, 700)])
def test_events_that_grow_make_shorter_chunks(offsets):
    counts = np.repeat([1, 1, 30, 2], 1250)
    whole, read = chunk_of(counts), []

    def some(start, stop):
        read.append((start, stop))
        return {name: column[start:stop] for name, column in whole.items()}

    size = 16_384
    parts = list(growing_chunks(some, list(offsets), 5000, size, 0))
    for part in parts:
        assert part["x"].nbytes + part["a"].nbytes - 8 <= size
    for column, again in zip((whole["x"], whole["a"].content), joined(parts), strict=True):
        np.testing.assert_array_equal(again, column)
    assert read[0] == (0, 256)  # to learn how long lists are
    assert max(stop - start for start, stop in read) > 400
    assert all(stop - start <= 256 for start, stop in read[-3:])


def test_a_file_without_events_has_no_chunks():
    assert list(growing_chunks(lambda start, stop: {"a": Lists.of(ak.Array([[1.0]])[:0], "a")}, [], 0, 100, 0)) == []
