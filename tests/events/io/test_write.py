from pathlib import Path

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.io import read_sample
from lanner.events.io.write import SUFFIXES, write_columns

COLUMNS = {"pt": np.random.default_rng(1).exponential(size=100), "eta": np.random.default_rng(2).normal(size=100)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_bit_by_bit(tmp_path: Path, suffix: str) -> None:
    path = write_columns(tmp_path / f"events{suffix}", COLUMNS, note='{"seed": 1}')
    sample = read_sample(path, features=["pt", "eta"]).sample
    np.testing.assert_array_equal(sample.features, np.column_stack(list(COLUMNS.values())))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.xyz.*\.parquet"):
        write_columns(tmp_path / "events.xyz", COLUMNS)


def test_a_name_that_hdf5_takes_for_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'a/b'"):
        write_columns(tmp_path / "events.h5", {"a/b": np.ones(3)})
    assert not list(tmp_path.iterdir())
