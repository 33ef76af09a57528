"""Many data sets against one reference with uncertainties."""

import numpy as np
import pytest

from lanner.events import Sample
from lanner.inference.multiscale import Recipe
from lanner.inference.plan import plan_scales
from lanner.inference.varied_experiment import VariedPlan
from lanner.inference.varied_judge import VariedJudge
from lanner.settings import FitSettings
from tests.inference.test_varied_pool import BOTH, DATA, REFERENCE, N

PLANS = plan_scales(REFERENCE, None, expected=N, settings=FitSettings(seed=4, precision="double"))
OTHER = Sample.of(np.random.default_rng(2).exponential(0.95, size=(380, 1)))


@pytest.mark.parametrize("memory", [2 * 10**9, 10**8], ids=["features kept", "features made anew"])
def test_a_data_set_is_judged_as_a_search_judges_it(memory: int) -> None:
    judge = VariedJudge.of(PLANS, REFERENCE, BOTH, memory=memory)
    auxiliary = np.array([0.3, -0.2])
    varied = VariedPlan.of(BOTH, PLANS[0], REFERENCE, DATA, auxiliary)
    np.testing.assert_array_equal(judge.profile(DATA, auxiliary).nu, varied.profile.nu)
    alone = Recipe(PLANS, REFERENCE, DATA, varied=varied).prepare(10**9)
    among = judge.ladder(varied.profile.nu, [DATA], auxiliary[None])
    for mine, his in ((among.fit_toys(range(10)), alone.fit_toys(range(10))), (among.fit_data(1), alone.fit_data(1))):
        for one, other in zip(mine, his, strict=True):
            np.testing.assert_allclose(one.statistic, other.statistic, rtol=2e-4, atol=2e-4)


def test_several_data_sets_are_judged_together_as_alone() -> None:
    judge = VariedJudge.of(PLANS, REFERENCE, BOTH, memory=10**9)
    nu, auxiliary = np.array([0.5, 0.1]), np.array([[0.0, 0.0], [1.0, -1.0]])
    together = judge.ladder(nu, [DATA, OTHER], auxiliary)
    found = together.fit([together.first.scheme.data(k) for k in range(2)])
    for k, data in enumerate((DATA, OTHER)):
        alone = judge.ladder(nu, [data], auxiliary[k : k + 1]).fit_data(1)
        for one, other in zip(found, alone, strict=True):
            assert one.statistic[k] == pytest.approx(other.statistic[0], rel=1e-9, abs=1e-9)
