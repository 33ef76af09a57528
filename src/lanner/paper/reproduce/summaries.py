"""What figures and the page say of a reproduction's numbers: medians and bands, signals by name, the ideal test."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanner.paper.reproduce.stages import Numbers

NAMES = (
    {
        "tail": "peak in the tail",
        "bulk": "peak in the bulk",
        "nonresonant": "non-resonant",
        "chargino": "charginos",
        "heavy-higgs": "heavy Higgs chain",
    }
    | {f"zprime-{m}": f"Z′ of {m} GeV" for m in (200, 300, 600)}
    | {f"contact-{c}": f"contact, c_W = {c} TeV⁻²" for c in ("1.0", "1.2", "1.5")}
)
LOWEST_Z = -9.0


def named(signal: str) -> str:
    """A signal as figures and tables name it.

    >>> named("zprime-300"), named("my-signal")
    ('Z′ of 300 GeV', 'my-signal')
    """
    return NAMES.get(signal, signal)


def quantiles(z: Any) -> tuple[float, float, float]:
    """16 %, 50 % and 84 %. A t <= 0 has Z = -inf, of which only the rank matters here.

    >>> quantiles([-np.inf, 1.0, 2.0])[1]
    1.0
    """
    low, middle, high = np.quantile(np.maximum(z, LOWEST_Z), (0.16, 0.5, 0.84))
    return float(low), float(middle), float(high)


def with_ideal(numbers: Numbers, stage: str = "low") -> list[Numbers]:
    """The strengths of a stage, each with its ideal significance and its number among the strengths of its signal."""
    return [
        row | {"ideal": numbers["ideal"]["z"][signal][number], "number": number}
        for signal, rows in by_signal(numbers[stage]["strengths"]).items()
        for number, row in enumerate(rows)
    ]


def by_signal(rows: list[Numbers]) -> dict[str, list[Numbers]]:
    """Strengths by the name of their signal, in their order."""
    found: dict[str, list[Numbers]] = {}
    for row in rows:
        found.setdefault(row["signal"], []).append(row)
    return found


def not_positive(null: Numbers) -> str:
    """How many null toys have a t that no chi2 can have."""
    n = null["not_positive"]
    return f"{n} of {len(null['t'])} toys {'has' if n == 1 else 'have'} t ≤ 0"
