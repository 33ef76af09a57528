"""The functions of which log-ratios are made."""

import numpy as np
import pytest

from lanner import Sample, Scaling
from lanner.uncertainties.smooth import Part, Smooth, halves
from tests.conftest import shaped


def chosen(x: np.ndarray, rule: str | None = "robust", **options) -> Smooth:
    scaling = Scaling.learn(Sample.of(x), rule, **options)
    return Smooth.choose(x, scaling, rng=np.random.default_rng(1), memory=2**30)


def test_nothing_grows_beyond_the_reference() -> None:
    x = np.random.default_rng(1).standard_exponential((5000, 1))
    smooth = chosen(x)
    assert np.ptp(smooth(np.array([[1e2], [1e3], [1e9]])), axis=0).max() < 1e-9
    assert np.abs(smooth(np.array([[-1e9]]))).max() < 100


def test_the_first_functions_are_a_constant_and_the_features() -> None:
    x = shaped(3, 4000)
    smooth = chosen(x, None)
    psi = smooth(x)
    assert psi.shape == (4000, smooth.number)
    assert smooth.sizes[:3] == (1, 3, 3 * 3 + 3)
    assert np.all(psi[:, 0] == 1)
    np.testing.assert_allclose(psi[:, 1 : smooth.number - smooth.sizes[3]].mean(axis=0), 0, atol=1e-9)
    assert np.corrcoef(psi[:, 2], x[:, 1])[0, 1] > 0.999


def test_columns_that_never_vary_are_no_function() -> None:
    x = shaped(2, 3000)
    x[:, 1] = 7.0
    smooth = chosen(x)
    assert smooth.sizes[1:3] == (1, 3)
    assert np.isfinite(smooth(x)).all()


def test_angles_and_missing_values_are_columns_like_others() -> None:
    rng = np.random.default_rng(2)
    x = np.column_stack(
        [rng.uniform(-np.pi, np.pi, 3000), np.where(rng.random(3000) < 0.2, -999.0, rng.normal(size=3000))]
    )
    scaling = Scaling.learn(Sample.of(x), "robust", periodic=["x0"])
    smooth = Smooth.choose(x, scaling, rng=rng, memory=2**30)
    assert len(smooth.low) == len(scaling.scaled_names) == 4
    one_turn = smooth(np.array([[-np.pi, -999.0], [np.pi, -999.0]]))
    np.testing.assert_allclose(one_turn[0], one_turn[1], atol=1e-9)


def test_functions_are_kept_as_arrays() -> None:
    x = shaped(2, 2000)
    smooth = chosen(x)
    again = Smooth.from_arrays(smooth.to_arrays())
    np.testing.assert_array_equal(again(x[:10]), smooth(x[:10]))


@pytest.mark.parametrize("stored", [True, False])
def test_sums_are_those_of_the_functions(stored: bool) -> None:
    x = shaped(2, 3000)
    smooth = chosen(x)
    c = np.random.default_rng(1).normal(size=(smooth.number, 2))
    np.testing.assert_allclose(
        Part(smooth, x, np.ones(3000), np.array([0, 3000]), stored).sums(c), smooth(x) @ c, rtol=1e-4, atol=1e-3
    )


def test_every_event_is_in_one_half() -> None:
    first, second = halves(10_001)
    assert sorted([*first, *second]) == list(range(10_001))
    assert abs(len(first) - len(second)) < 100


def test_events_stay_in_their_half_when_some_leave_the_selection() -> None:
    rng = np.random.default_rng(3)
    kept = np.flatnonzero(rng.random(100_000) > 0.01)
    whole, part = np.zeros(100_000), np.zeros(len(kept))
    whole[halves(100_000)[1]] = 1
    part[halves(len(kept))[1]] = 1
    assert np.mean(whole[kept] == part) > 0.9
