"""Functions that take the settings of a fit, as if each named them all: in their signatures and their documentation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from lanner._util.text import nearest_hint
from lanner.errors import UnknownSettingError
from lanner.settings.fit import FitKeywords, FitSettings
from lanner.settings.run import DECLARED, FIT_KEYWORDS

F = TypeVar("F", bound=Callable[..., Any])
_HERE = "<the settings of a fit>"  # where a docstring has them


def spelled_out(function: F) -> F:
    """Let a function that takes `**settings: Unpack[FitKeywords]` look as if it named each of them.

    They stand in its signature and, where its docstring has "<the settings of a fit>", in its documentation. A keyword
    that is misspelt gets an error that offers the nearest, also of a function without such settings.
    """
    own = inspect.signature(function)
    parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    if len(parameters) < len(own.parameters):
        defaults, hints = {f.name: f.default for f in fields(FitSettings)}, get_type_hints(FitKeywords)
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hints[name])
            for name in FIT_KEYWORDS
        ]
    known = {p.name for p in parameters}

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                raise UnknownSettingError(f"{function.__name__} has no argument {name!r}{nearest_hint(name, known)}")
        return function(*args, **keywords)

    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    if called.__doc__ is not None:
        called.__doc__ = called.__doc__.replace(_HERE, _documented().strip())
    return called  # type: ignore[return-value]


def _documented(indent: str = "    ") -> str:
    """The settings of a fit as entries of a numpydoc section."""
    lines = []
    for name in FIT_KEYWORDS:
        declared = DECLARED[name]
        unset = f" Default: {declared.unset}." if declared.unset else ""
        lines += [f"{indent}{name} : {declared.kind.described()}, optional", f"{indent}    {declared.help}{unset}"]
    return "\n".join(lines)
