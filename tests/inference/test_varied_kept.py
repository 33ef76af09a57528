"""What a calibration keeps at a value of the nuisance parameters."""

import numpy as np
import pytest

from lanner.inference.varied_experiment import VariedExperiment
from lanner.inference.varied_judge import VariedJudge
from lanner.inference.varied_kept import KeptAtNu, KeptVariedExperiment, kept_ladder_at_nu
from lanner.inference.varied_pool import ProfiledPool
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
    # The nuisances of the data, by the expansion about this point, are those of the whole of log r.
    first, profile = alone.first, judge.profile(DATA)
    assert isinstance(first, KeptVariedExperiment)
    assert isinstance(first.pool, ProfiledPool)
    fits = first.pool.rows.fits(first.data_draws(1), expected=first.plan.expected, shape_only=False)
    delta = fits.solve()
    np.testing.assert_allclose(nu + delta[0], profile.nu, atol=0.02)
    np.testing.assert_allclose(fits.errors(delta)[0], profile.errors, rtol=0.02)
