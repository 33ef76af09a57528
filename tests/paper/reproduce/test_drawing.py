import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import StepPatch
from scipy import stats

from lanner.paper.reproduce.drawing import draw_histogram, draw_null, draw_points, draw_ratio, panels
from tests.paper.reproduce.invented import null_numbers, profile


def test_panels_come_line_by_line() -> None:
    figure, axes = panels(2, 3)
    assert len(axes) == 6
    assert axes[0].get_position().y0 > axes[3].get_position().y0
    assert tuple(figure.get_size_inches()) == pytest.approx((3 * 4.9, 2 * 3.6))


def test_a_histogram_has_unit_area(rng: np.random.Generator) -> None:
    _, (ax,) = panels()
    draw_histogram(ax, rng.normal(size=500), "black", "t")
    (steps,) = ax.patches
    assert isinstance(steps, StepPatch)
    values, edges, _ = steps.get_data()
    assert np.sum(values * np.diff(edges)) == pytest.approx(1.0)


def test_toys_far_away_do_not_hide_the_others(rng: np.random.Generator) -> None:
    null = null_numbers(rng)
    null["t"] += [1e5, 2e5]
    _, (ax,) = panels()
    draw_null(ax, null)
    assert ax.get_xlim()[1] < 100
    assert any("2 beyond the axis" in text for text in ax.get_legend_handles_labels()[1])


def test_curves_of_the_null_are_the_laws_they_say(rng: np.random.Generator) -> None:
    _, (ax,) = panels()
    draw_null(ax, null_numbers(rng), reach=60.0)
    for line in ax.get_lines():  # ten weights of 1 are a chi2 of ten degrees of freedom
        x, y = np.asarray(line.get_data(), dtype=float)
        np.testing.assert_allclose(y, stats.chi2.pdf(x, 10), atol=1e-4)
        assert x[-1] == 60.0


def test_bars_reach_from_low_to_high() -> None:
    _, (ax,) = panels()
    draw_points(ax, [1.0], [(1.5, 2.0, 3.0)], "black", "o", "observed")
    (bars,) = ax.collections
    assert isinstance(bars, LineCollection)
    np.testing.assert_allclose(np.array(bars.get_segments()[0]), [[1.0, 1.5], [1.0, 3.0]])


def test_both_coordinates_can_have_bars() -> None:
    _, (ax,) = panels()
    draw_points(ax, [(0.5, 1.0, 2.0)], [(1.5, 2.0, 3.0)], "black", "o", "observed")
    assert len(ax.collections) == 2


def test_ratios_say_what_the_fit_did_not_see(rng: np.random.Generator) -> None:
    _, (ax,) = panels()
    draw_ratio(ax, profile("x", rng))
    assert ax.get_xlabel().endswith("(not given to the fit)")
    assert ax.get_xlim() == (0.0, 1.0)


def test_a_ratio_of_orders_of_magnitude_is_logarithmic(rng: np.random.Generator) -> None:
    large = profile("x", rng)
    large["learned_ratio"][4] = 80.0
    _, (ax,) = panels()
    draw_ratio(ax, large)
    assert ax.get_yscale() == "log"
