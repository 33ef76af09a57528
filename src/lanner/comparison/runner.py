"""The toys of one test, kept, timed and judged."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lanner._util.files import write_atomically
from lanner.comparison.protocol import Arena, Prepared, Stage, Test
from lanner.comparison.tests.kernel import PreparedKernel
from lanner.inference.combination import PMap, frozen_toys
from lanner.inference.null import Null
from lanner.inference.seeds import Stream, generator
from lanner.inference.tail import fit_tail
from lanner.model.objective import Solution
from lanner.model.weightings import Draw
from lanner.run.evaluate import Combiner
from lanner.run.execution.local import InProcess
from lanner.run.toy_maker import ToyMaker, ToyRun
from lanner.run.toy_store import ToyStore
from lanner.typing import Array

_SKEWNESS = (0.05, 3.0)  # of laws that are tried: 0 is a Gaussian, 2 an exponential
_ENOUGH = 10  # toys beyond an observed t, to take p from them alone


class Contestant:
    """A test in the arena. It is prepared when a toy is first needed that no folder holds."""

    def __init__(self, test: Test, arena: Arena, folder: Path | None, preparing: Stage | None = None) -> None:
        self.test, self.arena = test, arena
        self._preparing = preparing
        self._folder = None if folder is None else folder / test.name
        self._prepared: Prepared | None = None
        self._how: Combiner | None = None
        self._scale: Callable[[Array], Array] = np.asarray
        self._clock = _Clock.read(self._folder)

    @property
    def prepared(self) -> Prepared:
        """The test, ready."""
        if self._prepared is None:
            start = time.perf_counter()
            self._prepared = self.test.prepare(self.arena, self._folder, self._preparing)
            self._clock.preparing = self._clock.preparing or time.perf_counter() - start
        return self._prepared

    @property
    def seconds_per_toy(self) -> float:
        """Measured over the toys that were made, now or in an earlier run."""
        return self._clock.seconds / self._clock.toys if self._clock.toys else float("nan")

    @property
    def seconds_preparing(self) -> float:
        """The one-off cost."""
        return self._clock.preparing

    def toys(
        self,
        label: str,
        number: int,
        draw: Callable[[int], Draw],
        progress: Stage | None = None,
        *,
        about: Any = None,
    ) -> ToyRun:
        """Toys of one kind by their numbers, from the folder where it has them."""
        folder = None if self._folder is None else self._folder / label
        # A store knows the size of its batches; without one the test says, which may take some work.
        kept = folder is not None and (folder / "store.json").exists()
        size = number if kept else min(number, self.prepared.batch)
        store = None if folder is None else ToyStore(folder, self._description(about), batch_size=size)

        def fit(_: None, numbers: Sequence[int], told: Callable[[int], None] | None) -> list[Solution]:
            prepared = self.prepared
            checkpoint = None if folder is None else folder / f"batch-{numbers[0]:08d}.training.npz"
            start = time.perf_counter()
            made = prepared.statistics([draw(i) for i in numbers], progress=told, checkpoint=checkpoint)
            self._clock.add(time.perf_counter() - start, len(numbers))
            nothing = np.empty((0, len(numbers)))
            return [Solution(nothing, row, made.converged, made.iterations, np.zeros(len(row))) for row in made.values]

        found = ToyMaker(InProcess(None), fit, store, size).first(number, progress)
        self._clock.write(self._folder)
        return found

    def null(self, made: ToyRun) -> Null:
        """The null by which toys are judged: of a combination the toys that did not freeze it."""
        if len(made.statistics) > 1:
            assert isinstance(self.prepared, PreparedKernel)
            kept = frozen_toys(made.statistics.shape[1])
            self._how = Combiner.of(self.prepared.ladder, self.prepared.combination, made, kept)
        else:
            self._how = Combiner(None, 0)
        t = self._how.null_statistics(made)
        self._scale = _minus_log_p(t)
        t = self._scale(t)
        converged = np.asarray(made.converged[:, self._how.n_map_toys :].all(axis=0))
        rng = generator(self.arena.plan.seed, Stream.CALIBRATION)
        return Null("reference", t, converged, tail=fit_tail(t, rng=rng))

    def statistic(self, made: ToyRun) -> Array:
        """What other toys have for a t, once the null is there."""
        assert self._how is not None
        return self._scale(self._how.statistic(made.statistics))

    def _description(self, about: Any) -> dict[str, Any]:
        """What the toys depend on; null toys have nothing `about` them."""
        own = {"test": self.test.name, "settings": self.test.settings(self.arena), "about": about}
        return self.arena.description | own


def z_scores(t: Array, null: Null) -> Array:
    """Z of observed t: from the toys where enough lie beyond, from the tail fitted to them further out.

    A t below all toys has a p of 1, and a Z as low as the toys can tell.
    """
    found, lowest, tail = [], -null.empirical(np.inf).z_score, null.trusted_tail
    for x in t:
        p = null.empirical(float(x))
        far = tail is not None and p.exceedances < _ENOUGH and x > tail.threshold
        found.append(tail.z_score(float(x)) if far and tail is not None else max(p.z_score, lowest))
    return np.array(found)


def _minus_log_p(null: Array) -> Callable[[Array], Array]:
    """A scale on which the tails of all tests are alike, and close to an exponential: minus log p of a gamma law.

    Its mean, spread and skewness are those of the toys, so that it may be close to a Gaussian or to an exponential.
    """
    spread = float(null.std())
    if not (np.isfinite(spread) and spread > 0):
        return np.asarray
    skewness = float(np.clip(stats.skew(null), *_SKEWNESS))
    to_log_p = PMap(float(null.mean()), spread, skewness)
    return lambda t: -to_log_p(np.asarray(t))


@dataclass
class _Clock:
    """What a test has cost so far."""

    seconds: float = 0.0
    toys: int = 0
    preparing: float = 0.0

    @classmethod
    def read(cls, folder: Path | None) -> _Clock:
        if folder is None or not (folder / "timing.json").exists():
            return cls()
        try:
            return cls(**json.loads((folder / "timing.json").read_text()))
        except (OSError, ValueError, TypeError):
            return cls()

    def add(self, seconds: float, toys: int) -> None:
        self.seconds, self.toys = self.seconds + seconds, self.toys + toys

    def write(self, folder: Path | None) -> None:
        if folder is not None and self.toys:
            write_atomically(folder / "timing.json", json.dumps(vars(self)))
