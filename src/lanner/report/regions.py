"""The page of several regions: the global verdict first, then each region with a link to a report of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanner._util.files import write_atomically
from lanner.report.page import resource, template_of, versions_here
from lanner.report.plots.regions import plot_regions
from lanner.report.plots.svg import as_svg
from lanner.report.text import regions as text
from lanner.run.regions_result import FOLDER, RegionsResult
from lanner.run.result_io import REPORT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Do the data follow the reference in every region?"
CAPTION = (
    "Z of each region by itself, and that of the global p-value, each with the 95 % interval that its number of toys "
    "leaves. An arrow stands for a bound: no toy is as extreme as the data."
)


def write_regions_report(result: RegionsResult, path: str | os.PathLike[str]) -> Path:
    """Write the report of several regions to one HTML file; links lead to the reports of regions that are beside it."""
    path = Path(path)
    links = {name: f"{FOLDER}/{name}/{REPORT}" for name in result.regions}
    return write_atomically(path, render(result, {n: to for n, to in links.items() if (path.parent / to).exists()}))


def render(result: RegionsResult, links: Mapping[str, str]) -> str:
    """The report as text, with links for some of the regions."""
    from markupsafe import Markup

    figure: Figure = plot_regions(result).figure  # type: ignore[assignment]
    return template_of("regions.html.j2")(
        title=TITLE,
        styles=Markup(resource("report.css")),
        result=result,
        verdict=result.verdict(),
        rows=[_row(result, name, links.get(name)) for name in result.regions],
        combination=text.COMBINATIONS[result.combination],
        toys=text.toys(result),
        events=text.events(result),
        figure=Markup(as_svg(figure, prefix="fig1", title=CAPTION)),
        caption=CAPTION,
        versions=versions_here(),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _row(result: RegionsResult, name: str, link: str | None) -> dict[str, Any]:
    one = result.regions[name]
    return {
        "name": name,
        "link": link,
        "leads": name == result.leading and len(result.regions) > 1,
        "selection": one.selection,
        "cells": text.of_region(one),
        "verdict": one.result.verdict(),
    }
