"""Two variations are the same or not; what else is checked, `test_declared` tries out."""

import numpy as np

from lanner import Sample
from lanner.uncertainties.checks import same

X = np.arange(4.0)[:, None]


def test_samples_are_the_same_by_values_and_weights() -> None:
    plain, weighted = Sample.of(X), Sample.of(X, weights=[1, 1, 1, 2])
    assert same(plain, Sample.of(X, weights=np.ones(4)))
    assert not same(plain, weighted)
    assert not same(plain, Sample.of(X[:3]))


def test_a_name_is_never_the_same_as_numbers() -> None:
    assert not same("w", np.ones(2))
    assert same("w", "w")
