from dataclasses import replace

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events import Sample
from lanner.report.learned import Learned
from tests.report.showcase import the_case, the_findings
from tests.report.test_profiles import flat_ratio
from tests.report.uncertain_showcase import the_uncertain_case


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
    reference, data = (Sample.of(columns) for columns in (the_case().reference, the_case().data))
    learned = Learned.evaluate(result.ratio, reference, data, expected=400, null_coefficients=own)
    assert learned.null is not None
    np.testing.assert_allclose(learned.null, np.exp(found.log_ratio_reference)[:, None].repeat(2, axis=1), rtol=1e-9)
    assert learned.share.sum() == pytest.approx(400)


def test_the_reference_is_taken_where_the_nuisances_fit_and_its_error_is_that_of_moving_them() -> None:
    """Beside draws of the nuisances from their covariance, each reweighting every event."""
    case = the_uncertain_case()
    fitted = case.result.systematics.fitted
    assert fitted is not None
    reference, data = (Sample.of(columns) for columns in (case.reference, case.data))
    learned = Learned.evaluate(case.result.ratio, reference, data, expected=280, fitted=fitted)
    at_nu = fitted.at(reference.features)
    np.testing.assert_allclose(learned.share, 280 / len(reference) * at_nu.ratio)
    bins = np.digitize(reference.features[:, 0], [0.5, 1.0, 2.0, 4.0])
    found = learned.uncertainty(bins, 5)
    assert found is not None
    assert learned.slopes is not None
    moved = np.random.default_rng(1).multivariate_normal(np.zeros(3), fitted.covariance, 4000)
    shares = np.stack([np.bincount(bins, learned.share * d) for d in learned.slopes.T])
    np.testing.assert_allclose(found, (moved @ shares).std(axis=0), rtol=0.05)
    inside = bins == 2
    assert learned.variance_from_uncertainties(inside) == pytest.approx(found[2] ** 2)


def test_without_uncertainties_there_is_no_error_from_them() -> None:
    learned = the_findings().learned
    assert learned.uncertainty(np.zeros(len(learned.share), dtype=np.intp), 1) is None
    assert learned.variance_from_uncertainties(np.ones(len(learned.share), dtype=bool)) == 0.0


def test_where_only_the_shape_is_tested_a_change_of_the_number_is_no_error() -> None:
    case = the_uncertain_case()
    reference, data = (Sample.of(columns) for columns in (case.reference, case.data))
    shape = replace(case.result.ratio, shape_only=True)
    learned = Learned.evaluate(shape, reference, data, expected=300, fitted=case.result.systematics.fitted)
    assert learned.share.sum() == pytest.approx(300)
    everything = np.ones(len(reference), dtype=bool)
    assert learned.variance_from_uncertainties(everything) == pytest.approx(0.0, abs=1e-6)
