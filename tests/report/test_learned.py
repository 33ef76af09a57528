import numpy as np
import pytest

from lanner.errors import InputError
from lanner.report.learned import Learned
from tests.report.showcase import the_case, the_findings
from tests.report.test_profiles import flat_ratio


def test_a_toy_without_finite_coefficients_is_counted(rng: np.random.Generator) -> None:
    ratio, reference, data = flat_ratio(0.0)
    toys = np.array([[0.0, np.nan, 0.1]])
    learned = Learned.evaluate(ratio, reference, data, expected=100, null_coefficients=toys, rng=rng)
    assert learned.unusable_toys == 1
    assert learned.null is not None
    assert learned.null.shape == (1000, 2)


def test_coefficients_of_another_search_are_refused() -> None:
    ratio, reference, data = flat_ratio(0.0)
    with pytest.raises(InputError, match="one row per centre"):
        Learned.evaluate(ratio, reference, data, expected=100, null_coefficients=np.zeros((2, 5)))


def test_toys_are_evaluated_as_the_data_are() -> None:
    """With the data's own coefficients as those of two toys, their ratio is the data's."""
    result, found = the_case().result, the_findings()
    own = np.stack([result.ratio.coefficients] * 2, axis=1)
    from lanner.events import Sample

    reference, data = (Sample.of(columns) for columns in (the_case().reference, the_case().data))
    learned = Learned.evaluate(result.ratio, reference, data, expected=400, null_coefficients=own)
    assert learned.null is not None
    np.testing.assert_allclose(learned.null, np.exp(found.log_ratio_reference)[:, None].repeat(2, axis=1), rtol=1e-9)
    assert learned.share.sum() == pytest.approx(400)
