"""Are combined p-values uniform? Independent null data sets, each with its own reference, scales and null toys.

    python benchmarks/scales_study.py                      # the whole study, written to docs/figures
    python benchmarks/scales_study.py --data-sets 40       # a quick look
    python benchmarks/scales_study.py --kept kept.json     # an hour; goes on where it was stopped

`search` as it is by default (several scales, harmonic mean), with every other combination, with the likelihood
ratio at four widths, and with toys made until the p-value is known. p-values of toys are discrete; each is spread
evenly over the step that it stands for. Seeds are fixed beforehand: data set i has seed i.

Twenty reference events for each expected one are the fewest for which `search` draws toys from the reference alone;
the mode "permutation" is what it does with fewer.
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

import lanner
from calibration_study import hash_of, judge, make_events
from command_line import parse, study_parser
from internals import hep_style
from kept import Kept

SIZES = {"1-D": (200, 4000), "5-D": (200, 4000)}  # expected, reference
TOYS = 298  # 99 freeze the maps, 199 are counted: p is a multiple of 1/200
MODES: dict[str, dict[str, Any]] = {
    "default": {"toys": TOYS},
    "permutation": {"toys": TOYS, "null": "permutation"},
    "smallest": {"toys": TOYS, "combination": "smallest"},
    "product": {"toys": TOYS, "combination": "product"},
    "average": {"toys": TOYS, "combination": "average"},
    "likelihood ratio": {"toys": TOYS, "statistic": "likelihood-ratio"},
    "until 2.5 sigma": {"until_z": 2.5},
}
SMOKE = {"toys": 150, "until_z": 0.5}  # in their place
LEVELS = (0.05, 0.01)


def one(job: tuple[str, str, int, bool]) -> float:
    """The p-value of one null data set, spread over its step."""
    case, mode, seed, smoke = job
    expected, size = SIZES[case]
    rng = np.random.default_rng([hash_of(case), hash_of(mode), seed])
    reference, data = make_events(case, size, rng), make_events(case, int(rng.poisson(expected)), rng)
    options = {name: SMOKE.get(name, value) if smoke else value for name, value in MODES[mode].items()}
    result = lanner.search(reference, data, expected=expected, centers=300, seed=seed, memory="1 GB", **options)
    p = result.empirical
    return float(rng.uniform(p.exceedances / (p.toys + 1), p.p_value))  # from the next smaller p, sequential or not


def draw(panels: dict[str, list[str]], results: dict[str, Any], path: Path) -> None:
    """Ordered p-values against uniform ones; a panel for each group of results."""
    from matplotlib.figure import Figure

    with hep_style():
        figure = Figure(figsize=(5.5 * len(panels), 5), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(panels), sharey=True))
        for ax, (title, names) in zip(axes, panels.items(), strict=True):
            for k, name in enumerate(names):
                p = np.sort(results[name]["p"])
                quantiles = (np.arange(len(p)) + 0.5) / len(p)
                label = f"{name.removeprefix(title).strip()} (KS p = {results[name]['ks_p']:.2f})"
                ax.plot(quantiles, p, linewidth=1.2, linestyle="-" if k < 6 else "--", label=label)
            ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
            ax.legend(loc="upper left", fontsize=8)
            ax.set_title(title)
            ax.set_xlabel("uniform quantile")
            ax.set_ylabel("p-value, ordered")
            ax.set_xlim(0, 1)
            ax.set_ylim(0, 1)
        figure.savefig(path, dpi=110)


def main() -> None:
    """Run the study."""
    parser = study_parser(__doc__, writes="docs/figures", keeps=True)
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", choices=list(MODES), help="Some modes only; several times.")
    arguments = parse(parser)
    number = 1 if arguments.smoke else arguments.data_sets
    kept = Kept.at(arguments.kept)
    results: dict[str, Any] = kept.found
    with ProcessPoolExecutor(arguments.processes) as pool:
        for case in SIZES:
            for mode in arguments.only or MODES:
                if len(results.get(f"{case} {mode}", {"p": ()})["p"]) == number:
                    continue
                jobs = [(case, mode, i, arguments.smoke) for i in range(number)]
                p = list(pool.map(one, jobs, chunksize=5))
                found = judge(p, LEVELS)
                print(f"{case} {mode}: {json.dumps(found)}", flush=True)
                results[f"{case} {mode}"] = found | {"p": p}
                kept.save()
    arguments.output.mkdir(parents=True, exist_ok=True)
    panels = {case: [name for name in results if name.startswith(case)] for case in SIZES}
    draw(panels, results, arguments.output / "calibration_scales.png")
    (arguments.output / "calibration_scales.json").write_text(
        json.dumps({k: {n: x for n, x in v.items() if n != "p"} for k, v in results.items()}, indent=1)
    )
    sys.exit(0 if arguments.smoke or all(v["passed"] for v in results.values()) else 1)


if __name__ == "__main__":
    main()
