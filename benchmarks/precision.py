"""Does a search say the same in double precision, and by the features of every event? On the same toys.

    python benchmarks/precision.py --write docs/precision.md       # three shapes, half an hour on two quiet cores
    python benchmarks/precision.py --only 1-D --write page.md

Three ways to the same statistic, with the same seeds, centres and toys:

- fast: what `search` does. Kernel values are summed by bunch and forgotten, what is kept is in single precision, and
  second moments come from as many events as make their error small.
- double: the same, and what is kept is in double precision.
- by event: the features of every event, in double precision, as if they were kept: sums are taken over all of them,
  and second moments over the same part as in the fast way. With all second moments the statistic is another one, of
  toys and data alike; what that changes is told beside it.

Of every statistic (scales and terms) the largest difference of any toy from the fast way, in units of its spread over
null toys; and the p-values of data sets that follow the reference or have an excess. The script fails where one of the
first two changes a statistic by 1 % of its spread or a p-value by more than one toy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from command_line import parse, study_parser
from internals import (
    NEVER,
    NUMPY,
    PRECISIONS,
    Bunches,
    Combination,
    Draw,
    FitSettings,
    Ladder,
    Moments,
    MomentSums,
    PermutationScheme,
    ReferenceScheme,
    ScaledRows,
    ScoreExperiment,
    ScoreModel,
    StoredFeatures,
    markdown_table,
    memory_budget,
    moment_labels,
    number_of_map_toys,
    prepare,
)
from synthetic import events

Array = NDArray[np.float64]
SHAPES = {"1-D": (1, 200_000, 2000), "5-D": (5, 100_000, 20_000), "8-D": (8, 500_000, 20_000)}
SMALL = {"1-D": (1, 12_000, 250), "5-D": (5, 12_000, 250), "8-D": (8, 12_000, 250)}
TOYS, DATA_SETS = 1500, 40
EVENTS = 8192
BY_EVENT, ALL_MOMENTS = "by event", "by event, all second moments"
ALLOWED, RANKS = 0.01, 1  # of the spread of a statistic; in null toys beyond a data set


@dataclass(frozen=True)
class Difference:
    """What another way than the fast one changes, over all toys and data sets."""

    way: str
    largest: float  # difference of a statistic, in units of its null spread
    typical: float  # the root mean square of these differences, of the statistic where it is largest
    same: float  # the share of p-values that are the same
    ranks: int  # the largest change of a p-value, in null toys
    smallest_p: tuple[float, float]  # of the data sets: the fast way's, and this one's

    @property
    def is_small(self) -> bool:
        """Whether nobody would notice."""
        return self.largest < ALLOWED and self.ranks <= RANKS


def compare(dimensions: int, reference: int, expected: int, *, toys: int, data_sets: int) -> list[Difference]:
    """The other two ways beside the fast one, at one shape."""
    rng = np.random.default_rng(7)
    background, data = events(dimensions, reference, rng), events(dimensions, expected, rng)
    ladders = {}
    for way, precision in (("fast", "single"), ("double", "double")):
        job = prepare(
            background, data, expected=float(expected), settings=FitSettings(seed=1, precision=precision),
            memory=memory_budget(None),
        )  # fmt: skip
        ladders[way] = job.recipe.prepare(job.memory)
    ladders[BY_EVENT], ladders[ALL_MOMENTS] = by_event(ladders["double"])
    draws = draws_of(ladders["fast"], toys, data_sets)
    made = {way: np.stack([s.statistic for s in ladder.fit(draws, kept=0)]) for way, ladder in ladders.items()}
    fast = made["fast"]
    laws, n_map = ladders["fast"].laws(), number_of_map_toys(toys)
    spread = fast[:, :toys].std(axis=1)
    varies = spread > 0
    p = {way: p_values(t, laws, n_map, toys) for way, t in made.items()}
    found = []
    for way in ("double", BY_EVENT, ALL_MOMENTS):
        off = np.abs(made[way] - fast)[varies] / spread[varies, None]
        worst = int(off.max(axis=1).argmax())
        ranks = np.rint(np.abs(p[way] - p["fast"]) * (toys - n_map + 1)).astype(int)
        typical = float(np.sqrt(np.mean(off[worst] ** 2)))
        smallest = float(p["fast"].min()), float(p[way].min())
        found.append(Difference(way, float(off.max()), typical, float(np.mean(ranks == 0)), int(ranks.max()), smallest))
    return found


def draws_of(ladder: Ladder, toys: int, data_sets: int) -> list[Draw]:
    """Null toys, then data sets: further toys, of which every other one has an excess, and the data themselves."""
    scheme = ladder.first.scheme
    assert isinstance(scheme, ReferenceScheme | PermutationScheme)
    made = [scheme.toy(i) for i in range(toys + data_sets)]
    bunches = scheme.bunches
    rng = np.random.default_rng(8)
    for k in range(toys, toys + data_sets, 2):  # an excess of up to four times the root of N(0)
        free = np.setdiff1d(np.arange(bunches.whole), np.concatenate([made[k].data, made[k].left_out]))
        further = int(4 * rng.random() * ladder.first.plan.expected**0.5 / bunches.size) + 1
        made[k] = replace(made[k], data=np.concatenate([made[k].data, rng.choice(free, further, replace=False)]))
    return made + list(ladder.first.data_draws(1))


def p_values(t: Array, laws: Sequence[object], n_map: int, toys: int) -> Array:
    """Of the data sets, by the combination of all statistics, counted over the null toys that had no part in it."""
    combine = Combination.freeze("harmonic", laws, t[:, :n_map])  # type: ignore[arg-type]
    null = np.sort(combine(t[:, n_map:toys]))
    beyond = len(null) - np.searchsorted(null, combine(t[:, toys:]), side="left")
    return np.asarray((1 + beyond) / (1 + len(null)))


def by_event(ladder: Ladder) -> tuple[Ladder, Ladder]:
    """Ladders made of the features of every event, in double precision: with the fast way's second moments, and all."""
    by_width: dict[float, tuple[ScoreExperiment, ScoreExperiment]] = {}
    scales = []
    for scale in ladder.scales:
        assert isinstance(scale, ScoreExperiment)
        if scale.plan.width not in by_width:
            by_width[scale.plan.width] = _by_event_at(scale)
        scales.append([made.at_penalty(scale.plan) for made in by_width[scale.plan.width]])
    same, every = (replace(ladder, scales=tuple(some)) for some in zip(*scales, strict=True))
    return same, every


def _by_event_at(scale: ScoreExperiment) -> tuple[ScoreExperiment, ScoreExperiment]:
    pool, scheme = scale.pool, scale.scheme
    assert isinstance(scheme, ReferenceScheme | PermutationScheme)
    samples = [scale.reference] if scale.data is None else [scale.reference, scale.data]
    events_of_pool = ScaledRows(tuple(s.features for s in samples), scale.plan.units)
    bunches, basis = pool.bunches, pool.basis
    splits = scheme.splits if isinstance(scheme, ReferenceScheme) else None
    every = np.zeros(bunches.drawn, np.int8) if splits is None else splits.labels[: bunches.drawn]
    part = every if bunches.are_events else moment_labels(bunches, splits, basis.rank)
    used = sorted(set(every.tolist()) - {NEVER})
    sums = [{label: MomentSums(basis.rank, NUMPY, PRECISIONS["double"]) for label in used} for _ in (part, every)]
    phi = np.empty((len(bunches), basis.rank))
    for rows in _blocks(bunches):
        span = slice(bunches.starts[rows.start], bunches.starts[rows.stop])
        features = basis.features(events_of_pool[bunches.events[span]])
        phi[rows] = np.add.reduceat(features, bunches.starts[rows] - span.start)
        for labels, found in zip((part, every), sums, strict=True):
            of_event = np.repeat(labels[rows], bunches.sizes[rows][: len(labels[rows])])
            for label in set(of_event.tolist()) - {NEVER}:
                found[label].add(features[: len(of_event)][of_event == label], None)
    made = []
    for labels, found in zip((part, every), sums, strict=True):
        totals = {label: float(bunches.sizes[: bunches.drawn][labels == label].sum()) for label in used}
        model = ScoreModel.of(
            basis,
            Moments.joined({label: found[label].host() for label in used}, totals, splits),
            total=phi[: bunches.drawn].sum(axis=0),
            mass=float(bunches.mass[: bunches.drawn].sum()),
            worth=bunches.total,
            expected=scale.plan.expected,
        )
        made.append(replace(scale, pool=replace(pool, features=StoredFeatures(basis, phi, phi.dtype), model=model)))
    return made[0], made[1]


def _blocks(bunches: Bunches) -> Iterator[slice]:
    """Rows of some thousand events, or one row that has more."""
    first = 0
    while first < len(bunches):
        last = int(np.searchsorted(bunches.starts, bunches.starts[first] + EVENTS, side="right")) - 1
        last = max(first + 1, last)
        yield slice(first, last)
        first = last


def main() -> None:
    """Measure, print and write the table; fail where a difference is too large."""
    parser = study_parser(__doc__, writes="docs/precision.md", flag="--write")
    parser.add_argument("--only", action="append", choices=list(SHAPES), help="Some shapes only; several times.")
    parser.add_argument("--toys", type=int, default=TOYS, help=f"Null toys (default: {TOYS}).")
    arguments = parse(parser)
    toys, data_sets = (150, 10) if arguments.smoke else (arguments.toys, DATA_SETS)
    header = ["shape", "N0, N(0)", "way", "largest difference of q", "typical", "p-values that are the same"]
    rows = [[*header, "largest change of p", "smallest p, fast", "smallest p, this way"]]
    failed = []
    for name in arguments.only or SHAPES:
        dimensions, reference, expected = (SMALL if arguments.smoke else SHAPES)[name]
        for found in compare(dimensions, reference, expected, toys=toys, data_sets=data_sets):
            cells = [name, f"{reference}, {expected}", found.way, f"{found.largest:.1e}", f"{found.typical:.1e}"]
            cells += [f"{found.same:.0%}", f"{found.ranks} of {toys - number_of_map_toys(toys)} toys"]
            rows.append([*cells, *(f"{p:.3g}" for p in found.smallest_p)])
            print(*rows[-1], sep=" | ", flush=True)
            if found.way != ALL_MOMENTS and not found.is_small:
                failed.append(name)
    arguments.output.write_text(
        "# Single and double precision, sums by bunch and features of every event\n\n"
        f"Made by `python benchmarks/precision.py`: {toys} null toys and {data_sets + 1} data sets, the same in each "
        "way. Differences are from the fast way, which is that of `search`, in units of the spread of each statistic "
        "over null toys: the largest over all statistics, toys and data sets, and the root mean square of the "
        "statistic that has it. Double: the sums that are kept are in double precision. By event: sums and second "
        "moments are taken over the features of every event, in double precision, where the fast way whitens sums of "
        "kernel values and takes second moments of a part of the events.\n\n" + markdown_table(rows) + "\n"
    )
    if failed:
        sys.exit(f"q changes by more than {ALLOWED:.0%} of its spread, or p by more than a toy: {', '.join(failed)}")


if __name__ == "__main__":
    main()
