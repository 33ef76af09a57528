"""`write_report`: one HTML file that says what a search found, to be read, printed and sent.

It loads nothing and runs nothing: styles and figures are inside, and a content security policy forbids the rest. What
comes from files or users (names of columns and files, warnings, settings) is escaped by the template engine, always.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from lanner._util.files import write_atomically
from lanner.report.characterise import Characterisation
from lanner.report.plots.figures import pictures
from lanner.report.plots.style import visible
from lanner.report.text import tables, words
from lanner.report.text.estimates import estimates, subsamples
from lanner.report.text.summary import COMBINATIONS, statistic
from lanner.report.text.verdict import meaning
from lanner.run.result import SearchResult
from lanner.run.result_io import versions

TITLE = "Do the data follow the reference?"
_COLUMNS = 8  # variables beside each other in the table of events: more do not fit on a page


def write_report(
    result: SearchResult,
    path: str | os.PathLike[str],
    *,
    characterisation: Characterisation | None = None,
    tuning: Any = None,
    title: str | None = None,
) -> Path:
    """Write the report of a search to one self-contained HTML file, whole or not at all; returns its path.

    Args:
        result: of the search.
        path: of the file, such as "report.html".
        characterisation: from `characterise`; without it the report ends with the test.
        tuning: how the settings were chosen: what `tune` returned, or a mapping of names to values or to tables
            (lists of mappings).
        title: of the report.
    """
    text = render(result, characterisation=characterisation, tuning=tuning, title=title)
    return write_atomically(Path(path), text)


def render(
    result: SearchResult,
    *,
    characterisation: Characterisation | None = None,
    tuning: Any = None,
    title: str | None = None,
) -> str:
    """The report as text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_finalised
    )
    environment.filters |= {"number": words.number, "aligned": words.aligned, "z": words.z_score}
    template = environment.from_string(_resource("report.html.j2"))
    return template.render(
        title=title or TITLE,
        styles=Markup(_resource("report.css")),
        result=result,
        verdict=result.verdict(),
        estimates=estimates(result),
        subsamples=subsamples(result),
        statistic=statistic(result),
        scales=tables.scales(result),
        combination=result.combined and COMBINATIONS[result.combined.combination],
        meaning=meaning(result),
        pictures=pictures(result, characterisation, tuning),
        c=characterisation,
        tuning=tables.tuning_tables(tuning),
        configuration=tables.configuration(result),
        units=tables.units(result),
        columns=_COLUMNS,
        versions=_versions(),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _versions() -> dict[str, str]:
    import lanner

    return {"lanner": lanner.__version__} | versions()


def _finalised(value: Any) -> Any:
    """Every value on its way into the page: plain text loses what cannot be seen; our own figures stay as they are."""
    return visible(value) if type(value) is str else value


def _resource(name: str) -> str:
    return resources.files("lanner.report").joinpath("templates", name).read_text(encoding="utf-8")
