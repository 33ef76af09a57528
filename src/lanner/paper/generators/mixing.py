"""Background and signal events, in exact or Poisson numbers, shuffled into one sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypedDict
from zlib import crc32

import numpy as np

from lanner.errors import InputError
from lanner.typing import Columns


class Request(TypedDict, total=False):
    """What an experiment's `generate` is asked for."""

    events: float  # background events; the paper's number by default
    signal: str | None  # the name of a signal to add; none by default
    signal_events: float | None  # signal events; the paper's number by default
    poisson: bool  # whether the numbers fluctuate; by default they are exact
    seed: int  # 0 by default


def check_sample(name: str, signals: Collection[str]) -> None:
    """Raise `InputError` for a name that is neither "background" nor one of the signals."""
    known = ("background", *signals)
    if name not in known:
        raise InputError(f"{name!r} is not a sample; choose one of {', '.join(known)}")


def check(events: float, signal: str | None, signal_events: float | None, known: Collection[str]) -> None:
    """Raise `InputError` for a signal that is not known, or a number of events that is negative or not finite."""
    if signal is not None and signal not in known:
        raise InputError(f"signal={signal!r} is not known; choose one of {', '.join(map(repr, known))}")
    for name, value in (("events", events), ("signal_events", signal_events)):
        if value is not None and not (np.isfinite(value) and value >= 0):
            raise InputError(f"{name}={value!r}: a number of events cannot be negative")


def number(mean: float, poisson: bool, rng: np.random.Generator) -> int:
    """How many events there are if `mean` are expected."""
    return int(rng.poisson(mean)) if poisson else round(mean)


def generate(
    experiment: str,
    sample: Callable[[str, int], Columns],
    signals: Mapping[str, float],
    *,
    events: float,
    signal: str | None = None,
    signal_events: float | None = None,
    poisson: bool = False,
    seed: int = 0,
    alone: Collection[str] = (),
) -> Columns:
    """Background and, if asked for, a signal on top of it, in random order.

    `sample` makes a number of events of a name, `signals` has the default number of events of each signal. A signal
    that is in `alone` is not on top of the background but a model of all events, events + signal_events in number.
    """
    check(events, signal, signal_events, signals)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(crc32(experiment.encode()),)))
    means = {"background": events}
    if signal is not None:
        means[signal] = signals[signal] if signal_events is None else signal_events
        if signal in alone:
            means = {signal: sum(means.values())}
    numbers = {name: number(mean, poisson, rng) for name, mean in means.items()}
    # One part at least, for the names of the columns of an empty sample.
    made = [sample(name, n) for name, n in numbers.items() if n > 0] or [sample(next(iter(numbers)), 0)]
    order = rng.permutation(sum(numbers.values()))
    return {name: np.concatenate([part[name] for part in made])[order] for name in made[0]}
