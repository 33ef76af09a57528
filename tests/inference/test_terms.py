"""What no scale can see: p-values of counts and of events out of reach, against SciPy and by hand."""

import numpy as np
import pytest
from scipy import stats

from lanner.inference.terms import (
    GUMBEL,
    MOST_LISTED,
    CountTerm,
    LocalTerm,
    OutOfReach,
    ProfiledCountTerm,
    ReachTerm,
    poisson_log_deficit,
    poisson_log_excess,
)
from lanner.model.residuals import BEYOND, Residuals, ResidualSums
from lanner.model.weightings import Draw


@pytest.mark.parametrize("mean", [1e-3, 0.3, 5.0, 400.0, 1e5])
def test_the_excess_is_poissons_survival_for_whole_numbers(mean: float) -> None:
    k = np.unique(np.round(mean + np.sqrt(mean + 1) * np.array([-3.0, -1, 0, 1, 3, 6, 15, 30])))
    k = np.append(k[k >= 1], 3000.0)
    found = poisson_log_excess(k, mean)
    truth = stats.poisson.logsf(k - 1, mean)
    known = np.isfinite(truth)
    assert known[:-1].any()
    np.testing.assert_allclose(found[known], truth[known], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("number", "mean"), [(400, 0.1), (3000, 400.0), (10_000, 2000.0)])
def test_far_beyond_what_numbers_can_hold_it_is_the_sum_of_its_terms(number: int, mean: float) -> None:
    k = number + np.arange(2000.0)
    terms = stats.poisson.logpmf(k, mean)
    truth = terms.max() + np.log(np.exp(terms - terms.max()).sum())
    # The geometric series bounds it from above, by next to nothing.
    found = float(poisson_log_excess(np.array([float(number)]), mean)[0])
    assert found == pytest.approx(truth, rel=1e-3)
    assert found >= truth - 1e-9 * abs(truth)


def test_the_excess_falls_smoothly_with_the_number_however_far() -> None:
    for mean in (1e-4, 0.1, 30.0):
        k = np.concatenate([np.linspace(0, 5 * mean + 300, 4001), np.geomspace(5 * mean + 301, 1e6, 500)])
        found = poisson_log_excess(k, mean)
        assert np.isfinite(found).all()
        assert (np.diff(found) < 1e-9).all()
        assert found[0] == 0


@pytest.mark.parametrize("mean", [0.5, 12.0, 300.0])
def test_the_count_is_two_sided(mean: float) -> None:
    n = np.arange(0.0, int(mean + 12 * mean**0.5) + 3)
    upper, lower = stats.poisson.sf(n - 1, mean), stats.poisson.cdf(n, mean)
    truth = np.minimum(1.0, 2 * np.minimum(upper, lower))
    np.testing.assert_allclose(np.exp(CountTerm(mean).log_p(n)), truth, rtol=1e-9)


def test_a_count_is_as_rare_as_it_says(rng: np.random.Generator) -> None:
    p = np.exp(CountTerm(50.0).log_p(rng.poisson(50.0, 200_000).astype(float)))
    for alpha in (0.3, 0.05, 0.003):
        assert np.mean(p <= alpha) <= alpha + 4 * (alpha / 200_000) ** 0.5  # discrete: never too often
        assert np.mean(p <= alpha) > 0.4 * alpha


def test_a_count_without_any_events_or_with_far_too_many_is_finite() -> None:
    none, many = CountTerm(2000.0).log_p(np.array([0, 20_000]))
    assert none == pytest.approx(np.log(2) - 2000)
    assert many == pytest.approx(np.log(2) + poisson_log_excess(np.array([20_000.0]), 2000.0)[0])
    assert np.isfinite(many)


@pytest.mark.parametrize("mean", [0.3, 12.0, 400.0])
def test_the_deficit_is_poissons_cumulative_chance(mean: float) -> None:
    k = np.arange(0.0, 2 * mean + 5)
    np.testing.assert_allclose(poisson_log_deficit(k, mean), stats.poisson.logcdf(k, mean), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("number", "mean"), [(100, 2000.0), (1500, 5000.0)])
def test_far_below_it_is_the_sum_of_its_terms_too(number: int, mean: float) -> None:
    terms = stats.poisson.logpmf(np.arange(number + 1), mean)
    truth = terms.max() + np.log(np.exp(terms - terms.max()).sum())
    assert poisson_log_deficit(np.array([float(number)]), mean)[0] == pytest.approx(truth, rel=1e-5)


def reach(residuals: np.ndarray, weights: np.ndarray | None = None, expected: float = 200.0) -> ReachTerm:
    """Of single events: a thousand that follow the null, then the data."""
    null = ResidualSums.of(residuals[:1000], weights)
    return ReachTerm.of(0.5, Residuals(residuals, residuals[1000:], null), expected)


def test_the_moments_of_residuals_are_those_of_the_null_rows_and_one_event_out_of_reach(
    rng: np.random.Generator,
) -> None:
    g = rng.random(1200) ** 4
    term, null = reach(g), np.append(g[:1000], 1.0)
    assert (term.mean, term.square) == pytest.approx((null.mean(), (null**2).mean()))
    assert term.expected_beyond == pytest.approx(200 * np.mean(g[:1000] > BEYOND))


def test_weights_are_as_if_events_were_there_so_often(rng: np.random.Generator) -> None:
    g, often = rng.random(1000) ** 4, rng.integers(1, 4, 1000)
    weighted = reach(g, 7.0 * often)  # whatever their unit
    repeated = np.repeat(g, often)
    # The event beside them counts as one of 1000, not of the copies.
    mean, square = (((repeated**k).mean() * 1000 + 1) / 1001 for k in (1, 2))
    assert (weighted.mean, weighted.square) == pytest.approx((mean, square))
    assert weighted.expected_beyond == pytest.approx(200 * np.mean(repeated > BEYOND))


def test_equal_weights_are_none(rng: np.random.Generator) -> None:
    g = rng.random(1000)
    one, other = reach(g), reach(g, np.full(1000, 0.3))
    assert (one.mean, one.square, one.expected_beyond) == pytest.approx(
        (other.mean, other.square, other.expected_beyond)
    )


def test_events_wholly_out_of_reach_are_counted() -> None:
    """Residuals of 0 or 1 are a Poisson number: N E[g] events of size 1 are expected."""
    g = np.zeros(1000)
    g[:9] = 1.0
    term = reach(g)
    number = np.array([1.0, 2, 5, 30])
    np.testing.assert_allclose(term.log_p(number), stats.poisson.logsf(number - 1, 200 * 10 / 1001), rtol=1e-9)
    assert term.log_p(np.zeros(1))[0] == 0


def test_sums_of_residuals_are_about_as_rare_as_they_say(rng: np.random.Generator) -> None:
    g = rng.beta(0.3, 2.0, 100_000)
    term = ReachTerm.of(0.5, Residuals(g, g[:0], ResidualSums.of(g)), 200.0)
    sizes = rng.poisson(200.0, 4000)
    totals = np.array([g[rng.integers(len(g), size=n)].sum() for n in sizes])
    p = np.exp(term.log_p(totals))
    for alpha in (0.2, 0.05, 0.01):
        assert np.mean(p <= alpha) == pytest.approx(alpha, rel=0.3)


def test_fewer_than_expected_is_no_surprise() -> None:
    term = reach(np.full(1000, 0.5))
    few, many = term.log_p(np.array([50.0, 150.0]))
    assert np.exp(few) > 0.999
    assert np.exp(many) < 1e-3


def test_a_draws_total_is_the_sum_over_its_data(rng: np.random.Generator) -> None:
    g = rng.random(1000)
    data = [rng.choice(1000, n, replace=False) for n in (5, 0, 80)]
    draws = [Draw(1000, 1000, rows, np.empty(0, dtype=np.intp)) for rows in data]
    np.testing.assert_allclose(reach(g).totals(draws), [sum(g[i] for i in rows) for rows in data])


def test_of_bunches_it_is_the_sum_over_the_events_of_all_of_their_rows(rng: np.random.Generator) -> None:
    """What rows hold and what their events are like are told apart: the null is that of events."""
    g = rng.random(1000)
    by_row = np.append(g.reshape(100, 10).sum(axis=1), 7.5)  # bunches of ten, and the data as one
    term = ReachTerm.of(0.5, Residuals(by_row, np.full(15, 0.5), ResidualSums.of(g)), 200.0)
    assert term.mean == pytest.approx((g.sum() + 1) / 1001)
    rows = np.array([3, 50])
    draws = [Draw(101, 100, some, np.empty(0, dtype=np.intp)) for some in (rows, np.array([100]))]
    np.testing.assert_allclose(term.totals(draws), [g[30:40].sum() + g[500:510].sum(), 7.5])


def test_data_beyond_are_listed_with_the_furthest_first() -> None:
    g = np.concatenate([np.zeros(1000), [0.1, 0.7, 0.2, 0.99, BEYOND, 0.7]])
    found = reach(g).beyond()
    assert (found.number, found.rows, found.width) == (3, (3, 1, 5), 0.5)
    assert found.expected == 0
    many = reach(np.concatenate([np.zeros(1000), np.ones(MOST_LISTED + 50)])).beyond()
    assert (many.number, len(many.rows)) == (MOST_LISTED + 50, MOST_LISTED)


@pytest.mark.parametrize(
    ("number", "expected", "surprising"), [(0, 0.0, False), (1, 0.0, False), (2, 0.0, False), (3, 0.0, True),
    (20, 12.0, False), (40, 12.0, True), (3, 0.5, False)],
)  # fmt: skip
def test_events_out_of_reach_are_surprising_where_the_reference_does_not_explain_them(
    number: int, expected: float, surprising: bool
) -> None:
    assert OutOfReach(0.5, expected, number, ()).surprising == surprising


def test_what_terms_are_called_tells_them_apart() -> None:
    labels = [CountTerm(5.0).label, reach(np.zeros(1000)).label, *(LocalTerm(w).label for w in (0.1234567, 2.0))]
    assert labels[1:] == [
        "out of reach, width 0.5",
        "largest local excess, width 0.123",
        "largest local excess, width 2",
    ]
    assert len(set(labels)) == 4


def test_the_law_of_the_largest_excess_has_the_spread_and_skewness_of_gumbels() -> None:
    _, variance, skewness = stats.gumbel_r.stats(moments="mvs")
    assert GUMBEL.std == pytest.approx(variance**0.5)
    assert GUMBEL.skewness == pytest.approx(skewness, abs=0.005)


def test_the_largest_of_many_significances_follows_it_up_to_its_place(rng: np.random.Generator) -> None:
    largest = np.abs(rng.normal(size=(20_000, 300))).max(axis=1)
    found = -stats.norm.logsf(largest)
    assert found.std() == pytest.approx(GUMBEL.std, rel=0.03)
    assert stats.skew(found) == pytest.approx(GUMBEL.skewness, abs=0.1)


def test_a_prediction_that_is_no_number_of_events_is_surprising_and_finite() -> None:
    log_p = ProfiledCountTerm(0.5).log_p(np.array([100.0, 100.0]), np.array([-3.0, 100.0]))
    assert np.isfinite(log_p).all()
    assert log_p[0] < -100
    assert log_p[1] == 0.0
