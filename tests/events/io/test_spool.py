"""Tables on disk, for samples that are larger than memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import FileError
from lanner.events.io import read_sample
from lanner.events.io.spool import Spool
from tests.events.io.files import formats, written


@formats
def test_events_that_are_many_are_kept_on_disk(name, tmp_path, monkeypatch):
    if name.endswith("npz"):
        pytest.skip("archives come out of their file whole")
    columns = {"a": np.arange(20_000.0), "b": -np.arange(20_000.0)}
    source = written(tmp_path, name, columns)
    spooled = read_sample(source, features=["a", "b"], where="a >= 10", memory=400_000).sample
    assert on_disk(spooled.features)
    np.testing.assert_array_equal(spooled.features, np.column_stack(list(columns.values()))[10:])
    assert not list(tmp_path.glob("lanner-*"))
    monkeypatch.setattr("lanner.events.io.spool.np.ascontiguousarray", _full_disk)
    with pytest.raises(FileError, match=r"no room.*No space left.*TMPDIR"):
        read_sample(source, features=["a", "b"], memory=400_000)


def on_disk(array):
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


def _full_disk(table):
    raise OSError(28, "No space left on device")


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=6).filter(sum))
def test_rows_come_back_in_order_bit_by_bit(lengths):
    table = np.random.default_rng(1).normal(size=(sum(lengths), 3))
    spool = Spool(3)
    for part in np.split(table, np.cumsum(lengths)[:-1]):
        spool.add(part)
    assert spool.table().tobytes() == table.tobytes()


def test_the_table_outlives_the_spool_and_cannot_be_written():
    spool = Spool(1)
    spool.add(np.array([[1.0], [2.0]]))
    table = spool.table()
    del spool
    assert table.ravel().tolist() == [1, 2]
    assert not table.flags.writeable


def test_columns_of_a_transposed_table_are_not_mixed_up():
    spool = Spool(2)
    spool.add(np.arange(6.0).reshape(2, 3).T)
    assert spool.table().tolist() == [[0, 3], [1, 4], [2, 5]]
