import json

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from lanner.inference.tuning import Trial
from tests.conftest import exponential, shaped


def test_the_width_is_the_papers_in_one_dimension() -> None:
    # App. C: 90th percentile of the pairwise distances, about 0.3.
    tuning = lanner.tune(exponential(20_000, 1)[0], expected=200, scaling=None, seed=1)
    assert tuning.width == pytest.approx(0.3, abs=0.02)
    assert tuning.penalties[0].penalty > tuning.penalties[-1].penalty
    assert tuning.centers >= 20_000**0.5 - 1
    for word in ("width", "penalty", "centers", "stable"):
        assert word in str(tuning)


def test_what_is_given_stays() -> None:
    tuning = lanner.tune(shaped(3, 6000), expected=500, width=1.5, penalty=1e-5, centers=300, seed=1)
    assert tuning.settings() == {"width": 1.5, "penalty": 1e-5, "centers": 300}
    plain = json.loads(json.dumps(tuning.to_dict()))
    assert plain["penalty"] == 1e-5
    assert [trial["stable"] for trial in plain["penalties"]] == [trial.stable for trial in tuning.penalties]


def test_tuning_is_reproducible() -> None:
    runs = [lanner.tune(shaped(3, 5000), expected=300, penalty=1e-5, seed=4) for _ in range(2)]
    assert runs[0].settings() == runs[1].settings()


def trial(**changes: object) -> Trial:
    plain: dict[str, object] = {
        "centers": 10, "penalty": 1e-6, "rank": 5, "mean": 10.0, "spread": 4.0, "analytic_mean": 10.5,
        "analytic_spread": 4.5, "not_converged": 0, "not_positive": 0, "toys": 40, "seconds_per_toy": 0.1,
        "expected": 200.0,
    }  # fmt: skip
    return Trial(**(plain | changes))  # type: ignore[arg-type]


UNSTABLE = [{"not_converged": 1}, {"not_positive": 1}, {"mean": np.nan}, {"mean": 20.0}, {"expected": 90.0}]


@pytest.mark.parametrize("changes", UNSTABLE)
def test_what_is_not_stable(changes: dict[str, object]) -> None:
    assert trial().stable
    assert not trial(**changes).stable


def test_it_needs_a_number_of_events() -> None:
    with pytest.raises(InputError, match="expected=None"):
        lanner.tune(shaped(3, 500), expected=None)
