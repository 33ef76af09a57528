"""What an expression may say: from its text to a tree of allowed nodes, or to a message that points at the rest.

Python's parser makes the tree and nothing is ever compiled or run. Whatever the list below does not
name is refused, so a new kind of node in a later Python is refused too.

The signs &&, || and ! of ROOT are other spellings of `and`, `or` and `not` and bind as loosely as these:
`!a > b` is `not (a > b)`, where C++ reads `(!a) > b`.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from lanner._util.text import count, with_nearest
from lanner.errors import InputError
from lanner.events.lists import REDUCERS

LONGEST = 10_000  # characters; a text of megabytes is a mistake or an attack
DEEPEST = 100  # levels of nesting; Python's own stack allows a few hundred
SHOWN = 100  # characters of a long text that messages show

ARITHMETIC: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.Mod: np.mod,
    ast.FloorDiv: np.floor_divide,
}
LOGIC: dict[type[ast.operator | ast.boolop], Callable[..., Any]] = {
    ast.BitAnd: np.logical_and,
    ast.BitOr: np.logical_or,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
}
COMPARISONS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_OF_ONE = "abs sqrt exp log log10 sin cos tan arcsin arccos arctan sinh cosh tanh isfinite floor"
_ARGUMENTS = dict.fromkeys(_OF_ONE.split(), 1) | dict.fromkeys(("arctan2", "hypot", "minimum", "maximum"), 2)
_ARGUMENTS["where"] = 3
FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in _ARGUMENTS}
_ARGUMENTS |= dict.fromkeys(REDUCERS, 1)
LARGEST_INDEX = 1_000_000  # no event has so many objects

ALLOWED = (
    "allowed are column names (in backticks if they are no plain words: `p_T [GeV]`), numbers, + - * / // % **, "
    f"comparisons, and, or, not (or &&, ||, !), &, |, ~, parentheses, the functions {', '.join(FUNCTIONS)}, "
    f"and of lists one object, as in Muon_pt[0], some, as in Jet_pt[Jet_pt > 30], or {', '.join(REDUCERS)}"
)
_WORDS = {"&&": " and ", "||": " or ", "!": " not "}  # with blanks, because signs need none around them
_SIGN = re.compile(r"(&&|\|\||!(?!=))")
_CALLED = {  # nodes in the words of someone who does not know Python's
    ast.Attribute: "an attribute (a dot after something else than a name)",
    ast.Lambda: "a function definition",
    ast.NamedExpr: "an assignment",
    ast.IfExp: "an if ... else (write where(condition, a, b))",
    ast.JoinedStr: "a text",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A text and what messages call it, to point at a piece of it."""

    text: str
    label: str

    def refuse(self, start: int, stop: int, why: str) -> NoReturn:
        """Raise an `InputError` with the text, or the part around the fault, and a caret line under it."""
        start = min(start, len(self.text))
        first = max(0, start - SHOWN // 2)
        window = re.sub(r"\s", " ", self.text[first : first + SHOWN])
        carets = "^" * max(1, min(stop - start, len(window) - (start - first)))
        raise InputError(
            f"the {self.label} cannot be used: {why}\n    {window}\n    {' ' * (start - first)}{carets}\n{ALLOWED}"
        )

    def refuse_node(self, node: ast.expr, why: str) -> NoReturn:
        """Raise an `InputError` that points at a node."""
        self.refuse(*_span(node), why)

    def segment(self, node: ast.expr) -> str:
        """Return a node as it is written, on one line, the beginning if it is long."""
        return self.segment_of(*_span(node))

    def segment_of(self, start: int, stop: int) -> str:
        """Return a piece of the text on one line, the beginning if it is long."""
        written = " ".join(self.text[start:stop].split())
        return written if len(written) <= SHOWN else f"{written[:SHOWN]}..."

    def name(self, node: ast.Name | ast.Attribute) -> str:
        """Return the name as it is written: Python's parser would turn a micro sign into a Greek mu.

        The field of a record is a column named with a dot: Muon.pt.
        """
        start, stop = _span(node)
        if isinstance(node, ast.Attribute):
            inner = node.value
            assert isinstance(inner, ast.Name | ast.Attribute)  # the grammar lets through nothing else
            dot = self.text.index(".", _span(inner)[1])
            return f"{self.name(inner)}.{self._plain(dot + 1, stop)}"
        return self._plain(start, stop)

    def _plain(self, start: int, stop: int) -> str:
        written = self.text[start:stop].strip()
        if "`" not in written:
            return written
        if not re.fullmatch(r"`[^`]+`", written):
            self.refuse(start, stop, "there is no operator between these names")
        return written[1:-1]

    def ticked(self, node: ast.Name) -> bool:
        """Whether a name is written in backticks, so that it can only be a column's."""
        return self.text[node.col_offset] == "`"


def _span(node: ast.expr) -> tuple[int, int]:
    """Return where a node of a parsed text begins and ends in that text."""
    assert node.end_col_offset is not None  # nodes of the parser have one
    return node.col_offset, node.end_col_offset


def _masked(text: str) -> str:
    """Make one line of a text, of the same length: blanks for all white space, underscores for names in backticks."""
    line = re.sub(r"\s", " ", text)
    return re.sub(r"`[^`]+`", lambda ticked: "_" * len(ticked[0]), line)


def _in_words(line: str) -> tuple[str, list[tuple[int, int]]]:
    """Write the signs &&, || and ! as words; return where in the line each character of the result comes from.

    >>> _in_words("!a")
    (' not a', [(0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (1, 2)])
    """
    words, spans, at = "", [], 0
    for piece in _SIGN.split(line):
        end = at + len(piece)
        words += _WORDS.get(piece, piece)
        spans += [(at, end)] * len(_WORDS[piece]) if piece in _WORDS else [(k, k + 1) for k in range(at, end)]
        at = end
    return words, spans


def parse(text: str, label: str) -> tuple[ast.expr, tuple[str, ...]]:
    """Return the tree of a text and the columns it names; refuse everything that is not allowed."""
    if not isinstance(text, str):
        raise InputError(f"the {label} is a {type(text).__name__} ({text!r:.50}): give a text such as 'mll > 100'")
    if len(text) > LONGEST:
        raise InputError(f"the {label} has {len(text)} characters, but at most {LONGEST} are read: shorten it")
    place, line = Place(text, label), _masked(text)
    if not line.strip():
        raise InputError(f"the {label} is empty: give a text such as 'mll > 100', or leave it out")
    for sign, why in (
        ("`", "this backtick has no partner, or nothing inside"),
        ("#", "there is no place for comments"),
    ):
        if sign in line:
            place.refuse(line.index(sign), line.index(sign) + 1, why)
    tree = _tree(line, place)
    names: dict[str, None] = {}  # a set that keeps the order
    _check(tree, place, names, 0)
    return tree, tuple(names)


def _tree(line: str, place: Place) -> ast.expr:
    """Parse a line; the nodes say where they stand in the text, in characters."""
    words, spans = _in_words(line)
    lead = len(words) - len(words.lstrip())  # blanks in front would be an indentation
    words, spans = words.strip(), spans[lead : len(words.rstrip())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd literals, which are refused, or plain enough
            tree = ast.parse(words, mode="eval").body
    except SyntaxError as error:
        # An offset of 0 is the parser's word for the end of the text.
        first = min((error.offset or len(words)) - 1, len(words) - 1)
        last = min(max((error.end_offset or 0) - 2, first), len(words) - 1)
        place.refuse(spans[first][0], spans[last][1], error.msg.partition(". ")[0] + _advice(words, error.offset))
    except (ValueError, MemoryError, RecursionError) as error:
        place.refuse(0, 1, f"it is nested too deeply, or no proper text ({str(error) or type(error).__name__})")
    # The parser counts bytes.
    spans = [span for character, span in zip(words, spans, strict=True) for _ in character.encode()]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node.end_col_offset is not None:
            node.col_offset, node.end_col_offset = spans[node.col_offset][0], spans[node.end_col_offset - 1][1]
    return tree


def _advice(words: str, offset: int | None) -> str:
    """Say what may have been meant where Python's parser gave up."""
    if not offset:
        return " (something is missing at the end)"
    before, after = words[: offset - 1].split(), words[offset - 1 :].split()
    if "not" in (*before[-1:], *after[:1]):
        return " (put 'not', or !, and what it negates in parentheses; 'not equal' is !=)"
    return " (to compare, write ==)" if re.search(r"[^=<>!]=[^=]", words) else ""


def _check(node: ast.expr, place: Place, names: dict[str, None], depth: int) -> None:
    """Walk over the whole tree; collect the columns it names."""
    if depth > DEEPEST:
        place.refuse_node(node, f"it is nested more than {DEEPEST} levels deep")
    match node:
        case ast.Name():
            name = place.name(node)
            if name.startswith("__") and not place.ticked(node):
                place.refuse_node(node, "this looks like one of Python's own names; put a column's name in backticks")
            names[name] = None
            return
        case ast.Attribute():
            names[_dotted(node, place, depth)] = None
            return
        case ast.Subscript(value=value):
            chosen = chosen_by(node)
            parts = [value] if chosen is None else [value, chosen]
            if chosen is None:
                index_of(node, place)
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() | float() as value):
            try:
                finite = math.isfinite(value)
            except OverflowError:  # an integer that no float64 can hold
                finite = False
            if not finite:
                place.refuse_node(node, "this number is too large")
            return
        case ast.Constant():
            place.refuse_node(node, "only numbers can be constants")
        case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC or type(op) in LOGIC:
            parts = [left, right]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = values
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in COMPARISONS for op in ops):
            parts = [left, *comparators]
        case ast.Call(func=ast.Name(id=name) as func, args=parts, keywords=[]):
            if name not in _ARGUMENTS:
                place.refuse_node(func, f"there is no function {with_nearest([place.name(func)], _ARGUMENTS)}")
            if len(parts) != _ARGUMENTS[name]:
                place.refuse_node(node, f"{name} takes {count(_ARGUMENTS[name], 'argument')}, not {len(parts)}")
        case ast.Call():
            place.refuse_node(node, "this call is not allowed here")
        case _:
            place.refuse_node(node, f"{_CALLED.get(type(node), 'this')} is not allowed here")
    for part in parts:
        _check(part, place, names, depth + 1)


def _dotted(node: ast.Attribute, place: Place, depth: int) -> str:
    """Return the column that names with dots between them mean; refuse a dot after anything but a name."""
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        depth += 1
        if inner.attr.startswith("__") and not place.text[: _span(inner)[1]].endswith("`"):
            place.refuse_node(node, "this looks like one of Python's own names; put a column's name in backticks")
        inner = inner.value
    if not isinstance(inner, ast.Name) or depth > DEEPEST:
        place.refuse_node(node, f"{_CALLED[ast.Attribute]} is not allowed here")
    if inner.id.startswith("__") and not place.ticked(inner):
        place.refuse_node(node, "this looks like one of Python's own names; put a column's name in backticks")
    return place.name(node)


def chosen_by(node: ast.Subscript) -> ast.expr | None:
    """Return the condition by which objects of a list are chosen; None where an index takes one of them.

    >>> chosen_by(ast.parse("pt[-1]", mode="eval").body) is None
    True
    """
    written = node.slice
    if isinstance(written, ast.UnaryOp) and isinstance(written.op, ast.USub):
        written = written.operand
    plain = ast.Constant | ast.Slice | ast.Tuple | ast.List | ast.Starred
    return None if isinstance(written, plain) else node.slice


def index_of(node: ast.Subscript, place: Place) -> int:
    """Return which object of a list is meant; refuse an index that is not a whole number written out."""
    sign, written = 1, node.slice
    if isinstance(written, ast.UnaryOp) and isinstance(written.op, ast.USub):
        sign, written = -1, written.operand
    if not isinstance(written, ast.Constant) or type(written.value) is not int:
        what = place.segment(node.value)
        place.refuse_node(
            node,
            f"the index of {what!r} is not a whole number: write [0] for the first object, [-1] for the last, or a "
            f"condition, as in {what}[{what} > 30]",
        )
    if written.value > LARGEST_INDEX:
        place.refuse_node(node, f"no event has so many objects: the largest index is {LARGEST_INDEX}")
    return sign * written.value
