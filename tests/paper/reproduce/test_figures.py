from pathlib import Path

import numpy as np
import pytest

from lanner.paper.reproduce import figures
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.summaries import by_signal, quantiles
from tests.paper.reproduce.invented import null_numbers, numbers_of, strengths

CASE = case("susy", scale="smoke")


def test_only_figures_that_the_numbers_allow(tmp_path: Path, rng: np.random.Generator) -> None:
    one = case("one-dimensional", scale="smoke")
    numbers = numbers_of(one) | {"all": {"null": null_numbers(rng), "strengths": strengths(one, rng)}}
    written = figures.write_figures(one, numbers, tmp_path)
    assert set(written) == {"statistic", "observed", "probability", "sizes", "ratio-tail", "all"}
    assert all(path.stat().st_size > 10_000 for path in written.values())


def test_observed_points_lie_at_their_medians() -> None:
    numbers = numbers_of(CASE)
    (ax,) = figures.observed(numbers).axes
    x, y = np.asarray(ax.get_lines()[0].get_data(), dtype=float)
    np.testing.assert_array_equal(x, numbers["ideal"]["z"]["chargino"])
    np.testing.assert_allclose(y, [np.median(row["z_chi2"]) for row in numbers["low"]["strengths"]])


def test_chances_are_fractions_of_the_toys() -> None:
    numbers = numbers_of(CASE)
    (ax,) = figures.probability(numbers).axes
    z = np.array([row["z_chi2"] for row in numbers["low"]["strengths"]])
    for line, level in zip(ax.get_lines(), (2, 3, 5), strict=False):
        np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), (z >= level).mean(axis=1))


def test_a_shift_between_two_tests_is_seen(rng: np.random.Generator) -> None:
    one, other = (
        {name: [quantiles(row["z_chi2"]) for row in rows] for name, rows in by_signal(made).items()}
        for made in (strengths(CASE, rng), strengths(CASE, rng, shift=2.0))
    )
    (ax,) = figures.against(one, other, ("low-level", "all")).axes
    x, y = np.asarray(ax.get_lines()[0].get_data(), dtype=float)
    np.testing.assert_allclose(y - x, 2.0, atol=0.4)
    assert ax.get_ylabel() == "observed significance, all"


def test_ratios_have_a_panel_for_each_variable() -> None:
    figure = figures.ratios(numbers_of(CASE)["learned"][0])
    labelled = [ax for ax in figure.axes if ax.get_xlabel()]
    assert len(labelled) == len(CASE.ratio_variables)


def test_a_mean_below_zero_is_written_beside_the_grid() -> None:
    one = case("one-dimensional", scale="smoke")
    rows = [
        {"centers": m, "width": w, "penalty": 1e-6, "mean": mean, "error": 0.5}
        for m, w, mean in ((10, 0.1, 5.0), (30, 0.3, -50.0))
    ]
    numbers = {
        "distances": {"edges": [0.0, 1.0], "counts": [3], "percentile_90": 0.3},
        "scan": {"centers": rows[:1], "grid": rows},
        "times": {"rows": [{"centers": 10, "newton": 0.1, "falkon": 0.2}]},
    }
    *_, grid = figures.tuning(one, numbers).axes
    assert [text.get_text() for text in grid.texts] == ["below the axis: penalty 1e-06, width 0.3: -50"]
    assert grid.get_ylim()[0] == 0


@pytest.mark.parametrize("number", [0, 1])
def test_the_signal_of_the_statistic_is_the_one_shown(number: int) -> None:
    from dataclasses import replace

    shown = replace(CASE, shown=(("chargino", number),))
    (ax,) = figures.statistic(shown, numbers_of(CASE)).axes
    strength = CASE.signals[0].strengths[number]
    assert f"charginos, N(S) = {strength:g}" in ax.get_legend_handles_labels()[1]
