"""What experiments have in common, whatever judges their toys."""

from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import Experiment, basis_of, candidates_of
from lanner.inference.fit_experiment import FitExperiment
from lanner.inference.layout import centers_of
from lanner.inference.plan import Plan, plan_one
from lanner.inference.score_experiment import ScoreExperiment
from lanner.model.weightings import DATA, REFERENCE
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = (Sample.of(x) for x in exponential(3000, 100, seed=1))
MEMORY = 10**8
KINDS: dict[str, type[FitExperiment] | type[ScoreExperiment]] = {
    "score": ScoreExperiment,
    "likelihood-ratio": FitExperiment,
}
BOTH = pytest.mark.parametrize("statistic", ["likelihood-ratio", "score"])


def generator(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.exponential(1 / 8, (n, 1))


def plan(data: Sample | None = D, **settings: Any) -> Plan:
    how: dict[str, Any] = {"width": 0.5, "penalty": 1e-5, "centers": 40, "precision": "double", "tolerance": 1e-8}
    return plan_one(R, data, expected=100.0, settings=FitSettings(**(how | settings)))


def prepared(data: Sample | None = D, make_events: Any = None, **settings: Any) -> Experiment:
    made = plan(data, **settings)
    return KINDS[made.statistic].prepare(made, R, data, memory=MEMORY, make_events=make_events)


def test_an_experiment_says_how_it_judges() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Experiment(plan(), None, R, D, None)  # type: ignore[abstract]


@BOTH
def test_a_toy_does_not_depend_on_those_beside_it(statistic: str) -> None:
    experiment = prepared(statistic=statistic)
    together = experiment.fit_toys([0, 1, 2, 3]).statistic
    np.testing.assert_allclose([experiment.fit_toys([i]).statistic[0] for i in range(4)], together, rtol=1e-6)


@BOTH
def test_every_toy_that_has_ended_is_told(statistic: str) -> None:
    told: list[int] = []
    prepared(statistic=statistic).fit_toys(range(5), told.append)
    assert sum(told) == 5


@BOTH
def test_the_data_are_fitted_with_several_draws_of_the_reference(statistic: str) -> None:
    experiment = prepared(statistic=statistic)
    draws = experiment.data_draws(3)
    assert len(draws) == 3
    assert {d.data_size for d in draws} == {100}
    assert not np.array_equal(draws[0].left_out, draws[1].left_out)
    found = experiment.fit(draws).statistic
    assert len(set(found)) == 3
    assert np.ptp(found) < 0.5 * found.mean()  # they differ in a few reference events alone


@BOTH
def test_where_nothing_is_left_to_choose_there_is_one_draw(statistic: str) -> None:
    shape = plan_one(R, D, expected=None, settings=FitSettings(
        width=0.5, penalty=1e-5, centers=40, statistic=statistic, null="permutation",
    ))  # fmt: skip
    assert len(KINDS[statistic].prepare(shape, R, D, memory=MEMORY).data_draws(5)) == 1


@BOTH
def test_an_experiment_without_data_says_so(statistic: str) -> None:
    with pytest.raises(InputError, match="has no data"):
        prepared(data=None, statistic=statistic).data_draws(1)


@BOTH
def test_the_law_without_toys_has_the_moments_that_cost_nothing(statistic: str) -> None:
    experiment = prepared(statistic=statistic)
    law, moments = experiment.analytic_null(), experiment.analytic_moments()
    assert (moments.mean, moments.std) == pytest.approx((law.mean, law.std), rel=1e-9)


@BOTH
def test_a_generator_makes_a_new_reference_for_every_toy(statistic: str) -> None:
    experiment = prepared(make_events=generator, null="generator", statistic=statistic)
    toys = [experiment.generate(i) for i in (0, 1, 0)]
    np.testing.assert_array_equal(toys[0].events, toys[2].events)
    assert not np.isin(toys[0].events[:100], toys[1].events).any()
    assert np.count_nonzero(toys[0].weightings.roles == REFERENCE) == experiment.plan.reference_size
    np.testing.assert_allclose(
        experiment.fit_toys([0, 1]).statistic, [experiment.fit_generated(t).statistic[0] for t in toys[:2]]
    )


@BOTH
def test_generated_toys_have_a_poisson_number_of_data(statistic: str) -> None:
    experiment = prepared(make_events=generator, null="generator", statistic=statistic)
    numbers = [np.count_nonzero(experiment.generate(i).weightings.roles == DATA) for i in range(200)]
    assert np.mean(numbers) == pytest.approx(100, abs=4 * (100 / 200) ** 0.5)
    assert np.var(numbers) == pytest.approx(100, rel=0.4)


@BOTH
def test_a_generator_is_needed_and_must_keep_its_word(statistic: str) -> None:
    with pytest.raises(InputError, match="needs generator="):
        prepared(null="generator", statistic=statistic)
    with pytest.raises(InputError, match="the generator returned 40 events of 2 features where 40 of 1"):
        prepared(make_events=lambda n, rng: rng.random((n, 2)), null="generator", statistic=statistic)


def test_a_generator_has_no_weights_to_give() -> None:
    weighted = Sample(R.features, R.names, np.ones(3000))
    made = plan_one(weighted, D, expected=100.0, settings=FitSettings(width=0.5, null="generator"))
    with pytest.raises(InputError, match="makes unweighted references"):
        FitExperiment.prepare(made, weighted, D, memory=MEMORY, make_events=generator)


@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_candidates_are_scaled_events_of_the_pool(null: str) -> None:
    made = plan(null=null)
    events = ScaledRows((R.features, D.features), made.units)
    candidates, rows = candidates_of(made, R, events, None)
    assert rows is not None
    assert len(set(rows)) == len(rows) == 40
    np.testing.assert_array_equal(candidates, events[rows])
    if null == "reference":
        np.testing.assert_array_equal(rows, centers_of(made, R))


def test_generated_candidates_are_none_of_the_pools_events() -> None:
    made = plan(null="generator")
    candidates, rows = candidates_of(made, R, ScaledRows((R.features, D.features), made.units), generator)
    assert rows is None
    assert len(candidates) == 40


def test_pivots_are_as_many_as_the_penalty_asks_for_and_as_are_allowed() -> None:
    x = np.random.default_rng(4).normal(size=(400, 3))
    coarse, fine = (basis_of(plan(width=1.0, penalty=p), x, MEMORY) for p in (1e-2, 1e-8))
    assert coarse.rank < fine.rank <= 400
    assert basis_of(plan(width=1.0, penalty=1e-8, max_rank=30), x, MEMORY).rank == 30
    given = basis_of(plan(width=1.0, penalty=1e-8, trace_error=1e-2), x, MEMORY)
    assert given.rank < fine.rank
    assert given.trace_error <= 1e-2


@BOTH
def test_the_ratio_knows_the_plan_behind_it(statistic: str) -> None:
    experiment = prepared(statistic=statistic)
    solution = experiment.fit(experiment.data_draws(2))
    ratio = experiment.ratio(solution, fit=1)
    assert ratio.statistic == solution.statistic[1]
    assert (ratio.rank, ratio.data_size, ratio.expected) == (experiment.basis.rank, 100, 100.0)
    assert (ratio.width, ratio.reference_size) == (0.5, experiment.plan.reference_size)
    x = experiment.plan.units.apply(R.features[:20])
    f = experiment.basis.features(x) @ solution.coefficients[:, 1]
    np.testing.assert_allclose(experiment.basis.kernel(x, ratio.centers) @ ratio.coefficients, f, atol=1e-6)


@BOTH
def test_bands_are_made_of_the_first_toys(statistic: str) -> None:
    experiment = prepared(statistic=statistic)
    np.testing.assert_allclose(experiment.band(3), experiment.fit_toys(range(3)).coefficients)
