"""An experiment whose toys are sums over their events, against these sums in double precision."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lanner.events import Sample
from lanner.inference.layout import centers_of
from lanner.inference.plan import Plan, plan_one
from lanner.inference.resampling import PermutationScheme, ReferenceScheme, WeightedReferenceScheme
from lanner.inference.score_experiment import KEPT, ScoreExperiment, scheme_of
from lanner.model.residuals import BEYOND
from lanner.model.weightings import DATA, Draw
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY, EXPECTED = 10**8, 100.0
NOBODY = np.empty(0, dtype=np.intp)


def plan(reference: Sample = R, data: Sample | None = D, bunch: int = 1, **settings: Any) -> Plan:
    how: dict[str, Any] = {"statistic": "score", "width": 0.5, "penalty": 1e-5, "centers": 40, "precision": "double"}
    made = plan_one(reference, data, expected=EXPECTED, settings=FitSettings(**(how | settings)))
    return replace(made, bunch=bunch)


def prepared(reference: Sample = R, make_events: Any = None, bunch: int = 1, **settings: Any) -> ScoreExperiment:
    made = plan(reference, bunch=bunch, **settings)
    return ScoreExperiment.prepare(made, reference, D, memory=MEMORY, make_events=make_events)


def events_of(experiment: ScoreExperiment, rows: np.ndarray) -> np.ndarray:
    bunches = experiment.pool.bunches
    return np.concatenate([NOBODY, *(bunches.events[bunches.starts[r] : bunches.starts[r + 1]] for r in rows)])


def all_features(experiment: ScoreExperiment) -> np.ndarray:
    """Of the reference, then of the data."""
    x = np.vstack([experiment.reference.features, D.features])
    return experiment.basis.features(experiment.plan.units.apply(x))


def difference(experiment: ScoreExperiment, phi: np.ndarray, draw: Draw) -> np.ndarray:
    """u of a draw that takes no pivots, event by event."""
    data, left_out = events_of(experiment, draw.data), events_of(experiment, draw.left_out)
    assert not np.isin(events_of(experiment, experiment.pool.pivot_rows), data).any()
    reference = np.setdiff1d(np.arange(len(experiment.reference)), np.concatenate([data, left_out]))
    return phi[data].sum(axis=0) - EXPECTED * phi[reference].mean(axis=0)


@pytest.mark.parametrize("bunch", [1, 5])
def test_the_score_of_a_draw_is_that_of_its_events(bunch: int) -> None:
    """q = 2 w u - w N(0) E[phi phi^T] w with the moments of the draw's split."""
    experiment = prepared(bunch=bunch)
    phi, bunches, splits = all_features(experiment), experiment.pool.bunches, experiment.scheme.splits  # type: ignore[attr-defined]
    free = np.setdiff1d(splits.free(2), experiment.pool.pivot_rows)
    data, left_out = bunches.take(np.random.default_rng(6), free, 93, 107)
    draw = Draw(len(bunches), bunches.drawn, data, left_out, split=2, sizes=bunches.sizes)
    u = difference(experiment, phi, draw)
    shaping = events_of(experiment, np.setdiff1d(np.arange(bunches.drawn), splits.free(2)))
    second = EXPECTED * phi[shaping].T @ phi[shaping] / len(shaping)
    ridge = 2 * experiment.plan.penalty * experiment.plan.events_per_fit  # of the logistic loss
    w = np.linalg.solve(second + ridge * np.eye(len(u)), u)
    found = experiment.fit([draw])
    assert found.statistic[0] == pytest.approx(2 * w @ u - w @ second @ w, rel=1e-6)
    np.testing.assert_allclose(phi @ found.coefficients[:, 0], phi @ w, atol=1e-5)


def test_another_penalty_shares_the_sums() -> None:
    experiment = prepared()
    other = experiment.at_penalty(plan(penalty=1e-3))
    assert other.pool is experiment.pool
    draws = [experiment.scheme.toy(i) for i in range(3)]
    fresh = prepared(penalty=1e-3, trace_error=experiment.basis.trace_error)
    np.testing.assert_allclose(other.fit(draws).statistic, fresh.fit(draws).statistic, rtol=1e-3)
    assert (other.fit(draws).statistic < experiment.fit(draws).statistic).all()


def test_coefficients_are_made_for_the_first_toys_of_a_batch() -> None:
    experiment = prepared()
    found = experiment.fit_toys(range(KEPT + 10))
    assert found.coefficients.shape == (experiment.basis.rank, KEPT)
    assert len(found.statistic) == KEPT + 10


def test_centres_of_a_score_may_be_a_toys_data_and_then_count_as_none() -> None:
    experiment = prepared()
    pool, scheme = experiment.pool, experiment.scheme
    assert isinstance(scheme, ReferenceScheme)
    assert len(scheme.held_out) == 0
    assert pool.pivot_rows is not None
    pivots = events_of(experiment, pool.pivot_rows)  # bunches of one
    np.testing.assert_allclose(pool.basis.pivots, experiment.plan.units.apply(R.features[pivots]))
    assert any(np.isin(scheme.toy(i).data, pool.pivot_rows).any() for i in range(20))
    # Among the candidates are the pivots, and beside them the events that none of those reaches.
    assert np.isin(pivots, centers_of(experiment.plan, R)).sum() <= 40


def test_in_bunches_too_the_pivots_are_found_where_they_are() -> None:
    experiment = prepared(bunch=5)
    scaled = experiment.plan.units.apply(R.features)
    for pivot, row in zip(experiment.basis.pivots, experiment.pool.pivot_rows, strict=True):
        assert any(np.array_equal(scaled[event], pivot) for event in events_of(experiment, np.array([row])))


def isolated(number: int, bunch: int = 1, each: int = 2, **settings: Any) -> tuple[ScoreExperiment, np.ndarray]:
    """Reference events in places far from all others, and from each other: one of each place, and so many more."""
    far = (1e3 + 100.0 * np.arange(number)) + 1e-3 * np.arange(each)[:, None]
    far = far.ravel()
    x = np.concatenate([np.random.default_rng(5).normal(size=3000), far])[:, None]
    how: dict[str, Any] = {"centers": 30, "seed": 2, "precision": "single"} | settings
    return prepared(Sample.of(x), bunch=bunch, **how), np.arange(3000, len(x))


@pytest.mark.parametrize("bunch", [1, 5])
def test_reference_events_that_no_centre_reaches_become_centres(bunch: int) -> None:
    experiment, far = isolated(7, bunch)
    pivots = experiment.basis.pivots
    scaled = experiment.plan.units.apply(experiment.reference.features[far])
    assert np.isin(scaled, pivots).reshape(2, 7).any(axis=0).all()
    phi = experiment.basis.features(scaled)
    np.testing.assert_allclose((phi**2).sum(axis=1), 1, atol=1e-4)  # they are represented,
    pool = experiment.pool
    rows = np.unique(pool.bunches.rows_of(far))
    assert pool.residuals.by_row[rows].sum() >= 7 - 1e-6  # but pivots not by others than themselves
    assert pool.residuals.null.beyond >= 7


@pytest.mark.parametrize("bunch", [1, 5])
@pytest.mark.parametrize("centers", [30, 1500])  # of 3007 events: none of the seven, as it were, and some of them
def test_a_reference_event_that_is_alone_is_no_centre(bunch: int, centers: int) -> None:
    experiment, far = isolated(7, bunch, each=1, centers=centers)
    pool, scaled = experiment.pool, experiment.plan.units.apply(experiment.reference.features[far])
    assert not np.isin(scaled, experiment.basis.pivots).any()
    assert pool.residuals.by_row[np.unique(pool.bunches.rows_of(far))].sum() >= 7 - 1e-6
    assert pool.pivot_rows is not None
    assert len(pool.pivot_rows) == experiment.basis.rank


@pytest.mark.parametrize("bunch", [1, 5])
def test_a_toy_is_not_helped_by_its_own_isolated_events(bunch: int) -> None:
    """Among a toy's data such an event has no features, as among the data: nothing of it is within reach."""
    experiment, far = isolated(7, bunch)
    bunches, phi = experiment.pool.bunches, all_features(experiment)
    scaled = experiment.plan.units.apply(experiment.reference.features[far])
    far = far[np.isin(scaled, experiment.basis.pivots).ravel()]
    few = np.setdiff1d(np.arange(bunches.drawn), experiment.pool.pivot_rows)[:20]
    # Rows of isolated events in which there is no other pivot.
    often = np.bincount(experiment.pool.pivot_rows, minlength=len(bunches))
    rows = bunches.rows_of(far)
    rows = rows[often[rows] == 1][:3]
    draws = [Draw(len(bunches), bunches.drawn, np.append(few, rows[:k]), NOBODY, split=0) for k in (0, 3)]
    before, after = (experiment.pool.differences(experiment.pool.taken([d])).parts[0][2][:, 0] for d in draws)
    # u differs by what the three are missing from the reference, and by the events that share a bunch with them.
    data = [events_of(experiment, d.data) for d in draws]
    means = [np.delete(phi[:3014], d, axis=0).mean(axis=0) for d in data]
    others = np.setdiff1d(events_of(experiment, rows), far)
    truth = 100 * (means[0] - means[1]) + phi[others].sum(axis=0)
    vectors = experiment.pool.model.bases[0].vectors
    np.testing.assert_allclose(after - before, vectors.T @ truth / 10, atol=2e-4)


def test_very_many_such_events_stay_what_they_are_and_so_does_the_largest_rank() -> None:
    many, far = isolated(300, each=1)
    assert many.pool.pivot_rows is not None
    assert np.isin(events_of(many, many.pool.pivot_rows), far).sum() < 20  # those among the candidates
    held, _ = isolated(7, max_rank=20)
    assert held.basis.rank <= 20


@pytest.mark.parametrize("bunch", [1, 5])
def test_toys_are_judged_by_moments_without_their_data(bunch: int) -> None:
    experiment = prepared(bunch=bunch)
    scheme, model = experiment.scheme, experiment.pool.model
    assert isinstance(scheme, ReferenceScheme)
    assert scheme.splits is not None
    assert len(model.scores.splits) == scheme.splits.number
    phi = all_features(experiment)
    for i in range(scheme.splits.number):
        toy = scheme.toy(i)
        assert toy.split == i
        shaping = events_of(experiment, np.setdiff1d(np.arange(scheme.bunches.drawn), scheme.splits.free(i)))
        assert not np.isin(events_of(experiment, toy.data), shaping).any()
        second = phi[shaping].T @ phi[shaping] / len(shaping)
        np.testing.assert_allclose(model.bases[i].moments.second, second, atol=1e-9)


def test_a_toys_score_is_by_its_split_and_the_datas_the_median_of_all() -> None:
    experiment = prepared()
    draws = [*(experiment.scheme.toy(i) for i in range(3)), *experiment.data_draws(1)]
    by_split = experiment.score_by_split(experiment.pool.differences(experiment.pool.taken(draws)))
    assert (np.count_nonzero(~np.isnan(by_split), axis=0) == [1, 1, 1, len(by_split)]).all()
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(by_split[:, 1])), [1])
    np.testing.assert_allclose(experiment.fit(draws).statistic, np.nanmedian(by_split, axis=0))


@pytest.mark.parametrize("bunch", [1, 5])
def test_the_law_without_toys_is_where_toys_are(bunch: int) -> None:
    experiment = prepared(bunch=bunch)
    law = experiment.analytic_null()
    toys = experiment.fit_toys(range(400)).statistic
    assert toys.mean() == pytest.approx(law.mean, abs=5 * law.std / 20)


def test_toys_in_bunches_are_like_toys_of_single_events() -> None:
    """The mean and the spread of q of the same reference, within what toys and the dealing leave open."""
    toys, bunch = 3000, 10
    reference = Sample.of(np.random.default_rng(7).normal(size=(40_000, 2)))
    settings = {"width": 1.0, "penalty": 1e-5, "centers": 100, "precision": "single"}
    made = plan_one(
        reference, None, expected=600.0, settings=FitSettings(statistic="score", **settings)  # type: ignore[arg-type]
    )  # fmt: skip
    q = []
    for size in (1, bunch):
        experiment = ScoreExperiment.prepare(replace(made, bunch=size), reference, None, memory=10**9)
        q.append(np.concatenate([experiment.fit_toys(range(s, s + 500)).statistic for s in range(0, toys, 500)]))
    single, bunched = q
    spread = single.std()
    # What toys in bunches share is the dealing: sqrt(2 / bunches) of the spread.
    error = spread * (2 / toys + 2 / (40_000 / bunch)) ** 0.5
    assert abs(bunched.mean() - single.mean()) < 4 * error
    # The error of a spread follows from the fourth moment.
    relative = ((stats.kurtosis(single) + 2) / (4 * toys)) ** 0.5
    assert bunched.std() / spread == pytest.approx(1, abs=4 * 2**0.5 * relative)
    # Both follow one law, as far as a test of 3000 can tell.
    assert stats.ks_2samp(single - single.mean(), bunched - bunched.mean()).pvalue > 1e-3


@pytest.mark.parametrize("bunch", [1, 5])
@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_reach_is_that_of_events_whatever_rows_they_are_in(null: str, bunch: int) -> None:
    experiment = prepared(null=null, width=0.05, bunch=bunch)
    residuals = 1 - (all_features(experiment) ** 2).sum(axis=1)
    if null == "reference":  # whose pivots may be a toy's data
        for j, event in enumerate(
            int(np.flatnonzero((experiment.plan.units.apply(R.features) == p).all(axis=1))[0])
            for p in experiment.basis.pivots
        ):
            residuals[event] = 1 / np.linalg.inv(experiment.basis.factor @ experiment.basis.factor.T)[j, j]
    term, bunches = experiment.reach(), experiment.pool.bunches
    np.testing.assert_allclose(term.of_data, residuals[3000:], atol=1e-6)
    null_events = residuals if null == "permutation" else residuals[:3000]
    assert term.mean == pytest.approx((null_events.sum() + 1) / (len(null_events) + 1), rel=1e-4)
    for row in (0, bunches.drawn - 1, int(experiment.scheme.data(0).data[0])):
        events = events_of(experiment, np.array([row]))
        truth = residuals[events].sum()
        assert term.by_row[row] == pytest.approx(truth, abs=1e-5)
    assert term.expected_beyond == pytest.approx(100 * np.mean(null_events > BEYOND), abs=0.1)


def test_without_data_there_are_none_out_of_reach() -> None:
    experiment = ScoreExperiment.prepare(plan(data=None), R, None, memory=MEMORY)
    assert len(experiment.reach().of_data) == 0
    assert experiment.reach().beyond().number == 0


def test_a_generated_toy_is_the_score_of_its_own_events() -> None:
    experiment = prepared(make_events=lambda n, rng: rng.exponential(1 / 8, (n, 1)), null="generator")
    toy = experiment.generate(2)
    is_data = toy.weightings.roles[:, 0] == DATA
    phi, whole = experiment.basis.features(toy.events), all_features(experiment)[:3000]
    u = phi[is_data].sum(axis=0) - EXPECTED * phi[~is_data].mean(axis=0)
    second = EXPECTED * whole.T @ whole / 3000
    w = np.linalg.solve(second + 2 * experiment.plan.penalty * experiment.plan.events_per_fit * np.eye(len(u)), u)
    found = experiment.fit_generated(toy)
    assert found.statistic[0] == pytest.approx(2 * w @ u - w @ second @ w, rel=1e-6)


def test_what_it_holds_and_how_many_toys_it_takes_together_are_the_pools() -> None:
    experiment = prepared()
    assert experiment.held == experiment.pool.held > 0
    assert experiment.batch_size(10**6) == experiment.pool.batch_size(10**6)
    assert experiment.spectrum is experiment.pool.model.spectrum
    assert experiment.basis is experiment.pool.basis


def test_toys_take_bunches_unless_events_have_weights_are_generated_or_centres_are_barred() -> None:
    dealt = scheme_of(plan(bunch=5), R, D)
    assert isinstance(dealt, ReferenceScheme)
    assert dealt.bunches.size == 5
    relabelled = scheme_of(plan(null="permutation", bunch=5), R, D)
    assert isinstance(relabelled, PermutationScheme)
    assert relabelled.bunches.size == 5
    weighted = Sample(R.features, R.names, np.ones(3000))
    assert isinstance(scheme_of(plan(weighted), weighted, D), WeightedReferenceScheme)
    for made in (plan(null="generator"), replace(plan(), centers_barred=True, moment_blocks=1)):
        single = scheme_of(made, R, D)
        assert isinstance(single, ReferenceScheme)
        assert single.bunches.are_events
        assert len(single.held_out) == (0 if made.null == "generator" else 40)


def test_the_data_are_one_row_or_one_for_each_event() -> None:
    assert len(scheme_of(plan(), R, D).data(0).data) == 1
    assert len(scheme_of(plan(), R, D, as_one=False).data(0).data) == 100


def test_scales_may_share_a_scheme() -> None:
    made = plan()
    scheme = scheme_of(made, R, D)
    experiment = ScoreExperiment.prepare(made, R, D, memory=MEMORY, scheme=scheme)
    assert experiment.scheme is scheme
    np.testing.assert_allclose(experiment.fit_toys(range(3)).statistic, prepared().fit_toys(range(3)).statistic)


def test_the_score_of_a_weighted_draw_is_that_of_its_events() -> None:
    weights = np.linspace(0.5, 1.0, 3000)
    experiment = prepared(Sample(R.features, R.names, weights))
    phi, splits = all_features(experiment), experiment.scheme.splits  # type: ignore[attr-defined]
    free = np.setdiff1d(splits.free(2), experiment.pool.pivot_rows)  # rows are events
    data, left_out = free[:93], free[93:200]
    reference = np.setdiff1d(np.arange(3000), free[:200])
    u = phi[data].sum(axis=0) - EXPECTED * np.average(phi[reference], axis=0, weights=weights[reference])
    shaping = np.setdiff1d(np.arange(3000), splits.free(2))
    c = weights[shaping] / weights[shaping].sum()
    second = EXPECTED * (phi[shaping] * c[:, None]).T @ phi[shaping]
    ridge = 2 * experiment.plan.penalty * experiment.plan.events_per_fit
    w = np.linalg.solve(second + ridge * np.eye(len(u)), u)
    found = experiment.fit([Draw(3100, 3000, data, left_out, split=2)])
    assert found.statistic[0] == pytest.approx(2 * w @ u - w @ second @ w, rel=1e-6)


def test_barred_centres_alone_give_the_moments_that_judge_toys() -> None:
    experiment = prepared(centers=2700)
    assert experiment.plan.centers_barred
    assert experiment.pool.pivot_rows is None
    phi, barred = all_features(experiment), centers_of(experiment.plan, R)
    second = EXPECTED * phi[barred].T @ phi[barred] / len(barred)
    ridge = 2 * experiment.plan.penalty * experiment.plan.events_per_fit
    for i in range(5):
        toy = experiment.scheme.toy(i)
        assert not np.isin(barred, np.concatenate([toy.data, toy.left_out])).any()
        reference = np.setdiff1d(np.arange(3000), np.concatenate([toy.data, toy.left_out]))
        u = phi[toy.data].sum(axis=0) - EXPECTED * phi[reference].mean(axis=0)
        w = np.linalg.solve(second + ridge * np.eye(len(u)), u)
        assert experiment.fit([toy]).statistic[0] == pytest.approx(2 * w @ u - w @ second @ w, rel=1e-6)
