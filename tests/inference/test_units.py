"""What is said of the units of a search."""

from __future__ import annotations

import numpy as np
import pytest

from lanner.events import Sample
from lanner.events.missing import ABSENT
from lanner.inference.units import learn_units, said_of_units
from lanner.settings import FitSettings

RNG = np.random.default_rng(1)
PT = np.where(np.arange(2000) < 100, -999.0, RNG.exponential(40, 2000))
PHI = RNG.uniform(-np.pi, np.pi, 2000)


def said(columns: dict[str, object], **settings: object) -> list[str]:
    sample = Sample.of(columns)
    units = learn_units(sample, FitSettings(**settings))  # type: ignore[arg-type]
    return [str(one) for one in said_of_units(units, sample, "the reference")]


def test_missing_values_are_named_with_their_share() -> None:
    (found,) = said({"pt3": PT, "x": RNG.normal(size=2000)})
    assert found.startswith("missing values -999 in column 'pt3' (5.0 % of the reference): shared by many rows")


def test_objects_that_events_do_not_have_are_called_so() -> None:
    (found,) = said({"q1": np.resize([-1.0, 1.0, ABSENT], 2000), "x": RNG.normal(size=2000)})
    assert found.startswith(
        "missing values -9999999 in column 'q1' (33.3 % of the reference): events that have no such"
    )


def test_values_that_are_kept_are_not() -> None:
    assert said({"pt3": PT}, missing="keep") == []


def test_a_constant_column_is_named_with_its_value() -> None:
    (found,) = said({"x": RNG.normal(size=2000), "year": np.full(2000, 2018.0)})
    assert found.startswith("constant column 'year' (always 2018 in the reference): kept")


@pytest.mark.parametrize("scaling", ["robust", "standard", None])
def test_an_angle_is_suggested(scaling: str | None) -> None:
    (found,) = said({"phi1": PHI, "x": RNG.normal(size=2000)}, scaling=scaling)
    assert found == "periodic none: column 'phi1' looks like an angle: periodic=['phi1'] would join its ends"


def test_several_angles_are_suggested_with_their_periods() -> None:
    found = said({"phi1": PHI, "phi2": np.degrees(PHI)})
    assert found == [
        "periodic none: columns 'phi1', 'phi2' look like angles: periodic=['phi1', 'phi2=360'] would join their ends"
    ]


def test_an_angle_with_missing_values_is_suggested_too() -> None:
    assert any("periodic=['phi1']" in one for one in said({"phi1": np.where(PT < 0, -999.0, PHI)}))


def test_an_angle_that_is_named_is_not() -> None:
    assert said({"phi1": PHI}, periodic=("phi1",)) == []


def test_beside_an_angle_that_is_named_another_is_suggested() -> None:
    (found,) = said({"phi1": PHI, "phi2": PHI[::-1]}, periodic=("phi1",))
    assert found.startswith("periodic phi1: column 'phi2' looks like an angle")
