from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lanner
from tests.conftest import exponential


@parametrize_with_checks([lanner.LogRatioClassifier()])
def test_obeys_the_rules_of_scikit_learn(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


@pytest.fixture(scope="module")
def labelled() -> tuple[np.ndarray, np.ndarray]:
    reference, data = exponential(3000, 300)
    return np.vstack([reference, data]), np.repeat([0, 1], [3000, 300])


def test_decision_function_is_the_log_ratio(labelled: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = labelled
    model = lanner.LogRatioClassifier(width=0.2, penalty=1e-5, centers=3300, expected=290).fit(x, y)
    ratio = lanner.fit_ratio(
        x[y == 0], x[y == 1], expected=290, width=0.2, penalty=1e-5, centers=3300, rng=0, precision="double"
    )
    np.testing.assert_allclose(model.decision_function(x), ratio.log_ratio(x), atol=1e-4)
    assert model.statistic_ == pytest.approx(ratio.statistic, abs=1e-3)


def test_probabilities_are_the_sigmoid_of_f(labelled: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = labelled
    model = lanner.LogRatioClassifier(width=0.2, random_state=0).fit(x, y)
    np.testing.assert_allclose(np.log(model.predict_proba(x)[:, 1] / model.predict_proba(x)[:, 0]), model.decision_function(x), atol=1e-9)  # fmt: skip  # noqa: E501


def test_works_in_pipelines_and_searches(labelled: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = labelled
    pipeline = make_pipeline(StandardScaler(), lanner.LogRatioClassifier(centers=100, random_state=0))
    search = GridSearchCV(pipeline, {"logratioclassifier__width": [1.0, 3.0]}, cv=2, scoring="roc_auc").fit(x, y)
    assert clone(search.best_estimator_).get_params()["logratioclassifier__centers"] == 100


@pytest.mark.parametrize(
    "settings", [{"centers": 0}, {"centers": 2.5}, {"expected": 0.0}, {"expected": -5.0}, {"expected": float("nan")}]
)
def test_bad_settings_are_named(labelled: tuple[np.ndarray, np.ndarray], settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        lanner.LogRatioClassifier(width=0.2, **settings).fit(*labelled)
