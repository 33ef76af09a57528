"""Data judged by what a calibration keeps, against the same data beside the reference itself."""

from typing import Any

import numpy as np
import pytest

from lanner.events import Sample
from lanner.inference.kept import BAND_TOYS, KeptWidth, keeps, kept_ladder
from lanner.inference.multiscale import Ladder
from lanner.inference.plan import Plan
from lanner.inference.resampling import DATA_DRAWS
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.terms import LocalTerm, ReachTerm
from lanner.model.backend import Arrays
from lanner.run.prepare import plan_search
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = (Sample.of(x) for x in exponential(4000, 150, seed=1))
MEMORY = 10**9


def plans(**settings: Any) -> tuple[Plan, ...]:
    how: dict[str, Any] = {"centers": 100, "seed": 5, "precision": "double"} | settings
    return tuple(plan_search(R, D, expected=150.0, settings=FitSettings(**how), memory=MEMORY))


def whole(data: Sample | None = None, arrays: Arrays | None = None, **settings: Any) -> Ladder:
    how = {} if arrays is None else {"arrays": arrays}
    return Ladder.prepare(plans(**settings), R, data, memory=MEMORY, **how)  # type: ignore[arg-type]


def kept_widths(ladder: Ladder, toys: int = 7) -> dict[float, KeptWidth]:
    return {e.plan.width: KeptWidth.of(e, toys) for e in ladder.scales if isinstance(e, ScoreExperiment)}


@pytest.mark.parametrize("settings", [{}, {"width": 0.5, "penalty": 1e-5, "statistic": "score"}], ids=["many", "one"])
def test_data_have_the_statistics_that_they_have_beside_the_reference(settings: dict[str, Any]) -> None:
    """Scales and terms, of each draw of the reference."""
    kept = kept_ladder(kept_widths(whole(**settings)), plans(**settings), R, D, memory=MEMORY)
    beside = whole(D, **settings)
    assert [type(term) for term in kept.terms] == [type(term) for term in beside.terms]
    for found, truth in zip(kept.fit_data(DATA_DRAWS), beside.fit_data(DATA_DRAWS), strict=True):
        np.testing.assert_allclose(found.statistic, truth.statistic, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.coefficients, truth.coefficients, rtol=1e-5, atol=1e-7)


def test_they_have_them_by_each_split_too() -> None:
    kept = kept_ladder(kept_widths(whole()), plans(), R, D, memory=MEMORY)
    np.testing.assert_allclose(kept.data_by_split(), whole(D).data_by_split(), rtol=1e-6, atol=1e-9)


def test_and_on_every_kind_of_arrays(arrays: Arrays) -> None:
    settings: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "statistic": "score"}
    widths = {
        width: KeptWidth.from_arrays(kept.to_arrays(), arrays)
        for width, kept in kept_widths(whole(arrays=arrays, **settings)).items()
    }
    (found,) = kept_ladder(widths, plans(**settings), R, D, memory=MEMORY).fit_data(2)
    (truth,) = whole(D, **settings).fit_data(2)
    np.testing.assert_allclose(found.statistic, truth.statistic, rtol=1e-6)


def test_arrays_keep_all_of_it() -> None:
    for kept in kept_widths(whole()).values():
        again = KeptWidth.from_arrays(kept.to_arrays())
        for name, values in kept.to_arrays().items():
            np.testing.assert_array_equal(again.to_arrays()[name], values)


def test_events_out_of_reach_are_those_of_the_data() -> None:
    far = Sample(np.vstack([D.features, [[50.0], [60.0]]]), D.names)
    kept = kept_ladder(kept_widths(whole()), plans(), R, far, memory=MEMORY)
    beside = whole(far)
    assert len(kept.reach()) == len(beside.reach()) == 4
    for found, truth in zip(kept.reach(), beside.reach(), strict=True):
        assert (found.mean, found.square, found.expected_beyond) == pytest.approx(
            (truth.mean, truth.square, truth.expected_beyond)
        )
        np.testing.assert_allclose(found.of_data, truth.of_data, atol=1e-9)
        assert set(found.beyond().rows) >= {150, 151}


def test_a_local_excess_is_seen_as_well() -> None:
    peak = Sample(np.vstack([D.features, np.full((30, 1), 0.4)]), D.names)
    kept = kept_ladder(kept_widths(whole()), plans(), R, peak, memory=MEMORY)
    terms = zip(kept.terms, kept.fit_data(1)[len(kept.scales) :], strict=True)
    found = [(type(term), solution.statistic[0]) for term, solution in terms]
    local, reach = (max(t for kind, t in found if kind is which) for which in (LocalTerm, ReachTerm))
    assert local > 20 > reach


def test_bands_are_those_of_the_first_toys() -> None:
    ladder = whole()
    kept = kept_ladder(kept_widths(ladder, toys=9), plans(), R, D, memory=MEMORY)
    for found, truth in zip(kept.scales, ladder.scales, strict=True):
        coefficients = truth.band(9)
        scale = np.abs(coefficients).max()
        np.testing.assert_allclose(found.band(9), coefficients, atol=1e-4 * scale)  # kept in single precision
        np.testing.assert_allclose(found.band(4), coefficients[:, :4], atol=1e-4 * scale)


def test_toys_for_bands_are_as_many_as_there_are_and_no_more_than_bands_need() -> None:
    ladder = whole(width=0.5, penalty=1e-5, statistic="score")
    for toys, number in ((3, 3), (BAND_TOYS + 50, BAND_TOYS)):
        (kept,) = kept_widths(ladder, toys).values()
        assert kept.band.shape == (ladder.first.basis.rank, number)
        assert len(kept.band_splits) == number


def test_what_each_of_the_datas_draws_leaves_out_is_kept_as_a_sum() -> None:
    ladder = whole(width=0.5, penalty=1e-5, statistic="score")
    (kept,) = kept_widths(ladder).values()
    plan, scheme = ladder.first.plan, ladder.first.scheme
    basis = ladder.first.basis
    k = basis.kernel(plan.units.apply(R.features), basis.pivots)
    bunches = scheme.bunches  # type: ignore[attr-defined]
    assert kept.left_out_size == 4000 - plan.reference_size
    for row, found in zip(scheme.left_out_rows, kept.left_out, strict=True):  # type: ignore[attr-defined]
        events = bunches.events[bunches.starts[row] : bunches.starts[row + 1]]
        # As sums of kernels, which rounding in the last directions does not reach.
        np.testing.assert_allclose(basis.factor @ found, k[events].sum(axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "can"),
    [({}, True), ({"null": "permutation"}, False), ({"statistic": "likelihood-ratio"}, False)],
    ids=["score", "permutation", "fits"],
)
def test_what_takes_bunches_of_the_reference_can_be_kept(settings: dict[str, Any], can: bool) -> None:
    assert keeps(whole(D, **settings)) == can
