"""Do the generated events look like real and published ones? Each variable drawn over the real rows, and how well a
classifier tells signal from background.

    python benchmarks/compare_with_real.py --cms cms_zmumu_2011.csv --higgs uci_higgs_11k.csv

`--cms` is a CSV of Z candidates (CERN Open Data: pt1, eta1, phi1, Q1, and the same for muon 2), `--higgs` rows of the
UCI HIGGS set with a header and `label` last. The figures go to docs/figures; the areas under the ROC curve are printed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from command_line import parse, study_parser
from internals import BLACK, VERMILION, hep_style
from lanner.paper.datasets import dimuon, higgs, susy
from lanner.paper.datasets.library import Library

Columns = dict[str, Any]
Z_EVENTS, EVENTS, SMOKE_EVENTS, SMOKE_PANELS = 40_000, 20_000, 40, 3


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


def auc(background: Any, signal: Any, training: int = 10_000) -> float:
    """Area under the ROC curve of gradient-boosted trees, trained on at most half of the rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    rows, labels = np.vstack([background, signal]), np.repeat([0, 1], [len(background), len(signal)])
    order = np.random.default_rng(1).permutation(len(rows))
    training = min(training, len(rows) // 2)
    learn, judge = order[:training], order[training:]
    model = HistGradientBoostingClassifier(random_state=0).fit(rows[learn], labels[learn])
    return float(roc_auc_score(labels[judge], model.predict_proba(rows[judge])[:, 1]))


def table(columns: Columns, names: tuple[str, ...]) -> Any:
    """Some columns side by side."""
    return np.column_stack([columns[name] for name in names])


def main() -> None:
    """Draw what files were given for."""
    parser = study_parser(__doc__, writes="docs/figures")
    parser.add_argument("--cms", type=Path)
    parser.add_argument("--higgs", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parse(parser)
    events = SMOKE_EVENTS if arguments.smoke else EVENTS
    if arguments.cms:
        cuts = dimuon.Cuts(mass=60.0)
        number = SMOKE_EVENTS if arguments.smoke else Z_EVENTS
        muons = dimuon.sample("background", number, seed=1, processes=arguments.processes, cuts=cuts, energy=7000.0)
        seen, muons = around_the_z(cms_candidates(arguments.cms)), around_the_z(muons)
        pairs = [(name, seen[name], muons[name]) for name in (*dimuon.LOW_LEVEL, *dimuon.HIGH_LEVEL)]
        draw(pairs, ("CMS 2011, 7 TeV", "generated"), arguments.output / "cms_z.png", columns=3)
    if arguments.higgs:
        rows = np.genfromtxt(arguments.higgs, delimiter=",", names=True)
        names = (*higgs.LOW_LEVEL, *higgs.HIGH_LEVEL)
        library = Library("higgs", processes=arguments.processes)
        made = {label: library.events(name, events) for label, name in ((0, "background"), (1, "heavy-higgs"))}
        real: dict[int, Any] = {label: rows[rows["label"] == label] for label in (0, 1)}
        pairs = [
            (f"{'sig' if label else 'bkg'} {name}", real[label][name], made[label][name])
            for label in (0, 1)
            for name in names
        ]
        pairs = pairs[:SMOKE_PANELS] if arguments.smoke else pairs
        draw(pairs, ("UCI HIGGS rows", "generated"), arguments.output / "higgs_features.png", columns=7)
        for what, which in (("all features", names), ("low-level features", higgs.LOW_LEVEL)):
            published = auc(table(real[0], which), table(real[1], which), training=8000)
            print(f"HIGGS, {what}: AUC {published:.3f} published, ", end="")
            print(f"{auc(table(made[0], which), table(made[1], which)):.3f} generated")
    library = Library("susy", processes=arguments.processes)
    background, signal = (library.events(name, events) for name in ("background", "chargino"))
    for what, which in (("all features", (*susy.LOW_LEVEL, *susy.HIGH_LEVEL)), ("low-level features", susy.LOW_LEVEL)):
        print(f"SUSY, {what}: AUC {auc(table(background, which), table(signal, which)):.3f} generated")


if __name__ == "__main__":
    main()
