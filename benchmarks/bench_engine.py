"""The engine at the paper's four shapes: one-off cost, cost per toy, memory, and what one would use instead.

    python benchmarks/bench_engine.py --size smoke      # seconds: does it still run?
    python benchmarks/bench_engine.py --size quick
    python benchmarks/bench_engine.py --size full --write docs/benchmarks.md

Every shape runs in a process of its own, so that its peak memory is its own. Ratios are taken within one
run on one machine; absolute times are for orientation.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.machine import memory_budget
from lanner.inference.analytic import analytic_law
from lanner.inference.resampling import ReferenceScheme, room_for_data
from lanner.model.bunches import Bunches
from lanner.model.kernel import GaussianKernel
from lanner.model.loss import Logistic, null_curvature
from lanner.model.nystrom import choose_pivots, trace_tolerance
from lanner.model.pool import Pool
from lanner.model.solvers.newton import own_curvature_newton
from lanner.model.weightings import DATA, REFERENCE
from lanner.settings import FitSettings
from synthetic import SHAPES, Shape, events

TOLERANCE = 1e-3
QUICK_FACTOR = 10
SMOKE_SHAPES, SMOKE_TOYS = "1-D", 8
SKLEARN_SIZE = 6e7  # events times centres that scikit-learn can do in a minute or so


def gemm_peak(size: int) -> float:
    """Single-precision multiply-adds of this machine, in flop/s: the best of a few products."""
    a = np.random.default_rng(0).random((size, size), dtype=np.float32)
    best = np.inf
    for _ in range(4):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def fit_settings(shape: Shape) -> FitSettings:
    """How a shape's toys are fitted, by the engine and one at a time."""
    return FitSettings(statistic="likelihood-ratio", newton_steps=shape.newton_steps, tolerance=TOLERANCE)


class Clock:
    """Seconds since the last reading."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def read(self) -> float:
        """Read and set back."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        return passed


def prepare(shape: Shape, *, trace_error: float | None, max_rank: int, memory: int) -> tuple[Pool, Any, dict[str, Any]]:
    """The pool, a function that gives each event's role in toy i, and the one-off times."""
    rng = np.random.default_rng(7)
    pool_size = shape.reference + room_for_data(shape.expected, None)
    x = events(shape.dimensions, pool_size, rng)
    centers = rng.choice(pool_size, shape.centers, replace=False)
    per_fit = shape.reference + shape.expected
    if trace_error is None:
        trace_error = trace_tolerance(
            penalty=shape.penalty,
            events=per_fit,
            expected=shape.expected,
            curvature=null_curvature(Logistic()),
        )
    clock = Clock()
    basis = choose_pivots(x[centers], GaussianKernel(shape.width), trace_error=trace_error, max_rank=max_rank, rng=rng)
    seconds = {"pivots": clock.read()}
    pool = Pool.prepare(
        x,
        basis,
        loss=Logistic(),
        penalty=shape.penalty,
        expected=shape.expected,
        events_per_fit=per_fit,
        precision="single",
        memory=memory,
    )
    seconds["features and curvature"] = clock.read()
    null = analytic_law(
        pool.spectrum,
        expected=shape.expected,
        reference_size=shape.reference,
        events=per_fit,
        penalty=shape.penalty,
        loss="logistic",
    )
    seconds["analytic null"] = clock.read()

    scheme = ReferenceScheme(
        bunches=Bunches.single(pool_size, 0),
        expected=shape.expected,
        fixed=None,
        reference_size=shape.reference,
        held_out=centers,
        seed=11,
        data_rows=np.empty(0, dtype=np.intp),
    )
    return pool, lambda i: scheme.toy(i).roles(), {"seconds": seconds, "analytic": null, "events": x}


def run_toys(shape: Shape, pool: Pool, toy: Any, toys: int) -> dict[str, Any]:
    """Fit the toys in batches; t, iterations, time, and the flops of the iterations."""
    n, r = len(pool.features), pool.features.basis.rank
    size = pool.batch_size(toys)
    t, iterations, converged = [], [], []
    drawing = fitting = 0.0
    for first in range(0, toys, size):
        clock = Clock()
        roles = np.empty((n, min(size, toys - first)), dtype=np.int8)
        for b in range(roles.shape[1]):
            roles[:, b] = toy(first + b)
        drawing += clock.read()
        solution = pool.fit(roles, fit_settings(shape))
        fitting += clock.read()
        t.append(solution.statistic)
        iterations.append(solution.iterations)
        converged.append(solution.converged)
    passes = np.concatenate(iterations)
    return {
        "t": np.concatenate(t),
        "passes": passes,
        "converged": np.concatenate(converged),
        "drawing": drawing,
        "fitting": fitting,
        "batch": size,
        # The first pass is at f = 0 and needs only one of the two products.
        "flop": float(n * r * (4.0 * passes - 2.0).sum()),
    }


def one_at_a_time(shape: Shape, pool: Pool, toy: Any, toys: int) -> tuple[float, np.ndarray[Any, Any]]:
    """Seconds per toy and t by Newton's method with each toy's own curvature, on the same features."""
    roles = np.stack([toy(i) for i in range(toys)], axis=1)
    clock = Clock()
    t = [own_curvature_newton(pool.problem(roles[:, [b]]), fit_settings(shape)).statistic[0] for b in range(toys)]
    return clock.read() / toys, np.array(t)


def against_scikit_learn(shape: Shape, memory: int) -> dict[str, Any]:
    """One toy with Nystroem + LogisticRegression and all M centres, at a size it can do, against ours there."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression

    size = (shape.reference + shape.expected) * shape.centers
    if size > SKLEARN_SIZE:
        shape = shape.reduced((size / SKLEARN_SIZE) ** 0.5)
    pool, toy, once = prepare(shape, trace_error=None, max_rank=fit_settings(shape).chosen_max_rank, memory=memory)
    toys = 100
    run = run_toys(shape, pool, toy, toys)
    roles = toy(0)
    used = roles != 0
    x, labels = once["events"][used], (roles[used] == DATA).astype(int)
    a0 = shape.expected / np.count_nonzero(roles == REFERENCE)
    clock = Clock()
    features = Nystroem(gamma=0.5 / shape.width**2, n_components=shape.centers, random_state=0).fit_transform(x)
    # Its quickest solver for this shape that reaches the minimum: lbfgs stops at a fifth of t by default.
    model = LogisticRegression(
        C=1 / (shape.penalty * len(x)), fit_intercept=False, solver="newton-cholesky", tol=1e-6, max_iter=100
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(features, labels, sample_weight=np.where(labels == 1, 1.0, a0))
    seconds = clock.read()
    f = model.decision_function(features)
    return {
        "sklearn": seconds,
        "sklearn events": len(x),
        "sklearn M": shape.centers,
        "sklearn t": float(2 * (f[labels == 1].sum() - a0 * np.expm1(f[labels == 0]).sum())),
        "ours there": (run["drawing"] + run["fitting"]) / toys,
        "our t there": float(run["t"][0]),
    }


def measure(shape: Shape, *, toys: int, memory: int, peers: bool, gemm: int = 4096) -> dict[str, Any]:
    """All figures of one shape; the machine's peak is taken from products of matrices of size `gemm`."""
    peak = gemm_peak(gemm)
    pool, toy, once = prepare(shape, trace_error=None, max_rank=fit_settings(shape).chosen_max_rank, memory=memory)
    run = run_toys(shape, pool, toy, toys)
    peak = max(peak, gemm_peak(gemm))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    once_seconds = sum(once["seconds"].values())
    null = once["analytic"]
    row: dict[str, Any] = {
        "shape": shape.name,
        "N0": shape.reference,
        "N(0)": shape.expected,
        "M": shape.centers,
        "rank": pool.features.basis.rank,
        "trace error": pool.features.basis.trace_error,
        "storage": pool.features.storage,
        "toys": toys,
        "batch": run["batch"],
        "once": once_seconds,
        "once parts": once["seconds"],
        "drawing": run["drawing"],
        "fitting": run["fitting"],
        "total": once_seconds + run["drawing"] + run["fitting"],
        "per toy": (run["drawing"] + run["fitting"]) / toys,
        "passes": [int(run["passes"].min()), float(np.median(run["passes"])), int(run["passes"].max())],
        "not converged": int((~run["converged"]).sum()),
        "peak memory": rss,
        "budget": memory,
        "gemm peak": peak,
        "gemm share": run["flop"] / run["fitting"] / peak,
        "t mean": float(run["t"].mean()),
        "t spread": float(run["t"].std(ddof=1)),
        "analytic mean": null.mean,
        "analytic spread": null.std,
    }
    if peers:
        if len(pool.features) * pool.features.basis.rank**2 < 8e12:  # minutes a toy beyond
            few = 1 if pool.features.basis.rank > 1000 else 3
            seconds, t = one_at_a_time(shape, pool, toy, few)
            row |= {"newton per toy": seconds, "newton |dt|": float(np.abs(t - run["t"][:few]).max())}
        del pool, toy, once
        row |= against_scikit_learn(shape, memory)
    return row


def rank_scan(shape: Shape, memory: int) -> list[dict[str, Any]]:
    """t of the same toys against rank and trace error, down to all M centres."""
    default = trace_tolerance(
        penalty=shape.penalty,
        events=shape.reference + shape.expected,
        expected=shape.expected,
        curvature=null_curvature(Logistic()),
    )
    rows = []
    for factor in (1000, 100, 10, 1, 0.1, 0):
        pool, toy, once = prepare(shape, trace_error=factor * default, max_rank=shape.centers, memory=memory)
        run = run_toys(shape, pool, toy, 32)
        rows.append(
            {
                "shape": shape.name,
                "M": shape.centers,
                "rank": pool.features.basis.rank,
                "trace error": pool.features.basis.trace_error,
                "default": factor == 1,
                "t": run["t"].tolist(),
                "analytic mean": once["analytic"].mean,
                "analytic spread": once["analytic"].std,
            }
        )
    return rows


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("smoke", "quick", "full"), default="quick")
    parser.add_argument("--shapes", help="comma-separated, of: " + ", ".join(SHAPES))
    parser.add_argument("--toys", type=int)
    parser.add_argument("--memory", default=None, help="budget, such as '8 GB' (default: half of what is free)")
    parser.add_argument("--no-peers", action="store_true", help="skip scikit-learn and one-at-a-time Newton")
    parser.add_argument("--no-ranks", action="store_true", help="skip t against rank")
    parser.add_argument("--write", type=Path, help="write a Markdown table here")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--scan", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    smoke = arguments.size == "smoke"
    toys = arguments.toys or (SMOKE_TOYS if smoke else 300)
    if arguments.one or arguments.scan:
        shape = SHAPES[arguments.one or arguments.scan]
        memory = memory_budget(arguments.memory)
        if arguments.scan:
            result: Any = rank_scan(shape.smallest() if smoke else shape.thinned(), memory)
        else:
            shape = {"smoke": shape.smallest(), "quick": shape.reduced(QUICK_FACTOR), "full": shape}[arguments.size]
            gemm = 256 if smoke else 4096
            result = measure(shape, toys=toys, memory=memory, peers=not arguments.no_peers, gemm=gemm)
        print(json.dumps(result))
        return
    names = (arguments.shapes or (SMOKE_SHAPES if smoke else ",".join(SHAPES))).split(",")
    rows = []
    for name in names:
        rows.append(_in_own_process("--one", name, arguments))
        print(summary(rows[-1]), flush=True)
    scans = []
    if not arguments.no_ranks:
        for name in names:
            if name in ("1-D", "5-D", "8-D"):
                scans.append(_in_own_process("--scan", name, arguments))
                print(scan_table(scans[-1]), flush=True)
    if arguments.write:
        arguments.write.write_text(page(arguments.size, rows, scans))
        print(f"written to {arguments.write}")


def _in_own_process(flag: str, name: str, arguments: argparse.Namespace) -> Any:
    command = [sys.executable, __file__, flag, name, "--size", arguments.size]
    if arguments.toys:
        command += ["--toys", str(arguments.toys)]
    if arguments.memory:
        command += ["--memory", arguments.memory]
    if arguments.no_peers:
        command.append("--no-peers")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def summary(row: dict[str, Any]) -> str:
    """One shape, for the terminal."""
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in row["once parts"].items())
    low, middle, high = row["passes"]
    lines = [
        f"{row['shape']}: N0 {row['N0']}, N(0) {row['N(0)']}, M {row['M']}: rank {row['rank']}, "
        f"trace error {row['trace error']:.1e}, {row['storage']}",
        f"  once {row['once']:.1f} s ({parts})",
        f"  {row['toys']} toys {row['fitting']:.1f} s + {row['drawing']:.1f} s to draw them: "
        f"{row['per toy'] * 1e3:.0f} ms a toy; in all {row['total']:.1f} s",
        f"  passes {low} to {high} (median {middle:.0f}), not converged {row['not converged']}; "
        f"{row['gemm share']:.0%} of the GEMM peak ({row['gemm peak'] / 1e9:.0f} Gflop/s)",
        f"  peak memory {row['peak memory'] / 1e9:.2f} GB of {row['budget'] / 1e9:.2f} GB",
        f"  t {row['t mean']:.2f} +- {row['t spread']:.2f}; analytic null {row['analytic mean']:.2f} +- "
        f"{row['analytic spread']:.2f}",
    ]
    if "newton per toy" in row:
        lines.append(
            f"  one at a time, own curvature: {row['newton per toy']:.2f} s a toy, "
            f"{row['newton per toy'] / row['per toy']:.0f} times ours (|dt| up to {row['newton |dt|']:.3f})"
        )
    if "sklearn" in row:
        lines.append(
            f"  scikit-learn at {row['sklearn events']} events, M {row['sklearn M']}: {row['sklearn']:.1f} s a toy, "
            f"{row['sklearn'] / row['ours there']:.0f} times ours there (t {row['sklearn t']:.1f}, "
            f"ours {row['our t there']:.1f})"
        )
    return "\n".join(lines)


def scan_table(rows: list[dict[str, Any]]) -> str:
    """T against rank, as a Markdown table."""
    full = np.array(rows[-1]["t"])
    spread = rows[-1]["analytic spread"]
    lines = [
        f"**{rows[0]['shape']}**, M = {rows[0]['M']}, 32 null toys, spread of t {spread:.2f}:\n",
        "| rank | trace error | mean t | mean t below all M, in spreads | largest for one toy | analytic mean |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        t = np.array(row["t"])
        mark = " (default)" if row["default"] else ""
        lines.append(
            f"| {row['rank']}{mark} | {row['trace error']:.1e} | {t.mean():.2f} | {(full - t).mean() / spread:.3f} | "
            f"{np.abs(full - t).max() / spread:.3f} | {row['analytic mean']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def page(size: str, rows: list[dict[str, Any]], scans: list[list[dict[str, Any]]]) -> str:
    """The page for the docs."""
    head = ["| | " + " | ".join(row["shape"] for row in rows) + " |", "|---|" + "---|" * len(rows)]

    def line(label: str, cell: Any) -> str:
        return f"| {label} | " + " | ".join(cell(row) for row in rows) + " |"

    def newton(row: dict[str, Any]) -> str:
        if "newton per toy" not in row:
            return "-"
        return f"{row['newton per toy'] / row['per toy']:.0f} x ours ({row['newton per toy']:.2f} s)"

    def sklearn(row: dict[str, Any]) -> str:
        if "sklearn" not in row:
            return "-"
        times = f"{row['sklearn'] / row['ours there']:.0f} x ours there ({row['sklearn']:.1f} s)"
        return f"{times}, at {row['sklearn events']} events, M {row['sklearn M']}"

    body = [
        line("N0, N(0), M", lambda r: f"{r['N0']}, {r['N(0)']}, {r['M']}"),
        line("rank (trace error)", lambda r: f"{r['rank']} ({r['trace error']:.0e})"),
        line("once: pivots", lambda r: f"{r['once parts']['pivots']:.1f} s"),
        line("once: features and curvature", lambda r: f"{r['once parts']['features and curvature']:.1f} s"),
        line("once: analytic null", lambda r: f"{r['once parts']['analytic null']:.1f} s"),
        line("per toy", lambda r: f"{r['per toy'] * 1e3:.0f} ms"),
        line("all toys, one-off cost included", lambda r: f"{r['toys']} in {r['total']:.0f} s"),
        line("passes over the events (min, median, max)", lambda r: "{}, {:.0f}, {}".format(*r["passes"])),
        line("toys not converged", lambda r: str(r["not converged"])),
        line("peak memory (budget)", lambda r: f"{r['peak memory'] / 1e9:.1f} GB ({r['budget'] / 1e9:.1f} GB)"),
        line("share of the GEMM peak", lambda r: f"{r['gemm share']:.0%} of {r['gemm peak'] / 1e9:.0f} Gflop/s"),
        line("t of null toys", lambda r: f"{r['t mean']:.1f} +- {r['t spread']:.1f}"),
        line("analytic null", lambda r: f"{r['analytic mean']:.1f} +- {r['analytic spread']:.1f}"),
        line("one at a time, own curvature", newton),
        line("scikit-learn, Nystroem + LogisticRegression", sklearn),
    ]
    return "\n".join(
        [
            f"# The engine, measured ({size} size)\n",
            f"`make bench{'-full' if size == 'full' else ''}` on {os.cpu_count()} cores "
            f"({platform.machine()}), Python {platform.python_version()}, NumPy {np.__version__}. "
            "Synthetic events of the paper's four shapes; ratios are within this run.\n",
            *head,
            *body,
            "",
            "## t against rank and trace error\n",
            "The same toys at a tenth of the events and half the centres, from a coarse basis to all centres. "
            "`trace error` is the mean of k(x, x) - |phi(x)|^2 over the candidates.\n",
            *[scan_table(scan) for scan in scans],
        ]
    )


if __name__ == "__main__":
    main()
