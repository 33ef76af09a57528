"""The paper's figure of network against kernel: observed significances on the same SUSY and HIGGS toys.

    python benchmarks/network_significances.py --kept folder     # an hour; goes on where it was stopped

At a fiftieth of the paper's sizes, with the published networks. The signals' strengths are such that the paper's kernel
setting finds them with one to three sigma. Writes docs/figures/network_significances.{png,md}.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import lanner
from lanner.baselines import PUBLISHED, Comparison, Network
from lanner.experiments.suite_cases import suite_case
from lanner.reprs import is_beyond
from lanner.show.style import BLUE, GREY, VERMILION, hep_style

SHARE = 0.02
STRENGTHS = {"susy": (40.0, 65.0, 90.0), "higgs": (80.0, 130.0, 180.0)}
KERNELS = {"one-width": "kernel, the paper's setting", "score": "kernel, default"}
TOYS, EXPERIMENTS = 300, 30


def contest(name: str, folder: Path, epochs: int) -> Comparison:
    """The kernel's tests and the network on the same toys."""
    case = suite_case(name, seed=1, share=SHARE, ideal=False)
    (signal,) = case.signals
    hidden, clip = PUBLISHED[name]
    return lanner.compare(
        case.reference,
        case.events(signal),
        expected=case.expected,
        signal_events=STRENGTHS[name],
        tests=[*KERNELS, "likelihood-ratio", Network(hidden, clip, epochs=epochs, starts=1)],
        toys=TOYS,
        experiments=EXPERIMENTS,
        reference_size=case.reference_size,
        seed=1,
        output=folder / name,
        progress=lambda what, done, total: print(f"\r{name}: {what} {done}/{total}   ", end="", flush=True),
    )


def draw(found: dict[str, Comparison], path: Path) -> None:
    """The network's Z over the kernel's, medians and bands."""
    from matplotlib.figure import Figure

    with hep_style():
        figure = Figure(figsize=(5.2 * len(found), 5.2), layout="constrained")
        for ax, (name, result) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
            network = result.row("network")
            for (test, label), colour in zip(KERNELS.items(), (BLUE, VERMILION), strict=True):
                row = result.row(test)
                for one, other in zip(row.found, network.found, strict=True):
                    (x0, x, x1), (y0, y, y1) = one.z, other.z
                    # Open where one of the two is more than can be shown.
                    is_open = is_beyond(x, row.most) or is_beyond(y, network.most)
                    ax.errorbar(
                        x, y, xerr=[[x - x0], [x1 - x]], yerr=[[y - y0], [y1 - y]], fmt="o", color=colour,
                        markersize=5, linewidth=1.2, markerfacecolor="white" if is_open else colour,
                        label=label if one is row.found[0] else None,
                    )  # fmt: skip
                    ax.annotate(f"{one.signal_events:g}", (x, y), (4, 4), textcoords="offset points", fontsize=9)
            most = max(r.most for r in (network, *(result.row(t) for t in KERNELS)))
            ax.plot([-1, most], [-1, most], color=GREY, linewidth=1)
            ax.set_title(f"{name.upper()}, {SHARE:.0%} of the events")
            ax.set_xlabel("Z of the kernel")
            ax.set_ylabel("Z of the network")
            ax.set_xlim(-1, most + 0.2)
            ax.set_ylim(-1, most + 0.2)
            ax.legend(loc="upper left", fontsize=9)
        figure.savefig(path, dpi=110)


def main() -> None:
    """Run both, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="A folder for all toys; run again to go on.")
    parser.add_argument("--epochs", type=int, default=300, help="Newton steps of the network at most.")
    parser.add_argument("--output", type=Path, default=Path("docs/figures"))
    arguments = parser.parse_args()
    found = {}
    for name in STRENGTHS:
        found[name] = contest(name, arguments.kept, arguments.epochs)
        print(f"\r{name}\n{found[name]}", flush=True)
    draw(found, arguments.output / "network_significances.png")
    tables = (f"{name.upper()}\n\n{result.markdown()}\n" for name, result in found.items())
    (arguments.output / "network_significances.md").write_text("\n".join(tables))


if __name__ == "__main__":
    main()
