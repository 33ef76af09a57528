"""Several simulated samples with weights of either sign: what they expect, and what is found with them.

    nice python benchmarks/simulated_samples.py --kept kept.json        # half an hour; goes on where it was stopped
    nice python benchmarks/simulated_samples.py --only numpy

Three processes with cross-sections, a fifth of the weights negative, written to files and read back through an analysis
file: events of closed laws (numpy), and of Pythia, Drell-Yan and two Z' (pythia). Of 200 repetitions, each with samples
of its own, the pull of the events expected after the selection, by two ways to say what was generated.

signal: a bump beside the mixture, found with the weighted reference and with events of the mixture without weights, as
many as the weighted ones are worth: the median Z of the same data sets. Writes docs/simulated-samples.md.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import lanner
from command_line import parse, study_parser
from internals import experiment_module, markdown_table, write_columns
from kept import Kept

Array = NDArray[np.float64]
Events = dict[str, Array]
Make = Callable[[str, int, np.random.Generator], Events]
NEGATIVE = 0.2
# Of each process: cross-section (pb) and how many events are simulated on average.
PROCESSES = {"light": (0.60, 4000), "heavy": (0.25, 3000), "rare": (0.02, 2000)}
PYTHIA = {"background": (0.60, 4000), "zprime-300": (0.02, 2000), "zprime-600": (0.01, 2000)}
POOL = 1500  # events of each that Pythia makes, of which the samples are drawn
REPETITIONS = 200
EXPECTED, SIGNAL = 300, 12  # events of data, and of the signal in them
TOYS, DATA_SETS, REFERENCES = 1000, 60, 4


def closed_law(process: str, n: int, rng: np.random.Generator) -> Events:
    """Events of laws that are known."""
    scale = {"light": 1.0, "heavy": 2.0, "rare": 0.5}[process]
    centre = {"light": 0.0, "heavy": 0.5, "rare": 2.0}[process]
    return {"x": rng.exponential(scale, n), "y": rng.normal(centre, 1.0, n)}


def pythia_pools(size: int) -> dict[str, Events]:
    """Events of Pythia with their mass, made once."""
    dimuon = experiment_module("dimuon")
    made = {name: dimuon.sample(name, size, seed=50 + k) for k, name in enumerate(PYTHIA)}
    return {name: {"x": events["mll"] / 100, "y": events["eta1"]} for name, events in made.items()}


def from_pools(pools: Mapping[str, Events]) -> Make:
    """Samples drawn from pools."""

    def make(process: str, n: int, rng: np.random.Generator) -> Events:
        rows = rng.integers(0, len(pools[process]["x"]), n)
        return {name: column[rows] for name, column in pools[process].items()}

    return make


def weighted(make: Make, process: str, n: int, rng: np.random.Generator) -> Events:
    """Events with a generator weight of either sign and a second weight about 1."""
    events = make(process, n, rng)
    sign = np.where(rng.random(n) < NEGATIVE, -1.0, 1.0)
    return {**events, "generator": 7.0 * sign, "pileup": rng.uniform(0.8, 1.2, n)}


def accepted(make: Make, process: str, cut: float) -> float:
    """The part of a process that is selected, of so many events that its error does not matter."""
    x = make(process, 2_000_000, np.random.default_rng(1))["x"]
    return float(np.mean(x > cut))


def analysis_of(folder: Path, made: Mapping[str, Events], sections: Mapping[str, float], sums: Any, cut: float) -> Any:
    """An analysis file over samples that are written already, read."""
    lines = ["luminosity: 1.0", "samples:"]
    for name in made:
        lines += [
            f"  {name}:",
            f"    files: {name}.parquet",
            f"    cross_section: {sections[name]!r}",
            "    weights: [generator, pileup]",
            f"    sum_of_weights: {sums[name] if isinstance(sums, dict) else sums}",
        ]
    lines += ["features: [x, y]", f"selection: x > {cut}"]
    (folder / "analysis.yaml").write_text("\n".join(lines) + "\n")
    return lanner.read_analysis(folder / "analysis.yaml")


def pulls(make: Make, processes: Mapping[str, tuple[float, int]], cut: float, repetitions: int) -> dict[str, Any]:
    """Mean and width of (expected - truth) / error, where the sum is that of the files, or known beforehand."""
    parts = {name: accepted(make, name, cut) for name in processes}
    truth = sum(1000 * section * parts[name] for name, (section, _) in processes.items())
    sections = {name: section for name, (section, _) in processes.items()}
    generated = {name: 7.0 * (1 - 2 * NEGATIVE) * size for name, (_, size) in processes.items()}
    found: dict[str, list[float]] = {"known": [], "of the files": []}
    with tempfile.TemporaryDirectory() as folder:
        for k in range(repetitions):
            rng = np.random.default_rng([k, 3])
            sizes = {name: int(rng.poisson(size)) for name, (_, size) in processes.items()}
            made = {name: weighted(make, name, n, rng) for name, n in sizes.items()}
            # A known sum below that of the files would be refused as a contradiction, which of numbers that fluctuate
            # it is not: both sum and cross-section are scaled, and what is expected is the same.
            for name, events in made.items():
                write_columns(Path(folder, f"{name}.parquet"), events)
            sums = {name: max(generated[name], float(made[name]["generator"].sum())) for name in made}
            scaled = {name: section * sums[name] / generated[name] for name, section in sections.items()}
            for way in found:
                known = way == "known"
                analysis = analysis_of(
                    Path(folder), made, scaled if known else sections, sums if known else "generator", cut
                )
                weights = analysis.reference.sample.weights
                found[way].append((float(weights.sum()) - truth) / float(np.sqrt((weights**2).sum())))
    return {way: [float(np.mean(each)), float(np.std(each, ddof=1))] for way, each in found.items()}


def mixture(n: int, rng: np.random.Generator) -> Array:
    """Events of the mixture that the weights stand for, without weights."""
    shares = np.array([section for section, _ in PROCESSES.values()])
    numbers = rng.multinomial(n, shares / shares.sum())
    made = [closed_law(name, int(k), rng) for name, k in zip(PROCESSES, numbers, strict=True)]
    return np.concatenate([np.column_stack([events["x"], events["y"]]) for events in made])


def data_sets(number: int, signal: float) -> list[Array]:
    """Data of the true mixture, with a bump on top."""
    made = []
    for k in range(number):
        rng = np.random.default_rng([k, 5])
        n = int(rng.poisson(signal))
        bump = np.column_stack([rng.normal(4.0, 0.2, n), rng.normal(0.0, 0.3, n)])
        made.append(np.concatenate([mixture(int(rng.poisson(EXPECTED)), rng), bump]))
    return made


def found_with(reference: lanner.Sample, data: list[Array], toys: int, seed: int) -> list[float]:
    """Z of each data set, by toys of a reference."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        made = lanner.calibrate(reference, expected=EXPECTED, output=folder, toys=toys, seed=seed, progress=False)
        return [lanner.apply(made, each).z_score for each in data]


def compared(seed: int, toys: int, data: list[Array], scale: float) -> dict[str, float]:
    """The median Z with a weighted reference, and with one without weights that is worth as much."""
    rng = np.random.default_rng([seed, 7])
    parts, weights = [], []
    for name, (section, size) in PROCESSES.items():
        events = weighted(closed_law, name, round(scale * size), rng)
        w = events["generator"] * events["pileup"]
        parts.append(np.column_stack([events["x"], events["y"]]))
        weights.append(w * (section / events["generator"].sum()))
    reference = lanner.Sample(np.concatenate(parts), ("x", "y"), np.concatenate(weights))
    plain = lanner.Sample(mixture(round(reference.worth), rng), ("x", "y"))
    both = {"weighted": reference, "unweighted": plain}
    found = {name: float(np.median(found_with(each, data, toys, seed))) for name, each in both.items()}
    return {**found, "worth": reference.worth}


def page(kept: Kept) -> str:
    """What was found, as a page."""
    rows = [
        (f"{case}, x > {cut}", way, f"{mean:+.2f}", f"{width:.2f}")
        for case in ("numpy", "pythia")
        for cut, ways in kept.found.get(case, {}).items()
        for way, (mean, width) in ways.items()
    ]
    lines = [
        "# Simulated samples with weights of either sign",
        "",
        "Made by `python benchmarks/simulated_samples.py`: three processes with cross-sections, a fifth of the weights "
        "negative, through an [analysis file](analysis.md).",
        "",
        "## What is expected",
        "",
        f"The pull of the events expected, (expected - truth) / error, over {REPETITIONS} repetitions with samples of "
        "their own. Where the sum of weights generated is known, the error is that of the selected weights. Where it "
        "is taken from the files, a part of their fluctuation cancels, the more the looser the selection is, and the "
        "error that is shown is too large rather than too small.",
        "",
        markdown_table([("events", "sum of weights", "mean", "width"), *rows]),
    ]
    found = kept.found.get("signal", {})
    if found:
        rows_z = [
            (name, f"{one['worth']:.0f}", f"{one['weighted']:.2f}", f"{one['unweighted']:.2f}")
            for name, one in found.items()
        ]
        difference = [one["weighted"] - one["unweighted"] for one in found.values()]
        lines += [
            "",
            "## What is found",
            "",
            f"{EXPECTED} events expected and {SIGNAL} of a bump, {DATA_SETS} data sets of the true mixture, {TOYS} "
            "toys: the median Z with references of which a fifth of the weights is negative, and with references "
            "without weights that are worth as much.",
            "",
            markdown_table([("reference", "worth", "Z, weighted", "Z, unweighted"), *rows_z]),
        ]
        if len(difference) > 1:
            error = np.std(difference, ddof=1) / len(difference) ** 0.5
            lines += ["", f"On average they differ by {np.mean(difference):+.2f} ± {error:.2f}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is not kept yet, and write the page."""
    parser = study_parser(__doc__, writes="docs/simulated-samples.md", flag="--write", keeps=True)
    parser.add_argument("--only", choices=["numpy", "pythia", "signal"], help="One part alone.")
    arguments = parse(parser)
    repetitions = 6 if arguments.smoke else REPETITIONS
    kept = Kept.at(arguments.kept, repetitions=repetitions)
    wanted = [arguments.only] if arguments.only else ["numpy", "pythia", "signal"]
    if "numpy" in wanted:
        found = kept.found.setdefault("numpy", {})
        for cut in (0.2, 1.5):
            if str(cut) not in found:
                found[str(cut)] = pulls(closed_law, PROCESSES, cut, repetitions)
                print("numpy", cut, found[str(cut)], flush=True)
                kept.save()
    if "pythia" in wanted:
        found = kept.found.setdefault("pythia", {})
        if "2.0" not in found:
            make = from_pools(pythia_pools(60 if arguments.smoke else POOL))
            found["2.0"] = pulls(make, PYTHIA, 2.0, repetitions)
            print("pythia", found["2.0"], flush=True)
            kept.save()
    if "signal" in wanted:
        found = kept.found.setdefault("signal", {})
        toys, sets, references = (150, 4, 1) if arguments.smoke else (TOYS, DATA_SETS, REFERENCES)
        data = data_sets(sets, SIGNAL)
        for seed in range(references):
            if f"{seed + 1}" not in found:
                found[f"{seed + 1}"] = compared(seed, toys, data, 4.0)
                print("signal", seed, found[f"{seed + 1}"], flush=True)
                kept.save()
    arguments.output.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
