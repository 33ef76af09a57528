import numpy as np
import pytest
from scipy import stats

from lanner.inference.contour import log_integral


@pytest.mark.parametrize("t", [5.0, 30.0, 3000.0])
def test_two_equal_weights_have_an_exponential_tail(t: float) -> None:
    found = log_integral(np.ones(1), np.full(1, 2.0), t, (0.25 / (t + 4), 0.5 - 0.125), pole=True)
    assert found == pytest.approx(-t / 2, rel=1e-12)


@pytest.mark.parametrize("dof", [1.0, 3.0, 40.0])
def test_without_its_pole_it_is_the_density(dof: float) -> None:
    t = 1.3 * dof
    found = log_integral(np.ones(1), np.full(1, dof), t, (0.25 / t, 0.5 + dof / t), pole=False)
    assert found == pytest.approx(stats.chi2.logpdf(t, dof), rel=1e-11)


def test_different_weights_are_a_convolution() -> None:
    """Twice 1 and twice w: the tail of a sum of two exponentials has a closed form."""
    w, t = 0.3, 12.0
    truth = np.log((np.exp(-t / 2) - w * np.exp(-t / (2 * w))) / (1 - w))
    mean = 2 * (1 + w)
    inside = (0.25 / (t + 4), 0.5 - min(0.25, 0.25 / mean))
    assert log_integral(np.array([1.0, w]), np.full(2, 2.0), t, inside, pole=True) == pytest.approx(truth, rel=1e-12)
