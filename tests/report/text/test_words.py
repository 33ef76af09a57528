import pytest

from lanner._util.text import deviation_in_words
from lanner.inference.significance import EmpiricalP
from lanner.report.text.words import deviations, empirical_p, empirical_z, number, p_value, z_score


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"),
        (2000.0, "2000"),
        (-0.5, "−0.5"),
        (1e-300, "1 × 10⁻³⁰⁰"),
        (float("inf"), "∞"),
        (1234567.0, "1230000"),
    ],
)
def test_numbers_read_well(x: float, text: str) -> None:
    assert number(x) == text


def test_a_p_value_is_never_nothing() -> None:
    assert p_value(0.0) == "< 10⁻³⁰⁰"
    assert z_score(float("-inf")) == "−∞"


def test_nothing_has_no_sign() -> None:
    assert (z_score(-0.0), z_score(-0.004), z_score(-0.006)) == ("0.00", "0.00", "−0.01")


@pytest.mark.parametrize("toys", [9, 60, 99, 100, 667, 12_345])
def test_a_bound_holds_after_rounding(toys: int) -> None:
    p = EmpiricalP(0, toys)
    assert float(empirical_p(p).removeprefix("≤ ").replace(" × 10⁻⁵", "e-5")) >= p.p_value * (1 - 1e-12)
    assert float(empirical_z(p).removeprefix("≥ ")) <= p.z_score
    assert not empirical_p(EmpiricalP(1, toys)).startswith("≤")


def test_deviations_are_told_as_events_not_as_logarithms() -> None:
    assert deviations([0.2, 0.7, 2.0, 0.7]) == "20 %, a factor 2, a factor 7"
    assert [deviation_in_words(x) for x in (0.01, 0.05, 0.4)] == ["1 %", "5 %", "50 %"]
