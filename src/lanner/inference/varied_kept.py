"""What a calibration keeps of a width at one value of the nuisance parameters, to judge data there without the events.

Beside what it keeps without uncertainties (`inference/kept.py`): the sums over the reference as a series in how far the
data's own nuisances are from that value, for u and for the fit of the nuisances itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanner.events import Sample
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.kept import KeptExperiment, model_arrays, model_from_arrays, reach_and_band
from lanner.inference.multiscale import Ladder, terms_of
from lanner.inference.plan import Plan
from lanner.inference.resampling import ReferenceScheme
from lanner.inference.terms import ProfiledCountTerm
from lanner.inference.varied_experiment import VariedExperiment
from lanner.inference.varied_pool import NuisanceRows, ProfiledPool, VariedPool
from lanner.model.backend import NUMPY, Arrays
from lanner.model.bunches import Bunches
from lanner.model.features import PRECISIONS, StoredFeatures
from lanner.model.residuals import Residuals, ResidualSums
from lanner.model.score_model import ScoreModel
from lanner.model.summing import Whitened, reach_columns, summed
from lanner.model.weightings import Draw
from lanner.typing import Array
from lanner.uncertainties.effects import Effects
from lanner.uncertainties.toys import Monomials


@dataclass(frozen=True, eq=False)
class KeptAtNu:
    """One width at one value of the nuisances."""

    model: ScoreModel
    nu: Array
    totals: Array  # (r, powers)
    powers: Array  # (powers,): sums over the reference for the fit of the nuisances
    weight: float  # of the reference
    count_share: float  # of the variance of the number of events, that the nuisances leave
    reach: Array  # E[g], E[g^2], and how many events are expected out of reach
    band: Array  # (r, toys): u of the first toys
    band_splits: NDArray[np.intp]

    @classmethod
    def of(cls, experiment: VariedExperiment, toys: int) -> KeptAtNu:
        """Of an experiment, with u of its first toys."""
        pool = experiment.pool
        assert isinstance(pool, VariedPool)
        return cls(
            pool.model,
            pool.varied.nu,
            pool.totals,
            pool.rows.total,
            pool.rows.weight,
            experiment.count_term().share,
            *reach_and_band(experiment, toys),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays by name."""
        return model_arrays(self.model) | {
            "nu": self.nu,
            "totals": self.totals,
            "powers": self.powers,
            "weight": np.array(self.weight),
            "count_share": np.array(self.count_share),
            "reach": self.reach,
            "band": self.band.astype(np.float32),
            "band_splits": self.band_splits,
        }

    @classmethod
    def from_arrays(cls, a: Mapping[str, NDArray[Any]], arrays: Arrays = NUMPY) -> KeptAtNu:
        """Read what `to_arrays` wrote."""
        return cls(
            model_from_arrays(a, arrays),
            a["nu"],
            a["totals"],
            a["powers"],
            float(a["weight"]),
            float(a["count_share"]),
            a["reach"],
            a["band"].astype(np.float64),
            a["band_splits"],
        )

    def experiment(
        self, plan: Plan, reference: Sample, data: Sample, effects: Effects, *, memory: int
    ) -> KeptVariedExperiment:
        """The data at this width, with the effects of the nuisances on them, judged as a toy made here would be."""
        arrays, dtype = self.model.arrays, PRECISIONS[plan.precision]
        events = ScaledRows((data.features,), plan.units)
        columns = reach_columns(len(reference), self.model.basis.rank)
        total, residuals = summed(events, Whitened.of(self.model.basis, arrays), np.arange(len(data)), columns)
        _, d, e = effects.at(self.nu)
        bunches = Bunches.kept(np.array([len(data)]), np.array([False]))
        rows = NuisanceRows(
            np.array([len(data)]),
            d.sum(axis=0)[None],
            e.sum(axis=0)[None],
            np.zeros(1),
            np.zeros((1, len(self.powers))),
            self.powers,
            self.weight,
            Monomials.of(len(self.nu)),
        )
        pool = ProfiledPool(
            self.model,
            StoredFeatures(self.model.basis, arrays.put(total[None, :], dtype), dtype, arrays),
            bunches,
            Residuals(np.array([residuals.sum()]), residuals, ResidualSums(*np.zeros(4))),
            memory,
            rows=rows,
            totals=self.totals,
            expected=plan.expected,
            shape_only=plan.fixed is not None,
        )
        nobody = np.empty(0, dtype=np.intp)
        scheme = ReferenceScheme(
            bunches, plan.expected, plan.fixed, plan.reference_size, nobody, plan.seed, np.array([0])
        )
        return KeptVariedExperiment(plan, scheme, reference, data, None, pool, self)


@dataclass(frozen=True, eq=False)
class KeptVariedExperiment(KeptExperiment):
    """Data at a width and a value of the nuisances that a calibration keeps."""

    kept: KeptAtNu

    def count_term(self) -> ProfiledCountTerm:  # noqa: D102
        return ProfiledCountTerm(self.kept.count_share)

    def data_draws(self, draws: int) -> list[Draw]:  # noqa: D102
        nobody = np.empty(0, dtype=np.intp)
        # Of real data nothing is known of the nuisances from elsewhere but their central values: a = 0.
        return [Draw(1, 0, np.array([0]), nobody, None, self.pool.bunches.sizes, -self.kept.nu)]


def kept_ladder_at_nu(
    kept: Mapping[float, KeptAtNu],
    plans: Sequence[Plan],
    reference: Sample,
    data: Sample,
    effects: Effects,
    *,
    memory: int,
) -> Ladder:
    """The ladder of a calibration with data, at one value of the nuisances, from what was kept of each width."""
    first = {width: kept[width].experiment(plans[0], reference, data, effects, memory=memory) for width in kept}
    scales = tuple(first[plan.width].at_penalty(plan) for plan in plans)
    return Ladder(scales, terms_of(scales) if len(scales) > 1 else ())
