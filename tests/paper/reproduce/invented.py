"""Numbers of a reproduction that nobody has measured, in the form of those that have been."""

import numpy as np

from lanner.paper.reproduce.cases import Case
from lanner.paper.reproduce.stages import Numbers

DOF = 10.0


def null_numbers(rng: np.random.Generator, *, toys: int = 200, fits: bool = True) -> Numbers:
    t = rng.chisquare(DOF, toys)
    if not fits:
        t[0] = -3.0
    return {
        "t": t.tolist(),
        "not_positive": int(np.count_nonzero(t <= 0)),
        "dof": DOF,
        "dof_error": 0.3 if fits else None,
        "goodness_of_fit": 0.4 if fits else None,
        "analytic_mean": DOF,
        "analytic_std": 4.5,
        "analytic_weights": [1.0] * int(DOF),
    }


def strengths(case: Case, rng: np.random.Generator, shift: float = 0.0) -> list[Numbers]:
    """Z of strength k of each signal is about k + 1."""
    rows = []
    for signal in case.signals:
        for k, events in enumerate(signal.strengths):
            z = rng.normal(k + 1 + shift, 0.5, 50)
            rows.append(
                {
                    "signal": signal.name,
                    "signal_events": events,
                    "t": (DOF + 4.5 * z).tolist(),
                    **{f"z_{kind}": z.tolist() for kind in ("chi2", "analytic", "empirical")},
                }
            )
    return rows


def profile(name: str, rng: np.random.Generator, bins: int = 8) -> Numbers:
    ratio = 1 + 0.1 * rng.random(bins + 2)
    return {
        "name": name,
        "fitted": False,
        "edges": np.linspace(0, 1, bins + 1).tolist(),
        "learned_ratio": ratio.tolist(),
        "ideal_ratio": [None, *ratio[1:].tolist()],
        "data_ratio": ratio.tolist(),
        "data_ratio_low": (ratio - 0.1).tolist(),
        "data_ratio_high": (ratio + 0.1).tolist(),
    }


def numbers_of(case: Case, *, seed: int = 1, fits: bool = True) -> Numbers:
    """The stages that every case has."""
    rng = np.random.default_rng(seed)
    first, _ = case.shown[0]
    return {
        "time": {"prepare": 0.5, "per_toy": 0.01, "toys": 100, "rank": 40, "trace_error": 1e-9, "all_in": 0.02},
        "ideal": {
            "method": "by definition",
            "z": {s.name: [2.0 * (k + 1) for k, _ in enumerate(s.strengths)] for s in case.signals},
        },
        "low": {"null": null_numbers(rng, fits=fits), "strengths": strengths(case, rng)},
        "learned": [
            {
                "signal": first,
                "signal_events": 10.0,
                "statistic": 30.0,
                "z_analytic": 3.0,
                "profiles": [profile(name, rng) for name in case.ratio_variables],
            }
        ],
        "sizes": [
            {"ratio": ratio, "null": null_numbers(rng), "strengths": strengths(case, rng)[:1]} for ratio in case.sizes
        ],
    }
