"""What does the ladder of scales find, and what did the one before it? Both on the same toys.

    python benchmarks/ladders.py --kept folder                     # an hour; goes on where it was stopped
    python benchmarks/ladders.py --kept folder --only one-dimensional --toys 20000

The ladder of before: four widths from the 20 % to the 98 % quantile of the distances between reference events, three
penalties, maps with the skewness of the analytic null, and nothing beside the scales. Both see the same events, toys
and moments. Median Z by counting null toys; a median beyond all of them counts as the limit. Writes docs/ladders.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from command_line import parse, study_parser
from internals import (
    COARSE,
    FINE,
    Combination,
    FitSettings,
    Kernel,
    LawMoments,
    Library,
    NullToys,
    Plan,
    PMap,
    PreparedKernel,
    Progress,
    Sample,
    ScaledRows,
    SignalToys,
    Stream,
    TestRunner,
    ToyPool,
    empirical_z,
    experiment_module,
    loss_by_name,
    markdown_table,
    number_of_map_toys,
    pairwise_width,
    penalty_for,
    rng_of,
    suite_case,
)

Array = NDArray[np.float64]
OLD_WIDTHS, OLD_DEVIATIONS, OLD_MAP_TOYS = 4, (0.2, 0.7, 2.0), 2000
EXPECTED, REFERENCE, SIGNAL = 2000, 45_000, 10_000  # events of the collisions
STRENGTHS: dict[str, dict[str, tuple[float, ...]]] = {
    "susy": {"chargino": (40.0, 65.0)},
    "higgs": {"heavy-higgs": (80.0, 130.0, 180.0)},
    "dimuon": {"zprime-300": (15.0, 25.0), "zprime-600": (4.0, 8.0)},
}
TOYS = {"one-dimensional": 400_000, "susy": 3000, "higgs": 3000, "dimuon": 3000}
EXPERIMENTS = {"one-dimensional": 1000, "susy": 300, "higgs": 300, "dimuon": 300}


@dataclass(frozen=True)
class BothLadders(Kernel):
    """The default's scales, and after them those of before."""

    name: str = "both"

    def plans(self, pool: ToyPool, progress: Progress | None = None) -> tuple[Plan, ...]:
        """The plans of both; where they share a scale, it is there once."""
        new = super().plans(pool, progress)
        return tuple({_scale(p): p for p in (*before(pool, new[0]), *new)}.values())


def before(pool: ToyPool, like: Plan) -> tuple[Plan, ...]:
    """The scales of before."""
    events = ScaledRows((pool.reference.features,), like.units)
    rng = rng_of(pool.plan.seed, Stream.WIDTH)
    fine, coarse = (pairwise_width(events, quantile=q, rng=rng) for q in (FINE, COARSE))
    loss = loss_by_name(like.loss)
    return tuple(
        replace(like, width=float(w), penalty=penalty_for(d, events=like.events_per_fit, loss=loss))
        for w in np.geomspace(fine, coarse, OLD_WIDTHS)
        for d in OLD_DEVIATIONS
    )


def _scale(plan: Plan) -> tuple[float, float]:
    return plan.width, plan.penalty


@dataclass(frozen=True)
class Signal:
    """A signal at some strengths; `alone`, it is a model of all data."""

    name: str
    events: Array
    strengths: tuple[float, ...]
    alone: bool = False


def events_of(case: str, *, smoke: bool) -> tuple[Sample, float, int | None, list[Signal]]:
    """The reference, the expected number, the size of each toy's reference, and the signals."""
    if case == "one-dimensional":
        suite = suite_case(case, seed=1, share=0.02 if smoke else 1.0, ideal=False)
        signals = [Signal(s.name, suite.events(s).features, (s.events,), s.alone) for s in suite.signals]
        return suite.reference, suite.expected, suite.reference_size, signals
    library, columns = Library(case), experiment_module(case).LOW_LEVEL

    def table(name: str, n: int) -> Array:
        found = library.events(name, n)
        return np.column_stack([found[c] for c in columns])

    signals = [Signal(name, table(name, SIGNAL), strengths) for name, strengths in STRENGTHS[case].items()]
    return Sample(table("background", REFERENCE), tuple(columns)), float(EXPECTED), None, signals


def measure(case: str, folder: Path, toys: int, experiments: int, *, smoke: bool) -> list[list[str]]:
    """A row for each ladder: the median Z of each signal and strength."""
    reference, expected, size, signals = events_of(case, smoke=smoke)
    other = Sample(np.vstack([s.events for s in signals]), reference.names)
    settings = FitSettings(seed=1, reference_size=size)
    pool = ToyPool.prepare(reference, other, expected=expected, settings=settings, label="signal", in_bunches=True)
    told = lambda what, done, total: print(f"\r{case}: {what} {done}/{total}   ", end="", flush=True)  # noqa: E731
    with TestRunner(BothLadders(), pool, folder / case, progress=told) as runner:
        null = runner.toys("null", toys, NullToys()).statistics
        found, first = {}, len(reference)
        for signal in signals:
            rows = range(first, first + len(signal.events))
            first = rows.stop
            for strength in signal.strengths:
                kind = SignalToys(strength, signal.alone, rows)
                label = f"{signal.name} {strength:g}"
                found[label] = runner.toys(label.replace(" ", "-"), experiments, kind).statistics
        ready = runner.prepared.test
        assert isinstance(ready, PreparedKernel)
        ladder = ready.ladder
    place = {_scale(e.plan): k for k, e in enumerate(ladder.scales)}
    plans = Kernel.plans(BothLadders(), pool)
    laws = ladder.laws()
    of_old = [place[_scale(p)] for p in before(pool, plans[0])]
    scales = [place[_scale(p)] for p in plans]
    widths = {p.width for p in plans}
    terms = [k for k, t in enumerate(ladder.terms, len(place)) if getattr(t, "width", None) in {None, *widths}]
    of_new = [*scales, *terms]
    n_map, n_old = number_of_map_toys(toys), min(number_of_map_toys(toys), OLD_MAP_TOYS)
    combine_new = Combination.freeze("harmonic", [laws[k] for k in of_new], null[of_new, :n_map])
    maps_old = tuple(_map_of_before(null[k, :n_old], laws[k]) for k in of_old)
    combine_old = Combination("harmonic", maps_old, (1.0,) * len(maps_old))
    table = [["ladder", *found, "mean"]]
    for name, combine, which in (("before", combine_old, of_old), ("now", combine_new, of_new)):
        nulls = combine(null[which, n_map:])
        z = [float(np.median(empirical_z(combine(t[which]), nulls))) for t in found.values()]
        table.append([name, *(f"{x:.2f}" for x in z), f"{np.mean(z):.2f}"])
    print(f"\r{case}: {len(scales)} scales and {len(terms)} terms now, {len(of_old)} scales before, {toys} null toys")
    print(*("  ".join(row) for row in table), sep="\n", flush=True)
    return table


def _map_of_before(toys: Array, law: LawMoments | None) -> PMap:
    assert law is not None
    return PMap(float(toys.mean()), float(toys.std()), law.skewness)


def main() -> None:
    """Measure and write the tables."""
    parser = study_parser(__doc__, writes="docs/ladders.md", flag="--write")
    parser.add_argument("--kept", type=Path, required=True, help="A folder that keeps the toys.")
    parser.add_argument("--only", action="append", choices=list(TOYS), help="Some cases only; several times.")
    parser.add_argument("--toys", type=int, help="Null toys of each case.")
    arguments = parse(parser)
    parts = [
        "# The ladder of scales, before and now\n\nMade by `python benchmarks/ladders.py`: median Z of each signal "
        "with so many events, both ladders on the same null toys and data sets, moments and toys made as they are "
        "now; a median beyond all toys counts as the limit (4.56 of 395 000 counted toys, 3.29 of 2000). Before: four "
        "widths from the 20 % to the 98 % quantile of the distances, three penalties, maps with the analytic skewness, "
        "no terms beside the scales.\n"
    ]
    for case in arguments.only or (["one-dimensional"] if arguments.smoke else TOYS):
        toys = 200 if arguments.smoke else arguments.toys or TOYS[case]
        experiments = 5 if arguments.smoke else EXPERIMENTS[case]
        rows = measure(case, arguments.kept, toys, experiments, smoke=arguments.smoke)
        parts.append(
            f"## {case}\n\n{toys} null toys, {experiments} data sets for each signal.\n\n{markdown_table(rows)}\n"
        )
    arguments.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
