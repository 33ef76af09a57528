"""Declared uncertainties beside the reference: what fits it, what does nothing and is left out, what is refused."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from lanner._util.text import count, listed
from lanner.errors import InputError, UncertaintyWarning
from lanner.events import Sample, match_columns
from lanner.typing import Array
from lanner.uncertainties.checks import MOST, same
from lanner.uncertainties.declared import Normalisation, Process, Shifted, Uncertainty, Weights
from lanner.uncertainties.effects import KnownRatio

_LEAST = 100  # events of which a ratio can be learned
_OVERLAP, _BINS = 0.05, 20  # the least share of events in common, in bins of each feature
_TRIED = 256  # events on which a known function is tried
_CENTRAL = 1e-9  # what log r may be at nu = 0


def match_uncertainties(uncertainties: Iterable[Uncertainty], reference: Sample) -> list[Uncertainty]:
    """The uncertainties that do something, with their columns in the order of the reference, or an `InputError`."""
    given = list(uncertainties)
    for one in given:
        if not isinstance(one, Uncertainty):
            raise InputError(f"{one!r} is no uncertainty: give Normalisation, Weights, Shifted, Process or KnownRatio")
    twice = [name for name, times in Counter(one.name for one in given).items() if times > 1]
    if twice:
        raise InputError(f"more than one uncertainty is called {listed(twice)}: give each a name of its own")
    found: list[Uncertainty] = []
    for one in given:
        if isinstance(one, Normalisation | Process) and one.size == 0:
            _leave_out(one.name, "has the size 0")
        elif isinstance(one, Weights):
            found += _weights(one, reference)
        elif isinstance(one, Shifted):
            found += _shifted(one, reference)
        elif isinstance(one, Process):
            found.append(_process(one, reference))
        else:
            if isinstance(one, KnownRatio):
                _try_out(one, reference)
            found.append(one)
    return found


def weights_of(sample: Sample) -> Array:
    """The weights of a sample's events, 1 each where there are none, and their local mean where some are negative."""
    return np.ones(len(sample)) if sample.draws_by is None else sample.draws_by


def own_weights(sample: Sample) -> Array:
    """The weights of a sample's events as they are, of either sign, 1 each where there are none.

    Which part of the weight at x a process has, or a variation, only these tell: the local mean gives all events there
    the same weight, whatever the weight of an event of each process is.
    """
    return np.ones(len(sample)) if sample.weights is None else sample.weights


def _leave_out(name: str, why: str) -> None:
    warnings.warn(f"the uncertainty {name!r} {why}: it is left out", UncertaintyWarning, stacklevel=5)


def _weights(one: Weights, reference: Sample) -> list[Uncertainty]:
    if one.columns:
        raise InputError(f"the weights of {one.name!r} are columns, {listed(one.columns)}: look them up with resolved")
    _check_length(len(one.up), reference, f"weights of {one.name!r}")
    nominal = own_weights(reference)
    for direction, varied in (("up", one.up), ("down", one.down)):
        if varied is None:
            continue
        ratio = float(varied.sum() / nominal.sum())
        if not 1 / (1 + MOST) <= ratio <= 1 + MOST:
            raise InputError(
                f"the weights {direction} of {one.name!r} add up to {ratio:.3g} times the reference's: give whole "
                "weights of events, not factors, in the units of the reference's own; multiply factors by these"
            )
    return _two_sided(one, nominal)


def _shifted(one: Shifted, reference: Sample) -> list[Uncertainty]:
    matched: dict[str, Any] = {}
    for direction in ("up", "down"):
        sample: Sample | None = getattr(one, direction)
        if sample is None:
            continue
        what = f"the sample {direction} of {one.name!r}"
        sample = match_columns(reference, sample, labels=("the reference", what))
        if len(sample) < _LEAST:
            raise InputError(f"{what} has {count(len(sample), 'event')}: give at least {_LEAST}, better a million")
        ratio = sample.total_weight / reference.total_weight
        change = getattr(one, f"{direction}_yield")
        if change is None and not 1 / (1 + MOST) <= ratio <= 1 + MOST:
            raise InputError(
                f"{what} weighs {ratio:.3g} times the reference, so the two are not at equal luminosity: give weights "
                f"that are, or the change of the yield, such as {direction}_yield=1 for none"
            )
        _check_overlap(sample, reference, what)
        matched[direction] = sample
        matched[f"{direction}_yield"] = ratio if change is None else change
    return _two_sided(replace(one, **matched), reference.take(slice(None)))


def _two_sided(one: Weights | Shifted, nominal: Any) -> list[Uncertainty]:
    """The variation with both sides, with one where it is one-sided, or nothing where there is no variation."""
    sides = [side for side in (one.up, one.down) if side is not None]
    if all(same(side, nominal) for side in sides) and not _changes_yield(one):
        _leave_out(one.name, "has variations that are the reference itself")
        return []
    if one.one_sided:
        return [replace(one, down=None, down_yield=None) if isinstance(one, Shifted) else replace(one, down=None)]
    if len(sides) == 2 and same(*sides):
        raise InputError(
            f"the variations up and down of {one.name!r} are the same: correct one of them, or, if there is only one, "
            "leave out that down"
        )
    return [one]


def _changes_yield(one: Weights | Shifted) -> bool:
    changes = (one.up_yield, one.down_yield) if isinstance(one, Shifted) else ()
    return any(change is not None and abs(change - 1) > 1e-9 for change in changes)


def _process(one: Process, reference: Sample) -> Uncertainty:
    if one.columns:
        raise InputError(f"the label of {one.name!r} is a column, {listed(one.columns)}: look it up with resolved")
    _check_length(len(one.label), reference, f"label of {one.name!r}")
    # A process that is all of the reference is a normalisation: nothing has to be learned.
    return Normalisation(one.name, one.size) if one.label.all() else one


def _try_out(one: KnownRatio, reference: Sample) -> None:
    some = reference.features[:_TRIED]
    for nu in (0.0, 1.0, -1.0):
        try:
            values = np.asarray(one.function(some, nu), dtype=np.float64)
        except (TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"the function of {one.name!r} fails for {len(some)} events of {reference.dimensions} features at nu = "
                f"{nu:g} ({error}): it takes features, (events, features), and nu"
            ) from error
        if values.shape != (len(some),) or not np.isfinite(values).all():
            raise InputError(
                f"the function of {one.name!r} returns an array of shape {values.shape} for {len(some)} events, or "
                "values that are not finite: it has to return log r of each event"
            )
        if nu == 0 and np.abs(values).max() > _CENTRAL:
            raise InputError(
                f"the function of {one.name!r} is up to {np.abs(values).max():.3g} at nu = 0: log r has to be 0 there; "
                "give the logarithm of the ratio to the reference"
            )


def _check_length(length: int, reference: Sample, what: str) -> None:
    if length != len(reference):
        raise InputError(
            f"the {what} are for {count(length, 'event')}, the reference has {len(reference)}: give one number for "
            "each event of the reference, in its order"
        )


def _check_overlap(sample: Sample, reference: Sample, what: str) -> None:
    """Refuse a sample that is somewhere else than the reference in one of the features."""
    nominal, varied = weights_of(reference), weights_of(sample)
    for j, name in enumerate(reference.names):
        edges = np.unique(np.quantile(reference.features[:, j], np.linspace(0, 1, _BINS + 1)))
        shares = []
        for values, weights in ((reference.features[:, j], nominal), (sample.features[:, j], varied)):
            bins = np.searchsorted(edges, values, side="right") - (values == edges[-1])
            shares.append(np.bincount(bins, weights, minlength=len(edges) + 1) / weights.sum())
        if float(np.minimum(*shares).sum()) < _OVERLAP:
            raise InputError(
                f"{what} hardly overlaps with the reference in {name!r}, of which it has the values "
                f"{sample.features[:, j].min():.4g} to {sample.features[:, j].max():.4g}: check its units and selection"
            )
