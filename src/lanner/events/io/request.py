"""What is asked of a table: which columns or formulas become features, weights and further variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanner._util.text import LISTED, joined, listed, shown, with_nearest
from lanner.errors import InputError
from lanner.events.columns import as_float, check_known
from lanner.events.expression_values import Longest
from lanner.events.expressions import Expression
from lanner.events.io.memory import WEIGHTS
from lanner.events.io.table import Chunk, Table
from lanner.events.roles import WEIGHTS as LOOKS_LIKE_WEIGHTS
from lanner.events.sample import default_names
from lanner.typing import Array

# 'name=formula', the name perhaps in backticks; 'a == b', 'a <= b' and 'a != b' are no definitions.
_DEFINITION = re.compile(r"\s*(?:`(?P<ticked>[^`]+)`|(?P<plain>[^`=<>!]+?))\s*=(?!=)(?P<formula>.*)", re.DOTALL)

# What no column is called: an object of a list, or a function of something.
_LIKE_A_FORMULA = re.compile(r"[\w\])]\s*\[\s*-?\d+\s*\]|^\s*[a-z0-9]+\(.*\)", re.DOTALL)


def _is_formula(text: str, known: Sequence[str]) -> bool:
    """Whether a text without a name is rather a formula over known columns than a column with a slip."""
    if not _LIKE_A_FORMULA.search(text):
        return False
    try:
        names = Expression.parse(text).names
    except InputError:
        return False
    return bool(names) and set(names) <= set(known)


@dataclass(frozen=True)
class Taken:
    """What a variable is in each row: a number, or NaN; and the rows in which it is an object that is missing."""

    values: Array
    absent: NDArray[np.bool_] | None = None
    longest: Longest = field(default_factory=dict)  # of the lists of which objects were taken


@dataclass(frozen=True)
class Variable:
    """A column of a table, or a formula over its columns, under a name."""

    name: str
    source: str | Expression

    @classmethod
    def of(cls, text: str, known: Sequence[str], what: str, role: str) -> Variable:
        """Read 'column' or 'name=formula'; a column with that whole text as its name comes first."""
        definition = None if text in known else _DEFINITION.fullmatch(text)
        if definition is None:
            if text not in known and _is_formula(text, known):
                raise InputError(f"{what}: the {role} {shown(text)} is a formula without a name: write name=formula")
            check_known([text], known, what)
            return cls(text, text)
        name = definition["ticked"] or definition["plain"]
        column = definition["formula"].strip()
        if column in known:
            return cls(name, column)
        formula = Expression.parse(definition["formula"], label=f"{role} {name!r}")
        check_known(formula.names, known, f"{what}, for the {role} {name!r},")
        return cls(name, formula)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it needs."""
        return (self.source,) if isinstance(self.source, str) else self.source.names

    def taken(self, chunk: Chunk, rows: int, source: str = "the table") -> Taken:
        """Return one number per row; `source` is what messages call the table."""
        if isinstance(self.source, str):
            return Taken(as_float(chunk[self.source]))
        found = self.source.evaluated(chunk, source=source)
        values = np.array(np.broadcast_to(np.asarray(found.values, dtype=np.float64), rows))
        return Taken(values, found.absent, found.longest)


@dataclass(frozen=True)
class Request:
    """What to take from each chunk of a table."""

    features: tuple[Variable, ...]
    weights: tuple[Variable, ...]  # one, or none
    varied: tuple[Variable, ...]  # of which uncertainties are made
    where: Expression | None
    extra: tuple[Variable, ...]
    left_out: Mapping[str, str]  # columns that are no features, and why, where all columns were asked for
    every: bool  # all columns were asked for, so further files have to have the same
    first: str  # the table for which it was made
    total: Variable | None = None  # what is added up over all rows, selected or not

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        selecting = () if self.where is None else self.where.names
        adding = () if self.total is None else self.total.columns
        return tuple(dict.fromkeys((*selecting, *adding, *self.taken)))

    @property
    def fitted(self) -> tuple[Variable, ...]:
        """All that enters a search, in which a missing value costs the event."""
        return (*self.features, *self.weights, *self.varied)

    @property
    def in_formulas(self) -> tuple[str, ...]:
        """Columns of which formulas of uncertainties are made, other than those that have a use of their own."""
        own = {name for item in (*self.weights, *self.varied) if isinstance(item.source, str) for name in item.columns}
        formulas = (item for item in self.varied if not isinstance(item.source, str))
        return tuple(dict.fromkeys(name for item in formulas for name in item.columns if name not in own))

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that are still needed when the rows have been selected."""
        items = (*self.fitted, *self.extra)
        return tuple(dict.fromkeys(name for item in items for name in item.columns))

    def select(self, chunk: Chunk, source: str = "the table") -> tuple[Chunk, NDArray[np.intp], Longest]:
        """Return the rows of a chunk that are asked for, which rows these are, and how long the selection's lists were.

        The rows have only the columns that are still needed.
        """
        if self.where is None:
            return chunk, np.arange(len(next(iter(chunk.values())))), {}
        found = self.where.evaluated({name: chunk[name] for name in self.where.names} or chunk, source=source)
        mask = self.where.condition(found.values)
        return {name: chunk[name][mask] for name in self.taken}, np.flatnonzero(mask), found.longest


def make_request(
    table: Table,
    *,
    features: tuple[str, ...] | None,
    weight: str | None,
    where: str | Expression | None,
    what: str,
    extra: tuple[str, ...] = (),
    varied: tuple[str, ...] = (),
    total: str | None = None,
    no_features: Mapping[str, str] | None = None,
) -> Request:
    """Match what was asked for with the columns there are; `no_features` are left out where nobody names features."""
    known = table.names
    weights: tuple[Variable, ...] = ()
    if weight == WEIGHTS:
        weights = (Variable("weights", WEIGHTS),)
    elif weight is not None:
        weights = (Variable.of(weight, known, what, "weight"),)
    uncertain = tuple(Variable.of(text, known, what, "variation") for text in varied)
    left_out: Mapping[str, str] = {}
    if features is None:
        numbers, others = table.usable()
        # Examples of those that a message has room for: a file may have hundreds of lists, and each is read for it.
        left_out = {
            name: why + (table.example(name) if i < LISTED and "such as" not in why else "")
            for i, (name, why) in enumerate(others.items())
        }
        used = {weight, *(name for item in uncertain for name in item.columns)}
        roles = {name: why for name, why in (no_features or {}).items() if name in numbers and name not in used}
        left_out = {**roles, **left_out}
        chosen = tuple(Variable(name, name) for name in numbers if name not in used and name not in roles)
        if not chosen:
            why = f": {in_words(left_out)}; name those that are meant with features=[...]" if roles else ""
            raise InputError(
                f"{what} has no columns of numbers to be features, only {listed(table.names) or 'none'}{why}"
            )
    else:
        chosen = tuple(Variable.of(text, known, what, "feature") for text in features)
        if weight in [feature.source for feature in chosen]:
            raise InputError(f"column {weight!r} of {what} cannot be a feature and the weights: choose one of the two")
    if isinstance(where, str):
        where = Expression.parse(where, label="selection")
    if where is not None:
        check_known(where.names, table.names, f"{what}, for the {where!s},")
    further = tuple(Variable.of(text, known, what, "variable") for text in extra)
    for group in (chosen, uncertain, further):
        twice = [name for name, times in Counter(item.name for item in group).items() if times > 1]
        if twice:
            raise InputError(f"{what}: more than one variable is named {listed(twice)}: names must be distinct")
    added = None if total is None else Variable.of(total, known, what, "total")
    request = Request(chosen, weights, uncertain, where, further, left_out, features is None, table.what, added)
    if not request.needed:
        raise InputError(f"{what}: no column is asked for, only constants: name at least one column")
    check_numbers(table, request, what)
    return request


def told_left_out(request: Request, what: str) -> str:
    """The warning of columns that are left out: each with its reason, what is tested, and what to do next."""
    text = f"{what}: left out of the features: {in_words(request.left_out)}"
    weights = [name for name, why in request.left_out.items() if why == LOOKS_LIKE_WEIGHTS]
    if weights and not request.weights:
        text += f". If {weights[0]!r} is the weight of each event, give weight={weights[0]!r}"
    return f"{text}. Name the columns you mean with features=[...]"


def in_words(left_out: Mapping[str, str]) -> str:
    """Columns that are no features with the reasons, the first ones if there are many.

    >>> in_words({"Run": "looks like a run number", "type": "holds text"})
    "'Run' looks like a run number, 'type' holds text"
    """
    return joined([f"{name!r} {why}" for name, why in left_out.items()])


def check_same(table: Table, request: Request, what: str) -> None:
    """Refuse a further file without the columns asked for; with other columns, if all were asked for."""
    if request.every:
        known = {name for item in request.fitted for name in item.columns} | set(request.left_out)
        extra = [name for name in table.usable()[0] if name not in known]
    else:
        extra = []
    missing = [name for name in request.needed if name not in table.names]
    if missing or extra:
        raise InputError(
            f"{what} does not have the columns of {request.first} "
            f"(missing: {with_nearest(missing, table.names) or 'none'}; extra: {listed(extra) or 'none'}): "
            f"name columns that all files have with features=[...], or read the files apart"
        )
    check_numbers(table, request, what)


def check_numbers(table: Table, request: Request, what: str) -> None:
    """Refuse columns that do not hold one number per event, or of which formulas do not make one."""
    items = (*request.fitted, *request.extra, *(() if request.total is None else (request.total,)))
    alone = {item.source for item in items if isinstance(item.source, str)}
    lists = set()
    for name in request.needed:
        problem = table.problem(name)
        if problem is None:
            continue
        if table.lists(name):
            lists.add(name)
            if name not in alone:
                continue
            advice = f"take one object of it, as in name={name}[0], or one value of all, such as name=max({name})"
        elif fields := [field for field in table.names if field.startswith(f"{name}.")]:
            advice = f"name one of its fields, {listed(fields)}"
        else:
            advice = "leave it out, or write one number per event to a column of its own"
        subject = "the weights" if name == WEIGHTS else f"column {name!r}"
        raise InputError(f"{subject} of {what} {problem}, but one number per event is needed: {advice}")
    for formula in (request.where, *(item.source for item in items)):
        if isinstance(formula, Expression):
            formula.check_lists(lists, what)


def with_names(table: Table, features: tuple[str, ...] | None, what: str) -> Table:
    """Give the columns of a table without names those that were asked for, one for each column."""
    if table.named or features is None:
        return table
    if set(features) <= set(default_names(len(table.names))):
        return table  # these are the names that such columns have anyway
    if len(features) != len(table.names):
        raise InputError(
            f"the columns of {what} have no names, so features name all {len(table.names)} of them, but "
            f"{len(features)} were given ({listed(features)}): give one name per column, or choose from "
            f"{listed(table.names)}"
        )
    return table.renamed(features)
