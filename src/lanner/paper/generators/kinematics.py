"""High-level features of events with two massless leptons and missing momentum: MT2 and the razor variables.

Momenta are arrays: (n, 2) in the transverse plane, (n, 3) in space, (n, 4) with the energy last. Units are GeV. They
are not those of the package `vector`, because the super-razor variables amplify rounding: where leptons fly back to
back, the last digit of a momentum moves `cos_theta` by as much as 1e-5. The same operations in the same order keep the
samples of a seed what they have always been.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lanner.typing import Array


def momentum(pt: Any, eta: Any, phi: Any) -> Array:
    """px, py and pz."""
    pt, eta, phi = np.broadcast_arrays(pt, eta, phi)
    return np.stack([pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)], axis=-1)


def azimuth(p: Array) -> Array:
    """phi of a momentum, between -pi and pi."""
    return np.asarray(np.arctan2(p[..., 1], p[..., 0]))


def angle_between(phi1: Any, phi2: Any) -> Any:
    """The azimuthal angle between two directions, from 0 to pi."""
    return np.abs((phi1 - phi2 + np.pi) % (2 * np.pi) - np.pi)


def boosted(p: Array, velocity: Array) -> Array:
    """Four-momenta (n, 4) after a boost by `velocity` (n, 3): a particle at rest then moves with it."""
    beta2 = np.sum(velocity**2, axis=-1)
    gamma = 1 / np.sqrt(1 - beta2)
    along = np.sum(velocity * p[..., :3], axis=-1)
    rise = np.divide(gamma - 1, beta2, out=np.zeros_like(beta2), where=beta2 > 0)
    space = p[..., :3] + (rise * along + gamma * p[..., 3])[..., None] * velocity
    return np.concatenate([space, (gamma * (p[..., 3] + along))[..., None]], axis=-1)


def mt2(p1: Array, p2: Array, met: Array) -> Array:
    """The stransverse mass of massless p1, p2 and massless invisible particles, all (n, 2).

    MT2 = min over q1 + q2 = met of max(mT(p1, q1), mT(p2, q2)). mT(p, q) grows along q/|q| - p/|p|, and at the
    minimum these directions agree: q1 and q2 are the mirror images of p1 and p2, in direction, about one axis. So the
    mirror image of met, at an angle c from p1, is |q1| p1/|p1| + |q2| p2/|p2|, and one angle c makes the two mT equal.
    With p1 at angle 0, p2 at alpha, met at phi and s = (c + phi)/2:

        |p1| sin(alpha - c) sin^2(s) = |p2| sin(c) sin^2(s - alpha),        MT2^2 = 4 |p1| |q1| sin^2(s)

    Where met lies between p1 and p2, it can be shared between neutrinos parallel to them, and MT2 = 0.
    """
    first, second, missing = (np.hypot(p[..., 0], p[..., 1]) for p in (p1, p2, met))
    alpha = (azimuth(p2) - azimuth(p1)) % (2 * np.pi)
    swap = alpha > np.pi
    origin = np.where(swap, azimuth(p2), azimuth(p1))
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    alpha = np.where(swap, 2 * np.pi - alpha, alpha)
    phi = (azimuth(met) - origin) % (2 * np.pi)
    # The two directions agree, instead of being opposite, for 2 alpha < c + phi < 2 pi.
    low, high = np.maximum(0.0, 2 * alpha - phi), np.minimum(alpha, 2 * np.pi - phi)
    for _ in range(50):
        c = (low + high) / 2
        s = (c + phi) / 2
        above = first * np.sin(alpha - c) * np.sin(s) ** 2 > second * np.sin(c) * np.sin(s - alpha) ** 2
        low, high = np.where(above, c, low), np.where(above, high, c)
    c = (low + high) / 2
    # |q1| = met sin(alpha - c)/sin(alpha); for p1 and p2 in one line, the limit is not needed to better than this.
    q1 = missing * np.sin(alpha - c) / np.maximum(np.sin(alpha), 1e-9)
    value = 2 * np.sqrt(np.maximum(first * q1, 0.0)) * np.abs(np.sin((c + phi) / 2))
    return np.asarray(np.where(phi <= alpha, 0.0, value))


@dataclass(frozen=True, eq=False)
class Razor:
    """Razor (M_R, M_T^R, R) and super-razor variables, of two massless leptons and missing momentum."""

    m_r: Array
    m_tr: Array
    r: Array
    s_r: Array
    m_delta_r: Array
    delta_phi: Array
    cos_theta: Array


def razor(p1: Array, p2: Array, met: Array) -> Razor:
    """The razor variables of momenta (n, 3), (n, 3) and missing momentum (n, 2).

    Razor (arXiv:1006.2727): M_R^2 = (|p1| + |p2|)^2 - (p1z + p2z)^2, R = M_T^R / M_R with
    2 (M_T^R)^2 = MET (pT1 + pT2) - MET.(pT1 + pT2). Super-razor (Buckley, Lykken, Rogan, Spiropulu, arXiv:1310.4827):
    in the frame where p1z + p2z = 0, the pair and the missing momentum together, J, move by beta_R, with

        s_R = 2 [M_R^2 - J.(p1 + p2) + M_R sqrt(M_R^2 + J^2 - 2 J.(p1 + p2))],      beta_R = J / sqrt(J^2 + s_R)

    In their rest frame R each lepton's parent moves by +-beta_{R+1} = (p1 - p2)/(E1 + E2), and
    M_Delta^R = sqrt(s_R) / (2 gamma_{R+1}). `delta_phi` is the angle between beta_R and p1 + p2 in R, `cos_theta` that
    between beta_{R+1} and p1 in the parent's frame.
    """
    one, two = (np.concatenate([p, np.linalg.norm(p, axis=-1)[:, None]], axis=-1) for p in (p1, p2))
    pair = one + two
    m_r = np.sqrt(pair[:, 3] ** 2 - pair[:, 2] ** 2)
    missing = np.hypot(met[:, 0], met[:, 1])
    scalar = np.hypot(p1[:, 0], p1[:, 1]) + np.hypot(p2[:, 0], p2[:, 1])
    m_tr = np.sqrt(np.maximum(missing * scalar - np.sum(met * pair[:, :2], axis=-1), 0.0) / 2)

    along_beam = np.zeros_like(p1)
    along_beam[:, 2] = -pair[:, 2] / pair[:, 3]
    one, two = boosted(one, along_beam), boosted(two, along_beam)
    total = np.zeros_like(p1)
    total[:, :2] = pair[:, :2] + met
    recoil2, both = np.sum(total**2, axis=-1), np.sum(total[:, :2] * pair[:, :2], axis=-1)
    s = 2 * (m_r**2 - both + m_r * np.sqrt(np.maximum(m_r**2 + recoil2 - 2 * both, 0.0)))
    beta = total / np.sqrt(recoil2 + s)[:, None]

    one, two = boosted(one, -beta), boosted(two, -beta)
    split = (one[:, :3] - two[:, :3]) / (one[:, 3] + two[:, 3])[:, None]
    inverse_gamma = np.sqrt(np.maximum(1 - np.sum(split**2, axis=-1), 0.0))
    parent = boosted(one, -split * (1 - 1e-12))
    norm = np.linalg.norm(parent[:, :3], axis=-1) * np.linalg.norm(split, axis=-1)
    return Razor(
        m_r=m_r,
        m_tr=m_tr,
        r=m_tr / m_r,
        s_r=np.sqrt(s),
        m_delta_r=np.sqrt(s) * inverse_gamma / 2,
        delta_phi=angle_between(azimuth(one + two), azimuth(total)),
        cos_theta=np.abs(np.sum(parent[:, :3] * split, axis=-1)) / np.maximum(norm, 1e-300),
    )


def relative_missing(met: Array, nearest: Array) -> Array:
    """MET_rel: the missing momentum, or its part across the nearest lepton or jet if that is closer than 90 degrees."""
    return np.asarray(met * np.where(nearest < np.pi / 2, np.sin(nearest), 1.0))
