"""Write docs/api.md from the public names of Lanner, their signatures and their docstrings: `make api`."""

from __future__ import annotations

import inspect
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from numpydoc.docscrape import ClassDoc, FunctionDoc

import lanner

PAGE = Path(__file__).with_name("api.md")

# The public names in the order of the work. A name that is in no group comes last, so that none is forgotten.
GROUPS = {
    "Read": ("read_sample", "read_analysis", "Analysis", "spread", "Spread", "Sample", "Scaling", "write_example"),
    "Search": ("search", "SearchResult", "dry_run", "DryRun", "tune", "Dask"),
    "Blind": ("blind_search", "BlindSearch", "Sensitivity", "unblind"),
    "Several regions": ("search_regions", "RegionsResult", "RegionResult"),
    "Uncertainties": ("Normalisation", "Weights", "Shifted", "Process", "KnownRatio", "exposure", "Exposure"),
    "Keep": ("save_result", "load_result", "calibrate", "load_calibration", "apply", "Calibration"),
    "Monitor": ("Monitor",),
    "Look": ("characterise", "write_report", "export", "Look"),
    "One fit": ("fit_ratio", "LearnedRatio", "LogRatioClassifier", "analytic_null", "WeightedChi2"),
    "Compare": ("power", "Power", "compare", "Comparison", "classifier_test"),
    "The paper": ("power_suite", "compare_suite", "reproduce"),
    "Errors": ("errors",),
}
OTHERS = "Other names"
PAGES = {  # pages that say more
    "apply": "commands/apply.md",
    "calibrate": "commands/calibrate.md",
    "characterise": "commands/inspect.md",
    "compare": "commands/compare.md",
    "Dask": "clusters.md",
    "exposure": "commands/exposure.md",
    "fit_ratio": "engine.md",
    "dry_run": "commands/search.md",
    "Monitor": "commands/monitor.md",
    "power": "commands/power.md",
    "power_suite": "commands/power.md",
    "reproduce": "commands/reproduce.md",
    "search": "commands/search.md",
    "search_regions": "regions.md",
    "tune": "commands/tune.md",
    "blind_search": "commands/unblind.md",
    "unblind": "commands/unblind.md",
    "write_example": "commands/example.md",
    "write_report": "commands/report.md",
    "export": "commands/export.md",
}
INTRODUCTION = """\
# Python names

All that `import lanner` offers, in the order of the work. This page is made from the docstrings by `make api`; edit
those. `help(lanner.search)` shows the same in a terminal.

Arguments after the data are given by keyword. A keyword that is misspelt raises an error that offers the nearest name.
[Progress](progress.md) is shown where somebody is watching; `progress=` silences it, or takes a function.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, _contents()]
    for title, names in groups().items():
        parts.append(f"## {title}\n")
        parts += [_entry(name) for name in names]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def groups() -> dict[str, list[str]]:
    """The public names that there are, by group."""
    found = {title: [name for name in names if name in lanner.__all__] for title, names in GROUPS.items()}
    grouped = {name for names in GROUPS.values() for name in names}
    found[OTHERS] = [name for name in lanner.__all__ if name not in grouped]
    return {title: names for title, names in found.items() if names}


def _contents() -> str:
    lines = [f"- {title}: {', '.join(f'[{n}](#{n})' for n in names)}" for title, names in groups().items()]
    return "\n".join([*lines, ""])


def _entry(name: str) -> str:
    """One public name with its anchor."""
    thing = getattr(lanner, name)
    more = f"More: [{PAGES[name]}]({PAGES[name]}).\n" if name in PAGES else ""
    head = [f'<a id="{name}"></a>\n', f"### `lanner.{name}`\n"]
    if isinstance(thing, ModuleType):
        return "\n".join([*head, *_module(thing)])
    if inspect.isclass(thing):
        return "\n".join([*head, *_documented(thing, name, name), more, *_members(thing, name)])
    return "\n".join([*head, *_documented(thing, f"lanner.{name}", name), more])


def _module(module: ModuleType) -> Iterator[str]:
    """A module of classes, in their order: what each is, and what it is derived from."""
    yield f"{prose(inspect.getdoc(module) or '', '')} [What to do about each](errors.md).\n"
    rows = []
    for cls in vars(module).values():
        if inspect.isclass(cls) and cls.__module__ == module.__name__:
            bases = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
            rows.append((f"`{cls.__name__}`", bases, prose(_doc(cls)["Summary"], "")))
    yield _table(("class", "derived from", "what it says"), rows)


def _documented(thing: Any, called: str, own: str) -> Iterator[str]:
    """Signature and sections of a function, a method or a class."""
    signature = _signature(thing, called)
    if signature:
        yield f"```python\n{signature}\n```\n"
    doc = _doc(thing)
    for text in (doc["Summary"], doc["Extended Summary"]):
        yield prose(text, own) + "\n"
    for title in ("Parameters", "Other Parameters", "Attributes"):
        rows = [(f"`{p.name}`", _type(p.type, own), " ".join(prose(p.desc, own).split())) for p in doc[title]]
        if rows:
            yield f"**{title}**\n\n{_table(('name', 'type', 'meaning'), rows)}"
    for title in ("Returns", "Yields", "Raises", "Warns"):
        if doc[title]:
            yield f"**{title}**\n\n" + "".join(_item(entry, own) for entry in doc[title])
    for title in ("Notes", "References"):
        if doc[title]:
            yield f"**{title}**\n\n{prose(doc[title], own)}\n"
    related = [name for names, _ in doc["See Also"] for name, _ in names]
    if related:
        yield f"See also {', '.join(prose([f'`{name}`'], own) for name in related)}.\n"
    if doc["Examples"]:
        yield f"**Examples**\n\n{prose(doc['Examples'], own)}\n"


def _members(cls: type, name: str) -> Iterator[str]:
    """Properties of a class in a table, and its public methods one by one."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("lanner"):
            members.update((key, value) for key, value in vars(base).items() if not key.startswith("_"))
    properties, methods = [], []
    for key, value in members.items():
        if isinstance(value, property | cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            type_ = str(getattr(getter, "__annotations__", {}).get("return", "")).replace("'", "")
            properties.append((f"`{key}`", _type(type_, name), " ".join(prose(_doc(getter)["Summary"], name).split())))
        elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            methods.append(key)
    if properties:
        yield f"**Properties**\n\n{_table(('name', 'type', 'meaning'), properties)}"
    for key in methods:
        method = getattr(cls, key)
        if inspect.getdoc(method):
            yield f'<a id="{name}.{key}"></a>\n\n#### `{name}.{key}`\n'
            yield from _documented(method, f"{name}.{key}", name)


def _doc(thing: Any) -> Any:
    """The docstring in its sections, whatever its state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sections that numpydoc does not know
        if inspect.isclass(thing):
            return ClassDoc(thing, config={"show_class_members": False})
        return FunctionDoc(thing)


def _signature(thing: Any, called: str) -> str:
    """Names and defaults without types, which the table has, on lines that fit."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return ""
    if parameters and parameters[0].name == "self":
        del parameters[0]
    words, star = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not star:
            words.append("*")
        star |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        prefix = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = "" if p.default is p.empty else f"={re.sub(r' at 0x[0-9a-f]+', '', repr(p.default))}"
        words.append(f"{prefix}{p.name}{default}")
    line = f"{called}({', '.join(words)})"
    if len(line) <= 110:
        return line
    inside = textwrap.fill(", ".join(words), 106, break_long_words=False, break_on_hyphens=False)
    return f"{called}(\n{textwrap.indent(inside, '    ')},\n)"


def _item(entry: Any, own: str) -> str:
    """An entry of a section that is a list: its name and type, then what it is."""
    words = [f"`{entry.name}`" if entry.name else "", _type(entry.type, own)]
    desc = " ".join(prose(entry.desc, own).split())
    return f"- {' : '.join(filter(None, words))}{f': {desc}' if desc else ''}\n"


def _type(text: str, own: str) -> str:
    """A type as it stands in the docstring, with links to the classes that are on this page."""
    return _linked(re.sub(r"(?<![`\w.])(\w+)(?![`\w])", _quoted_public, text), own)


def _quoted_public(match: re.Match[str]) -> str:
    word = match.group(1)
    public = word in lanner.__all__ and inspect.isclass(getattr(lanner, word))
    return f"`{word}`" if public or hasattr(lanner.errors, word) else word


def prose(text: str | Iterable[str], own: str) -> str:
    """Text of a docstring as Markdown: examples are fenced, public names are links, stray symbols are harmless."""
    lines = inspect.cleandoc(text if isinstance(text, str) else "\n".join(text)).splitlines()
    parts, fenced = [], False
    for line in lines:
        if line.startswith(">>>") and not fenced:
            parts.append("```pycon")
            fenced = True
        elif not line.strip() and fenced:
            parts.append("```")
            fenced = False
        parts.append(line if fenced or line.startswith("    ") else _linked(line, own))
    return "\n".join([*parts, *(["```"] if fenced else [])])


def _linked(line: str, own: str) -> str:
    """A line with links to public names in backticks; elsewhere symbols of Markdown stand for themselves."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", line)
    for k, part in enumerate(parts):
        if k % 2 == 0:
            parts[k] = re.sub(r"([*<](?=\S))", r"\\\1", part)
            continue
        code = part.strip("`")
        target = _anchor(code, own)
        parts[k] = f"[`{code}`](#{target})" if target else f"`{code}`"
    return "".join(parts)


def _anchor(code: str, own: str) -> str:
    """Where this page describes what stands in backticks within the entry of `own`; empty if nowhere else."""
    name = code.removeprefix("lanner.")
    if hasattr(lanner.errors, name):
        return "errors"
    if own and inspect.isclass(getattr(lanner, own)) and inspect.isfunction(getattr(getattr(lanner, own), name, None)):
        return f"{own}.{name}"
    first = name.split(".")[0]
    known = re.fullmatch(r"\w+(\.\w+)?", name) and first in lanner.__all__ and name != own
    return name if known else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
