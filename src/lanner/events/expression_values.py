"""What the nodes of a formula are worth: numbers and conditions, one per event or in lists, and what is missing.

An object that an event does not have is missing. Its value is NaN on the way, so that it compares as NaN does; that it
is missing, and not a number that went wrong, is kept beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.events.expression_grammar import ARITHMETIC, COMPARISONS, FUNCTIONS, LOGIC, Place, chosen_by, index_of
from lanner.events.expression_levels import refuse_lists
from lanner.events.lists import OF_CONDITIONS, REDUCERS, Lists

Values = NDArray[np.float64] | NDArray[np.bool_]
Longest = Mapping[tuple[str, int], int]  # by the text and index of an object: the length of the longest list


@dataclass(frozen=True, slots=True)
class Value:
    """Numbers or conditions, and the events in which they are missing, if in any."""

    values: Any  # an array with one value per event or for all of them, or `Lists`
    absent: NDArray[np.bool_] | None = None

    @property
    def is_condition(self) -> bool:
        """Whether these are true or false."""
        return bool(self.values.dtype.kind == "b")

    def as_number(self) -> Value:
        """Return float64; conditions count as 0 and 1."""
        values = self.values
        if isinstance(values, Lists):
            return Value(values.like(np.asarray(values.content, dtype=np.float64)), self.absent)
        return Value(np.asarray(values, dtype=np.float64), self.absent)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A formula at work on some rows. `longest` learns, for each index, how long the longest list was."""

    columns: Mapping[str, Any]  # arrays of numbers or conditions, or `Lists`
    place: Place
    source: str  # what messages call the table
    longest: dict[tuple[str, int], int] = field(default_factory=dict)

    def number(self, node: ast.expr) -> Value:
        """Return the value of a node as numbers."""
        return self.value(node).as_number()

    def condition(self, node: ast.expr) -> Value:
        """Return the value of a node that has to be a condition."""
        found = self.value(node)
        if not found.is_condition:
            self.place.refuse_node(
                node,
                "this is a number where a condition is needed: compare it, for example with ... != 0, and put "
                "comparisons beside & and | in parentheses",
            )
        return found

    def value(self, node: ast.expr) -> Value:
        """Return the value of a node that the grammar has let through."""
        match node:
            case ast.Name() | ast.Attribute():
                return Value(self.columns[self.place.name(node)])
            case ast.Constant(value=bool()):
                return Value(np.asarray(node.value))
            case ast.Constant():
                return Value(np.asarray(node.value, dtype=np.float64))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in LOGIC:
                return self._apply(LOGIC[type(op)], (left, right), self.condition)
            case ast.BinOp(op=op, left=left, right=right):
                return self._apply(ARITHMETIC[type(op)], (left, right))
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                return self._apply(np.logical_not, (operand,), self.condition)
            case ast.UnaryOp(op=op, operand=operand):
                return self._apply(np.negative, (operand,)) if isinstance(op, ast.USub) else self.number(operand)
            case ast.BoolOp(op=logic, values=parts):
                return self._joined([(part, self.condition(part)) for part in parts], LOGIC[type(logic)])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [(part, self.number(part)) for part in (left, *comparators)]
                holds = [
                    (side[0], self._combined(COMPARISONS[type(op)], [last, side]))
                    for op, last, side in zip(ops, sides, sides[1:], strict=False)
                ]
                return self._joined(holds, np.logical_and)
            case ast.Subscript(value=inner) if (chosen := chosen_by(node)) is not None:
                return self._chosen((inner, self.value(inner)), (chosen, self.condition(chosen)))
            case ast.Subscript(value=inner):
                return self._item(node, self.value(inner), index_of(node, self.place))
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in REDUCERS:
                found = self.condition(inner) if name in OF_CONDITIONS else self.value(inner)
                return self._reduced(name, found)
            case ast.Call(func=ast.Name(id="where"), args=[test, yes, no]):
                return self._where([(test, self.condition(test)), (yes, self.value(yes)), (no, self.value(no))])
            case ast.Call(func=ast.Name(id=name), args=parts):
                return self._apply(FUNCTIONS[name], parts)
            case _:
                raise AssertionError(f"the grammar let a {type(node).__name__} through")

    def _apply(
        self,
        function: Callable[..., Any],
        nodes: Sequence[ast.expr],
        read: Callable[[ast.expr], Value] | None = None,
    ) -> Value:
        return self._combined(function, [(node, (read or self.number)(node)) for node in nodes])

    def _joined(self, parts: list[tuple[ast.expr, Value]], logic: Callable[..., Any]) -> Value:
        node, result = parts[0]
        for part in parts[1:]:
            result = self._combined(logic, [(node, result), part])
            # A list left over stands for the whole in the message about another list of another length.
            node = part[0] if isinstance(part[1].values, Lists) else node
        return result

    def _combined(self, function: Callable[..., Any], parts: list[tuple[ast.expr, Value]]) -> Value:
        """Apply a function of NumPy, number by number; what an event has once goes with each object of its lists."""
        absent = _either([value.absent for _, value in parts])
        lists = self._aligned(parts)
        arrays = [value.values for _, value in parts]
        if lists is None:
            result = np.asarray(function(*arrays))
            if absent is None or result.dtype.kind == "b":  # a comparison with what is missing has its answer
                return Value(result)
            return Value(np.where(absent, np.nan, result), absent)
        flat = [array.content if isinstance(array, Lists) else lists.spread(array) for array in arrays]
        content = np.asarray(function(*flat))
        if content.dtype.kind == "b":
            return Value(lists.like(content))
        if absent is not None:
            content = np.where(lists.spread(absent), np.nan, content)
        return Value(lists.like(content), absent)

    def _aligned(self, parts: list[tuple[ast.expr, Value]]) -> Lists | None:
        """Return one of the lists that meet here, None if there are none; refuse lists of different lengths."""
        lists = [(node, value.values) for node, value in parts if isinstance(value.values, Lists)]
        for node, other in lists[1:]:
            first, found = lists[0]
            if found.offsets is other.offsets or np.array_equal(found.offsets, other.offsets):
                continue
            row = int(np.argmax(found.counts != other.counts))
            refuse_lists(
                self.place,
                self.source,
                f"{self.place.segment(first)!r} and {self.place.segment(node)!r} have different numbers of objects in "
                f"an event ({found.counts[row]} and {other.counts[row]}), so they do not pair up: take one object or "
                "one value of each first, as with [0] or max(...)",
            )
        return lists[0][1] if lists else None

    def _where(self, parts: list[tuple[ast.expr, Value]]) -> Value:
        """Choose between two values; what is missing where it is not chosen is no loss."""
        (_, test), (_, yes), (_, no) = parts
        absent = [np.asarray(False) if value.absent is None else value.absent for value in (yes, no)]
        result = self._combined(np.where, [(node, Value(value.values)) for node, value in parts])
        if not any(one.any() for one in absent):
            return result
        if isinstance(test.values, Lists):
            return Value(result.values, _either([yes.absent, no.absent]))
        return Value(result.values, np.where(test.values, *absent))

    def _chosen(self, part: tuple[ast.expr, Value], by: tuple[ast.expr, Value]) -> Value:
        """The objects for which a condition holds."""
        self._aligned([part, by])
        return Value(part[1].values.chosen(by[1].values.content), part[1].absent)

    def _item(self, node: ast.Subscript, found: Value, index: int) -> Value:
        lists = found.values
        what = self.place.segment(node), index
        self.longest[what] = max(self.longest.get(what, 0), int(lists.counts.max(initial=0)))
        values, absent = lists.item(index)
        absent = absent if found.absent is None else absent | found.absent
        if found.is_condition:  # as a comparison with what is missing: false
            return Value(np.where(absent, False, values != 0))
        return Value(np.where(absent, np.nan, values), absent if absent.any() else None)

    def _reduced(self, name: str, found: Value) -> Value:
        result = np.asarray(REDUCERS[name](found.values))
        absent = found.absent
        if name in ("max", "min"):
            nothing = found.values.counts == 0
            absent = _either([absent, nothing if nothing.any() else None])
        if absent is None or result.dtype.kind == "b":
            return Value(result)
        return Value(np.where(absent, np.nan, result), absent)


def _either(masks: list[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    """Where any of them holds; None if there are none."""
    found = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found | mask
    return found
