"""The outcome of a search in one sentence, and what its p-value means."""

from __future__ import annotations

import math

import numpy as np

from lanner._util.text import count, joined
from lanner.inference.null import LEAST_TOYS
from lanner.inference.significance import supported_z
from lanner.report.text.words import as_extreme, empirical_p, empirical_z, equation, p_value, z_score
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult

_HOW_TOYS_ARE_MADE = {
    "reference": "The toys take the reference sample as the truth: systematic uncertainties of the reference model are "
    "not in the p-value, and it holds as far as the reference sample is large beside the data.",
    "permutation": "The toys are relabellings of reference and data together, which is right for a reference of any "
    "size; systematic uncertainties of the reference model are not in the p-value.",
    "generator": "The toys' reference and data are both generated anew from the reference model as it is programmed, "
    "so systematic uncertainties of that model are not in the p-value.",
}


def verdict(result: SearchResult) -> str:
    """The outcome in one sentence."""
    p, (name, law) = result.empirical, result.beyond or ("", None)
    numbers = f"{equation('p', empirical_p(p))}, {equation('Z', empirical_z(p))}"
    if p.is_bound:
        beyond = _why_no_law(result) if law is None else f"the {name} extrapolates to {equation('Z', law_z(law))}"
        numbers += f": {as_extreme(p)}; {beyond}"
    if result.plan.null == "reference":
        # The ratio's is what the reference of one fit is worth, a part of the whole.
        worth = result.ratio.reference_worth * result.reference_total / result.plan.reference_size
        supported = supported_z(worth / result.plan.expected)
        if p.z_score > supported:
            numbers += f"; beyond {supported:g} sigma it is limited by the size of the reference"
    if result.plan.fixed is not None:
        numbers += "; only the shape was tested"
    if p.z_score >= 3 or (p.is_bound and law is not None and law.z_score >= 3):
        outcome = "The data depart from the reference"
    elif p.is_bound and result.statistic > _far_beyond_toys(result):
        outcome = "The data depart from the reference, far beyond all toys"
    elif p.z_score >= 2:
        outcome = "There is a hint that the data depart from the reference"
    elif p.is_bound:
        outcome = "No toy is as extreme as the data, but there are too few toys to say how significant that is"
    else:
        outcome = "The data are compatible with the reference"
    return f"{outcome} ({numbers})."


def law_z(law: Extrapolation) -> str:
    """Z by a law that extrapolates, with its error if it has one, or the limit of what the law can say."""
    z = z_score(law.z_score) if law.z_error is None else f"{z_score(law.z_score, 1)} ± {z_score(law.z_error, 1)}"
    return f"> {z}" if law.is_bound else z


def meaning(result: SearchResult) -> tuple[str, ...]:
    """What the p-value means and what it does not, in five remarks; and in a sixth that it was looked at before."""
    p = result.empirical
    formula = "k/n, because toys were made until k of n were" if p.sequential else "(k + 1)/(n + 1) for k of n toys"
    return (
        "The p-value is the chance that data which follow the reference model give a test statistic at least as large "
        f"as the one observed; {as_extreme(p)}, and p is {formula}.",
        "It is not the chance that the reference model is true, and a small one says that the data as a whole depart "
        "from the reference, not why: a mismodelled reference and a new signal look alike.",
        "It accounts for having looked everywhere in the given features. It does not account for settings or "
        "selections chosen after looking at these data, nor for repeated searches.",
        _how_toys_are_made(result),
        f"With {count(p.toys, 'toy')} the p-value cannot be below {p_value(1 / (p.toys + 1))}; smaller ones are marked "
        "as extrapolations and rest on a law that no toy has tested so far out.",
        *((earlier_looks(result),) if result.looks else ()),
    )


def _how_toys_are_made(result: SearchResult) -> str:
    if not result.nuisances:
        return _HOW_TOYS_ARE_MADE[result.null.kind]
    names = joined([nuisance.name for nuisance in result.nuisances])
    return (
        f"The p-value takes systematic uncertainties of the reference into account ({names}), as far as their "
        "variations describe them: they are fitted to the data, toys are drawn at what fits best, and every toy has a "
        "fit of its own. Other uncertainties of the reference model are not in it, and it holds as far as the "
        "reference sample is large beside the data."
    )


def earlier_looks(result: SearchResult) -> str:
    """What it does to a p-value that the folder held results with fewer toys before."""
    *others, last = (str(toys) for toys in result.looks)
    numbers = f"{', '.join(others)} and {last}" if others else last
    return (
        f"This folder held {'results' if others else 'a result'} with {numbers} toys before: if toys were added "
        "because of what was seen, the p-value is smaller than it should be; decide on their number beforehand, or let "
        "until_z decide when to stop."
    )


def _why_no_law(result: SearchResult) -> str:
    null = result.null
    few = null.tail is None if null.analytic is None else len(null) < LEAST_TOYS
    return "more toys are needed to say how small p is" if few else "no law that agrees with the toys goes beyond them"


def _far_beyond_toys(result: SearchResult) -> float:
    """As far above the highest toy as that is above their median."""
    finite = result.null.statistics[np.isfinite(result.null.statistics)]
    return float(2 * finite.max() - np.median(finite)) if finite.size else math.inf
