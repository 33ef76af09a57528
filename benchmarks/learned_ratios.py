"""Do p-values hold where log r of an uncertainty was learned from samples of a finite size, or is there a warning?

    python benchmarks/learned_ratios.py --kept kept.json       # hours on one core; goes on where it was stopped
    python benchmarks/learned_ratios.py --only 40000 --blocks 5

Exponential of mean 1, 2000 expected, 200 000 events of the reference; a scale of 5 %, learned from independent samples
up and down of several sizes, and a normalisation of 5 %. Every block has its own reference and its own samples, so that
the error of what is learned is sampled too, and data sets at several true values of the nuisances, each with its own
auxiliary measurement. Data sets of a block share their toys (`uncertain_toys.py`). Writes docs/learned-ratios.md.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import lanner
from command_line import parse, study_parser
from internals import Sample, markdown_table
from kept import Kept
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.effects import Nuisances
from lanner.uncertainties.learn import learn
from uncertain_toys import EXPECTED, UncertainReference, exact, null_data, scale_of
from uniform import LEVELS, Uniform

REFERENCE, SIZE = 200_000, 0.05
SAMPLES = (5_000, 10_000, 20_000, 40_000, 100_000, 200_000)  # events of each of the two varied samples
POINTS = ((0.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))  # true values of scale and normalisation
BLOCKS, DATA_SETS, TOYS = 10, 50, 900


def judged(
    block: int, samples: Sequence[int], *, reference: int, data_sets: int, toys: int
) -> Iterator[dict[str, Any]]:
    """One reference, and for each size of the varied samples the warnings and the p-values at each point."""
    rng = np.random.default_rng([block, 0])
    nominal = Sample.of(rng.exponential(size=(reference, 1)))
    known = UncertainReference.of(nominal, exact(SIZE), seed=block)
    for size in samples:
        rng = np.random.default_rng([block, size])
        up, down = (Sample.of(rng.exponential(np.exp(shift), (size, 1))) for shift in (SIZE, -SIZE))
        declared: list[Uncertainty] = [
            lanner.Shifted("scale", up=up, down=down, up_yield=1.0, down_yield=1.0),
            lanner.Normalisation("normalisation", SIZE),
        ]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", lanner.errors.ClosureWarning)
            learned = learn(declared, nominal, expected=EXPECTED, scaling=known.judge.plans[0].units, seed=block)
        one: dict[str, Any] = {
            "block": block,
            "warned": any(issubclass(w.category, lanner.errors.ClosureWarning) for w in said),
            "closures": [{k: v for k, v in c.to_dict().items() if k != "pulls"} for c in learned.closures],
            "error": left_over(learned.nuisances),
            "p": [],
        }
        uncertain = known.with_nuisances(learned.nuisances)
        for nu in POINTS:
            data, auxiliary = zip(*(null_data(SIZE, nu, rng) for _ in range(data_sets)), strict=True)
            one["p"].append(uncertain.judged_together(data, np.stack(auxiliary), toys, rng).tolist())
        yield one


def left_over(nuisances: Nuisances) -> float:
    """The rms of the error of log r, up or down, that no nuisance parameter makes up for, in units of N(0)^(-1/2)."""
    x = -np.log1p(-(np.arange(4000) + 0.5) / 4000)[:, None]  # quantiles of the reference
    effects, found = nuisances.of(x), []
    for nu in (1.0, -1.0):
        log_r, d, _ = effects.at(np.array([nu, 0.0]))
        error = scale_of(SIZE)(x, nu) - log_r
        known = d.T @ d / len(x) + np.eye(len(nuisances)) / EXPECTED
        error = error - d @ np.linalg.solve(known, d.T @ error / len(x))
        found.append(float(np.sqrt(EXPECTED * np.mean(error**2))))
    return max(found)


def page(done: dict[str, list[dict[str, Any]]]) -> tuple[str, bool]:
    """The tables, and whether p-values hold wherever no warning is given."""
    lines = [["events up, down", "nu*", "data sets", "KS p", *(f"p ≤ {x:g} (%)" for x in LEVELS), "in range"]]
    warned = [["events up, down", "blocks", "with a warning", "error of log r: median", "largest", "p ≤ 0.05 (%)"]]
    good = True
    for size, blocks in sorted(done.items(), key=lambda item: int(item[0])):
        quiet = [block for block in blocks if not block["warned"]]
        for k, nu in enumerate(POINTS):
            found = Uniform.of(np.concatenate([block["p"][k] for block in blocks]))
            cells = [f"{found.ks_p:.2g}", *map(str, found.shares)]
            number = sum(len(block["p"][k]) for block in blocks)
            lines.append([size, f"({nu[0]:g}, {nu[1]:g})", str(number), *cells, "yes" if found.is_chance else "NO"])
            if quiet:
                good &= Uniform.of(np.concatenate([block["p"][k] for block in quiet])).is_chance
        errors = [block["error"] for block in blocks]
        low = 100 * float(np.mean([np.array(block["p"]) <= 0.05 for block in blocks]))
        cells = [f"{np.median(errors):.2f}", f"{max(errors):.2f}", f"{low:.1f}"]
        warned.append([size, str(len(blocks)), str(len(blocks) - len(quiet)), *cells])
    return f"{markdown_table(warned)}\n\n{markdown_table(lines)}\n", good


ABOUT = (
    "# Learned ratios: do p-values hold, or is there a warning?\n\nMade by `python benchmarks/learned_ratios.py`: "
    f"exponential of mean 1, {EXPECTED:g} expected, {REFERENCE} events of the reference, uncertainties of 5 % in scale "
    "and in normalisation. log r of the scale is learned from independent samples up and down. Each block has a new "
    f"reference, new samples and {DATA_SETS} null data sets at each point nu* = (scale, normalisation), in units of "
    f"the uncertainties. They are counted against {TOYS - TOYS // 3} toys at the mean of their nu^, and each has its "
    "own fit of the nuisances, as the toys have. The error of log r at one uncertainty up or down is the rms of what "
    f"no nuisance parameter makes up for, in units of {EXPECTED:g}^(-1/2), against the closed form; the larger of the "
    "two. In brackets the 99.99 % interval of what chance allows.\n\n"
)


def main() -> None:
    """Run the study and write its tables."""
    parser = study_parser(__doc__, writes="docs/learned-ratios.md", flag="--write", keeps=True)
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="References, each with samples of every size.")
    parser.add_argument("--only", type=int, action="append", choices=SAMPLES, help="Some sizes only; several times.")
    arguments = parse(parser)
    kept = Kept.at(arguments.kept)
    done: dict[str, list[dict[str, Any]]] = kept.found
    samples = [1000] if arguments.smoke else arguments.only or list(SAMPLES)
    sizes = (
        {"reference": 40_000, "data_sets": 5, "toys": 90}
        if arguments.smoke
        else {"reference": REFERENCE, "data_sets": DATA_SETS, "toys": TOYS}
    )
    for block in range(1 if arguments.smoke else arguments.blocks):
        missing = [size for size in samples if block not in [one["block"] for one in done.get(str(size), [])]]
        if not missing:
            continue
        for size, one in zip(missing, judged(block, missing, **sizes), strict=True):
            done.setdefault(str(size), []).append(one)
            low = [f"{np.mean(np.array(p) <= 0.05):.3f}" for p in one["p"]]
            print(size, f"block {block}", "warned" if one["warned"] else "", *low, flush=True)
            kept.save()
    tables, good = page(done)
    arguments.output.write_text(ABOUT + tables)
    sys.exit(0 if arguments.smoke or good else 1)


if __name__ == "__main__":
    main()
