from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.experiment import Experiment, centers_of, reference_scheme
from lanner.inference.plan import plan_one
from lanner.inference.resampling import ReferenceScheme
from lanner.model.weightings import DATA, REFERENCE, Draw
from lanner.settings import FitSettings
from tests.conftest import Dense, exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY = 10**8


def generator(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.exponential(1 / 8, (n, 1))


def prepared(data: Sample | None = D, make_events: Any = None, **settings: Any) -> Experiment:
    how: dict[str, Any] = {
        "width": 0.5,
        "penalty": 1e-5,
        "centers": 40,
        "precision": "double",
        "tolerance": 1e-8,
    } | settings
    plan = plan_one(R, data, expected=100.0, settings=FitSettings(**how))
    return Experiment.prepare(plan, R, data, memory=MEMORY, make_events=make_events)


def dense(experiment: Experiment, roles: np.ndarray) -> Dense:
    """The fit of what each event is, from the scaled events and the pivots alone."""
    plan, basis = experiment.plan, experiment.pool.features.basis
    events = np.vstack([R.features, D.features]) if experiment.data is not None else R.features
    phi = basis.features(plan.units.apply(events))
    v0 = (roles == REFERENCE) * plan.expected / np.count_nonzero(roles == REFERENCE)
    return Dense(phi, v0, (roles == DATA) * 1.0, plan.penalty * np.count_nonzero(roles), plan.loss)


def test_a_toy_is_the_fit_of_what_its_scheme_draws() -> None:
    experiment = prepared()
    found = experiment.fit_toys([3, 8])
    for column, toy in enumerate((3, 8)):
        truth = dense(experiment, experiment.scheme.toy(toy).roles())
        assert found.statistic[column] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_a_toy_does_not_depend_on_those_beside_it() -> None:
    experiment = prepared(statistic="score")
    together = experiment.fit_toys([0, 1, 2, 3]).statistic
    np.testing.assert_allclose([experiment.fit_toys([i]).statistic[0] for i in range(4)], together, rtol=1e-9)


def test_the_data_are_fitted_with_several_draws_of_the_reference() -> None:
    experiment = prepared()
    draws = experiment.data_draws(3)
    assert len(draws) == 3
    assert all(d.data.tolist() == list(range(3000, 3100)) for d in draws)
    assert not np.array_equal(draws[0].left_out, draws[1].left_out)


def test_an_experiment_without_data_says_so() -> None:
    with pytest.raises(InputError, match="has no data"):
        prepared(data=None).data_draws(1)


def test_centres_of_fits_are_never_a_toys_data() -> None:
    experiment = prepared()
    held_out = reference_scheme(experiment.plan, R, len(D)).held_out
    assert len(held_out) == 40
    for toy in range(20):
        assert not np.isin(experiment.scheme.toy(toy).data, held_out).any()


def test_centres_of_a_score_may_be_a_toys_data_and_then_count_as_none() -> None:
    experiment = prepared(statistic="score")
    scheme, pool = reference_scheme(experiment.plan, R, len(D)), experiment.pool
    assert len(scheme.held_out) == 0
    assert pool.pivot_rows is not None
    np.testing.assert_allclose(pool.features.basis.pivots, experiment.plan.units.apply(R.features[pool.pivot_rows]))
    assert any(np.isin(experiment.scheme.toy(i).data, pool.pivot_rows).any() for i in range(20))
    # Among the candidates are the pivots, and beside them the events that none of those reaches.
    assert np.isin(pool.pivot_rows, centers_of(experiment.plan, R)).sum() <= 40


def isolated(number: int, **settings: Any) -> tuple[Experiment, np.ndarray]:
    """Some reference events far from all others, and from each other."""
    far = 1e3 + 100.0 * np.arange(number)
    x = np.concatenate([np.random.default_rng(5).normal(size=3000), far])[:, None]
    reference = Sample.of(x)
    how: dict[str, Any] = {"statistic": "score", "width": 0.5, "penalty": 1e-5, "centers": 30, "seed": 2} | settings
    plan = plan_one(reference, D, expected=100.0, settings=FitSettings(**how))
    return Experiment.prepare(plan, reference, D, memory=MEMORY), np.arange(3000, 3000 + number)


def test_reference_events_that_no_centre_reaches_become_centres() -> None:
    experiment, rows = isolated(7)
    assert experiment.pool.pivot_rows is not None
    assert set(rows) <= set(experiment.pool.pivot_rows)
    phi = experiment.pool.features.phi_block(slice(3000, 3007))
    np.testing.assert_allclose((phi**2).sum(axis=1), 1, atol=1e-6)  # they are represented,
    np.testing.assert_allclose(experiment.pool.residuals[rows], 1, atol=1e-6)  # but not by others than themselves


def test_a_toy_is_not_helped_by_its_own_isolated_events() -> None:
    """Among a toy's data such an event has no features, as among the data: nothing of it is within reach."""
    experiment, rows = isolated(7)
    some, none = np.arange(100), np.empty(0, dtype=np.intp)
    draws = [Draw(3107, 3007, np.append(some, rows[:k]), none, split=0) for k in (0, 3)]
    before, after = (experiment.pool.differences([d]).parts[0][2][:, 0] for d in draws)
    # u differs by what the three are missing from the reference alone.
    vectors = experiment.pool.scores.splits[0].basis.vectors
    phi = experiment.pool.features.phi_block(slice(0, 3007)).astype(float)
    means = [np.delete(phi, d.data, axis=0).mean(axis=0) for d in draws]
    truth = vectors.T @ (100 * (means[0] - means[1])) / 10
    np.testing.assert_allclose(after - before, truth, atol=1e-4)


def test_very_many_such_events_stay_what_they_are_and_so_does_the_largest_rank() -> None:
    many, _ = isolated(300)
    assert many.pool.pivot_rows is not None
    assert np.count_nonzero(many.pool.pivot_rows >= 3000) < 20  # those among the candidates
    held, _ = isolated(7, max_rank=20)
    assert held.pool.features.basis.rank <= 20


def test_toys_of_a_score_are_judged_by_moments_without_their_data() -> None:
    experiment = prepared(statistic="score")
    scheme, pool = experiment.scheme, experiment.pool
    assert isinstance(scheme, ReferenceScheme)
    assert scheme.splits is not None
    assert len(pool.scores.splits) == scheme.splits.number
    phi = pool.features.phi_block(slice(0, 3000))
    for i in range(scheme.splits.number):
        toy = scheme.toy(i)
        assert toy.split == i
        shaping = np.setdiff1d(np.arange(3000), scheme.splits.free(i))
        assert not np.isin(toy.data, shaping).any()
        second = phi[shaping].T @ phi[shaping] / len(shaping)
        np.testing.assert_allclose(pool.scores.splits[i].basis.moments.second, second, atol=1e-9)


def test_a_toys_score_is_by_its_split_and_the_datas_the_median_of_all() -> None:
    experiment = prepared(statistic="score")
    toys = [experiment.scheme.toy(i) for i in range(3)]
    by_split = experiment.score_by_split(experiment.pool.differences([*toys, *experiment.data_draws(1)]))
    assert (np.count_nonzero(~np.isnan(by_split), axis=0) == [1, 1, 1, len(by_split)]).all()
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(by_split[:, 1])), [1])
    found = experiment.fit([*toys, *experiment.data_draws(1)]).statistic
    np.testing.assert_allclose(found, np.nanmedian(by_split, axis=0))


def test_another_penalty_shares_the_features() -> None:
    experiment = prepared()
    plan = plan_one(
        R, D, expected=100.0,
        settings=FitSettings(width=0.5, penalty=1e-3, centers=40, precision="double", tolerance=1e-8),
    )  # fmt: skip
    other = experiment.at_penalty(plan)
    assert other.pool.features is experiment.pool.features
    roles = other.scheme.toy(0).roles()
    truth = dense(other, roles)
    assert other.fit_toys([0]).statistic[0] == pytest.approx(truth.statistic(truth.minimum()), rel=1e-5)


def test_the_law_without_toys_is_where_toys_are() -> None:
    experiment = prepared(statistic="score")
    law, moments = experiment.analytic_null(), experiment.analytic_moments()
    assert (moments.mean, moments.std) == pytest.approx((law.mean, law.std), rel=1e-9)
    toys = experiment.fit_toys(range(400)).statistic
    assert toys.mean() == pytest.approx(law.mean, abs=5 * law.std / 20)


def test_the_ratio_is_the_fit_at_any_event() -> None:
    experiment = prepared()
    draw = experiment.data_draws(1)
    solution = experiment.fit(draw)
    ratio = experiment.ratio(solution)
    truth = dense(experiment, draw[0].roles())
    np.testing.assert_allclose(ratio.log_ratio(R.features[:50]), truth.phi[:50] @ truth.minimum(), atol=1e-4)
    assert ratio.statistic == solution.statistic[0]


def test_a_generator_makes_a_new_reference_for_every_toy() -> None:
    experiment = prepared(make_events=generator, null="generator")
    toys = [experiment.generate(i) for i in (0, 1, 0)]
    np.testing.assert_array_equal(toys[0].events, toys[2].events)
    assert not np.isin(toys[0].events[:100], toys[1].events).any()
    assert np.count_nonzero(toys[0].weightings.roles == REFERENCE) == experiment.plan.reference_size
    assert np.isfinite(experiment.fit_toys([0, 1]).statistic).all()


def test_a_generator_is_needed_and_must_keep_its_word() -> None:
    with pytest.raises(InputError, match="needs generator="):
        prepared(null="generator")
    with pytest.raises(InputError, match="the generator returned 40 events of 2 features where 40 of 1"):
        prepared(make_events=lambda n, rng: rng.random((n, 2)), null="generator")
