"""`ToyPool`: one pool of events, and the toys that all tests of a comparison take from it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from lanner._util.machine import memory_budget
from lanner.events import Sample, match_columns
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import scheme_of
from lanner.model.fit import MIN_REFERENCE
from lanner.model.weightings import Draw
from lanner.run.fingerprint import array_digest
from lanner.run.prepare import checked_sample, plan_search
from lanner.settings import FitSettings
from lanner.typing import Array, Progress


@dataclass(frozen=True, eq=False)
class ToyPool:
    """The reference's events, then those of signals or the data, and how toys take from them."""

    reference: Sample
    other: Sample | None
    plan: Plan  # sizes, units and seed, and one width for the tests that have no rule of their own
    scheme: ReferenceScheme
    memory: int
    device: str = "cpu"

    @classmethod
    def prepare(
        cls,
        reference: Any,
        other: Any = None,
        *,
        expected: float | None,
        settings: FitSettings,
        label: str = "data",
        memory: float | str | None = None,
        device: str = "cpu",
        progress: Progress | None = None,
        in_bunches: bool = False,
    ) -> ToyPool:
        """Check the samples and decide on sizes. Without an expected number the data's is taken as fixed.

        Toys `in_bunches` are for tests that are sums over events, and cost them less; others need single events.
        """
        reference = checked_sample(reference, "reference", MIN_REFERENCE, settings.scaling)
        if other is not None:
            other = match_columns(
                reference, checked_sample(other, label, 1, like=reference), labels=("reference", label)
            )
        budget = memory_budget(memory)
        plan, *_ = plan_search(
            reference,
            other if expected is None else None,
            expected=expected,
            settings=replace(settings, null="reference"),
            memory=budget,
            progress=progress,
        )
        if not in_bunches or plan.statistic != "score":
            plan = replace(plan, centers_barred=True, bunch=1)  # for tests that fit
        scheme = scheme_of(plan, reference, other, as_one=False)
        assert isinstance(scheme, ReferenceScheme)
        return cls(reference, other, plan, scheme, budget, device)

    @property
    def samples(self) -> list[Sample]:
        """The reference and what is beside it, in the order of the pool."""
        return [self.reference] if self.other is None else [self.reference, self.other]

    @cached_property
    def events(self) -> Array:
        """All events, in the units that were learned on the reference."""
        return np.vstack([self.plan.units.apply(s.features) for s in self.samples])

    @property
    def description(self) -> dict[str, Any]:
        """What toys depend on besides their events, whichever test judges them, as plain JSON."""
        plan = self.plan.to_dict()
        same = ("null", "names", "expected", "fixed", "reference_size", "centers", "seed", "units")
        return {"plan": {key: plan[key] for key in same}}

    def rng(self, draw: Draw, use: int) -> np.random.Generator:
        """Random numbers for a toy, the same whenever it is met."""
        return np.random.default_rng([self.plan.seed, use, zlib.crc32(np.ascontiguousarray(draw.data).tobytes())])


class ToyKind(Protocol):
    """Toys of one kind, by their numbers. It can be sent to where toys are made."""

    def __call__(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from the pool."""

    def about(self, pool: ToyPool) -> dict[str, Any]:
        """What the toys depend on besides the reference, as plain JSON."""


@dataclass(frozen=True)
class NullToys:
    """Toys that follow the reference."""

    def __call__(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from the pool."""
        return scheme.toy(i)

    def about(self, pool: ToyPool) -> dict[str, Any]:
        """The events that toys are made of."""
        return {"events": array_digest(pool.reference.features, pool.reference.weights)}


@dataclass(frozen=True)
class SignalToys:
    """Toys with Poisson(mean) signal events beside those of the reference or, where it stands alone, in their place."""

    mean: float
    alone: bool = False
    rows: range | None = None  # of the pool; None: all that follow the reference

    def __call__(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What toy i takes from the pool."""
        return scheme.with_signal(i, self.mean, alone=self.alone, rows=self.rows)

    def about(self, pool: ToyPool) -> dict[str, Any]:
        """The events that toys are made of, and how."""
        assert pool.other is not None
        first = len(pool.reference)
        signal = pool.other.features
        if self.rows is not None:
            signal = signal[self.rows.start - first : self.rows.stop - first]
        events = array_digest(pool.reference.features, pool.reference.weights, signal)
        return {"events": events, "signal_events": float(self.mean), "alone": self.alone}


@dataclass(frozen=True)
class DataAsToy:
    """The data themselves."""

    def __call__(self, scheme: ReferenceScheme, i: int) -> Draw:
        """What the data's fit takes from the pool, with one of several subsamples of the reference."""
        return scheme.data(i)

    def about(self, pool: ToyPool) -> dict[str, Any]:
        """The events of the data and of the reference."""
        assert pool.other is not None
        return {"events": array_digest(pool.reference.features, pool.other.features), "data": True}
