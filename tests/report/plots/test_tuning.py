import numpy as np
import pytest

import lanner
from lanner.report.plots.tuning import plot_tuning, write_tuning
from tests.conftest import exponential


@pytest.fixture(scope="module")
def tuning() -> object:
    return lanner.tune(exponential(3000, 1)[0], expected=200, scaling=None, seed=1)


def test_both_curves_are_drawn_with_their_labels(tuning: object, tmp_path: object) -> None:
    figure = plot_tuning(tuning)  # type: ignore[arg-type]
    left, right = figure.axes
    assert left.get_xlabel() == "penalty"
    assert "centres" in right.get_xlabel()
    analytic = left.get_lines()[1].get_ydata()
    assert np.all(np.diff(np.asarray(analytic, dtype=float)) > 0)  # t grows as the penalty falls
    assert write_tuning(tuning, tmp_path / "t.svg").stat().st_size > 1000  # type: ignore[arg-type, operator]


def test_a_scan_without_centres_has_one_panel() -> None:
    only = lanner.tune(exponential(3000, 1)[0], expected=200, scaling=None, seed=1, centers=200, penalty=1e-5)
    assert len(plot_tuning(only).axes) == 1
