"""Systematic uncertainties in words and tables: which are in the p-value, what they cost, what looks like them."""

from __future__ import annotations

from lanner._util.text import LISTED, Rows, count, joined
from lanner.inference.significance import EmpiricalP
from lanner.report.text.verdict import law_z
from lanner.report.text.words import as_extreme, empirical_z, equation, p_value, z_score
from lanner.run.parts import Extrapolation
from lanner.run.result import SearchResult
from lanner.run.uncertain import Nuisance
from lanner.uncertainties.closure import Closure

_ALIKE = 0.5  # resemblance from which the departure is said to look like a nuisance


def which(result: SearchResult) -> str:
    """Which uncertainties are in the p-value, in a sentence."""
    names = [n.name for n in result.nuisances]
    if not names:
        return (
            "No systematic uncertainties were given: the reference is taken as exact, and where it is not, that counts "
            "as a departure."
        )
    words = "1 systematic uncertainty" if len(names) == 1 else f"{len(names)} systematic uncertainties"
    return f"The p-value takes {words} of the reference into account: {joined(names)}."


def fitted(result: SearchResult) -> str:
    """Where the nuisances were fitted, in a line: the largest pulls, where there are many."""
    if not result.nuisances:
        return "none: the reference is taken as exact"
    shown, more = list(result.nuisances), len(result.nuisances) - LISTED
    said = ""
    if more > 0:
        shown = sorted(shown, key=lambda n: -abs(n.value))[:LISTED]
        said = f" and {count(more, 'other')} of smaller pull"
    return ", ".join(map(str, shown)) + f"{said} (in units of each, fitted to the data without a departure)"


def cost(result: SearchResult) -> str | None:
    """Z with the uncertainties and without them; None where the second was not asked for."""
    without = result.systematics.without
    if without is None:
        return None
    law = without.extrapolation
    here = _significance(result.empirical, None if result.beyond is None else result.beyond[1])
    return f"{here} with them; {_significance(without.empirical, law)} without, where {as_extreme(without.empirical)}"


def _significance(p: EmpiricalP, law: Extrapolation | None) -> str:
    beyond = f" (extrapolates to {law_z(law)})" if p.is_bound and law is not None else ""
    return f"{equation('Z', empirical_z(p))}{beyond}"


def most_alike(result: SearchResult) -> Nuisance | None:
    """The nuisance that the departure looks most like, if that was computed."""
    known = [n for n in result.nuisances if n.resemblance is not None]
    return max(known, key=lambda n: abs(n.resemblance or 0.0), default=None)


def looks_like(result: SearchResult) -> str | None:
    """Which nuisance the departure looks like, or that it looks like none."""
    found = most_alike(result)
    if found is None or found.resemblance is None:
        return None
    usual = found.resemblance_of_toys
    toys = "" if usual is None else f"; 95 % of null toys stay below {z_score(usual)}"
    value = f"{found.name} at {z_score(found.resemblance)}{toys}"
    if abs(found.resemblance) < _ALIKE:
        return f"none of the uncertainties (most {value})"
    if usual is not None and abs(found.resemblance) <= usual:
        return f"{value}, so that means little"
    return value


def closing(result: SearchResult) -> str | None:
    """How many of the learned variations close, and which do not."""
    closures = result.systematics.closures
    if not closures:
        return None
    failing = [f"{c.name} {c.direction} (p = {p_value(c.p_value)})" for c in closures if not c.closes]
    unknown = [f"{c.name} {c.direction}" for c in closures if c.closes and not c.tells]
    if failing:
        said = f"{len(closures) - len(failing)} of {len(closures)} learned variations close, not {joined(failing)}"
    else:
        said = f"all {len(closures)} learned variations close" if len(closures) > 1 else "the learned variation closes"
    if unknown:
        said += f"; too few events to tell of {joined(unknown)}"
    return said


def rows(result: SearchResult) -> Rows:
    """The lines of a summary, beside that of the values."""
    said = (("cost of these", cost(result)), ("departure like", looks_like(result)), ("closure", closing(result)))
    return [(name, text) for name, text in said if text is not None]


def table(result: SearchResult) -> list[dict[str, str]]:
    """Each nuisance with what was found of it, the largest pull first."""
    found = []
    for n in sorted(result.nuisances, key=lambda n: -abs(n.value)):
        usual = n.resemblance_of_toys
        alike = "none" if n.resemblance is None else z_score(n.resemblance)
        found.append(
            {
                "nuisance": n.name,
                "given as": n.kind or "unknown",
                "ν̂": f"{n.value:+.2f}".replace("-", "−"),
                "error": f"{n.error:.2f}",
                "closure p up": _closure(result.systematics.closure_of(n.name), "up"),
                "closure p down": _closure(result.systematics.closure_of(n.name), "down"),
                "resemblance": alike if usual is None else f"{alike} (toys: {z_score(usual)})",
            }
        )
    return found


def _closure(closures: tuple[Closure, ...], direction: str) -> str:
    """The p-value of one variation, and a clear sign where it fails."""
    for closure in closures:
        if closure.direction == direction:
            sign = "✗ fails: " if not closure.closes else "" if closure.tells else "too few events: "
            return sign + p_value(closure.p_value)
    return "mirrored" if closures else "exact"
