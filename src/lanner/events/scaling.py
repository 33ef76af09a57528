"""`Scaling`: the units in which features are measured, learned once and applied to every sample.

What to use when: None if the features are comparable as they are (one feature always is),
"standard" if they are not, "authors" to reproduce the published results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lanner.errors import InputError
from lanner.events.matching import match_names
from lanner.events.sample import Sample
from lanner.typing import Array

RULES = (None, "standard", "authors")


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Scaling:
    """A shift and a scale per feature: scaled = (x - shift) / scale.

    Usually made with `Scaling.learn`. Every parameter is an attribute of the same name; arrays are read-only.

    Parameters
    ----------
    shift : array_like of shape (features,)
        What is subtracted, in the units of each feature.
    scale : array_like of shape (features,)
        What is divided by, in the units of each feature, positive.
    rule : {None, "standard", "authors"}
        How the numbers were learned, see `Scaling.learn`.
    names : iterable of str
        The names of the features.

    Raises
    ------
    InputError
        If the rule is unknown, or the numbers are not finite, not positive or not one per feature.

    See Also
    --------
    Scaling.learn : Learn shift and scale from a reference sample.

    Examples
    --------
    >>> import lanner
    >>> reference = lanner.Sample.of({"pt": [10.0, 20.0, 30.0]})
    >>> scaling = lanner.Scaling.learn(reference, "standard")
    >>> scaling.shift.tolist(), scaling.apply([[20.0]]).tolist()
    ([20.0], [[0.0]])
    """

    shift: Array
    scale: Array
    rule: str | None
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_rule(self.rule)
        object.__setattr__(self, "names", tuple(self.names))
        for part in ("shift", "scale"):
            values = np.array(getattr(self, part), dtype=np.float64)
            if values.shape != (len(self.names),):
                raise InputError(
                    f"the {part} of a scaling has shape {values.shape} for {len(self.names)} features: "
                    f"give one number per feature"
                )
            bad = ~np.isfinite(values) | ((values <= 0) & (part == "scale"))
            if bad.any():
                j = int(np.argmax(bad))
                needed = "finite and positive" if part == "scale" else "finite"
                raise InputError(
                    f"the {part} of column {self.names[j]!r} is {values[j]:g}, but must be {needed}: "
                    f"learn the scaling anew with Scaling.learn"
                )
            values.setflags(write=False)
            object.__setattr__(self, part, values)

    @classmethod
    def learn(cls, reference: Sample, rule: str | None = "standard", *, label: str = "reference") -> Scaling:
        """Learn the scaling of a sample: the reference, never the data under test.

        Weights do not enter: a scaling is a choice of units.

        Parameters
        ----------
        reference : Sample
            The sample that sets the units.
        rule : {None, "standard", "authors"}, default "standard"
            None leaves every column as it is. "standard" subtracts the mean and divides by the standard deviation.
            "authors" does what the paper's authors do: a column with negative values is standardised, another
            with a maximum above 1 is divided by its mean, and the rest stays as it is.
        label : str, default "reference"
            What error messages call the sample.

        Returns
        -------
        Scaling
            The scaling with the names of the sample.

        Raises
        ------
        InputError
            If the rule is unknown, or a column that has to be standardised does not vary.

        Examples
        --------
        >>> sample = Sample.of({"eta": [-1.0, 3.0], "pt": [1.0, 3.0], "tag": [0.25, 1.0]})
        >>> Scaling.learn(sample, "authors").apply(sample.features).tolist()
        [[-1.0, 0.5, 0.25], [1.0, 1.5, 1.0]]
        """
        _check_rule(rule)
        shift, scale = np.zeros(reference.dimensions), np.ones(reference.dimensions)
        for j, column in enumerate(reference.features.T):
            if rule == "standard" or (rule == "authors" and column.min() < 0):
                shift[j], scale[j] = _moments(column)
                _check_spread(column, scale[j], f"column {reference.names[j]!r} of {label}")
            elif rule == "authors" and column.max() > 1:
                scale[j], _ = _moments(column)
        return cls(shift, scale, rule, reference.names)

    def apply(self, features: ArrayLike) -> Array:
        """Return features in the units of the scaling: (x - shift) / scale.

        Parameters
        ----------
        features : array_like of shape (events, features)
            Features in their own units, in the order of `names`.

        Returns
        -------
        ndarray of shape (events, features)
            The scaled features, in a new array.

        Raises
        ------
        InputError
            If the array does not have a column for each name.

        See Also
        --------
        Scaling.inverse : The way back.

        Examples
        --------
        >>> Scaling([20.0], [10.0], "standard", ["pt"]).apply([[40.0]]).tolist()
        [[2.0]]
        """
        scaled: Array = (self._table(features) - self.shift) / self.scale
        return scaled

    def inverse(self, scaled: ArrayLike) -> Array:
        """Return features in their own units again: scaled * scale + shift.

        Parameters
        ----------
        scaled : array_like of shape (events, features)
            Scaled features, such as `apply` returns.

        Returns
        -------
        ndarray of shape (events, features)
            Features in their own units, in a new array.

        Raises
        ------
        InputError
            If the array has another shape.

        See Also
        --------
        Scaling.apply : The way there.

        Examples
        --------
        >>> Scaling([20.0], [10.0], "standard", ["pt"]).inverse([[2.0]]).tolist()
        [[40.0]]
        """
        features: Array = self._table(scaled) * self.scale + self.shift
        return features

    def apply_sample(self, sample: Sample, *, label: str = "sample") -> Sample:
        """Return a sample in the units of the scaling, its columns matched by name.

        Parameters
        ----------
        sample : Sample
            The events; columns may stand in another order, and without names they are matched by position.
        label : str, default "sample"
            What error messages call the sample.

        Returns
        -------
        Sample
            The scaled events with their weights, the columns in the order of `names`.

        Raises
        ------
        InputError
            If the sample does not have the columns of the scaling.

        Examples
        --------
        >>> scaling = Scaling([20.0, 0.0], [10.0, 1.0], "standard", ["pt", "eta"])
        >>> scaling.apply_sample(Sample.of({"eta": [1.5], "pt": [40.0]})).features.tolist()
        [[2.0, 1.5]]
        """
        matched = match_names(self.names, sample, labels=("the scaling", label))
        return Sample(self.apply(matched.features), matched.names, matched.weights, label=label)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, from which `from_dict` gets back the same bits.

        Returns
        -------
        dict
            The keys ``rule``, ``names``, ``shift`` and ``scale``.

        See Also
        --------
        Scaling.from_dict : The way back.

        Examples
        --------
        >>> Scaling([20.0], [10.0], "standard", ["pt"]).to_dict()
        {'rule': 'standard', 'names': ['pt'], 'shift': [20.0], 'scale': [10.0]}
        """
        return {
            "rule": self.rule,
            "names": list(self.names),
            "shift": self.shift.tolist(),
            "scale": self.scale.tolist(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Scaling:
        """Rebuild a scaling from what `to_dict` returned.

        Parameters
        ----------
        plain : dict
            The keys ``rule``, ``names``, ``shift`` and ``scale``; others are ignored.

        Returns
        -------
        Scaling
            The same scaling, to the last bit.

        Raises
        ------
        InputError
            If a key is missing or its value cannot be used.

        See Also
        --------
        Scaling.to_dict : The way there.

        Examples
        --------
        >>> Scaling.from_dict({"rule": None, "names": ["pt"], "shift": [0.0], "scale": [1.0]})
        Scaling(None; pt)
        """
        needed = ("shift", "scale", "rule", "names")
        missing = [key for key in needed if key not in plain]
        if missing:
            raise InputError(
                f"a scaling needs the keys {', '.join(needed)}, but {', '.join(missing)} is missing: "
                f"give what Scaling.to_dict returned"
            )
        return cls(**{key: plain[key] for key in needed})

    def __repr__(self) -> str:
        return f"Scaling({self.rule!r}; {', '.join(self.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because numpy forgets "read-only" when it pickles.
        return type(self), (self.shift, self.scale, self.rule, self.names)

    def _table(self, features: ArrayLike) -> Array:
        table = np.asarray(features, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.names):
            raise InputError(
                f"an array of shape {table.shape} cannot be scaled: needed is (events, {len(self.names)}), "
                f"the columns being {', '.join(map(repr, self.names))}"
            )
        return table


def _moments(column: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation (ddof=0) of a column.

    Without event weights, on purpose: a scaling is a choice of units, which any fixed number can
    serve, and with negative weights a weighted variance may be negative.
    """
    # In units of a power of two near the largest value: that changes no bit of the result, and the
    # squares of numbers like 1e-200 or 1e200 neither vanish nor overflow.
    _, exponent = np.frexp(np.abs(column).max())
    unit = np.ldexp(column, -exponent)
    return float(np.ldexp(unit.mean(), exponent)), float(np.ldexp(unit.std(), exponent))


def _check_spread(column: Array, spread: float, what: str) -> None:
    # Rounding gives a constant column a spread of about 1e-17, so compare the values themselves.
    if column.min() == column.max():
        raise InputError(f"{what} is always {column[0]:g}, so it has no spread to divide by: drop it from the features")
    if spread < np.finfo(np.float64).tiny:
        raise InputError(f"{what} has a spread of {spread:g}, too small to divide by: give it in smaller units")


def _check_rule(rule: object) -> None:
    if rule not in RULES:
        raise InputError(f"{rule!r} is no rule for a scaling: choose from {', '.join(map(repr, RULES))}")
