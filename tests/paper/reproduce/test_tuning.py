from dataclasses import replace

import numpy as np
import pytest

from lanner.paper.datasets.library import Library
from lanner.paper.reproduce import tuning
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.measure import Events

CASE = replace(case("one-dimensional", scale="smoke"), centers=30)
EVENTS = Events(CASE, Library("one-dimensional"))


def test_distances_of_an_exponential_are_exponential() -> None:
    found = tuning.distances(EVENTS, seed=1)
    assert found["percentile_90"] == pytest.approx(np.log(10) / 8, rel=0.05)
    assert sum(found["counts"]) == 100_000


def test_the_scan_covers_centres_widths_and_penalties() -> None:
    seen: list[tuple[str, int, int]] = []
    found = tuning.scan(
        EVENTS, memory=None, seed=1, progress=lambda what, done, total: seen.append((what, done, total))
    )
    assert [row["centers"] for row in found["centers"]] == [10, 30]
    assert len(found["grid"]) == len(tuning.WIDTHS) * len(tuning.PENALTIES)
    assert all(row["error"] > 0 for row in found["centers"] + found["grid"])
    assert seen[-1] == ("scan", 20, 20)


def test_only_centres_of_the_case_are_timed() -> None:
    rows = tuning.times(EVENTS, memory=None, seed=1, progress=None)["rows"]
    assert [row["centers"] for row in rows if "newton" in row] == [10, 30]
    assert all(row["newton"] > 0 and row["falkon"] > 0 for row in rows[:2])
