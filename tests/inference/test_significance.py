import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lanner.inference.significance import Chi2Fit, EmpiricalP, _chi2_dof, empirical_p, fit_chi2, z_of_log_p


@given(n=st.integers(1, 500), k=st.integers(0, 500))
def test_the_empirical_p_is_never_zero_and_lies_near_its_interval(n: int, k: int) -> None:
    k = min(k, n)
    p = EmpiricalP(k, n)
    low, high = p.interval
    assert 0 < p.p_value <= 1
    assert 0 <= low <= k / n <= high <= 1
    assert p.p_value <= high


def test_the_interval_is_clopper_pearson() -> None:
    truth = stats.binomtest(7, 300).proportion_ci(confidence_level=0.95, method="exact")
    assert EmpiricalP(7, 300).interval == pytest.approx((truth.low, truth.high))


def test_a_toy_equal_to_t_counts_and_so_does_one_that_is_not_a_number() -> None:
    assert empirical_p(2.0, [1.0, 2.0, np.nan]).exceedances == 2


def test_no_exceedance_is_a_bound() -> None:
    p = empirical_p(10.0, np.zeros(300))
    assert p.is_bound
    assert p.p_value == 1 / 301
    assert p.z_interval[1] is None
    assert p.z_score == pytest.approx(stats.norm.isf(1 / 301))


def test_p_values_of_exchangeable_toys_are_uniform(rng: np.random.Generator) -> None:
    p = np.array([empirical_p(row[0], row[1:]).p_value for row in rng.normal(size=(4000, 20))])
    # (k + 1) / (n + 1) takes each of 1/20 ... 1 equally often.
    counts = np.bincount(np.round(p * 20).astype(int), minlength=21)[1:]
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("z", [-3.0, 0.0, 1.0, 5.0, 30.0])
def test_z_comes_from_log_p_at_any_depth(z: float) -> None:
    assert z_of_log_p(float(stats.norm.logsf(z))) == pytest.approx(z, abs=1e-9)


@pytest.mark.parametrize("dof", [0.3, 1.0, 9.58, 350.0])
def test_dof_is_that_of_maximum_likelihood(dof: float, rng: np.random.Generator) -> None:
    t = rng.chisquare(dof, 400)
    truth, _, _ = stats.chi2.fit(t, floc=0, fscale=1)
    assert float(_chi2_dof(t)) == pytest.approx(truth, rel=1e-3)


def test_dof_error_is_the_spread_of_the_estimate(rng: np.random.Generator) -> None:
    fits = [fit_chi2(rng.chisquare(10, 300), replicates=1, rng=rng) for _ in range(300)]
    dofs = np.array([f.dof for f in fits if f is not None])
    assert dofs.std() == pytest.approx(np.mean([f.dof_error for f in fits if f is not None]), rel=0.15)
    assert dofs.mean() == pytest.approx(10, abs=0.1)


def test_goodness_of_fit_is_uniform_where_the_chi2_is_right(rng: np.random.Generator) -> None:
    # A plain KS test after the fit would reject almost never.
    p = [fit_chi2(rng.chisquare(12, 100), replicates=99, rng=rng).goodness_of_fit for _ in range(300)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert 2 <= np.count_nonzero(np.array(p) <= 0.05) <= 32


def test_goodness_of_fit_agrees_with_scipy(rng: np.random.Generator) -> None:
    t = rng.gamma(6, 1.6, 60)
    ours = fit_chi2(t, replicates=999, rng=rng)
    theirs = stats.goodness_of_fit(
        stats.chi2, t, known_params={"loc": 0, "scale": 1}, statistic="ks", n_mc_samples=150, rng=rng
    )
    assert ours is not None
    assert ours.goodness_of_fit == pytest.approx(theirs.pvalue, abs=0.12)


def test_goodness_of_fit_sees_what_is_not_a_chi2(rng: np.random.Generator) -> None:
    fit = fit_chi2(rng.normal(10, 1, 300), rng=rng)
    assert fit is not None
    assert fit.goodness_of_fit < 0.01


@pytest.mark.parametrize("bad", [0.0, -5.0, np.nan, np.inf])
def test_toys_that_are_not_positive_have_no_chi2(bad: float, rng: np.random.Generator) -> None:
    assert fit_chi2(np.append(rng.chisquare(10, 50), bad), rng=rng) is None


def test_the_chi2_tail_stays_finite_for_large_t() -> None:
    fit = Chi2Fit(10.0, 0.2, 0.5)
    assert fit.p_value(1e5) == 0.0
    assert 300 < fit.z_score(1e5) < 330


def test_of_very_many_toys_replicates_are_smaller_and_say_the_same(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys = rng.chisquare(7, 4000)
    whole = fit_chi2(toys, rng=np.random.default_rng(1))
    monkeypatch.setattr("lanner.inference.significance._REPLICATE_SIZE", 500)
    part = fit_chi2(toys, rng=np.random.default_rng(1))
    assert whole is not None
    assert part is not None
    assert part.goodness_of_fit == pytest.approx(whole.goodness_of_fit, abs=0.08)


def test_where_every_toy_reaches_the_data_z_is_a_finite_bound() -> None:
    p = EmpiricalP(300, 300)
    assert (p.p_value, p.is_all, p.is_bound) == (1.0, True, False)
    assert p.z_score == pytest.approx(stats.norm.isf(300 / 301))
    assert not EmpiricalP(299, 300).is_all
    assert EmpiricalP(299, 300).z_score == p.z_score
