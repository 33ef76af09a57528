"""`Scaling`: the units in which features are measured, learned once and applied to every sample.

What to use when: None if the features are comparable as they are (one feature always is), "robust" if they are not,
"standard" for features without wild values, "authors" to reproduce the published results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lanner.errors import InputError
from lanner.events.angles import TURN, check_period, periods
from lanner.events.extra_columns import narrowed, widened
from lanner.events.matching import match_names
from lanner.events.missing import Missing, placeholders, refuse_absent
from lanner.events.sample import Sample
from lanner.events.units import check_rule, learn_unit, numbers_of
from lanner.typing import Array


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Scaling:
    """A shift and a scale per feature: scaled = (x - shift) / scale.

    Usually made with `Scaling.learn`. Every parameter is an attribute of the same name; arrays are read-only. An angle
    becomes two columns, sqrt(2) cos and sqrt(2) sin. A value that means "missing" becomes 0, the centre, and an
    indicator column of its own. So scaled rows can have more columns than features (`scaled_names`): the features, with
    the cosine in the place of an angle, then the sines, then the indicators.

    Parameters
    ----------
    shift : array_like of shape (features,)
        What is subtracted, in the units of each feature.
    scale : array_like of shape (features,)
        What is divided by, in the units of each feature, positive.
    rule : {None, "robust", "standard", "authors"}
        How the numbers were learned, see `Scaling.learn`.
    names : iterable of str
        The names of the features.
    missing : iterable of Missing, default ()
        Values that mean "none": the column, the value, and its share of the reference.
    periodic : iterable of str, default ()
        The names of features that are angles; their scale is one radian, period / 2 pi.

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
    missing: tuple[Missing, ...] = ()
    periodic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_rule(self.rule)
        for part in ("names", "missing", "periodic"):
            object.__setattr__(self, part, tuple(getattr(self, part)))
        for name in (*(one.column for one in self.missing), *self.periodic):
            if name not in self.names:
                raise InputError(f"a scaling of {', '.join(map(repr, self.names))} has no column {name!r}")
        for part in ("shift", "scale"):
            object.__setattr__(self, part, numbers_of(getattr(self, part), part, self.names))

    @classmethod
    def learn(
        cls,
        reference: Sample,
        rule: str | None = "standard",
        *,
        label: str = "reference",
        missing: str = "auto",
        periodic: Iterable[str] = (),
    ) -> Scaling:
        """Learn the scaling of a sample: the reference, never the data under test.

        Weights do not enter: a scaling is a choice of units.

        Parameters
        ----------
        reference : Sample
            The sample that sets the units.
        rule : {None, "robust", "standard", "authors"}, default "standard"
            None leaves every column as it is. "robust" subtracts the median and divides by half of the central 68 %
            interval; a column that never varies gets a tiny unit. "standard" subtracts the mean and divides by the
            standard deviation. "authors" does what the paper's authors do: a column with negative values is
            standardised, another with a maximum above 1 is divided by its mean, and the rest stays as it is.
        label : str, default "reference"
            What error messages call the sample.
        missing : {"auto", "keep"}, default "auto"
            Whether "robust" recognises values that mean "missing", such as -999, or takes all values as numbers.
        periodic : iterable of str, default ()
            Angles, each a name or NAME=PERIOD; the period is 2 pi if none is given.

        Returns
        -------
        Scaling
            The scaling with the names of the sample.

        Raises
        ------
        InputError
            If the rule or an angle is unknown, or a column that has to be standardised does not vary.

        Examples
        --------
        >>> sample = Sample.of({"eta": [-1.0, 3.0], "pt": [1.0, 3.0], "tag": [0.25, 1.0]})
        >>> Scaling.learn(sample, "authors").apply(sample.features).tolist()
        [[-1.0, 0.5, 0.25], [1.0, 1.5, 1.0]]
        """
        check_rule(rule)
        angles = periods(periodic, reference.names)
        shift, scale = np.zeros(reference.dimensions), np.ones(reference.dimensions)
        found: list[Missing] = []
        for j, (name, column) in enumerate(zip(reference.names, reference.features.T, strict=True)):
            values = placeholders(column) if rule == "robust" and missing == "auto" else {}
            refuse_absent(column, values, f"column {name!r} of {label}")
            if values:
                found += [Missing(name, value, share) for value, share in values.items()]
                column = column[~np.isin(column, list(values))]
            if name in angles:
                check_period(column, angles[name], name)
                scale[j] = angles[name] / TURN
            else:
                shift[j], scale[j] = learn_unit(column, rule, f"column {name!r} of {label}")
        return cls(shift, scale, rule, reference.names, tuple(found), tuple(angles))

    @property
    def scaled_names(self) -> tuple[str, ...]:
        """What the columns of scaled rows are.

        Returns
        -------
        tuple of str
            The features, then what angles and missing values add to them.

        Examples
        --------
        >>> Scaling([0.0], [1.0], None, ["phi"], periodic=["phi"]).scaled_names
        ('cos phi', 'sin phi')
        """
        own = (f"cos {name}" if name in self.periodic else name for name in self.names)
        more = (f"sin {name}" for name in self.periodic)
        return (*own, *more, *(f"{one.column} is {one.value!r}" for one in self.missing))

    def apply(self, features: ArrayLike) -> Array:
        """Return features in the units of the scaling: (x - shift) / scale, with what angles and missing values add.

        Parameters
        ----------
        features : array_like of shape (events, features)
            Features in their own units, in the order of `names`.

        Returns
        -------
        ndarray of shape (events, columns)
            The scaled features, in a new array; its columns are `scaled_names`.

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
        table = self._table(features, len(self.names))
        scaled: Array = (table - self.shift) / self.scale
        if self.missing or self.periodic:
            scaled = widened(table, scaled, self.scale, *self._extra())
        return scaled

    def inverse(self, scaled: ArrayLike) -> Array:
        """Return features in their own units again: scaled * scale + shift.

        Parameters
        ----------
        scaled : array_like of shape (events, columns)
            Scaled features, such as `apply` returns.

        Returns
        -------
        ndarray of shape (events, features)
            Features in their own units, in a new array; angles within half a period of 0.

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
        table = self._table(scaled, len(self.scaled_names))
        features: Array = table[:, : len(self.names)] * self.scale + self.shift
        return narrowed(table, features, self.scale, *self._extra())

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
            The scaled events with their weights, the columns in the order of `scaled_names`.

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
        return Sample(self.apply(matched.features), self.scaled_names, matched.weights, label=label)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, from which `from_dict` gets back the same bits.

        Returns
        -------
        dict
            The keys ``rule``, ``names``, ``shift`` and ``scale``; ``missing`` and ``periodic`` where there is some.

        See Also
        --------
        Scaling.from_dict : The way back.

        Examples
        --------
        >>> Scaling([20.0], [10.0], "standard", ["pt"]).to_dict()
        {'rule': 'standard', 'names': ['pt'], 'shift': [20.0], 'scale': [10.0]}
        """
        plain: dict[str, Any] = {
            "rule": self.rule,
            "names": list(self.names),
            "shift": self.shift.tolist(),
            "scale": self.scale.tolist(),
        }
        if self.missing:
            plain["missing"] = [asdict(one) for one in self.missing]
        if self.periodic:
            plain["periodic"] = list(self.periodic)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Scaling:
        """Rebuild a scaling from what `to_dict` returned.

        Parameters
        ----------
        plain : dict
            The keys ``rule``, ``names``, ``shift`` and ``scale``, and ``missing`` and ``periodic`` if there are any;
            others are ignored.

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
        lacking = [key for key in needed if key not in plain]
        if lacking:
            raise InputError(
                f"a scaling needs the keys {', '.join(needed)}, but {', '.join(lacking)} is missing: "
                f"give what Scaling.to_dict returned"
            )
        missing = [Missing(one["column"], one["value"], one["share"]) for one in plain.get("missing", ())]
        return cls(
            **{key: plain[key] for key in needed}, missing=tuple(missing), periodic=tuple(plain.get("periodic", ()))
        )

    def __repr__(self) -> str:
        return f"Scaling({self.rule!r}; {', '.join(self.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because numpy forgets "read-only" when it pickles.
        return type(self), (self.shift, self.scale, self.rule, self.names, self.missing, self.periodic)

    def _extra(self) -> tuple[list[int], list[tuple[int, Missing]]]:
        """The columns of angles, and those of missing values with each."""
        place = self.names.index
        return [place(name) for name in self.periodic], [(place(one.column), one) for one in self.missing]

    def _table(self, features: ArrayLike, columns: int) -> Array:
        table = np.asarray(features, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != columns:
            names = self.names if columns == len(self.names) else self.scaled_names
            raise InputError(
                f"an array of shape {table.shape} cannot be scaled: needed is (events, {columns}), the columns being "
                f"{', '.join(map(repr, names))}"
            )
        return table
