"""Files as experiments have them: how much memory they take, and whether features are what awkward makes by hand.

    nice python benchmarks/files_as_they_are.py                              # minutes
    nice python benchmarks/files_as_they_are.py --cms cms_zee_2011.csv       # with a file of measured events

nanoaod: events with jagged muons and jets, as a TTree and as an RNTuple, through an analysis file with three formulas,
a selection and a weight, each in a process of its own, whose largest memory is told; then the same by hand.
cms: a file of measured events as it is, halves at random as reference and data, `lanner search` with nothing but
`--expected`: which columns were tested, what was left out, and the largest memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from command_line import study_parser

EVENTS, CHUNK = 1_000_000, 100_000
ANALYSIS = """\
samples:
  mc: {files: "FILE", weights: genWeight}
features:
  lead: Muon_pt[0]
  ht: sum(Jet_pt[Jet_pt > 30 && abs(Jet_eta) < 2.4])
  mt: sqrt(2 * Muon_pt[0] * MET_pt * (1 - cos(Muon_phi[0])))
selection: count(Muon_pt) >= 1 && any(Jet_pt > 30)
"""
FOLLOW = """\
import sys, numpy as np, lanner
reference = lanner.read_analysis(sys.argv[1]).reference.sample
np.savez(sys.argv[2], features=np.asarray(reference.features), weights=reference.weights)
"""


def columns_of(events: int, seed: int) -> dict[str, Any]:
    """Muons and jets, any number of each, and what an event has once."""
    import awkward as ak

    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {
        "MET_pt": rng.exponential(30, events).astype(np.float32),
        "genWeight": 2.5 * np.where(rng.random(events) < 0.2, -1.0, 1.0),
    }
    for name, mean in (("Muon", 1.2), ("Jet", 3.0)):
        counts = rng.poisson(mean, events)
        n = int(counts.sum())
        for field, values in (
            ("pt", rng.exponential(30, n)),
            ("eta", rng.normal(0, 1.5, n)),
            ("phi", rng.uniform(-np.pi, np.pi, n)),
        ):
            made[f"{name}_{field}"] = ak.unflatten(values.astype(np.float32), counts)
    return made


def write(path: Path, kind: str, events: int) -> None:
    """A file of so many events, written in parts."""
    import awkward as ak
    import uproot

    parts = [(k, min(CHUNK, events - k)) for k in range(0, events, CHUNK)]
    with uproot.recreate(path) as file:
        for k, n in parts:
            columns = columns_of(n, k)
            if kind == "RNTuple":
                record = ak.Array(columns)
                if k == 0:
                    file.mkrntuple("Events", record)
                else:
                    file["Events"].extend(record)
            elif k == 0:
                file.mktree("Events", {name: ak.type(column).content for name, column in columns.items()})
                file["Events"].extend(columns)
            else:
                file["Events"].extend(columns)


def by_hand(path: Path) -> tuple[Any, Any]:
    """The features and weights that awkward makes, read as a whole."""
    import awkward as ak
    import uproot

    with uproot.open(path) as file:
        names = ["Muon_pt", "Muon_phi", "Jet_pt", "Jet_eta", "MET_pt", "genWeight"]
        events = file["Events"].arrays(names)
    muon, phi, jet, eta, met = (ak.values_astype(events[name], np.float64) for name in names[:5])
    kept = (ak.num(muon) >= 1) & ak.any(jet > 30, axis=1)
    lead, first = ak.firsts(muon), ak.firsts(phi)
    ht = ak.sum(jet[(jet > 30) & (abs(eta) < 2.4)], axis=1)
    mt = np.sqrt(2 * lead * met * (1 - np.cos(first)))
    table = np.column_stack([ak.to_numpy(column[kept]) for column in (lead, ht, mt)])
    return table, ak.to_numpy(events.genWeight[kept])


def peak_of(command: list[str]) -> tuple[float, float, str]:
    """The largest memory of a process in MB, its duration in seconds, and what it said."""
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{text}")
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_maxrss * unit / 1e6, time.perf_counter() - start, text


def nanoaod(events: int) -> bool:
    """Both kinds of files; whether all features are equal to the last digit."""
    equal = True
    for kind in ("TTree", "RNTuple"):
        with tempfile.TemporaryDirectory() as folder:
            file, found = Path(folder, "mc.root"), Path(folder, "found.npz")
            subprocess.run([sys.executable, __file__, "--make", str(file), kind, str(events)], check=True)
            Path(folder, "analysis.yaml").write_text(ANALYSIS.replace("FILE", f"{file}:Events"))
            peak, seconds, _ = peak_of([sys.executable, "-c", FOLLOW, str(Path(folder, "analysis.yaml")), str(found)])
            table, weights = by_hand(file)
            with np.load(found) as read:
                same = bool(np.array_equal(read["features"], table) and np.array_equal(read["weights"], weights))
            size = file.stat().st_size / 1e6
        equal = equal and same
        print(
            f"{kind}: {events} events, {size:.0f} MB, {len(table)} selected; {seconds:.1f} s, {peak:.0f} MB at most; "
            f"{'equal to the last digit' if same else 'NOT EQUAL'} to awkward by hand",
            flush=True,
        )
    return equal


def cms(file: Path) -> None:
    """Halves of a file at random, one as the reference of the other."""
    header, *lines = file.read_text().splitlines()
    order = np.random.default_rng(1).permutation(len(lines))
    with tempfile.TemporaryDirectory() as folder:
        halves = np.array_split(order, 2)
        for name, rows in zip(("reference", "data"), halves, strict=True):
            text = "\n".join([header, *(lines[k] for k in rows)]) + "\n"
            Path(folder, f"{name}.csv").write_text(text)
        given = [f"--{name}={Path(folder, name)}.csv" for name in ("reference", "data")]
        command = [sys.executable, "-m", "lanner", "search", *given, "--expected", str(len(halves[0]))]
        peak, seconds, said = peak_of([*command, "--output", str(Path(folder, "out"))])
    print(said.replace(folder, ""))
    print(f"{file.name}: {len(lines)} events; {seconds:.0f} s, {peak:.0f} MB at most")


def main() -> None:
    """Measure and print."""
    parser = study_parser(__doc__)
    parser.add_argument("--cms", type=Path, help="A file of measured events, in CSV.")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        write(Path(arguments.make[0]), arguments.make[1], int(arguments.make[2]))
        return
    if not nanoaod(3000 if arguments.smoke else EVENTS):
        raise SystemExit("features differ from those made by hand")
    if arguments.cms is not None:
        cms(arguments.cms)


if __name__ == "__main__":
    main()
