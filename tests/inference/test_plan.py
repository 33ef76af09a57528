import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.plan import MIN_RATIO, Plan, choose_null, needs_trials, plan_one, plan_scales, upgraded
from lanner.inference.resampling import room_for_data
from lanner.inference.scales import DEVIATIONS, deviation_of, deviations_at
from lanner.model.bunches import bunch_size
from lanner.model.loss import loss_by_name
from lanner.settings import FitSettings
from tests.conftest import exponential, shaped

R, D = (Sample.of(x) for x in exponential(4000, 100, seed=1))


def plan(reference: Sample = R, data: Sample | None = D, expected: float | None = 100.0, **settings: Any) -> Plan:
    return plan_one(
        reference, data, expected=expected, settings=FitSettings(**({"width": 0.5, "penalty": 1e-5} | settings))
    )


def test_the_room_for_a_toys_data_is_left() -> None:
    assert plan().reference_size == 4000 - room_for_data(100.0, None)


def test_the_reference_of_a_fit_can_be_smaller() -> None:
    assert plan(reference_size=1000).reference_size == 1000
    with pytest.raises(InputError, match="reference_size=3990: give from 2 to"):
        plan(reference_size=3990)


def test_a_reference_without_room_is_refused() -> None:
    with pytest.raises(InputError, match="too few are left"):
        plan(Sample(R.features[:200], R.names))


def test_hit_or_miss_takes_more_room_the_more_weights_differ() -> None:
    even, uneven = (Sample(R.features, R.names, w) for w in (np.ones(4000), np.linspace(0.5, 1.5, 4000)))
    assert plan(uneven).n_hit_or_miss > plan(even).n_hit_or_miss > 100
    assert plan().n_hit_or_miss is None


def test_toys_cannot_be_drawn_from_negative_weights() -> None:
    weights = np.ones(4000)
    weights[:3] = -1
    with pytest.raises(InputError, match="3 reference events have negative weights"):
        plan(Sample(R.features, R.names, weights))


def test_the_shape_alone_fixes_the_number_of_data() -> None:
    assert (plan(expected=None).fixed, plan(expected=None).expected) == (100, 100.0)
    assert plan().fixed is None
    with pytest.raises(InputError, match="expected=None"):
        plan(data=None, expected=None)


def test_a_permutation_learns_its_units_from_both_samples() -> None:
    found = plan(null="permutation")
    both = np.vstack([R.features, D.features])
    np.testing.assert_allclose(found.units.shift, np.median(both, axis=0))
    np.testing.assert_allclose(plan().units.shift, np.median(R.features, axis=0))


def test_weights_are_not_relabelled() -> None:
    with pytest.raises(InputError, match="the reference has event weights"):
        plan(Sample(R.features, R.names, np.ones(4000)), null="permutation")


def test_centres_come_from_the_reference_of_a_fit() -> None:
    assert plan(centers=50).centers == 50
    with pytest.raises(InputError, match="centers=4000: give from 1 to"):
        plan(centers=4000)


@pytest.mark.parametrize(("expected", "null"), [(4000 / MIN_RATIO, "reference"), (4001 / MIN_RATIO, "permutation")])
def test_a_small_reference_is_permuted(expected: float, null: str) -> None:
    found, why = choose_null(FitSettings(), R, D, expected)
    assert found == null
    assert bool(why) == (null == "permutation")


def test_a_null_that_is_given_stays() -> None:
    assert choose_null(FitSettings(null="reference"), R, D, 4000.0) == ("reference", ())


def test_without_data_nothing_can_be_permuted() -> None:
    assert choose_null(FitSettings(), R, None, 4000.0)[0] == "reference"


@pytest.mark.parametrize(
    ("settings", "trials"),
    [({}, False), ({"width": 0.5}, True), ({"width": 0.5, "penalty": 1e-6}, False),
     ({"width": 0.5, "statistic": "score"}, False)],
)  # fmt: skip
def test_trial_fits_are_for_a_penalty_that_no_rule_gives(settings: dict[str, Any], trials: bool) -> None:
    assert needs_trials(FitSettings(**settings)) == trials


@pytest.mark.parametrize("features", [1, 3])
def test_scales_are_all_pairs_of_widths_and_penalties(features: int) -> None:
    reference, data = (Sample.of(shaped(features, n, seed=n)) for n in (4000, 100))
    plans = plan_scales(reference, data, expected=100.0, settings=FitSettings())
    assert len({p.width for p in plans}) == 4
    widths, sizes = (
        sorted({p.width for p in plans}),
        [
            (p.width, round(deviation_of(p.penalty, events=p.events_per_fit, loss=loss_by_name(p.loss)), 6))
            for p in plans
        ],
    )
    assert sizes == [
        (width, size) for width in widths for size in deviations_at("score", widths, width, features=features)
    ]
    assert len(sizes) == 12 + (2 if features == 3 else 0)
    fits = plan_scales(reference, data, expected=100.0, settings=FitSettings(statistic="likelihood-ratio"))
    assert len(fits) == 4 * len(DEVIATIONS["likelihood-ratio"])


def test_what_is_given_is_the_only_scale() -> None:
    (only,) = plan_scales(R, D, expected=100.0, settings=FitSettings(width=0.5, penalty=1e-5))
    assert (only.width, only.penalty, only.statistic) == (0.5, 1e-5, "likelihood-ratio")


def test_a_plan_survives_json() -> None:
    first = plan(centers=None)
    again = Plan.from_dict(json.loads(json.dumps(first.to_dict())))
    assert again.to_dict() == first.to_dict()
    assert again.chosen == first.chosen != ()


def test_toys_do_not_depend_on_how_they_are_combined_or_on_why() -> None:
    first = plan()
    other = replace(first, combination="product", chosen=())
    assert other.toy_settings() == first.toy_settings()
    assert replace(first, seed=2).toy_settings() != first.toy_settings()


def test_a_setting_at_its_default_is_not_part_of_what_toys_depend_on() -> None:
    assert "loss" not in plan().toy_settings()
    assert plan(loss="extended").toy_settings()["loss"] == "extended"


def test_a_plan_of_the_last_format_is_still_read() -> None:
    now = plan(statistic="score").to_dict()
    new = ("moment_blocks", "centers_barred", "bunch")
    last = {k: v for k, v in now.items() if k not in new} | {"n_held_out": 750}
    again = Plan.from_dict(upgraded(last))
    assert again.to_dict() == now | {"moment_blocks": None, "centers_barred": True}


def test_toys_depend_on_the_scaling() -> None:
    assert plan(scaling="standard").toy_settings() != plan().toy_settings()


@pytest.mark.parametrize(
    ("dimensions", "centers", "blocks"), [(1, 100, 16), (2, 100, 16), (3, 100, 4), (3, 1000, 4), (3, 1001, 2)]
)
def test_moments_come_from_as_many_blocks_as_are_cheap(dimensions: int, centers: int, blocks: int) -> None:
    reference = Sample.of(np.random.default_rng(1).normal(size=(6000, dimensions)))
    found = plan(reference, statistic="score", centers=centers)
    assert (found.moment_blocks, found.centers_barred) == (blocks, False)


def test_where_half_the_reference_has_no_room_for_a_toy_the_centres_alone_give_moments() -> None:
    room = room_for_data(100.0, None)
    for centers, blocks in ((4000 - 2 * room, 16), (4000 - 2 * room + 1, 1)):
        found = plan(statistic="score", centers=centers)
        assert (found.moment_blocks, found.centers_barred) == (blocks, blocks == 1)


def test_the_default_number_of_centres_leaves_that_room() -> None:
    small = Sample(R.features[:700], R.names)
    found = plan(small, statistic="score", centers=None)
    assert found.centers <= 700 - 2 * room_for_data(100.0, None)
    assert found.moment_blocks == 16


@pytest.mark.parametrize(
    "settings", [{}, {"statistic": "score", "null": "permutation"}, {"statistic": "score", "null": "generator"}]
)
def test_fits_and_other_nulls_need_no_blocks_and_bar_their_centres(settings: dict[str, Any]) -> None:
    found = plan(**settings)
    assert (found.moment_blocks, found.centers_barred) == (None, True)


MANY = Sample.of(np.random.default_rng(3).normal(size=(65_000, 1)))  # three bunches of 20 000, and more


@pytest.mark.parametrize(("expected", "bunch"), [(3000.0, 3), (149.0, 2), (60.0, 1)])
def test_of_a_large_reference_toys_of_the_score_take_events_in_bunches(expected: float, bunch: int) -> None:
    found = plan(MANY, statistic="score", expected=expected, centers=100)
    assert found.bunch == bunch_size(65_000, expected) == bunch


def test_relabelled_events_are_dealt_with_the_data_among_them() -> None:
    data = Sample.of(np.random.default_rng(4).normal(size=(16_000, 1)))
    assert plan(MANY, data, statistic="score", expected=16_000.0, null="permutation", centers=100).bunch == 4
    assert plan(MANY, data, statistic="score", expected=16_000.0, null="reference", centers=100).bunch == 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"null": "permutation"},
        {"statistic": "score", "null": "generator"},
        {"statistic": "score", "centers": 60_000},
    ],
    ids=["fits", "permuted fits", "generator", "barred centres"],
)
def test_fits_generated_toys_and_barred_centres_need_single_events(settings: dict[str, Any]) -> None:
    assert plan(MANY, expected=3000.0, **({"centers": 100} | settings)).bunch == 1


def test_weighted_events_are_taken_one_by_one() -> None:
    weighted = Sample(MANY.features, MANY.names, np.ones(65_000))
    assert plan(weighted, statistic="score", expected=3000.0, centers=100).bunch == 1


def test_a_small_reference_is_taken_one_by_one() -> None:
    assert plan(statistic="score").bunch == 1


def test_bunches_are_part_of_what_toys_depend_on() -> None:
    made = plan(MANY, statistic="score", expected=3000.0, centers=100)
    assert replace(made, bunch=2).toy_settings() != made.toy_settings()
    assert Plan.from_dict(json.loads(json.dumps(made.to_dict()))).bunch == 3


def test_blocks_are_part_of_what_toys_depend_on() -> None:
    made = plan(statistic="score")
    assert replace(made, moment_blocks=2).toy_settings() != made.toy_settings()


def test_the_scores_features_are_as_fine_at_every_penalty() -> None:
    plans = plan_scales(R, D, expected=100.0, settings=FitSettings())
    assert len({p.trace_error for p in plans}) == 1
    assert plans[0].trace_error is not None
    (given, *_) = plan_scales(R, D, expected=100.0, settings=FitSettings(trace_error=1e-5))
    assert given.trace_error == 1e-5


def test_a_plan_without_the_newer_settings_can_be_read() -> None:
    plain = plan(scaling="standard").to_dict()
    del plain["missing"], plain["periodic"]
    assert Plan.from_dict(plain).periodic == ()
