import numpy as np
import pytest

import lanner
from conftest import exponential
from lanner.errors import InputError

R, _ = exponential(6000, 1)
SIGNAL = np.random.default_rng(2).normal(0.8, 0.02, (400, 1))
OPTIONS = {"expected": 500, "toys": 60, "experiments": 40, "seed": 1, "width": 0.3, "penalty": 1e-6, "scaling": None}


def test_power_grows_with_the_signal() -> None:
    found = lanner.power(R, SIGNAL, signal_events=[0, 10, 30], **OPTIONS)  # type: ignore[arg-type]
    medians = [s.band()[1] for s in found.strengths]
    assert medians == sorted(medians)
    assert abs(medians[0]) < 0.8
    assert found.strengths[0].probability(3) <= 0.05
    assert found.strengths[2].probability(3) > 0.9
    assert found.strengths[2].band("empirical")[1] == pytest.approx(found.reach)
    assert "P(5 sigma)" in str(found)
    assert found.to_dict()["strengths"][2]["analytic"]["probability"]["2 sigma"] == 1.0


@pytest.mark.parametrize("strengths", [[], [-1.0], [390.0]])
def test_strengths_that_cannot_be_drawn_are_refused(strengths: list[float]) -> None:
    with pytest.raises(InputError, match="signal_events="):
        lanner.power(R, SIGNAL, signal_events=strengths, **OPTIONS)  # type: ignore[arg-type]
