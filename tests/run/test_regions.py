"""Several regions in one search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError, LannerWarning
from lanner.events import Sample
from lanner.run.regions import search_regions
from lanner.run.search import search

RNG = np.random.default_rng(1)
REFERENCE, DATA = (Sample.of({"pt": RNG.exponential(size=n), "eta": RNG.normal(size=n)}) for n in (8000, 80))
GIVEN: dict[str, Any] = {"toys": 120, "seed": 1, "centers": 60}


@pytest.mark.parametrize(
    "more", [{"expected": 80.0}, {"expected": None}, {"expected": None, "null": "permutation"}], ids=str
)
def test_a_region_of_all_events_is_an_ordinary_search(more: dict[str, Any]) -> None:
    found = search_regions(REFERENCE, DATA, regions={"all": "pt > 0"}, **GIVEN, **more).regions["all"]
    alone = search(REFERENCE, DATA, **GIVEN, **more)
    assert found.expected == alone.plan.expected
    assert alone.combined is not None
    assert found.result.combined is not None
    for mine, its in zip(found.result.combined.scales, alone.combined.scales, strict=True):
        assert (mine.width, mine.null_mean) == pytest.approx((its.width, its.null_mean), rel=0.03)
    if more["expected"] is not None:  # otherwise the number in a region is tested, and an ordinary search's is not
        assert found.statistic == alone.statistic
        assert found.p_value == alone.p_value


def test_a_region_says_what_a_search_of_its_events_says() -> None:
    inside = REFERENCE.features[:, 0] > 0.7, DATA.features[:, 0] > 0.7
    expected = 80.0 * inside[0].mean()
    given = {**GIVEN, "toys": 600}
    found = search_regions(REFERENCE, DATA, regions={"high": inside}, expected=80.0, **given).regions["high"]
    alone = search(REFERENCE.take(inside[0]), DATA.take(inside[1]), expected=expected, **given)
    assert found.expected == pytest.approx(expected)
    assert found.observed == alone.data_size
    assert found.z_score == pytest.approx(alone.z_score, abs=0.35)
    assert found.result.combined is not None
    assert alone.combined is not None
    for mine, its in zip(found.result.combined.scales, alone.combined.scales, strict=True):
        assert mine.width == its.width
        assert mine.null_mean == pytest.approx(its.null_mean, rel=0.1)
        assert mine.null_spread == pytest.approx(its.null_spread, rel=0.3)


def test_looking_at_the_same_events_twice_costs_nothing() -> None:
    one = search_regions(REFERENCE, DATA, regions={"a": "pt > 0.5"}, expected=80, **GIVEN)
    two = search_regions(REFERENCE, DATA, regions={"a": "pt > 0.5", "b": "pt > 0.5"}, expected=80, **GIVEN)
    assert two.p_value == one.p_value
    assert one.p_value == one.regions["a"].p_value
    assert one.regions["a"].result.warnings == ()
    assert two.regions["a"].result.warnings[0].endswith(f"the global p-value does, and is {two.p_value:.2g}")
    assert (one.shared, two.shared) == (0, two.regions["a"].observed)


def test_a_signal_in_one_region_is_found_by_the_global_p_value() -> None:
    rng = np.random.default_rng(3)
    bump = np.column_stack([rng.normal(3.0, 0.1, 14), rng.normal(size=14)])
    data = Sample.of({"pt": [*DATA.features[:, 0], *bump[:, 0]], "eta": [*DATA.features[:, 1], *bump[:, 1]]})
    regions = {"high": "pt > 2", "left": "eta < 0.5 && pt < 2", "right": "eta > -0.5 && pt < 2"}
    found = search_regions(REFERENCE, data, regions=regions, expected=80, **{**GIVEN, "toys": 900})
    assert found.leading == "high"
    assert found.regions["high"].p_value <= found.p_value <= 6 * found.regions["high"].p_value
    assert found.z_score > 2.3


def test_toys_are_made_until_every_p_value_is_known() -> None:
    regions = {"high": "pt > 1", "left": "eta < 0.5"}
    found = search_regions(REFERENCE, DATA, regions=regions, expected=80, seed=1, centers=60)
    every = [found.empirical, *(one.result.empirical for one in found.regions.values())]
    assert found.stopping is not None
    assert found.n_map_toys == 2000
    for p in every:
        assert p.exceedances >= found.stopping.exceedances or p.toys == found.stopping.toys
    assert {len(found.null), *(len(one.result.null) for one in found.regions.values())} == {len(found.null)}


def test_a_region_without_data_has_a_p_value_from_the_count() -> None:
    rng = np.random.default_rng(4)
    data = Sample.of({"pt": rng.uniform(0, 1, 80), "eta": rng.normal(size=80)})
    found = search_regions(REFERENCE, data, regions={"high": "pt > 1.5", "low": "pt < 1.5"}, expected=80, **GIVEN)
    high = found.regions["high"]
    assert (high.observed, found.leading) == (0, "high")
    assert high.expected == pytest.approx(80 * np.exp(-1.5), rel=0.1)
    assert high.p_value < 0.03


def test_weights_say_what_is_expected_and_may_have_either_sign() -> None:
    rng = np.random.default_rng(5)
    pt, sign = rng.exponential(size=12_000), np.where(rng.random(12_000) < 0.15, -1.0, 1.0)
    reference = Sample.of({"pt": pt, "w": sign * 80 / sign.sum()}, weights="w")
    regions = {"high": "pt > 1", "most": "pt > 0.3"}
    found = search_regions(reference, DATA.features[:, :1], regions=regions, expected="weights", **GIVEN)
    assert reference.weights is not None
    for name, cut in (("high", 1), ("most", 0.3)):
        w = reference.weights[pt > cut]
        assert found.regions[name].expected == pytest.approx(w.sum())
        assert found.regions[name].expected_error == pytest.approx(np.square(w).sum() ** 0.5)
        assert found.regions[name].result.plan.expected_error == pytest.approx(np.square(w).sum() ** 0.5)
        assert 0.001 < found.regions[name].p_value <= 1


def test_relabelled_events_tell_nothing_but_by_their_labels() -> None:
    # What a region expects must follow from both samples together, or labels would enter the toys' statistics.
    one, other = REFERENCE.take(slice(0, 300)), DATA
    found = search_regions(one, other, regions={"high": "pt > 1"}, expected=None, null="permutation", **GIVEN)
    inside = np.concatenate([one.features[:, 0], other.features[:, 0]]) > 1
    assert found.null.kind == "permutation"
    assert found.shape_only
    assert found.regions["high"].expected == pytest.approx(80 * inside.mean())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"regions": {"high": "pt > 99"}}, "region 'high': it selects 0 of 8000 reference events, and 20 are needed"),
        ({"width": 0.3}, "tested by the score statistic"),
        ({"null": "generator"}, "no events that regions could share"),
        ({"regions": {"flat": "pt > 3 && pt < 3.005"}}, "region 'flat': it selects"),
        ({"centers": 7990}, "too few for 7990 centres|centers=7990"),
        ({"uncertainties": ()}, "uncertainties"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, TypeError), match=said):
        search_regions(REFERENCE, DATA, **{**GIVEN, "regions": {"high": "pt > 1"}, "expected": 80.0} | given)


def test_warnings_say_of_which_region_they_are() -> None:
    rng = np.random.default_rng(6)
    w = np.where(REFERENCE.features[:, 0] > 2, np.where(rng.random(8000) < 0.02, 10.0, 0.2), 1.0)
    reference = Sample.of({"pt": REFERENCE.features[:, 0], "w": w}, weights="w")
    with pytest.warns(LannerWarning, match="region 'high': the reference has"):
        found = search_regions(
            reference, DATA.features[:, :1], regions={"high": "pt > 2", "low": "pt < 2"}, expected=80, **GIVEN
        )
    assert any(words.startswith("region 'high'") for words in found.warnings)
