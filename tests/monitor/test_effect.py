"""The size of a departure, against closed forms."""

import numpy as np
import pytest

import lanner
from lanner.monitor.effect import LEVEL, Effect, effect_of, place_of
from lanner.monitor.yardstick import Yardstick
from lanner.settings import FitSettings
from lanner.typing import Array
from tests.monitor.conftest import MEMORY

BATCH, N = 400, 1500
SHIFT = 0.3  # of a normal column: r = exp(shift x - shift^2 / 2), and E[(r - 1)^2] = exp(shift^2) - 1
TRUTH = float(np.expm1(SHIFT**2)) ** 0.5


@pytest.fixture(scope="module")
def yardstick() -> Yardstick:
    x = np.random.default_rng(1).standard_normal((40_000, 1))
    made, _ = Yardstick.of(
        lanner.Sample.of(x, names=["x"]), batch=BATCH, largest=4 * BATCH, settings=FitSettings(), memory=MEMORY
    )
    return made


def effects(yardstick: Yardstick, shift: float, number: int = 150) -> list[Effect]:
    rng = np.random.default_rng(2)
    made = (yardstick.read(yardstick.sums(shift + rng.standard_normal((N, 1)))[None])[0] for _ in range(number))
    return [effect_of(yardstick, r, BATCH) for r in made]


def test_it_is_that_of_a_shift_in_closed_form(yardstick: Yardstick) -> None:
    square = np.mean([e.size**2 for e in effects(yardstick, SHIFT)])
    # What a typical batch cannot tell from 0 is left out, so it is rather less.
    assert 0.85 * TRUTH**2 < square < 1.05 * TRUTH**2


def test_on_average_it_does_not_depend_on_the_number_of_events(yardstick: Yardstick) -> None:
    rng = np.random.default_rng(3)
    square: dict[int, float] = {}
    for n in (300, 3000):
        batches = (SHIFT + rng.standard_normal((n, 1)) for _ in range(200))
        found = [effect_of(yardstick, yardstick.read(yardstick.sums(b)[None])[0], BATCH) for b in batches]
        square[n] = float(np.mean([e.size**2 for e in found]))
    assert square[300] == pytest.approx(square[3000], rel=0.06)


def test_the_interval_holds_the_truth_as_often_as_it_says(yardstick: Yardstick) -> None:
    found = effects(yardstick, SHIFT, 300)
    truth = np.mean([e.size**2 for e in found]) ** 0.5
    inside = np.mean([e.low <= truth <= e.high for e in found])
    assert inside == pytest.approx(LEVEL, abs=0.06)


def test_where_nothing_departs_the_interval_reaches_zero(yardstick: Yardstick) -> None:
    found = effects(yardstick, 0.0)
    assert np.mean([e.low == 0 for e in found]) > 0.9
    assert np.median([e.size for e in found]) < 0.5 * TRUTH


def reading(yardstick: Yardstick, batch: Array) -> Array:
    return yardstick.read(yardstick.sums(batch)[None])[0]


def test_the_place_of_a_peak_is_found_with_its_events(yardstick: Yardstick) -> None:
    batch = np.random.default_rng(4).standard_normal((N, 1))
    batch[:150] = 1.0 + 0.05 * batch[:150]
    place = place_of(yardstick, reading(yardstick, batch))
    assert place.values["x"] == pytest.approx(1.0, abs=0.5)
    assert place.z_score > 4
    assert place.observed > place.expected
    k = np.exp(-0.5 * ((batch[:, 0] - place.values["x"]) / yardstick.units.scale[0] / place.width) ** 2)
    assert place.observed == pytest.approx(k.sum(), rel=1e-3)


def test_a_hole_is_a_deficit(yardstick: Yardstick) -> None:
    batch = np.random.default_rng(4).standard_normal((3 * N, 1))
    place = place_of(yardstick, reading(yardstick, batch[np.abs(batch[:, 0]) > 0.4]))
    assert place.z_score != 0
    assert (place.z_score < -4) == (place.observed < place.expected)


def test_plain_json(yardstick: Yardstick) -> None:
    place = place_of(yardstick, reading(yardstick, np.zeros((20, 1)))).to_dict()
    assert set(place) == {"width", "z_score", "observed", "expected", "values"}
    assert Effect(0.1, 0.0, 0.2).to_dict() == {"size": 0.1, "low": 0.0, "high": 0.2}
