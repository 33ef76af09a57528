"""Formulas with lists: what awkward makes by hand, and what is missing."""

from contextlib import suppress
from typing import Any

import awkward as ak
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.events.expressions import Expression
from lanner.events.lists import Lists

NAN = float("nan")
PT = ak.Array([[50.0, 20.0, 10.0], [], [35.0], [12.0, 80.0]])
PHI = ak.Array([[0.1, -2.0, 3.0], [], [1.0], [-0.5, 2.5]])
JETS = ak.Array([[1.0], [2.0, 3.0], [4.0], []])
MET = np.array([15.0, 5.0, 40.0, NAN])
LISTS = {"Muon_pt": PT, "Muon.phi": PHI, "Jet_pt": JETS, "good": PT > 15, "whole": ak.values_astype(PT, np.int16)}
COLUMNS: dict[str, Any] = {**{name: Lists.of(array, name) for name, array in LISTS.items()}, "met": MET}


def evaluated(text):
    return Expression.parse(text).evaluated(COLUMNS, source="mc.root:Events")


def plain(array):
    return ak.to_numpy(ak.fill_none(array, np.nan))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Muon_pt[0]", [50, NAN, 35, 12]),
        ("Muon_pt[-1]", [10, NAN, 35, 80]),
        ("Muon_pt[1] + met", [35, NAN, NAN, NAN]),
        ("(Muon_pt * cos(Muon.phi))[0]", plain(ak.firsts(PT * np.cos(PHI)))),
        ("max(Muon_pt * cos(Muon.phi))", plain(ak.max(PT * np.cos(PHI), axis=1))),
        ("min(hypot(Muon_pt, Muon.phi))", plain(ak.min(np.hypot(PT, PHI), axis=1))),
        ("sum(Muon_pt * (Muon_pt > 15))", plain(ak.sum(PT * (PT > 15), axis=1))),
        ("sum(Muon_pt * met)", plain(ak.sum(PT * MET, axis=1))),
        ("sum(-Muon_pt ** 2 / 3)", plain(ak.sum(-(PT**2) / 3, axis=1))),
        ("count(Muon_pt)", [3, 0, 1, 2]),
        ("count(Muon_pt > met)", [2, 0, 0, 0]),
        ("count(met < Muon_pt && abs(`Muon.phi`) < 1)", [1, 0, 0, 0]),
        ("count(15 < Muon_pt <= 50)", [2, 0, 1, 0]),
        ("sum(Muon_pt > 15)", [2, 0, 1, 1]),
        ("sum(good) + count(good)", [4, 0, 2, 2]),
        ("max(good)", [1, NAN, 1, 1]),
        ("whole[0] / 4", [12.5, NAN, 8.75, 3]),
        ("max(maximum(Muon_pt, 30))", [50, NAN, 35, 80]),
        ("sum(where(good, Muon_pt, met))", [50 + 20 + 15, 0, 35, NAN]),
        ("max(Muon_pt) - sum(Jet_pt)", [49, NAN, 31, 80]),
        ("count(Muon_pt > Jet_pt[0])", [3, 0, 1, 0]),
        ("1 * (count(Muon_pt) >= 2)", [1, 0, 0, 1]),
    ],
)
def test_numbers_are_those_made_by_hand(text, expected):
    found = evaluated(text).values
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("any(Muon_pt > 40)", [True, False, False, True]),
        ("all(Muon_pt > 15)", [False, True, True, False]),
        ("any(Muon_pt > 40 && Muon.phi > 2)", [False, False, False, True]),
        ("any((Muon_pt > 40) | ~(Muon.phi > 2))", [True, False, True, True]),
        ("!any(Muon_pt > 40) || count(Jet_pt) == 1", [True, True, True, False]),
        ("not all(!good)", [True, False, True, True]),
        ("good[0]", [True, False, True, False]),
        ("Muon_pt[1] > 15", [True, False, False, True]),
        ("Muon_pt[1] <= 15", [False, False, False, False]),
        ("!(Muon_pt[1] > 15)", [False, True, True, False]),
        ("Muon_pt[0] != 50", [False, True, True, True]),
        ("isfinite(max(Muon_pt))", [True, False, True, True]),
        ("where(count(Muon_pt) > 1, good[1], met > 10)", [True, False, True, True]),
    ],
)
def test_conditions_are_those_made_by_hand_and_what_is_missing_compares_as_nan(text, expected):
    found = evaluated(text)
    assert found.values.dtype == np.bool_
    assert found.values.tolist() == expected
    assert found.absent is None


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Muon_pt[0]", [1]),
        ("Muon_pt[1]", [1, 2]),
        ("sqrt(-Muon_pt[0])", [1]),  # a root of a negative number is a number that went wrong, not missing
        ("met + 0 * max(Muon_pt)", [1]),
        ("Muon_pt[0] ** 0", [1]),
        ("sum(Jet_pt * Muon_pt[1])", [1, 2]),
        ("where(count(Muon_pt) > 1, Muon_pt[1], -1)", []),
        ("where(Muon_pt[0] > 20, Jet_pt[0], Muon_pt[0])", [1]),
        ("sum(Muon_pt) + count(Muon_pt)", []),
        ("met", []),
    ],
)
def test_missing_objects_are_told_from_numbers_that_went_wrong(text, absent):
    found = evaluated(text)
    assert ([] if found.absent is None else np.flatnonzero(found.absent).tolist()) == absent
    assert np.isnan(found.values[absent]).all()


def test_how_long_lists_are_is_told_by_object():
    assert evaluated("Muon_pt[0] + Muon_pt[7] + Jet_pt[ -1 ]").longest == {
        ("Muon_pt[0]", 0): 3,
        ("Muon_pt[7]", 7): 3,
        ("Jet_pt[ -1 ]", -1): 2,
    }


@pytest.mark.parametrize(
    "text", ["max(Muon_pt * Jet_pt)", "any(Muon_pt > 10 && Jet_pt > 2)", "sum(where(good, 1, Jet_pt))"]
)
def test_lists_of_different_lengths_do_not_pair_up(text):
    with pytest.raises(InputError, match="different numbers of objects in an event") as refused:
        evaluated(text)
    message = str(refused.value)
    assert message.startswith("mc.root:Events, for the expression")
    assert "(3 and 1)" in message
    assert "'Jet_pt" in message
    assert "\n" not in message


def test_a_condition_is_needed_within_any():
    with pytest.raises(InputError, match="a condition is needed"):
        evaluated("any(Muon_pt)")


def test_a_branch_within_another_is_named_in_backticks():
    column = {"Muon/Muon.PT": Lists.of(PT, "Muon/Muon.PT")}
    found = Expression.parse("max(`Muon/Muon.PT`) - `Muon/Muon.PT`[0]").evaluate(column)
    np.testing.assert_array_equal(found, [0, NAN, 0, 68])


def test_no_events_are_no_fault():
    nothing = {name: column[:0] for name, column in COLUMNS.items()}
    for text in ("Muon_pt[0]", "sum(Muon_pt * met)", "max(Muon_pt)", "any(Muon_pt > 1)", "count(good)"):
        assert len(Expression.parse(text).evaluate(nothing)) == 0


numbers = st.recursive(
    st.sampled_from(["a", "b", "c", "2", "0.1"]),
    lambda inner: (
        st.builds("{}({})".format, st.sampled_from(["abs", "sqrt", "exp", "sin", "tanh", "-"]), inner)
        | st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("hypot({}, {})".format, inner, inner)
    ),
    max_leaves=8,
)
NUMPY = {name: getattr(np, name) for name in ("abs", "sqrt", "exp", "sin", "tanh", "hypot")}


@settings(max_examples=60, deadline=None)
@given(numbers, st.sampled_from(["sum", "max", "min"]), st.integers(0, 2**32 - 1))
def test_random_formulas_are_what_awkward_computes_to_the_last_digit(text, reducer, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2, 20)
    scope = {name: ak.unflatten(rng.normal(size=counts.sum()), counts) for name in "ab"} | {"c": rng.normal(size=20)}
    columns = {name: column if name == "c" else Lists.of(column, name) for name, column in scope.items()}
    text = f"a + {text}"
    with np.errstate(all="ignore"):
        inner = eval(text, {"__builtins__": {}}, scope | NUMPY)  # awkward itself is the independent truth
        wanted = ak.where(ak.any(np.isnan(inner), axis=1), np.nan, getattr(ak, reducer)(inner, axis=1))
    found = Expression.parse(f"{reducer}({text})").evaluate(columns)
    np.testing.assert_array_equal(found, plain(wanted))


pieces = ["Muon_pt", "Jet_pt", "Muon.phi", "good", "met", "[0]", "[-1]", "[9]", "[", "]", ".", "count(", "sum(", "max("]
pieces += [
    "any(",
    "all(",
    "where(",
    "hypot(",
    "sqrt(",
    "(",
    ")",
    ")",
    ")",
    ",",
    "*",
    "-",
    ">",
    "==",
    "&&",
    "||",
    "!",
    "2",
    "~",
]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(pieces), max_size=14).map(" ".join))
def test_any_text_about_lists_has_one_value_per_event_or_is_refused(text):
    with suppress(InputError):
        found = evaluated(text)
        assert found.values.shape == (4,)
        assert found.values.dtype in (np.float64, np.bool_)
        assert found.absent is None or np.isnan(found.values[found.absent]).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Muon_pt[abs(`Muon.phi`) > 0.3][0]", plain(ak.firsts(PT[np.abs(PHI) > 0.3]))),
        ("Muon_pt[Muon_pt > 15][-1]", plain(ak.firsts(PT[PT > 15][:, ::-1]))),
        ("Muon_pt[good][1]", [20, NAN, NAN, NAN]),
        ("Muon_pt[!good][0]", [10, NAN, NAN, 12]),
        ("sum(Muon_pt[Muon_pt > 15])", plain(ak.sum(PT[PT > 15], axis=1))),
        ("sum(Muon_pt[Muon_pt > met])", [70, 0, 0, 0]),
        ("max(Muon.phi[Muon_pt > 15])", plain(ak.max(PHI[PT > 15], axis=1))),
        ("min(Muon_pt[Muon_pt < 0])", [NAN] * 4),
        ("count(Muon_pt[good])", [2, 0, 1, 1]),
        ("1 * any(good[Muon.phi > 0])", [1, 0, 1, 1]),
        ("1 * all(good[Muon.phi > 0])", [0, 1, 1, 1]),
        ("sum(Muon_pt[good] * cos(Muon.phi[good]))", plain(ak.sum((PT * np.cos(PHI))[PT > 15], axis=1))),
        ("max((Muon_pt + met)[good])", [65, NAN, 75, NAN]),
        ("Muon_pt[good][Muon.phi[good] > 0][0]", plain(ak.firsts(PT[PT > 15][PHI[PT > 15] > 0]))),
        ("sum(Muon_pt[(Muon_pt > 15) & (Muon.phi < 1)])", plain(ak.sum(PT[(PT > 15) & (PHI < 1)], axis=1))),
        ("Muon_pt[Muon_pt == max(Muon_pt)][0]", plain(ak.max(PT, axis=1))),
        ("Muon.phi[Muon_pt > Jet_pt[0]][0]", [0.1, NAN, 1.0, NAN]),
        ("where(count(Muon_pt[good]) > 0, Muon_pt[good][0], -1)", [50, -1, 35, 80]),
    ],
)
def test_objects_chosen_by_a_condition_are_those_of_awkward(text, expected):
    np.testing.assert_array_equal(evaluated(text).values, np.asarray(expected, dtype=float))


def test_an_object_that_no_event_has_among_those_chosen_is_known():
    found = evaluated("Muon_pt[good][3]")
    assert found.longest == {("Muon_pt[good][3]", 3): 2}
    assert found.absent.all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Muon_pt[good]", "'Muon_pt' stays jagged"),
        ("sum(Muon_pt[Jet_pt > 1])", r"'Muon_pt' and 'Jet_pt > 1' have different numbers of objects .*\(3 and 1\)"),
        ("sum(Muon_pt[met > 10])", "'met > 10' is one value per event, which cannot choose objects of 'Muon_pt'"),
        ("sum(Muon_pt[Muon.phi])", "a number where a condition is needed"),
        ("sum(Muon_pt[count(Jet_pt)])", r"'count\(Jet_pt\)' is one value per event"),
        ("met[met > 10]", "'met' is one number per event"),
        ("Muon_pt[good][Muon.phi > 0][0]", "have different numbers of objects"),
        ("Muon_pt[1.5]", r"as in Muon_pt\[Muon_pt > 30\]"),
        ("Muon_pt[0:2]", "not a whole number"),
        ("Muon_pt[0, 1]", "not a whole number"),
        ("Muon_pt[[0]]", "not a whole number"),
        ("Muon_pt['x']", "not a whole number"),
        ("Muon_pt[lambda: 1]", "a function definition is not allowed"),
        ("Muon_pt[__import__]", "Python's own names"),
        ("Muon_pt[(x := good)]", "an assignment is not allowed"),
    ],
)
def test_what_cannot_choose_objects_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        evaluated(text)


JAGGED = st.lists(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-5, 5)), max_size=5), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(JAGGED, st.integers(-3, 2), st.floats(-5, 5))
def test_any_events_give_what_awkward_gives_to_the_last_digit(events, index, cut):
    pt = ak.values_astype(ak.Array([[a for a, _ in one] for one in events]), np.float64)
    eta = ak.values_astype(ak.Array([[b for _, b in one] for one in events]), np.float64)
    columns = {"pt": Lists.of(pt, "pt"), "eta": Lists.of(eta, "eta")}
    kept = pt[np.abs(eta) < cut]
    item = (
        ak.pad_none(kept, 3, axis=1)[:, index] if index >= 0 else ak.pad_none(kept[:, ::-1], 3, axis=1)[:, -index - 1]
    )
    for text, truth in (
        (f"pt[abs(eta) < {cut!r}][{index}]", plain(item)),
        (f"sum(pt[abs(eta) < {cut!r}])", plain(ak.sum(kept, axis=1))),
        (f"max(pt[abs(eta) < {cut!r}] ** 2)", plain(ak.max(kept**2, axis=1))),
    ):
        found = Expression.parse(text).evaluated(columns).values
        np.testing.assert_array_equal(found, np.asarray(truth, dtype=float))
