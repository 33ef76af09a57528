"""Several scales as one p-value."""

import numpy as np
import pytest
from scipy import stats

from lanner.errors import InputError
from lanner.inference.analytic import LawMoments
from lanner.inference.combination import COMBINATIONS, Combination, PMap, number_of_map_toys
from lanner.inference.significance import z_of_log_p
from lanner.inference.weighted_chi2 import WeightedChi2

CHI2 = [WeightedChi2(np.full(5, 1.0)), WeightedChi2(np.geomspace(1, 0.01, 30))]


def moments(law: WeightedChi2) -> LawMoments:
    return LawMoments(law.mean, law.std, float(8 * (law.weights**3).sum() / law.std**3))


LAWS = [moments(law) for law in CHI2]


def draw(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.stack([law.rvs(n, rng) for law in CHI2])


@pytest.mark.parametrize("law", CHI2, ids=["equal", "falling"])
def test_a_map_follows_its_law_into_the_tail(law: WeightedChi2, rng: np.random.Generator) -> None:
    frozen = PMap.freeze(moments(law), law.rvs(400_000, rng))
    t = law.mean + law.std * np.array([-1.0, 0.0, 2.0, 4.0, 6.0])
    np.testing.assert_allclose([z_of_log_p(x) for x in frozen(t)], law.z_score(t), atol=0.1)


def test_a_map_is_moved_to_the_toys(rng: np.random.Generator) -> None:
    wider = 3.0 + 1.5 * CHI2[0].rvs(50_000, rng)
    p = np.exp(PMap.freeze(LAWS[0], wider)(wider))
    assert stats.kstest(p, "uniform").statistic < 0.01


def test_a_maps_skewness_is_that_of_the_toys_steadied_by_the_law(rng: np.random.Generator) -> None:
    toys = rng.gamma(0.5, size=300)
    law = LawMoments(0.0, 1.0, 1.0)
    own = stats.skew(toys) * (299 / 300) ** 1.5  # by the spread with n - 1
    found = PMap.freeze(law, toys)
    assert (found.mean, found.spread) == pytest.approx((toys.mean(), toys.std(ddof=1)))
    assert found.skewness == pytest.approx((300 * own + 100 * 1.0) / 400)  # the law is worth a hundred toys


def test_many_toys_overrule_a_law_that_is_too_light(rng: np.random.Generator) -> None:
    """Counts of a few events: the map follows the toys into the tail, where the law's own skewness would not."""
    shape = 0.8
    frozen = PMap.freeze(LawMoments(shape, shape**0.5, 0.3), rng.gamma(shape, size=200_000))
    t = np.array([0.5, 3.0, 8.0])
    np.testing.assert_allclose(frozen(t), stats.gamma.logsf(t, shape), rtol=0.03, atol=0.02)


@pytest.mark.parametrize("toys", [np.append(np.zeros(999), 1.0), np.append(np.ones(999), 0.0)], ids=["high", "low"])
def test_a_few_wild_toys_do_not_break_a_map(toys: np.ndarray) -> None:
    frozen = PMap.freeze(LAWS[0], toys)
    assert 0 < frozen.skewness <= 6
    assert np.isfinite(frozen(np.array([-1.0, 0.0, 1.0, 100.0]))).all()


def test_toys_that_are_all_alike_leave_the_map_to_the_law() -> None:
    found = PMap.freeze(LAWS[0], np.full(50, 2.0))
    assert (found.mean, found.spread, found.skewness) == (2.0, LAWS[0].std, LAWS[0].skewness)


def test_a_map_never_rises_however_far_it_goes(rng: np.random.Generator) -> None:
    frozen = PMap.freeze(LAWS[0], CHI2[0].rvs(100, rng))
    t = np.concatenate([np.linspace(-5, 5000, 20_000), np.geomspace(5000, 1e8, 100)])
    assert np.isfinite(frozen(t)).all()
    assert (np.diff(frozen(t)) <= 1e-9).all()
    assert frozen(np.array([-50.0]))[0] == 0


@pytest.mark.parametrize(
    ("kind", "votes", "expected"),
    [
        ("smallest", (1.0, 1.0), 0.01),
        ("harmonic", (1.0, 1.0), 2 / (100 + 2)),
        ("product", (1.0, 1.0), (0.01 * 0.5) ** 0.5),
        ("average", (1.0, 1.0), 0.255),
        ("smallest", (0.5, 1.0), 0.02),
        ("harmonic", (0.5, 1.0), 1.5 / (50 + 2)),
        ("product", (0.5, 1.0), (0.01**0.5 * 0.5) ** (1 / 1.5)),
        ("average", (0.5, 1.0), 0.505 / 1.5),
    ],
)
def test_combinations_by_hand(kind: str, votes: tuple[float, float], expected: float) -> None:
    combination = Combination(kind, (None, None), votes)  # of statistics that are -ln p already
    assert np.exp(-combination(-np.log([[0.01], [0.5]])))[0] == pytest.approx(expected)


def test_a_statistic_without_a_law_is_minus_the_logarithm_of_its_p(rng: np.random.Generator) -> None:
    toys = np.vstack([CHI2[0].rvs(200, rng), rng.exponential(size=200)])
    combination = Combination.freeze("harmonic", [LAWS[0], None], toys)
    found = combination.log_p(np.array([[5.0, 9.0], [0.3, 7.0]]))
    np.testing.assert_array_equal(found[0], PMap.freeze(LAWS[0], toys[0])(np.array([5.0, 9.0])))
    np.testing.assert_array_equal(found[1], [-0.3, -7.0])


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_calibrated_on_other_toys_a_combination_is_uniform(kind: str, rng: np.random.Generator) -> None:
    # Few toys freeze the maps, badly; the p-values must be right all the same.
    p = []
    for _ in range(400):
        combination = Combination.freeze(kind, LAWS, draw(25, rng))
        null, (data,) = combination(draw(99, rng)), combination(draw(1, rng))
        p.append((1 + np.count_nonzero(null >= data)) / 100)
    for alpha in (0.05, 0.2, 0.5):
        low, high = stats.binom.interval(0.9999, 400, alpha)
        assert low <= np.count_nonzero(np.array(p) <= alpha) <= high


def test_what_is_not_a_number_stays_so(rng: np.random.Generator) -> None:
    combination = Combination.freeze("smallest", LAWS, draw(100, rng))
    assert np.isnan(combination(np.array([[np.nan], [1.0]]))).all()


def test_too_few_toys_and_unknown_kinds_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="at least 60 toys"):
        Combination.freeze("smallest", LAWS, draw(19, rng))
    with pytest.raises(InputError, match="choose one of 'smallest'"):
        Combination.freeze("best", LAWS, draw(100, rng))
    assert number_of_map_toys(60) == 20
