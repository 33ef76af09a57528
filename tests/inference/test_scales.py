import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform

from lanner.errors import InputError
from lanner.inference.scales import (
    ANY_SIZE,
    COARSE,
    DEVIATIONS,
    FINE,
    LARGEST_RATIO,
    LEAST_WIDTHS,
    MANY_FEATURES,
    OCCUPANCY,
    deviation_of,
    deviations_at,
    finest_width,
    ladder_of_widths,
    penalty_for,
)
from lanner.model.loss import loss_by_name
from tests.conftest import shaped


def width_of_occupancy(events: np.ndarray, expected: float) -> float:
    """Where the median over events of the mean kernel with all of them, times the expected number, is the occupancy."""
    squares = squareform(pdist(events, "sqeuclidean"))

    def excess(width: float) -> float:
        return expected * float(np.median(np.exp(-squares / (2 * width**2)).mean(axis=1))) - OCCUPANCY

    return float(brentq(excess, 1e-4, 1e3))


@pytest.mark.parametrize(("dimensions", "expected"), [(1, 200.0), (1, 5000.0), (2, 2000.0), (6, 20_000.0)])
def test_at_the_finest_width_a_typical_kernel_holds_the_occupancy(
    dimensions: int, expected: float, rng: np.random.Generator
) -> None:
    events = shaped(dimensions, 350)
    assert finest_width(events, expected, rng) == pytest.approx(width_of_occupancy(events, expected), rel=1e-3)


def test_of_many_events_some_are_enough_to_tell(rng: np.random.Generator) -> None:
    events = shaped(2, 2000)
    assert finest_width(events, 5000.0, rng) == pytest.approx(width_of_occupancy(events, 5000.0), rel=0.15)


def test_widths_go_in_equal_ratios_from_the_finest_to_the_coarsest(rng: np.random.Generator) -> None:
    events = shaped(2, 350)
    widths = ladder_of_widths(events, 5000.0, rng)
    finest, coarse = width_of_occupancy(events, 5000.0), np.quantile(pdist(events), COARSE)
    assert widths[0] == pytest.approx(finest, rel=1e-3)
    assert widths[-1] == pytest.approx(coarse, rel=0.1)  # of some pairs, drawn at random
    np.testing.assert_allclose(np.diff(np.log(widths)), np.log(widths[-1] / widths[0]) / (len(widths) - 1))
    assert len(widths) >= LEAST_WIDTHS
    assert widths[1] / widths[0] <= LARGEST_RATIO


def test_the_finest_is_no_coarser_than_a_fifth_of_the_distances(rng: np.random.Generator) -> None:
    events = shaped(6, 350)
    assert width_of_occupancy(events, 100.0) > np.quantile(pdist(events), FINE)
    assert ladder_of_widths(events, 100.0, rng)[0] == pytest.approx(np.quantile(pdist(events), FINE), rel=0.1)


def test_many_events_make_the_ladder_longer_not_coarser(rng: np.random.Generator) -> None:
    few, many = (ladder_of_widths(shaped(1, 2000), expected, rng) for expected in (200.0, 1e6))
    assert len(many) > len(few) == LEAST_WIDTHS
    assert many[0] < few[0] / 10
    assert many[1] / many[0] <= LARGEST_RATIO


def test_ties_do_not_make_it_endless(rng: np.random.Generator) -> None:
    events = np.round(shaped(1, 2000))  # of a handful of values
    widths = ladder_of_widths(events, 1e5, rng)
    assert widths[0] > 0
    assert len(widths) < 10


def test_most_events_in_one_place_are_no_reason_to_give_up(rng: np.random.Generator) -> None:
    events = np.zeros((500, 1))
    events[:50] = 1.0  # the distances are 0, or 1 in a fifth of all pairs
    widths = ladder_of_widths(events, 1000.0, rng)
    assert widths[-1] == pytest.approx(1.0)
    assert 0 < widths[0] < 1


def test_fewer_events_than_the_occupancy_have_a_ladder_too(rng: np.random.Generator) -> None:
    widths = ladder_of_widths(shaped(2, 800), 20.0, rng)
    assert len(widths) == LEAST_WIDTHS
    assert 0 < widths[0] < widths[-1]


def test_events_in_one_place_have_no_ladder(rng: np.random.Generator) -> None:
    events = np.zeros((500, 1))
    events[:2] = 1.0
    with pytest.raises(InputError, match="give width="):
        ladder_of_widths(events, 100.0, rng)


@pytest.mark.parametrize("features", [1, 2, 3, 21])
def test_deviations_of_any_size_are_looked_for_at_the_coarsest_widths_of_many_features_alone(features: int) -> None:
    widths = [2.0, 0.1, 0.5, 9.0]
    sizes = {width: deviations_at("score", widths, width, features=features) for width in widths}
    assert sizes[0.1] == sizes[0.5] == DEVIATIONS["score"]
    further = (ANY_SIZE,) if features >= MANY_FEATURES else ()
    assert sizes[2.0] == sizes[9.0] == DEVIATIONS["score"] + further
    fits = {deviations_at("likelihood-ratio", widths, width, features=features) for width in widths}
    assert fits == {DEVIATIONS["likelihood-ratio"]}


def test_of_a_few_widths_all_are_the_coarsest() -> None:
    assert deviations_at("score", [0.5], 0.5, features=3) == (*DEVIATIONS["score"], ANY_SIZE)


def test_the_score_looks_for_deviations_from_a_tenth_to_a_factor() -> None:
    sizes = DEVIATIONS["score"]
    assert sizes == (0.1, 0.35, 1.2)
    assert max(sizes) < ANY_SIZE / 10


@pytest.mark.parametrize(("loss", "c"), [("logistic", 2.0), ("extended", 1.0)])
def test_a_penalty_is_named_by_the_deviations_it_expects(loss: str, c: float) -> None:
    """tau = (c lambda n)^(-1/2), the prior spread of f at a point."""
    found = penalty_for(0.7, events=1000, loss=loss_by_name(loss))
    assert (c * found * 1000) ** -0.5 == pytest.approx(0.7)


def test_one_is_the_inverse_of_the_other() -> None:
    loss = loss_by_name("logistic")
    assert deviation_of(penalty_for(0.2, events=5e4, loss=loss), events=5e4, loss=loss) == pytest.approx(0.2)
