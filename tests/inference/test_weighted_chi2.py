"""The weighted chi2 law against closed forms, published tables and random draws."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive
from scipy.stats import chi2, kstest, norm

from lanner.errors import InputError
from lanner.inference import WeightedChi2

# Spectra of many shapes; the last two put a few large weights above many small ones.
SPECTRA = {
    "one": np.ones(1),
    "equal": np.full(5000, 0.3),
    "uniform": np.random.default_rng(5).random(3000),
    "geometric, sparse": 10.0 ** -np.arange(13),
    "geometric, dense": 10.0 ** -np.linspace(0, 12, 5000),
    "harmonic": 1 / np.arange(1, 3001),
    "one above many": np.r_[1.0, np.full(4999, 0.01)],
    "three above many": np.r_[1.0, 0.9, 0.8, np.linspace(0.02, 0.03, 2000)],
}


def exact_tails(doubled, points):
    """log cdf and log sf of a sum of distinct weights, each occurring twice, in 200-digit arithmetic.

    w chi2_2 is exponential with mean 2w, so sf(t) = sum_j exp(-t / 2 w_j) prod_{k != j} w_j / (w_j - w_k).
    """
    with localcontext() as context:
        context.prec = 200
        weights = [Decimal(float(w)) for w in doubled]
        mixture = [math.prod((w / (w - v) for v in weights if v != w), start=Decimal(1)) for w in weights]
        for t in points:
            terms = ((-Decimal(float(t)) / (2 * w)).exp() for w in weights)
            sf = sum((a * term for a, term in zip(mixture, terms, strict=True)), start=Decimal(0))
            yield t, float((1 - sf).ln()), float(sf.ln())


class TestClosedForms:
    @pytest.mark.parametrize("number", [1, 2, 3, 10, 100, 1000, 5000])
    @pytest.mark.parametrize("p", [1 - 1e-9, 0.999, 0.6, 0.4, 1e-3, 1e-12, 1e-100, 1e-300])
    def test_equal_weights_are_a_scaled_chi2(self, number, p):
        t = chi2.isf(p, number)
        law = WeightedChi2(np.full(number, 0.7))
        assert law.logsf(0.7 * t) == pytest.approx(chi2.logsf(t, number), abs=1e-11)
        assert law.cdf(0.7 * t) == pytest.approx(chi2.cdf(t, number), rel=1e-11)
        assert law.pdf(0.7 * t) == pytest.approx(chi2.pdf(t, number) / 0.7, rel=1e-10)

    @pytest.mark.parametrize("position", [0.01, 0.3, 1.0, 3.0, 30.0, 500.0])
    def test_two_pairs_are_hypoexponential(self, position):
        # sf = (a e^(-t/2a) - b e^(-t/2b)) / (a - b), the larger exponential taken out.
        a, b, t = 2.0, 0.5, position * 2.0
        expected = -t / (2 * a) + math.log((a - b * math.exp(-t / (2 * b) + t / (2 * a))) / (a - b))
        assert WeightedChi2(np.array([a, b, b, a])).logsf(t) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize(
        "doubled",
        [
            10.0 ** -np.arange(13),
            10.0 ** -np.linspace(0, 12, 40),
            np.linspace(0.5, 1, 30),
            np.r_[1.0, np.linspace(0.02, 0.03, 40)],
        ],
        ids=["13 decades", "geometric", "close", "one above many"],
    )
    def test_pairs_are_mixtures_of_exponentials(self, doubled):
        law = WeightedChi2(np.repeat(doubled, 2))
        near = [law.mean * position for position in (0.03, 0.3, 1.0, 1.001)]
        far = [law.mean + position * law.std for position in (0.1, 1.0, 5.0, 50.0)]
        farthest = law.mean + 1400.0 * doubled.max()  # p is about 1e-300
        for t, log_cdf, log_sf in exact_tails(doubled, [*near, *far, farthest]):
            assert law.logsf(t) == pytest.approx(log_sf, abs=1e-11)
            assert law.cdf(t) == pytest.approx(math.exp(log_cdf), rel=1e-11)

    def test_density_of_two_weights(self):
        # pdf = exp(-t (1/a + 1/b) / 4) I0(t (1/b - 1/a) / 4) / (2 sqrt(a b))
        a, b = 3.0, 0.2
        t = np.geomspace(1e-6, 2000.0, 30)
        expected = np.exp(-t / (2 * a)) * ive(0, t * (1 / b - 1 / a) / 4) / (2 * math.sqrt(a * b))
        np.testing.assert_allclose(WeightedChi2(np.array([a, b])).pdf(t), expected, rtol=1e-11)

    def test_density_at_zero(self):
        assert WeightedChi2(np.array([2.0])).pdf(0.0) == math.inf
        assert WeightedChi2(np.array([2.0, 0.5])).pdf(0.0) == pytest.approx(0.5)
        assert WeightedChi2(np.array([2.0, 0.5, 0.1])).pdf(0.0) == 0.0


@pytest.mark.parametrize(
    ("weights", "multiplicities", "t", "expected"),
    [
        ((0.6, 0.3, 0.1), (1, 1, 1), 0.1, 0.9458),
        ((0.6, 0.3, 0.1), (1, 1, 1), 0.7, 0.5064),
        ((0.6, 0.3, 0.1), (1, 1, 1), 2.0, 0.1240),
        ((0.6, 0.3, 0.1), (2, 2, 2), 0.2, 0.9936),
        ((0.6, 0.3, 0.1), (2, 2, 2), 2.0, 0.3998),
        ((0.6, 0.3, 0.1), (2, 2, 2), 6.0, 0.0161),
        ((0.6, 0.3, 0.1), (6, 4, 2), 1.0, 0.9973),
        ((0.6, 0.3, 0.1), (6, 4, 2), 5.0, 0.4353),
        ((0.6, 0.3, 0.1), (6, 4, 2), 12.0, 0.0088),
        ((0.6, 0.3, 0.1), (2, 4, 6), 1.0, 0.9666),
        ((0.6, 0.3, 0.1), (2, 4, 6), 3.0, 0.4196),
        ((0.6, 0.3, 0.1), (2, 4, 6), 8.0, 0.0087),
    ],
)
def test_imhof_1961_table(weights, multiplicities, t, expected):
    law = WeightedChi2(np.repeat(weights, multiplicities))
    assert law.sf(t) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize("name", SPECTRA)
class TestEverySpectrum:
    def test_lugannani_rice(self, name):
        # sf ~ norm.sf(r) + norm.pdf(r) (1/v - 1/r), r = sqrt(2 (s t - K)), v = s sqrt(K''), at K'(s) = t.
        # Where one weight rules the tail it replaces Gamma(1/2) by Stirling's formula: log sf is off by
        # log(e/2)/2 = 0.153.
        weights = SPECTRA[name]
        law = WeightedChi2(weights)
        for tilt in np.array([0.1, 0.4, 0.499]) / weights.max():
            tilted = weights / (1 - 2 * weights * tilt)
            t, cumulant = tilted.sum(), -0.5 * np.log1p(-2 * weights * tilt).sum()
            r = math.sqrt(2 * (tilt * t - cumulant))
            v = tilt * math.sqrt(2 * (tilted**2).sum())
            log_pdf = -0.5 * r * r - 0.5 * math.log(2 * math.pi)
            mills = math.exp(norm.logsf(r) - log_pdf)
            expected = log_pdf + math.log(mills + 1 / v - 1 / r)
            assert law.logsf(t) == pytest.approx(expected, abs=0.16)

    def test_tails_add_up_on_both_sides_of_the_mean(self, name):
        # The two tails come from different contours: just below and above the mean they must meet.
        law = WeightedChi2(SPECTRA[name])
        below, above = law.mean * (1 - 1e-9), law.mean * (1 + 1e-9)
        assert law.sf(below) - law.sf(above) == pytest.approx(law.pdf(law.mean) * (above - below), abs=1e-11)

    def test_density_is_the_slope(self, name):
        law = WeightedChi2(SPECTRA[name])
        for t in (0.5 * law.mean, law.mean + 2 * law.std, law.mean + 20 * law.std):
            step = 1e-4 * min(law.std, t)
            slope = (law.logsf(t - step) - law.logsf(t + step)) / (2 * step)
            assert law.pdf(t) == pytest.approx(slope * law.sf(t), rel=1e-5)

    @pytest.mark.parametrize("p", [0.999, 0.01, 1e-300])
    def test_isf_inverts_sf(self, name, p):
        law = WeightedChi2(SPECTRA[name])
        assert law.sf(law.isf(p)) == pytest.approx(p, rel=1e-9)

    def test_z_score_is_that_of_sf(self, name):
        law = WeightedChi2(SPECTRA[name])
        t = law.mean + law.std * np.array([-0.5, 0.0, 3.0, 20.0])
        np.testing.assert_allclose(law.z_score(t), norm.isf(law.sf(t)), rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in SPECTRA if name != "equal"])
def test_far_tail_is_that_of_the_largest_weight(name):
    # Zolotarev (1961): sf(t) -> P(w_1 chi2_1 > t) prod_{j > 1} (1 - w_j/w_1)^(-1/2), with a correction of order
    # sum_j w_j/(w_1 - w_j) w_1/t, below 1e-5 here; P(chi2_1 > t) = 2 norm.sf(sqrt(t)).
    weights = np.sort(SPECTRA[name])[::-1]
    expected = math.log(2) + norm.logsf(1e5) - 0.5 * np.log1p(-weights[1:] / weights[0]).sum()
    assert WeightedChi2(weights).logsf(1e10 * weights[0]) == pytest.approx(expected, abs=1e-5)


class TestExtremes:
    def test_z_score_stays_finite(self):
        law = WeightedChi2(np.array([1.0, 0.5, 0.1]))
        # sf falls as exp(-t/2), norm.sf as exp(-Z^2/2): Z^2 = t less a logarithm.
        assert law.z_score(1e5) == pytest.approx(math.sqrt(1e5), rel=1e-4)
        assert law.z_score(1e12) == pytest.approx(1e6, rel=1e-9)
        assert math.isfinite(WeightedChi2(np.ones(5000)).z_score(1e-3))

    def test_z_score_in_the_far_tail(self):
        # One weight: Q = z^2, so sf(t) = 2 norm.sf(sqrt(t)), at p = 1e-21717.
        t = 1e5
        z = WeightedChi2(np.ones(1)).z_score(t)
        assert norm.logsf(z) == pytest.approx(math.log(2) + norm.logsf(math.sqrt(t)), rel=1e-12)

    @pytest.mark.parametrize("number", [1, 2, 5000])
    def test_ends(self, number):
        law = WeightedChi2(np.ones(number))
        t = np.array([-np.inf, -1.0, 0.0, np.inf, np.nan])
        np.testing.assert_array_equal(law.sf(t), [1, 1, 1, 0, np.nan])
        np.testing.assert_array_equal(law.cdf(t), [0, 0, 0, 1, np.nan])
        np.testing.assert_array_equal(law.logsf(t), [0, 0, 0, -np.inf, np.nan])
        np.testing.assert_array_equal(law.z_score(t), [-np.inf, -np.inf, -np.inf, np.inf, np.nan])
        assert (law.isf(1.0), law.isf(0.0)) == (0.0, math.inf)

    @pytest.mark.parametrize("t", [5e-324, 1e-300, 1e-20, 1e20, 1e300])
    @pytest.mark.parametrize("name", SPECTRA)
    def test_absurd_arguments_give_finite_answers(self, name, t):
        law = WeightedChi2(SPECTRA[name])
        assert 0.0 <= law.sf(t) <= 1.0
        assert math.isfinite(law.z_score(t))
        assert law.pdf(t) >= 0.0

    def test_scale_does_not_matter(self):
        weights = np.array([1.0, 0.3, 0.2])
        expected = WeightedChi2(weights).logsf(5.0)
        for unit in (1e-250, 1e250):
            assert WeightedChi2(weights * unit).logsf(5.0 * unit) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=40),
    low=st.floats(1e-6, 1e3),
    ratio=st.floats(1.0, 1e3),
)
def test_sf_never_rises(weights, low, ratio):
    law = WeightedChi2(np.array(weights))
    low_t, high_t = low * law.mean, low * ratio * law.mean
    assert law.logsf(high_t) <= law.logsf(low_t) + 1e-11
    assert law.cdf(high_t) >= law.cdf(low_t) - 1e-11
    assert law.z_score(high_t) >= law.z_score(low_t) - 1e-9


class TestSmallWeights:
    def test_zeros_are_dropped(self):
        law = WeightedChi2(np.array([0.0, 0.5, 0.0, 2.0]))
        np.testing.assert_array_equal(law.weights, [2.0, 0.5])

    def test_negligible_weights_only_shift_by_their_mean(self):
        # 3000 weights of 1e-9 hardly vary: they add their sum, 3e-6.
        law = WeightedChi2(np.r_[1.0, 0.5, 0.2, np.full(3000, 1e-9)])
        head = WeightedChi2(np.array([1.0, 0.5, 0.2]))
        for t in (0.5, 3.0, 100.0):
            assert law.logsf(t) == pytest.approx(head.logsf(t - 3e-6), abs=1e-11)


class TestMoments:
    def test_moments(self):
        law = WeightedChi2(np.array([0.6, 0.3, 0.1]))
        assert law.mean == pytest.approx(1.0)
        assert law.std == pytest.approx(math.sqrt(2 * 0.46))
        assert law.effective_dof == pytest.approx(1 / 0.46)

    def test_effective_dof_of_equal_weights_is_their_number(self):
        assert WeightedChi2(np.full(7, 0.2)).effective_dof == pytest.approx(7.0)


class TestDraws:
    def test_draws_follow_the_law(self):
        law = WeightedChi2(np.r_[0.9, 0.5, 0.5, 0.5, 10.0 ** -np.arange(1, 6)])
        draws = law.rvs(20_000, np.random.default_rng(1))
        # p-values of the draws are uniform; a coarse grid of the cdf keeps this quick.
        grid = np.linspace(0, draws.max(), 400)
        assert kstest(np.interp(draws, grid, law.cdf(grid)), "uniform").pvalue > 0.01

    def test_monte_carlo_of_a_dense_spectrum(self):
        law = WeightedChi2(0.9 ** np.arange(200.0))
        draws = law.rvs((100, 1000), np.random.default_rng(2))
        assert draws.shape == (100, 1000)
        for t in (5.0, 10.0, 20.0, 25.0):
            p = law.sf(t)
            assert np.mean(draws > t) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / draws.size))

    def test_seed_decides(self):
        law = WeightedChi2(np.array([1.0, 0.1]))
        first, second = (law.rvs(5, np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(first, second)


class TestArguments:
    def test_scalar_in_scalar_out(self):
        law = WeightedChi2(np.array([1.0, 0.1]))
        for method in (law.sf, law.logsf, law.cdf, law.pdf, law.z_score, law.isf):
            assert type(method(0.5)) is float

    def test_arrays_keep_their_shape(self):
        law = WeightedChi2(np.array([1.0, 0.1]))
        t = np.arange(6.0).reshape(2, 3)
        for method in (law.sf, law.logsf, law.cdf, law.pdf, law.z_score):
            assert method(t).shape == (2, 3)
        assert law.sf(t)[1, 2] == law.sf(5.0)
        assert law.sf(np.empty(0)).shape == (0,)

    def test_weights_cannot_be_changed(self):
        given = np.array([0.1, 1.0])
        law = WeightedChi2(given)
        given[0] = 5.0
        assert law.mean == pytest.approx(1.1)
        with pytest.raises(ValueError, match="read-only"):
            law.weights[0] = 2.0

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([], "at least one"),
            ([0.0], "at least one"),
            ([1.0, -0.1], r"-0\.1"),
            ([1.0, np.nan], "nan"),
            ([np.inf], "inf"),
            ([[1.0]], "one-dimensional"),
        ],
    )
    def test_bad_weights(self, weights, message):
        with pytest.raises(InputError, match=message):
            WeightedChi2(np.array(weights))

    @pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
    def test_bad_probability(self, p):
        with pytest.raises(InputError, match="from 0 to 1"):
            WeightedChi2(np.ones(1)).isf(p)
