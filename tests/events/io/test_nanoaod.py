"""NanoAOD and its like, from any file: the features that awkward makes by hand, and errors of one line."""

import tracemalloc
import warnings
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

import lanner
from lanner.errors import ColumnWarning, InputError
from lanner.events.io import columns_of, read_sample
from lanner.events.io.builder import SampleBuilder
from lanner.events.missing import ABSENT
from tests.events.io.nanoaod import WRITERS, events_of, flattened, with_dots, write_ntuple, write_parquet, write_tree

EVENTS = 20_000
ASKED: dict[str, Any] = {
    "features": [
        "pt1=Muon_pt[0]",
        "pt2=Muon_pt[1]",
        "last=Jet_charge[-1]",
        "ht=sum(Jet_pt * (Jet_pt > 30))",
        "px=max(Muon_pt * cos(Muon_phi))",
        "mt=sqrt(2 * Muon_pt[0] * MET_pt * (1 - cos(Muon_phi[0])))",
        "near=count(Jet_pt > MET_pt && !Jet_tight)",
        "MET_pt",
    ],
    "where": "count(Jet_pt > 30) >= 1 && (any(Muon_tight) || MET_pt > 10)",
    "weight": "w=genWeight * where(count(Muon_pt) > 0, 0.9, 1)",
    "extra": ["low=min(Jet_pt)"],
}


def by_hand(columns):
    """The same with awkward, step by step."""
    muons, jets, met = columns["Muon"], columns["Jet"], columns["MET_pt"].astype(np.float64)
    pt, phi, jet_pt = (ak.values_astype(a, np.float64) for a in (muons.pt, muons.phi, jets.pt))
    kept = (ak.sum(jet_pt > 30, axis=1) >= 1) & (ak.any(muons.tight, axis=1) | (met > 10))
    first, angle = ak.firsts(pt), ak.firsts(phi)
    features = [
        first,
        ak.pad_none(pt, 2)[:, 1],
        ak.pad_none(jets.charge, 1)[:, -1],
        ak.sum(jet_pt * (jet_pt > 30), axis=1),
        ak.max(pt * np.cos(phi), axis=1),
        np.sqrt(2 * first * met * (1 - np.cos(angle))),
        ak.sum((jet_pt > met) & ~jets.tight, axis=1),
        met,
    ]
    table = np.column_stack([ak.to_numpy(ak.fill_none(column, ABSENT)) for column in features])[kept]
    weights = (columns["genWeight"] * ak.to_numpy(ak.where(ak.num(pt) > 0, 0.9, 1.0)))[kept]
    return table, weights, ak.to_numpy(ak.fill_none(ak.min(jet_pt, axis=1), np.nan))[kept]


@pytest.fixture(scope="module")
def columns():
    return events_of(EVENTS)


@pytest.fixture(scope="module")
def files(columns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nanoaod")
    return {name: write(folder / name, columns, 4) for name, (write, _) in WRITERS.items()}


@pytest.mark.parametrize("memory", [None, 2_000_000], ids=["whole", "small chunks"])
@pytest.mark.parametrize("name", WRITERS)
def test_features_are_those_made_by_hand_to_the_last_digit_in_every_file(files, columns, name, memory):
    events = read_sample(files[name], **(with_dots(ASKED) if WRITERS[name][1] else ASKED), memory=memory)
    table, weights, low = by_hand(columns)
    assert 1000 < len(table) < EVENTS
    assert events.sample.features.tobytes() == table.tobytes()
    assert events.sample.weights.tobytes() == weights.tobytes()
    np.testing.assert_array_equal(events.extra["low"], low)
    assert f"'pt2' in {np.count_nonzero(table[:, 1] == ABSENT)} events" in events.description


def test_awkward_arrays_in_memory_are_read_as_files_are(columns):
    table, weights, _ = by_hand(columns)
    for source in (flattened(columns), ak.zip(flattened(columns), depth_limit=1)):
        events = read_sample(source, **ASKED)
        assert events.sample.features.tobytes() == table.tobytes()
        assert events.sample.weights.tobytes() == weights.tobytes()


def test_events_without_the_object_are_dropped_by_a_cut_and_never_by_drop_nan(files, columns):
    there = ak.to_numpy(ak.num(columns["Muon"].pt) >= 2)
    cut = read_sample(files["tree.root"], features=["pt2=Muon_pt[1]"], where="count(Muon_pt) >= 2")
    assert len(cut.sample) == there.sum()
    assert "missing" not in cut.description
    kept = read_sample(files["tree.root"], features=["pt2=Muon_pt[1]"], drop_nan=True)
    assert len(kept.sample) == EVENTS
    assert kept.dropped == 0
    assert np.count_nonzero(kept.sample.features == ABSENT) == (~there).sum()
    weighted = read_sample(files["tree.root"], features=["MET_pt"], weight="w=Muon_pt[1]", drop_nan=True)
    assert weighted.dropped == (~there).sum()


def test_numbers_that_went_wrong_are_not_missing_objects(files):
    with pytest.raises(InputError, match=r"NaN or missing values in .*column 'a'"):
        read_sample(files["tree.root"], features=["a=sqrt(-Muon_pt[0])"])


def test_only_the_branches_that_formulas_need_are_read(files, monkeypatch):
    read = []
    array = uproot.TBranch.array
    monkeypatch.setattr(uproot.TBranch, "array", lambda self, *a, **k: read.append(self.name) or array(self, *a, **k))
    read_sample(files["tree.root"], features=["ht=sum(Jet_pt)"], where="MET_pt > 1")
    assert set(read) == {"Jet_pt", "MET_pt"}


@pytest.mark.parametrize("name", ["tree.root", "collections.root", "records.parquet"])
def test_chunks_of_lists_stay_within_the_budget(name, tmp_path, monkeypatch):
    columns, budget = events_of(100_000), 4_000_000
    write, records = WRITERS[name]
    source = write(tmp_path / name, columns, 25)
    asked = {"features": ["ht=sum(Jet_pt)", "m=max(Muon_pt * cos(Muon_phi))"], "where": "any(Jet_pt > 150)"}
    asked = with_dots(asked) if records else asked
    read_sample(source, **asked)  # imports, caches
    sizes, add = [], SampleBuilder.add

    def counted(self, chunk):
        sizes.append(sum(column.content.size + len(column) for column in chunk.values()) * 8)
        add(self, chunk)

    monkeypatch.setattr(SampleBuilder, "add", counted)
    tracemalloc.start()
    events = read_sample(source, **asked, memory=budget)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sizes) >= 25
    assert max(sizes) <= budget / 16
    assert peak < budget
    pt = ak.values_astype(columns["Jet"].pt, np.float64)
    wanted = ak.to_numpy(ak.sum(pt, axis=1))[ak.to_numpy(ak.any(pt > 150, axis=1))]
    assert events.sample.features[:, 0].tobytes() == wanted.tobytes()


# What is refused


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({"features": "a=Muon_Pt[0]"}, ["no column 'Muon_Pt' (nearest: 'Muon_pt'"]),
        ({"features": "a=Muon_pt[77]"}, ["Muon_pt[77]: no event of", "has so many (at most ", "smaller index"]),
        ({"features": "a=Muon_pt[-77]"}, ["Muon_pt[-77]: no event of"]),
        ({"features": "MET_pt", "where": "!(Muon_pt[77] > 3)"}, ["Muon_pt[77]: no event of"]),
        ({"features": "MET_pt", "where": "Muon_pt[77] > 3"}, ["selects none of", "Muon_pt[77]: no event of"]),
        ({"features": "a=Muon_pt[1]", "where": "count(Muon_pt) < 2"}, ["Muon_pt[1]: no selected event", "(at most 1)"]),
        ({"features": "a=max(Muon_pt)", "where": "count(Muon_pt) < 1"}, ["'a' of", "is missing in all"]),
        ({"features": "Muon_pt"}, ["column 'Muon_pt'", "jagged", "name=Muon_pt[0]", "max(Muon_pt)"]),
        ({"features": "Muon_pt[0]"}, ["formula without a name", "name=formula"]),
        ({"features": "count(Muon_pt)"}, ["formula without a name"]),
        ({"features": "a=2 * Muon_pt"}, ["column 'Muon_pt' stays jagged", "Muon_pt[0]", "count(Muon_pt)"]),
        ({"features": "MET_pt", "where": "Muon_pt > 3"}, ["column 'Muon_pt' stays jagged", "any(Muon_pt > 0)"]),
        ({"features": "a=max(Muon_pt * Jet_pt)"}, ["'Muon_pt' and 'Jet_pt'", "different numbers of objects"]),
        ({"features": "a=MET_pt[0]"}, ["'MET_pt' is one number per event", "leave the index out"]),
        ({"features": "a=max(MET_pt)"}, ["maximum(a, b)"]),
    ],
)
def test_errors_are_one_line_with_the_file_and_what_to_do(files, asked, parts):
    with pytest.raises(InputError) as refused:
        read_sample(files["tree.root"], **asked)
    for part in (files["tree.root"], *parts):
        assert part in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["a=Muon_pt[1.5]", "a=Muon_pt[0:2]", "a=Muon_pt[True]", "a=Muon_pt['x']"])
def test_an_index_is_a_whole_number(files, text):
    with pytest.raises(InputError) as refused:
        read_sample(files["tree.root"], features=text)
    first = str(refused.value).splitlines()[0]
    assert "index of 'Muon_pt' is not a whole number: write [0] for the first object, [-1] for the last" in first


def test_objects_are_chosen_from_files(files):
    chosen = read_sample(files["tree.root"], features=["a=Muon_pt[Muon_pt > 30][0]", "h=sum(Jet_pt[Jet_pt > 30])"])
    columns = flattened(events_of(EVENTS))
    mu, jet = columns["Muon_pt"], columns["Jet_pt"]
    first = ak.to_numpy(ak.fill_none(ak.firsts(mu[mu > 30]), ABSENT))
    np.testing.assert_array_equal(chosen.sample.features[:, 0], first)
    hard = ak.sum(ak.values_astype(jet[jet > 30], np.float64), axis=1)
    np.testing.assert_array_equal(chosen.sample.features[:, 1], hard)
    with pytest.raises(InputError, match=r"'Jet_pt.Jet_pt > 30..0.' is a formula without a name: write name=formula"):
        read_sample(files["tree.root"], features=["Jet_pt[Jet_pt > 30][0]"])


@pytest.mark.parametrize("write", [write_ntuple, write_parquet], ids=["RNTuple", "Parquet"])
def test_what_formulas_cannot_take_is_refused_by_name(write, tmp_path):
    columns = {
        "deep": ak.Array([[[1.0], []], []]),
        "names": ak.Array([["a", "b"], ["c"]]),
        "Muon": ak.Array([[{"pt": 1.0, "hits": [1, 2]}], []]),
        "x": np.ones(2),
    }
    source = write(tmp_path / "a.root", columns)
    if write is write_parquet:
        source = write(tmp_path / "a.parquet", columns)
    for text, parts in (
        ("a=count(deep)", ["column 'deep'", "holds lists within lists"]),
        ("a=count(names)", ["column 'names'", "holds lists of text"]),
        ("a=count(Muon.hits)", ["column 'Muon.hits'", "holds lists within lists"]),
        ("a=count(Muon)", ["column 'Muon'", "holds lists of records", "name one of its fields", "'Muon.pt'"]),
        ("a=Muon.ptt[0]", ["no column 'Muon.ptt' (nearest: 'Muon.pt'"]),
    ):
        with pytest.raises(InputError) as refused:
            read_sample(source, features=text)
        for part in (source, *parts):
            assert part in str(refused.value)
        assert "\n" not in str(refused.value)
    assert read_sample(source, features="a=count(Muon.pt)").sample.features.ravel().tolist() == [1, 0]


HOSTILE = [
    "a=Muon_pt.__class__",
    "a=Muon_pt[0].__class__",
    "a=Muon_pt[__import__('os')]",
    "a=count.__globals__[0]",
    "a=count(lambda: 1)",
    "a=count(*Muon_pt)",
    "a=count(Muon_pt, key=1)",
    "a=Muon_pt[10 ** 10]",
    "a=Muon_pt[99999999999999999999]",
    "a=Muon_pt[...]",
    "a=Muon_pt[None]",
    "a=Muon_pt[()]",
    "a=Muon_pt[0, 1]",
    "a=Muon_pt[]",
    "a=Muon_pt[x := 0]",
    "a=Muon_pt[*MET_pt]",
    "a=" + "Muon_pt" + "[0]" * 3000,
    "a=Muon" + ".pt" * 2500,
    "a=" + "count(" * 200 + "Muon_pt" + ")" * 200,
    "a=`Muon_pt`[`0`]",
    "a=Muon_pt.",
    "a=count",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:30] for text in HOSTILE])
def test_hostile_formulas_are_refused(files, text):
    with pytest.raises(InputError):
        read_sample(files["tree.root"], features=text)


# Files of other makes


def test_what_is_rare_may_be_missing_in_all_of_a_small_data_set(files):
    events = read_sample(files["tree.root"], features=["a=Muon_pt[77]", "MET_pt"], all_missing=True)
    assert (events.sample.features[:, 0] == ABSENT).all()


def test_an_object_may_be_in_another_file_or_chunk(tmp_path):
    first, second = events_of(300, seed=2), events_of(300, seed=3)
    first["Muon"] = first["Muon"][:, :1]
    sources = [write_tree(tmp_path / "a.root", first), write_tree(tmp_path / "b.root", second)]
    events = read_sample(sources, features="pt2=Muon_pt[1]", memory=200_000)
    assert (events.sample.features[:300] == ABSENT).all()
    assert (events.sample.features[300:] > 0).any()


def test_fixed_arrays_and_flat_records_are_for_formulas_too(tmp_path):
    columns = {"v": np.arange(6.0).reshape(2, 3), "x": np.ones(2)}
    for write, name in ((write_tree, "t.root"), (write_ntuple, "r.root"), (write_parquet, "t.parquet")):
        source = write(tmp_path / name, columns)
        assert read_sample(source, features=["a=v[2]", "s=sum(v)"]).sample.features.tolist() == [[2, 3], [5, 12]]
    columns = {"p": ak.Array([{"x": 1.0, "y": [1.0, 2.0]}, {"x": 2.0, "y": []}]), "z": np.ones(2)}
    for write, name in ((write_ntuple, "p.root"), (write_parquet, "p.parquet")):
        events = read_sample(write(tmp_path / name, columns), features=["p.x", "a=2 * p.x", "n=count(p.y)"])
        assert events.sample.features.tolist() == [[1, 2, 2], [2, 4, 0]]


def test_lists_of_parquet_may_be_null_and_so_may_their_numbers(tmp_path):
    table = pa.table(
        {
            "Muon": pa.array([[{"pt": 1.5, "q": None}], None, [{"pt": 2.5, "q": 1}, None]]),
            "jets": pa.array([[1.0, 2.0], [], None]),
            "flag": pa.array([[True, None], [False], []]),
            "x": [1.0, 2.0, 3.0],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    source = str(tmp_path / "t.parquet")
    asked = ["n=count(Muon.pt)", "j=sum(jets)", "x"]
    assert read_sample(source, features=asked).sample.features.tolist() == [[1, 3, 1], [0, 0, 2], [2, 0, 3]]
    events = read_sample(source, features="x", extra=["q=Muon.q[0]", "p=Muon.pt[-1]", "f=sum(flag)"])
    np.testing.assert_array_equal(events.extra["q"], [np.nan, np.nan, 1])
    np.testing.assert_array_equal(events.extra["p"], [1.5, np.nan, np.nan])
    np.testing.assert_array_equal(events.extra["f"], [np.nan, 0, 0])
    with pytest.warns(ColumnWarning):
        assert read_sample(source).sample.names == ("x",)  # fields of records are columns for who names them
    assert columns_of(source) == ["Muon", "jets", "flag", "x", "Muon.pt", "Muon.q"]


def test_files_without_events_are_refused_as_before(tmp_path):
    columns = {name: column[:0] for name, column in events_of(5).items()}
    for name, (write, records) in WRITERS.items():
        if name.endswith("root"):
            source = write(tmp_path / name, columns)
            with pytest.raises(InputError, match=r"is empty \(no rows\)"):
                read_sample(source, features=with_dots(["a=max(Jet_pt)"]) if records else ["a=max(Jet_pt)"])


# A whole search


def test_missing_objects_become_indicators_in_a_search_and_are_said_in_words(tmp_path):
    features = ["pt1=Muon_pt[0]", "q1=Muon_charge[0]", "MET_pt"]
    samples = [
        read_sample(write_tree(tmp_path / f"{seed}.root", events_of(number, seed)), features=features).sample
        for number, seed in ((1500, 4), (150, 5))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few events and few toys
        result = lanner.search(*samples, expected=150, toys=60, seed=1, progress=False)
    said = [str(one) for one in result.plan.chosen]
    for name in ("pt1", "q1"):  # a charge is no continuous column, whose placeholders are recognised by their look
        assert any(f"column '{name}'" in one and "events that have no such object" in one for one in said)
    refused = r"column 'pt1' of reference and data together is missing in .*scaling='robust'.*where="
    with pytest.raises(InputError, match=refused):
        lanner.search(*samples, expected=150, toys=20, seed=1, progress=False, scaling="standard")
