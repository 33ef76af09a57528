"""Toys of several regions become one statistic."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache

import numpy as np

from lanner.events import Sample
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import Part, plan_one, plan_scales
from lanner.inference.regions import RegionScheme
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import scheme_of
from lanner.inference.sequential import Stopping
from lanner.inference.significance import empirical_p
from lanner.run.execution.local import Local
from lanner.run.regions_toys import Judged, judged_together
from lanner.settings import FitSettings

RNG = np.random.default_rng(2)
REFERENCE, DATA = (Sample.of(RNG.normal(size=(n, 1))) for n in (4000, 60))
SETTINGS = FitSettings(null="reference", statistic="score", centers=40, seed=2)
CUTS = (-0.5, 0.0)


def recipes() -> list[Recipe]:
    plan = plan_one(REFERENCE, DATA, expected=60.0, settings=SETTINGS)
    whole, found = scheme_of(plan, REFERENCE, DATA), []
    assert isinstance(whole, ReferenceScheme)
    for cut in CUTS:
        parts = [sample.features[:, 0] > cut for sample in (REFERENCE, DATA)]
        reference, data = REFERENCE.take(parts[0]), DATA.take(parts[1])
        share = float(parts[0].mean())
        plans = plan_scales(reference, data, expected=60 * share, settings=SETTINGS, part=Part(plan, share))
        found.append(Recipe(plans, reference, data, scheme=RegionScheme.of(whole, np.concatenate(parts), 60 * share)))
    return found


@cache
def judged(toys: int | None, stopping: Stopping | None = None) -> Judged:
    with ExitStack() as opened:
        workers = [opened.enter_context(Local().start(one, memory=1 << 28)) for one in recipes()]
        return judged_together(workers, "harmonic", toys, stopping, None)


def test_every_region_counts_the_same_toys() -> None:
    found = judged(150)
    assert found.n_map_toys == 50
    assert [len(one.null) for one in found.results] == [100, 100]
    assert len(found.null) == 100
    # Regions that share events agree in the toys.
    first, second = (one.null.statistics for one in found.results)
    assert np.corrcoef(first, second)[0, 1] > 0.3


def test_the_global_statistic_is_large_where_a_region_is_extreme() -> None:
    found = judged(150)
    # Of each toy the p-value in each region, by ranks among the toys: an independent way to combine them.
    p = [[empirical_p(t, one.null.statistics).p_value for t in one.null.statistics] for one in found.results]
    harmonic = -np.log(1 / np.mean(1 / np.array(p), axis=0))
    assert np.corrcoef(harmonic, found.null.statistics)[0, 1] > 0.9
    alone = [one.p_value for one in found.results]
    assert int(np.argmin(found.log_p)) == int(np.argmin(alone))
    assert found.null.empirical(found.statistic).p_value <= 2.5 * min(alone)


def test_toys_stop_when_all_that_is_asked_is_known() -> None:
    stopping = Stopping(exceedances=5, toys=4000)
    found = judged(None, stopping)
    for null, t in ((found.null, found.statistic), *((one.null, one.statistic) for one in found.results)):
        assert stopping.judge(t, null.statistics) is not None
    assert len(found.null) < 4000
