"""Pull plots: every nuisance has a name and a point, few or many."""

from __future__ import annotations

import pytest

from lanner.report.plots.style import new_axes
from lanner.report.plots.uncertainties import figure_of_nuisances, in_two_lines, plot_pulls, plot_resemblances
from lanner.run.uncertain import Nuisance


def nuisances(number: int) -> tuple[Nuisance, ...]:
    return tuple(
        Nuisance(f"nuisance {k}", 0.1 * (-1) ** k * k, 1 - 0.02 * k, "weights", 0.02 * k, 0.5) for k in range(number)
    )


@pytest.mark.parametrize("number", [1, 3, 40])
def test_each_has_its_row_with_the_largest_pull_on_top(number: int) -> None:
    figure = figure_of_nuisances(nuisances(number))
    left, right = figure.axes
    names = [label.get_text() for label in left.get_yticklabels()]
    assert names == [f"nuisance {k}" for k in range(number)]  # from the bottom
    (points,) = left.containers
    values = points.lines[0].get_xdata()  # type: ignore[attr-defined]
    assert list(values) == pytest.approx([0.1 * (-1) ** k * k for k in range(number)])
    low, high = left.get_xlim()
    assert low <= -3
    assert high >= max(abs(n.value) + n.error for n in nuisances(number))
    assert len(right.lines[0].get_xdata()) == number  # type: ignore[arg-type]
    assert figure.get_figheight() == pytest.approx(1.25 + 0.27 * max(number, 2))


def test_results_without_resemblances_have_pulls_alone() -> None:
    figure = figure_of_nuisances([Nuisance("jes", 0.5, 0.4)])
    assert len(figure.axes) == 1


def test_they_draw_where_they_are_told() -> None:
    for plot in (plot_pulls, plot_resemblances):
        ax = new_axes()
        assert plot(nuisances(2), ax) is ax
        assert plot(nuisances(2)).figure is not ax.figure


def test_long_and_odd_names_are_drawn_letter_by_letter() -> None:
    assert in_two_lines("jes") == "jes"
    assert in_two_lines("$x$") == r"\$x\$"
    long = "a name of which the first part is long, and the bin is number 17"
    first, last = in_two_lines(long).split("\n")
    assert long.startswith(first)
    assert last.startswith("…")
    assert long.endswith(last[1:])
    assert "\n" not in in_two_lines("a\nb")
    assert in_two_lines(" ") == " "
