"""The paper's 1-D example (App. C): an exponential reference and three signals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from lanner.errors import InputError
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
    alone: bool = False

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """n events."""
        return np.asarray(self.law.rvs(n, random_state=rng), dtype=np.float64)

    def log_ratio(self, x: Array, share: float) -> Array:
        """log(1 + share p_signal / p_reference)."""
        return np.asarray(np.log1p(share * self.law.pdf(x) / (RATE * np.exp(-RATE * x))))

    def expected(self, null: Array, edges: Array, events: float) -> Array:
        """What is expected in bins of which the reference predicts `null`."""
        return np.asarray(null + events * np.diff(self.law.cdf(edges)))


@dataclass(frozen=True)
class Deficit:
    """The reference with a part of it missing around some place: a model of all data, `events` of them."""

    name: str
    depth: float
    place: float
    width: float
    alone: bool = True

    @property
    def events(self) -> float:
        """N(1), of N(0) = 2000."""
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
        """log of what is left of the reference; `share` is its total."""
        return np.asarray(np.log(self._left(x) * share * EXPECTED / self.events))

    def expected(self, null: Array, edges: Array, events: float) -> Array:
        """What is expected in bins of which the reference predicts `null`."""
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


# What the paper does not look for, of other shapes and places: a deficit, a soft excess, a few events beyond the bulk
# of the reference, a line much narrower and one much broader than the paper's.
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
    rng = np.random.default_rng(seed)
    if signal is not None and signal not in SIGNALS:
        raise InputError(f"signal={signal!r} is not known; choose one of {', '.join(map(repr, SIGNALS))}")
    if not events >= 0 or (signal_events is not None and not signal_events >= 0):
        raise InputError(f"events={events!r}, signal_events={signal_events!r}: numbers of events cannot be negative")

    def number(mean: float) -> int:
        return int(rng.poisson(mean)) if poisson else round(mean)

    x = background(number(events), rng)[:, 0]
    if signal is not None:
        chosen = SIGNALS[signal]
        x = np.append(x, chosen.sample(number(chosen.events if signal_events is None else signal_events), rng))
        rng.shuffle(x)
    return {"x": x}


def log_ratio(
    signal: str, signal_events: float | None = None, *, expected: float = EXPECTED
) -> Callable[[Array], Array]:
    """log of the density of all data with a signal over that without, of events one a row.

    >>> round(float(log_ratio("tail")(np.array([[0.1]]))[0]), 6)  # far from the signal
    0.0
    """
    chosen = (SIGNALS | FURTHER)[signal]
    events = chosen.events if signal_events is None else signal_events
    return lambda x: chosen.log_ratio(x[:, 0], events / expected)


def ideal_significance(signal: str, signal_events: float | None = None, *, expected: float = EXPECTED) -> float:
    """Median Z of the exact likelihood-ratio test, which knows the signal.

    The paper prints 4.7, 4.1 and 4.4; 4.1 does not fit its own N(S) = 90.

    >>> [round(ideal_significance(name), 2) for name in SIGNALS]
    [4.77, 5.58, 4.54]
    """
    chosen = (SIGNALS | FURTHER)[signal]
    edges = np.concatenate([np.linspace(0, 2, 200_001), [np.inf]])
    null = expected * -np.diff(np.exp(-RATE * edges))
    return likelihood_ratio_z(
        null, chosen.expected(null, edges, chosen.events if signal_events is None else signal_events)
    )
