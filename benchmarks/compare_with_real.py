"""Do the generated events look like real and published ones? Each variable drawn over the real rows.

    python benchmarks/compare_with_real.py --cms cms_zmumu_2011.csv --higgs uci_higgs_11k.csv

`--cms` is a CSV of Z candidates (CERN Open Data: pt1, eta1, phi1, Q1, and the same for muon 2), `--higgs` rows of the
UCI HIGGS set with a header and `label` last. The figures go to docs/figures.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lanner.experiments import dimuon, higgs
from lanner.show.style import BLACK, VERMILION, hep_style

Columns = dict[str, Any]


def cms_candidates(path: Path) -> Columns:
    """Opposite-sign pairs with pT > 20 GeV and |eta| < 2.1 around the Z, the harder muon first."""
    d = np.genfromtxt(path, delimiter=",", names=True)
    keep = d["Q1"] * d["Q2"] < 0
    for i in ("1", "2"):
        keep &= (d[f"pt{i}"] > 20) & (np.abs(d[f"eta{i}"]) < 2.1)
    d = d[keep]
    first = d["pt1"] >= d["pt2"]
    pick = {n: np.where(first, d[f"{n}1"], d[f"{n}2"]) for n in ("pt", "eta", "phi")}
    other = {n: np.where(first, d[f"{n}2"], d[f"{n}1"]) for n in ("pt", "eta", "phi")}
    columns = {"pt1": pick["pt"], "pt2": other["pt"], "eta1": pick["eta"], "eta2": other["eta"]}
    columns["delta_phi"] = np.mod(pick["phi"] - other["phi"], 2 * np.pi)
    columns["mll"] = dimuon.invariant_mass(**columns)
    return columns


def around_the_z(columns: Columns) -> Columns:
    """60 to 120 GeV."""
    keep = (columns["mll"] > 60) & (columns["mll"] < 120)
    return {name: column[keep] for name, column in columns.items()}


def draw(pairs: list[tuple[str, Any, Any]], names: tuple[str, str], path: Path, *, columns: int) -> None:
    """Each variable of the generated events (line) over the real ones (points)."""
    from matplotlib.figure import Figure

    lines = math.ceil(len(pairs) / columns)
    with hep_style():
        figure = Figure(figsize=(2.6 * columns, 2.1 * lines), layout="constrained")
        for ax, (title, real, made) in zip(figure.subplots(lines, columns).ravel(), pairs, strict=False):
            low, high = np.quantile(real, (0.001, 0.995))
            edges = np.linspace(low, high + 1e-9, 36)
            counts = np.histogram(real, edges)[0]
            expected = np.histogram(made, edges)[0] * len(real) / len(made)
            middle = 0.5 * (edges[1:] + edges[:-1])
            ax.errorbar(middle, counts, np.sqrt(counts), fmt=".", color=BLACK, markersize=3, linewidth=0.8)
            ax.stairs(expected, edges, color=VERMILION, linewidth=1.2)
            # Rounded, so that values which differ in their last printed digit alone (b tags) count as the same.
            distance = stats.ks_2samp(np.round(real, 2), np.round(made, 2)).statistic
            ax.set_title(f"{title}   (KS {distance:.3f})", fontsize=8)
            ax.tick_params(labelsize=7)
            ax.set_ylim(bottom=0)
        figure.suptitle(f"points: {names[0]}   line: {names[1]}", fontsize=10)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=100)
    print(path)


def main() -> None:
    """Draw what files were given for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cms", type=Path)
    parser.add_argument("--higgs", type=Path)
    parser.add_argument("--output", type=Path, default=Path("docs/figures"))
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.cms:
        cuts = dimuon.Cuts(mass=60.0)
        made = dimuon.sample("background", 40_000, seed=1, processes=arguments.processes, cuts=cuts, energy=7000.0)
        real, made = around_the_z(cms_candidates(arguments.cms)), around_the_z(made)
        pairs = [(name, real[name], made[name]) for name in (*dimuon.LOW_LEVEL, *dimuon.HIGH_LEVEL)]
        draw(pairs, ("CMS 2011, 7 TeV", "generated"), arguments.output / "cms_z.png", columns=3)
    if arguments.higgs:
        rows = np.genfromtxt(arguments.higgs, delimiter=",", names=True)
        pairs = []
        for label, name in ((0, "background"), (1, "heavy-higgs")):
            events = higgs.sample(name, 8000, seed=1, processes=arguments.processes)
            chosen = rows[rows["label"] == label]
            pairs += [
                (f"{'sig' if label else 'bkg'} {column}", chosen[column], events[column])
                for column in (*higgs.LOW_LEVEL, *higgs.HIGH_LEVEL)
            ]
        draw(pairs, ("UCI HIGGS rows", "generated"), arguments.output / "higgs_features.png", columns=7)


if __name__ == "__main__":
    main()
