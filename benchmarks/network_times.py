"""What a toy costs at the paper's four sizes: the neural network of the original proposal against the kernel.

    python benchmarks/network_times.py
    python benchmarks/network_times.py --only 1-D --kept times.json    # this one again, beside what was kept

Both are trained on the same null toys in one run. The network is the published one, trained in two ways: by damped
Newton steps until t has settled (measured), and by the original's Adam, of which some epochs are measured and 3e5
extrapolated; all stated for one toy. Writes the table to docs/network-times.md.
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from command_line import parse, study_parser
from internals import PUBLISHED, FitKeywords, Network, SameToys, markdown_table, room_for_data
from synthetic import SHAPES, Shape, events

NETWORKS = {"1-D": "one-dimensional", "5-D": "dimuon", "8-D": "susy", "21-D": "higgs"}
CLIP_1D = 10.0  # near what is tuned, see docs/baselines.md
ORIGINAL_EPOCHS = 300_000
TOYS = {"1-D": 4, "5-D": 4, "8-D": 2, "21-D": 2}  # trained together
PAPER = {"1-D": ("2.11 s", ""), "5-D": ("44.9 s", "4.23 h"), "8-D": ("18.2 s", "73.1 h"), "21-D": ("22.7 s", "112 h")}


SMOKE, SMOKE_SETTINGS = ("1-D", "5-D"), {"epochs": 10, "starts": 1}


def measure(shape: Shape, toys: int, adam_epochs: int, network_settings: dict[str, Any]) -> list[str]:
    """A row of the table."""
    name = shape.name
    reference = events(
        shape.dimensions, shape.reference + room_for_data(shape.expected, None), np.random.default_rng(1)
    )
    same = SameToys.of(reference, expected=shape.expected, reference_size=shape.reference, centers=shape.centers)
    draws, many = same.draws(toys), same.draws(max(toys, 32))
    settings: FitKeywords = {"width": shape.width, "penalty": shape.penalty, "newton_steps": shape.newton_steps}
    if shape.dimensions == 1:
        settings["scaling"] = None
    start = time.perf_counter()
    kernel = same.kernel(settings)
    preparing = time.perf_counter() - start
    start = time.perf_counter()
    kernel.statistics(many)
    kernel_seconds = (time.perf_counter() - start) / len(many)
    hidden, clip = PUBLISHED[NETWORKS[name]]
    network = same.network(Network(hidden, clip or CLIP_1D, **network_settings))
    start = time.perf_counter()
    trained = network.train(draws)
    newton_seconds = (time.perf_counter() - start) / toys
    adam = same.network(Network(hidden, clip or CLIP_1D, optimiser="adam", epochs=adam_epochs, tolerance=None))
    start = time.perf_counter()
    adam.train(draws)
    epoch = (time.perf_counter() - start) / toys / adam_epochs
    paper_kernel, paper_network = PAPER[name]
    return [
        name,
        str(toys),
        f"{kernel_seconds:.3g} s (and {preparing:.3g} s once)",
        f"{newton_seconds:.3g} s ({trained.epochs.mean():.0f} steps)",
        f"{1e3 * epoch:.3g} ms an epoch: {epoch * ORIGINAL_EPOCHS / 3600:.2g} h for 3e5 (extrapolated)",
        f"{newton_seconds / kernel_seconds:.3g}",
        f"{epoch * ORIGINAL_EPOCHS / kernel_seconds:.2g}",
        paper_kernel,
        paper_network,
    ]


def main() -> None:
    """Measure and write."""
    parser = study_parser(__doc__, writes="docs/network-times.md", flag="--write")
    parser.add_argument("--only", action="append", choices=list(NETWORKS))
    parser.add_argument("--adam-epochs", type=int, default=20)
    parser.add_argument("--kept", type=Path, help="A file that keeps the rows of the table.")
    arguments = parse(parser)
    header = [
        "shape",
        "toys",
        "kernel, a toy",
        "network, Newton, a toy",
        "network, Adam",
        "Newton / kernel",
        "Adam / kernel",
        "paper: kernel",
        "paper: network",
    ]
    kept = arguments.kept
    rows: dict[str, list[str]] = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for name in SMOKE if arguments.smoke else arguments.only or NETWORKS:
        if arguments.smoke:
            rows[name] = measure(SHAPES[name].smallest(), 2, 2, SMOKE_SETTINGS)
        else:
            rows[name] = measure(SHAPES[name], TOYS[name], arguments.adam_epochs, {})
        print(*rows[name], sep=" | ", flush=True)
        if kept is not None:
            kept.write_text(json.dumps(rows, indent=1))
    about = (
        "# Training times: network and kernel\n\n"
        f"Made by `python benchmarks/network_times.py` on {os.cpu_count()} cores of {platform.machine()}, both on the "
        "same null toys. Network: the best of three trainings by Newton steps, whose steps are those of all three. "
        "Beside it the paper's Table 1.\n\n"
    )
    table = markdown_table([header, *(rows[name] for name in NETWORKS if name in rows)])
    arguments.output.write_text(about + table + "\n")


if __name__ == "__main__":
    main()
