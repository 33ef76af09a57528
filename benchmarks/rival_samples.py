"""The problems on which published two-sample tests were compared, after the definitions of their papers.

Perturbed uniforms: Schrab et al., arXiv:2110.15073, and Biggs et al., arXiv:2306.08777. Mixture of four Gaussians:
arXiv:2306.08777. Azimuths of the HIGGS jets: arXiv:2206.08843 and others, from the file of the UCI repository.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BUMPS = 2  # of each sign pattern, an axis
SCALES = {1: 0.2, 2: 0.4}  # of the perturbation, by dimension
CENTRE, WIDER = 20.0, 1.3
AZIMUTHS = ("jet_1_phi", "jet_2_phi", "jet_3_phi", "jet_4_phi")
PERIOD = 2 * np.pi / 1.8138  # the file has angles in units of their standard deviation
_MOST_ROWS = 200_000  # of a HIGGS file


def rng_of(*what: str | int) -> np.random.Generator:
    """Random numbers that depend on names and numbers alone."""
    return np.random.default_rng([zlib.crc32(w.encode()) if isinstance(w, str) else w for w in what])


def bump(y: Floats) -> Floats:
    """G(y): exp(-1 / (1 - (4 y + 3)^2)) on (-1, -1/2), minus the same of 4 y + 1 on (-1/2, 0), and 0 elsewhere."""
    u = np.where(y < -0.5, 4 * y + 3, 4 * y + 1)
    inside = (y > -1) & (y < 0) & (np.abs(u) < 1)
    values = np.exp(-1 / np.where(inside, 1 - u**2, 1.0))
    return np.where(inside, np.where(y < -0.5, values, -values), 0.0)


def perturbed_density(x: Floats, signs: Floats, scale: float) -> Floats:
    """f(x) = 1 + scale e^d sum_j signs_j prod_r G(2 x_r - j_r) of rows x in the unit cube, j in {1, 2}^d.

    It lies between 1 - scale and 1 + scale, because G reaches 1 / e.
    """
    dimensions = x.shape[1]
    cell = np.clip(np.floor(BUMPS * x).astype(int), 0, BUMPS - 1)  # the one j - 1 whose bump is not 0 there
    bumps = bump(BUMPS * x - (cell + 1)).prod(axis=1)
    return np.asarray(1 + scale * np.e**dimensions * signs[tuple(cell.T)] * bumps)


def random_signs(dimensions: int, rng: np.random.Generator) -> Floats:
    """A sign for each bump."""
    return rng.choice([-1.0, 1.0], size=(BUMPS,) * dimensions)


def perturbed_uniform(n: int, dimensions: int, signs: Floats, scale: float, rng: np.random.Generator) -> Floats:
    """Events of that density, by hit-or-miss."""
    found: list[Floats] = []
    while sum(map(len, found)) < n:
        x = rng.random((2 * n, dimensions))
        found.append(x[rng.random(2 * n) * (1 + scale) < perturbed_density(x, signs, scale)])
    return np.vstack(found)[:n]


def four_gaussians(n: int, rng: np.random.Generator, *, wider: bool) -> Floats:
    """Events of four Gaussians of standard deviation 1 in the corners of a square; one may be wider."""
    corner = rng.integers(0, 4, n)
    centres = CENTRE * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    spread = np.where((corner == 0) & wider, WIDER, 1.0)
    return np.asarray(centres[corner] + spread[:, None] * rng.normal(size=(n, 2)))


@dataclass(frozen=True)
class Uniforms:
    """Perturbed uniforms; every pair of samples has signs of its own."""

    dimensions: int

    def draw(self, n: int, rng: np.random.Generator, *, different: bool) -> tuple[Floats, Floats]:
        """Two samples of n events each."""
        first = rng.random((n, self.dimensions))
        if not different:
            return first, rng.random((n, self.dimensions))
        signs = random_signs(self.dimensions, rng)
        return first, perturbed_uniform(n, self.dimensions, signs, SCALES[self.dimensions], rng)


@dataclass(frozen=True)
class Mixture:
    """Four Gaussians, of which one is wider in the other sample."""

    def draw(self, n: int, rng: np.random.Generator, *, different: bool) -> tuple[Floats, Floats]:
        """Two samples of n events each."""
        return four_gaussians(n, rng, wider=False), four_gaussians(n, rng, wider=different)


@dataclass(frozen=True, eq=False)
class Azimuths:
    """Jet azimuths of signal and background; where there is to be no difference, of both mixed."""

    background: Floats
    signal: Floats

    @classmethod
    def read(cls, path: Path) -> Azimuths:
        """Read the first rows of a CSV file with the columns of the UCI file and a `label`, 1 for signal."""
        with path.open() as file:
            names = [name.strip() for name in next(file).split(",")]
            wanted = [names.index(name) for name in (*AZIMUTHS, "label")]
            table = np.loadtxt(islice(file, _MOST_ROWS), delimiter=",", usecols=wanted)
        signal = table[:, -1] > 0.5
        return cls(table[~signal, :-1], table[signal, :-1])

    def has(self, n: int) -> bool:
        """Whether there are rows enough for samples of n events."""
        return min(len(self.background), len(self.signal)) >= n

    def is_small_for(self, n: int) -> bool:
        """Whether samples of n events share so many rows that they are not independent."""
        return not self.has(10 * n)

    def draw(self, n: int, rng: np.random.Generator, *, different: bool) -> tuple[Floats, Floats]:
        """Two samples of n events each, none in both."""
        if different:
            return _some(self.background, n, rng), _some(self.signal, n, rng)
        both = _some(np.vstack([self.background, self.signal]), 2 * n, rng)
        return both[:n], both[n:]


def _some(rows: Floats, n: int, rng: np.random.Generator) -> Floats:
    return np.asarray(rows[rng.choice(len(rows), n, replace=False)])


Problem = Uniforms | Mixture | Azimuths


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, the sizes of its samples, and the powers that were published for each size."""

    title: str
    problem: Problem
    sizes: Sequence[int]
    published: dict[str, Sequence[float]]
