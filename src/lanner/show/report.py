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

import numpy as np
from scipy import stats

from lanner.files import write_atomically
from lanner.run.result import SearchResult, versions
from lanner.show import tables, words
from lanner.show.characterise import Characterisation
from lanner.show.figures import pictures
from lanner.show.style import visible

TITLE = "Do the data follow the reference?"
_COLUMNS = 8  # variables beside each other in the table of events: more do not fit on a page
_GRID = 200  # points at which the analytic law is evaluated for its goodness of fit


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
    environment.filters |= {"number": words.number, "aligned": words.aligned, "p": words.p_value, "z": words.z_score}
    template = environment.from_string(_resource("report.html.j2"))
    return template.render(
        title=title or TITLE,
        styles=Markup(_resource("report.css")),
        result=result,
        verdict=result.verdict(),
        estimates=_estimates(result),
        draws=_draws(result),
        meaning=words.meaning(result),
        pictures=pictures(result, characterisation, tuning),
        c=characterisation,
        tuning=tables.tuning_tables(tuning),
        configuration=tables.configuration(result),
        units=tables.units(result),
        columns=_COLUMNS,
        versions=_versions(),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _estimates(result: SearchResult) -> list[dict[str, Any]]:
    """p and Z from the toys, then from the two laws, each with what speaks for it."""
    p, null = result.empirical, result.null
    low, high = p.interval
    z_low, z_high = p.z_interval
    bound = p.is_bound
    rows = [
        {
            "name": "empirical (the result)",
            "extrapolation": False,
            "p": f"{'< ' if bound else ''}{words.p_value(p.p_value)}",
            "z": f"{'> ' if bound else ''}{words.z_score(p.z_score)}",
            "remark": f"{p.exceedances} of {words.count(p.toys, 'toy')} at or above t. 95 % interval of p: "
            f"{words.number(low, 2)} to {words.number(high, 2)}; of Z: {words.z_score(z_low)} "
            + ("and above" if z_high is None else f"to {words.z_score(z_high)}"),
        }
    ]
    toys = null.statistics[np.isfinite(null.statistics)]
    fits = _agreement(result)
    seen = f"; the toys have {toys.mean():.1f} ± {toys.std(ddof=1):.1f}" if toys.size > 1 else ""
    rows.append(
        {
            "name": "analytic null",
            "extrapolation": True,
            "p": words.p_value(result.analytic.p_value),
            "z": words.z_score(result.analytic.z_score),
            "remark": ("" if null.analytic_confirmed else "The toys do not confirm it: do not use it. ")
            + f"It predicts t = {null.analytic.mean:.1f} ± {null.analytic.std:.1f}{seen}. "
            + ("" if fits is None else f"Agreement with the toys: p = {words.p_value(fits)} (Kolmogorov-Smirnov)"),
        }
    )
    if null.chi2 is None or result.chi2 is None:
        why = f"{words.count(null.not_positive, 'toy')} with t ≤ 0, {null.not_finite} not finite"
        rows.append(
            {"name": "fitted χ²", "extrapolation": True, "p": "none", "z": "none", "remark": f"No χ² fits: {why}"}
        )
    else:
        rows.append(
            {
                "name": "fitted χ²",
                "extrapolation": True,
                "p": words.p_value(result.chi2.p_value),
                "z": words.z_score(result.chi2.z_score),
                "remark": f"{null.chi2.dof:.2f} ± {null.chi2.dof_error:.2f} degrees of freedom. Goodness of fit: "
                f"p = {words.p_value(null.chi2.goodness_of_fit)} (Kolmogorov-Smirnov, refitted in each replicate)",
            }
        )
    return rows


def _agreement(result: SearchResult) -> float | None:
    """Kolmogorov-Smirnov p-value of the toys under the analytic law, which has nothing fitted to them."""
    t, law = result.null.statistics, result.null.analytic
    t = t[np.isfinite(t)]
    if t.size < 8:
        return None
    grid = np.linspace(0.0, max(float(t.max()), law.mean), _GRID)
    return float(stats.kstest(np.interp(t, grid, law.cdf(grid)), "uniform").pvalue)


def _draws(result: SearchResult) -> list[dict[str, Any]]:
    found = [(float(t), result.null.empirical(float(t))) for t in result.reference_draws]
    return [{"t": t, "p": p.p_value, "z": p.z_score, "bound": p.is_bound} for t, p in found]


def _versions() -> dict[str, str]:
    import lanner

    return {"lanner": lanner.__version__} | versions()


def _finalised(value: Any) -> Any:
    """Every value on its way into the page: plain text loses what cannot be seen; our own figures stay as they are."""
    return visible(value) if type(value) is str else value


def _resource(name: str) -> str:
    return resources.files("lanner.show").joinpath("templates", name).read_text(encoding="utf-8")
