import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.model.loss import LOSSES, exp_capped, loss_by_name, statistic_sum

values = st.floats(-15, 15)


@pytest.mark.parametrize("name", LOSSES)
@given(f=values)
def test_derivatives_are_those_of_the_value(name: str, f: float) -> None:
    loss, step = LOSSES[name], 1e-5
    at = np.array([f - step, f, f + step])
    exp_at = np.exp(at)
    value, slope = loss.value(at), loss.slope(at, exp_at)
    scale = max(1.0, float(np.exp(f))) if name == "extended" else 1.0
    assert (value[2] - value[0]) / (2 * step) == pytest.approx(slope[1], abs=1e-8 * scale)
    assert (slope[2] - slope[0]) / (2 * step) == pytest.approx(loss.curvature(at, exp_at)[1], abs=1e-8 * scale)


@pytest.mark.parametrize("name", LOSSES)
def test_the_curvature_at_zero_is_the_one_declared(name: str) -> None:
    assert LOSSES[name].curvature(np.zeros(1), np.ones(1))[0] == LOSSES[name].curvature_at_zero


@given(f=values, v0=st.floats(0, 5), v1=st.floats(0, 5))
def test_logistic_is_the_cross_entropy_of_the_paper(f: float, v0: float, v1: float) -> None:
    # Eq. wbce: a0 (1 - y) log(1 + e^f) + a1 y log(1 + e^-f)
    loss = LOSSES["logistic"]
    ours = loss.weight(np.array(v0), np.array(v1)) * loss.value(np.array(f)) - v1 * f
    assert ours == pytest.approx(v0 * np.log1p(np.exp(f)) + v1 * np.log1p(np.exp(-f)), abs=1e-9)


@given(f=values, v0=st.floats(0, 5), v1=st.floats(0, 5))
def test_extended_is_minus_half_the_statistic(f: float, v0: float, v1: float) -> None:
    # Eq. loss_nplm: t = -2 min [sum a0 (e^f - 1) - sum f]
    loss = LOSSES["extended"]
    column = np.array([[f]])
    ours = loss.weight(np.array(v0), np.array(v1)) * loss.value(np.array(f)) - v1 * f
    t = statistic_sum(column, np.exp(column), np.array([[v0]]), np.array([[v1]]))[0]
    assert t == pytest.approx(-2 * ours, rel=1e-9, abs=1e-9)


def test_exp_does_not_overflow_in_single_precision() -> None:
    assert np.isfinite(exp_capped(np.array([1e30, 90.0, -1e30], dtype=np.float32))).all()


def test_an_unknown_loss_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'hinge'.*'logistic', 'extended'"):
        loss_by_name("hinge")
