"""ROOT files: which tree, which branches, and chunks that stay within the memory budget."""

import tracemalloc

import awkward as ak
import numpy as np
import pytest
import uproot

from lanner.errors import ColumnWarning, InputError
from lanner.events.io import columns_of, read_sample
from lanner.events.io.builder import SampleBuilder

COLUMNS = {
    "pt": np.array([1.5, 2.5, 3.5]),
    "n": np.array([1, 2, 3], dtype=np.int32),
    "ok": np.array([True, False, True]),
    "single": np.array([0.1, 0.2, 0.3], dtype=np.float32),
    "vector": np.arange(9.0).reshape(3, 3),
    "jets": ak.Array([[1.0], [], [2.0, 3.0]]),
    "name": ak.Array(["a", "bb", "c"]),
}


def tree_of(path, columns=COLUMNS, name="events"):
    with uproot.recreate(path) as file:
        file.mktree(name, columns)  # uproot fills a tree made from arrays at once
    return str(path)


def ntuple_of(path, columns=COLUMNS, name="events"):
    with uproot.recreate(path) as file:
        file.mkrntuple(name, columns)
    return str(path)


kinds = pytest.mark.parametrize("make", [tree_of, ntuple_of], ids=["TTree", "RNTuple"])


@kinds
def test_numbers_of_every_type_become_float64(make, tmp_path):
    source = make(tmp_path / "a.root")
    events = read_sample(source, features=["n", "pt", "ok", "single"])
    np.testing.assert_array_equal(events.sample.features[:, 0], [1, 2, 3])
    np.testing.assert_array_equal(events.sample.features[:, 2], [1, 0, 1])
    np.testing.assert_array_equal(events.sample.features[:, 3], COLUMNS["single"].astype(float))


@kinds
@pytest.mark.parametrize("branch", ["jets", "name", "vector"])
def test_what_is_not_one_number_per_event_is_refused_by_name(make, branch, tmp_path):
    source = make(tmp_path / "a.root")
    for asked in ({"features": [branch]}, {"where": f"{branch} > 1"}, {"extra": [branch]}, {"weight": branch}):
        with pytest.raises(InputError) as refused:
            read_sample(source, **asked)
        assert f"column {branch!r}" in str(refused.value)
        assert f"{source}:events" in str(refused.value)
        assert "one number per event" in str(refused.value)
    if branch == "jets":
        assert "jagged" in str(refused.value)


@kinds
def test_by_default_only_plain_numbers_are_features(make, tmp_path):
    with pytest.warns(ColumnWarning, match=r"'jets' is jagged.*, such as \[1.0\]"):
        events = read_sample(make(tmp_path / "a.root"))
    assert set(events.sample.names) - {"njets"} == {"pt", "n", "ok", "single"}
    assert "'jets' is jagged" in events.description


@kinds
def test_the_only_tree_needs_no_name(make, tmp_path):
    source = make(tmp_path / "a.root", {"x": np.arange(3.0)}, "folder/mytree")
    for name in (source, f"{source}:folder/mytree", f"{source}:/folder/mytree;1"):
        assert read_sample(name).sample.features.ravel().tolist() == [0, 1, 2]
        assert columns_of(name) == ["x"]


def test_several_trees_are_listed_and_a_wrong_name_offers_the_nearest(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("events", {"x": np.ones(2)})
        file.mkrntuple("folder/other", {"x": np.zeros(3)})
        file["h"] = np.histogram([1.0, 2.0])
        file["note"] = "text"
    source = f"{tmp_path}/a.root"
    assert len(read_sample(f"{source}:events").sample) == 2
    assert len(read_sample(f"{source}:folder/other").sample) == 3
    for name, parts in (
        (source, ["more than one tree", "'events'", "'folder/other'"]),
        (f"{source}:event", ["no tree 'event'", "nearest: 'events'"]),
        (f"{source}:h", ["'h' is a TH1D", "'events'"]),
    ):
        with pytest.raises(InputError) as refused:
            read_sample(name)
        for part in parts:
            assert part in str(refused.value)


def test_a_file_without_trees_says_what_it_has(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["h"] = np.histogram([1.0, 2.0])
    with pytest.raises(InputError, match="has no tree, only 'h'"):
        read_sample(tmp_path / "a.root")


def test_records_of_an_ntuple_are_reached_by_dots(tmp_path):
    source = ntuple_of(tmp_path / "a.root", {"mu": ak.Array([{"pt": 1.0, "eta": 2.0}, {"pt": 3.0, "eta": 4.0}])})
    events = read_sample(source, features=["mu.eta"], where="`mu.pt` > 2")
    assert events.sample.features.tolist() == [[4]]
    with pytest.raises(InputError, match="column 'mu'"):
        read_sample(source, features=["mu"])


def test_missing_values_of_an_ntuple_are_nan(tmp_path):
    source = ntuple_of(tmp_path / "a.root", {"x": ak.Array([1.0, None, 3.0])})
    events = read_sample(source, drop_nan=True)
    assert events.sample.features.ravel().tolist() == [1, 3]
    assert events.dropped == 1


# Chunks


@kinds
def test_a_file_larger_than_the_budget_is_read_in_chunks_that_fit(make, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows, budget = 200_000, 8_000_000
    columns = {f"c{j:02d}": rng.random(rows) for j in range(10)}
    with uproot.recreate(tmp_path / "a.root") as file:
        made = (file.mktree if make is tree_of else file.mkrntuple)(
            "events", {name: column[:10_000] for name, column in columns.items()}
        )
        for start in range(10_000, rows, 10_000):
            made.extend({name: column[start : start + 10_000] for name, column in columns.items()})
    assert (tmp_path / "a.root").stat().st_size > 1.5 * budget

    sizes = []
    add = SampleBuilder.add
    monkeypatch.setattr(
        SampleBuilder,
        "add",
        lambda self, chunk: (sizes.append(sum(column.nbytes for column in chunk.values())), add(self, chunk))[1],
    )
    read_sample(tmp_path / "a.root", features="c01", where="c00 > 2 or c00 < 0.001")  # imports, caches
    sizes.clear()
    tracemalloc.start()
    events = read_sample(tmp_path / "a.root", features="c01", where="c00 > 2 or c00 < 0.1", memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(events.sample.features[:, 0], columns["c01"][columns["c00"] < 0.1])
    assert len(sizes) >= 6
    assert max(sizes) <= budget / 16
    assert peak < budget


def test_the_order_of_rows_does_not_depend_on_the_chunks(tmp_path):
    columns = {"a": np.arange(5000.0), "b": np.arange(5000.0) % 7}
    source = tree_of(tmp_path / "a.root", columns)
    whole = read_sample(source, features=["a", "b"], where="b > 3", extra=["b", "s=a+b"])
    pieces = read_sample(source, features=["a", "b"], where="b > 3", extra=["b", "s=a+b"], memory=150_000)
    assert whole.sample.features.tobytes() == pieces.sample.features.tobytes()
    assert {name: column.tolist() for name, column in whole.extra.items()} == {
        name: column.tolist() for name, column in pieces.extra.items()
    }


def test_the_file_is_closed_after_an_error(tmp_path, monkeypatch):
    source = tree_of(tmp_path / "a.root", {"x": np.ones(3)})
    opened = []
    open_root = uproot.open
    monkeypatch.setattr(
        uproot, "open", lambda *given, **options: opened.append(open_root(*given, **options)) or opened[-1]
    )
    with pytest.raises(InputError):
        read_sample(source, features=["y"])
    assert opened[0].file.closed
