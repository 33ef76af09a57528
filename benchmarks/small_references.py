"""How often do null data get a small p-value, by toys from a reference that is small?

    python benchmarks/small_references.py                 # minutes; the table of docs/p-value.md
    python benchmarks/small_references.py --references 4  # a quick look

Against each of several references: null toys drawn from it, and independent data sets that follow the same model, drawn
from events that no toy has seen. The share of data sets below a level should be the level.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

import lanner
from calibration_study import make_events
from command_line import parse, study_parser

CASE = "1-D"
LEVELS = (0.05, 0.01, 0.00135)
# Expected events, reference events, references, toys and data sets of each.
SIZES = (
    (1000, 3000, 12, 2000),
    (500, 2000, 12, 2000),
    (100, 500, 12, 2000),
    (1000, 5000, 12, 2000),
    (100, 1000, 12, 2000),
    (200, 2000, 12, 2000),
    (2000, 20_000, 8, 3000),
    (300, 4000, 16, 2000),
    (100, 2000, 16, 2000),
    (300, 6000, 16, 2000),
    (100, 10_000, 8, 4000),
    (2000, 200_000, 6, 6000),
)
SMOKE = ((50, 1000, 2, 300),)
_OTHERS = 20_000  # independent events, at least


def shares(expected: int, size: int, seed: int, toys: int) -> list[float]:
    """The shares of data sets below each level, against one reference."""
    rng = np.random.default_rng([11, expected, size, seed])
    others = max(_OTHERS, min(50 * expected, 200_000))
    reference, independent = make_events(CASE, size, rng), make_events(CASE, others, rng)
    found = lanner.power(
        reference, independent, expected=expected, signal_events=[float(expected)], alone=True, toys=toys,
        experiments=toys, seed=seed,
    )  # fmt: skip
    p = stats.norm.sf(found.strengths[0].z_empirical)
    return [float(np.mean(p <= level * (1 + 1e-9))) for level in LEVELS]


def main() -> None:
    """Measure and print."""
    parser = study_parser(__doc__)
    parser.add_argument("--references", type=int, help="Fewer, for a quick look.")
    arguments = parse(parser)
    print("| expected | reference | ratio |", " | ".join(f"below {x:g}" for x in LEVELS), "|")
    print("|---|---|---|" + "---|" * len(LEVELS))
    for expected, size, references, toys in SMOKE if arguments.smoke else SIZES:
        number = arguments.references or references
        found = np.array([shares(expected, size, seed, toys) for seed in range(number)])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / number**0.5
        cells = (f"{m:.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True))
        print(f"| {expected} | {size} | {size / expected:.0f} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
