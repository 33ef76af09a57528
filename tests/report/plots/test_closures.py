"""Closures as figures: every variation in one, failures marked, single ones against every feature."""

from __future__ import annotations

import numpy as np
import pytest

from lanner.report.plots.closures import figure_of_biases, figure_of_closure, plot_closures
from lanner.report.plots.figures import MAX_PANELS, closures_to_show
from lanner.report.plots.style import VERMILION
from lanner.uncertainties.closure import Closure
from lanner.uncertainties.pulls import FeaturePulls


def closure(name: str, direction: str, p: float, features: int = 2) -> Closure:
    rng = np.random.default_rng(1)
    pulls = tuple(
        FeaturePulls(f"x{j}", np.linspace(0, 1, 9), (z := rng.normal(size=10)), z * rng.uniform(0.1, 0.3, 10))
        for j in range(features)
    )
    return Closure(name, direction, p, 0.005, 0.3, 0.2, 0.1, pulls)


def test_those_that_fail_have_a_circle_and_stand_on_top() -> None:
    found = [closure("good", "up", 0.4), closure("good", "down", 0.9), closure("bad", "up", 1e-9)]
    ax = plot_closures(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["good", "bad"]  # from the bottom
    legend = ax.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["up", "down", "does not close", "below the level 0.005"]
    circles = next(line for line in ax.lines if line.get_label() == "does not close")
    assert list(circles.get_xdata()) == [1e-6]  # type: ignore[arg-type]
    assert "at the edge" in ax.get_xlabel()
    quiet = plot_closures(found[:2]).get_legend()
    assert quiet is not None
    assert "does not close" not in [text.get_text() for text in quiet.get_texts()]


@pytest.mark.parametrize("features", [1, 2, 7])
def test_one_variation_has_a_panel_for_each_feature(features: int) -> None:
    both = [closure("jes", "up", 0.4, features), closure("jes", "down", 1e-4, features)]
    figure = figure_of_closure(both)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_xlabel() for ax in shown] == [f"x{j}" for j in range(features)]
    points = shown[0].containers[0].lines[0].get_ydata()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(points, both[0].pulls[0].bias)
    (bars,) = shown[0].containers[0].lines[2]  # type: ignore[attr-defined]
    (_, low), (_, high) = bars.get_segments()[3]
    assert (high - low) / 2 == pytest.approx(abs(both[0].pulls[0].bias[3] / both[0].pulls[0].pulls[3]))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["up: p = 0.40", "down: p = 0.00010, DOES NOT CLOSE"]


def test_of_many_all_are_in_a_map_and_the_worst_in_full() -> None:
    found = [closure(f"n{k}", d, 0.5 - 0.01 * k) for k in range(30) for d in ("up", "down")]
    found[8] = closure("n4", "up", 1e-7)
    shown = closures_to_show(found)
    assert shown[0] == "n4"
    assert len(shown) == MAX_PANELS // 2
    assert shown[1:] == ["n29", "n28", "n27", "n26", "n25"]
    figure = figure_of_biases(found)
    labels = figure.axes[0].get_yticklabels()
    assert len(labels) == 60
    assert [label.get_text() for label in labels if label.get_color() == VERMILION] == ["n4 up"]
    assert labels[-1].get_text() == "n4 up"  # on top
    values = figure.axes[1].collections[0].get_array()
    assert values is not None
    np.testing.assert_array_equal(np.ravel(values)[-10:], found[8].pulls[1].bias)


def test_all_that_fail_are_shown_however_many() -> None:
    found = [closure(f"n{k}", "up", 1e-7, 10) for k in range(5)]
    assert closures_to_show(found) == [f"n{k}" for k in range(5)]
    assert closures_to_show([]) == []
