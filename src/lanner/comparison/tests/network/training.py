"""Training of a stack of networks on all events, clipped, each to an end of its own: when its t has settled.

Two optimisers. "adam" is the original's and needs some 1e5 epochs. "newton" (Levenberg and Marquardt, with the
Gauss-Newton curvature of the likelihood and the clipping as bounds: bounded_step.py) climbs higher in some 1e2, as the
networks are so small that their curvature is cheap.

A network has settled when t rose by less than `tolerance` during the last half of its epochs: t grows ever more
slowly, so that the same number of epochs again would add less. Networks that have settled leave the stack. The state
is written to a checkpoint now and then, from which an interrupted training goes on to the same end.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner._util.files import write_atomically
from lanner._util.machine import threads_if
from lanner.comparison.tests.network.bounded_step import DAMPING, bounded_step, next_damping
from lanner.comparison.tests.network.stack import Objective
from lanner.comparison.tests.network.torch_module import need_torch
from lanner.errors import InputError
from lanner.run.fingerprint import array_digest

REVISION = 2  # of how networks are trained: toys of one are not judged beside those of another
_MANY = 200_000  # events times networks, to be worth threads
_KEEP = 60.0  # seconds between checkpoints
_BETAS, _EPSILON = (0.9, 0.999), 1e-7  # of Adam, as the original has them


@dataclass(frozen=True)
class Optimiser:
    """Epochs at most, between looks at t, and before t may be called settled."""

    epochs: int
    every: int
    least: int


OPTIMISERS = {"newton": Optimiser(1000, 5, 60), "adam": Optimiser(300_000, 200, 2000)}


@dataclass(frozen=True)
class Schedule:
    """How to train, and when to stop."""

    clip: float
    optimiser: str = "newton"
    epochs: int | None = None  # at most; None: the optimiser's own
    tolerance: float | None = 0.1  # of t in the last half of the epochs; None: train to the end
    rate: float = 1e-3  # of Adam

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            known = ", ".join(map(repr, OPTIMISERS))
            raise InputError(f"optimiser={self.optimiser!r} is not known; choose one of {known}")

    @property
    def last(self) -> int:
        """The last epoch, if no network settles before."""
        return self.epochs or OPTIMISERS[self.optimiser].epochs


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks at their end."""

    parameters: NDArray[np.float32]
    statistic: NDArray[np.float64]  # the largest t seen
    epochs: NDArray[np.int64]
    settled: NDArray[np.bool_]

    def better(self, other: Trained) -> Trained:
        """Of each network the training that found the larger t, with the epochs of both."""
        mine = self.statistic >= other.statistic
        return Trained(
            np.where(mine[:, None], self.parameters, other.parameters),
            np.where(mine, self.statistic, other.statistic),
            self.epochs + other.epochs,
            np.where(mine, self.settled, other.settled),
        )


@dataclass(frozen=True, eq=False)
class _State:
    """The networks still in training; `places` says which they are."""

    places: NDArray[np.int64]
    parameters: NDArray[np.float32]
    memory: NDArray[np.float64]  # the optimiser's own: Adam's two moments; Newton's damping and gradient
    epoch: int
    history: NDArray[np.float64]  # t at every look, (looks, networks)

    def take(self, rows: NDArray[np.bool_]) -> _State:
        return _State(self.places[rows], self.parameters[rows], self.memory[rows], self.epoch, self.history[:, rows])


def train(
    objective: Objective,
    initial: NDArray[np.float32],
    schedule: Schedule,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trained:
    """Train a stack of networks from their initial parameters; `progress` is told how many have ended."""
    with threads_if(objective.size >= _MANY):
        return _trained(objective, initial, schedule, checkpoint, progress)


def _trained(
    objective: Objective,
    initial: NDArray[np.float32],
    schedule: Schedule,
    checkpoint: Path | None,
    progress: Callable[[int], None] | None,
) -> Trained:
    networks = len(initial)
    ended = Trained(
        initial.copy(), np.full(networks, -np.inf), np.zeros(networks, np.int64), np.zeros(networks, dtype=bool)
    )
    key = f"{REVISION} {array_digest(initial)} {schedule}"  # what is trained, and how
    state = _read(checkpoint, key, ended) or _start(initial, schedule)
    if len(state.places) < networks:
        objective = objective.take(state.places)
        _tell(progress, networks - len(state.places))
    advance = _newton if schedule.optimiser == "newton" else _adam
    written = time.monotonic()
    while len(state.places):
        state = advance(objective, state, schedule)
        settled = _settled(state.history, schedule)
        leaving = settled | (state.epoch >= schedule.last)
        if leaving.any():
            out = state.places[leaving]
            ended.parameters[out] = state.parameters[leaving]
            ended.statistic[out] = state.history[:, leaving].max(axis=0)
            ended.epochs[out] = state.epoch
            ended.settled[out] = settled[leaving]
            state, objective = state.take(~leaving), objective.take(np.flatnonzero(~leaving))
            _tell(progress, len(out))
        if checkpoint is not None and (leaving.any() or time.monotonic() - written > _KEEP):
            _write(checkpoint, key, state, ended)
            written = time.monotonic()
    return ended


def _start(initial: NDArray[np.float32], schedule: Schedule) -> _State:
    networks, p = initial.shape
    memory = np.full((networks, 1), DAMPING) if schedule.optimiser == "newton" else np.zeros((networks, 2 * p))
    clipped = np.clip(initial, -schedule.clip, schedule.clip)
    return _State(np.arange(networks), clipped, memory, 0, np.empty((0, networks)))


def _adam(objective: Objective, state: _State, schedule: Schedule) -> _State:
    """Some epochs of Adam, and t after them."""
    torch = need_torch()
    with torch.no_grad():
        parameters = torch.from_numpy(state.parameters.copy())
        p = parameters.shape[1]
        first, second = (torch.from_numpy(state.memory[:, k : k + p].astype(np.float32)) for k in (0, p))
        beta1, beta2 = _BETAS
        last = min(state.epoch + OPTIMISERS["adam"].every, schedule.last)
        for epoch in range(state.epoch + 1, last + 1):
            _, gradient = objective.evaluate(parameters)
            first.lerp_(gradient, 1 - beta1)
            second.lerp_(gradient.square_(), 1 - beta2)
            step = schedule.rate * (1 - beta2**epoch) ** 0.5 / (1 - beta1**epoch)
            parameters.addcdiv_(first, second.sqrt().add_(_EPSILON), value=-step)
            parameters.clamp_(-schedule.clip, schedule.clip)
        t, _ = objective.evaluate(parameters)
    memory = np.hstack([first.numpy(), second.numpy()]).astype(np.float64)
    return _next(state, parameters.numpy(), memory, last, t.numpy())


def _newton(objective: Objective, state: _State, schedule: Schedule) -> _State:
    """Some damped Newton steps, each kept only where t rises."""
    torch = need_torch()
    with torch.no_grad():
        parameters = torch.from_numpy(state.parameters.copy())
        damping = torch.from_numpy(state.memory[:, 0].copy())
        if state.epoch:
            t, gradient = torch.from_numpy(state.history[-1].copy()), torch.from_numpy(state.memory[:, 1:]).float()
        else:
            t, gradient = objective.evaluate(parameters)
        last = min(state.epoch + OPTIMISERS["newton"].every, schedule.last)
        for epoch in range(state.epoch, last):
            curvature = objective.curvature(parameters, epoch)
            step = bounded_step(parameters, gradient, curvature, damping, schedule.clip)
            reached, slope = objective.evaluate(step.parameters)
            better = reached > t  # false for what is not a number
            damping = next_damping(damping, (reached - t) / 2, step.gain)
            parameters = torch.where(better[:, None], step.parameters, parameters)
            gradient = torch.where(better[:, None], slope, gradient)
            t = torch.where(better, reached, t)
        memory = torch.cat([damping[:, None], gradient.double()], dim=1)
    return _next(state, parameters.numpy(), memory.numpy(), last, t.numpy())


def _next(state: _State, parameters: Any, memory: Any, epoch: int, t: Any) -> _State:
    return replace(state, parameters=parameters, memory=memory, epoch=epoch, history=np.vstack([state.history, t]))


def _settled(history: NDArray[np.float64], schedule: Schedule) -> NDArray[np.bool_]:
    looks, networks = history.shape
    optimiser = OPTIMISERS[schedule.optimiser]
    if schedule.tolerance is None or looks * optimiser.every < optimiser.least:
        return np.zeros(networks, dtype=bool)
    return np.asarray(history.max(axis=0) - history[: looks // 2].max(axis=0) < schedule.tolerance)


def _tell(progress: Callable[[int], None] | None, number: int) -> None:
    if progress is not None:
        progress(number)


def _write(path: Path, key: str, state: _State, ended: Trained) -> None:
    buffer = io.BytesIO()
    np.savez(
        buffer,
        key=np.array(key),
        **{f"state_{name}": value for name, value in vars(state).items()},
        **{f"ended_{name}": value for name, value in vars(ended).items()},
    )
    write_atomically(path, buffer.getvalue())


def _read(path: Path | None, key: str, ended: Trained) -> _State | None:
    """The state of a checkpoint, its finished networks put into `ended`; None where there is none that fits."""
    if path is None or not path.exists():
        return None
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            found: dict[str, Any] = {name: file[name] for name in file.files}
        if str(found["key"]) != key:
            return None
        for name, value in vars(ended).items():
            value[...] = found[f"ended_{name}"]
        state = {n.removeprefix("state_"): v for n, v in found.items() if n.startswith("state_")}
        return _State(**(state | {"epoch": int(state["epoch"])}))
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None  # damaged: train again
