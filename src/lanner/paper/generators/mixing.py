"""Background and signal, in numbers exact or Poisson, shuffled into one sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from zlib import crc32

import numpy as np

from lanner.errors import InputError
from lanner.typing import Array, Columns


def check(events: float, signal: str | None, signal_events: float | None, known: Mapping[str, float]) -> None:
    """Raise `InputError` for a signal that is not known or a number that is none."""
    if signal is not None and signal not in known:
        raise InputError(f"signal={signal!r} is not known; choose one of {', '.join(map(repr, known))}")
    for name, value in (("events", events), ("signal_events", signal_events)):
        if value is not None and not (np.isfinite(value) and value >= 0):
            raise InputError(f"{name}={value!r}: a number of events cannot be negative")


def stream(seed: int, use: str) -> np.random.Generator:
    """Random numbers of one use of a seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(crc32(use.encode()),)))


def number(mean: float, poisson: bool, rng: np.random.Generator) -> int:
    """How many events, if `mean` are expected."""
    return int(rng.poisson(mean)) if poisson else round(mean)


def mix(parts: Sequence[tuple[int, Callable[[int], Columns]]], rng: np.random.Generator) -> Columns:
    """The parts' events (how many, and what makes them), in random order."""
    made = [sample(n) for n, sample in parts if n > 0] or [parts[0][1](0)]
    joined: dict[str, Array] = {name: np.concatenate([part[name] for part in made]) for name in made[0]}
    order = rng.permutation(len(next(iter(joined.values()))))
    return {name: column[order] for name, column in joined.items()}


def generate(
    experiment: str,
    sample: Callable[[str, int], Columns],
    signals: Mapping[str, float],
    *,
    events: float,
    signal: str | None,
    signal_events: float | None,
    poisson: bool,
    seed: int,
) -> Columns:
    """Background and, if asked for, a signal on top of it; `signals` has the default number of events of each."""
    check(events, signal, signal_events, signals)
    rng = stream(seed, experiment)
    parts = [(number(events, poisson, rng), partial(sample, "background"))]
    if signal is not None:
        mean = signals[signal] if signal_events is None else signal_events
        parts.append((number(mean, poisson, rng), partial(sample, signal)))
    return mix(parts, rng)
