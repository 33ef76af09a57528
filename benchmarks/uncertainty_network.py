"""The network with nuisance parameters, t = tau - Delta, beside Lanner's test on the same kind of data.

    python benchmarks/uncertainty_network.py --kept kept.json     # an hour; goes on where it was stopped

An exponential of mean 1, 2000 events expected, 200 000 reference events; scale and normalisation uncertain by 5 %. Null
toys at the central values, data with the paper's peak in the tail, and data whose normalisation is off by one
uncertainty of 15 %: what the published network (arXiv:2111.13633) was measured on. Writes docs/uncertainty-network.md.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

import lanner
from command_line import parse, study_parser
from internals import FitSettings, Network, Sample, markdown_table, one_dimensional, prepare
from kept import Kept
from lanner.comparison.tests.network.profiled import ProfiledNetwork
from lanner.inference.varied_fit import VariedFitExperiment
from lanner.inference.varied_judge import VariedJudge
from uncertain_toys import EXPECTED, Array, exact, null_data

PUBLISHED = {"peak in the tail, 5 %, at 3 sigma": "38 %", "normalisation off by 1 of 15 %": "67.6 - 55.1 = 12.5"}
CLIP = 11.55  # tuned on null toys without uncertainties (docs/baselines.md)
TOGETHER = 10  # toys trained together


@dataclass(frozen=True)
class Sizes:
    """Of a study."""

    reference: int = 200_000
    nulls: int = 300
    data_sets: int = 96


SMOKE = Sizes(20_000, 2, 2)


def trained(sizes: Sizes, size: float, data: list[Array], auxiliary: Array, nulls: int) -> list[list[float]]:
    """tau and Delta of null toys at the central values, then of data sets."""
    reference = Sample.of(np.random.default_rng([25, 0]).exponential(size=(sizes.reference, 1)))
    settings = FitSettings(seed=1, width=0.6, penalty=1e-6, centers=100, loss="extended")
    job = prepare(reference, expected=EXPECTED, settings=settings, memory="4 GB", uncertain=True)
    judge, centre = VariedJudge.of(job.plans, reference, exact(size), memory=job.memory), np.zeros(2)
    network = Network(clip=CLIP)
    found = []
    first = _only(judge, centre, data[0], auxiliary[0])
    for start in range(0, nulls, TOGETHER):
        draws = [first.scheme.toy(i) for i in range(start, min(start + TOGETHER, nulls))]
        found += np.transpose(ProfiledNetwork(network, first).statistics(draws)).tolist()
        print(f"{len(found)} of {nulls} null toys", flush=True)
    for one, known in zip(data, auxiliary, strict=True):
        experiment = _only(judge, centre, one, known)
        found += np.transpose(ProfiledNetwork(network, experiment).statistics(experiment.data_draws(1))).tolist()
    return found


def _only(judge: VariedJudge, nu: Array, data: Array, auxiliary: Array) -> VariedFitExperiment:
    experiment = judge.ladder(nu, [Sample.of(data)], auxiliary[None]).first
    assert isinstance(experiment, VariedFitExperiment)
    return experiment


def with_peak(rng: np.random.Generator) -> tuple[Array, Array]:
    """A data set with the peak in the tail, and its auxiliary measurement."""
    data, auxiliary = null_data(0.05, (0.0, 0.0), rng)
    law = one_dimensional.SIGNALS["tail"]
    peak = law.sample(int(rng.poisson(law.events)), rng) * one_dimensional.RATE
    return np.vstack([data, peak[:, None]]), auxiliary


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__, writes="docs/uncertainty-network.md", flag="--write", keeps=True)
    arguments = parse(parser)
    sizes, kept = SMOKE if arguments.smoke else Sizes(), Kept.at(arguments.kept)
    done: dict[str, list[list[float]]] = kept.found
    rng = np.random.default_rng([25, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        cases = {
            "peak": (0.05, [with_peak(rng) for _ in range(sizes.data_sets)], sizes.nulls),
            "off": (0.15, [null_data(0.15, (0.0, 1.0), rng) for _ in range(sizes.data_sets)], 0),
        }
        for name, (size, data, nulls) in cases.items():
            if name not in done:
                sets, auxiliary = zip(*data, strict=True)
                done[name] = trained(sizes, size, list(sets), np.stack(auxiliary), nulls)
                kept.save()
    tau, delta = np.array(done["peak"]).T
    null, peak = np.split(tau - delta, [sizes.nulls])
    freedom = float(np.mean(null))
    z = stats.norm.isf(stats.chi2(freedom).sf(peak))
    off_tau, off_delta = np.array(done["off"]).T.mean(axis=1)
    lines = [
        ["", "here", "published"],
        ["t of null toys, mean and spread", f"{freedom:.1f}, {null.std():.1f}", ""],
        [
            "peak in the tail, 5 %, at 3 sigma",
            f"{100 * np.mean(z >= 3):.0f} %",
            PUBLISHED["peak in the tail, 5 %, at 3 sigma"],
        ],
        ["median Z of that", f"{np.median(z):.2f}", "2.65"],
        [
            "normalisation off by 1 of 15 %: tau - Delta",
            f"{off_tau:.1f} - {off_delta:.1f} = {off_tau - off_delta:.1f}",
            PUBLISHED["normalisation off by 1 of 15 %"],
        ],
    ]
    for line in lines[1:]:
        print(*line, sep=" | ", flush=True)
    about = (
        "# The network with nuisance parameters\n\nMade by `python benchmarks/uncertainty_network.py`: an "
        f"exponential of mean 1, {EXPECTED:g} events expected, {sizes.reference} reference events, a network of one "
        "hidden layer of "
        f"four, clipped at {CLIP:g}; {sizes.nulls} null toys and {sizes.data_sets} data sets, each with its own "
        "auxiliary measurement. Z by a chi2 with the mean of the null toys, as published. What Lanner's own test finds "
        "of the same signals is in [what uncertainties cost](uncertainty-power.md).\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
