from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from lanner.errors import ConvergenceWarning, InputError, ReachWarning
from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.inference.resampling import DATA_DRAWS
from lanner.inference.sequential import Stopping
from lanner.inference.terms import LocalTerm
from lanner.run.evaluate import Combiner, Evaluation
from lanner.run.prepare import plan_search
from lanner.run.toy_maker import ToyRun
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY = 1 << 28


@cache
def ladder(width: float | None = None) -> Ladder:
    plans = plan_search(R, D, expected=100, settings=FitSettings(width=width, centers=50, seed=1), memory=MEMORY)
    return Ladder.prepare(plans, R, D, memory=MEMORY)


@cache
def toys(width: float | None = None, number: int = 90) -> ToyRun:
    found = ladder(width).fit_toys(range(number))
    fields = [np.stack([getattr(s, name) for s in found]) for name in ("statistic", "converged", "iterations")]
    statistics, converged, iterations = fields
    return ToyRun(statistics, converged, iterations, found[0].coefficients.astype(np.float32))


SCALES = len(ladder().scales)
WIDTHS = len({plan.width for plan in ladder().plans})
TERMS = 1 + 2 * WIDTHS  # the number of events; at each width the largest local excess, and events out of reach


def test_a_single_scale_needs_no_toys_to_be_comparable() -> None:
    combiner = Combiner.of(ladder(0.3), "harmonic", toys(0.3), 30)
    assert combiner.combination is None
    assert combiner.n_map_toys == 0
    np.testing.assert_array_equal(combiner.null_statistics(toys(0.3)), toys(0.3).statistics[0])
    null = combiner.null(ladder(0.3), toys(0.3))
    assert null.analytic is not None
    assert null.tail is None


def test_toys_that_make_scales_comparable_are_not_counted() -> None:
    combiner = Combiner.of(ladder(), "smallest", toys(), 30)
    assert combiner.n_map_toys == 30
    t = combiner.null_statistics(toys())
    assert t.shape == (60,)
    assert combiner.combination is not None
    log_p = combiner.combination.log_p(toys().statistics[:, 30:])
    np.testing.assert_allclose(t, -log_p.min(axis=0))
    with pytest.raises(InputError, match="too few to compare scales by"):
        Combiner.of(ladder(), "smallest", toys(), 5)


def test_the_result_is_that_of_the_first_subsample_and_the_most_significant_scale() -> None:
    evaluation = Evaluation(ladder(), "harmonic")
    assert evaluation.statistics.shape == (SCALES + TERMS, DATA_DRAWS)
    result = evaluation.result(toys(), 30)
    combiner = Combiner.of(ladder(), "harmonic", toys(), 30)
    assert result.statistic == combiner.statistic(evaluation.statistics)[0]
    assert len(result.null) == 60
    assert result.combined is not None
    assert result.combined.n_map_toys == 30
    local = [s.local_p for s in result.combined.scales]
    assert result.combined.dominant_scale == int(np.argmin(local))
    assert result.plan == ladder().plans[result.combined.dominant_scale]
    for k, scale in enumerate(result.combined.scales):
        counted = toys().statistics[k, 30:]
        assert scale.exceedances == np.count_nonzero(counted >= evaluation.statistics[k, 0])
        assert scale.null_mean == pytest.approx(counted.mean())


def test_terms_are_counted_like_scales_and_are_no_scale_to_show() -> None:
    evaluation = Evaluation(ladder(), "harmonic")
    combined = evaluation.result(toys(), 30).combined
    assert combined is not None
    assert len(combined.scales) == SCALES
    assert [t.label for t in combined.terms] == [t.label for t in ladder().terms]
    widths = [t.width for t in ladder().reach()]
    assert [t.width for t in combined.terms] == [None, *widths, *widths]
    for k, term in enumerate(combined.terms, start=SCALES):
        assert term.statistic == evaluation.statistics[k, 0]
        if isinstance(ladder().terms[k - SCALES], LocalTerm):
            assert 0 < term.local_p <= 1  # toys tell what the largest of many is worth
        else:
            assert term.local_p == pytest.approx(np.exp(-term.statistic))
        assert term.exceedances == np.count_nonzero(toys().statistics[k, 30:] >= term.statistic)
        assert term.toys == 60
        assert term.local_z >= -1e-9
    assert combined.dominant_scale < SCALES


def test_a_term_leads_where_it_is_more_significant_than_every_scale() -> None:
    combined = Evaluation(ladder(), "harmonic").result(toys(), 30).combined
    assert combined is not None
    first, *others = combined.terms
    strong, weak = (replace(first, local_p=p) for p in (1e-12, 0.9))
    others = [replace(t, local_p=0.5) for t in others]
    assert replace(combined, terms=(strong, *others)).leading_term is strong
    assert replace(combined, terms=(weak, *others)).leading_term is None
    assert replace(combined, terms=()).leading_term is None


def slope(p: float) -> float:
    """By how much Z rises where log p falls by one."""
    return float(stats.norm.isf(p * np.exp(-0.5)) - stats.norm.isf(min(p * np.exp(0.5), 1 - 1e-9)))


def test_the_spread_of_z_is_that_of_other_subsamples_splits_and_maps() -> None:
    evaluation = Evaluation(ladder(), "harmonic")
    result, combiner = evaluation.result(toys(), 30), Combiner.of(ladder(), "harmonic", toys(), 30)
    spread = result.spread
    assert spread is not None
    unit = slope(result.p_value)
    repeated = combiner.statistic(evaluation.statistics)
    assert spread.subsamples == pytest.approx(unit * repeated.std(ddof=1))
    by_split = combiner.statistic(ladder().data_by_split().T)
    assert spread.splits == pytest.approx(unit * by_split.std(ddof=1) / len(by_split) ** 0.5)
    assert spread.maps > 0
    assert spread.total == pytest.approx((spread.subsamples**2 + spread.splits**2 + spread.maps**2) ** 0.5)
    assert spread.total < 1


def test_the_spread_of_a_single_scale_is_that_of_subsamples_by_its_law() -> None:
    evaluation = Evaluation(ladder(0.3), "harmonic")
    result = evaluation.result(toys(0.3), 0)
    assert result.spread is not None
    assert result.null.analytic is not None
    log_p = [float(result.null.analytic.logsf(t)) for t in evaluation.statistics[0]]
    assert result.spread.subsamples == pytest.approx(slope(result.p_value) * np.std(log_p, ddof=1))
    assert (result.spread.splits, result.spread.maps) == (0, 0)


def test_beyond_all_toys_there_is_no_z_to_spread() -> None:
    made = toys()
    low = replace(made, statistics=0.9 * made.statistics / made.statistics.max(axis=1, keepdims=True))
    result = Evaluation(ladder(), "harmonic").result(low, 30)
    assert result.empirical.is_bound
    assert result.spread is None


def test_data_out_of_reach_are_told_at_the_width_where_they_are_most_surprising() -> None:
    data = Sample.of(np.vstack([D.features, [[5.0], [6.0], [7.0]]]))
    plans = plan_search(R, data, expected=100, settings=FitSettings(centers=50, seed=1), memory=MEMORY)
    several = Ladder.prepare(plans, R, data, memory=MEMORY)
    found = Evaluation(several, "harmonic").result(toys(), 30).out_of_reach
    assert found is not None
    assert {100, 101, 102} <= set(found.rows)
    assert found.surprising
    log_p = {t.width: t.log_p(np.array([t.of_data.sum()]))[0] for t in several.reach()}
    assert found.width == min(log_p, key=log_p.__getitem__)


def test_a_permutation_has_no_events_out_of_reach() -> None:
    settings = FitSettings(centers=50, seed=1, null="permutation")
    plans = plan_search(R, D, expected=100, settings=settings, memory=MEMORY)
    assert Evaluation(Ladder.prepare(plans, R, D, memory=MEMORY), "harmonic").result(toys(), 30).out_of_reach is None


def test_a_single_scale_warns_of_data_that_it_does_not_see() -> None:
    data = Sample.of(np.vstack([D.features, np.arange(5.0, 13.0)[:, None]]))
    plans = plan_search(R, data, expected=100, settings=FitSettings(width=0.3, centers=50, seed=1), memory=MEMORY)
    evaluation = Evaluation(Ladder.prepare(plans, R, data, memory=MEMORY), "harmonic")
    with pytest.warns(ReachWarning, match=r"\d+ data events lie out of reach .* leave out the width"):
        result = evaluation.result(toys(0.3), 0)
    assert result.out_of_reach is not None
    assert set(range(100, 108)) <= set(result.out_of_reach.rows)


def test_toys_are_enough_where_the_stopping_rule_says_so() -> None:
    evaluation = Evaluation(ladder(), "harmonic")
    p = evaluation.result(toys(), 30).empirical
    assert evaluation.is_known(toys(), 30, Stopping(max(p.exceedances, 1), 10_000)) == (p.exceedances > 0)
    assert evaluation.is_known(toys(), 30, Stopping(10_000, 60))
    assert not evaluation.is_known(toys(), 30, Stopping(10_000, 10_000))


def test_fits_that_have_not_converged_are_counted_and_kept() -> None:
    made = toys(0.3)
    stopped = made.converged.copy()
    stopped[0, :3] = False
    with pytest.warns(ConvergenceWarning, match="3 of 90 of the toys' fits have not converged; they are kept"):
        result = Evaluation(ladder(0.3), "harmonic").result(replace(made, converged=stopped), 0)
    assert result.null.not_converged == 3
    assert len(result.null) == 90
