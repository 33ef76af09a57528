"""What uncertainties add to a search: what each is in words, and about what it takes to learn them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanner._util.text import count
from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.spread import SpreadSample
from lanner.run.prepare import Job
from lanner.run.uncertain import check_usable, usable
from lanner.uncertainties.declared import Normalisation, Process, Shifted, Uncertainty, Weights
from lanner.uncertainties.matching import match_uncertainties, weights_of
from lanner.uncertainties.smooth import Smooth

# Kernel values that the time of learning is worth, for each event and function: 10 to 40 were measured with one and
# four features, 50 000 and 200 000 events, weights and samples; most of it is the closure.
_KERNEL_VALUES = 20


@dataclass(frozen=True)
class Learning:
    """The uncertainties that would be in a search, and what is computed before its first toy because of them."""

    words: tuple[tuple[str, str], ...]  # the name of each, and what it is
    kernel_values: float  # worth so many
    memory: float  # bytes


def planned_learning(job: Job, uncertainties: Sequence[Uncertainty]) -> Learning:
    """What uncertainties add to a search that can start; those that cannot be used are refused as by the search."""
    reference, plan = job.recipe.reference, job.plans[0]
    if isinstance(reference, SpreadSample):
        raise InputError("uncertainties are learned from a reference in memory: read it with read_sample")
    left = match_uncertainties(usable(uncertainties, plan), reference)
    if not left:
        return Learning((), 0.0, 0.0)
    if job.recipe.data is not None:  # without data they are learned, but nothing is profiled
        check_usable(plan)
    words = tuple((one.name, described(one, reference)) for one in left)
    samples = [side for one in left if isinstance(one, Shifted) for side in (one.up, one.down) if side is not None]
    by_weights = sum(isinstance(one, Weights | Process) for one in left)
    shifted = sum(isinstance(one, Shifted) for one in left)
    if not by_weights and not shifted:
        return Learning(words, 0.0, 0.0)
    rng = np.random.default_rng(plan.seed)
    functions = Smooth.choose(reference.features, plan.units, rng=rng, memory=job.memory).number
    events = len(reference) * (by_weights + shifted) + sum(map(len, samples))
    stored = len(reference) + max(map(len, samples), default=0)
    return Learning(words, _KERNEL_VALUES * events * functions, min(4.0 * stored * functions, job.memory / 2))


def described(one: Uncertainty, reference: Sample) -> str:
    """What an uncertainty is, in words.

    >>> described(Normalisation("lumi", 0.03), Sample.of([1.0, 2.0]))
    'normalisation, 3 %'
    """
    if isinstance(one, Normalisation):
        return f"normalisation, {100 * one.size:.3g} %"
    nominal = weights_of(reference)
    if isinstance(one, Process):
        share = float((nominal * one.label).sum() / nominal.sum())
        return f"a process with {100 * share:.3g} % of the yield, known to {100 * one.size:.3g} %"
    if isinstance(one, Weights):
        changes = [side.sum() / nominal.sum() for side in (one.up, one.down) if side is not None]
        return f"event weights, yield {_changes(changes)}"
    if isinstance(one, Shifted):
        sides = [(s, y) for s, y in ((one.up, one.up_yield), (one.down, one.down_yield)) if s is not None]
        yields = [s.total_weight / reference.total_weight if y is None else y for s, y in sides]
        return f"samples of {' and '.join(count(len(s), 'event') for s, _ in sides)}, yield {_changes(yields)}"
    return "a known function"


def _changes(yields: Sequence[float]) -> str:
    """The changes of a yield up and down, in per cent."""
    both = " and ".join(f"{100 * (x - 1):+.2f} %" for x in yields)
    return both if len(yields) > 1 else f"{both}, mirrored"
