"""The paper's 1-D example: 2000 expected events of an exponential, and a small peak hidden in its tail."""

from __future__ import annotations

import time

import numpy as np

import lanner

REFERENCE, EXPECTED, SIGNAL = 200_000, 2_000, 25


def main() -> None:
    """Fit one data set with a signal and one without, and say how the fits went."""
    rng = np.random.default_rng(2022)
    reference = rng.exponential(1 / 8, REFERENCE)
    background = rng.exponential(1 / 8, rng.poisson(EXPECTED))
    signal = rng.normal(0.8, 0.02, rng.poisson(SIGNAL))
    for name, data in (("background alone", background), ("with a hidden peak", np.append(background, signal))):
        start = time.perf_counter()
        ratio = lanner.fit_ratio(
            {"x": reference},
            {"x": data},
            expected=EXPECTED,
            width=0.3,
            penalty=1e-10,
            centers=3000,
            newton_steps=1,
            rng=1,
        )
        null = lanner.analytic_null(ratio)
        print(f"\n{name}: {len(data)} events, fitted in {time.perf_counter() - start:.1f} s")
        print(ratio)
        print(f"  analytic null: t = {null.mean:.2f} +- {null.std:.2f}, so Z = {null.z_score(ratio.statistic):.2f}")
        x = np.array([0.1, 0.4, 0.8])
        values = ", ".join(f"{r:.2f} at x = {at}" for at, r in zip(x, ratio.ratio({"x": x}), strict=True))
        print(f"  learned data/reference ratio: {values}")


if __name__ == "__main__":
    main()
