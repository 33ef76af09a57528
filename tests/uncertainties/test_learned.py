"""Learned variations: what they do to events, and that they can be kept."""

import numpy as np
import pytest

from lanner import KnownRatio, Sample, Scaling
from lanner._util.files import read_arrays, write_arrays
from lanner.errors import InputError
from lanner.uncertainties.effects import GlobalNormalisation, Quadratic
from lanner.uncertainties.learned import LIMIT, LearnedNuisances, LearnedShare, LearnedVariation, log_ratios
from lanner.uncertainties.smooth import Smooth
from tests.conftest import shaped

X = shaped(2, 3000)
SMOOTH = Smooth.choose(X, Scaling.learn(Sample.of(X), "robust"), rng=np.random.default_rng(1), memory=2**30)
RNG = np.random.default_rng(2)


def coefficients(columns: int) -> np.ndarray:
    return 0.02 * RNG.normal(size=(SMOOTH.number, columns))


NUISANCES = LearnedNuisances(
    (
        LearnedVariation("jes", SMOOTH, coefficients(2), "log"),
        GlobalNormalisation("lumi", 0.03),
        LearnedVariation("pdf", SMOOTH, coefficients(1), "ratio"),
        LearnedShare("ttbar", 0.1, SMOOTH, coefficients(1) + np.eye(SMOOTH.number)[:, :1] * 0.5),
    )
)
NU = np.array([0.7, -1.0, 1.5, 0.3])


def test_all_together_do_what_each_does() -> None:
    log_r, slopes, curvatures = NUISANCES.of(X).at(NU)
    for k, variation in enumerate(NUISANCES.variations):
        one = variation.of(X).at(float(NU[k]))
        np.testing.assert_allclose(slopes[:, k], one[1], rtol=1e-9)
        np.testing.assert_allclose(curvatures[:, k], one[2], rtol=1e-9, atol=1e-12)
        log_r = log_r - one[0]
    np.testing.assert_allclose(log_r, 0, atol=1e-12)


def test_the_parabola_goes_through_both_variations() -> None:
    variation = NUISANCES.variations[0]
    assert isinstance(variation, LearnedVariation)
    up, down = SMOOTH.sums(X, variation.coefficients).T
    effect = variation.of(X)
    np.testing.assert_allclose(effect.at(1.0)[0], np.clip(up, -LIMIT, LIMIT))
    np.testing.assert_allclose(effect.at(-1.0)[0], np.clip(down, -LIMIT, LIMIT))


def test_a_one_sided_variation_is_a_straight_line() -> None:
    effect = NUISANCES.variations[2].of(X)
    assert isinstance(effect, Quadratic)
    np.testing.assert_allclose(effect.at(-1.0)[0], -effect.at(1.0)[0])
    assert np.abs(effect.second).max() == 0


def test_ratios_stay_positive_and_finite() -> None:
    assert np.abs(log_ratios(np.array([-5.0, -1.0, 1e9]), "ratio")).max() == pytest.approx(LIMIT)


def test_they_are_kept_in_files_without_pickle(tmp_path) -> None:
    arrays = read_arrays(write_arrays(tmp_path / "nuisances.npz", NUISANCES.to_arrays()))
    again = LearnedNuisances.from_arrays(arrays)
    assert again.names == NUISANCES.names
    for kept, was in zip(again.of(X[:20]).at(NU), NUISANCES.of(X[:20]).at(NU), strict=True):
        np.testing.assert_array_equal(kept, was)


def test_nuisances_without_anything_learned_are_kept_too() -> None:
    plain = LearnedNuisances((GlobalNormalisation("lumi", 0.03),))
    assert LearnedNuisances.from_arrays(plain.to_arrays()).variations == plain.variations
    assert len(LearnedNuisances.from_arrays(LearnedNuisances(()).to_arrays())) == 0


def test_a_function_cannot_be_kept() -> None:
    with pytest.raises(InputError, match="'scale' is a function of Python"):
        LearnedNuisances((KnownRatio("scale", lambda x, nu: nu * x[:, 0]),)).to_arrays()


def test_an_unknown_kind_is_refused() -> None:
    arrays = NUISANCES.to_arrays()
    arrays["kinds"] = np.array(["splines", "normalisation", "ratio", "share"])
    with pytest.raises(InputError, match="'jes' is of an unknown kind"):
        LearnedNuisances.from_arrays(arrays)
