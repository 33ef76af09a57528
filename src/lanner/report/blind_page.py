"""The page of a blind search: the expected sensitivity, what it is of, and the reference along each variable.

There is nothing of the data in it, and no clock: it is made again to the last byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanner._util.files import write_atomically
from lanner._util.text import count
from lanner.events.units import WORDS
from lanner.inference.null import Null
from lanner.inference.plan import Plan
from lanner.report.expected import ExpectedProfile
from lanner.report.page import resource, template_of, versions_here
from lanner.report.plots.expected import plot_departures, plot_expected, plot_null_alone
from lanner.report.plots.figures import Picture
from lanner.report.plots.style import visible
from lanner.report.plots.svg import as_svg
from lanner.report.text import tables
from lanner.report.text.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "What is expected, before the data are looked at"
MAX_PROFILES = 24  # variables drawn


@dataclass(frozen=True, eq=False)
class BlindPage:
    """What stands on the page."""

    plan: Plan
    scales: int
    reference: int  # events
    null: Null
    law: str
    thresholds: tuple[tuple[float, float | None], ...]
    departures: tuple[tuple[str, str, tuple[float, float, float]], ...]
    most: float
    table: Table
    unmoved: tuple[str, ...]
    experiments: str  # toy data sets of each departure
    profiles: tuple[ExpectedProfile, ...]
    warnings: tuple[str, ...] = ()


def write_blind_page(path: Path, page: BlindPage) -> Path:
    """Write the page, whole or not at all."""
    return write_atomically(path, render_blind(page))


def render_blind(page: BlindPage) -> str:
    """The page as text."""
    from markupsafe import Markup

    return template_of("blind.html.j2")(
        title=TITLE,
        styles=Markup(resource("report.css")),
        page=page,
        pictures=list(_pictures(page)),
        configuration=tables.configuration(page.plan),
        units=tables.units(page.plan.units),
        units_caption=f"Units of the features: scaled = (x − shift) / scale ({WORDS[page.plan.units.rule]})",
        versions=versions_here(),
    )


def _pictures(page: BlindPage) -> Iterator[Picture]:
    from markupsafe import Markup

    for i, (kind, figure, caption) in enumerate(_figures(page), start=1):
        yield Picture(kind, Markup(as_svg(figure, prefix=f"fig{i}", title=caption)), caption)


def _figures(page: BlindPage) -> Iterator[tuple[Any, Figure, str]]:
    drawn = plot_null_alone(page.null, page.thresholds)
    yield (
        "null",
        _figure(drawn),
        f"The statistic of {count(len(page.null), 'null toy')}, and how large it has to be.",
    )
    if page.departures:
        caption = f"What {page.experiments} toy data sets with each departure reach."
        if any(high >= page.most - 1e-6 for _, _, (_, _, high) in page.departures):
            caption += f" What ends at {page.most:.2f} may reach further: that is the most that can be shown."
        yield "departures", _figure(plot_departures(page.departures, [level for level, _ in page.thresholds])), caption
    for profile in page.profiles[:MAX_PROFILES]:
        unused = "" if profile.fitted else ", which the search does not use"
        caption = f"The events expected along {visible(profile.name)}{unused}."
        yield "expected", _figure(plot_expected(profile)), caption


def _figure(axes: Any) -> Figure:
    figure: Figure = axes.figure
    return figure
