"""Sums over a reference that is left in its files, against those over the same events in memory."""

from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample, Scaling
from lanner.events.scaled_rows import ScaledRows
from lanner.events.spread import InTurn, read_by, spread
from lanner.model.backend import NUMPY, Arrays, arrays_on
from lanner.model.bunches import Bunches
from lanner.model.kernel import GaussianKernel
from lanner.model.nystrom import choose_pivots
from lanner.model.score_pool import ScorePool
from lanner.model.splits import Splits

R, D = 4000, 60
EVENTS = np.random.default_rng(1).normal(2.0, 3.0, size=(R, 2))
DATA = np.random.default_rng(2).normal(2.0, 3.0, size=(D, 2))
UNITS = Scaling.learn(Sample.of(EVENTS), "standard")
BASIS = choose_pivots(
    UNITS.apply(EVENTS[:500]), GaussianKernel(0.7), trace_error=1e-3, max_rank=80, rng=np.random.default_rng(3)
)


def bunches_of(size: int) -> Bunches:
    dealt = Bunches.dealt(np.random.default_rng(4).permutation(R), size)
    left_out = [np.random.default_rng(k).choice(R, 70, replace=False) for k in range(3)]
    return dealt.with_rows(left_out, inside=True).with_rows([np.arange(R, R + D)], inside=False)


def pools(folder: Path, size: int, arrays: Arrays = NUMPY) -> tuple[ScorePool, ScorePool]:
    """Of events in memory, and in files."""
    for k, part in enumerate(np.split(EVENTS, [700, 1900])):
        np.save(folder / f"{k}.npy", part)
    sample = read_by(spread(folder / "*.npy"), InTurn())
    bunches = bunches_of(size)
    splits = Splits.of(np.arange(bunches.drawn), np.empty(0, np.intp), len(bunches), 4)
    how: dict[str, Any] = {"splits": splits, "pivots": BASIS.chosen, "others": D, "arrays": arrays}
    tables = ((EVENTS, DATA), (sample.features, DATA))
    here, there = (
        ScorePool.prepare(ScaledRows(t, UNITS), BASIS, bunches, expected=50.0, precision="double", memory=10**9, **how)
        for t in tables
    )
    return here, there


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_the_pool_is_that_of_events_in_memory(size: int, device: str, tmp_path: Path) -> None:
    if device == "torch":
        pytest.importorskip("torch")
    arrays = arrays_on(device)
    here, there = pools(tmp_path, size, arrays)
    np.testing.assert_allclose(arrays.get(there.features.phi), arrays.get(here.features.phi), atol=1e-9)  # type: ignore[attr-defined]
    np.testing.assert_allclose(there.residuals.by_row[:-4], here.residuals.by_row[:-4], atol=1e-9)
    assert there.residuals.by_row[-1] == pytest.approx(here.residuals.by_row[-1])
    np.testing.assert_allclose(there.residuals.of_data, here.residuals.of_data, atol=1e-12)
    assert astuple(there.residuals.null) == pytest.approx(astuple(here.residuals.null))
    assert len(there.model.bases) == len(here.model.bases) == 6
    for a, b in zip(there.model.bases, here.model.bases, strict=True):
        np.testing.assert_allclose(a.spectrum.values, b.spectrum.values, atol=1e-10)
    np.testing.assert_array_equal(there.pivot_rows, here.pivot_rows)
    np.testing.assert_allclose(there.model.local_excess.mean, here.model.local_excess.mean, rtol=1e-9)


def test_weighted_events_have_to_be_in_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", EVENTS)
    sample = read_by(spread(tmp_path / "x.npy"), InTurn())
    with pytest.raises(InputError, match="read it into memory"):
        ScorePool.prepare(
            ScaledRows((sample.features, DATA), UNITS),
            BASIS,
            Bunches.single(R, D),
            expected=50.0,
            precision="double",
            memory=10**9,
        )
