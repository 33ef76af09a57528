"""A search on several scales: chosen from the reference, combined, calibrated, kept and resumed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.scales import deviation_of
from lanner.model.loss import loss_by_name
from tests.conftest import exponential

R, D = exponential(6000, 300, seed=1)
SETTINGS = {"expected": 300, "centers": 200, "seed": 5, "toys": 300}


def searched(data: np.ndarray = D, **changes: Any) -> lanner.SearchResult:
    return lanner.search(R, data, **(SETTINGS | changes))


@pytest.fixture(scope="module")
def peak() -> np.ndarray:
    return np.vstack([D, np.random.default_rng(2).normal(0.9, 0.02, (12, 1))])


def test_without_a_width_four_widths_and_three_penalties_are_combined() -> None:
    result = searched()
    assert result.combined is not None
    assert len(result.combined.scales) == 12
    assert len({s.width for s in result.combined.scales}) == 4
    assert {round(s.deviation, 2) for s in result.combined.scales} == {0.2, 0.7, 2.0}
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
