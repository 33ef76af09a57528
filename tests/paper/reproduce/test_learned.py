from dataclasses import replace
from pathlib import Path

import numpy as np

from lanner.paper.datasets.library import Library
from lanner.paper.datasets.one_dimensional import log_ratio
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.learned import learned_ratio
from lanner.paper.reproduce.measure import Events, Setting


def test_the_ideal_ratio_is_that_of_the_densities(tmp_path: Path) -> None:
    chosen = replace(case("one-dimensional", scale="smoke"), toys=100)
    signal = replace(next(s for s in chosen.signals if s.name == "bulk"), strengths=(80.0,))
    found = learned_ratio(
        Events(chosen, Library("one-dimensional")), Setting(("x",), chosen.width), signal, folder=tmp_path, memory=None,
        seed=1,
    )  # fmt: skip
    assert (found["signal"], found["signal_events"]) == ("bulk", 80.0)
    assert found["z_analytic"] > 3
    (profile,) = found["profiles"]
    edges = np.array(profile["edges"])
    ideal, learned = (np.array(profile[name][1:-1], dtype=float) for name in ("ideal_ratio", "learned_ratio"))
    middle = 0.5 * (edges[1:] + edges[:-1])
    exact = np.exp(log_ratio("bulk", 80.0, expected=chosen.expected)(middle[:, None]))
    beside = np.abs(middle - 0.2) > 0.15  # several widths of the peak away
    np.testing.assert_allclose(ideal[beside & (middle < 0.5)], exact[beside & (middle < 0.5)], atol=0.02)
    peak = np.argmin(np.abs(middle - 0.2))
    assert ideal[peak] > 1.5
    assert learned[peak] > 1.15
