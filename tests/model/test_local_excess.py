"""The largest local excess or deficit: Li and Ma's significance of the window around each pivot."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lanner.model.kernel import GaussianKernel
from lanner.model.local_excess import LocalExcess
from lanner.model.nystrom import Basis

EXPECTED, REFERENCE, WIDTH = 500, 5000, 0.03
PIVOTS = np.linspace(0.1, 0.9, 17)[:, None]
KERNEL = GaussianKernel(WIDTH)
BASIS = Basis(KERNEL, PIVOTS, np.linalg.cholesky(KERNEL(PIVOTS, PIVOTS)).astype(float), 0.0)


def uniform(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 1))


def windows(reference: np.ndarray, expected: float = EXPECTED) -> LocalExcess:
    phi = BASIS.features(reference)
    n = len(reference)
    return LocalExcess.of(BASIS, phi.mean(axis=0), phi.T @ phi / n, expected=expected, worth=n)


def difference(data: np.ndarray, reference: np.ndarray, expected: float = EXPECTED) -> np.ndarray:
    """u of data against a reference, one column."""
    return (BASIS.features(data).sum(axis=0) - expected * BASIS.features(reference).mean(axis=0))[:, None]


def of_counts(on: np.ndarray, off: np.ndarray, alpha: float) -> np.ndarray:
    """Z of windows that hold so many events each, of data and of a reference 1/alpha times as large."""
    r = len(on)
    plain = LocalExcess(np.eye(r), mean=off / 1e9, size=np.ones(r), expected=alpha * 1e9, worth=1e9)
    return plain.significance((on - alpha * off)[:, None])[:, 0]


@pytest.mark.parametrize(
    ("on", "off", "alpha", "z"),
    [
        (18, 97, 0.1, 2.2421704),  # the documentation of gammapy.stats
        (10, 4.2e6, 1e-6, 2.3979181),  # likewise, of a background of 4.2 that is known
    ],
)
def test_published_examples_have_their_significance(on: float, off: float, alpha: float, z: float) -> None:
    assert of_counts(np.array([on]), np.array([off]), alpha)[0] == pytest.approx(z, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1.0, 3.0])
def test_it_is_the_likelihood_ratio_of_two_poisson_numbers(alpha: float, rng: np.random.Generator) -> None:
    """Twice the logarithm of how much better two means of their own fit than one that both numbers share."""
    off = rng.integers(1, 200, 40).astype(float)
    on = rng.poisson(alpha * off * rng.uniform(0.2, 3.0, 40)).astype(float)
    shared = (on + off) / (1 + alpha)
    apart = stats.poisson.logpmf(on, on) + stats.poisson.logpmf(off, off)
    together = stats.poisson.logpmf(on, alpha * shared) + stats.poisson.logpmf(off, shared)
    truth = np.sign(on - alpha * off) * np.sqrt(2 * np.maximum(apart - together, 0.0))
    np.testing.assert_allclose(of_counts(on, off, alpha), truth, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_of_large_numbers_it_is_the_difference_over_its_error(alpha: float) -> None:
    off = np.full(5, 1e8)
    on = alpha * off + np.array([-3.0, -1.0, 0.0, 2.0, 4.0]) * np.sqrt(alpha * off)
    simple = (on - alpha * off) / np.sqrt(alpha * (on + off))
    np.testing.assert_allclose(of_counts(on, off, alpha), simple, atol=2e-3)


def test_an_empty_window_is_a_deficit_and_a_full_one_is_not_surprising() -> None:
    empty, full = of_counts(np.array([0.0, 30.0]), np.array([300.0, 300.0]), 0.1)
    assert empty == pytest.approx(-np.sqrt(2 * 300 * np.log(1.1)))
    assert full == 0


def test_sums_over_a_window_that_fall_below_zero_count_as_none() -> None:
    # Away from the centre of a window sums of kernels may do so, because features stand for them only nearly.
    below, none = of_counts(np.array([-0.3, 0.0]), np.array([50.0, 50.0]), 0.1)
    assert below == none


def test_windows_hold_the_sums_of_the_kernel_over_the_data() -> None:
    reference, data = uniform(REFERENCE, 1), uniform(EXPECTED, 2)
    k, of_reference = KERNEL(data, PIVOTS), KERNEL(reference, PIVOTS)
    size = (of_reference**2).mean(axis=0) / of_reference.mean(axis=0)
    many = EXPECTED * of_reference.mean(axis=0) / size
    size = (many * size + 3) / (many + 3)  # where few are expected an event counts as one
    on, off = k.sum(axis=0) / size, of_reference.sum(axis=0) / size
    found = windows(reference).significance(difference(data, reference))[:, 0]
    np.testing.assert_allclose(found, of_counts(on, off, EXPECTED / REFERENCE), atol=1e-8)


def test_without_a_signal_they_are_standard_normal_numbers() -> None:
    """Data and reference are drawn anew each time: the fluctuation of either counts."""
    known, z = windows(uniform(200_000, 3)), []
    same = replace(known, worth=1000.0)
    for seed in range(600):
        rng = np.random.default_rng(seed)
        data, reference = rng.random((rng.poisson(EXPECTED), 1)), rng.random((1000, 1))
        z.append(same.significance(difference(data, reference))[:, 0])
    found = np.array(z)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=4 / 600**0.5)
    # A window holds 500 sqrt(4 pi) widths, which are 53 events: nearly Gaussian.
    assert found.std() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("pivot", [0, 6, 16])
def test_an_excess_is_found_where_it_is(pivot: int) -> None:
    reference, rng = uniform(REFERENCE, 1), np.random.default_rng(pivot)
    data = np.vstack([uniform(EXPECTED, 2), PIVOTS[pivot] + 0.005 * rng.standard_normal((40, 1))])
    z = windows(reference).significance(difference(data, reference))[:, 0]
    assert np.argmax(z) == pivot
    assert z[pivot] > 5


def test_a_deficit_is_found_where_it_is_and_has_the_other_sign() -> None:
    reference, data = uniform(REFERENCE, 1), uniform(EXPECTED, 2)
    data = data[np.abs(data[:, 0] - PIVOTS[9, 0]) > 0.05]
    z = windows(reference).significance(difference(data, reference))[:, 0]
    assert np.argmin(z) == np.argmax(np.abs(z)) == 9
    assert z[9] < -5


def test_the_statistic_is_the_tail_beyond_the_largest_of_either_sign(rng: np.random.Generator) -> None:
    reference = uniform(REFERENCE, 1)
    found = windows(reference)
    u = np.hstack([difference(uniform(rng.poisson(EXPECTED), seed), reference) for seed in range(20)])
    few = uniform(EXPECTED, 2)
    u = np.hstack([u, difference(few[np.abs(few[:, 0] - 0.5) > 0.05], reference)])
    largest = np.abs(found.significance(u)).max(axis=0)
    np.testing.assert_allclose(found.statistic(u), -stats.norm.logsf(largest), rtol=1e-9)
    assert found.statistic(u)[-1] > found.statistic(u)[:-1].max()


def test_very_many_toys_are_looked_at_in_parts(rng: np.random.Generator) -> None:
    found, u, own = windows(uniform(REFERENCE, 1)), rng.normal(size=(17, 600)), rng.random((17, 600)) < 0.1
    whole = found.statistic(u, own.astype(float))
    for part in (slice(0, 1), slice(255, 258), slice(599, 600)):
        np.testing.assert_allclose(found.statistic(u[:, part], own[:, part].astype(float)), whole[part], rtol=1e-12)


def test_a_pivot_among_the_data_does_not_count_in_its_own_window() -> None:
    reference, data = uniform(REFERENCE, 1), uniform(EXPECTED, 2)
    u, more = difference(data, reference), difference(np.vstack([data, PIVOTS[[4]]]), reference)
    own = np.zeros((17, 1))
    own[4] = 1.0
    found = windows(reference)
    before, counted, own_left_out = found.significance(u), found.significance(more), found.significance(more, own)
    assert counted[4] > before[4] + 0.1
    assert own_left_out[4] == 0  # the data have no such window
    np.testing.assert_array_equal(np.delete(own_left_out, 4, axis=0), np.delete(counted, 4, axis=0))


def test_what_a_caller_has_summed_stays_as_it_was() -> None:
    u, own = np.ones((17, 3)), np.ones((17, 3))
    windows(uniform(REFERENCE, 1)).statistic(u, own)
    assert (u == 1).all()
    assert (own == 1).all()


def test_a_window_is_never_emptier_than_its_own_pivot_makes_it() -> None:
    """Far from all others a pivot is one event of the reference: alpha of one is expected."""
    reference = np.vstack([uniform(999, 1), [[50.0]]])
    pivots = np.vstack([PIVOTS[:3], [[50.0]]])
    basis = Basis(KERNEL, pivots, np.linalg.cholesky(KERNEL(pivots, pivots)).astype(float), 0.0)
    phi = basis.features(reference)
    # Of a half of the reference that does not have it.
    found = LocalExcess.of(
        basis, phi[:500].mean(axis=0), phi[:500].T @ phi[:500] / 500, expected=100.0, worth=1000.0
    )  # fmt: skip
    assert (found.size[3], found.mean[3]) == pytest.approx((1.0, 1 / 1000))
    two = found.significance(phi[[999]].T * 2)[3, 0]
    assert two == pytest.approx(of_counts(np.array([2.1]), np.array([1.0]), 0.1)[0])


def test_a_toys_data_are_no_longer_in_its_reference() -> None:
    """Half of the window's events are data: by sums over events, Li and Ma of what both are left with."""
    reference = uniform(REFERENCE, 1)
    rows = np.random.default_rng(5).permutation(REFERENCE)[:EXPECTED]
    data, rest = reference[rows], np.delete(reference, rows, axis=0)
    u = BASIS.features(data).sum(axis=0) - EXPECTED * BASIS.features(rest).mean(axis=0)
    found = windows(reference)
    # Of the reference of a search some events are kept out of every fit: as many as a toy's data.
    whole = replace(found, worth=float(REFERENCE - EXPECTED))
    z = whole.significance(u[:, None], inside=np.ones(1))[:, 0]
    on, off = (KERNEL(x, PIVOTS).sum(axis=0) / found.size for x in (data, rest))
    np.testing.assert_allclose(z, of_counts(on, off, EXPECTED / (REFERENCE - EXPECTED)), atol=1e-6)


def test_a_single_event_at_the_edge_counts_as_one() -> None:
    """Beside a lonely reference event most of a window's others are far off and count little each."""
    reference = np.vstack([uniform(20_000, 1), [[1.25]]])
    pivots = np.vstack([PIVOTS, [[1.25]]])
    kernel = GaussianKernel(0.08)
    basis = Basis(kernel, pivots, np.linalg.cholesky(kernel(pivots, pivots) + 1e-9 * np.eye(18)).astype(float), 0.0)
    phi = basis.features(reference)
    n = len(reference)
    found = LocalExcess.of(basis, phi.mean(axis=0), phi.T @ phi / n, expected=20.0, worth=n)
    assert found.size[-1] > 0.9
    u = basis.features(np.array([[1.25]])).T
    assert found.significance(u)[-1, 0] < 4


def test_of_many_windows_the_largest_few_are_averaged(rng: np.random.Generator) -> None:
    """One in 250: which events happen to be pivots matters less."""
    many, few = 1100, 400
    of_windows = lambda r: LocalExcess(np.eye(r), np.full(r, 0.01), np.ones(r), expected=500.0, worth=5e4)  # noqa: E731
    u = rng.normal(0, 2, (many, 3))
    z = np.sort(np.abs(of_windows(many).significance(u)), axis=0)
    assert of_windows(many).statistic(u) == pytest.approx(-stats.norm.logsf(z[-4:].mean(axis=0)))
    z = np.abs(of_windows(few).significance(u[:few]))
    assert of_windows(few).statistic(u[:few]) == pytest.approx(-stats.norm.logsf(z.max(axis=0)))
