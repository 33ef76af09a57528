"""Standard departures, and that their toys are judged as null toys are."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanner.comparison.departures import Added, DeparturePool, Shift, ShiftedToys, Standard, pools
from lanner.events import Sample
from lanner.inference.resampling import ReferenceScheme
from lanner.run.prepare import Job, prepare
from lanner.settings import FitSettings


def job(*, events: int = 5000, weights: bool = False, **settings: Any) -> Job:
    rng = np.random.default_rng(1)
    w = rng.uniform(0.5, 1.0, events) if weights else None
    reference = Sample(np.column_stack([rng.exponential(size=events), rng.poisson(2, events)]), ("x", "n"), w)
    return prepare(reference, expected=150, settings=FitSettings(seed=1, null="reference", **settings))


def standard_of(made: Job) -> Standard:
    return Standard.of(made.plans[0], made.recipe.reference)


@pytest.mark.parametrize(
    "made",
    [job(), job(events=50_000), job(weights=True), job(width=1.0, penalty=1e-4)],
    ids=["events", "bunches", "weights", "fits"],
)
def test_a_shift_by_nothing_is_a_null_toy(made: Job) -> None:
    plan, reference = made.plans[0], made.recipe.reference
    still = Shift("x shifted", "not at all", 0, 0.0)
    pool = DeparturePool.of(plan, reference, (), (), (still, still), 3)
    scheme = pool.scheme if pool.is_dealt else None
    ladder = replace(made.recipe, data=pool.events, as_one=False, scheme=scheme).prepare(made.memory)
    drawn_by = ladder.first.scheme
    assert isinstance(drawn_by, ReferenceScheme)
    for one in pool.departures:
        assert isinstance(one, ShiftedToys)
        moved = [one.draw(drawn_by, i) for i in range(3)]
        null = [drawn_by.toy(3 * 10**9 + i) for i in range(3)]
        pairs = zip(ladder.plans, ladder.fit(moved), ladder.fit(null), strict=False)  # terms come after
        for plan, found, expected in pairs:
            # At finer widths it is seen that a centre's own copy is not held back as the centre is.
            if plan.width == max(p.width for p in ladder.plans):
                np.testing.assert_allclose(found.statistic, expected.statistic, rtol=2e-3)


def test_a_shift_moves_one_feature_and_no_value_that_stands_for_none() -> None:
    events = np.array([[1.0, 2.0], [-999.0, 3.0]])
    moved = Shift("x shifted", "", 0, 0.5, (-999.0,)).moved(events)
    assert moved.tolist() == [[1.5, 2.0], [-999.0, 3.0]]
    assert events[0, 0] == 1.0


def test_whole_numbers_are_not_shifted() -> None:
    standard = standard_of(job())
    assert [shift.name for shift in standard.shifts] == ["x shifted"]
    assert standard.unmoved == ("n",)


def test_a_shift_is_five_standard_errors_of_the_mean_in_units_of_the_spread() -> None:
    made = job()
    low, high = np.quantile(made.recipe.reference.features[:, 0], [0.158655, 0.841345])
    assert standard_of(made).shifts[0].by == pytest.approx(5 / 150**0.5 * (high - low) / 2)


def test_more_and_fewer_events_are_five_standard_deviations_of_their_number() -> None:
    made = job(events=20_000)
    pool = next(pools(standard_of(made), (), experiments=40, room=10**6))
    sizes = {one.name: np.mean([one.draw(pool.scheme, i).data_size for i in range(100)]) for one in pool.departures[:2]}
    assert sizes["more events"] == pytest.approx(150 + 5 * 150**0.5, abs=4)
    assert sizes["fewer events"] == pytest.approx(150 - 5 * 150**0.5, abs=4)


def test_the_events_of_a_cluster_are_near_to_each_other_and_of_the_reference() -> None:
    made = job(events=20_000)
    (cluster,) = standard_of(made).clusters
    reference = {tuple(row) for row in made.recipe.reference.features}
    assert {tuple(row) for row in cluster.events} <= reference
    units = made.plans[0].units
    everywhere = units.apply(made.recipe.reference.features).std(axis=0).max()
    for place in cluster.places:
        assert units.apply(cluster.events[place.start : place.stop]).std(axis=0).max() < 0.5 * everywhere


def test_toys_with_a_signal_have_its_events_beside_their_own() -> None:
    made = job(events=20_000)
    signal = Added("signal", "", 30.0, np.full((200, 2), 9.0), (range(200),))
    pool = next(pools(standard_of(made), (signal,), experiments=20, room=10**6))
    found = next(one for one in pool.departures if one.name == "signal")
    numbers = []
    for i in range(60):
        draw = found.draw(pool.scheme, i)
        events = pool.scheme.bunches.events_of(draw.data)
        beside = events[events >= 20_000] - 20_000
        assert (pool.events.features[beside] == 9.0).all()
        numbers.append(len(beside))
    assert np.mean(numbers) == pytest.approx(30, abs=4)
