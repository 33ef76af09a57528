from dataclasses import replace

import numpy as np
import pytest

from lanner.report.plots.profile import plot_distributions, plot_ratio
from lanner.report.plots.search import plot_importance, plot_map, plot_null
from lanner.report.text.words import empirical_p, empirical_z
from tests.report.showcase import the_case, the_findings


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
    p = result.empirical
    assert not p.is_bound
    assert f"t = {result.statistic:.2f}, p = {empirical_p(p)}, Z = {empirical_z(p)}" in labels
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
