from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.errors import InputError
from tests.conftest import exponential

R, _ = exponential(10_000, 1)
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


def test_an_interrupted_run_resumes_with_the_same_toys(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, work: int) -> None:
        assert done <= work == 60 + 2 * 40
        if done > 110:  # within the second strength
            raise Stop

    whole = lanner.power(R, SIGNAL, signal_events=[5, 10], **OPTIONS)  # type: ignore[arg-type]
    with pytest.raises(Stop):
        lanner.power(R, SIGNAL, signal_events=[5, 10], output=tmp_path, progress=stop, **OPTIONS)  # type: ignore[arg-type]
    kept = (tmp_path / "signal-5" / "batch-00000000.npz").stat().st_mtime_ns
    resumed = lanner.power(R, SIGNAL, signal_events=[5, 10], output=tmp_path, **OPTIONS)  # type: ignore[arg-type]
    assert (tmp_path / "signal-5" / "batch-00000000.npz").stat().st_mtime_ns == kept
    for a, b in zip(whole.strengths, resumed.strengths, strict=True):
        np.testing.assert_array_equal(a.statistics, b.statistics)


def test_a_signal_that_is_all_of_the_data() -> None:
    # Events of the reference model itself, alone: nothing to find, whatever their source.
    same = np.random.default_rng(5).exponential(1 / 8, (3000, 1))
    null = lanner.power(R, same, signal_events=[500], alone=True, **OPTIONS)  # type: ignore[arg-type]
    assert abs(null.strengths[0].band()[1]) < 0.8
    # Added to the reference they would double the data.
    added = lanner.power(R, same, signal_events=[500], **OPTIONS)  # type: ignore[arg-type]
    assert added.strengths[0].band()[1] > 5


def test_a_smaller_reference_widens_the_null() -> None:
    # By 1 + N(0)/N0 to first order, 2 against 1.1, and more where e^f is far from its second order.
    options = {"signal_events": [15], "centers": 300} | OPTIONS | {"toys": 600, "experiments": 1}
    few = lanner.power(R, SIGNAL, reference_size=500, **options)  # type: ignore[arg-type]
    many = lanner.power(R, SIGNAL, **options)  # type: ignore[arg-type]
    assert np.median(few.null.statistics) > 1.8 * np.median(many.null.statistics)


def test_a_reference_size_beyond_the_reference_is_refused() -> None:
    with pytest.raises(InputError, match=r"reference_size=9900: give from 2 to 9\d\d\d"):
        lanner.power(R, SIGNAL, signal_events=[10], reference_size=9900, **OPTIONS)  # type: ignore[arg-type]
