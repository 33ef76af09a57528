"""The paper's figure of network against kernel: observed significances on the same SUSY and HIGGS toys.

    python benchmarks/network_significances.py --kept folder     # two hours; goes on where it was stopped

At a fiftieth of the paper's sizes, with the published networks. The signals' strengths are such that the paper's kernel
setting finds them with one to three sigma. Prints the tables and writes docs/figures/network_significances.png.
"""

from __future__ import annotations

from pathlib import Path

import lanner
from command_line import parse, study_parser
from internals import BLUE, GREEN, PUBLISHED, VERMILION, Network, hep_style, is_beyond, suite_case

SHARE = 0.02
STRENGTHS = {"susy": (40.0, 65.0, 90.0), "higgs": (80.0, 130.0, 180.0)}
EXPECTED = 2000  # events, at that share
SMOKE = {"one-dimensional": (2.0, 5.0)}  # which needs no generator of collisions
KERNELS = ("one-width", "score", "likelihood-ratio")
SHOWN = {"network": "network", "one-width": "kernel, the paper's setting", "score": "kernel, Lanner's default"}
LOOKS = ((GREEN, "D"), (BLUE, "o"), (VERMILION, "s"))
TOYS, EXPERIMENTS = 300, 30


def contest(name: str, folder: Path, *, smoke: bool) -> lanner.Comparison:
    """The kernel's tests and the network on the same toys."""
    case = suite_case(name, seed=1, share=SHARE, ideal=False)
    signal = case.signals[0]
    hidden, clip = PUBLISHED[name]
    network = Network((2,), 3.0, starts=1, epochs=5) if smoke else Network(hidden, clip, starts=1)
    return lanner.compare(
        case.reference,
        case.events(signal),
        expected=case.expected,
        signal_events=SMOKE[name] if smoke else STRENGTHS[name],
        tests=[*KERNELS, network],
        toys=60 if smoke else TOYS,
        experiments=4 if smoke else EXPERIMENTS,
        reference_size=case.reference_size,
        seed=1,
        output=folder / name,
        progress=lambda what, done, total: print(f"\r{name}: {what} {done}/{total}   ", end="", flush=True),
    )


def draw(found: dict[str, lanner.Comparison], path: Path) -> None:
    """Z of each test over the number of signal events, medians and bands."""
    from matplotlib.figure import Figure

    with hep_style():
        figure = Figure(figsize=(5.2 * len(found), 4.8), layout="constrained")
        for ax, (name, result) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
            for k, (test, label) in enumerate(SHOWN.items()):
                row = result.row(test)
                colour, marker = LOOKS[k]
                for one in row.found:
                    low, middle, high = one.z
                    # Open where it is more than can be shown.
                    face = "white" if is_beyond(middle, row.most) else colour
                    ax.errorbar(
                        one.signal_events * (1 + 0.025 * (k - 1)), middle, yerr=[[middle - low], [high - middle]],
                        fmt=marker, color=colour, markerfacecolor=face, markersize=6, linewidth=1.4,
                        label=label if one is row.found[0] else None,
                    )  # fmt: skip
            ax.set_title(f"{name.upper()}, {SHARE:.0%} of the events")
            ax.set_xlabel(f"signal events among {EXPECTED:,}".replace(",", " "))
            strengths = [one.signal_events for one in result.rows[0].found]
            ax.set_xticks(strengths, [f"{s:g}" for s in strengths], minor=False)
            ax.tick_params(axis="x", which="minor", bottom=False, top=False)
            ax.set_ylabel("significance Z: median, 16 % to 84 %")
            ax.set_ylim(-1.6, 5.2)
            ax.legend(loc="upper left", fontsize=10)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)


def main() -> None:
    """Run both, draw."""
    parser = study_parser(__doc__, writes="docs/figures")
    parser.add_argument("--kept", type=Path, required=True, help="A folder for all toys; run again to go on.")
    arguments = parse(parser)
    found = {}
    for name in SMOKE if arguments.smoke else STRENGTHS:
        found[name] = contest(name, arguments.kept, smoke=arguments.smoke)
        print(f"\r{name}\n{found[name].markdown()}", flush=True)
    draw(found, arguments.output / "network_significances.png")


if __name__ == "__main__":
    main()
