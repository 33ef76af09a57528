from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lanner.paper.generators import kinematics as k


def plane(rng: np.random.Generator, n: int, scale: float) -> np.ndarray:
    """Transverse momenta in all directions."""
    phi = rng.uniform(-np.pi, np.pi, n)
    return rng.exponential(scale, n)[:, None] * np.stack([np.cos(phi), np.sin(phi)], axis=1)


def space(rng: np.random.Generator, n: int) -> np.ndarray:
    p = plane(rng, n, 50)
    return np.column_stack([p, np.hypot(*p.T) * np.sinh(rng.normal(0, 1.2, n))])


def mt2_by_minimisation(p1: np.ndarray, p2: np.ndarray, met: np.ndarray) -> float:
    """The definition: the smallest of all sharings of the missing momentum of the larger of the two mT."""

    def larger(q: np.ndarray) -> float:
        return max(
            np.hypot(*p1) * np.hypot(*q) - p1 @ q,
            np.hypot(*p2) * np.hypot(*(met - q)) - p2 @ (met - q),
        )

    starts = (met / 2, 0.9 * met, 0.1 * met, 0.3 * p1, -0.5 * p1, met - 0.5 * p2)
    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000}
    best = min(minimize(larger, s, method="Nelder-Mead", options=options).fun for s in starts)
    return float(np.sqrt(2 * max(best, 0.0)))


def test_mt2_is_the_minimum_over_all_sharings(rng):
    p1, p2, met = plane(rng, 15, 40), plane(rng, 15, 40), plane(rng, 15, 60)
    expected = [mt2_by_minimisation(*event) for event in zip(p1, p2, met, strict=True)]
    np.testing.assert_allclose(k.mt2(p1, p2, met), expected, atol=1e-3)


def test_mt2_is_that_of_the_package_mt2(rng):
    # Lester and Nachman's bisection (arXiv:1411.4312), which shares no formula with ours.
    oracle = pytest.importorskip("mt2", reason="mt2 comes with the extra dev")
    p1, p2, met = plane(rng, 2000, 40), plane(rng, 2000, 40), plane(rng, 2000, 60)
    expected = oracle.mt2(0.0, *p1.T, 0.0, *p2.T, *met.T, 0.0, 0.0)
    found = k.mt2(p1, p2, met)
    large = found > 1.0
    assert 0.6 < large.mean() < 0.9
    np.testing.assert_allclose(found[large], expected[large], rtol=1e-6)
    # Towards 0, where it is exact for us, its bisection ends some 0.01 GeV away.
    np.testing.assert_allclose(found[~large], expected[~large], atol=0.05)


def test_mt2_without_recoil_has_a_closed_form(rng):
    # MT2^2 = 2 (|p1||p2| + p1.p2) for met = -(p1 + p2)
    p1, p2 = plane(rng, 200, 40), plane(rng, 200, 40)
    expected = np.sqrt(2 * (np.hypot(*p1.T) * np.hypot(*p2.T) + np.sum(p1 * p2, axis=1)))
    np.testing.assert_allclose(k.mt2(p1, p2, -p1 - p2), expected, rtol=1e-6, atol=1e-6)


def test_mt2_is_symmetric_and_zero_between_the_leptons(rng):
    p1, p2, met = plane(rng, 300, 40), plane(rng, 300, 40), plane(rng, 300, 40)
    np.testing.assert_allclose(k.mt2(p1, p2, met), k.mt2(p2, p1, met), atol=1e-6)
    np.testing.assert_array_equal(k.mt2(p1, p2, 0.3 * p1 + 2 * p2), 0.0)


def test_razor_by_its_definition(rng):
    p1, p2, met = space(rng, 100), space(rng, 100), plane(rng, 100, 50)
    r = k.razor(p1, p2, met)
    e1, e2 = np.linalg.norm(p1, axis=1), np.linalg.norm(p2, axis=1)
    np.testing.assert_allclose(r.m_r**2, (e1 + e2) ** 2 - (p1[:, 2] + p2[:, 2]) ** 2)
    scalar = np.hypot(*p1[:, :2].T) + np.hypot(*p2[:, :2].T)
    along = np.sum(met * (p1 + p2)[:, :2], axis=1)
    np.testing.assert_allclose(r.m_tr**2, (np.hypot(*met.T) * scalar - along) / 2)
    np.testing.assert_allclose(r.r, r.m_tr / r.m_r)


def test_razor_does_not_know_the_boost_along_the_beam(rng):
    p1, p2, met = space(rng, 50), space(rng, 50), plane(rng, 50, 50)
    along = np.zeros((50, 3))
    along[:, 2] = 0.6
    one, two = [k.boosted(np.column_stack([p, np.linalg.norm(p, axis=1)]), along)[:, :3] for p in (p1, p2)]
    here, there = k.razor(p1, p2, met), k.razor(one, two, met)
    for name in ("m_r", "m_tr", "s_r", "m_delta_r", "delta_phi", "cos_theta"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-5, atol=1e-5, err_msg=name)


def test_super_razor_without_recoil(rng):
    # J = 0: s_R = (2 M_R)^2, and M_Delta^R = M_R / gamma with the leptons as they are after the boost along the beam.
    p1, p2 = space(rng, 100), space(rng, 100)
    r = k.razor(p1, p2, -(p1 + p2)[:, :2])
    np.testing.assert_allclose(r.s_r, 2 * r.m_r)
    four = [np.column_stack([p, np.linalg.norm(p, axis=1)]) for p in (p1, p2)]
    beam = np.zeros_like(p1)
    beam[:, 2] = -(p1 + p2)[:, 2] / (four[0] + four[1])[:, 3]
    one, two = (k.boosted(p, beam) for p in four)
    split = (one - two)[:, :3] / (one + two)[:, 3:]
    np.testing.assert_allclose(r.m_delta_r, r.m_r * np.sqrt(1 - np.sum(split**2, axis=1)), rtol=1e-6)


def test_super_razor_finds_the_w_mass_of_pairs(rng):
    # W pairs at rest, whose leptons fly across each other: E = m_W/2 each, so M_R = m_W and
    # gamma = 1/sqrt(1 - 1/2).
    half = np.full(3, 80.4 / 2)
    p1, p2 = k.momentum(half, 0 * half, 0 * half), k.momentum(half, 0 * half, np.pi / 2 + 0 * half)
    r = k.razor(p1, p2, -(p1 + p2)[:, :2])
    np.testing.assert_allclose(r.m_delta_r, 80.4 / np.sqrt(2))
    assert np.all(r.m_delta_r <= 80.4)


def massive(rng: np.random.Generator, n: int, mass: float) -> np.ndarray:
    p = k.momentum(rng.uniform(5, 90, n), rng.normal(0, 2, n), rng.uniform(-3, 3, n))
    return np.column_stack([p, np.sqrt(np.sum(p**2, axis=1) + mass**2)])


def test_a_boost_keeps_masses_and_can_be_undone(rng):
    p, velocity = massive(rng, 50, 4.2), rng.uniform(-0.5, 0.5, (50, 3))
    there = k.boosted(p, velocity)
    np.testing.assert_allclose(np.sqrt(there[:, 3] ** 2 - np.sum(there[:, :3] ** 2, axis=1)), 4.2, rtol=1e-4)
    np.testing.assert_allclose(k.boosted(there, -velocity), p, rtol=1e-9, atol=1e-9)


def test_boosts_are_those_of_the_package_vector(rng):
    vector = pytest.importorskip("vector", reason="vector comes with the extra physics")
    p, velocity = massive(rng, 50, 4.2), rng.uniform(-0.5, 0.5, (50, 3))
    there = vector.array(dict(zip(("px", "py", "pz", "E"), p.T, strict=True))).boost_beta3(
        vector.array(dict(zip("xyz", velocity.T, strict=True)))
    )
    expected = np.stack([there.px, there.py, there.pz, there.E], axis=1)
    np.testing.assert_allclose(k.boosted(p, velocity), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("nearest", "expected"), [(0.0, 0.0), (np.pi / 6, 50.0), (np.pi / 2, 100.0), (3.0, 100.0)])
def test_relative_missing_momentum(nearest, expected):
    assert k.relative_missing(np.array([100.0]), np.array([nearest]))[0] == pytest.approx(expected)
