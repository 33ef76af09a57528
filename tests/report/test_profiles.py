import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events import Sample
from lanner.report.learned import NULL_EVENTS
from lanner.report.profiles import ratio_against
from tests.report.showcase import the_findings


def flat_ratio(value: float, weights: np.ndarray | None = None) -> tuple[lanner.LearnedRatio, Sample, Sample]:
    """A fit, with its coefficients replaced so that f is nearly `value` everywhere."""
    rng = np.random.default_rng(0)
    reference = Sample.of({"x": rng.uniform(size=1000)}, weights=weights)
    data = Sample.of({"x": rng.uniform(size=100)})
    ratio = lanner.fit_ratio(reference, data, expected=100, width=1e4, centers=1, rng=0)
    object.__setattr__(ratio, "coefficients", np.array([value]))
    return ratio, reference, data


def test_a_flat_ratio_is_flat_in_every_variable(rng: np.random.Generator) -> None:
    ratio, reference, data = flat_ratio(np.log(1.5))
    profile = ratio_against(ratio, reference, data, rng.normal(size=1000), rng.normal(size=100), name="y", expected=80)
    shown = np.isfinite(profile.learned_ratio)
    np.testing.assert_allclose(profile.learned_ratio[shown], 1.5, rtol=1e-6)
    assert profile.reference.values(flow=True).sum() == pytest.approx(80)
    assert profile.reweighted.values(flow=True).sum() == pytest.approx(120)
    assert profile.data.values(flow=True).sum() == 100
    assert not profile.fitted


def test_weights_of_the_reference_count(rng: np.random.Generator) -> None:
    weights = np.where(np.arange(1000) < 500, 3.0, 1.0)
    ratio, reference, data = flat_ratio(0.0, weights)
    half = (np.arange(1000) >= 500).astype(float)
    profile = ratio_against(ratio, reference, data, half, rng.integers(0, 2, 100), name="half", expected=100)
    np.testing.assert_allclose(profile.reference.values(), [75, 25])
    # sum w^2 (expected / sum w)^2
    np.testing.assert_allclose(profile.reference.variances(), [500 * 0.15**2, 500 * 0.05**2])


def test_the_data_ratio_has_poisson_errors() -> None:
    ratio, reference, data = flat_ratio(0.0)
    values = np.repeat([0.0, 1.0, 2.0], [0, 1, 99])
    profile = ratio_against(
        ratio, reference, data, np.arange(1000) % 3, values, name="k", expected=100, bins=[-0.5, 0.5, 1.5, 2.5]
    )
    middle, low, high = profile.data_ratio * profile.reference.values(flow=True)
    np.testing.assert_allclose(middle[1:4], [0, 1, 99])
    # Garwood's interval for 0 and 1 events (PDG, Table 40.3 and the text above it, at 68.27 %).
    np.testing.assert_allclose(low[1:3], [0, 0.173], atol=1e-3)
    np.testing.assert_allclose(high[1:3], [1.841, 3.300], atol=1e-3)


def test_the_band_is_that_of_the_toys_coefficients() -> None:
    ratio, reference, data = flat_ratio(0.0)
    toys = np.log(np.linspace(0.5, 1.5, 101))[None, :]  # flat ratios from 0.5 to 1.5
    x = reference.features[:, 0]
    profile = ratio_against(
        ratio, reference, data, x, data.features[:, 0], name="x", expected=100, null_coefficients=toys
    )
    assert profile.fitted
    assert profile.band is not None
    np.testing.assert_allclose(profile.band[:, 1:-1].T, np.tile([0.525, 0.66, 1.0, 1.34, 1.475], (30, 1)), rtol=1e-6)


def test_a_large_reference_is_sampled_for_the_band(rng: np.random.Generator) -> None:
    ratio, _, data = flat_ratio(0.0)
    large = Sample.of({"x": rng.uniform(size=NULL_EVENTS + 5000)})
    toys = np.array([[0.1, -0.1]])
    profile = ratio_against(
        ratio, large, data, large.features[:, 0], data.features[:, 0], name="x", expected=100, null_coefficients=toys,
        rng=rng,
    )  # fmt: skip
    assert profile.null_events == NULL_EVENTS
    assert profile.reference.values(flow=True).sum() == pytest.approx(100)  # the histograms have every event


@pytest.mark.parametrize(
    ("values", "message"),
    [(np.zeros(999), r"give one value per event, shape \(1000,\)"), (np.full(1000, np.nan), "NaN or infinite in 1000")],
)
def test_values_that_do_not_fit_are_refused(values: np.ndarray, message: str) -> None:
    ratio, reference, data = flat_ratio(0.0)
    with pytest.raises(InputError, match=message):
        ratio_against(ratio, reference, data, values, np.zeros(100), name="y", expected=100)


def test_the_learned_ratio_follows_the_data() -> None:
    """In the bump the learned ratio and the data's both exceed the band; without one, the data stay near 1."""
    profile = the_findings().profile("mass")
    assert profile.band is not None
    bump = np.searchsorted(profile.edges, 3.0, side="right")
    assert profile.learned_ratio[bump] > profile.band[4, bump]
    assert profile.data_ratio[1, bump] > 1
