"""Scalings against their definitions, there and back again, and what they refuse."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from lanner.errors import InputError
from lanner.events import Sample, Scaling
from lanner.events.missing import ABSENT

RULES = [None, "robust", "standard", "authors"]


def events(seed=1, n=500):
    """Columns of every kind the authors' rule tells apart: signed, large, within 0 and 1."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.normal(3, 5, n), rng.exponential(40, n), rng.uniform(0, 1, n)])
    return Sample.of(table, names=["eta", "pt", "b_tag"])


def test_no_rule_changes_nothing():
    sample = events()
    np.testing.assert_array_equal(Scaling.learn(sample, None).apply(sample.features), sample.features)


def test_standard_agrees_with_scikit_learn():
    sample = events()
    expected = StandardScaler().fit_transform(sample.features)
    np.testing.assert_allclose(Scaling.learn(sample, "standard").apply(sample.features), expected, rtol=1e-12)


def test_the_scaling_is_the_references_not_the_datas():
    scaling = Scaling.learn(Sample.of([0.0, 2.0]), "standard")
    assert scaling.apply([[5.0]]).tolist() == [[4.0]]


def test_authors_rule_by_hand():
    sample = Sample.of({"signed": [-1.0, 3.0], "large": [1.0, 3.0], "unit": [0.25, 1.0]})
    scaled = Scaling.learn(sample, "authors").apply(sample.features)
    assert scaled.T.tolist() == [[-1.0, 1.0], [0.5, 1.5], [0.25, 1.0]]


def test_weights_do_not_enter():
    plain = events()
    weighted = Sample.of(plain, weights=np.linspace(-1, 3, len(plain)))
    np.testing.assert_array_equal(Scaling.learn(weighted, "standard").scale, Scaling.learn(plain, "standard").scale)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e307])
def test_extreme_units_neither_vanish_nor_overflow(unit):
    sample = Sample.of(np.array([1.0, 2.0, 6.0]) * unit)
    scaled = Scaling.learn(sample, "standard").apply(sample.features)
    np.testing.assert_allclose(scaled.ravel(), np.array([-2.0, -1.0, 3.0]) / np.sqrt(14 / 3), rtol=1e-12)


numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@pytest.mark.parametrize("rule", RULES)
@given(table=arrays(np.float64, (6, 2), elements=numbers, unique=True))
def test_inverse_undoes_apply(rule, table):
    scaling = Scaling.learn(Sample.of(table), rule)
    tolerance = 1e-12 * np.abs(table).max()
    np.testing.assert_allclose(scaling.inverse(scaling.apply(table)), table, rtol=0, atol=tolerance)


@given(order=st.permutations([0, 1, 2]), rule=st.sampled_from(RULES))
def test_the_order_of_columns_does_not_matter(order, rule):
    sample = events(n=20)
    shuffled = Sample.of(sample, names=[sample.names[j] for j in order])
    expected = Scaling.learn(sample, rule).apply(sample.features)[:, order]
    np.testing.assert_array_equal(Scaling.learn(shuffled, rule).apply(shuffled.features), expected)


@given(
    shift=arrays(np.float64, 3, elements=st.floats(allow_nan=False, allow_infinity=False)),
    scale=arrays(np.float64, 3, elements=st.floats(0, exclude_min=True, allow_infinity=False)),
    rule=st.sampled_from(RULES),
)
def test_json_keeps_every_bit(shift, scale, rule):
    scaling = Scaling(shift, scale, rule, ("a", "b", "c"))
    again = Scaling.from_dict(json.loads(json.dumps(scaling.to_dict())))
    assert again.shift.tobytes() == scaling.shift.tobytes()
    assert again.scale.tobytes() == scaling.scale.tobytes()
    assert (again.rule, again.names) == (scaling.rule, scaling.names)


def test_pickling_keeps_values_and_read_only():
    scaling = Scaling.learn(events(), "authors")
    again = pickle.loads(pickle.dumps(scaling))
    assert again.to_dict() == scaling.to_dict()
    assert not again.shift.flags.writeable


def test_apply_leaves_its_argument_alone():
    table = events().features.copy()
    before = table.copy()
    for rule in RULES:
        assert not np.shares_memory(Scaling.learn(events(), rule).apply(table), table)
    np.testing.assert_array_equal(table, before)


def test_a_sample_is_scaled_with_its_columns_matched_by_name():
    reference = Sample.of({"a": [0.0, 2.0], "b": [10.0, 30.0]})
    data = Sample.of({"b": [40.0], "a": [3.0]}, weights=[7.0])
    scaled = Scaling.learn(reference, "standard").apply_sample(data)
    assert scaled.names == ("a", "b")
    assert scaled.features.tolist() == [[2.0, 2.0]]
    assert scaled.weights.tolist() == [7.0]


def test_a_sample_with_other_columns_is_refused():
    scaling = Scaling.learn(events(), "standard")
    with pytest.raises(InputError, match=r"data does not have the columns of the scaling.*'b_tag'"):
        scaling.apply_sample(Sample.of({"eta": [1], "pt": [1], "btag": [1]}), label="data")


@pytest.mark.parametrize("method", ["apply", "inverse"])
@pytest.mark.parametrize("shape", [(3,), (4, 2), (1, 1, 3)])
def test_arrays_of_another_shape_are_refused(method, shape):
    scaling = Scaling.learn(events(), "standard")
    with pytest.raises(InputError, match=r"shape \(.*needed is \(events, 3\).*'eta', 'pt', 'b_tag'"):
        getattr(scaling, method)(np.ones(shape))


@pytest.mark.parametrize(("rule", "value"), [("standard", 0.1), ("standard", 0.0), ("authors", -0.1)])
def test_a_constant_column_has_no_spread(rule, value):
    sample = Sample.of({"pt": np.arange(1000.0), "flag": np.full(1000, value)})
    with pytest.raises(InputError, match=rf"column 'flag' of pool is always {value:g}.*drop it"):
        Scaling.learn(sample, rule, label="pool")


def test_a_constant_column_that_needs_no_spread_is_left_to_others():
    sample = Sample.of({"one": [1.0, 1.0], "four": [4.0, 4.0]})
    assert Scaling.learn(sample, "authors").scale.tolist() == [1.0, 4.0]


def test_a_spread_below_the_normal_numbers_is_refused():
    with pytest.raises(InputError, match=r"column 'x0' of reference has a spread of .*smaller units"):
        Scaling.learn(Sample.of([0.0, 5e-324]), "standard")


def test_an_unknown_rule_brings_the_rules():
    with pytest.raises(InputError, match=r"'minmax' is no rule.*None, 'robust', 'standard', 'authors'"):
        Scaling.learn(events(), "minmax")


def test_a_missing_key_is_named():
    plain = Scaling.learn(events(), None).to_dict()
    del plain["scale"]
    with pytest.raises(InputError, match=r"but scale is missing.*to_dict"):
        Scaling.from_dict(plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shift": [0.0]}, r"shift of a scaling has shape \(1,\) for 3 features"),
        ({"shift": [0.0, float("nan"), 0.0]}, "shift of column 'pt' is nan, but must be finite"),
        ({"scale": [1.0, 1.0, 0.0]}, "scale of column 'b_tag' is 0, but must be finite and positive"),
        ({"rule": "magic"}, "'magic' is no rule"),
    ],
)
def test_numbers_that_cannot_be_a_scaling_are_refused(change, said):
    with pytest.raises(InputError, match=said):
        Scaling.from_dict({**Scaling.learn(events(), None).to_dict(), **change})


def test_repr_is_one_line():
    assert repr(Scaling.learn(events(), "standard")) == "Scaling('standard'; eta, pt, b_tag)"


# Missing values and angles


def with_gaps(seed=3, n=2000):
    """A momentum that is missing in a quarter of the events, an angle that is missing with it, and a flag."""
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.exponential(40, n), rng.uniform(-np.pi, np.pi, n), rng.integers(0, 2, n)])
    table[: n // 4, :2] = -999
    return Sample.of(table, names=["pt3", "phi3", "tag"])


def test_missing_values_do_not_enter_the_units():
    sample = with_gaps()
    there = Sample.of(sample.features[500:], names=sample.names)
    found, known = Scaling.learn(sample, "robust"), Scaling.learn(there, "robust")
    assert known.missing == ()
    np.testing.assert_array_equal(found.scale[:2], known.scale[:2])


def test_each_missing_value_has_an_indicator_of_unit_spread():
    sample = with_gaps()
    scaling = Scaling.learn(sample, "robust", periodic=["phi3"])
    scaled = scaling.apply(sample.features)
    assert scaling.scaled_names == ("pt3", "cos phi3", "tag", "sin phi3", "pt3 is -999.0", "phi3 is -999.0")
    assert scaled.shape == (2000, 6)
    np.testing.assert_allclose(scaled[:, 4:].std(axis=0), 1.0)
    assert (scaled[:500, [0, 1, 3]] == 0).all()


def test_kept_values_are_numbers():
    sample = with_gaps()
    scaling = Scaling.learn(sample, "robust", missing="keep")
    assert scaling.missing == ()
    assert scaling.apply(sample.features).shape == sample.features.shape


@pytest.mark.parametrize("rule", [None, "standard", "authors"])
def test_other_rules_take_every_value_as_a_number(rule):
    assert Scaling.learn(with_gaps(), rule).missing == ()


def test_objects_that_are_not_there_get_an_indicator_or_are_refused():
    charges = Sample.of({"q": np.resize([-1.0, 1.0, ABSENT], 300)})
    scaling = Scaling.learn(charges, "robust")
    assert scaling.scaled_names == ("q", f"q is {ABSENT!r}")
    assert np.abs(scaling.apply(charges.features)).max() < 2
    for how in ({"rule": "robust", "missing": "keep"}, {"rule": None}, {"rule": "standard"}, {"rule": "authors"}):
        with pytest.raises(InputError, match="column 'q' of reference is missing in 100 of 300 events"):
            Scaling.learn(charges, **how)


@pytest.mark.parametrize("rule", RULES)
def test_under_every_rule_a_uniform_angle_has_two_columns_of_unit_spread(rule):
    angle = Sample.of({"phi": np.linspace(0, 360, 2001)[:-1], "x": np.linspace(-1, 1, 2000)})
    scaled = Scaling.learn(angle, rule, periodic=["phi=360"]).apply(angle.features)
    np.testing.assert_allclose(scaled[:, [0, 2]].std(axis=0), 1.0)


@given(x=st.floats(-1e3, 1e3), turns=st.integers(-3, 3))
def test_the_ends_of_an_angle_are_one_place(x, turns):
    scaling = Scaling(np.zeros(1), np.full(1, 360 / (2 * np.pi)), None, ("phi",), periodic=("phi",))
    np.testing.assert_allclose(scaling.apply([[x + 360 * turns]]), scaling.apply([[x]]), atol=1e-9)


def test_inverse_gives_back_missing_values_and_angles():
    sample = with_gaps()
    scaling = Scaling.learn(sample, "robust", periodic=["phi3"])
    np.testing.assert_allclose(scaling.inverse(scaling.apply(sample.features)), sample.features, atol=1e-9)


def test_json_and_pickle_keep_missing_values_and_angles():
    scaling = Scaling.learn(with_gaps(), "robust", periodic=["phi3"])
    for again in (
        Scaling.from_dict(json.loads(json.dumps(scaling.to_dict()))),
        pickle.loads(pickle.dumps(scaling)),
    ):
        assert (again.missing, again.periodic) == (scaling.missing, scaling.periodic)


def test_a_scaled_sample_names_its_columns():
    sample = with_gaps()
    scaling = Scaling.learn(sample, "robust")
    assert scaling.apply_sample(sample).names == scaling.scaled_names


def test_a_constant_column_is_kept_and_any_other_value_is_far():
    sample = Sample.of({"pt": np.arange(1000.0), "flag": np.ones(1000)})
    scaling = Scaling.learn(sample, "robust")
    assert np.abs(scaling.apply([[500.0, 1.001]])[0, 1]) > 100
    assert (scaling.apply(sample.features)[:, 1] == 0).all()


def test_a_missing_value_of_no_column_is_refused():
    with pytest.raises(InputError, match="no column 'phi'"):
        Scaling(np.zeros(1), np.ones(1), None, ("x",), periodic=("phi",))
