"""A search on several scales: chosen from the reference, combined, calibrated, kept and resumed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.multiscale import Ladder
from lanner.inference.scales import deviation_of, deviations_at
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.terms import GUMBEL, CountTerm, LocalTerm, ReachTerm
from lanner.model.loss import loss_by_name
from lanner.model.weightings import DATA
from lanner.run.prepare import plan_search
from lanner.settings import FitSettings
from tests.conftest import exponential

R, D = exponential(6000, 300, seed=1)
SETTINGS = {"expected": 300, "centers": 200, "seed": 5, "toys": 300}


def searched(data: np.ndarray = D, **changes: Any) -> lanner.SearchResult:
    return lanner.search(R, data, **(SETTINGS | changes))


def prepared(expected: float | None = 300, make_events: Any = None, **settings: Any) -> Ladder:
    """The ladder of a search, before any toy."""
    samples, fit = (Sample.of(R), Sample.of(D)), FitSettings(centers=200, seed=5, **settings)
    plans = plan_search(*samples, expected=expected, settings=fit, memory=10**9)
    return Ladder.prepare(plans, *samples, memory=10**9, make_events=make_events)


@pytest.fixture(scope="module")
def peak() -> np.ndarray:
    return np.vstack([D, np.random.default_rng(2).normal(0.9, 0.02, (12, 1))])


def test_without_a_width_four_widths_and_several_penalties_are_combined() -> None:
    result = searched()
    assert result.combined is not None
    widths = sorted({s.width for s in result.combined.scales})
    assert len(widths) == 4
    for width in widths:
        sizes = [round(s.deviation, 3) for s in result.combined.scales if s.width == width]
        assert sizes == list(deviations_at("score", widths, width, features=1))
    assert (result.combined.n_map_toys, len(result.null)) == (100, 200)
    assert 0.01 < result.p_value <= 1
    said = " ".join(map(str, result.plan.chosen))
    assert "widths" in said
    assert "penalties" in said


def test_the_scales_do_not_depend_on_the_data(peak: np.ndarray) -> None:
    scales = [[(s.width, s.penalty) for s in searched(d).combined.scales] for d in (D, peak)]
    assert scales[0] == scales[1]


@pytest.mark.parametrize("null", ["reference", "permutation", "generator"])
def test_a_signal_is_found_and_shown_at_the_most_significant_scale(null: str, peak: np.ndarray) -> None:
    make = {"generator": lambda n, g: g.exponential(1 / 8, (n, 1))} if null == "generator" else {}
    result = searched(peak, null=null, toys=60 if null == "generator" else 300, **make)
    assert result.empirical.is_bound
    assert result.combined is not None
    best = result.combined.scales[result.combined.dominant_scale]
    assert best.local_z == max(s.local_z for s in result.combined.scales) > 4
    assert (result.plan.width, result.plan.penalty) == (best.width, best.penalty)
    assert result.ratio.statistic == pytest.approx(best.statistic)
    assert result.ratio.log_ratio([[0.9]])[0] > result.ratio.log_ratio([[0.3]])[0]
    assert "depart" in result.verdict()


def test_each_scale_is_what_a_search_at_that_scale_finds() -> None:
    result = searched()
    assert result.combined is not None
    chosen = result.combined.scales[4]
    alone = searched(width=chosen.width, penalty=chosen.penalty, statistic="score")
    assert alone.combined is None
    assert alone.statistic == pytest.approx(chosen.statistic, rel=1e-3)
    assert alone.null.statistics[100:].mean() == pytest.approx(chosen.null_mean, rel=1e-3)
    assert alone.null.analytic_confirmed


@pytest.mark.parametrize("statistic", ["score", "likelihood-ratio"])
@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_beside_several_scales_stand_the_count_and_at_each_width_the_local_excess_and_the_reach(
    statistic: str, null: str
) -> None:
    ladder = prepared(statistic=statistic, null=null)
    widths = sorted({p.width for p in ladder.plans})
    kinds = [CountTerm, *([LocalTerm] * 4 if statistic == "score" else []), *[ReachTerm] * 4]
    assert [type(term) for term in ladder.terms] == kinds
    for kind in set(kinds[1:]):
        assert [term.width for term in ladder.terms if isinstance(term, kind)] == widths
    assert len({term.label for term in ladder.terms}) == len(kinds)


@pytest.mark.parametrize("statistic", ["score", "likelihood-ratio"])
@pytest.mark.parametrize("null", ["reference", "permutation"])
def test_toys_have_the_statistics_of_the_terms(statistic: str, null: str) -> None:
    ladder, toys = prepared(statistic=statistic, null=null), [0, 1, 2]
    scales, found = len(ladder.scales), ladder.fit_toys(toys)
    assert len(found) == scales + len(ladder.terms)
    assert all(s.converged.all() for s in found[scales:])
    draws = [ladder.first.scheme.toy(i) for i in toys]
    pools = {scale.plan.width: scale.pool for scale in ladder.scales if isinstance(scale, ScoreExperiment)}
    for term, solution in zip(ladder.terms, found[scales:], strict=True):
        if isinstance(term, CountTerm):
            truth = -term.log_p(np.array([d.data_size for d in draws]))
        elif isinstance(term, ReachTerm):
            truth = -term.log_p(np.array([term.by_row[d.data].sum() for d in draws]))
        else:
            pool = pools[term.width]
            local = pool.differences(pool.taken(draws)).local
            assert local is not None
            truth = local
        np.testing.assert_allclose(solution.statistic, truth)


def test_what_is_known_of_a_null_beforehand_is_told_for_scales_and_local_excesses() -> None:
    ladder = prepared()
    laws, scales = ladder.laws(), len(ladder.scales)
    assert len(laws) == scales + len(ladder.terms)
    for law, scale in zip(laws, ladder.scales, strict=False):
        assert law == scale.analytic_moments()
    assert laws[scales:] == [GUMBEL if isinstance(term, LocalTerm) else None for term in ladder.terms]


def test_relabelled_the_local_excesses_of_all_widths_have_one_vote_together() -> None:
    assert set(prepared().votes()) == {1.0}
    ladder = prepared(expected=None, null="permutation")
    local = [
        v for v, t in zip(ladder.votes()[len(ladder.scales) :], ladder.terms, strict=True) if isinstance(t, LocalTerm)
    ]
    assert len(local) > 1
    assert sum(local) == pytest.approx(1.0)
    assert sum(ladder.votes()) == pytest.approx(len(ladder.votes()) - len(local) + 1)


def test_the_shape_alone_has_no_count_and_a_single_scale_no_terms_at_all() -> None:
    assert [type(t) for t in prepared(expected=None).terms] == [LocalTerm] * 4 + [ReachTerm] * 4
    single = prepared(width=0.5, penalty=1e-5)
    assert single.terms == ()
    (reach,) = single.reach()
    assert reach.width == 0.5


def test_a_scales_reach_is_that_of_rows_which_may_be_a_toys_data() -> None:
    score, fits = (prepared(statistic=s).reach()[0] for s in ("score", "likelihood-ratio"))
    assert score.mean == pytest.approx((score.by_row[:6000].sum() + 1) / 6001)  # bunches of one
    barred = prepared(statistic="likelihood-ratio").first.scheme.held_out  # type: ignore[attr-defined]
    assert len(barred) == 200
    assert fits.mean == pytest.approx((np.delete(fits.by_row[:6000], barred).sum() + 1) / 5801)


def test_scales_of_a_score_share_their_rows() -> None:
    ladder = prepared()
    assert len({id(scale.scheme) for scale in ladder.scales}) == 1
    assert len({id(scale.pool.bunches) for scale in ladder.scales if isinstance(scale, ScoreExperiment)}) == 1


def test_coefficients_of_toys_are_made_for_a_single_scale_alone() -> None:
    several, single = prepared(), prepared(width=0.5, penalty=1e-5, statistic="score")
    assert all(s.coefficients.size == 0 for s in several.fit_toys(range(4)))
    (found,) = single.fit_toys(range(4))
    assert found.coefficients.shape == (single.first.basis.rank, 4)
    data = several.fit_data(2)
    assert data[0].coefficients.shape == (several.scales[0].basis.rank, 2)


def test_signals_are_rows_of_their_own_where_toys_take_some_of_them() -> None:
    samples, fit = (Sample.of(R), Sample.of(D)), FitSettings(centers=200, seed=5, width=0.5, statistic="score")
    plans = plan_search(*samples, expected=300, settings=fit, memory=10**9)
    together, apart = (Ladder.prepare(plans, *samples, memory=10**9, as_one=as_one) for as_one in (True, False))
    assert len(together.first.scheme.data(0).data) == 1
    assert len(apart.first.scheme.data(0).data) == len(D)
    for one, other in zip(together.fit_data(2), apart.fit_data(2), strict=True):
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-4)


def test_preparing_tells_how_far_it_is() -> None:
    samples, told = (Sample.of(R), Sample.of(D)), []
    plans = plan_search(*samples, expected=300, settings=FitSettings(centers=200, seed=5), memory=10**9)
    Ladder.prepare(plans, *samples, memory=10**9, progress=lambda *args: told.append(args))
    stages = [f"preparing scale {k} of 4" for k in (1, 2, 3, 4)]
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == stages
    assert {whole for _, _, whole in told} == {400}
    for k, stage in enumerate(stages):
        assert all(100 * k <= done <= 100 * (k + 1) for name, done, _ in told if name == stage)


def test_generated_toys_have_their_terms() -> None:
    def make(n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(1 / 8, (n, 1))

    ladder = prepared(null="generator", make_events=make)
    found = ladder.fit_toys([4, 5])
    toys = [ladder.first.generate(i) for i in (4, 5)]
    data = [toy.events[toy.weightings.roles[:, 0] == DATA] for toy in toys]
    experiments = {scale.plan.width: scale for scale in ladder.scales}
    for term, solution in zip(ladder.terms, found[len(ladder.scales) :], strict=True):
        if isinstance(term, CountTerm):
            np.testing.assert_allclose(solution.statistic, -term.log_p(np.array([len(x) for x in data])))
            continue
        experiment = experiments[term.width]
        assert isinstance(experiment, ScoreExperiment)
        phi = [experiment.basis.features(toy.events) for toy in toys]
        is_data = [toy.weightings.roles[:, 0] == DATA for toy in toys]
        if isinstance(term, ReachTerm):
            totals = [(1 - (p[d] ** 2).sum(axis=1)).sum() for p, d in zip(phi, is_data, strict=True)]
            np.testing.assert_allclose(solution.statistic, -term.log_p(np.array(totals)), atol=1e-3)
        else:
            u = [p[d].sum(axis=0) - 300 * p[~d].mean(axis=0) for p, d in zip(phi, is_data, strict=True)]
            truth = experiment.pool.model.local_excess.statistic(np.stack(u, axis=1))
            np.testing.assert_allclose(solution.statistic, truth, rtol=1e-3)


def test_the_datas_statistics_are_medians_over_the_splits() -> None:
    ladder = prepared()
    by_split, found = ladder.data_by_split(), [s.statistic[0] for s in ladder.fit_data(1)]
    splits = ladder.first.scheme.splits  # type: ignore[attr-defined]
    scales = len(ladder.scales)
    assert by_split.shape == (splits.number, scales + 9)
    np.testing.assert_allclose(np.median(by_split, axis=0), found, rtol=1e-6)
    assert (np.ptp(by_split[:, :scales], axis=0) > 0).all()
    assert (np.ptp(by_split[:, scales:], axis=0) == 0).all()  # terms have no moments


def test_the_likelihood_ratio_has_a_ladder_too(peak: np.ndarray) -> None:
    result = searched(peak, statistic="likelihood-ratio", combination="product", toys=90)
    assert result.combined is not None
    assert len(result.combined.scales) == 4
    assert result.empirical.is_bound
    law = loss_by_name("logistic")
    events = result.plan.reference_size + result.plan.expected
    assert deviation_of(result.plan.penalty, events=events, loss=law) == pytest.approx(2.0)


def test_kept_and_resumed_toys_give_the_same_bits(tmp_path: Path, peak: np.ndarray) -> None:
    whole = searched(peak)

    def stop(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        searched(peak, output=tmp_path, progress=stop)
    kept = searched(peak, output=tmp_path)
    np.testing.assert_array_equal(kept.null.statistics, whole.null.statistics)
    assert kept.statistic == whole.statistic
    lanner.save_result(kept, tmp_path)
    loaded = lanner.load_result(tmp_path)
    assert loaded.verdict() == kept.verdict()
    assert loaded.combined == kept.combined
    assert str(loaded) == str(kept)


def test_a_calibration_keeps_its_scales(tmp_path: Path, peak: np.ndarray) -> None:
    options = {k: v for k, v in SETTINGS.items() if k != "toys"}
    lanner.calibrate(R, output=tmp_path, toys=300, **options)  # type: ignore[arg-type]
    applied, direct = lanner.apply(tmp_path, peak), searched(peak)
    assert applied.combined is not None
    assert direct.combined is not None
    for one, other in zip(applied.combined.scales, direct.combined.scales, strict=True):
        assert (one.width, one.penalty, one.toys) == (other.width, other.penalty, other.toys)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-4)
    for term, same in zip(applied.combined.terms, direct.combined.terms, strict=True):
        assert (term.label, term.toys) == (same.label, same.toys)
        assert term.statistic == pytest.approx(same.statistic, rel=1e-3, abs=1e-4)
    assert applied.p_value == direct.p_value


def test_toys_until_the_p_value_is_known(tmp_path: Path, peak: np.ndarray) -> None:
    ordinary = searched(toys=None, until_z=2.0, output=tmp_path / "a")
    assert ordinary.stopping is not None
    assert ordinary.empirical.sequential
    assert ordinary.empirical.exceedances == ordinary.stopping.exceedances == 12
    assert ordinary.p_value == 12 / ordinary.empirical.toys
    again = searched(toys=None, until_z=2.0, output=tmp_path / "a")
    assert again.p_value == ordinary.p_value
    remarkable = searched(peak, toys=None, until_z=2.0)
    assert not remarkable.empirical.sequential
    assert remarkable.empirical.toys == remarkable.stopping.toys
    assert remarkable.z_score > 2.5
    lanner.save_result(ordinary, tmp_path)
    assert lanner.load_result(tmp_path).verdict() == ordinary.verdict()


def test_power_of_a_combination() -> None:
    signal = np.random.default_rng(3).normal(0.8, 0.02, (500, 1))
    found = lanner.power(R, signal, signal_events=[0, 8], experiments=40, **SETTINGS)  # type: ignore[arg-type]
    nothing, something = found.strengths
    assert something.band("empirical")[1] > nothing.band("empirical")[1] + 1
    assert something.z_analytic is None
    assert something.best == "tail"
    assert "fitted tail" in str(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"statistic": "f-test"}, "choose one of 'likelihood-ratio', 'score'"),
        ({"combination": "best"}, "choose one of 'harmonic'"),
        ({"width": "narrow"}, "give a number above 0, such as 0.3, or 'auto'"),
        ({"toys": 30}, "at least 60 toys"),
        ({"until_z": 9.0}, "above 0 and of at most 6"),
    ],
)
def test_what_is_not_known_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        searched(**settings)
