"""Uncertainties of the reference in a search: which nuisances there are, where they fit the data, and what is said."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lanner.errors import InputError, NullWarning
from lanner.events.spread import SpreadSample
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import MIN_RATIO, Plan
from lanner.inference.varied_experiment import VariedPlan
from lanner.typing import Array, Progress
from lanner.uncertainties.declared import Normalisation, Process, Shifted, Uncertainty, Weights
from lanner.uncertainties.effects import KnownRatio
from lanner.uncertainties.learn import Learned, learn
from lanner.uncertainties.matching import match_uncertainties
from lanner.uncertainties.profile import Profile

_KINDS: dict[type, str] = {
    Normalisation: "normalisation",
    Weights: "weights",
    Shifted: "samples",
    Process: "process",
    KnownRatio: "known ratio",
}


@dataclass(frozen=True)
class Nuisance:
    """What was found of one nuisance parameter.

    Parameters
    ----------
    name : str
        What the uncertainty is called.
    value : float
        The value that fits the data best without any departure, in units of the uncertainty: the pull.
    error : float
        What is left of the uncertainty: 1 where the data say nothing about it.
    kind : str, default ""
        How it was given: "normalisation", "weights", "samples", "process" or "known ratio".
    resemblance : float or None, default None
        How much the departure that was learned looks like this nuisance: a cosine, 1 where it is as if the nuisance
        had moved up, -1 as if down, 0 where the two have nothing in common.
    resemblance_of_toys : float or None, default None
        What the size of that cosine stays below in 95 % of the null toys.
    """

    name: str
    value: float
    error: float
    kind: str = ""
    resemblance: float | None = None
    resemblance_of_toys: float | None = None

    def __str__(self) -> str:
        """In words.

        >>> str(Nuisance("jes", 0.634, 0.4))
        'jes +0.63 ± 0.40'
        """
        return f"{self.name} {self.value:+.2f} ± {self.error:.2f}"


def nuisances_of(found: VariedPlan | None, uncertainties: Sequence[Uncertainty] = ()) -> tuple[Nuisance, ...]:
    """What was found of each, and how it was given."""
    if found is None:
        return ()
    kinds = {one.name: _KINDS[type(one)] for one in uncertainties}
    plain = nuisances_at(found.nuisances.names, found.profile.nu, found.profile.errors)
    return tuple(replace(one, kind=kinds.get(one.name, "")) for one in plain)


def nuisances_at(names: Sequence[str], nu: Array, errors: Array) -> tuple[Nuisance, ...]:
    """Values and errors by name."""
    return tuple(Nuisance(n, float(x), float(e)) for n, x, e in zip(names, nu, errors, strict=True))


def learned_for(
    recipe: Recipe, uncertainties: Sequence[Uncertainty], *, memory: int, progress: Progress | None = None
) -> Learned:
    """The uncertainties of a search, learned from its reference."""
    plan = recipe.plans[0]
    if isinstance(recipe.reference, SpreadSample):
        raise InputError(
            "uncertainties are learned from a reference in memory: read it with read_sample, or without --spread"
        )
    left = match_uncertainties(usable(uncertainties, plan), recipe.reference)
    if left:
        check_usable(plan)
    return learn(
        left,
        recipe.reference,
        expected=plan.expected,
        scaling=plan.units,
        seed=plan.seed,
        memory=memory,
        progress=progress,
    )


def with_learned(recipe: Recipe, learned: Learned) -> Recipe:
    """The recipe with nuisances that are fitted to its data."""
    plan, nuisances = recipe.plans[0], learned.nuisances
    if not len(nuisances):
        return recipe
    assert recipe.data is not None
    varied = VariedPlan.of(nuisances, plan, recipe.reference, recipe.data)
    _check_ratio(plan, recipe, varied)
    return replace(recipe, varied=varied)


def check_usable(plan: Plan) -> None:
    """Refuse uncertainties where the test cannot have them."""
    if plan.null == "permutation":
        raise InputError(
            "null='permutation' relabels reference and data, which are alike only where the reference is exact: with "
            "uncertainties give a reference that is large enough for toys of its own (20 events for each one expected)"
        )
    if plan.null == "generator":
        raise InputError("null='generator' generates the reference as it is: with uncertainties use null='reference'")
    if plan.statistic == "score" and plan.centers_barred:
        raise InputError(
            "the reference is too small for uncertainties: half of it must have room for a toy's data beside the "
            "centres; use a larger one, or fewer centers"
        )


def usable(uncertainties: Sequence[Uncertainty], plan: Plan) -> list[Uncertainty]:
    """Those that can matter: where only the shape is tested, normalisations of everything cannot."""
    if plan.fixed is None:
        return list(uncertainties)
    left: list[Uncertainty] = [one for one in uncertainties if not isinstance(one, Normalisation)]
    dropped = [one.name for one in uncertainties if isinstance(one, Normalisation)]
    if dropped:
        warnings.warn(
            f"only the shape is tested, so the normalisation{'s' if len(dropped) > 1 else ''} {', '.join(dropped)} "
            "cannot matter and is left out",
            NullWarning,
            stacklevel=5,
        )
    return left


def _check_ratio(plan: Plan, recipe: Recipe, varied: VariedPlan) -> None:
    """Warn where hit-or-miss at the fitted nuisances leaves too few events for toys."""
    at_nu = varied.reference(plan, recipe.reference)
    left = float(np.count_nonzero(at_nu.accepted | at_nu.heavy))
    predicted = plan.expected * (1.0 if plan.fixed is not None else at_nu.growth)
    if left < MIN_RATIO * predicted:
        warnings.warn(
            f"at the nuisance parameters that fit the data best {left:.0f} reference events are left to draw toys from "
            f"for {predicted:.0f} expected: with fewer than {MIN_RATIO:g} times as many, small p-values come out too "
            "small; use a larger reference",
            NullWarning,
            stacklevel=5,
        )


def digest_of(found: VariedPlan | None) -> str:
    """A digest of the nuisances and where they were fitted, which toys depend on."""
    if found is None:
        return ""
    fit: Profile = found.profile
    text = f"{found.nuisances.names} {fit.nu.tolist()} {found.auxiliary.tolist()} {fit.expected!r} {fit.delta!r}"
    return hashlib.sha256(text.encode()).hexdigest()
