"""Closure: good ratios close, spoiled ones do not, by as much as the data could tell."""

import json
from typing import Any

import numpy as np
import pytest

from lanner import Sample, Scaling
from lanner.uncertainties.closure import STEPS, Closure, Events, HeldOut, close, upper_tail
from lanner.uncertainties.smooth import halves, stretch_edges

EXPECTED, SIZE = 2000, 0.05


def halved(x: np.ndarray, weight: float = 1.0) -> list[Events]:
    return [
        Events(x[half], np.full(len(half), weight), stretch_edges(len(x), k)) for k, half in enumerate(halves(len(x)))
    ]


def closure(n: int, spoiled, *, twins: bool = False, kept: float | None = None, seed: int = 0, **told) -> Closure:
    """An exponential whose mean grows by 5 %, against its true ratio spoiled by a function of unit second moment."""
    rng = np.random.default_rng(seed)
    x = rng.standard_exponential((n, 1))
    y = x * np.exp(SIZE) if twins else rng.exponential(np.exp(SIZE), (n, 1))
    if kept is not None:
        y = y[rng.random(n) < kept]
    reference = halved(x)
    ratios = [
        np.exp(half.features[:, 0] * (1 - np.exp(-SIZE)) - SIZE + 2 * EXPECTED**-0.5 * spoiled(half.features[:, 0]))
        for half in reference
    ]
    varied = halved(y, n / len(y))
    held_out = HeldOut("scale", "up", (varied[0], varied[1]), (ratios[0], ratios[1]))
    scaling = Scaling.learn(Sample.of(x), "robust")
    how: dict[str, Any] = {"names": ("x",), "expected": EXPECTED, "scaling": scaling, "rng": rng, "memory": 2**30}
    return close(reference, [held_out], **how, **told)[0]


SPOILED = {
    "normalisation": np.ones_like,
    "slope": lambda x: x - 1,
    "wave": lambda x: 2**0.5 * np.sin(6 * x),
    "step": lambda x: np.where(x > np.log(2), 1.0, -1.0),
    "tail": lambda x: np.where(x > 4, np.exp(2), 0.0),
}


@pytest.mark.parametrize("twins", [False, True])
def test_a_true_ratio_closes(twins: bool) -> None:
    for seed in range(3):
        found = closure(100_000, np.zeros_like, twins=twins, seed=seed)
        assert found.closes
        assert found.tells
        assert np.abs(found.pulls[0].pulls).max() < 4.5


@pytest.mark.parametrize("name", SPOILED)
def test_two_standard_deviations_of_the_data_in_one_direction_do_not_close(name: str) -> None:
    found = closure(100_000, SPOILED[name])
    assert not found.closes
    assert found.p_value < 0.01 / 40
    assert found.bias == pytest.approx(2, abs=0.7)
    assert "does not close" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["closes"] is False


def test_the_same_events_tell_more() -> None:
    # At ten times the expected events, other events leave an error of 0.45 in each direction.
    assert closure(20_000, SPOILED["slope"], twins=True).p_value < 1e-6
    assert closure(20_000, np.zeros_like, twins=True).resolution < 0.9 * closure(20_000, np.zeros_like).resolution


def test_samples_of_different_sizes_are_compared_stretch_by_stretch() -> None:
    others = closure(40_000, np.zeros_like, kept=0.97)
    same = closure(40_000, np.zeros_like, twins=True, kept=0.997)
    assert others.closes
    assert same.closes
    assert same.resolution < 0.92 * others.resolution
    assert not closure(100_000, SPOILED["slope"], kept=0.97).closes


@pytest.mark.parametrize("n", [6_000, 40_000])
def test_few_events_cannot_tell(n: int) -> None:
    found = closure(n, np.zeros_like)
    assert found.closes
    assert not found.tells
    # Both samples have an error of their own in each direction.
    assert found.resolution == pytest.approx((2 * EXPECTED / n) ** 0.5, rel=0.15)


def test_each_step_is_told() -> None:
    told: list[None] = []
    closure(2_000, np.zeros_like, told=lambda: told.append(None))
    assert len(told) == STEPS


@pytest.mark.parametrize("harmless", [0.0, 0.5])
def test_the_tail_is_that_of_normal_numbers(harmless: float) -> None:
    rng = np.random.default_rng(1)
    noise = np.array([0.3, 0.2, 0.1, 0.05, 0.05])
    n = rng.normal(size=(400_000, 5)) * noise**0.5
    n[:, 0] += harmless**0.5
    q = (n**2).sum(axis=1)
    for p in (0.5, 0.1, 0.01, 0.001):
        assert upper_tail(float(np.quantile(q, 1 - p)), noise, harmless) == pytest.approx(p, rel=0.15)


def test_without_noise_only_the_bias_counts() -> None:
    assert upper_tail(0.4, np.zeros(3), 0.5) == 1.0
    assert upper_tail(0.6, np.zeros(3), 0.5) == 0.0
    assert upper_tail(4.0, np.full(3, 1e-9), 0.5) < 1e-12
    assert upper_tail(0.1, np.full(3, 1e-9), 0.5) > 0.999
