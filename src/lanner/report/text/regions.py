"""What several regions say together, in a sentence, and each of them in a line."""

from __future__ import annotations

from lanner._util.text import Rows, as_html, as_text, count
from lanner.report.text.verdict import law_z
from lanner.report.text.words import as_extreme, empirical_p, empirical_z, equation, number, with_error
from lanner.run.regions_result import RegionResult, RegionsResult

COMBINATIONS = {"smallest": "the smallest of their p-values", "harmonic": "the harmonic mean of their p-values"}


def verdict(result: RegionsResult) -> str:
    """The outcome of all regions in one sentence."""
    p, tail, names = result.empirical, result.tail, list(result.regions)
    numbers = f"global {equation('p', empirical_p(p))}, {equation('Z', empirical_z(p))}"
    if p.is_bound:
        beyond = "no law that the toys confirm extrapolates beyond them"
        if tail is not None:
            beyond = f"the tail fitted to the toys extrapolates to {equation('Z', law_z(tail))}"
        numbers += f": {as_extreme(p)}; {beyond}"
    of_data = f"The data of the {len(names)} regions" if len(names) > 1 else f"The data of region {names[0]}"
    if p.z_score >= 3 or (p.is_bound and tail is not None and tail.z_score >= 3):
        outcome = f"{of_data} depart from the reference, most of all in {result.leading}"
    elif p.z_score >= 2:
        outcome = f"There is a hint that the data depart from the reference, most of all in {result.leading}"
    elif p.is_bound:
        outcome = "No toy is as extreme as the data, but there are too few toys to say how significant that is"
    else:
        outcome = f"{of_data} are compatible with the reference"
    return f"{outcome} ({numbers})."


def summary(result: RegionsResult) -> str:
    """The verdict, a line for each region, and what the numbers rest on."""
    return as_text(verdict(result), _rows(result))


def summary_html(result: RegionsResult) -> str:
    """The same for a notebook."""
    return as_html(verdict(result), _rows(result))


def of_region(one: RegionResult) -> dict[str, str]:
    """The cells of a region in a table."""
    p = one.result.empirical
    return {
        "p alone": empirical_p(p),
        "Z alone": empirical_z(p),
        "data events": str(one.observed),
        "expected": with_error(one.expected, one.expected_error),
    }


def toys(result: RegionsResult) -> str:
    """How many toys there are, and how they became one p-value."""
    p = result.empirical
    low, high = p.interval
    return (
        f"{as_extreme(p)}; 95 % interval of p: {number(low, 2)} to {number(high, 2)}; "
        f"{count(result.n_map_toys, 'other toy')} made scales and regions comparable"
    )


def events(result: RegionsResult) -> str:
    """How many data events there are, and how regions share them."""
    words = f"{count(result.data_size, 'data event')} where {number(result.expected, 6)} are expected"
    if result.shape_only:
        words = f"{count(result.data_size, 'data event')}, whose total number is not tested"
    return f"{words}; {result.shared} of them in several regions, {result.outside} in none"


def _rows(result: RegionsResult) -> Rows:
    rows = []
    for name, one in result.regions.items():
        cells = of_region(one)
        starred = "*" if name == result.leading and len(result.regions) > 1 else ""
        alone = f"{equation('p', cells['p alone'])}, {equation('Z', cells['Z alone'])}{starred}"
        events_in = f"{count(one.observed, 'data event')}, {cells['expected']} expected"
        rows.append((name, f"{alone}; {events_in}{f'; {one.selection}' if one.selection else ''}"))
    kind = COMBINATIONS[result.combination]
    return [
        *rows,
        ("regions", f"each by itself above; combined by {kind}; * marks the one that departs most"),
        ("global", toys(result)),
        *(
            []
            if result.tail is None
            else [("tail", f"{equation('Z', law_z(result.tail))} by the tail fitted to the toys, an extrapolation")]
        ),
        ("events", events(result)),
        *(("warning", text) for text in result.warnings),
    ]
