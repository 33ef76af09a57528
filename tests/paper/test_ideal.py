import numpy as np
import pytest
from scipy import stats

from lanner.errors import InputError
from lanner.paper.datasets.one_dimensional import ideal_significance
from lanner.paper.ideal import Cut, counting_z, likelihood_ratio_z, supervised


@pytest.mark.parametrize(("background", "signal"), [(20.0, 15.0), (3.0, 9.0), (1000.0, 150.0)])
def test_one_bin_is_a_counting_experiment(background: float, signal: float) -> None:
    # Between the p-values with and without the median count of the alternative itself.
    median = stats.poisson.ppf(0.5, background + signal)
    least, most = (stats.norm.isf(stats.poisson.sf(median - k, background)) for k in (1, 0))
    assert least < likelihood_ratio_z(np.array([background]), np.array([background + signal])) < most


def test_many_small_deviations_are_gaussian() -> None:
    null = np.full(500, 1000.0)
    shift = 4.0 * np.sin(np.arange(500))
    # t is then a Gaussian of width 2 d under both, 2 d^2 apart... so Z = d, with d^2 = sum s^2 / b.
    assert likelihood_ratio_z(null, null + shift) == pytest.approx(np.sqrt((shift**2 / null).sum()), rel=0.01)


@pytest.mark.parametrize("name", ["tail", "bulk", "nonresonant"])
def test_one_dimension_against_toys(name: str) -> None:
    from lanner.paper.datasets.one_dimensional import RATE, SIGNALS

    signal, rng = SIGNALS[name], np.random.default_rng(1)

    def log_ratio(x: np.ndarray) -> np.ndarray:
        return np.log1p(signal.events * signal.law.pdf(x) / (2000 * RATE * np.exp(-RATE * x)))

    sums = np.array(
        [
            log_ratio(
                np.concatenate(
                    [rng.exponential(1 / RATE, rng.poisson(2000)), signal.sample(rng.poisson(signal.events), rng)]
                )
            ).sum()
            for _ in range(4000)
        ]
    )
    # Toys of the alternative, carried over to the null by the likelihood ratio.
    p = np.mean((sums >= np.median(sums)) * np.exp(-sums + signal.events))
    assert ideal_significance(name) == pytest.approx(stats.norm.isf(p), abs=0.1)


def test_the_papers_ideal_significances_but_for_one() -> None:
    assert ideal_significance("tail") == pytest.approx(4.7, abs=0.1)
    assert ideal_significance("nonresonant") == pytest.approx(4.4, abs=0.2)
    assert ideal_significance("bulk") == pytest.approx(5.59, abs=0.1)  # printed: 4.1


def test_empty_bins_are_refused() -> None:
    with pytest.raises(InputError, match="merge bins"):
        likelihood_ratio_z(np.array([1.0, 0.0]), np.array([1.0, 2.0]))


def test_no_signal_is_no_significance() -> None:
    assert likelihood_ratio_z(np.ones(3), np.ones(3)) == 0.0


def test_cut_and_count_around_a_peak() -> None:
    rng = np.random.default_rng(2)
    cut = Cut(rng.uniform(0, 100, 200_000), rng.normal(50, 1, 20_000))
    found = cut.around_z(50.0, expected=10_000, signal_events=100)
    # The best symmetric window around a Gaussian on a flat background is +- 1.4 of its widths.
    inside = stats.norm.cdf(1.4) - stats.norm.cdf(-1.4)
    assert found == pytest.approx(counting_z(100 * inside, 10_000 * 2.8 / 100), rel=0.03)


def test_a_cut_needs_simulated_events() -> None:
    with pytest.raises(InputError, match="simulate more"):
        Cut(np.zeros(10), np.ones(10)).above_z(expected=100, signal_events=10)


def test_a_classifier_separates_what_can_be_separated() -> None:
    rng = np.random.default_rng(3)
    cut, auc = supervised(rng.normal(0, 1, (6000, 2)), rng.normal(1, 1, (6000, 2)), training=3000, iterations=30)
    # Two Gaussians sqrt(2) apart: AUC = Phi(sqrt(2) / sqrt(2)).
    assert auc == pytest.approx(stats.norm.cdf(1.0), abs=0.02)
    assert cut.above_z(expected=1000, signal_events=100) > counting_z(100, 1000)
