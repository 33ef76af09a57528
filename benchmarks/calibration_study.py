"""Are the p-values uniform? Independent null data sets, each with its own reference and its own null toys.

    python benchmarks/calibration_study.py                      # the whole study, written to docs/
    python benchmarks/calibration_study.py --data-sets 40       # a quick look

For each kind of null, in one and in five dimensions: the empirical p-values are tested for uniformity (KS, and the
fractions below 0.05 and 0.1 against their 99.9 % binomial intervals), and the analytic ones are drawn against them.
Seeds are fixed beforehand: data set i has seed i.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

# One thread a process: the data sets are the parallel part.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import lanner
from command_line import parse, study_parser

TOYS, SMOKE_TOYS = 99, 19  # P(p <= 0.05) is then 0.05 exactly
CASES: dict[str, dict[str, Any]] = {
    "1-D": {"expected": 200, "reference": 4000, "width": 0.3, "penalty": 1e-6, "centers": 300, "scaling": None},
    "5-D": {"expected": 200, "reference": 3000, "width": 3.0, "penalty": 1e-5, "centers": 300, "scaling": "standard"},
}
NULLS = ("reference", "permutation", "generator")


def make_events(case: str, n: int, rng: np.random.Generator) -> Any:
    """Events of the reference model."""
    if case == "1-D":
        return rng.exponential(1 / 8, (n, 1))
    common = rng.standard_normal((n, 1))
    momenta = np.exp(0.5 * (0.8 * rng.standard_normal((n, 2)) + 0.6 * common))
    return np.hstack([momenta, rng.normal(0, 1.1, (n, 2)).clip(-2.5, 2.5), rng.uniform(-np.pi, np.pi, (n, 1))])


def one(job: tuple[str, str, int, int]) -> tuple[float, float]:
    """The empirical and the analytic p-value of one null data set."""
    case, null, seed, toys = job
    settings = CASES[case]
    rng = np.random.default_rng([hash_of(case), hash_of(null), seed])
    reference = make_events(case, settings["reference"], rng)
    data = make_events(case, int(rng.poisson(settings["expected"])), rng)
    result = lanner.search(
        reference,
        data,
        expected=settings["expected"],
        toys=toys,
        null=null,
        seed=seed,
        width=settings["width"],
        penalty=settings["penalty"],
        centers=settings["centers"],
        scaling=settings["scaling"],
        generator=(lambda n, g: make_events(case, n, g)) if null == "generator" else None,
        memory="1 GB",
    )
    assert result.analytic is not None
    return result.p_value, result.analytic.p_value


def hash_of(name: str) -> int:
    """A number for a name that is the same in every process."""
    return int.from_bytes(name.encode()[:6], "big")


def judge(p: Any, levels: tuple[float, ...] = (0.05, 0.1)) -> dict[str, Any]:
    """Uniformity of p-values: KS, and small ones counted."""
    found: dict[str, Any] = {"data_sets": len(p), "ks_p": float(stats.kstest(p, "uniform").pvalue)}
    passed = found["ks_p"] > 0.001
    for level in levels:
        low, high = stats.binom.ppf([0.0005, 0.9995], len(p), level) / len(p)
        share = float(np.mean(np.asarray(p) <= level + 1e-12))
        found |= {f"below_{level}": share, f"interval_{level}": [float(low), float(high)]}
        passed = passed and low <= share <= high
    return found | {"passed": bool(passed)}


def draw(results: dict[str, Any], path: Path) -> None:
    """Ordered p-values against uniform ones, and analytic against empirical."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, len(NULLS), sharex=True, sharey=True)
    for column, null in enumerate(NULLS):
        for case, colour in zip(CASES, ("#0072B2", "#D55E00"), strict=True):
            found = results[f"{case} {null}"]
            p = np.sort(found["p"])
            axes[0, column].plot(
                (np.arange(len(p)) + 0.5) / len(p), p, color=colour, label=f"{case} (KS p = {found['ks_p']:.2f})"
            )
            axes[1, column].plot(found["p"], found["analytic"], ".", markersize=3, color=colour, label=case)
        axes[0, column].set_title(f"null: {null}")
        for ax in axes[:, column]:
            ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
            ax.legend(frameon=False, loc="upper left")
            ax.set_xlim(0, 1)
            ax.set_ylim(0, 1)
        axes[0, column].set_xlabel("uniform quantile")
        axes[1, column].set_xlabel("empirical p")
    axes[0, 0].set_ylabel("empirical p, ordered")
    axes[1, 0].set_ylabel("analytic p")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Run the study."""
    parser = study_parser(__doc__, writes="docs/figures")
    parser.add_argument("--data-sets", type=int, default=500)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parse(parser)
    number, toys = (2, SMOKE_TOYS) if arguments.smoke else (arguments.data_sets, TOYS)
    results: dict[str, Any] = {}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for case in CASES:
            for null in NULLS:
                jobs = [(case, null, i, toys) for i in range(number)]
                pairs = np.array(list(pool.map(one, jobs, chunksize=5)))
                found = judge(pairs[:, 0])
                print(f"{case} {null}: {json.dumps(found)}", flush=True)
                results[f"{case} {null}"] = found | {"p": pairs[:, 0].tolist(), "analytic": pairs[:, 1].tolist()}
    arguments.output.mkdir(parents=True, exist_ok=True)
    draw(results, arguments.output / "calibration.png")
    (arguments.output / "calibration.json").write_text(
        json.dumps(
            {k: {n: x for n, x in v.items() if n not in ("p", "analytic")} for k, v in results.items()}, indent=1
        )
    )
    sys.exit(0 if arguments.smoke or all(v["passed"] for v in results.values()) else 1)


if __name__ == "__main__":
    main()
