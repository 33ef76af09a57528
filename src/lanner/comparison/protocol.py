"""Where tests meet: one pool of events, and the same toys for all of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lanner._util.machine import memory_budget
from lanner.errors import InputError
from lanner.events import Sample, match_columns
from lanner.inference.experiment import reference_scheme
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.model.fit import MIN_REFERENCE
from lanner.model.parallel import blocks, in_parallel
from lanner.model.weightings import Draw
from lanner.run.planning import FitOptions, check_sample, plan_search
from lanner.run.toy_store import array_digest
from lanner.typing import Array

Progress = Callable[[int], None]
Stage = Callable[[int, int], None]
_TOGETHER = 10  # toys between two reports of progress


@dataclass(frozen=True, eq=False)
class Arena:
    """The reference's events, then those of a signal or the data, and how toys take from them."""

    reference: Sample
    other: Sample | None
    plan: Plan  # sizes, scaling and seed; its width is the paper's
    scheme: ReferenceScheme
    memory: int

    @classmethod
    def prepare(
        cls,
        reference: Any,
        other: Any = None,
        *,
        expected: float | None,
        label: str = "data",
        options: FitOptions,
        memory: float | str | None = None,
    ) -> Arena:
        """Check the samples and decide on sizes. Without an expected number the data's is taken as fixed."""
        reference = check_sample(reference, "reference", MIN_REFERENCE)
        if reference.weights is not None:
            raise InputError("the tests that others use take no event weights: give an unweighted reference")
        if other is not None:
            other = match_columns(reference, check_sample(other, label, 1), labels=("reference", label))
        budget = memory_budget(memory)
        sample = other if expected is None else None
        options = replace(options, null="reference")
        plan, *_ = plan_search(reference, sample, expected=expected, options=options, memory=budget)
        scheme = reference_scheme(plan, reference, 0 if other is None else len(other))
        return cls(reference, other, plan, scheme, budget)

    @cached_property
    def events(self) -> Array:
        """All events, scaled."""
        return np.vstack([self.plan.scaling.apply(s.features) for s in self.samples])

    @property
    def samples(self) -> list[Sample]:
        """The reference and what is beside it, in the order of the pool."""
        return [self.reference] if self.other is None else [self.reference, self.other]

    @cached_property
    def digest(self) -> str:
        """Of the reference."""
        return array_digest(self.reference.features)

    @property
    def description(self) -> dict[str, Any]:
        """What toys depend on, whichever test judges them, as plain JSON."""
        plan = self.plan.settings()
        same = ("null", "names", "expected", "fixed", "reference_size", "centers", "seed", "scaling")
        return {"events": self.digest, "plan": {key: plan[key] for key in same}}

    def rng(self, draw: Draw, use: int) -> np.random.Generator:
        """Random numbers for a toy, the same whenever it is met."""
        return np.random.default_rng([self.plan.seed, use, zlib.crc32(np.ascontiguousarray(draw.data).tobytes())])


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a test made of some toys."""

    values: Array  # (rows, toys): one row, or one for each scale
    converged: NDArray[np.bool_]  # (toys,)
    iterations: NDArray[np.int64]  # (toys,)

    @classmethod
    def of(cls, values: Any) -> Statistics:
        """Of a test that has nothing to converge."""
        values = np.atleast_2d(np.asarray(values, dtype=np.float64))
        toys = values.shape[1]
        return cls(values, np.ones(toys, dtype=bool), np.zeros(toys, dtype=np.int64))


class Prepared(Protocol):
    """A test that has seen the pool, ready for any number of toys."""

    @property
    def batch(self) -> int:
        """How many toys to make together: what an interruption may cost."""

    def statistics(
        self, draws: Sequence[Draw], *, progress: Progress | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        """The statistic of each toy: the larger, the less it looks like the reference."""


class Test(Protocol):
    """A way to tell data from a reference."""

    @property
    def name(self) -> str:
        """A short name: of its folder, and in tables."""

    def settings(self, arena: Arena) -> dict[str, Any]:
        """What its statistic depends on besides the reference, as plain JSON."""

    def prepare(self, arena: Arena, folder: Path | None = None, progress: Stage | None = None) -> Prepared:
        """The one-off work; what it finds may be kept in a folder, and `progress` be told how far it is."""


class OneByOne:
    """A prepared test whose toys do not gain from company: each core takes one."""

    batch = 50

    def statistic(self, draw: Draw) -> float:
        """The statistic of a toy."""
        raise NotImplementedError

    def statistics(
        self, draws: Sequence[Draw], *, progress: Progress | None = None, checkpoint: Path | None = None
    ) -> Statistics:
        """That of several."""
        found: list[float] = []
        for some in blocks(len(draws), _TOGETHER):
            found += in_parallel(self.statistic, draws[some])
            if progress is not None:
                progress(some.stop - some.start)
        return Statistics.of(found)
