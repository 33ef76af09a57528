"""Searches whose reference has uncertainties."""

import time
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import CountWarning, InputError, NullWarning, UncertaintyWarning
from lanner.uncertainties.declared import Uncertainty
from tests.uncertainties.test_learn import eight_features, pdf_like

RNG = np.random.default_rng(1)
REFERENCE = RNG.exponential(size=(40_000, 1))
SIZE = 0.1


def scale(features: np.ndarray, nu: float) -> np.ndarray:
    return np.asarray(features[:, 0] * (1 - np.exp(-nu * SIZE)) - nu * SIZE)


BOTH = (lanner.KnownRatio("scale", scale), lanner.Normalisation("yield", SIZE))
HOW: dict[str, Any] = {"expected": 500, "toys": 300, "seed": 2, "progress": False}


def data_at(scale_nu: float, yield_nu: float) -> np.ndarray:
    rng = np.random.default_rng(7)
    number = rng.poisson(500 * np.exp(SIZE * yield_nu))
    return rng.exponential(np.exp(SIZE * scale_nu), size=(number, 1))


def test_what_the_nuisances_explain_is_no_departure() -> None:
    data = data_at(1.5, 1.5)
    ignored = lanner.search(REFERENCE, data, **HOW)
    found = lanner.search(REFERENCE, data, uncertainties=BOTH, **HOW)
    assert ignored.p_value < 0.02
    assert found.p_value > 0.05
    assert [n.name for n in found.nuisances] == ["scale", "yield"]
    for nuisance in found.nuisances:
        assert nuisance.value == pytest.approx(1.3, abs=4 * nuisance.error)
        assert 0.2 < nuisance.error < 0.6  # 500 events know each to half of 10 %
    assert "scale +" in str(found)
    assert "none: the reference is taken as exact" in str(ignored)


def test_a_peak_is_found_beside_a_shift() -> None:
    peak = np.full((25, 1), 3.0) + np.random.default_rng(3).normal(0, 0.03, (25, 1))
    found = lanner.search(REFERENCE, np.vstack([data_at(1.0, 0.0), peak]), uncertainties=BOTH, **HOW)
    assert found.p_value < 0.01


def test_only_the_shape_leaves_normalisations_out() -> None:
    how = HOW | {"expected": None}
    with pytest.warns(NullWarning, match="the normalisation yield cannot matter"):
        found = lanner.search(REFERENCE, data_at(1.0, 0.0)[:450], uncertainties=BOTH, **how)
    assert [n.name for n in found.nuisances] == ["scale"]
    assert found.p_value > 0.02
    with pytest.warns(NullWarning, match="cannot matter"):
        alone = lanner.search(REFERENCE, data_at(0.0, 0.0)[:450], uncertainties=BOTH[1:], **how)
    plain = lanner.search(REFERENCE, data_at(0.0, 0.0)[:450], **how)
    assert (alone.statistic, alone.p_value) == (plain.statistic, plain.p_value)


def test_toys_are_kept_for_these_data_and_nuisances_alone(tmp_path: Any) -> None:
    data = data_at(0.5, 0.0)
    first = lanner.search(REFERENCE, data, uncertainties=BOTH, output=tmp_path, **HOW)
    again = lanner.search(REFERENCE, data, uncertainties=BOTH, output=tmp_path, **HOW)
    assert (first.statistic, first.p_value) == (again.statistic, again.p_value)
    with pytest.raises(lanner.errors.StoreError):
        lanner.search(REFERENCE, data, uncertainties=BOTH[:1], output=tmp_path, **HOW)


def test_a_permutation_cannot_have_them() -> None:
    with pytest.raises(InputError, match="relabels reference and data"):
        lanner.search(REFERENCE, data_at(0.0, 0.0), uncertainties=BOTH, null="permutation", **HOW)


@pytest.mark.parametrize("loss", ["logistic", "extended"])
def test_the_likelihood_ratio_fits_them_with_the_departure(loss: str, tmp_path: Any) -> None:
    data, how = data_at(1.5, 1.5), HOW | {"width": 0.6, "penalty": 1e-5, "toys": 60, "loss": loss}
    ignored = lanner.search(REFERENCE, data, **how)
    found = lanner.search(REFERENCE, data, uncertainties=BOTH, output=tmp_path, **how)
    again = lanner.search(REFERENCE, data, uncertainties=BOTH, output=tmp_path, **how)
    assert found.plan.statistic == "likelihood-ratio"
    assert ignored.p_value < 0.02
    assert found.p_value > 0.05
    assert [n.name for n in found.nuisances] == ["scale", "yield"]
    assert (found.statistic, found.p_value) == (again.statistic, again.p_value)
    peak = np.full((25, 1), 3.0) + np.random.default_rng(3).normal(0, 0.03, (25, 1))
    assert lanner.search(REFERENCE, np.vstack([data, peak]), uncertainties=BOTH, **how).p_value < 0.05


def test_workers_find_the_same() -> None:
    pytest.importorskip("distributed")
    data, normalisation = data_at(0.5, 0.5), (lanner.Normalisation("yield", SIZE),)
    here = lanner.search(REFERENCE, data, uncertainties=normalisation, **HOW)
    there = lanner.search(REFERENCE, data, uncertainties=normalisation, executor=lanner.Dask(workers=1), **HOW)
    assert (here.statistic, here.p_value) == (there.statistic, there.p_value)


def test_uncertainties_of_size_zero_change_nothing() -> None:
    data = data_at(0.0, 0.0)
    with pytest.warns(lanner.errors.UncertaintyWarning):
        none = lanner.search(REFERENCE, data, uncertainties=[lanner.Normalisation("yield", 0.0)], **HOW)
    plain = lanner.search(REFERENCE, data, **HOW)
    assert (none.statistic, none.p_value, none.nuisances) == (plain.statistic, plain.p_value, ())


def test_a_variation_that_is_learned_does_what_the_known_one_does() -> None:
    data = data_at(1.5, 0.0)
    up, down = (REFERENCE * np.exp(s * SIZE) for s in (1, -1))
    learned = lanner.search(REFERENCE, data, uncertainties=[lanner.Shifted("scale", up, down)], **HOW)
    known = lanner.search(REFERENCE, data, uncertainties=BOTH[:1], **HOW)
    (one,), (other,) = learned.nuisances, known.nuisances
    assert one.value == pytest.approx(other.value, abs=0.3 * other.error)
    assert one.error == pytest.approx(other.error, rel=0.2)
    assert learned.z_score == pytest.approx(known.z_score, abs=0.5)


def test_what_was_found_of_them_is_kept(tmp_path: Any) -> None:
    found = lanner.search(REFERENCE, data_at(0.5, 0.5), uncertainties=BOTH, **HOW)
    found.save(tmp_path)
    assert lanner.load_result(tmp_path).nuisances == found.nuisances
    assert found.to_dict()["nuisances"][0]["name"] == "scale"


def test_what_does_nothing_gives_the_very_same_result() -> None:
    nothing: list[Uncertainty] = [
        lanner.Normalisation("lumi", 0),
        lanner.Weights("pdf", up=np.ones(40_000), down=np.ones(40_000)),
        lanner.Shifted("jes", up=REFERENCE, down=REFERENCE),
    ]
    plain = lanner.search(REFERENCE, data_at(0.0, 0.0), **HOW)
    with pytest.warns(UncertaintyWarning, match="it is left out"):
        found = lanner.search(REFERENCE, data_at(0.0, 0.0), uncertainties=nothing, **HOW)
    assert (found.statistic, found.p_value, found.nuisances) == (plain.statistic, plain.p_value, ())
    np.testing.assert_array_equal(found.null.statistics, plain.null.statistics)
    # Also where a reference with uncertainties could not be tested at all, and what is said of a wrong number is said.
    how = HOW | {"null": "permutation", "expected": 200}
    with pytest.warns(CountWarning), pytest.warns(UncertaintyWarning, match="it is left out"):
        lanner.search(REFERENCE, data_at(0.0, 0.0), uncertainties=nothing[:1], **how)


def test_two_identical_variations_share_what_one_would_explain() -> None:
    data, varied = data_at(1.0, 0.0), np.exp(0.1 * np.tanh(REFERENCE[:, 0] - 1))
    both = lanner.search(REFERENCE, data, uncertainties=[lanner.Weights(n, up=varied) for n in "ab"], **HOW)
    # Two of the same size, added in quadrature, are one that is larger by the square root of 2.
    alone = lanner.search(REFERENCE, data, uncertainties=[lanner.Weights("c", up=varied ** (2**0.5))], **HOW)
    (a, b), (c,) = both.nuisances, alone.nuisances
    assert (a.value, a.error) == pytest.approx((b.value, b.error))
    assert a.value == pytest.approx(c.value / 2**0.5, abs=0.05)
    assert both.z_score == pytest.approx(alone.z_score, abs=0.3)


def test_twenty_pairs_of_weights_in_eight_features_close_and_cost_little() -> None:
    x = eight_features(10_200)[0]
    reference, data = x[:10_000], x[10_000:]
    declared = pdf_like(reference, np.ones(10_000), 20)[0]
    times, told = [], []
    how = HOW | {"expected": 200, "toys": 60, "progress": lambda what, done, total: told.append(what)}
    for uncertainties in ((), declared):
        began = time.process_time()
        found = lanner.search(reference, data, uncertainties=uncertainties, **how)
        times.append(time.process_time() - began)
    assert found.warnings == ()  # all of them close, and tell
    assert len(found.nuisances) == 20
    assert found.p_value > 0.01
    assert "preparing uncertainties, steps" in told
    assert times[1] < 10 * times[0]
