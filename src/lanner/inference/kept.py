"""What a calibration keeps of a width, so that data can be judged without the reference's features.

The sums over the reference, what each of the data's draws leaves out of them, the moments, and u of some toys for the
bands of plots. Data then cost their own features alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.multiscale import Ladder, terms_of
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.score_experiment import ScoreExperiment
from lanner.inference.terms import ReachTerm
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, StoredFeatures
from lanner.model.kernel import GaussianKernel
from lanner.model.local_excess import LocalExcess
from lanner.model.moments import Eigenbasis, Spectrum
from lanner.model.nystrom import Basis
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.score_model import ScoreModel
from lanner.model.score_pool import ScorePool
from lanner.model.summing import Whitened, reach_columns, summed
from lanner.typing import Array

BAND_TOYS = 100  # toys whose ratio is kept for the bands of plots


def model_arrays(model: ScoreModel) -> dict[str, NDArray[Any]]:
    """What judges data at a width, as arrays by name."""
    basis, local = model.basis, model.local_excess
    return {
        "width": np.array(basis.kernel.width),
        "pivots": basis.pivots,
        "factor": basis.factor,
        "trace_error": np.array(basis.trace_error),
        "values": np.stack([b.spectrum.values for b in model.bases]),
        "means": np.stack([b.spectrum.means for b in model.bases]),
        "vectors": np.stack([b.vectors for b in model.bases]),
        "window_mean": local.mean,
        "window_size": local.size,
        "worth": np.array(local.worth),
        "total": model.total,
        "mass": np.array(model.mass),
        "expected": np.array(model.expected),
    }


def model_from_arrays(a: Mapping[str, NDArray[Any]], arrays: Arrays = NUMPY) -> ScoreModel:
    """Read what `model_arrays` made."""
    basis = Basis(
        GaussianKernel(float(a["width"])), a["pivots"], np.asfortranarray(a["factor"]), float(a["trace_error"])
    )
    bases = tuple(
        Eigenbasis(Spectrum(values, means), vectors)
        for values, means, vectors in zip(a["values"], a["means"], a["vectors"], strict=True)
    )
    local = LocalExcess(basis.factor, a["window_mean"], a["window_size"], float(a["expected"]), float(a["worth"]))
    return ScoreModel(basis, bases, local, a["total"], float(a["mass"]), float(a["expected"]), arrays)


def reach_and_band(experiment: ScoreExperiment, toys: int) -> tuple[Array, Array, NDArray[np.intp]]:
    """What the reach needs of the null, u of the first toys, and which split judges each of them."""
    pool, reach = experiment.pool, experiment.reach()
    taken = pool.taken([experiment.scheme.toy(i) for i in range(min(toys, BAND_TOYS))])
    u = pool.model.without_own(pool.sums(taken), pool.pivots_among(taken))
    return (
        np.array([reach.mean, reach.square, reach.expected_beyond]),
        pool.model.arrays.get(u),
        np.array([0 if split is None else split for split in taken.splits]),
    )


class Kept(Protocol):
    """What data are judged by at a width that is kept."""

    @property
    def model(self) -> ScoreModel:
        """What judges sums of features."""

    @property
    def reach(self) -> Array:
        """What the reach needs of the null."""

    @property
    def band(self) -> Array:
        """The first toys' u."""

    @property
    def band_splits(self) -> NDArray[np.intp]:
        """Which split judges each of them."""


@dataclass(frozen=True, eq=False)
class KeptWidth:
    """One width of a calibration."""

    model: ScoreModel
    left_out: Array  # (draws, r): the sum of the features that each of the data's draws leaves out
    left_out_size: int  # events of each of these
    reach: Array  # E[g] and E[g^2] of the residuals under the null, and how many events are expected out of reach
    band: Array  # (r, toys): u of the first toys
    band_splits: NDArray[np.intp]  # which split judges each of them

    @classmethod
    def of(cls, experiment: ScoreExperiment, toys: int) -> KeptWidth:
        """Of an experiment whose toys take bunches, with u of its first toys."""
        scheme, pool = experiment.scheme, experiment.pool
        assert isinstance(scheme, ReferenceScheme)
        assert scheme.left_out_rows is not None
        assert isinstance(pool.features, StoredFeatures)
        arrays, rows = pool.model.arrays, scheme.left_out_rows
        return cls(
            pool.model,
            arrays.get(arrays.take(pool.features.phi, rows, axis=0)),
            int(pool.bunches.sizes[rows[0]]) if len(rows) else 0,
            *reach_and_band(experiment, toys),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays by name."""
        return model_arrays(self.model) | {
            "left_out": self.left_out,
            "left_out_size": np.array(self.left_out_size),
            "reach": self.reach,
            "band": self.band.astype(np.float32),
            "band_splits": self.band_splits,
        }

    @classmethod
    def from_arrays(cls, a: Mapping[str, NDArray[Any]], arrays: Arrays = NUMPY) -> KeptWidth:
        """Read what `to_arrays` wrote."""
        band = a["band"].astype(np.float64)
        return cls(
            model_from_arrays(a, arrays), a["left_out"], int(a["left_out_size"]), a["reach"], band, a["band_splits"]
        )

    def experiment(self, plan: Plan, reference: Sample, data: Sample, *, memory: int) -> KeptExperiment:
        """The data at this width, judged as a search would judge them."""
        arrays, dtype = self.model.arrays, PRECISIONS[plan.precision]
        columns = reach_columns(len(reference), self.model.basis.rank)
        events = ScaledRows((data.features,), plan.units)
        total, residuals = summed(events, Whitened.of(self.model.basis, arrays), np.arange(len(data)), columns)
        phi = arrays.put(np.vstack([self.left_out, total[None, :]]), dtype)
        draws = len(self.left_out)
        sizes = np.append(np.full(draws, self.left_out_size), len(data))
        bunches = Bunches.kept(sizes, np.arange(draws + 1) < draws)
        nobody, rows = np.empty(0, dtype=np.intp), np.arange(draws + 1)
        scheme = ReferenceScheme(
            bunches,
            plan.expected,
            plan.fixed,
            plan.reference_size,
            nobody,
            plan.seed,
            rows[draws:],
            rows[:draws],
        )
        features = StoredFeatures(self.model.basis, phi, dtype, arrays)
        by_row = np.append(np.zeros(draws), residuals.sum())
        of_data = Residuals(by_row, residuals, ResidualSums(*np.zeros(4)))  # what the null has was kept
        pool = ScorePool(self.model, features, bunches, of_data, memory)
        return KeptExperiment(plan, scheme, reference, data, None, pool, self)


@dataclass(frozen=True, eq=False)
class KeptExperiment(ScoreExperiment):
    """Data at a width that a calibration keeps."""

    kept: Kept

    def reach(self) -> ReachTerm:  # noqa: D102
        mean, square, beyond = (float(x) for x in self.kept.reach)
        of_data = self.pool.residuals
        return ReachTerm(self.plan.width, of_data.by_row, of_data.of_data, mean, square, self.plan.expected, beyond)

    def band(self, toys: int) -> Array:  # noqa: D102
        kept = self.kept
        rotated = kept.model.scores.rotate(kept.model.arrays.put(kept.band[:, :toys]), kept.band_splits[:toys].tolist())
        return self.score(rotated, kept=toys).coefficients


def kept_ladder(
    kept: Mapping[float, KeptWidth], plans: Sequence[Plan], reference: Sample, data: Sample, *, memory: int
) -> Ladder:
    """The ladder of a calibration with data, from what was kept of each width."""
    first = {width: kept[width].experiment(plans[0], reference, data, memory=memory) for width in kept}
    scales = tuple(first[plan.width].at_penalty(plan) for plan in plans)
    return Ladder(scales, terms_of(scales) if len(scales) > 1 else ())


def keeps(ladder: Ladder) -> bool:
    """Whether a ladder can be kept: where its toys take bunches of the reference."""
    scheme = ladder.first.scheme
    return isinstance(scheme, ReferenceScheme) and scheme.left_out_rows is not None
