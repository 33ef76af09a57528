"""What a nuisance parameter does to events: log r of each as a function of nu, with its slope and its curvature.

Nuisances act one after the other: log r(x; nu) is the sum of what each does by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.typing import Array
from lanner.uncertainties.checks import check_name

_STEP = 1e-3  # of nu, for the derivatives of a function that gives none


class Effect(Protocol):
    """What one nuisance does to some events."""

    def at(self, nu: float) -> tuple[Array, Array, Array]:
        """log r of each event, and its first and second derivatives with respect to nu, (events,) each."""

    def take(self, rows: NDArray[np.intp]) -> Effect:
        """The same of some of the events."""


class Variation(Protocol):
    """One nuisance: what it does to events wherever they are."""

    @property
    def name(self) -> str:
        """What it is called."""

    def of(self, features: Array) -> Effect:
        """What it does to events, given their features, (events, features), in their own units."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """log r = first nu + second nu^2 between nu = -1 and 1, continued in a straight line beyond."""

    first: Array
    second: Array

    def at(self, nu: float) -> tuple[Array, Array, Array]:
        """log r, its slope and its curvature.

        >>> effect = Quadratic(np.array([0.5]), np.array([0.1]))
        >>> [[round(float(x[0]), 6) for x in effect.at(nu)] for nu in (0.5, 2.0)]
        [[0.275, 0.6, 0.2], [1.3, 0.7, 0.0]]
        """
        inside = min(max(nu, -1.0), 1.0)
        slope = self.first + 2 * inside * self.second
        value = inside * self.first + inside**2 * self.second + (nu - inside) * slope
        return value, slope, 2 * self.second if nu == inside else np.zeros_like(slope)

    def take(self, rows: NDArray[np.intp]) -> Quadratic:
        """The same of some of the events."""
        return Quadratic(self.first[rows], self.second[rows])


@dataclass(frozen=True, eq=False)
class Yield:
    """The yield of a part of the reference: r = 1 + (e^(nu sigma) - 1) P, with P the share of that part at each event.

    With P = 1 everywhere it is a normalisation of everything.
    """

    size: float  # sigma, in the logarithm of the yield
    share: Array

    def at(self, nu: float) -> tuple[Array, Array, Array]:
        """log r, its slope and its curvature.

        >>> [float(x[0].round(12)) for x in Yield(0.1, np.ones(1)).at(2.0)]
        [0.2, 0.1, 0.0]
        """
        grown = np.exp(nu * self.size)
        r = 1 + (grown - 1) * self.share
        slope = self.size * grown * self.share / r
        return np.log(r), slope, slope * (self.size - slope)

    def take(self, rows: NDArray[np.intp]) -> Yield:
        """The same of some of the events."""
        return Yield(self.size, self.share[rows])


@dataclass(frozen=True, eq=False)
class Exact:
    """A function of features and nu that somebody knows; its derivatives are taken by differences."""

    function: Callable[[Array, float], Array]
    features: Array

    def at(self, nu: float) -> tuple[Array, Array, Array]:
        """log r, its slope and its curvature."""
        below, here, above = (
            np.asarray(self.function(self.features, nu + step), dtype=np.float64) for step in (-_STEP, 0.0, _STEP)
        )
        return here, (above - below) / (2 * _STEP), (above - 2 * here + below) / _STEP**2

    def take(self, rows: NDArray[np.intp]) -> Exact:
        """The same of some of the events."""
        return Exact(self.function, self.features[rows])


@dataclass(frozen=True, eq=False)
class Effects:
    """What all nuisances do to some events."""

    each: tuple[Effect, ...]
    events: int

    def at(self, nu: Array) -> tuple[Array, Array, Array]:
        """log r of each event, (events,), its slopes and its curvatures, (events, nuisances): they have no cross terms.

        >>> both = Effects((Quadratic(np.ones(3), np.zeros(3)), Yield(0.1, np.ones(3))), 3)
        >>> log_r, slopes, _ = both.at(np.array([0.5, -1.0]))
        >>> log_r.round(6).tolist(), slopes[0].round(6).tolist()
        ([0.4, 0.4, 0.4], [1.0, 0.1])
        """
        parts = [effect.at(float(x)) for effect, x in zip(self.each, nu, strict=True)]
        log_r = np.sum([part[0] for part in parts], axis=0) if parts else np.zeros(self.events)
        slopes, curvatures = (
            np.stack([part[k] for part in parts], axis=1) if parts else np.zeros((self.events, 0)) for k in (1, 2)
        )
        return log_r, slopes, curvatures

    def take(self, rows: NDArray[np.intp]) -> Effects:
        """The same of some of the events."""
        return Effects(tuple(effect.take(rows) for effect in self.each), len(rows))


@dataclass(frozen=True, eq=False)
class Nuisances:
    """All nuisances of a search."""

    variations: tuple[Variation, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(variation.name for variation in self.variations)

    def __len__(self) -> int:
        return len(self.variations)

    def of(self, features: Array) -> Effects:
        """What they do to events."""
        return Effects(tuple(variation.of(features) for variation in self.variations), len(features))


@dataclass(frozen=True)
class GlobalNormalisation:
    """Everything grows by e^(nu size): the only variation that needs no features."""

    name: str
    size: float

    def of(self, features: Array) -> Effect:
        """The same for every event."""
        return Yield(self.size, np.ones(len(features)))


@dataclass(frozen=True, eq=False)
class KnownRatio:
    """An uncertainty whose log r(x; nu) is known as a function, so that nothing has to be learned.

    r(x; nu) is the density of the reference at nu over that at 0, yields included.

    Parameters
    ----------
    name : str
        What it is called.
    function : callable
        Takes features, an array of shape (events, features) in their own units, and nu; returns log r of each event.
        It has to be 0 at nu = 0.

    Raises
    ------
    InputError
        If the name is empty, or the function cannot be called.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> scale = lanner.KnownRatio("scale", lambda x, nu: x[:, 0] * (1 - np.exp(-0.05 * nu)) - 0.05 * nu)
    >>> scale.of(np.array([[1.0], [4.0]])).at(1.0)[0].round(4).tolist()
    [-0.0012, 0.1451]
    """

    name: str
    function: Callable[[Array, float], Array]

    def __post_init__(self) -> None:
        check_name(self.name)
        if not callable(self.function):
            raise InputError(
                f"the function of {self.name!r} cannot be called: give a function of features and nu that returns log r"
            )

    def of(self, features: Array) -> Effect:
        """Return what the nuisance does to events, by its function.

        Parameters
        ----------
        features : ndarray of shape (events, features)
            Events, in their own units.

        Returns
        -------
        Effect
            Log r of these events as a function of nu.
        """
        return Exact(self.function, features)
