"""What `print` and a notebook show: of a result the verdict and a few lines, of a characterisation its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanner._util.text import Rows, as_html, as_text, count, text_table
from lanner.report.text import uncertainties
from lanner.report.text.estimates import estimates
from lanner.report.text.verdict import earlier_looks, verdict
from lanner.report.text.words import aligned, deviations, local_z, number, with_error, z_score
from lanner.run.parts import Combined, Spread
from lanner.run.result import SearchResult

if TYPE_CHECKING:
    from lanner.report.characterise import Characterisation

COMBINATIONS = {
    "harmonic": "the harmonic mean of their p-values",
    "smallest": "the smallest of their p-values",
    "product": "the product of their p-values",
    "average": "the mean of their p-values",
}
_TOYS_FROM = {
    "reference": "the reference",
    "permutation": "reference and data together, relabelled",
    "generator": "the generator",
}


def summary(result: SearchResult) -> str:
    """The verdict and the numbers behind it, one a line."""
    return as_text(verdict(result), _rows(result))


def summary_html(result: SearchResult) -> str:
    """The same for a notebook."""
    return as_html(verdict(result), _rows(result))


def findings(found: Characterisation) -> str:
    """Where the learned ratio departs from 1: the region that stands out, and every variable's importance."""
    lines = ["Where the learned ratio departs from 1 (a description, not a test)"]
    if found.region is not None:
        r = found.region
        lines += [
            f"  region  {r.selection}",
            f"          {r.data} data events, {with_error(r.expected, r.expected_error)} expected",
            f"          Z = {z_score(r.local_z, 1)} ({r.note})",
        ]
    table = [["variable", "value", "null median", "z", ""]]
    for i in found.importance:
        z = "none" if i.z is None else z_score(i.z)
        table.append([i.name, aligned(i.value), aligned(i.null_median), z, "" if i.fitted else "not used in the fit"])
    return "\n".join([*lines, *(f"  {line}" for line in text_table(table).splitlines())])


def _rows(result: SearchResult) -> Rows:
    plan, combined = result.plan, result.combined
    fit = f"width {number(plan.width, 4)}, penalty {number(plan.penalty)}, {plan.centers} centres"
    return [
        ("combined statistic" if combined else "statistic", statistic(result)),
        ("uncertainties", uncertainties.fitted(result)),
        *uncertainties.rows(result),
        *((e.name, e.line) for e in estimates(result)),
        *([] if result.spread is None else [("spread of Z", spread(result.spread))]),
        *([] if (reach := out_of_reach(result)) is None else [("out of reach", reach)]),
        *([] if combined is None else _scale_rows(combined)),
        ("features", ", ".join(plan.names)),
        *([("left out", "; ".join(f"{name!r} {why}" for name, why in result.left_out))] if result.left_out else []),
        ("events", f"{result.reference_total} reference, {result.data_size} data, {number(plan.expected, 6)} expected"),
        ("toys from", _TOYS_FROM[plan.null]),
        ("fit" if combined is None else "ratio shown", f"{fit}, rank {result.ratio.rank}"),
        *([("looks", earlier_looks(result))] if result.looks else []),
        *(("warning", text) for text in result.warnings),
    ]


def statistic(result: SearchResult) -> str:
    """The statistic by its symbol."""
    return f"{'−ln p' if result.combined else 't'} = {aligned(result.statistic, 4)}"


def _scale_rows(combined: Combined) -> Rows:
    looked_for = deviations(s.deviation for s in combined.scales)
    rows = [
        (
            "scales",
            f"{len(combined.scales)}, combined by {COMBINATIONS[combined.combination]}, after {combined.n_map_toys} "
            "other toys made them comparable",
        ),
        ("local Z", f"at scales tuned to deviations of {looked_for}; * marks the most significant one"),
    ]
    leading = combined.leading_term
    by_size = sorted(enumerate(combined.scales), key=lambda scale: scale[1].deviation)
    for width in sorted({s.width for s in combined.scales}):
        starred = combined.dominant_scale if leading is None else None
        local = [local_z(s.local_z) + ("*" if k == starred else "") for k, s in by_size if s.width == width]
        rows.append((f"  width {aligned(width)}", ", ".join(local)))
    rows += [(f"  {t.label}", local_z(t.local_z) + ("*" if t is leading else "")) for t in combined.terms]
    return rows


def spread(found: Spread) -> str:
    """How much Z depends on what is random in the method."""
    return (
        f"{z_score(found.total)} from what is random in the method, apart from the toys that are counted and the draw "
        "of the centres"
    )


def out_of_reach(result: SearchResult) -> str | None:
    """How many data events lie beyond the reference, where there are more than expected."""
    found = result.out_of_reach
    if found is None or not found.surprising:
        return None
    return (
        f"{count(found.number, 'data event')} beyond the reference (width {aligned(found.width)}), where "
        f"{number(found.expected, 2)} are expected"
    )
