"""The paper's 1-D example (App. C): an exponential reference and three signals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from lanner.paper.generators import mixing
from lanner.paper.ideal import likelihood_ratio_z
from lanner.typing import Array

RATE = 8.0
EXPECTED = 2000.0
REFERENCE_SIZE = 200_000
WIDTH, PENALTY, CENTERS = 0.3, 1e-10, 3000  # the paper's settings, with one Newton step


@dataclass(frozen=True)
class Signal:
    """Events on top of the reference: `events` is their number N(S)."""

    name: str
    events: float
    law: Any  # a frozen scipy distribution
    alone: bool = False  # whether it is a model of all data instead

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """n events."""
        return np.asarray(self.law.rvs(n, random_state=rng), dtype=np.float64)

    def log_ratio(self, x: Array, share: float) -> Array:
        """log(1 + share p_signal / p_reference)."""
        return np.asarray(np.log1p(share * self.law.pdf(x) / (RATE * np.exp(-RATE * x))))

    def expected(self, null: Array, edges: Array, events: float) -> Array:
        """The expected number of events in each bin, if the reference predicts `null`."""
        return np.asarray(null + events * np.diff(self.law.cdf(edges)))


@dataclass(frozen=True)
class Deficit:
    """A model of all data: the reference with a part of it missing around `place`."""

    name: str
    depth: float
    place: float
    width: float
    alone: bool = True

    @property
    def events(self) -> float:
        """The expected number N(1) of all events, where the reference expects N(0) = 2000."""
        x = np.linspace(0, 4, 400_001)
        return float(np.trapezoid(EXPECTED * RATE * np.exp(-RATE * x) * self._left(x), x))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """n events, by rejection."""
        found = np.empty(0)
        while len(found) < n:
            x = rng.exponential(1 / RATE, 2 * n)
            found = np.append(found, x[rng.random(2 * n) < self._left(x)])
        return found[:n]

    def log_ratio(self, x: Array, share: float) -> Array:
        """The logarithm of what is left of the reference, with `share` of its events in all."""
        return np.asarray(np.log(self._left(x) * share * EXPECTED / self.events))

    def expected(self, null: Array, edges: Array, events: float) -> Array:
        """The expected number of events in each bin, if the reference predicts `null`."""
        middle = np.append(0.5 * (edges[1:-1] + edges[:-2]), edges[-2])
        thinned = null * self._left(middle)
        return np.asarray(thinned * events / thinned.sum())

    def _left(self, x: Array) -> Array:
        return np.asarray(1 - self.depth * np.exp(-0.5 * ((x - self.place) / self.width) ** 2))


SIGNALS = {
    s.name: s
    for s in (
        Signal("tail", 10, stats.norm(0.8, 0.02)),
        Signal("bulk", 90, stats.norm(0.2, 0.02)),
        Signal("nonresonant", 90, stats.gamma(3.0, scale=1 / RATE)),  # 256 x^2 exp(-8 x)
    )
}


# Signals that the paper does not look for: a deficit, a soft excess, a few events beyond the bulk of the reference, a
# peak much narrower and one much broader than the paper's.
FURTHER: dict[str, Signal | Deficit] = {
    s.name: s
    for s in (
        Deficit("deficit", 0.25, 0.12, 0.03),
        Signal("soft", 130, stats.expon(scale=1 / 25)),
        Signal("beyond", 3, stats.norm(1.6, 0.05)),
        Signal("narrow", 30, stats.norm(0.35, 0.004)),
        Signal("broad", 60, stats.truncnorm(-0.4 / 0.12, np.inf, 0.4, 0.12)),
    )
}


def background(n: int, rng: np.random.Generator) -> Array:
    """n events of the reference model, p(x|0) = 8 exp(-8 x), one row each."""
    return rng.exponential(1 / RATE, (n, 1))


def generate(
    *,
    events: float = EXPECTED,
    signal: str | None = None,
    signal_events: float | None = None,
    poisson: bool = False,
    seed: int = 0,
) -> dict[str, Array]:
    """A sample of `events` background events and, if asked for, a signal; their numbers Poisson or exact.

    >>> {name: column.shape for name, column in generate(events=100, signal="tail", signal_events=5).items()}
    {'x': (105,)}
    """
    mixing.check(events, signal, signal_events, SIGNALS)
    rng = np.random.default_rng(seed)
    x = background(mixing.number(events, poisson, rng), rng)[:, 0]
    if signal is not None:
        chosen, mean = _chosen(signal, signal_events)
        x = np.append(x, chosen.sample(mixing.number(mean, poisson, rng), rng))
        rng.shuffle(x)
    return {"x": x}


def _chosen(signal: str, signal_events: float | None) -> tuple[Signal | Deficit, float]:
    """A signal and its number of events, by default its own."""
    chosen = (SIGNALS | FURTHER)[signal]
    return chosen, chosen.events if signal_events is None else signal_events


def log_ratio(
    signal: str, signal_events: float | None = None, *, expected: float = EXPECTED
) -> Callable[[Array], Array]:
    """A function of events, one a row: the logarithm of the density of all data with a signal over that without.

    >>> round(float(log_ratio("tail")(np.array([[0.1]]))[0]), 6)  # far from the signal
    0.0
    """
    chosen, events = _chosen(signal, signal_events)
    return lambda x: chosen.log_ratio(x[:, 0], events / expected)


def ideal_significance(signal: str, signal_events: float | None = None, *, expected: float = EXPECTED) -> float:
    """Median Z of the exact likelihood-ratio test, which knows the signal.

    The paper prints 4.7, 4.1 and 4.4; 4.1 does not fit its own N(S) = 90.

    >>> [round(ideal_significance(name), 2) for name in SIGNALS]
    [4.77, 5.58, 4.54]
    """
    chosen, events = _chosen(signal, signal_events)
    edges = np.concatenate([np.linspace(0, 2, 200_001), [np.inf]])
    null = expected * -np.diff(np.exp(-RATE * edges))
    return likelihood_ratio_z(null, chosen.expected(null, edges, events))
