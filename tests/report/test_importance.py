import numpy as np
import pytest

from lanner.report.importance import importance, information, pull
from tests.report.showcase import the_findings


def test_the_variables_with_the_bump_come_first() -> None:
    ranked = the_findings().importance
    assert {i.name for i in ranked[:2]} == {"mass", "energy"}
    assert ranked[0].z is not None
    assert ranked[0].z > 2
    assert [i.fitted for i in ranked if i.name in ("energy", "njet")] == [False, False]
    quiet = {i.name: i.z for i in ranked}
    assert all(abs(quiet[name] or 0) < 2 for name in ("eta", "charge", "njet"))


def test_information_is_the_likelihood_ratio_of_an_exact_outcome() -> None:
    from scipy.stats import poisson

    mu0, ratio = np.array([7.0, 30.0]), np.array([1.5, 0.8])
    mu1 = mu0 * ratio
    # 2 log of the Poisson likelihood ratio, at n = mu1 (poisson.logpmf needs whole numbers: n log mu - mu by hand).
    expected = 2 * np.sum((mu1 * np.log(mu1) - mu1) - (mu1 * np.log(mu0) - mu0))
    assert float(information(mu0, ratio)) == pytest.approx(expected)
    assert float(information(mu0, np.ones(2))) == 0
    n = np.array([14.0])
    exact = 2 * (poisson.logpmf(14, 14.0) - poisson.logpmf(14, 7.0)).sum()
    assert float(information(np.array([7.0]), n / 7)) == pytest.approx(exact)


def test_pull_is_close_to_a_z_for_a_chi2(rng: np.random.Generator) -> None:
    from scipy.stats import chi2, norm

    null = rng.chisquare(8, 20_000)
    for z in (-1.0, 0.0, 2.0, 3.0):
        assert pull(chi2.isf(norm.sf(z), 8), null) == pytest.approx(z, abs=0.06)


def test_without_toys_there_is_a_value_and_no_z() -> None:
    from dataclasses import replace

    found = importance(replace(the_findings().profile("mass"), null_ratios=None))
    assert found.value > 0
    assert (found.z, found.null_median, found.null_interval, found.toys) == (None, None, None, 0)
