"""What a search claims that is not told of an uncertainty: against counting, and events made at the variation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import lanner
from lanner.comparison.exposure import Claims
from lanner.errors import InputError, UncertaintyWarning
from lanner.uncertainties.declared import Uncertainty

RNG = np.random.default_rng(1)
R = RNG.exponential(size=(60_000, 1))
HOW: dict[str, Any] = {"expected": 2000, "toys": 600, "experiments": 100, "seed": 2, "progress": False}
SIZE = 0.08


def scale(features: np.ndarray, nu: float) -> np.ndarray:
    """The exponential of mean exp(nu SIZE) over that of mean 1."""
    return np.asarray(features[:, 0] * (1 - np.exp(-nu * SIZE)) - nu * SIZE)


def test_two_per_cent_are_rarely_claimed_and_ten_often() -> None:
    names = {"small": 0.02, "large": 0.1}
    found = lanner.exposure(R, uncertainties=[lanner.Normalisation(n, s) for n, s in names.items()], **HOW)
    assert [(row.name, row.direction) for row in found.rows] == [
        (name, way) for name in names for way in ("up", "down")
    ]
    for row in found.rows:
        assert row.growth == pytest.approx(np.exp(names[row.name] if row.direction == "up" else -names[row.name]))
        if row.name == "small":  # 0.9 sigma of the count
            assert row.claims(2).fraction < 0.25
            assert row.claims(3).fraction < 0.05
        else:  # 4.3 or 4.7 of them
            assert row.claims(2).fraction > 0.85
            assert row.claims(3).fraction > 0.5
            assert row.found.band()[1] < 4.7  # nobody does better than who counts


def test_it_agrees_with_events_that_were_made_at_the_variation() -> None:
    found = lanner.exposure(R, uncertainties=[lanner.KnownRatio("scale", scale)], **HOW)
    for row, nu in zip(found.rows, (1.0, -1.0), strict=True):
        assert row.growth == pytest.approx(1.0, abs=0.01)
        events = np.random.default_rng(5).exponential(np.exp(nu * SIZE), (200_000, 1))
        truth = lanner.power(R, events, signal_events=[2000], alone=True, **HOW)
        error = (row.found.statistics.std() ** 2 + truth.strengths[0].statistics.std() ** 2) ** 0.5 / 10
        assert abs(row.found.statistics.mean() - truth.strengths[0].statistics.mean()) < 4 * error
        assert row.found.band()[1] > 1.5


def test_weighted_references_and_learned_variations_are_drawn_from_as_well() -> None:
    w = RNG.uniform(0.5, 1.5, len(R))
    reference = lanner.Sample.of(R, weights=w)
    up = w * (1 + 0.4 * np.tanh(R[:, 0] - 0.5))
    how = HOW | {"expected": 1000, "experiments": 40, "toys": 300}
    known: list[Uncertainty] = [lanner.Weights("tail", up=up), lanner.Normalisation("none", 1e-6)]
    found = lanner.exposure(reference, uncertainties=known, **how)
    assert found.rows[0].growth == pytest.approx(up.sum() / w.sum(), rel=0.01)
    assert found.rows[0].claims(3).fraction > 0.9
    for row in found.rows[2:]:
        assert row.claims(2).fraction < 0.2
        assert abs(row.found.band()[1]) < 0.6


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(what: str, done: int, work: int) -> None:
        if done > 340 and work == 300 + 4 * 40:
            raise Stop

    how = HOW | {"toys": 300, "experiments": 40, "uncertainties": [
        lanner.KnownRatio("a/b", scale), lanner.Normalisation("lumi", 0.05)]}  # fmt: skip
    whole = lanner.exposure(R, **how)
    with pytest.raises(Stop):
        lanner.exposure(R, output=tmp_path, **how | {"progress": stop})
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("batch-*.npz")}
    assert any("exposure-a-b" in str(path) for path in kept)
    resumed = lanner.exposure(R, output=tmp_path, **how)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert str(resumed) == str(whole)
    assert resumed.to_dict() == whole.to_dict()


def test_claims_have_intervals_and_bounds() -> None:
    z = np.array([0.0, 1.0, 2.5, 3.5, 3.9])
    two = Claims.of(z, 2.0, 3.9)
    assert two.fraction == 0.6
    assert stats.binom.sf(2, 5, two.low) == pytest.approx((1 - 0.6827) / 2)
    assert stats.binom.cdf(3, 5, two.high) == pytest.approx((1 - 0.6827) / 2)
    five = Claims.of(z, 5.0, 3.9)
    assert (five.fraction, five.low, five.is_bound) == (0.2, 0.0, True)
    assert str(five) == "≤ 20 %"
    assert str(Claims.of(z[:3], 5.0, 3.9)).startswith("0 % (0, ")


def test_what_cannot_be_is_refused() -> None:
    lumi = lanner.Normalisation("lumi", 0.1)
    with pytest.raises(InputError, match="the exposure is that of null='reference'"):
        lanner.exposure(R, uncertainties=[lumi], null="permutation", **HOW)
    with pytest.raises(InputError, match="no uncertainty that does something"):
        lanner.exposure(R, uncertainties=[], **HOW)
    nothing = lanner.Normalisation("lumi", 0)
    with pytest.warns(UncertaintyWarning), pytest.raises(InputError, match="no uncertainty that does something"):
        lanner.exposure(R, uncertainties=[nothing], **HOW)
