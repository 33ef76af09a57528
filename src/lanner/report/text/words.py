"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lanner._util.text import deviation_in_words
from lanner.inference.significance import EmpiricalP

_NO_EXCESS = -2.0  # of a Z that is one of many, below which its size means nothing
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


def z_score(z: float, digits: int = 2) -> str:
    """A Z, by default with two decimals."""
    return f"{z:z.{digits}f}".replace("-", "−") if math.isfinite(z) else number(z)


def local_z(z: float) -> str:
    """Z of a scale or term by itself; one far below 0 is only very good agreement, whatever its number.

    >>> local_z(1.234), local_z(-0.4), local_z(-8.22)
    ('1.23', '−0.40', 'no excess')
    """
    return "no excess" if z < _NO_EXCESS else z_score(z)


def with_error(value: float, error: float) -> str:
    """A value and its error, both to the second digit of the error.

    >>> with_error(7.57, 3.82), with_error(130.6, 15.14), with_error(31.29, 0.0)
    ('7.6 ± 3.8', '131 ± 15', '31.29 ± 0.00')
    """
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 2
    return f"{z_score(value, digits)} ± {z_score(error, digits)}"


def empirical_p(p: EmpiricalP) -> str:
    """The p-value of toys; where none is as extreme as the data a bound, rounded so that it holds.

    >>> empirical_p(EmpiricalP(6, 220)), empirical_p(EmpiricalP(0, 667)), empirical_p(EmpiricalP(0, 60))
    ('0.032', '≤ 0.0015', '≤ 0.017')
    """
    if not p.is_bound:
        return p_value(p.p_value)
    step = 10.0 ** (math.floor(math.log10(p.p_value)) - 1)
    return f"≤ {p_value(math.ceil(p.p_value / step - 1e-9) * step)}"


def empirical_z(p: EmpiricalP) -> str:
    """Z of that p-value; where no toy is as extreme as the data a bound, rounded so that it holds.

    >>> empirical_z(EmpiricalP(6, 220)), empirical_z(EmpiricalP(0, 667)), empirical_z(EmpiricalP(300, 300))
    ('1.86', '≥ 2.96', '≤ −2.71')
    """
    if p.is_all:
        return f"≤ {z_score(math.ceil(100 * p.z_score) / 100)}"
    return f"≥ {z_score(math.floor(100 * p.z_score) / 100)}" if p.is_bound else z_score(p.z_score)


def as_extreme(p: EmpiricalP) -> str:
    """How many toys are at least as extreme as the data.

    >>> as_extreme(EmpiricalP(0, 667)), as_extreme(EmpiricalP(1, 20))
    ('none of 667 toys is as extreme', '1 of 20 toys is as extreme')
    """
    number_of = "none" if p.exceedances == 0 else str(p.exceedances)
    return f"{number_of} of {p.toys} toys {'is' if p.exceedances < 2 else 'are'} as extreme"


def equation(name: str, value: str) -> str:
    """A name and its value, which may be a bound.

    >>> equation("p", "0.032"), equation("p", "≤ 0.0015")
    ('p = 0.032', 'p ≤ 0.0015')
    """
    return f"{name} {value}" if value[0] in "<>≤≥" else f"{name} = {value}"


def deviations(sizes: Iterable[float]) -> str:
    """Different deviations in the order of their size.

    >>> deviations([2.0, 0.2, 2.0])
    '20 %, a factor 7'
    """
    return ", ".join(dict.fromkeys(deviation_in_words(size) for size in sorted(sizes)))


def capitalise(sentence: str) -> str:
    """The sentence with a capital at its beginning, and nothing else changed.

    >>> capitalise("all of ttH close")
    'All of ttH close'
    """
    return sentence[:1].upper() + sentence[1:]
