"""The figures of a report, each with its caption."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lanner._util.text import count
from lanner.inference.tuning import Tuning
from lanner.report.characterise import Characterisation
from lanner.report.maps import MIN_EVENTS
from lanner.report.plots.closures import ABREAST, figure_of_biases, figure_of_closure, plot_closures
from lanner.report.plots.profile import figure_of_profile
from lanner.report.plots.scales import plot_scales
from lanner.report.plots.search import MAX_BARS, plot_importance, plot_map, plot_null
from lanner.report.plots.style import hep_style, lay_out, visible
from lanner.report.plots.svg import as_svg
from lanner.report.plots.tuning import plot_tuning
from lanner.report.plots.uncertainties import figure_of_nuisances
from lanner.report.profiles import RatioProfile
from lanner.report.text.words import number
from lanner.run.parts import Combined
from lanner.run.result import SearchResult
from lanner.uncertainties.closure import Closure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = Literal[
    "null", "nuisances", "closures", "closure", "scales", "importance", "profile", "map", "tuning",
    "departures", "expected",
]  # fmt: skip
MAX_PROFILES = 12  # variables drawn, the most important first; the table of importance has them all
MAX_PANELS = 12  # of closures: those with the smallest p-values, and in any case those that fail

_BAND = (
    " The reference is drawn at the fitted nuisance parameters; the purple band is its error from what the "
    "data leave of the uncertainties."
)
_BIASES = (
    "Varied events less the reweighted reference for every learned variation, in bins of each feature that hold as "
    "many reference events each, from low to high values; in standard deviations of the data expected in a bin. The "
    "names of those that do not close are red. Below, the smallest p-values in full."
)


@dataclass(frozen=True)
class Picture:
    """A figure as safe SVG, and its caption as plain text, which the template escapes."""

    kind: Kind  # where in the report it stands
    svg: Any  # markupsafe.Markup
    caption: str

    @property
    def tall(self) -> bool:
        """Whether the figure is higher than wide."""
        _, _, width, height = re.search(r'viewBox="([^"]*)"', self.svg)[1].split()  # type: ignore[index]
        return float(height) > float(width)


def pictures(result: SearchResult, characterisation: Characterisation | None, tuning: Any = None) -> list[Picture]:
    """Every figure of a report."""
    from markupsafe import Markup

    return [
        Picture(kind, Markup(as_svg(figure, prefix=f"fig{i}", title=caption)), caption)
        for i, (kind, figure, _, caption) in enumerate(_figures(result, characterisation, tuning), start=1)
    ]


def write_figures(
    result: SearchResult, characterisation: Characterisation | None, folder: str | Path, *, suffix: str = "png"
) -> list[Path]:
    """Write every figure to a folder, named by its number and what it shows; returns the paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for i, (kind, figure, names, _) in enumerate(_figures(result, characterisation), start=1):
        # Letters and digits only: names of columns may hold anything, file names may not.
        slug = re.sub(r"[^A-Za-z0-9]+", "-", "-".join((kind, *names))).strip("-")[:60]
        with hep_style():
            lay_out(figure)
            figure.savefig(folder / f"{i:02d}-{slug}.{suffix}", dpi=150)
        written.append(folder / f"{i:02d}-{slug}.{suffix}")
    return written


def _figures(
    result: SearchResult, c: Characterisation | None, tuning: Any = None
) -> Iterator[tuple[Kind, Figure, tuple[str, ...], str]]:
    """Kind, figure, variables shown and caption."""
    yield "null", _figure(plot_null(result)), (), _null_caption(result)
    yield from _figures_of_uncertainties(result)
    if result.combined is not None:
        yield "scales", _figure(plot_scales(result.combined)), (), _scales_caption(result.combined)
    if c is not None:
        if len(c.importance) > 1:
            yield "importance", _figure(plot_importance(c)), (), _importance_caption(c)
        for p in c.profiles[:MAX_PROFILES]:
            yield "profile", figure_of_profile(p), (p.name,), _profile_caption(p)
        for m in c.maps:
            yield "map", _figure(plot_map(m)), m.names, _map_caption(m.names, m.data_outside, c)
    if isinstance(tuning, Tuning):
        caption = "The mean t of null toys at every setting that was tried, beside the mean of the analytic null."
        yield "tuning", plot_tuning(tuning), (), caption


def _figures_of_uncertainties(result: SearchResult) -> Iterator[tuple[Kind, Figure, tuple[str, ...], str]]:
    if result.nuisances:
        yield "nuisances", figure_of_nuisances(result.nuisances), (), _nuisances_caption(result)
    closures = result.systematics.closures
    if closures:
        yield "closures", _figure(plot_closures(closures)), (), _closures_caption(closures)
    shown_alone = closures_to_show(closures)
    if len(shown_alone) < len({closure.name for closure in closures}):
        for first in range(0, len(closures[0].pulls), ABREAST):
            features = slice(first, first + ABREAST)
            yield "closures", figure_of_biases(closures, features), (), _BIASES
    for name in shown_alone:
        shown = result.systematics.closure_of(name)
        yield "closure", figure_of_closure(shown), (name,), _closure_caption(shown)


def closures_to_show(closures: Sequence[Closure]) -> list[str]:
    """The learned variations whose pulls are drawn: all where they are few, or those that fail or come near to it."""
    smallest: dict[str, float] = {}
    for closure in closures:
        smallest[closure.name] = min(closure.p_value, smallest.get(closure.name, 1.0))
    failing = {closure.name for closure in closures if not closure.closes}
    panels = len(closures[0].pulls) if closures else 1
    ranked = sorted(smallest, key=lambda name: smallest[name])
    return [name for k, name in enumerate(ranked) if name in failing or (k + 1) * panels <= MAX_PANELS]


def _figure(axes: Any) -> Figure:
    figure: Figure = axes.figure
    return figure


def _null_caption(result: SearchResult) -> str:
    null = result.null
    missing = f" {count(null.not_finite, 'toy')} without a finite t cannot be drawn." if null.not_finite else ""
    if result.combined is not None:
        drawn = result.beyond is not None
        line = " The line is a generalised Pareto law fitted to the highest toys." if drawn else ""
        return f"The combined statistic in {count(len(null), 'null toy')} and in the data.{line}{missing}"
    curves = "curve is the analytic null" if null.chi2 is None else "curves are the analytic null and the fitted χ²"
    return (
        f"The test statistic in {count(len(null), 'null toy')} and in the data. The {curves}, scaled to the "
        f"number of toys.{missing}"
    )


def _nuisances_caption(result: SearchResult) -> str:
    pulls = (
        "The nuisance parameters as fitted to the data without a departure, each with what the data leave of its "
        "uncertainty, over the bands of ±1 and ±2 uncertainties that were given; the largest pull on top."
    )
    if all(n.resemblance is None for n in result.nuisances):
        return pulls
    return (
        f"Left: {pulls[0].lower()}{pulls[1:]} Right: how much the learned departure looks like each, 1 where it is as "
        "if the nuisance had moved up, −1 as if down; 95 % of the null toys lie in the grey bars."
    )


def _closures_caption(closures: Sequence[Closure]) -> str:
    failing = sum(not closure.closes for closure in closures)
    found = f"{failing} of {len(closures)} fail" if failing else f"all {len(closures)} close"
    return (
        "Whether the reference, reweighted by what was learned, is the varied events, as far as the data could tell: "
        f"the p-value for a bias that does no harm, of each learned variation up and down; {found}."
    )


def _closure_caption(closures: Sequence[Closure]) -> str:
    failing = [closure.direction for closure in closures if not closure.closes]
    sign = (
        f" It does NOT close {' and '.join(failing)}: the level is {number(closures[0].level, 2)}." if failing else ""
    )
    return (
        f"Closure of {visible(closures[0].name)}: varied events less the reweighted reference, in standard deviations "
        "of the data expected in a bin (grey: ±1), with the statistical error of the events that were compared. "
        f"Bins hold as many reference events each.{sign}"
    )


def _scales_caption(combined: Combined) -> str:
    return (
        f"The local significance at each of the {len(combined.scales)} scales, not corrected for their number; the "
        "p-value is that of their combination. The circle marks the most significant scale, whose ratio is shown below."
    )


def _importance_caption(c: Characterisation) -> str:
    more = len(c.importance) - MAX_BARS
    left_off = f" The {more} least important variables are in the table only." if more > 0 else ""
    star = " Variables with a star were not used in the fit." if any(not i.fitted for i in c.importance) else ""
    return f"How much of the discrepancy shows in each variable by itself, beside null toys.{star}{left_off}"


def _profile_caption(profile: RatioProfile) -> str:
    reference, data = profile.without
    lost = f" {reference} reference and {data} data events without a value are left out." if reference or data else ""
    unused = "" if profile.fitted else ", which the fit did not use"
    band = "" if profile.uncertainty is None else _BAND
    return f"The learned ratio along {visible(profile.name)}{unused}.{band}{lost}"


def _map_caption(names: tuple[str, str], outside: int, c: Characterisation) -> str:
    dots = (
        " Dots mark cells outside the central 95 % of the null toys; by chance 1 in 20 is, mostly in clusters."
        if c.null_toys
        else ""
    )
    return (
        f"The learned ratio over {visible(names[0])} and {visible(names[1])}. Cells with fewer than {MIN_EVENTS} "
        f"reference events are left grey; {count(outside, 'data event')} {'lies' if outside == 1 else 'lie'} outside "
        f"the axes.{dots}"
    )
