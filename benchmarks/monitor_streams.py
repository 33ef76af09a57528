"""Do the decisions of a monitor call as often as they say, where nothing ever happens?

    python benchmarks/monitor_streams.py --kept kept.json    # hours on one core; goes on where it was stopped
    python benchmarks/monitor_streams.py --kept kept.json --streams 50

Every stream has its own new reference, 100 or 20 times as large as a typical batch, and a monitor that is calibrated
on it. The stream has 200 batches that follow the same law: all of 500 events, or of 100 to 5000 (drawn evenly in their
logarithm) where a typical batch has 500. Counted are the alarms of each kind per batch, beside the rate that was asked
for, and the p-values. Errors are those of a bootstrap over streams, since the batches of a stream share a reference.
Seeds are fixed beforehand: stream i has seed i. Writes a page to docs/monitor-streams.md.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import lanner
from command_line import parse, study_parser
from internals import FitSettings, Judge, MonitorCalibration, Rules, markdown_table
from kept import Kept

BATCH, BATCHES, RUN_LENGTH = 500, 200, 100.0
SMALLEST, LARGEST = 100, 5000  # of unequal batches
RATIOS = (100, 20)
SIZES = ("equal", "unequal")
STREAMS = 300
RULES: dict[str, Any] = {"toys": 3000, "streams": 80, "length": 100}
SMOKE: dict[str, Any] = {"toys": 300, "streams": 4, "length": 20}
LEVEL, RESAMPLES = 0.999, 20_000
KINDS = ("batch", "windows", "drift")
MOST_AT_20 = 1.5  # times the stated rate of single batches
EVER = 0.05  # how often the product of e-values may ever exceed 1 / EVER, and the share of false discoveries
Stream = dict[str, Any]


def events(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """An exponential and a normal column."""
    return np.column_stack([rng.exponential(size=n), rng.standard_normal(n)])


def sizes(kind: str, number: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Events of each batch."""
    if kind == "equal":
        return np.full(number, BATCH)
    return np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST), number)).astype(np.intp)


def streams(ratio: int, seed: int, *, batches: int, rules: dict[str, Any]) -> dict[str, Stream]:
    """One stream of each kind of sizes against one new reference."""
    rng = np.random.default_rng([ratio, seed])
    reference = lanner.Sample.of(events(ratio * BATCH, rng))
    asked = Rules(batch=BATCH, run_length=RUN_LENGTH, seed=seed, **rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lanner.errors.LannerWarning)
        calibration = MonitorCalibration.make(reference, asked, FitSettings(seed=seed))
    return {kind: one_stream(Judge(calibration), sizes(kind, batches, rng), rng) for kind in SIZES}


def one_stream(judge: Judge, numbers: NDArray[np.intp], rng: np.random.Generator) -> Stream:
    """What is decided of one stream."""
    state, p, product, alarms = judge.start(), [], 0.0, dict.fromkeys(KINDS, 0)
    for n in numbers:
        state, verdict = judge.after(state, judge.sums(events(int(n), rng)), "", details=False)
        assert verdict.p_value is not None
        p.append(float(f"{verdict.p_value:.4g}"))
        product = max(product, verdict.log_product)
        for alarm in verdict.alarms:
            alarms[alarm.kind] += 1
    assert state.flagged is not None
    flagged = {"e-LOND": len(state.flagged.by_e), "LORD++": len(state.flagged.by_lord)}
    promised = {"windows": judge.calibration.thresholds.windows, "drift": judge.calibration.thresholds.drift}
    return {
        "p": p,
        "alarms": {kind: n for kind, n in alarms.items() if promised.get(kind, 0.0) is not None},
        "log_product": product,
        "flagged": flagged,
    }


@dataclass(frozen=True)
class Rate:
    """A mean over streams and what it could be, by bootstrap."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, of_streams: Any) -> Rate:
        """Of one number a stream."""
        x, rng = np.asarray(of_streams, dtype=np.float64), np.random.default_rng(1)
        means = np.concatenate([rng.choice(x, (1000, len(x))).mean(axis=1) for _ in range(RESAMPLES // 1000)])
        low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return cls(float(x.mean()), float(low), float(high))

    def __str__(self) -> str:
        """In per cent.

        >>> str(Rate(0.0102, 0.009, 0.0115))
        '1.02 (0.90 to 1.15)'
        """
        return f"{100 * self.value:.2f} ({100 * self.low:.2f} to {100 * self.high:.2f})"


def rates(found: list[Stream]) -> dict[str, Rate | None]:
    """Of each kind of decision, and of p-values below some levels, per batch; None: refused."""
    made: dict[str, Rate | None] = {}
    for kind in KINDS:
        told = [s["alarms"][kind] / len(s["p"]) for s in found if kind in s["alarms"]]
        made[kind] = Rate.of(told) if told else None
    for level in (0.5, 0.05, 0.01):
        made[f"p ≤ {level:g}"] = Rate.of([np.mean(np.array(s["p"]) <= level) for s in found])
    made["product of e-values"] = Rate.of([s["log_product"] >= -np.log(EVER) for s in found])
    for name in ("e-LOND", "LORD++"):
        made[f"any flagged by {name}"] = Rate.of([s["flagged"][name] > 0 for s in found])
    return made


STATED = {
    "batch": 1 / RUN_LENGTH,
    "windows": 1 / RUN_LENGTH,
    "drift": 1 / RUN_LENGTH,
    "p ≤ 0.5": 0.5,
    "p ≤ 0.05": 0.05,
    "p ≤ 0.01": 0.01,
    "product of e-values": EVER,
    "any flagged by e-LOND": EVER,
    "any flagged by LORD++": EVER,
}
BOUNDS = ("product of e-values", "any flagged by e-LOND", "any flagged by LORD++")  # promised as bounds


def passed(ratio: int, what: str, rate: Rate | None) -> str:
    """Whether what was promised holds."""
    stated = STATED[what]
    if rate is None:
        return "refused"
    if what in BOUNDS:
        return "yes" if rate.low <= stated else "NO"
    if ratio == 100:
        return "yes" if rate.low <= stated <= rate.high else "NO"
    if what != "batch":
        return "-"
    return "yes" if rate.value <= MOST_AT_20 * stated else "NO"


def main() -> None:
    """Run the study and write its page."""
    parser = study_parser(__doc__, writes="docs/monitor-streams.md", flag="--write", keeps=True)
    parser.add_argument("--streams", type=int, default=STREAMS, help="Of each ratio.")
    arguments = parse(parser)
    rules, batches, number = (SMOKE, 20, 2) if arguments.smoke else (RULES, BATCHES, arguments.streams)
    kept = Kept.at(arguments.kept, rules=rules, batches=batches)
    for seed in range(number):
        for ratio in RATIOS:
            if (name := f"{ratio} {seed}") not in kept.found:
                kept.found[name] = streams(ratio, seed, batches=batches, rules=rules)
                kept.save()
                print(name, {k: s["alarms"] for k, s in kept.found[name].items()}, flush=True)
    lines = [["reference", "batches", "what", "stated (%)", "found (%)", "holds"]]
    for ratio in RATIOS:
        for kind in SIZES:
            for what, rate in rates([kept.found[f"{ratio} {seed}"][kind] for seed in range(number)]).items():
                found = "-" if rate is None else str(rate)
                lines.append(
                    [f"{ratio} times", kind, what, f"{100 * STATED[what]:g}", found, passed(ratio, what, rate)]
                )
                print(*lines[-1], sep=" | ")
    arguments.output.write_text(about(number, batches) + markdown_table(lines) + "\n")
    sys.exit(0 if arguments.smoke or all(line[-1] != "NO" for line in lines) else 1)


def about(number: int, batches: int) -> str:
    """What is above the table."""
    return (
        "# Do monitors call as often as they say?\n\nMade by `python benchmarks/monitor_streams.py`: "
        f"{number} streams of {batches} batches that follow the reference, each stream with its own new reference and "
        f"calibration. A typical batch has {BATCH} events; unequal batches have {SMALLEST} to {LARGEST}. A false alarm "
        f"of each kind is asked for once in {RUN_LENGTH:g} batches. In brackets the {100 * LEVEL:g} % interval of a "
        "bootstrap over streams. What is said of e-values and of flagged batches is how often a stream of nothing but "
        "good batches ever has any, which is at most what is stated.\n\n"
    )


if __name__ == "__main__":
    main()
