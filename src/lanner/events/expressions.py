"""`Expression`: a formula over columns, safe to evaluate whoever wrote its text.

numpy evaluates the checked tree node by node; nothing is compiled or run, so the worst that a hostile
text can do is to be refused. Numbers are float64 throughout, which is also why `9**9**9` is infinity at
once and not an integer of 370 million digits.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.columns import array_problem, as_float, check_known, common_length
from lanner.events.expression_grammar import ARITHMETIC, COMPARISONS, FUNCTIONS, LOGIC, SHOWN, Place, parse

Values = NDArray[np.float64] | NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class Expression:
    """A formula over columns, made with `Expression.parse`.

    It may have names of columns, in backticks where they are no plain words, numbers, + - * / // % **, comparisons,
    `and`, `or`, `not` or the signs &&, ||, ! for them, &, |, ~, parentheses and functions such as sqrt and arctan2.

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

    def evaluate(self, columns: Mapping[str, NDArray[Any]]) -> Values:
        """Return one number or one condition per row.

        A division by zero gives infinity and the root of a negative number NaN, as in numpy; every
        comparison with NaN is false, except `!=`.

        Parameters
        ----------
        columns : dict of str to ndarray
            One number or condition per row, by the name of the column. All have the same length.

        Returns
        -------
        ndarray of float or bool
            The value in each row.

        Raises
        ------
        InputError
            If a column is missing or holds no numbers, or if a number stands where a condition is needed.
        """
        check_known(self.names, columns, f"the table for the {self!s}")
        values = {name: _operand(columns[name], f"column {name!r} of the {self!s}") for name in self.names}
        rows = common_length(values or columns, f"the {self!s}")
        with np.errstate(all="ignore"):
            result = _evaluate(self._tree, values, Place(self.text, self.label))
        return np.array(np.broadcast_to(result, rows)) if columns else np.asarray(result)

    def select(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Return for each row whether the expression holds.

        Parameters
        ----------
        columns : dict of str to ndarray
            As for `evaluate`.

        Returns
        -------
        ndarray of bool
            True where the expression holds.

        Raises
        ------
        InputError
            If the expression yields numbers, and for the reasons that `evaluate` has.
        """
        rows = self.evaluate(columns)
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


def _operand(column: Any, what: str) -> Values:
    array = np.asanyarray(column)
    problem = array_problem(array.dtype, array.shape)
    if problem is not None:
        raise InputError(f"{what} {problem}, but one number per event is needed: use another column")
    # A masked condition is neither true nor false: as a number it is NaN, which every comparison refuses.
    plain = array.dtype.kind == "b" and not isinstance(array, np.ma.MaskedArray)
    return np.asarray(array, dtype=np.bool_) if plain else as_float(array)


def _evaluate(node: ast.expr, columns: Mapping[str, Values], place: Place) -> Any:
    """Return the value of a node that the grammar has let through."""

    def number(part: ast.expr) -> Any:
        return np.asarray(_evaluate(part, columns, place), dtype=np.float64)  # conditions count as 0 and 1

    def condition(part: ast.expr) -> Any:
        value = _evaluate(part, columns, place)
        if value.dtype.kind != "b":
            place.refuse_node(
                part,
                "this is a number where a condition is needed: compare it, for example with ... != 0, and put "
                "comparisons beside & and | in parentheses",
            )
        return value

    match node:
        case ast.Name():
            return columns[place.name(node)]
        case ast.Constant(value=bool()):
            return np.asarray(node.value)
        case ast.Constant():
            return np.asarray(node.value, dtype=np.float64)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in LOGIC:
            return LOGIC[type(op)](condition(left), condition(right))
        case ast.BinOp(op=op, left=left, right=right):
            return np.asarray(ARITHMETIC[type(op)](number(left), number(right)))
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            return np.asarray(np.logical_not(condition(operand)))
        case ast.UnaryOp(op=op, operand=operand):
            return np.asarray(-number(operand) if isinstance(op, ast.USub) else number(operand))
        case ast.BoolOp(op=logic, values=parts):
            result = condition(parts[0])
            for part in parts[1:]:
                result = LOGIC[type(logic)](result, condition(part))
            return np.asarray(result)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            last, holds = number(left), np.asarray(True)
            for comparison, part in zip(ops, comparators, strict=True):
                following = number(part)
                holds, last = np.logical_and(holds, COMPARISONS[type(comparison)](last, following)), following
            return np.asarray(holds)
        case ast.Call(func=ast.Name(id="where"), args=[test, yes, no]):
            chosen = [_evaluate(part, columns, place) for part in (yes, no)]
            return np.where(condition(test), *chosen)  # a condition of two conditions, numbers otherwise
        case ast.Call(func=ast.Name(id=name), args=parts):
            return np.asarray(FUNCTIONS[name](*map(number, parts)))
        case _:
            raise AssertionError(f"the grammar let a {type(node).__name__} through")
