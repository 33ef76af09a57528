from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from lanner.comparison import Classifier, classifier_test
from lanner.comparison.tests.classifier import NULLS, STATISTICS
from lanner.errors import InputError
from tests.comparison.pools import pool_of


@pytest.fixture
def scores(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.round(rng.normal(0.3, 1, 80), 1), np.round(rng.normal(0, 1, 300), 1)


def test_auc_and_accuracy_are_scikit_learns(scores) -> None:
    data, reference = scores
    labels = np.repeat([1, 0], [len(data), len(reference)])
    both = np.concatenate([data, reference])
    assert STATISTICS["auc"](data, reference) == pytest.approx(roc_auc_score(labels, both), rel=1e-12)
    both = both[both != 0]
    labels = labels[np.concatenate([data, reference]) != 0]
    found = STATISTICS["balanced-accuracy"](both[labels == 1], both[labels == 0])
    assert found == pytest.approx(balanced_accuracy_score(labels, both > 0), rel=1e-12)


@pytest.mark.parametrize("statistic", list(STATISTICS))
@pytest.mark.parametrize("null", NULLS)
def test_p_values_are_uniform_where_both_are_alike(statistic: str, null: str) -> None:
    found = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        reference, data = rng.normal(size=(300, 2)), rng.normal(size=(100, 2))
        found.append(
            classifier_test(
                reference, data, statistic=statistic, null=null, classifier=LogisticRegression(), replicates=49, rng=rng
            ).p_value
        )
    assert stats.kstest(np.array(found) - np.random.default_rng(0).uniform(0, 0.02, 80), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("statistic", list(STATISTICS))
@pytest.mark.parametrize("null", NULLS)
def test_an_easy_signal_is_found(statistic: str, null: str, rng: np.random.Generator) -> None:
    found = classifier_test(rng.normal(size=(1000, 1)), rng.normal(1, 1, 300), statistic=statistic, null=null, rng=1)
    assert found.p_value <= 0.001
    assert found.z_score > 3


def test_the_asymptotic_auc_agrees_with_its_permutations(rng: np.random.Generator) -> None:
    reference, data = rng.normal(size=(600, 1)), rng.normal(0.15, 1, (300, 1))
    exact, asymptotic = (
        classifier_test(reference, data, null=null, classifier=LogisticRegression(), replicates=4000, rng=3).p_value
        for null in ("permutation", "asymptotic")
    )
    assert exact == pytest.approx(asymptotic, rel=0.2, abs=2e-3)


def test_every_toy_trains_a_classifier_of_its_own() -> None:
    pool = pool_of(dimensions=2, reference=3000, expected=300, other=400)
    prepared = Classifier("auc", LogisticRegression()).prepare(pool)
    null = prepared.statistics([pool.scheme.toy(i) for i in range(20)]).values[0]
    found = prepared.statistics([pool.scheme.data(0)]).values[0, 0]
    assert abs(null.mean() - 0.5) < 0.05
    assert found > null.max()
    again = prepared.statistics([pool.scheme.toy(3)]).values[0, 0]
    assert again == null[3]  # whatever the company


@pytest.mark.parametrize("wrong", [{"statistic": "accuracy"}, {"null": "none"}, {"share": 1.0}])
def test_what_is_not_known_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        classifier_test(np.zeros((10, 1)), np.zeros((10, 1)), **wrong)


def test_too_few_events_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="the data has 2 events"):
        classifier_test(rng.normal(size=(10, 1)), rng.normal(size=(2, 1)))


def test_columns_are_matched_by_name(rng: np.random.Generator) -> None:
    reference = {"a": rng.normal(size=400), "b": rng.normal(5, 1, 400)}
    data = {"b": rng.normal(5, 1, 200), "a": rng.normal(size=200)}
    assert classifier_test(reference, data, rng=1).p_value > 0.01


def test_missing_values_are_refused() -> None:
    with pytest.raises(InputError):
        classifier_test(np.full((10, 1), np.nan), np.zeros((10, 1)))


def test_a_toy_with_next_to_no_events_tells_nothing() -> None:
    pool = pool_of(dimensions=1, other=3)
    assert Classifier("auc").prepare(pool).statistics([pool.scheme.data(0)]).values[0, 0] == 0.5
