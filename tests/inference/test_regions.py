"""A region sees of every toy the events that lie in it, and nothing else."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.inference.layout import dealt_scheme, single_scheme
from lanner.inference.plan import Part, Plan, plan_one, plan_scales
from lanner.inference.regions import RegionScheme
from lanner.inference.resampling import PermutationScheme, ReferenceScheme
from lanner.model.weightings import Draw
from lanner.settings import FitSettings

N, DATA, EXPECTED = 60_000, 3000, 3000.0
REFERENCE, MEASURED = (Sample.of(np.random.default_rng(1).normal(size=(n, 2))) for n in (N, DATA))
POOL = np.vstack([REFERENCE.features, MEASURED.features])
INSIDE = POOL[:, 0] > 0.5


@cache
def planned(null: str = "reference") -> Plan:
    settings = FitSettings(null=null, statistic="score", centers=100, seed=1)
    expected = None if null == "permutation" else EXPECTED
    return plan_one(REFERENCE, MEASURED, expected=expected, settings=settings)


@cache
def whole(null: str = "reference") -> ReferenceScheme | PermutationScheme:
    found = dealt_scheme(planned(null), N, DATA)
    assert isinstance(found, ReferenceScheme | PermutationScheme)
    return found


def events_of(scheme: ReferenceScheme | PermutationScheme | RegionScheme, rows: NDArray[np.intp]) -> set[int]:
    bunches = scheme.bunches
    return set(bunches.events_of(rows).tolist()) if len(rows) else set()


@pytest.mark.parametrize("null", ["reference", "permutation"])
@pytest.mark.parametrize("which", [0, 1, 17, None])
def test_a_region_takes_of_a_draw_its_own_events(null: str, which: int | None) -> None:
    scheme = whole(null)
    region = RegionScheme.of(scheme, INSIDE, EXPECTED * 0.3)
    number = np.cumsum(INSIDE) - 1  # of an event within the region
    of_whole, own = (s.data(0) if which is None else s.toy(which) for s in (scheme, region))
    assert region.bunches.size > 1  # toys take bunches here
    for name in ("data", "left_out"):
        taken = events_of(scheme, getattr(of_whole, name))
        assert events_of(region, getattr(own, name)) == {int(number[i]) for i in taken if INSIDE[i]}
    assert own.split == of_whole.split
    assert own.data_size == len(events_of(region, own.data))


def test_regions_share_the_events_of_a_toy() -> None:
    one, other = POOL[:, 0] > 0, POOL[:, 0] < 0.5
    draws = [RegionScheme.of(whole(), inside, EXPECTED / 2).toy(3) for inside in (one, other, one & other, one | other)]
    first, second, both, either = (draw.data_size for draw in draws)
    assert first + second == both + either
    assert 0 < both < min(first, second)


def test_a_region_of_everything_is_the_whole() -> None:
    region, scheme = RegionScheme.of(whole(), np.ones(N + DATA, dtype=bool), EXPECTED), whole()
    for mine, its in ((region.toy(5), scheme.toy(5)), (region.data(1), scheme.data(1))):
        np.testing.assert_array_equal(mine.data, its.data)
        np.testing.assert_array_equal(mine.left_out, its.left_out)
        assert mine.surplus == pytest.approx(0, abs=1e-8)
    assert isinstance(scheme, ReferenceScheme)
    assert region.splits is not None
    assert scheme.splits is not None
    np.testing.assert_array_equal(region.splits.labels, scheme.splits.labels)


def test_the_reference_is_normalised_as_a_whole() -> None:
    region, scheme = RegionScheme.of(whole(), INSIDE, EXPECTED * 0.3), whole()
    draw, own = scheme.toy(4), region.toy(4)
    taken = events_of(scheme, draw.data) | events_of(scheme, draw.left_out)
    of_reference = np.setdiff1d(np.arange(N), list(taken))
    assert own.scale == pytest.approx(EXPECTED / len(of_reference))
    predicted = EXPECTED * INSIDE[of_reference].mean()
    assert own.surplus == pytest.approx(predicted - EXPECTED * 0.3)


def test_the_number_in_a_region_fluctuates_as_that_of_independent_samples() -> None:
    # Of Poisson data and N0 other events: Var = N f + N^2 f (1 - f) / N0, where the region has a part f of N.
    f = float(INSIDE[:N].mean())
    region = RegionScheme.of(whole(), INSIDE, EXPECTED * f)
    toys = [region.toy(i) for i in range(4000)]
    number = np.array([toy.data_size - toy.surplus for toy in toys])
    variance = EXPECTED * f + EXPECTED**2 * f * (1 - f) / planned().reference_size
    assert number.mean() == pytest.approx(EXPECTED * f, abs=4 * (variance / 4000) ** 0.5)
    assert number.var() == pytest.approx(variance, rel=4 * (2 / 4000) ** 0.5)


def test_weighted_events_stay_what_they_weigh() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(6000, 1)), rng.uniform(0.2, 1.0, 6000)
    sample, data = Sample.of(x, weights=w), Sample.of(rng.normal(size=(60, 1)))
    settings = FitSettings(null="reference", statistic="score", centers=50, seed=1)
    plan = plan_one(sample, data, expected=60.0, settings=settings)
    scheme = single_scheme(plan, sample, 60)
    assert isinstance(scheme, ReferenceScheme)
    inside = np.concatenate([x[:, 0] > 0, data.features[:, 0] > 0])
    region = RegionScheme.of(scheme, inside, 30.0)
    assert region.bunches.are_events
    assert region.bunches.weights is not None
    np.testing.assert_array_equal(region.bunches.weights[: region.bunches.drawn], w[inside[:6000]])
    draw = scheme.toy(0)
    out = np.concatenate([draw.data, draw.left_out])
    assert region.toy(0).scale == pytest.approx(60 / np.delete(w, out).sum())


def test_a_part_is_planned_as_a_search_of_its_events_but_for_what_its_toys_decide() -> None:
    inside = REFERENCE.take(INSIDE[:N])
    settings = FitSettings(null="reference", statistic="score", seed=1)
    share = len(inside) / N
    found = plan_scales(
        inside, MEASURED.take(INSIDE[N:]), expected=EXPECTED * share, settings=settings, part=Part(planned(), share)
    )
    alone = plan_scales(inside, MEASURED.take(INSIDE[N:]), expected=EXPECTED * share, settings=settings)
    assert [plan.width for plan in found] == [plan.width for plan in alone]
    assert found[0].units.to_dict() == alone[0].units.to_dict()
    assert (found[0].bunch, found[0].moment_blocks) == (planned().bunch, planned().moment_blocks)
    assert found[0].reference_size == round(share * planned().reference_size)
    assert isinstance(RegionScheme.of(whole(), INSIDE, 1.0).data(0), Draw)
