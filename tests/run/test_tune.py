import numpy as np
import pytest

import lanner
from lanner.errors import InputError, UnknownSettingError
from tests.conftest import exponential

R = exponential(3000, 1, seed=1)[0]


def test_the_width_is_a_quantile_of_the_distances() -> None:
    """The 90th percentile (App. C), of features in units of their spread; of an exponential that is log(10)."""
    found = lanner.tune(R, expected=200, penalty=1e-5, centers=100, seed=1, scaling="standard")
    assert found.width == pytest.approx(np.log(10), rel=0.1)


def test_what_is_given_is_not_tuned() -> None:
    found = lanner.tune(R, expected=200, width=0.7, penalty=1e-5, centers=100)
    assert (found.width, found.penalty, found.centers) == (0.7, 1e-5, 100)


def test_progress_is_told_in_two_words_or_in_three() -> None:
    two, three = [], []
    lanner.tune(R, expected=200, penalty=1e-5, centers=50, progress=lambda done, total: two.append((done, total)))
    lanner.tune(R, expected=200, penalty=1e-5, centers=50, progress=lambda *said: three.append(said))
    assert two == [said[1:] for said in three] != []


def test_the_reference_is_checked() -> None:
    with pytest.raises(InputError, match="the reference has 10 events"):
        lanner.tune(R[:10], expected=5)
    with pytest.raises(InputError, match="expected=-3"):
        lanner.tune(R, expected=-3)


def test_a_misspelt_setting_is_refused_before_anything_is_done() -> None:
    with pytest.raises(UnknownSettingError, match="penalty"):
        lanner.tune(None, expected=200, penalti=1e-5)  # type: ignore[call-arg]
