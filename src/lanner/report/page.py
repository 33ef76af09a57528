"""`write_report`: one HTML file that says what a search found, to be read, printed and sent.

It loads nothing and runs nothing: styles and figures are inside, and a content security policy forbids the rest. What
comes from files or users (names of columns and files, warnings, settings) is escaped by the template engine, always.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanner._util.files import write_atomically
from lanner.report.characterise import Characterisation
from lanner.report.plots.figures import pictures
from lanner.report.plots.style import visible
from lanner.report.text import tables, uncertainties, words
from lanner.report.text.estimates import estimates
from lanner.report.text.summary import COMBINATIONS, out_of_reach, statistic
from lanner.report.text.verdict import meaning
from lanner.run.fingerprint import versions
from lanner.run.result import SearchResult

if TYPE_CHECKING:
    pass

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
    """Write the report of a search to one HTML file that can be read, printed and sent.

    The file loads nothing and runs nothing; figures are inside. It is written whole or not at all.

    Parameters
    ----------
    result : SearchResult
        What `search`, `apply` or `load_result` returned.
    path : str or path-like
        The file to write, such as "report.html".
    characterisation : Characterisation, optional
        What `characterise` returned; without it the report has the test alone.
    tuning : Tuning or mapping, optional
        How the settings were chosen: what `tune` returned, or names with values or tables (lists of mappings).
    title : str, optional
        Of the report; by default "Do the data follow the reference?".

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    lanner.errors.InputError
        If `tuning` is neither of the two.
    lanner.errors.FileError
        If the file cannot be written; an earlier one is then left as it was.

    See Also
    --------
    characterise : Where the data depart from the reference.

    Examples
    --------
    >>> import lanner, numpy as np, tempfile
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.exponential(size=(4000, 1)), rng.exponential(size=(200, 1))
    >>> result = lanner.search(reference, data, expected=200, toys=90, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lanner.write_report(result, f"{folder}/report.html").name
    'report.html'
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
    from markupsafe import Markup

    return template_of("report.html.j2")(
        title=title or TITLE,
        styles=Markup(resource("report.css")),
        result=result,
        verdict=result.verdict(),
        uncertainties=uncertainties,
        estimates=estimates(result),
        spread=tables.spread(result),
        terms=tables.terms(result),
        out_of_reach=out_of_reach(result),
        statistic=statistic(result),
        scales=tables.scales(result),
        combination=result.combined and COMBINATIONS[result.combined.combination],
        meaning=meaning(result),
        pictures=pictures(result, characterisation, tuning),
        c=characterisation,
        tuning=tables.tuning_tables(tuning),
        configuration=tables.configuration(result.plan),
        units=tables.units(result.plan.units),
        units_caption=tables.units_caption(result),
        columns=_COLUMNS,
        versions=versions_here(),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def template_of(name: str, package: str = "lanner.report") -> Callable[..., str]:
    """What makes the text of a page by a template, which escapes every value on its way into it."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_finalised
    )
    environment.filters |= {
        f.__name__: f for f in (words.number, words.aligned, words.z_score, words.with_error, words.capitalise)
    }
    render: Callable[..., str] = environment.from_string(resource(name, package)).render
    return render


def versions_here() -> dict[str, str]:
    """Lanner's version, and those of what it stands on."""
    import lanner

    return {"lanner": lanner.__version__} | versions()


def _finalised(value: Any) -> Any:
    """Every value on its way into the page: plain text loses what cannot be seen; our own figures stay as they are."""
    return visible(value) if type(value) is str else value


def resource(name: str, package: str = "lanner.report") -> str:
    """A file of a package's templates."""
    return resources.files(package).joinpath("templates", name).read_text(encoding="utf-8")
