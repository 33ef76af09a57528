"""YAML as a person reads it: a number is what it looks like, a key stands once, nothing refers to anything else.

YAML 1.1 takes 0100 for 64, 190:20:30 for 685230 and 2020-01-02 for a date; of a key that stands twice it takes the last
value. Here all that looks like no plain number stays text, which a setting then takes or refuses with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lanner.errors import InputError

_NUMBERS = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?[0-9][0-9_]*$"),
    "tag:yaml.org,2002:float": re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"),
}
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("bool", "null")}  # told apart from text as YAML does
_DEEPEST = 20  # lists within lists; no setting has more than one


def load_yaml(path: Path, text: str) -> Any:
    """What a YAML file says, or an `InputError` that names the line."""
    return load_yaml_lines(path, text)[0]


def load_yaml_lines(path: Path, text: str) -> tuple[Any, dict[tuple[Any, ...], int]]:
    """The same, and on which line each key and each entry of a list stands, by the keys that lead to it."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """The rules of this module; made here, because importing yaml takes time that few commands need."""

        yaml_implicit_resolvers = {  # noqa: RUF012 (yaml's own)
            first: [(tag, pattern) for tag, pattern in found if tag in _PLAIN]
            for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent):
                raise _error(event.start_mark, f"'*{event.anchor}' refers to another line: write its value out")
            self.depth += 1
            if self.depth > _DEEPEST:
                raise _error(event.start_mark, "too many lists are within each other")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: dict[Any, int] = {}
            for key, _ in getattr(node, "value", ()):
                name = getattr(key, "value", None)
                name = name.replace("-", "_") if isinstance(name, str) else None  # as settings are spelt
                if name in seen:
                    raise _error(key.start_mark, f"{key.value!r} stands in line {seen[name]} already: give it once")
                if name is not None:
                    seen[name] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
                # What a tag such as !!int promises and the text does not keep, or a number of thousands of digits.
                raise _error(node.start_mark, f"{str(node.value)[:60]!r} is no {node.tag.rpartition(':')[2]}") from None

    def _error(mark: Any, problem: str) -> Exception:
        return yaml.constructor.ConstructorError(None, None, problem, mark)  # type: ignore[no-any-return]

    for tag, pattern in _NUMBERS.items():
        Loader.add_implicit_resolver(tag, pattern, list("-+.0123456789"))
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
    Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))
    loader = None
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        return loader.construct_document(node), dict(_lines(node, ()))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise InputError(f"{path}{line} is not YAML that can be used: {problem}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _lines(node: Any, where: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """The line of each key and of each entry of a list, by the keys that lead to it."""
    if isinstance(node.value, str):
        return
    for number, part in enumerate(node.value):
        key, below = part if isinstance(part, tuple) else (part, part)
        here = (*where, key.value if isinstance(part, tuple) else number)
        yield here, key.start_mark.line + 1
        yield from _lines(below, here)
