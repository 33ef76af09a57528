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
from lanner.inference.terms import CountTerm, ReachTerm
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
        assert sizes == list(deviations_at("score", widths, width))
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
def test_beside_several_scales_stand_the_count_and_the_reach_of_each_width(statistic: str, null: str) -> None:
    ladder = prepared(statistic=statistic, null=null)
    count, *reach = ladder.terms
    assert isinstance(count, CountTerm)
    assert [t.width for t in reach if isinstance(t, ReachTerm)] == sorted({p.width for p in ladder.plans})
    scales, toys = len(ladder.scales), [0, 1, 2]
    found = ladder.fit_toys(toys)
    assert len(found) == scales + 1 + len(reach)
    draws = [ladder.first.scheme.toy(i) for i in toys]
    np.testing.assert_allclose(found[scales].statistic, -count.log_p(np.array([len(d.data) for d in draws])))
    assert all(s.converged.all() for s in found[scales:])
    for k, term in enumerate(reach, start=scales + 1):
        assert isinstance(term, ReachTerm)
        sums = [term.residuals[d.data].sum() for d in draws]
        np.testing.assert_allclose(found[k].statistic, -term.log_p(np.array(sums)))


def test_the_shape_alone_has_no_count_and_a_single_scale_no_terms_at_all() -> None:
    assert all(isinstance(t, ReachTerm) for t in prepared(expected=None).terms)
    assert len(prepared(expected=None).terms) == 4
    single = prepared(width=0.5, penalty=1e-5)
    assert single.terms == ()
    (reach,) = single.reach()
    assert reach.width == 0.5


def test_a_scales_reach_is_that_of_rows_which_may_be_a_toys_data() -> None:
    score, fits = (prepared(statistic=s).reach()[0] for s in ("score", "likelihood-ratio"))
    assert score.mean == pytest.approx((score.residuals[:6000].sum() + 1) / 6001)
    barred = prepared(statistic="likelihood-ratio").first.scheme.held_out  # type: ignore[attr-defined]
    assert len(barred) == 200
    assert fits.mean == pytest.approx((np.delete(fits.residuals[:6000], barred).sum() + 1) / 5801)


def test_generated_toys_have_their_terms() -> None:
    def make(n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(1 / 8, (n, 1))

    ladder = prepared(null="generator", make_events=make)
    found = ladder.fit_toys([4, 5])
    count, *reach = ladder.terms
    sizes = [np.count_nonzero(ladder.first.generate(i).weightings.roles == DATA) for i in (4, 5)]
    scales = len(ladder.scales)
    np.testing.assert_allclose(found[scales].statistic, -count.log_p(np.array(sizes)))
    bases = {scale.plan.width: scale.pool.features.basis for scale in ladder.scales}
    for k, term in enumerate(reach, start=scales + 1):
        assert isinstance(term, ReachTerm)
        basis = bases[term.width]
        totals = []
        for i in (4, 5):
            toy = ladder.first.generate(i)
            phi = basis.features(toy.events[toy.weightings.roles[:, 0] == DATA])
            totals.append((1 - (phi**2).sum(axis=1)).sum())
        np.testing.assert_allclose(found[k].statistic, -term.log_p(np.array(totals)), atol=1e-3)


def test_the_datas_statistics_are_medians_over_the_splits() -> None:
    ladder = prepared()
    by_split, found = ladder.data_by_split(), [s.statistic[0] for s in ladder.fit_data(1)]
    splits = ladder.first.scheme.splits  # type: ignore[attr-defined]
    scales = len(ladder.scales)
    assert by_split.shape == (splits.number, scales + 5)
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
