"""Whether a formula has one value per event where some columns are lists: found before a number is read."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import NoReturn

from lanner.errors import InputError
from lanner.events.expression_grammar import Place, chosen_by
from lanner.events.lists import OF_CONDITIONS, REDUCERS


def refuse_lists(place: Place, source: str, why: str) -> NoReturn:
    """Raise an `InputError` of one line with the file, the formula and what is wrong with its lists."""
    raise InputError(f"{source}, for the {place.label} {place.segment_of(0, len(place.text))!r}: {why}")


def check_levels(tree: ast.expr, lists: Collection[str], place: Place, source: str) -> None:
    """Refuse a formula that leaves a list per event, or that takes objects out of what is no list."""
    left = _list_in(tree, lists, place, source)
    if left is not None:
        refuse_lists(
            place,
            source,
            f"column {left!r} stays jagged, a list per event, but one number per event is needed: take one object, as "
            f"in {left}[0], or make one value of all, as in max({left}), count({left}) or any({left} > 0)",
        )


def _list_in(node: ast.expr, lists: Collection[str], place: Place, source: str) -> str | None:
    """Return the first column of lists that a node leaves as lists; None if it has one value per event."""
    match node:
        case ast.Name() | ast.Attribute():
            name = place.name(node)
            return name if name in lists else None
        case ast.Subscript(value=value):
            chosen, left = chosen_by(node), _list_in(value, lists, place, source)
            if chosen is not None and left is not None:
                if _list_in(chosen, lists, place, source) is None:
                    refuse_lists(
                        place,
                        source,
                        f"{place.segment(chosen)!r} is one value per event, which cannot choose objects of "
                        f"{place.segment(value)!r}: give a condition of these, or make it part of the selection",
                    )
                return left
            if left is None:
                refuse_lists(
                    place,
                    source,
                    f"{place.segment(value)!r} is one number per event, which has no {place.segment(node)!r}: "
                    "leave the index out",
                )
            return None
        case ast.Call(func=ast.Name(id=name), args=[part]) if name in REDUCERS:
            if _list_in(part, lists, place, source) is None:
                instead = f": {name} takes a list per event"
                if name in ("max", "min"):
                    instead += f", and {name}imum(a, b) two numbers"
                elif name not in OF_CONDITIONS:
                    instead += f"; leave {name} out"
                refuse_lists(place, source, f"{place.segment(part)!r} is one value per event{instead}")
            return None
        case ast.Call(args=parts):
            pass
        case _:
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    found = [_list_in(part, lists, place, source) for part in parts]
    return next((name for name in found if name is not None), None)
