"""What `read_sample` does alike for every format: the same bits, the same choices, the same refusals."""

import gzip
import logging
from pathlib import Path

import awkward as ak
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

from lanner.errors import FileError, InputError, MemoryBudgetError
from lanner.events import Sample
from lanner.events.io import columns_of, read_sample

NAMES = ("pt", "eta", "w", "p_T [GeV]", "<b>µ</b>")
ROWS = 700


def bits(seed=1):
    """Doubles of all sizes: every exponent, subnormals, both zeros."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2**64, (ROWS, len(NAMES)), dtype=np.uint64).view(np.float64)
    values = np.where(np.isfinite(values) & (np.abs(values) < 1e300), values, 0.1)
    values[:4, 0] = 5e-324, -0.0, np.nextafter(1, 2), 0.1 + 0.2
    values[:, 2] = rng.exponential(size=ROWS)  # weights: positive, with all their digits
    return dict(zip(NAMES, values.T.copy(), strict=True))


def write_tree(path, columns, name="events"):
    with uproot.recreate(path) as file:
        tree = file.mktree(name, {key: np.asarray(column).dtype for key, column in columns.items()})
        tree.extend(columns)


def write_ntuple(path, columns, name="events"):
    with uproot.recreate(path) as file:
        file.mkrntuple(name, {key.replace("/", "|"): column for key, column in columns.items()})


def write_datasets(path, columns, group=None):
    with h5py.File(path, "a") as file:
        for name, column in columns.items():
            (file.require_group(group) if group else file).create_dataset(name.replace("/", "|"), data=column)


def records(columns):
    return np.rec.fromarrays(list(columns.values()), names=list(columns)).view(np.ndarray)  # type: ignore[call-overload]


def write_compound(path, columns):
    with h5py.File(path, "w") as file:
        file.create_dataset("table", data=records(columns))


def write_csv(path, columns, delimiter=","):
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    lines = [delimiter.join(columns), *(delimiter.join(map(repr, row)) for row in rows)]
    text = "".join(f"{line}\n" for line in lines).encode()
    Path(path).write_bytes(gzip.compress(text) if str(path).endswith("gz") else text)


WRITERS = {
    "tree.root": write_tree,
    "ntuple.root": write_ntuple,
    "t.parquet": lambda path, columns: pq.write_table(pa.table(columns), path, row_group_size=128),
    "t.pq": lambda path, columns: pd.DataFrame(columns).to_parquet(path),
    "flat.h5": write_datasets,
    "compound.hdf5": write_compound,
    "t.csv": write_csv,
    "t.csv.gz": write_csv,
    "pandas.csv": lambda path, columns: pd.DataFrame(columns).to_csv(path),
    "t.txt": lambda path, columns: write_csv(path, columns, "\t"),
    "records.npy": lambda path, columns: np.save(path, records(columns)),
    "t.npz": lambda path, columns: np.savez(path, **columns),
    "zipped.npz": lambda path, columns: np.savez_compressed(path, **columns),
}
formats = pytest.mark.parametrize("name", WRITERS)


def written(path, name, columns):
    WRITERS[name](path / name, columns)
    return str(path / name)


def refusal(message, *parts):
    for part in parts:
        assert part in message, f"{part!r} is not in: {message}"


# The same bits from every format


def restored(name):
    """The names that a format can hold: a slash makes groups in HDF5 and in RNTuples."""
    return tuple(key.replace("/", "|") if name in ("flat.h5", "ntuple.root") else key for key in NAMES)


@formats
def test_every_format_gives_back_the_same_bits(name, tmp_path):
    columns = bits()
    events = read_sample(written(tmp_path, name, columns), weight="w")
    wanted = [(new, columns[old]) for new, old in zip(restored(name), NAMES, strict=True) if old != "w"]
    wanted.sort(key=lambda pair: events.sample.names.index(pair[0]))
    assert events.sample.features.tobytes() == np.stack([column for _, column in wanted], axis=1).tobytes()
    assert events.sample.weights.tobytes() == columns["w"].tobytes()
    assert events.dropped == 0
    assert events.extra == {}


@formats
def test_every_format_selects_orders_and_derives(name, tmp_path):
    columns = {"a": np.arange(600.0), "b": np.arange(600)[::-1].copy(), "c": np.arange(600) % 3 == 0}
    source = written(tmp_path, name, columns)
    events = read_sample(
        source, features=["b", "a"], where="c and a > 100", extra=["c", "s=sqrt(a)", "`<i>`=-b"], memory="100 kB"
    )
    rows = columns["c"] & (columns["a"] > 100)
    np.testing.assert_array_equal(events.sample.features, np.stack([columns["b"], columns["a"]], axis=1)[rows])
    assert events.sample.names == ("b", "a")
    assert list(events.extra) == ["c", "s", "<i>"]
    assert (events.extra["c"] == 1).all()
    np.testing.assert_array_equal(events.extra["s"], np.sqrt(columns["a"][rows]))
    np.testing.assert_array_equal(events.extra["<i>"], -columns["b"][rows])
    refusal(events.description, source, f"{rows.sum()} of 600 events", "where c and a > 100")


@formats
def test_every_format_names_its_columns(name, tmp_path):
    source = written(tmp_path, name, bits())
    assert sorted(set(columns_of(source)) - {""}) == sorted(restored(name))


@formats
def test_every_format_offers_the_nearest_column(name, tmp_path):
    source = written(tmp_path, name, {"pt1": np.ones(3), "pt2": np.ones(3)})
    for asked in (
        {"features": ["pt3"]},
        {"weight": "pt3"},
        {"where": "pt3 > 0"},
        {"extra": ["pt3"]},
        {"extra": ["x=pt3"]},
    ):
        with pytest.raises(InputError) as refused:
            read_sample(source, label="reference", **asked)
        refusal(str(refused.value), "reference", source, "'pt3'", "'pt1'", "'pt2'")


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
def test_every_format_refuses_infinity_by_name(name, tmp_path):
    source = written(tmp_path, name, {"a": np.array([1.0, np.inf]), "b": np.ones(2)})
    with pytest.raises(InputError, match=r"column 'a' \(1 of 2 rows\)"):
        read_sample(source, drop_nan=True)
    assert len(read_sample(source, where="isfinite(a)").sample) == 1


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


@formats
def test_the_memory_budget_holds_for_what_is_kept(name, tmp_path):
    source = written(tmp_path, name, {"a": np.arange(20_000.0), "b": np.arange(20_000.0)})
    with pytest.raises(MemoryBudgetError) as refused:
        read_sample(source, features="a", extra=["b", "c=a+b"], memory=200_000)
    refusal(str(refused.value), "memory", source)
    if not name.endswith("npz"):  # archives come out of their file whole
        assert len(read_sample(source, where="a < 100", memory=200_000).sample) == 100


@formats
def test_events_that_are_many_are_kept_on_disk(name, tmp_path, monkeypatch):
    if name.endswith("npz"):
        pytest.skip("archives come out of their file whole")
    columns = {"a": np.arange(20_000.0), "b": -np.arange(20_000.0)}
    source = written(tmp_path, name, columns)
    spooled = read_sample(source, where="a >= 10", memory=400_000).sample
    assert on_disk(spooled.features)
    np.testing.assert_array_equal(spooled.features, np.column_stack(list(columns.values()))[10:])
    assert not list(tmp_path.glob("lanner-*"))
    monkeypatch.setattr("lanner.events.io.spool.np.ascontiguousarray", _full_disk)
    with pytest.raises(FileError, match=r"no room.*No space left.*TMPDIR"):
        read_sample(source, memory=400_000)


def on_disk(array):
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


def _full_disk(table):
    raise OSError(28, "No space left on device")


# Several files


def test_a_pattern_reads_its_files_in_order(tmp_path):
    for number in (2, 0, 1):
        write_tree(tmp_path / f"run{number}.root", {"a": np.full(3, number), "b": np.ones(3)})
    events = read_sample(f"{tmp_path}/run*.root:events", features="a")
    assert events.sample.features.ravel().tolist() == [0] * 3 + [1] * 3 + [2] * 3
    both = read_sample([tmp_path / "run2.root", f"{tmp_path}/run0.root"], features="a")
    assert both.sample.features.ravel().tolist() == [2] * 3 + [0] * 3
    refusal(both.description, "run2.root", "run0.root", "6 events")


def test_formats_can_be_mixed(tmp_path):
    write_tree(tmp_path / "a.root", {"a": np.ones(2), "b": np.ones(2)})
    np.savez(tmp_path / "b.npz", b=np.zeros(2), a=np.zeros(2, dtype=np.float32))
    events = read_sample([f"{tmp_path}/a.root", f"{tmp_path}/b.npz"])
    assert events.sample.features.tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]


def test_an_empty_file_among_others_is_no_error(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2)})
    write_csv(tmp_path / "b.csv", {"a": np.empty(0)})
    assert len(read_sample(f"{tmp_path}/*.csv").sample) == 2


def test_files_with_different_columns_are_refused(tmp_path):
    write_tree(tmp_path / "a.root", {"pt1": np.ones(2), "pt2": np.ones(2)})
    write_tree(tmp_path / "b.root", {"pt1": np.ones(2), "pt3": np.ones(2)})
    with pytest.raises(InputError) as refused:
        read_sample(f"{tmp_path}/*.root")
    refusal(str(refused.value), "b.root:events", "a.root:events", "missing: 'pt2'", "extra: 'pt3'", "features=")
    with pytest.raises(InputError, match="missing: 'pt2'"):
        read_sample(f"{tmp_path}/*.root", features=["pt1"], where="pt2 > 0")
    assert len(read_sample(f"{tmp_path}/*.root", features=["pt1"]).sample) == 4


def test_a_file_named_twice_is_refused(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2)})
    with pytest.raises(InputError, match="count twice"):
        read_sample([f"{tmp_path}/*.csv", tmp_path / "a.csv"])


def test_a_missing_file_offers_the_nearest(tmp_path):
    write_csv(tmp_path / "muons.csv", {"a": np.ones(2)})
    for name in ("moons.csv", "Muons.csv", "muons.csv.gz"):
        with pytest.raises(InputError) as refused:
            read_sample(tmp_path / name, label="data")
        refusal(str(refused.value), "data", repr(name), "nearest: 'muons.csv'", str(tmp_path))
    with pytest.raises(InputError, match=r"no file matches.*'muons.csv'"):
        read_sample(f"{tmp_path}/*.root")
    with pytest.raises(InputError, match="no folder"):
        read_sample(f"{tmp_path}/nowhere/muons.csv")


def test_names_that_cannot_be_read_say_why(tmp_path):
    (tmp_path / "folder.root").mkdir()
    for source, part in (
        (tmp_path / "a.xls", ".parquet"),
        (f"{tmp_path}/folder.root", "is a folder"),
        ("https://example.org/a.root", "download it"),
        ("root://example.org//a.root:events", "download it"),
    ):
        with pytest.raises(InputError) as refused:
            read_sample(source)
        refusal(str(refused.value), part)


@pytest.mark.parametrize(
    "name", ["a:b.csv", "a::b.root", "[a]*.csv", "µ <b>.npz", "file.root:x.parquet", "A.CSV", "~.csv"]
)
def test_odd_file_names_are_just_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"a": np.arange(3.0)}
    writers = {".csv": write_csv, ".root": write_tree, ".npz": WRITERS["t.npz"], ".parquet": WRITERS["t.pq"]}
    suffix = next(suffix for suffix in writers if name.lower().endswith(suffix))
    writers[suffix](f"plain{suffix}", columns)
    Path(f"plain{suffix}").rename(name)
    assert read_sample(name).sample.features.ravel().tolist() == [0, 1, 2]
    assert read_sample(tmp_path / name).sample.features.ravel().tolist() == [0, 1, 2]


# Choices


def test_all_numbers_but_the_weight_are_features_and_the_rest_is_told(tmp_path, caplog):
    frame = pd.DataFrame({"pt": [1.0, 2.0], "n": [1, 2], "ok": [True, False], "name": ["a", "b"], "w": [1.0, 2.0]})
    for name in ("t.parquet", "t.csv"):
        source = str(tmp_path / name)
        frame.to_parquet(source) if name == "t.parquet" else frame.to_csv(source, index=False)
        with caplog.at_level(logging.INFO):
            events = read_sample(source, weight="w")
        assert events.sample.names == ("pt", "n", "ok")
        refusal(events.description, "left out of the features: 'name' holds text")
        refusal(caplog.text, "'name' holds text")


def test_a_feature_can_be_a_formula_and_so_can_the_weight(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.array([1.0, 4.0]), "b": np.array([2.0, 3.0])})
    events = read_sample(tmp_path / "a.csv", features=["root=sqrt(a)", "b"], weight="w = 2 * b")
    assert events.sample.names == ("root", "b")
    assert events.sample.features.tolist() == [[1, 2], [2, 3]]
    assert events.sample.weights.tolist() == [4, 6]


def test_a_column_named_like_a_formula_is_a_column(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2), "a=2*a": np.full(2, 7.0)})
    assert read_sample(tmp_path / "a.csv", features="a=2*a").sample.features.tolist() == [[7], [7]]


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ({"features": ["a", "w"], "weight": "w"}, "cannot be a feature and the weights"),
        ({"features": ["a", "a"]}, "more than one column named 'a'"),
        ({"features": ["a", "a=2*w"]}, "more than one variable is named 'a'"),
        ({"extra": ["m=a", "m=w"]}, "more than one variable is named 'm'"),
        ({"features": []}, "no column"),
        ({"features": ["one=1"]}, "only constants"),
        ({"where": "a"}, "yields numbers"),
        ({"where": "a.b > 1"}, "an attribute"),
        ({"extra": ["m=__import__('os')"]}, "cannot be used"),
        ({"weight": np.ones(2)}, "give weight='name'"),
        ({"memory": "much"}, "is not a size"),
    ],
)
def test_wrong_requests_are_refused(asked, part, tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2), "w": np.ones(2)})
    with pytest.raises(InputError) as refused:
        read_sample(tmp_path / "a.csv", **asked)
    refusal(str(refused.value), part)


def test_a_name_of_a_column_is_never_evaluated(tmp_path):
    # uproot evaluates expressions over branches; a branch, and a request, with such a name must stay a name.
    name = "__import__('os').system('touch exploded')"
    write_datasets(tmp_path / "a.h5", {"x": np.ones(2)})
    write_tree(tmp_path / "a.root", {"x": np.ones(2)})
    for source in (tmp_path / "a.root", tmp_path / "a.h5"):
        for asked in ({"features": [name]}, {"where": f"`{name}` > 0"}, {"weight": name}):
            with pytest.raises(InputError, match="has no column"):
                read_sample(source, **asked)
    branch = "__import__('os').system('x')"
    write_tree(tmp_path / "b.root", {branch: np.arange(2.0)})
    assert read_sample(tmp_path / "b.root", where=f"`{branch}` > 0").sample.features.tolist() == [[1]]


# Events in memory


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pa.table, records, lambda columns: Sample.of(columns)],
    ids=["dict", "pandas", "pyarrow", "records", "sample"],
)
def test_named_columns_in_memory_are_read_like_files(make):
    source = make({"a": np.arange(5.0), "b": np.arange(5.0) ** 2, "w": np.arange(5.0) + 1})
    events = read_sample(source, features=["b"], weight="w", where="a > 2", extra=["a", "s=a+b"])
    assert events.sample.features.tolist() == [[9], [16]]
    assert events.sample.weights.tolist() == [4, 5]
    assert events.extra["s"].tolist() == [12, 20]
    assert columns_of(source) == ["a", "b", "w"]


def test_a_sample_keeps_its_weights_through_a_selection():
    sample = Sample.of({"a": [1.0, 2.0, 3.0]}, weights=[4.0, 5.0, 6.0])
    assert read_sample(sample).sample is sample
    events = read_sample(sample, where="a > 1", extra=["a"])
    assert events.sample.names == ("a",)
    assert events.sample.weights.tolist() == [5, 6]
    given = read_sample({"a": [1.0, 2.0]}, weight=np.array([7.0, 8.0]), where="a > 1")
    assert given.sample.weights.tolist() == [8]


def test_columns_without_names_can_be_named_or_chosen(tmp_path):
    table = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "t.npy", table)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(table))
    np.savez(tmp_path / "t.npz", whatever=table)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["table"] = table
    for source in (table, *(tmp_path / name for name in ("t.npy", "fortran.npy", "t.npz", "t.h5"))):
        assert read_sample(source).sample.names == ("x0", "x1", "x2")
        np.testing.assert_array_equal(read_sample(source).sample.features, table)
        chosen = read_sample(source, features=["x2", "x0"], where="x1 > 1")
        np.testing.assert_array_equal(chosen.sample.features, table[1:, [2, 0]])
        named = read_sample(source, features=["pt", "eta", "phi"], where="eta > 1", extra=["twice=2*phi"])
        np.testing.assert_array_equal(named.sample.features, table[1:])
        assert named.sample.names == ("pt", "eta", "phi")
        assert named.extra["twice"].tolist() == [10, 16, 22]
        with pytest.raises(InputError, match="features name all 3 of them"):
            read_sample(source, features=["pt", "eta"])


def test_an_array_in_memory_is_not_copied():
    table = np.ones((5, 2))
    assert np.shares_memory(read_sample(table).sample.features, table)


def test_text_among_numbers_in_memory_is_named():
    with pytest.raises(InputError, match="such as 'b'"):
        read_sample({"a": np.array([1.0, "b"], dtype=object)})
    assert read_sample({"a": [1.0], "name": ["b"]}).sample.names == ("a",)


def test_jagged_columns_in_memory_are_refused():
    with pytest.raises(InputError, match="column 'j'"):
        read_sample({"a": [1.0, 2.0], "j": ak.Array([[1.0], [2.0, 3.0]]).to_list()}, features=["a", "j"])


def test_results_are_read_only():
    events = read_sample({"a": [1.0, 2.0]}, extra="a")
    assert not events.sample.features.flags.writeable
    assert not events.extra["a"].flags.writeable


def test_rows_say_where_the_events_stand_in_the_file():
    columns = {"x": [1.0, np.nan, 3.0, 4.0, 5.0], "y": [1.0, 1.0, 0.0, 1.0, 1.0]}
    events = read_sample(columns, features="x", where="y > 0", drop_nan=True)
    assert events.rows.tolist() == [0, 3, 4]
    assert read_sample(columns, features="y").rows is None
