"""Searches whose reference has weights of either sign."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lanner
from lanner.errors import InputError, WeightWarning
from lanner.events import Sample
from lanner.inference.resampling import draw_size, room_for_data
from lanner.inference.score_experiment import scheme_of
from lanner.run.prepare import expected_of, prepare
from lanner.settings import FitSettings
from tests.uncertainties.test_mean_weight import negative_share, signed

SETTINGS: dict[str, Any] = {"seed": 1, "statistic": "score", "toys": 90}


def law(n: int, seed: int) -> np.ndarray:
    """Events of the law that the weights stand for, by rejection."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.exponential(size=5 * n), rng.normal(size=5 * n)])
    return x[rng.random(5 * n) < 1 - 2 * negative_share(x[:, 0])][:n]


@pytest.fixture(scope="module")
def reference() -> Sample:
    return signed(15_000, 3)


def test_toys_follow_the_law_of_the_weights(reference: Sample) -> None:
    job = prepare(reference, expected=100.0, settings=FitSettings(seed=1, statistic="score"))
    scheme = scheme_of(job.plans[0], job.recipe.reference, None)
    events = np.concatenate([reference.features[scheme.toy(i).data] for i in range(80)])
    assert stats.ks_2samp(events[:, 0], law(40_000, 4)[:, 0]).pvalue > 1e-3
    assert stats.ks_2samp(events[:, 0], reference.features[:, 0]).pvalue < 1e-6  # which the events alone do not


def test_data_of_the_law_are_usual_and_data_of_the_events_are_not(reference: Sample) -> None:
    assert lanner.search(reference, law(100, 5), expected=100, **SETTINGS).p_value > 0.02
    found = lanner.search(reference, signed(220, 6).features, expected=220, **SETTINGS)
    assert found.p_value < 0.05
    assert any(c.setting == "toys' data" and "negative" in c.reason for c in found.plan.chosen)


def test_a_calibration_keeps_what_toys_are_drawn_by(reference: Sample, tmp_path: Path) -> None:
    data = law(100, 7)
    made = lanner.calibrate(reference, expected=100, output=tmp_path, **SETTINGS)
    there = lanner.load_calibration(tmp_path)
    assert there.reference.toy_weights is not None
    assert made.reference.toy_weights is not None
    np.testing.assert_array_equal(there.reference.toy_weights, made.reference.toy_weights)
    whole = lanner.search(reference, data, expected=100, **SETTINGS)
    assert lanner.apply(there, data).p_value == whole.p_value


def test_the_likelihood_ratio_has_them_too(reference: Sample) -> None:
    settings: dict[str, Any] = {"width": 0.7, "penalty": 1e-5, "statistic": "likelihood-ratio", "toys": 40, "seed": 1}
    assert lanner.search(reference, law(100, 5), expected=100, **settings).p_value > 0.02


def test_with_uncertainties_the_local_mean_stands_in_for_the_weights(reference: Sample) -> None:
    found = lanner.search(
        reference, law(100, 8), expected=100, uncertainties=[lanner.Normalisation("lumi", 0.05)], **SETTINGS
    )
    assert found.p_value > 0.02


def test_regions_of_negative_weight_are_warned_of() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 4, size=(20_000, 1))
    reference = Sample.of(x, weights=np.where((x[:, 0] > 1) & (x[:, 0] < 2), -0.5, 1.0))
    data = rng.choice(np.concatenate([rng.uniform(0, 1, 500), rng.uniform(2, 4, 1000)]), 200, replace=False)
    with pytest.warns(WeightWarning) as said:
        lanner.search(reference, data, expected=200, **SETTINGS)
    first, second = (str(one.message) for one in said)
    assert re.search(r"below 0 at \d+ events of 20000", first)
    assert "standard deviations of the data in some direction" in second  # as toys have no data there


def test_too_few_events_to_learn_from_are_refused() -> None:
    few = signed(150, 1)
    with pytest.raises(InputError, match="negative weights: toy data cannot be drawn"):
        lanner.search(few, few.features[:5], expected=5, **SETTINGS)


def test_what_the_weights_expect_has_the_error_that_it_claims() -> None:
    pulls = []
    for seed in range(200):
        sample = signed(np.random.default_rng([seed]).poisson(3000), seed)
        number, error = expected_of("weights", sample)
        assert number is not None
        truth = 3000 * 3 * (1 - 2 * negative_share(np.random.default_rng(0).exponential(size=10**5))).mean()
        pulls.append((number - truth) / error)
    assert abs(np.mean(pulls)) < 0.25
    assert abs(np.std(pulls) - 1) < 0.2


def test_toys_have_the_error_of_what_is_expected() -> None:
    rng = np.random.default_rng(1)
    sizes = [draw_size(400.0, None, rng, 30.0) for _ in range(4000)]
    assert np.mean(sizes) == pytest.approx(400, abs=3)
    assert np.std(sizes) == pytest.approx((400 + 900) ** 0.5, rel=0.06)
    assert room_for_data(400.0, None, 30.0) > max(sizes)


def test_expected_events_of_the_weights(reference: Sample) -> None:
    scaled = Sample(reference.features, reference.names, np.asarray(reference.weights) * (100 / reference.total_weight))
    found = lanner.search(scaled, law(100, 5), expected="weights", **SETTINGS)
    assert found.plan.expected == pytest.approx(100)
    assert found.plan.expected_error == pytest.approx(100 / reference.worth**0.5)
    assert found.p_value > 0.02
    assert found.combined is not None
    (chosen,) = [c for c in found.plan.chosen if c.setting == "expected"]
    assert chosen.value.startswith("100 ± 1.")
    assert lanner.search(scaled, law(100, 5), expected=100, **SETTINGS).statistic != found.statistic  # by the count


def test_what_weights_cannot_expect_is_refused(reference: Sample) -> None:
    with pytest.raises(InputError, match="'weight': give a number, 'weights'"):
        lanner.search(reference, law(100, 5), expected="weight", **SETTINGS)
    with pytest.raises(InputError, match="has none"):
        lanner.search(reference.features, law(100, 5), expected="weights", **SETTINGS)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_unit_of_weights_means_nothing(sign: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.exponential(size=(4000, 1)), rng.exponential(size=(100, 1))
    weights = rng.uniform(0.5, 1.5, 4000)
    weights[::10] *= sign
    found = [lanner.search(Sample.of(x, weights=w), y, expected=100, **SETTINGS) for w in (weights, weights / 64)]
    np.testing.assert_allclose(found[0].null.statistics, found[1].null.statistics, rtol=1e-4, atol=1e-4)
    assert found[0].p_value == found[1].p_value
