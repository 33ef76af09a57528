from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from lanner.errors import InputError
from lanner.paper.datasets import one_dimensional as example


def test_the_reference_is_an_exponential(rng):
    assert stats.kstest(example.background(20_000, rng)[:, 0], stats.expon(scale=1 / 8).cdf).pvalue > 0.001


@pytest.mark.parametrize("name", [*example.SIGNALS, *example.FURTHER])
def test_signals_follow_their_density_ratio(rng, name):
    # With a signal of any strength, the mean of 1/ratio over its data is N(0)/N(1).
    signal = (example.SIGNALS | example.FURTHER)[name]
    log_ratio = example.log_ratio(name)
    if signal.alone:
        x, share = signal.sample(200_000, rng), example.EXPECTED / signal.events
    else:
        total = example.EXPECTED + signal.events
        background = rng.exponential(1 / 8, round(200_000 * example.EXPECTED / total))
        x, share = (
            np.append(background, signal.sample(round(200_000 * signal.events / total), rng)),
            example.EXPECTED / total,
        )
    assert np.mean(np.exp(-log_ratio(x[:, None]))) == pytest.approx(share, rel=0.01)


def test_a_deficit_has_fewer_events_by_its_area():
    deficit = example.FURTHER["deficit"]
    missing, _ = integrate.quad(
        lambda x: 8 * np.exp(-8 * x) * 0.25 * np.exp(-0.5 * ((x - 0.12) / 0.03) ** 2), 0, 1, points=[0.12]
    )
    assert deficit.events == pytest.approx(2000 * (1 - missing), rel=1e-6)


@pytest.mark.parametrize("name", ["tail", "deficit"])
def test_expected_numbers_in_bins_add_up(name):
    signal = (example.SIGNALS | example.FURTHER)[name]
    edges = np.append(np.linspace(0, 2, 2001), np.inf)
    null = 2000 * -np.diff(np.exp(-8 * edges))
    total = signal.events if signal.alone else 2000 + signal.events
    assert signal.expected(null, edges, signal.events).sum() == pytest.approx(total)


def test_numbers_of_events():
    assert len(example.generate(events=100, signal="bulk")["x"]) == 190
    assert len(example.generate(events=100, signal="bulk", signal_events=3)["x"]) == 103
    sizes = [len(example.generate(events=100, poisson=True, seed=s)["x"]) for s in range(300)]
    assert np.var(sizes) == pytest.approx(100, rel=0.3)


def test_the_same_seed_gives_the_same_events():
    made = [example.generate(events=50, signal="tail", seed=s)["x"] for s in (3, 3, 4)]
    np.testing.assert_array_equal(made[0], made[1])
    assert not np.isin(made[2], made[0]).any()


def test_requests_that_make_no_sense():
    with pytest.raises(InputError, match="signal='peak' is not known; choose one of 'tail'"):
        example.generate(signal="peak")
    with pytest.raises(InputError, match="signal_events=-1: a number of events cannot be negative"):
        example.generate(signal="tail", signal_events=-1)
