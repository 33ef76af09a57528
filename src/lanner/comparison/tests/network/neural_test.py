"""The neural-network version of the test (D'Agnolo and Wulzer), its toys trained together.

The clipping is the regulariser. Where none is given it is tuned on the reference alone, as in the original: so that
t of null toys has as many degrees of freedom as the network has parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.comparison.protocol import OneStatistic, Prepared, Statistics
from lanner.comparison.tests.network.clipping import Notebook, TunedClip, bisect_clip
from lanner.comparison.tests.network.stack import Architecture, Objective
from lanner.comparison.tests.network.torch_module import need_torch
from lanner.comparison.tests.network.training import REVISION, Schedule, Trained, train
from lanner.comparison.toy_pool import ToyPool
from lanner.errors import InputError
from lanner.model.parallel import blocks
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.typing import Progress, ToysEnded

# The original's networks: hidden layers, and the clipping that goes with them.
PUBLISHED = {
    "one-dimensional": ((4,), None),
    "dimuon": ((5, 5, 5), 2.15),
    "susy": ((10, 10), 0.87),
    "higgs": ((6, 6, 6, 6, 6), 0.65),
}
_MOST_TOGETHER = 64
_TUNING = 2 * 10**18  # toys that tune the clipping lie beyond all others


@dataclass(frozen=True)
class Network:
    """A network of some hidden layers. Without a clipping, one is tuned."""

    hidden: tuple[int, ...] = (4,)
    clip: float | None = None
    optimiser: str = "newton"
    epochs: int | None = None
    tolerance: float | None = 0.1
    rate: float = 1e-3
    starts: int | None = None  # trainings from different initial parameters, of which the best counts
    tuning_toys: int = 40
    name: str = "network"

    def __post_init__(self) -> None:
        if not self.hidden or min(self.hidden) < 1:
            raise InputError(f"hidden={self.hidden!r}: give the units of each hidden layer, such as (5, 5, 5)")
        if self.epochs is not None and self.epochs < 1:
            raise InputError(f"epochs={self.epochs!r}: give a number of training steps")
        Schedule(1.0, self.optimiser)  # which refuses an optimiser that it does not know
        if self.starts is not None and self.starts < 1:
            raise InputError(f"starts={self.starts!r}: at least one training is needed")
        if self.clip is not None and not self.clip > 0:
            raise InputError(f"clip={self.clip!r}: the bound on the parameters must be positive")

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return asdict(self) | {"hidden": list(self.hidden), "revision": REVISION}

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        need_torch()
        if self.clip is not None:
            return PreparedNetwork(self, pool)
        return PreparedNetwork(replace(self, clip=tune_clip(self, pool, folder, progress).clip), pool)

    @property
    def trainings(self) -> int:
        """Newton's steps end at the nearest maximum, so three are tried; Adam is the original's and starts once."""
        return self.starts or (3 if self.optimiser == "newton" else 1)

    def schedule(self) -> Schedule:
        """How to train, once the clipping is known."""
        assert self.clip is not None
        return Schedule(self.clip, self.optimiser, self.epochs, self.tolerance, self.rate)


@dataclass(frozen=True, eq=False)
class PreparedNetwork(OneStatistic):
    """A network and the events it is trained on."""

    test: Network
    pool: ToyPool

    @property
    def architecture(self) -> Architecture:
        """Its layers."""
        return Architecture((self.pool.events.shape[1], *self.test.hidden, 1))

    @property
    def batch(self) -> int:
        """How many toys are trained together: as many as memory allows for their weights."""
        return int(np.clip(self.pool.memory // (16 * len(self.pool.events)), 1, _MOST_TOGETHER))

    def statistics(  # noqa: D102
        self, draws: Sequence[Draw], *, progress: ToysEnded | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        made = self.train(draws, progress=progress, checkpoint=checkpoint)
        return Statistics(made.statistic[None], made.settled[None], made.epochs[None])

    def train(
        self, draws: Sequence[Draw], *, progress: ToysEnded | None = None, checkpoint: Path | None = None
    ) -> Trained:
        """The best network for each toy."""
        objective, trainings = self.objective(draws), self.test.trainings
        told = None if progress is None else _Part(progress, trainings)
        paths = [None if checkpoint is None else checkpoint.with_suffix(f".{k}.npz") for k in range(trainings)]
        best: Trained | None = None
        for k, path in enumerate(paths):
            initial = self.architecture.initial([self.pool.rng(d, 2 + k) for d in draws])
            made = train(objective, initial, self.test.schedule(), checkpoint=path, progress=told)
            best = made if best is None else best.better(made)
        for path in paths:
            if path is not None:
                path.unlink(missing_ok=True)
        assert best is not None
        return best

    def objective(self, draws: Sequence[Draw]) -> Objective:
        """The loss of the toys, on the events that any of them uses."""
        torch = need_torch()
        roles = np.stack([d.roles() for d in draws])
        used = np.flatnonzero(roles.any(axis=0))
        roles = roles[:, used]
        is_reference = roles == REFERENCE
        scale = (self.pool.plan.expected / is_reference.sum(axis=1)).astype(np.float32)
        reference = is_reference * scale[:, None]
        data = (roles == DATA).astype(np.float32)
        events = np.ascontiguousarray(self.pool.events[used].T, dtype=np.float32)
        return Objective(self.architecture, *(torch.from_numpy(a) for a in (events, reference, data)))


class _Part:
    """Progress in toys, of which a training is a part."""

    def __init__(self, progress: ToysEnded, parts: int) -> None:
        self._progress, self._parts, self._done = progress, parts, 0

    def __call__(self, number: int) -> None:
        before, self._done = self._done // self._parts, self._done + number
        if self._done // self._parts > before:
            self._progress(self._done // self._parts - before)


def tune_clip(test: Network, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None) -> TunedClip:
    """The clipping at which t of null toys has as many degrees of freedom as the network has parameters.

    What is tried is kept in the folder, from which an interrupted tuning goes on.
    """
    prepared = PreparedNetwork(replace(test, clip=1.0), pool)

    def null(clip: float, toys: range) -> NDArray[np.float64]:
        tried = replace(prepared, test=replace(test, clip=clip))
        some = [toys[rows] for rows in blocks(len(toys), tried.batch)]
        return np.concatenate([tried.train([pool.scheme.toy(_TUNING + i) for i in part]).statistic for part in some])

    made_for = pool.description | test.settings(pool)
    notebook = Notebook(None if folder is None else folder / "clip.json", made_for)
    dof = prepared.architecture.parameters
    return bisect_clip(null, dof, test.tuning_toys, notebook=notebook, progress=progress)
