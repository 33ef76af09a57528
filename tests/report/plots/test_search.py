from dataclasses import replace

import numpy as np
import pytest

from lanner.report.plots.profile import plot_distributions, plot_ratio
from lanner.report.plots.search import plot_importance, plot_map, plot_null
from lanner.report.plots.style import as_label, hep_style, new_axes
from tests.report.showcase import HOSTILE, the_case, the_findings


@pytest.fixture
def settings():
    import matplotlib
    import mplhep  # noqa: F401  (imported before, so that the test sees what drawing does and not importing)

    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


DRAW = {
    "null": lambda ax=None: plot_null(the_case().result, ax),
    "distributions": lambda ax=None: plot_distributions(the_findings().profiles[0], ax),
    "ratio": lambda ax=None: plot_ratio(the_findings().profiles[0], ax),
    "importance": lambda ax=None: plot_importance(the_findings(), ax),
    "map": lambda ax=None: plot_map(the_findings().maps[0], ax),
}


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.usefixtures("settings")
def test_a_plot_returns_the_axes_given_and_leaves_settings_alone(name: str, ax) -> None:
    assert DRAW[name](ax) is ax
    assert ax.get_xlabel()


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.usefixtures("settings")
def test_without_axes_a_plot_makes_a_figure_that_pyplot_does_not_know(name: str) -> None:
    import matplotlib.pyplot as plt

    known = plt.get_fignums()
    made = DRAW[name]()
    made.figure.draw_without_rendering()
    assert plt.get_fignums() == known


def test_the_null_plot_names_p_and_z(ax) -> None:
    result = the_case().result
    plot_null(result, ax)
    labels = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "60 null toys (reference)" in labels
    sign = "<>" if result.empirical.is_bound else "=="
    assert f"t = {result.statistic:.2f}: p {sign[0]} {result.p_value:.2g}, Z {sign[1]} {result.z_score:.2f}" in labels
    assert labels.count("(extrapolation)") == 2


def test_a_statistic_far_away_is_pointed_at(ax) -> None:
    result = replace(the_case().result, statistic=1e5)
    plot_null(result, ax)
    assert ax.get_xlim()[1] < 1e4
    assert any("off scale" in text.get_text() for text in ax.texts)


@pytest.mark.parametrize("t", [-50.0, 0.0, float("nan")])
def test_odd_statistics_and_toys_can_be_drawn(t: float, ax) -> None:
    result = the_case().result
    toys = np.append(result.null.statistics[:-2], [np.nan, -3.0])
    result = replace(result, statistic=t, null=replace(result.null, statistics=toys, chi2=None))
    plot_null(result, ax)
    ax.figure.draw_without_rendering()


def test_points_off_the_axis_are_pointed_at(ax) -> None:
    profile = the_findings().profile("mass")
    ax = plot_ratio(profile, ax)
    bottom, top = ax.get_ylim()
    ratio = profile.data_ratio[0]
    ratio = ratio[np.isfinite(ratio)]
    marked = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() in "^v")
    assert marked == np.count_nonzero((ratio > top) | (ratio < bottom))


def test_names_are_drawn_letter_by_letter() -> None:
    names = [*HOSTILE, "$x$", r"\$", "a_b^{c}", "\x00", "漢字", "x" * 500]
    with hep_style():
        ax = new_axes()
        texts = [ax.text(0, 0, as_label(name)) for name in names]
        ax.figure.canvas.draw()
    drawn = [text._preprocess_math(text.get_text()) for text in texts]  # type: ignore[attr-defined]
    assert [is_math for _, is_math in drawn] == [False] * len(names)
    assert [text for text, _ in drawn[:6]] == names[:6]
    assert drawn[6][0] == "\ufffd"
    assert len(drawn[8][0]) < 60


def test_the_axis_carries_the_name() -> None:
    profile = the_findings().profile("energy")
    assert plot_ratio(replace(profile, name="$m$")).get_xlabel() == r"\$m\$  (not used in the fit)"
