from __future__ import annotations

import gzip

import h5py
import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import published, susy
from lanner.paper.datasets.published import load


def table(path, rows, columns=19, *, seed=1):
    """A file like SUSY.csv; returns its numbers."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([np.arange(rows) % 2, rng.normal(size=(rows, columns - 1))])
    text = "".join(",".join(f"{x:.18e}" for x in row) + "\n" for row in values)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return values


def dimuon_file(path, **changed):
    rng = np.random.default_rng(2)
    columns = {name: rng.uniform(-3, 3, 50) for name in published.DIMUON} | changed
    with h5py.File(path, "w") as file:
        for name, column in columns.items():
            if column is not None:
                file[name] = column
    return columns


@pytest.mark.parametrize("name", ["SUSY.csv", "SUSY.csv.gz"])
def test_rows_of_a_label_in_the_files_order(tmp_path, name, monkeypatch):
    monkeypatch.setattr(published, "BLOCK", 4000)  # several blocks
    values = table(tmp_path / name, 101)
    background = load("susy", "background", tmp_path / name)
    assert tuple(background) == (*susy.LOW_LEVEL, *susy.HIGH_LEVEL)
    np.testing.assert_array_equal(np.column_stack(list(background.values())), values[values[:, 0] == 0, 1:])
    signal = load("susy", "chargino", tmp_path / name, rows=7)
    np.testing.assert_array_equal(signal["MT2"], values[values[:, 0] == 1, 14][:7])


def test_higgs_has_28_columns(tmp_path):
    values = table(tmp_path / "HIGGS.csv", 10, 29)
    np.testing.assert_array_equal(load("higgs", "heavy-higgs", tmp_path / "HIGGS.csv")["m_wwbb"], values[1::2, 28])


def test_more_rows_than_there_are(tmp_path):
    table(tmp_path / "SUSY.csv", 10)
    with pytest.raises(InputError, match="has 5 events with label 0, and 6 were asked for"):
        load("susy", "background", tmp_path / "SUSY.csv", rows=6)


@pytest.mark.parametrize("cut", [-1, -30, -200])
def test_a_file_that_is_cut_off(tmp_path, cut):
    path = tmp_path / "SUSY.csv"
    table(path, 10)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"SUSY.csv ends within a line.*19 numbers without header"):
        load("susy", "background", path)


def test_a_zipped_file_that_is_cut_off(tmp_path):
    path = tmp_path / "SUSY.csv.gz"
    table(path, 400)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"SUSY.csv.gz cannot be read, or is only a part of a file"):
        load("susy", "background", path)


def test_foreign_tables(tmp_path):
    path = tmp_path / "HIGGS.csv"
    table(path, 10, 19)
    with pytest.raises(InputError, match="29 numbers without header: the label, then lepton_pT"):
        load("higgs", "background", path)
    path.write_text("label," + ",".join(f"x{i}" for i in range(28)) + "\n")
    with pytest.raises(InputError, match="without header"):
        load("higgs", "background", path)
    values = np.random.default_rng(1).normal(size=(5, 29))
    np.savetxt(path, values, delimiter=",")
    with pytest.raises(InputError, match="first column has to be the label, 0 or 1"):
        load("higgs", "background", path)
    path.write_text("")
    with pytest.raises(InputError, match="empty"):
        load("higgs", "background", path)


def test_a_number_that_is_none(tmp_path):
    path = tmp_path / "SUSY.csv"
    path.write_text(",".join(["0"] + ["nan"] * 18) + "\n")
    with pytest.raises(InputError, match="not a number"):
        load("susy", "background", path)


def test_dimuon(tmp_path):
    columns = dimuon_file(tmp_path / "DiLepton_SM.h5")
    found = load("dimuon", "background", tmp_path / "DiLepton_SM.h5", rows=20)
    assert tuple(found) == published.DIMUON
    np.testing.assert_array_equal(found["pt1"], columns["pt1"][:20])
    np.testing.assert_allclose(found["delta_phi"], columns["delta_phi"][:20] % (2 * np.pi))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mll": None}, "no dataset 'mll'"),
        ({"mll": np.ones(7)}, "shapes"),
        ({"pt1": np.ones((50, 2))}, "shapes"),
        ({"pt1": np.full(50, np.nan)}, "'pt1' is not a number"),
    ],
)
def test_foreign_dimuon_files(tmp_path, changed, message):
    dimuon_file(tmp_path / "x.h5", **changed)
    with pytest.raises(InputError, match=message):
        load("dimuon", "background", tmp_path / "x.h5")


def test_dimuon_file_that_is_cut_off_or_no_hdf5(tmp_path):
    path = tmp_path / "x.h5"
    dimuon_file(path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(InputError, match=r"x.h5 cannot be read as HDF5, or is damaged.*pt1, pt2"):
        load("dimuon", "background", path)


def test_requests_that_make_no_sense(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load("susy", "background", tmp_path / "none.csv")
    table(tmp_path / "SUSY.csv", 4)
    with pytest.raises(InputError, match="rows=0"):
        load("susy", "background", tmp_path / "SUSY.csv", rows=0)
    with pytest.raises(InputError, match="no published file"):
        load("one-dimensional", "background", tmp_path / "SUSY.csv")
