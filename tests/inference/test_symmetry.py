"""Toys and data go through the same door: what shapes the test has seen neither."""

from dataclasses import replace

import numpy as np

from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import ScoreExperiment, scheme_of
from lanner.model.weightings import Draw
from lanner.run.prepare import plan_search
from lanner.settings import FitSettings

EXPECTED, REFERENCE, FRESH = 60, 700, 40


def share_beyond(*, whole: bool = False, pivots: bool = False, bunch: int = 1, references: int = 30) -> float:
    """How many fresh data sets lie beyond 95 % of the toys at a sharp scale, over many references.

    With moments of the whole reference, where `whole`; with pivots that count in full among a toy's data, where
    `pivots`; with toys that take bunches of events.
    """
    found = []
    for seed in range(references):
        rng = np.random.default_rng(seed)
        sizes = rng.poisson(EXPECTED, FRESH)
        reference, data = (Sample.of(rng.normal(size=(n, 4))) for n in (REFERENCE, int(sizes.sum())))
        settings = FitSettings(statistic="score", width=1.5, penalty=1e-4, centers=60, seed=seed)
        (plan,) = plan_search(reference, None, expected=EXPECTED, settings=settings, memory=10**9)
        plan = replace(plan, bunch=bunch)
        scheme = scheme_of(plan, reference, data, as_one=False)
        assert isinstance(scheme, ReferenceScheme)
        scheme = replace(scheme, splits=None) if whole else scheme
        experiment = ScoreExperiment.prepare(plan, reference, data, memory=10**9, scheme=scheme)
        assert experiment.pool.pivot_rows is not None
        if pivots:
            experiment = replace(experiment, pool=replace(experiment.pool, pivot_rows=None))
        ladder = Ladder((experiment,))
        (null,) = ladder.fit_toys(range(199))
        (fresh,) = ladder.fit(fresh_draws(scheme, sizes, rng))
        found.append(np.mean(fresh.statistic > np.sort(null.statistic)[189]))
    return float(np.mean(found))


def fresh_draws(scheme: ReferenceScheme, sizes: np.ndarray, rng: np.random.Generator) -> list[Draw]:
    """Several data sets, each with its own draw of the reference, of the size that a toy's has."""
    bunches, ends = scheme.bunches, np.cumsum([0, *sizes])
    spare = bunches.total - scheme.reference_size
    left_out = [bunches.take(rng, np.arange(bunches.drawn), 0, spare)[1] for _ in sizes]
    return [
        Draw(len(bunches), bunches.drawn, scheme.data_rows[ends[i] : ends[i + 1]], left_out[i])
        for i in range(len(sizes))
    ]


def test_data_are_no_more_surprising_than_toys() -> None:
    assert 0.03 < share_beyond() < 0.075


def test_nor_are_they_where_toys_take_bunches_of_events() -> None:
    assert 0.03 < share_beyond(bunch=3) < 0.075


def test_they_would_be_if_toys_shaped_the_test() -> None:
    # Why toys belong to halves of the reference: with moments of the whole, its own events look too usual.
    assert share_beyond(whole=True) > 0.09


def test_they_would_be_less_if_a_toys_own_events_were_centres() -> None:
    # Why a centre among a toy's data counts as if it were none: the test would follow its fluctuations.
    assert share_beyond(pivots=True) < 0.75 * share_beyond()
