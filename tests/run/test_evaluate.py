from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lanner.errors import ConvergenceWarning, InputError
from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.inference.sequential import Stopping
from lanner.run.evaluate import REFERENCE_SUBSAMPLES, Combiner, Evaluation
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
    np.testing.assert_array_equal(t, -combiner.combination.log_p(toys().statistics[:, 30:]).min(axis=0))
    with pytest.raises(InputError, match="too few to compare scales by"):
        Combiner.of(ladder(), "smallest", toys(), 5)


def test_the_result_is_that_of_the_first_subsample_and_the_most_significant_scale() -> None:
    evaluation = Evaluation(ladder(), "harmonic")
    assert evaluation.statistics.shape == (12, REFERENCE_SUBSAMPLES)
    result = evaluation.result(toys(), 30)
    assert result.statistic == result.reference_draws[0]
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
