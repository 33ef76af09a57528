"""Sums over a reference at fitted nuisance parameters."""

import numpy as np

from lanner.events.scaled_rows import ScaledRows
from lanner.inference.experiment import basis_of, candidates_of
from lanner.inference.plan import plan_scales
from lanner.inference.varied_experiment import VariedExperiment, VariedPlan, varied_scheme
from lanner.inference.varied_sums import StoredEventFeatures
from lanner.settings import FitSettings
from tests.inference.test_varied_pool import BOTH, DATA, REFERENCE, N


def test_features_that_are_kept_give_the_same() -> None:
    plans = plan_scales(REFERENCE, DATA, expected=N, settings=FitSettings(seed=4, precision="double"))
    varied = VariedPlan.of(BOTH, plans[0], REFERENCE, DATA)
    at_nu = varied.reference(plans[0], REFERENCE)
    scheme, rows = varied_scheme(plans[0], REFERENCE, [DATA], at_nu, varied.auxiliary[None])
    plan = plans[-1]
    events = ScaledRows((REFERENCE.features,), plan.units)
    basis = basis_of(plan, candidates_of(plan, REFERENCE, events, None)[0], 10**9)
    kept = StoredEventFeatures.of(events, basis, len(REFERENCE))
    plain, stored = (
        VariedExperiment.at(plan, REFERENCE, [DATA], at_nu, scheme, rows, memory=10**9, source=source)
        for source in (None, kept)
    )
    for draws in ([scheme.toy(i) for i in range(20)], plain.data_draws(1)):
        one, other = (e.fit(draws).statistic for e in (plain, stored))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
