import numpy as np
import pytest
from scipy import stats

from lanner.comparison import KnownRatio, Supervised, ToyPool
from lanner.errors import InputError
from lanner.paper.datasets import one_dimensional as example
from tests.comparison.pools import OPTIONS, pool_of


def test_the_known_ratio_is_summed_over_the_data() -> None:
    pool = pool_of(dimensions=2, other=30)
    test = KnownRatio(lambda x: x[:, 0] ** 2)
    t = test.prepare(pool).statistics([pool.scheme.data(0)]).values[0, 0]
    assert pool.other is not None
    assert t == pytest.approx(2 * (pool.other.features[:, 0] ** 2).sum())


def test_boosted_trees_come_close_to_the_known_ratio() -> None:
    pool = pool_of(dimensions=1, reference=20000, expected=500, other=4000)
    share = 50 / 500
    exact = KnownRatio(lambda x: np.log1p(share * np.exp(x[:, 0] - 0.5)))  # N(1, 1) over N(0, 1)
    tests = (exact.prepare(pool), Supervised(50.0).prepare(pool))
    null = [p.statistics([pool.scheme.toy(i) for i in range(300)]).values[0] for p in tests]
    signal = [
        p.statistics([pool.scheme.with_signal(i, 50.0, alone=False) for i in range(100)]).values[0] for p in tests
    ]
    separation = [(np.median(s) - n.mean()) / n.std() for s, n in zip(signal, null, strict=True)]
    assert separation[0] > 2
    assert separation[1] == pytest.approx(separation[0], abs=0.3)


def test_no_event_of_a_narrow_signal_rules_alone() -> None:
    # Leaves with events of one kind alone: trees without shrinkage go beyond what so many events can tell.
    rng = np.random.default_rng(0)
    reference, signal = rng.normal(size=(20_000, 2)), rng.normal(4.0, 0.02, (2000, 2))
    reference[:3] = 4.0
    pool = ToyPool.prepare(reference, signal, expected=500, settings=OPTIONS)
    values = Supervised(50.0).prepare(pool).values  # type: ignore[attr-defined]
    odds = np.expm1(values) * (500 / 50) * (2000 / 20_000)
    assert 100 < odds.max() < 2 * 2000


def test_the_known_ratio_of_the_paper_reaches_the_exact_median() -> None:
    # Toys with the signal, weighted by the ratio itself, are toys without it: so their tail is known at 4.5 sigma.
    rng = np.random.default_rng(0)
    law, log_ratio = example.SIGNALS["nonresonant"], example.log_ratio("nonresonant")

    def toy() -> float:
        x = np.concatenate([example.background(rng.poisson(2000), rng)[:, 0], law.sample(rng.poisson(90), rng)])
        return float(log_ratio(x[:, None]).sum())

    ratios = np.array([toy() for _ in range(4000)])
    p = np.mean(np.exp(90 - ratios) * (ratios >= np.median(ratios)))
    assert stats.norm.isf(p) == pytest.approx(example.ideal_significance("nonresonant"), abs=0.15)


def test_a_supervised_test_needs_a_signal() -> None:
    with pytest.raises(InputError, match="give one"):
        Supervised(10.0).prepare(pool_of())
    with pytest.raises(InputError, match="too few"):
        Supervised(10.0).prepare(pool_of(other=20))
