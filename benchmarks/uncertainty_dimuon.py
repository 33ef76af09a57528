"""Dimuons with the published uncertainties: does the level hold, and what is left of a Z' of 300 GeV?

    python benchmarks/uncertainty_dimuon.py --folder FOLDER     # hours, of which Pythia takes one; goes on

N(0) = 20 000 events of Drell-Yan above 100 GeV, a reference of 400 000; the normalisation is known to 2.5 % and the
momentum scale of muons to 0.3 % in |eta| < 1.2 and 0.9 % beyond, one nuisance parameter. Cuts are applied after the
shift. Data are drawn from events that are not in the reference, at true nuisances 0, +1 and -1 of both, each with an
auxiliary measurement of its own; toys are those of `calibrate`. Beside stands what the same data give where nobody
tells of the uncertainties. Writes docs/uncertainty-dimuon.md.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import lanner
from command_line import parse, study_parser
from internals import FitSettings, Sample, experiment_module, markdown_table, prepare, write_atomically
from lanner.uncertainties.learn import Learned, learn
from uncertain_toys import Array, CalibratedReference, UncertainReference
from uniform import LEVELS, Share

FEATURES = ("pt1", "pt2", "eta1", "eta2", "delta_phi")
NORMALISATION, BARREL, ENDCAP = 0.025, 0.003, 0.009
BEYOND = 1.2  # |eta| of the barrel's end
LOOSE = {"pt": 19.5, "mass": 98.5}  # what a shift of two uncertainties can bring above the cuts
SIGNAL, SIGNAL_EVENTS = "zprime-300", 40.0
POINTS = (0.0, 1.0, -1.0)  # of both nuisances
CHUNK = 20_000  # events that are generated together
TOGETHER = 20  # data sets judged together


@dataclass(frozen=True)
class Sizes:
    """Of a study."""

    expected: float = 20_000.0
    reference: int = 400_000
    pool: int = 800_000  # events of which data are drawn
    signal_pool: int = 20_000
    data_sets: int = 200
    toys: int = 3000


SMOKE = Sizes(150.0, 12_000, 4000, 400, 2, 60)


def events(name: str, number: int, folder: Path, *, processes: int) -> dict[str, Array]:
    """Events within the loose cuts, chunk by chunk in a folder, so that a run goes on where it was stopped."""
    dimuon = experiment_module("dimuon")
    parts, found, k = [], 0, 0
    while found < number:
        path = folder / f"{name}-{k:04d}.npz"
        if not path.exists():
            cuts = dimuon.Cuts(**LOOSE)
            made = dimuon.sample(name, min(CHUNK, number - found), cuts=cuts, seed=1000 + k, processes=processes)
            folder.mkdir(parents=True, exist_ok=True)
            np.savez(folder / "part.npz", **{column: made[column] for column in FEATURES})
            (folder / "part.npz").rename(path)
            print(f"{name}: {k + 1} chunks of {number} events", flush=True)
        with np.load(path) as kept:
            parts.append({column: kept[column] for column in FEATURES})
        found, k = found + len(parts[-1]["pt1"]), k + 1
    return {column: np.concatenate([part[column] for part in parts])[:number] for column in FEATURES}


def shifted(columns: dict[str, Array], nu: float) -> Array:
    """Features of the events that pass the cuts after the momenta are scaled by nu uncertainties."""
    pt, eta = (np.stack([columns[f"{what}{k}"] for k in (1, 2)]) for what in ("pt", "eta"))
    pt = pt * (1 + nu * np.where(np.abs(eta) < BEYOND, BARREL, ENDCAP))
    delta_phi, turned = columns["delta_phi"], pt[1] > pt[0]
    mass = np.sqrt(2 * pt[0] * pt[1] * (np.cosh(eta[0] - eta[1]) - np.cos(delta_phi)))
    pt, eta = (np.where(turned, both[::-1], both) for both in (pt, eta))
    delta_phi = np.where(turned, 2 * np.pi - delta_phi, delta_phi)
    cuts = experiment_module("dimuon").CUTS
    kept = (pt[1] > cuts.pt) & (np.abs(eta).max(axis=0) < cuts.eta) & (mass > cuts.mass)
    return np.asarray(np.column_stack([*pt, *eta, delta_phi])[kept], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Study:
    """The reference with its uncertainties, calibrated with them and without, and what data are drawn from."""

    sizes: Sizes
    calibrated: CalibratedReference
    plain: lanner.Calibration
    pool: dict[str, Array]
    signal: Array
    closures: Learned

    @classmethod
    def of(cls, sizes: Sizes, folder: Path, processes: int, kept: str) -> Study:
        """Generate or read events, learn the momentum scale and make toys."""
        every = events("background", sizes.reference + sizes.pool, folder, processes=processes)
        own, pool = ({name: x[part] for name, x in every.items()} for part in _halves(sizes.reference))
        nominal, up, down = (shifted(own, nu) for nu in (0.0, 1.0, -1.0))
        sample = Sample(nominal, FEATURES)
        fit = FitSettings(seed=1)
        job = prepare(sample, expected=sizes.expected, settings=fit, memory="4 GB", uncertain=True)
        uncertainties: list[lanner.Normalisation | lanner.Shifted] = [
            lanner.Normalisation("normalisation", NORMALISATION),
            lanner.Shifted("momentum scale", Sample(up, FEATURES), Sample(down, FEATURES)),
        ]
        learned = learn(uncertainties, sample, expected=sizes.expected, scaling=job.plans[0].units, seed=1)
        print(*learned.closures, sep="\n", flush=True)
        uncertain = UncertainReference.of(sample, learned.nuisances, seed=1, expected=sizes.expected)
        plain = lanner.calibrate(sample, expected=sizes.expected, output=kept, toys=sizes.toys, seed=1, progress=False)
        signal = events(SIGNAL, sizes.signal_pool, folder, processes=processes)
        return cls(sizes, uncertain.calibrated(sizes.toys), plain, pool, shifted(signal, 0.0), learned)

    def significances(self, nu: float, signal_events: float) -> list[list[float]]:
        """Z with uncertainties and without of data at true nuisances, both nu, with a signal or without."""
        sizes, found = self.sizes, []
        there, nominal = shifted(self.pool, nu), len(shifted(self.pool, 0.0))
        mean = sizes.expected * len(there) / nominal * np.exp(nu * NORMALISATION)
        rng = np.random.default_rng([24, round(10 * nu) % 1000, round(signal_events)])
        for first in range(0, sizes.data_sets, TOGETHER):
            data = []
            for _ in range(min(TOGETHER, sizes.data_sets - first)):
                drawn = there[rng.choice(len(there), int(rng.poisson(mean)), replace=False)]
                added = self.signal[rng.choice(len(self.signal), int(rng.poisson(signal_events)), replace=False)]
                data.append(np.vstack([drawn, added]))
            z = self.calibrated.significances(data, rng.normal(nu, 1.0, (len(data), 2)))
            names = [dict(zip(FEATURES, one.T, strict=True)) for one in data]
            found += [[float(a), lanner.apply(self.plain, b).z_score] for a, b in zip(z, names, strict=True)]
        return found


def _halves(first: int) -> tuple[slice, slice]:
    return slice(0, first), slice(first, None)


def row(name: str, z: list[list[float]]) -> list[str]:
    """How often p is small with the uncertainties and without, and the medians of Z."""
    with_them, without = np.array(z).T
    told, untold = (stats.norm.sf(x) for x in (with_them, without))
    cells = [f"{Share.of(told, level)}; untold {100 * np.mean(untold <= level):.1f}" for level in LEVELS]
    return [name, str(len(z)), *cells, f"{np.nanmedian(with_them):.2f}", f"{np.median(without):.2f}"]


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__, writes="docs/uncertainty-dimuon.md", flag="--write")
    parser.add_argument("--folder", type=Path, required=True, help="Where events and results are kept.")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="Of Pythia.")
    arguments = parse(parser)
    sizes, kept = SMOKE if arguments.smoke else Sizes(), arguments.folder / "results.json"
    done: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    cases = {f"no signal, nu = {nu:+g}": (nu, 0.0) for nu in POINTS} | {"Z' of 300 GeV, nu = 0": (0.0, SIGNAL_EVENTS)}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        study = None
        for name, (nu, signal_events) in cases.items():
            if name not in done:
                study = study or Study.of(sizes, arguments.folder, arguments.processes, folder)
                done[name] = study.significances(nu, signal_events)
                write_atomically(kept, json.dumps(done).encode())
            print(*row(name, done[name]), sep=" | ", flush=True)
    lines = [["data", "data sets", *(f"p ≤ {level:g} (%)" for level in LEVELS), "median Z", "median Z untold"]]
    lines += [row(name, done[name]) for name in cases]
    about = (
        "# Dimuons with uncertainties\n\nMade by `python benchmarks/uncertainty_dimuon.py`: "
        f"{sizes.expected:g} events of Drell-Yan above 100 GeV expected, {sizes.reference} reference events of Pythia; "
        "the normalisation is known to 2.5 %, the momentum scale to 0.3 % in |eta| < 1.2 and 0.9 % beyond, cuts after "
        "the shift. Data come from other events, at true values nu of both nuisances, each with its own auxiliary "
        f"measurement; {sizes.toys} toys at each point of a fixed design, of which a third make the scales comparable. "
        'In brackets the 99.99 % interval of what chance allows; "untold": the same data where the reference is taken '
        "as exact.\n\n"
    )
    arguments.output.write_text(about + markdown_table(lines) + "\n")


if __name__ == "__main__":
    main()
