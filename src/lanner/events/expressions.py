"""`Expression`: a formula over columns, safe to evaluate whoever wrote its text.

numpy evaluates the checked tree node by node; nothing is compiled or run, so the worst that a hostile
text can do is to be refused. Numbers are float64 throughout, which is also why `9**9**9` is infinity at
once and not an integer of 370 million digits.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.columns import array_problem, as_float, check_known, common_length
from lanner.events.expression_grammar import SHOWN, Place, parse
from lanner.events.expression_levels import check_levels
from lanner.events.expression_values import Evaluation, Longest, Values
from lanner.events.lists import Lists


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a formula is worth in each row.

    Attributes
    ----------
    values : ndarray of float or bool
        One number or condition per row, NaN where an object is missing.
    absent : ndarray of bool or None
        The rows in which an object is missing; None if it is there in all.
    longest : dict of (str, int) to int
        For each object that is asked for, such as ``Muon_pt[1]`` with its index, the length of the longest list.
    """

    values: Values
    absent: NDArray[np.bool_] | None
    longest: Longest


@dataclass(frozen=True, slots=True, repr=False)
class Expression:
    """A formula over columns, made with `Expression.parse`.

    It may have names of columns, in backticks where they are no plain words, numbers, + - * / // % **, comparisons,
    `and`, `or`, `not` or the signs &&, ||, ! for them, &, |, ~, parentheses and functions such as sqrt and arctan2.
    Of columns with a list per event it takes one object, as in Muon_pt[0], or makes one value by count, sum, max, min,
    any or all.

    Attributes
    ----------
    text : str
        The formula as it was written.
    names : tuple of str
        The columns that it needs, each once.
    label : str
        What error messages call it.

    Examples
    --------
    >>> cut = Expression.parse("mll > 100 && `p_T [GeV]` > 20")
    >>> cut.names
    ('mll', 'p_T [GeV]')
    >>> cut.evaluate({"mll": np.array([90, 110]), "p_T [GeV]": np.array([30.0, 40.0])})
    array([False,  True])
    """

    text: str
    names: tuple[str, ...] = field(compare=False)
    label: str = field(compare=False)
    _tree: ast.expr = field(compare=False)

    @classmethod
    def parse(cls, text: str, *, label: str = "expression") -> Expression:
        """Check a text and make an expression of it.

        Parameters
        ----------
        text : str
            The formula.
        label : str, default "expression"
            What error messages call it.

        Returns
        -------
        Expression
            The formula, to be evaluated on columns.

        Raises
        ------
        InputError
            If the text has anything but what is allowed; the message points at it.
        """
        tree, names = parse(text, label)
        return cls(text, names, label, tree)

    def check_lists(self, lists: Collection[str], source: str) -> None:
        """Refuse to leave a list per event, before anything is read.

        Parameters
        ----------
        lists : collection of str
            The columns that hold a list per event.
        source : str
            What error messages call the table.

        Raises
        ------
        InputError
            If the formula leaves a list, or indexes or reduces what is no list.
        """
        check_levels(self._tree, lists, Place(self.text, self.label), source)

    def evaluate(self, columns: Mapping[str, Any], *, source: str = "the table") -> Values:
        """Return one number or one condition per row.

        A division by zero gives infinity and the root of a negative number NaN, as in numpy; every
        comparison with NaN is false, except `!=`. So is an object that an event does not have.

        Parameters
        ----------
        columns : dict of str to ndarray or Lists
            One number or condition per row, or a list of them, by the name of the column. All have the same length.
        source : str, default "the table"
            What error messages call the table.

        Returns
        -------
        ndarray of float or bool
            The value in each row.

        Raises
        ------
        InputError
            If a column is missing or holds no numbers, if a number stands where a condition is needed, or if lists
            have different lengths or are left over.
        """
        return self.evaluated(columns, source=source).values

    def evaluated(self, columns: Mapping[str, Any], *, source: str = "the table") -> Evaluated:
        """Return one number or one condition per row, and the rows in which an object is missing.

        Parameters
        ----------
        columns : dict of str to ndarray or Lists
            As for `evaluate`.
        source : str, default "the table"
            What error messages call the table.

        Returns
        -------
        Evaluated
            Values, missing rows, and how long the lists were.

        Raises
        ------
        InputError
            For the reasons that `evaluate` has.
        """
        check_known(self.names, columns, f"the table for the {self!s}")
        values = {name: _operand(columns[name], f"column {name!r} of the {self!s}") for name in self.names}
        rows = common_length(values or columns, f"the {self!s}")
        self.check_lists({name for name, column in values.items() if isinstance(column, Lists)}, source)
        work = Evaluation(values, Place(self.text, self.label), source)
        with np.errstate(all="ignore"):
            found = work.value(self._tree)
        result = np.array(np.broadcast_to(found.values, rows)) if columns else np.asarray(found.values)
        absent = None if found.absent is None or not found.absent.any() else np.broadcast_to(found.absent, rows)
        return Evaluated(result, absent, work.longest)

    def select(self, columns: Mapping[str, Any], *, source: str = "the table") -> NDArray[np.bool_]:
        """Return for each row whether the expression holds.

        Parameters
        ----------
        columns : dict of str to ndarray or Lists
            As for `evaluate`.
        source : str, default "the table"
            What error messages call the table.

        Returns
        -------
        ndarray of bool
            True where the expression holds.

        Raises
        ------
        InputError
            If the expression yields numbers, and for the reasons that `evaluate` has.
        """
        return self.condition(self.evaluate(columns, source=source))

    def condition(self, rows: Values) -> NDArray[np.bool_]:
        """Return values of this expression that are a selection; refuse numbers.

        Parameters
        ----------
        rows : ndarray
            What `evaluate` returned.

        Returns
        -------
        ndarray of bool
            The same.

        Raises
        ------
        InputError
            If these are numbers.
        """
        if rows.dtype.kind != "b":
            raise InputError(
                f"the {self!s} yields numbers, but a selection is true or false in every row: "
                f"compare it with a number, for example with ... > 0"
            )
        return np.asarray(rows, dtype=np.bool_)

    def __str__(self) -> str:
        return f"{self.label} {self.text[:SHOWN]!r}{'...' if len(self.text) > SHOWN else ''}"

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _parsed, (self.text, self.label)  # a tree says nothing that the text does not


def _parsed(text: str, label: str) -> Expression:
    return Expression.parse(text, label=label)


def _operand(column: Any, what: str) -> Values | Lists:
    if isinstance(column, Lists):
        return column
    array = np.asanyarray(column)
    problem = array_problem(array.dtype, array.shape)
    if problem is not None:
        raise InputError(f"{what} {problem}, but one number per event is needed: use another column")
    # A masked condition is neither true nor false: as a number it is NaN, which every comparison refuses.
    plain = array.dtype.kind == "b" and not isinstance(array, np.ma.MaskedArray)
    return np.asarray(array, dtype=np.bool_) if plain else as_float(array)
