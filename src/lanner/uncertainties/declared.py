"""Systematic uncertainties as people have them: sizes, event weights, varied samples, labels of processes.

Each says what it is and checks what can be checked without the reference; `learn` makes nuisance parameters of them.
A ratio that somebody knows as a function is a nuisance parameter already: `KnownRatio`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lanner.errors import InputError
from lanner.events import Sample
from lanner.events.columns import as_weights, check_known, read_only
from lanner.uncertainties.checks import check_name, checked_label, checked_size, checked_yield, same
from lanner.uncertainties.effects import KnownRatio


@dataclass(frozen=True)
class Normalisation:
    """An uncertainty of the whole reference's yield, such as that of the luminosity.

    The reference grows by exp(nu size), so it can never become negative.

    Parameters
    ----------
    name : str
        What it is called.
    size : float
        The relative uncertainty, 0.03 for 3 %, at most 1.

    Raises
    ------
    InputError
        If the name is empty, or the size is no number from 0 to 1.

    Examples
    --------
    >>> import lanner
    >>> lanner.Normalisation("luminosity", 0.03)
    Normalisation(name='luminosity', size=0.03)
    """

    name: str
    size: float

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "size", checked_size(self.name, self.size))


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """An uncertainty given as event weights of the reference, such as those of parton densities or efficiencies.

    These are whole weights, not factors: their sums are the varied yields of the reference, so a change of the yield is
    part of the variation. Single weights may be negative. Without `down`, or with `one_sided`, the variation down is
    the mirror image of that up: log r(x; -1) = -log r(x; 1).

    Parameters
    ----------
    name : str
        What it is called.
    up : array_like of shape (events,) or str
        The weights of the reference's events at one uncertainty up, or the name of the column that holds them.
    down : array_like of shape (events,) or str or None, default None
        The same at one uncertainty down. None mirrors the variation up.
    one_sided : bool, default False
        Whether there is a variation in one direction only. `down` is then left out, or the same as `up`.

    Raises
    ------
    InputError
        If the weights are not finite numbers, one per event, with a positive sum, or if they contradict each other.

    Examples
    --------
    >>> import lanner
    >>> lanner.Weights("pdf", up=[1.1, 0.9, 1.0], down=[0.9, 1.1, 1.0])
    Weights('pdf', up and down of 3 events)
    >>> lanner.Weights("scale", up="w_scale_up")
    Weights('scale', up 'w_scale_up')
    """

    name: str
    up: Any
    down: Any = None
    one_sided: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        for direction in ("up", "down"):
            given = getattr(self, direction)
            if given is None and direction == "up":
                raise InputError(f"the weights of {self.name!r} lack up=: give the weights at one uncertainty up")
            if given is not None and not isinstance(given, str):
                what = f"the weights {direction} of {self.name!r}"
                object.__setattr__(self, direction, read_only(as_weights(given, np.size(given), what)))
        lengths = [len(given) for given in (self.up, self.down) if isinstance(given, np.ndarray)]
        if len(set(lengths)) > 1:
            raise InputError(
                f"the weights up and down of {self.name!r} are {lengths[0]} and {lengths[1]}: give both for every "
                "event of the reference"
            )
        if self.one_sided and self.down is not None and not same(self.up, self.down):
            raise InputError(
                f"{self.name!r} is declared one-sided, but its weights up and down differ: leave out down=, or that"
            )

    def __repr__(self) -> str:
        return f"Weights({self.name!r}, {_what(self.up, self.down)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that still have to be looked up.

        Returns
        -------
        tuple of str
            The names, none if all weights are there.

        Examples
        --------
        >>> Weights("pdf", up="w_up", down="w_down").columns
        ('w_up', 'w_down')
        """
        return tuple(given for given in (self.up, self.down) if isinstance(given, str))

    def resolved(self, columns: Mapping[str, ArrayLike]) -> Weights:
        """Return the same with the columns in the place of their names.

        Parameters
        ----------
        columns : mapping of str to array_like
            Columns of the reference, one value per event.

        Returns
        -------
        Weights
            The same uncertainty with arrays.

        Raises
        ------
        InputError
            If a column is not there, or holds no weights.

        Examples
        --------
        >>> Weights("pdf", up="w_up").resolved({"w_up": [1.1, 0.9]})
        Weights('pdf', up of 2 events)
        """
        check_known(self.columns, columns, f"the reference, asked for the weights of {self.name!r},")
        up, down = (columns[given] if isinstance(given, str) else given for given in (self.up, self.down))
        return replace(self, up=up, down=down)


@dataclass(frozen=True, eq=False, repr=False)
class Shifted:
    """An uncertainty given as samples in which the variation was made, such as those of an energy scale.

    The samples may hold the same events as the reference, at other values, or other events, and they may be weighted.
    Events that enter or leave the selection because of the variation belong to it.

    Unless told otherwise, the samples are taken to be at equal luminosity: the total weight of a varied sample over
    that of the reference is the change of the yield. Where it is not, as for an unweighted sample that was generated
    with another number of events, `up_yield` and `down_yield` say what the change of the yield is; 1 stands for none.

    Parameters
    ----------
    name : str
        What it is called.
    up : Sample, array_like, mapping or data frame
        Events at one uncertainty up, with the features of the reference.
    down : Sample, array_like, mapping, data frame or None, default None
        Events at one uncertainty down. None mirrors the variation up.
    one_sided : bool, default False
        Whether there is a variation in one direction only. `down` is then left out, or the same as `up`.
    up_yield : float or None, default None
        The yield at one uncertainty up over that of the reference. None: by the total weights.
    down_yield : float or None, default None
        The same at one uncertainty down.

    Raises
    ------
    InputError
        If a sample or a yield cannot be used, or if the samples contradict each other.

    Examples
    --------
    >>> import lanner
    >>> up, down = {"mass": [91.3, 90.1, 92.0]}, {"mass": [90.9, 89.7, 91.6]}
    >>> lanner.Shifted("muon scale", up=up, down=down)
    Shifted('muon scale', up and down of 3 events)
    """

    name: str
    up: Any
    down: Any = None
    one_sided: bool = False
    up_yield: float | None = None
    down_yield: float | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.up is None:
            raise InputError(f"{self.name!r} lacks up=: give the sample at one uncertainty up")
        for direction in ("up", "down"):
            given, change = getattr(self, direction), getattr(self, f"{direction}_yield")
            if given is not None:
                object.__setattr__(self, direction, Sample.of(given, label=f"the sample {direction} of {self.name!r}"))
            if change is not None:
                object.__setattr__(self, f"{direction}_yield", checked_yield(self.name, direction, change, given))
        if self.one_sided and self.down is not None and not same(self.up, self.down):
            raise InputError(
                f"{self.name!r} is declared one-sided, but its samples up and down differ: leave out down=, or that"
            )

    def __repr__(self) -> str:
        return f"Shifted({self.name!r}, {_what(self.up, self.down)})"


@dataclass(frozen=True, eq=False, repr=False)
class Process:
    """An uncertainty of the yield of one of the processes that the reference is made of, such as a cross-section.

    Parameters
    ----------
    name : str
        What it is called.
    size : float
        The relative uncertainty of the process's yield, 0.06 for 6 %, at most 1.
    label : array_like of shape (events,) or str
        Which events of the reference are of the process: truths, or 0 and 1; or the name of the column that holds them.

    Raises
    ------
    InputError
        If the size is no number from 0 to 1, or the label has other values than truths, or none that is true.

    Examples
    --------
    >>> import lanner
    >>> lanner.Process("ttbar", 0.06, label=[True, False, True])
    Process('ttbar', 0.06, 2 of 3 events)
    """

    name: str
    size: float
    label: Any

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "size", checked_size(self.name, self.size))
        if not isinstance(self.label, str):
            object.__setattr__(self, "label", read_only(checked_label(self.name, self.label)))

    def __repr__(self) -> str:
        if isinstance(self.label, str):
            return f"Process({self.name!r}, {self.size:g}, label {self.label!r})"
        return f"Process({self.name!r}, {self.size:g}, {int(self.label.sum())} of {len(self.label)} events)"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that still have to be looked up.

        Returns
        -------
        tuple of str
            The name of the label's column, or nothing if the label is there.

        Examples
        --------
        >>> Process("ttbar", 0.06, label="is_ttbar").columns
        ('is_ttbar',)
        """
        return (self.label,) if isinstance(self.label, str) else ()

    def resolved(self, columns: Mapping[str, ArrayLike]) -> Process:
        """Return the same with the column in the place of its name.

        Parameters
        ----------
        columns : mapping of str to array_like
            Columns of the reference, one value per event.

        Returns
        -------
        Process
            The same uncertainty with an array.

        Raises
        ------
        InputError
            If the column is not there, or holds no label.

        Examples
        --------
        >>> Process("ttbar", 0.06, label="is_ttbar").resolved({"is_ttbar": [1, 0, 0]})
        Process('ttbar', 0.06, 1 of 3 events)
        """
        check_known(self.columns, columns, f"the reference, asked for the label of {self.name!r},")
        return replace(self, label=columns[self.label]) if self.columns else self


Uncertainty = Normalisation | Weights | Shifted | Process | KnownRatio


def _what(up: Any, down: Any) -> str:
    """What is given, for people."""
    if isinstance(up, str):
        return f"up {up!r}" + (f", down {down!r}" if down is not None else "")
    return f"up{' and down' if down is not None else ''} of {len(up)} events"
