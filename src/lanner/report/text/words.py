"""Numbers as people read them, and what a p-value means."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lanner.run.result import SearchResult

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(x: float | None, digits: int = 3) -> str:
    """A number to so many significant digits, without zeros at its end.

    >>> number(1.234e-9), number(0.0120), number(12345.6), number(None)
    ('1.23 × 10⁻⁹', '0.012', '12300', 'none')
    """
    if x is None:
        return "none"
    if not math.isfinite(x):
        return "not a number" if math.isnan(x) else ("∞" if x > 0 else "−∞")
    if x != 0 and not 1e-4 <= abs(x) < 1e7:
        mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa.replace('-', '−')} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    text = f"{float(f'{x:.{digits}g}'):.10f}".rstrip("0").rstrip(".")
    return text.replace("-", "−")


def aligned(x: float | None, digits: int = 3) -> str:
    """A number with exactly so many significant digits, for columns of them.

    >>> aligned(5.0), aligned(0.5), aligned(73.0, 4), aligned(1234.0), aligned(0.0)
    ('5.00', '0.500', '73.00', '1230', '0')
    """
    if x is None or x == 0 or not 1e-4 <= abs(x) < 10**digits:
        return number(x, digits)
    return f"{x:#.{digits}g}".rstrip(".").replace("-", "−")


def p_value(p: float) -> str:
    """A p-value; one below the smallest double is not 0."""
    return aligned(p, 2) if p > 0 else "< 10⁻³⁰⁰"


def z_score(z: float) -> str:
    """A Z with two decimals."""
    return f"{z:.2f}".replace("-", "−") if math.isfinite(z) else number(z)


def count(n: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "toy"), count(2, "toy")
    ('1 toy', '2 toys')
    """
    return f"{n} {noun}" + ("" if n == 1 else "s")


def listed(items: Iterable[str]) -> str:
    """Items in a row, "a, b and c"."""
    *first, last = list(items) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def meaning(result: SearchResult) -> tuple[str, ...]:
    """What the p-value means and what it does not, in five sentences."""
    n, k = result.empirical.toys, result.empirical.exceedances
    where = {
        "permutation": (
            "The toys are relabellings of reference and data together, which is right for a reference of any size; "
            "systematic uncertainties of the reference model are not in the p-value."
        ),
        "generator": (
            "The toys' reference and data are both generated anew from the reference model as it is programmed, "
            "so systematic uncertainties of that model are not in the p-value."
        ),
    }.get(
        result.null.kind,
        "The toys take the reference sample as the truth: systematic uncertainties of the reference model are not in "
        "the p-value, and it holds as far as the reference sample is large beside the data.",
    )
    formula = "k/n, because toys were made until k did" if result.empirical.sequential else "(k + 1)/(n + 1)"
    return (
        "The p-value is the chance that data which follow the reference model give a test statistic t at least as "
        f"large as the one observed; {k} of {count(n, 'toy')} do, and p is {formula}.",
        "It is not the chance that the reference model is true, and a small one says that the data as a whole depart "
        "from the reference, not why: a mismodelled reference and a new signal look alike.",
        "Wherever in the given features the departure lies, the search over it is already paid for in t; settings or "
        "selections chosen after looking at these data, and repeated searches, are not.",
        where,
        f"With {count(n, 'toy')} the p-value cannot be below {p_value(1 / (n + 1))}; smaller ones, marked as "
        "extrapolations, rest on a law that the toys do not reach.",
    )
