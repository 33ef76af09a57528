import numpy as np
import pytest
from scipy import stats

from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.summaries import named, not_positive, quantiles, with_ideal
from tests.paper.reproduce.invented import numbers_of


def test_quantiles_of_a_gaussian_are_one_sigma_apart(rng: np.random.Generator) -> None:
    low, middle, high = quantiles(rng.normal(3, 1, 100_000))
    assert middle == pytest.approx(3, abs=0.02)
    one_sigma = stats.norm.ppf(0.84)
    assert (low, high) == pytest.approx((3 - one_sigma, 3 + one_sigma), abs=0.02)


def test_toys_without_significance_count_by_their_rank() -> None:
    assert np.isfinite(quantiles([-np.inf, -np.inf, 1.0])).all()


def test_each_strength_has_the_ideal_significance_of_its_own() -> None:
    rows = with_ideal(numbers_of(case("one-dimensional")))
    assert [(r["signal"], r["number"], r["ideal"]) for r in rows[:5]] == [
        ("tail", 0, 2.0), ("tail", 1, 4.0), ("tail", 2, 6.0), ("tail", 3, 8.0), ("bulk", 0, 2.0)
    ]  # fmt: skip


def test_every_signal_of_the_paper_has_a_name() -> None:
    for name in ("one-dimensional", "dimuon", "susy", "higgs"):
        assert all(named(s.name) != s.name for s in case(name).signals)


def test_toys_that_no_chi2_has_are_counted() -> None:
    assert not_positive({"t": [-1.0, 2.0, 3.0], "not_positive": 1}) == "1 of 3 toys has t ≤ 0"
    assert not_positive({"t": [-1.0, -2.0, 3.0], "not_positive": 2}) == "2 of 3 toys have t ≤ 0"
