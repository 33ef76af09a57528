"""What a calibration keeps at a value of the nuisance parameters."""

import numpy as np
import pytest

from lanner.inference.varied_experiment import VariedExperiment
from lanner.inference.varied_judge import VariedJudge
from lanner.inference.varied_kept import KeptAtNu, KeptVariedExperiment, kept_ladder_at_nu
from tests.inference.test_varied_judge import PLANS
from tests.inference.test_varied_pool import BOTH, DATA, REFERENCE


@pytest.mark.parametrize("nu", [(0.0, 0.0), (1.0, -0.5)])
def test_data_are_judged_as_with_the_events(nu: tuple[float, float]) -> None:
    judge = VariedJudge.of(PLANS, REFERENCE, BOTH, memory=2 * 10**9)
    whole = judge.ladder(np.array(nu), [DATA])
    kept = {}
    for experiment in whole.scales:
        assert isinstance(experiment, VariedExperiment)
        kept[experiment.plan.width] = KeptAtNu.from_arrays(KeptAtNu.of(experiment, 10).to_arrays())
    alone = kept_ladder_at_nu(kept, PLANS, REFERENCE, DATA, BOTH.of(DATA.features), memory=10**9)
    for one, other in zip(whole.fit_data(1), alone.fit_data(1), strict=True):
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(alone.scales[0].band(5), whole.scales[0].band(5), rtol=1e-3, atol=1e-3)
    first, profile = alone.first, judge.profile(DATA)
    assert isinstance(first, KeptVariedExperiment)
    found, errors = first.fitted()
    np.testing.assert_allclose(found, profile.nu, atol=0.02)
    np.testing.assert_allclose(errors, profile.errors, rtol=0.02)
