"""How toys at fitted nuisance parameters are drawn, and what law they follow."""

import numpy as np
import pytest

from lanner.inference.varied_experiment import VariedScheme
from tests.inference.test_varied_pool import ladder


def test_a_toy_is_its_number_and_takes_no_event_that_judges_it() -> None:
    scheme = ladder().first.scheme
    assert isinstance(scheme, VariedScheme)
    assert scheme.splits is not None
    for i in (0, 5, 1234):
        one, again = scheme.toy(i), scheme.toy(i)
        np.testing.assert_array_equal(one.data, again.data)
        assert one.auxiliary is not None
        np.testing.assert_array_equal(one.auxiliary, again.auxiliary)
        assert one.split is not None
        assert np.isin(one.data, scheme.splits.free(one.split)).all()
        assert len(np.unique(one.data)) == len(one.data)


@pytest.mark.parametrize("bunch", [1, 7])
def test_sizes_of_toys_are_poisson_numbers_of_what_is_predicted(bunch: int) -> None:
    scheme = ladder(bunch=bunch).first.scheme
    assert isinstance(scheme, VariedScheme)
    sizes = np.array([scheme.toy(i).data_size for i in range(2000)])
    assert sizes.mean() == pytest.approx(scheme.expected, abs=4 * scheme.expected**0.5 / 2000**0.5)
    assert sizes.var() == pytest.approx(scheme.expected, rel=0.15)


def test_toys_are_what_their_law_says() -> None:
    made = ladder()
    q = np.stack([s.statistic for s in made.fit_toys(range(1500))])
    for k, experiment in enumerate(made.scales):
        law = experiment.analytic_moments()
        assert q[k].mean() == pytest.approx(law.mean, abs=5 * law.std / 1500**0.5 + 0.05 * law.mean)
