"""Classifier two-sample tests: train on one half of the events, test on the other (Chakravarti and others).

If a classifier tells held-out data from held-out reference better than chance, the two differ. Three statistics of its
output h, the estimated probability to be data where both are equally likely:

    likelihood-ratio    the mean of log(h / (1 - h)) over the held-out data
    auc                 the chance that a data event scores higher than a reference event
    balanced-accuracy   the share of right calls, the mean of both kinds

None of them looks at the number of events. The null is that of toys, each with a classifier of its own, or one that
needs no training: relabel the held-out events (permutation), draw new ones from the held-out reference
(bootstrap), or the statistic's own asymptotic law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lanner._util.machine import threads_if
from lanner.comparison.protocol import OneByOne, Prepared
from lanner.comparison.toy_pool import ToyPool
from lanner.comparison.trees import boosted_trees, many
from lanner.errors import InputError
from lanner.events import match_columns
from lanner.inference.significance import z_of_log_p
from lanner.model.weightings import REFERENCE, Draw
from lanner.run.prepare import checked_sample
from lanner.settings import spelled_out
from lanner.typing import Array, Progress

NULLS = ("permutation", "bootstrap", "asymptotic")
_LEAST = 4  # events of each sample
_ODDS = 1e-6  # h is kept this far from 0 and 1


def _mean_log_odds(data: Array, reference: Array) -> float:
    return float(data.mean())


def _auc(data: Array, reference: Array) -> float:
    """The area under the ROC curve from ranks, ties counting half."""
    ranks = stats.rankdata(np.concatenate([data, reference]))
    n, m = len(data), len(reference)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def _accuracy(data: Array, reference: Array) -> float:
    """Log-odds of 0 are called either way with equal chance."""
    right = np.mean(data > 0) + 0.5 * np.mean(data == 0) + np.mean(reference < 0) + 0.5 * np.mean(reference == 0)
    return float(right / 2)


STATISTICS: dict[str, Callable[[Array, Array], float]] = {
    "likelihood-ratio": _mean_log_odds,
    "auc": _auc,
    "balanced-accuracy": _accuracy,
}


_NOTHING = {"likelihood-ratio": 0.0, "auc": 0.5, "balanced-accuracy": 0.5}  # of a classifier that learned nothing


@dataclass(frozen=True)
class Classifier:
    """The test as one of a comparison: every toy trains a classifier of its own."""

    statistic: str = "auc"
    classifier: Any = field(default=None, hash=False)  # any of scikit-learn's; None: gradient-boosted trees
    share: float = 0.5  # of the events that train
    per_event: float = 10.0  # reference events for each data event, at most
    label: str | None = None  # a name of its own, to compare several

    def __post_init__(self) -> None:
        _check(self.statistic, self.share)

    @property
    def name(self) -> str:  # noqa: D102
        return self.label or f"classifier-{self.statistic}"

    def settings(self, pool: ToyPool) -> dict[str, Any]:  # noqa: D102
        return {
            "statistic": self.statistic,
            "classifier": "default" if self.classifier is None else repr(self.classifier),
            "share": self.share,
            "per_event": self.per_event,
        }

    def prepare(  # noqa: D102
        self, pool: ToyPool, folder: Path | None = None, progress: Progress | None = None
    ) -> Prepared:
        return _Trained(self, pool)


@dataclass(frozen=True, eq=False)
class _Trained(OneByOne):
    test: Classifier
    pool: ToyPool

    def statistic(self, draw: Draw) -> float:
        if len(draw.data) < _LEAST:
            return _NOTHING[self.test.statistic]  # such a toy tells nothing
        rng = self.pool.rng(draw, 1)
        rows = np.flatnonzero(draw.roles() == REFERENCE)
        most = int(self.test.per_event * len(draw.data))
        if len(rows) > most:
            rows = rng.choice(rows, most, replace=False)
        events = self.pool.events
        scores = held_out(
            events[rows], events[draw.data], classifier=self.test.classifier, share=self.test.share, rng=rng
        )
        return STATISTICS[self.test.statistic](scores.data, scores.reference)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Log-odds of the events that did not train."""

    reference: Array
    data: Array


def held_out(
    reference: Array, data: Array, *, classifier: Any = None, share: float = 0.5, rng: np.random.Generator
) -> HeldOut:
    """Train on a part of both samples and judge the rest."""
    if min(len(data), len(reference)) < _LEAST:
        raise InputError(f"{len(data)} data and {len(reference)} reference events are too few to train and to test on")
    parts = []
    for events in (reference, data):
        order = rng.permutation(len(events))
        cut = int(np.clip(round(share * len(events)), 2, len(events) - 2))
        parts.append((events[order[:cut]], events[order[cut:]]))
    features = np.vstack([train for train, _ in parts])
    labels = np.repeat([0, 1], [len(train) for train, _ in parts])
    model = _model(classifier, rng)
    # Odds are density ratios once the numbers of events are taken out.
    prior = np.log(len(parts[1][0]) / len(parts[0][0]))
    with threads_if(many(len(features))):
        model.fit(features, labels)
        reference_odds, data_odds = (_log_odds(model, rest) - prior for _, rest in parts)
    return HeldOut(reference_odds, data_odds)


def _model(classifier: Any, rng: np.random.Generator) -> Any:
    from sklearn.base import clone

    seed = int(rng.integers(2**31))
    if classifier is None:
        # Few and shallow trees: data that hardly differ are soon learned by heart.
        return boosted_trees(
            max_iter=50, max_leaf_nodes=8, max_bins=64, learning_rate=0.1, min_samples_leaf=20, random_state=seed
        )
    model = clone(classifier)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def _log_odds(model: Any, events: Array) -> Array:
    h = np.clip(model.predict_proba(events)[:, 1], _ODDS, 1 - _ODDS)
    return np.asarray(np.log(h / (1 - h)))


@dataclass(frozen=True)
class ClassifierResult:
    """What a classifier test found."""

    statistic: float
    p_value: float
    null: str

    @property
    def z_score(self) -> float:
        """Z of the p-value."""
        return z_of_log_p(float(np.log(max(self.p_value, 1e-300))))


@spelled_out
def classifier_test(
    reference: Any,
    data: Any,
    *,
    statistic: str = "auc",
    null: str = "permutation",
    classifier: Any = None,
    share: float = 0.5,
    replicates: int = 999,
    rng: np.random.Generator | int | None = None,
) -> ClassifierResult:
    """One classifier, trained once: the p-value comes from its held-out events alone.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    data : array_like, mapping, data frame or Sample
        The measured events, with the columns of the reference.
    statistic : {"auc", "balanced-accuracy", "likelihood-ratio"}, default "auc"
        What is made of the classifier's output for the held-out events.
    null : {"permutation", "bootstrap", "asymptotic"}, default "permutation"
        Relabel the held-out events, which is exact; draw both from the held-out reference; or the statistic's own law
        for many events.
    classifier : estimator, optional
        Any of scikit-learn's with `predict_proba`. Default: gradient-boosted trees.
    share : float, default 0.5
        The part of the events that train.
    replicates : int, default 999
        How many permutations or bootstraps; the smallest p-value is 1 / (replicates + 1).
    rng : Generator or int, optional
        Random numbers, or their seed. Default: another seed each time.

    Returns
    -------
    ClassifierResult
        The `statistic`, its `p_value` and its `z_score`.

    Raises
    ------
    InputError
        If the samples or settings cannot be used as they are.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> reference, data = rng.normal(size=(400, 1)), rng.normal(1.0, 1.0, (100, 1))
    >>> lanner.classifier_test(reference, data, classifier=LogisticRegression(), replicates=99, rng=1).p_value
    0.01
    """
    _check(statistic, share)
    if null not in NULLS:
        raise InputError(f"null={null!r} is not known; choose one of {', '.join(map(repr, NULLS))}")
    generator = np.random.default_rng(rng)
    first = checked_sample(reference, "reference", _LEAST)
    second = match_columns(first, checked_sample(data, "data", _LEAST, like=first))
    scores = held_out(first.features, second.features, classifier=classifier, share=share, rng=generator)
    observed = STATISTICS[statistic](scores.data, scores.reference)
    if null == "asymptotic":
        return ClassifierResult(observed, _asymptotic_p(statistic, scores), null)
    pooled = scores.reference if null == "bootstrap" else np.concatenate([scores.data, scores.reference])
    n, beyond = len(scores.data), 0
    for _ in range(replicates):
        if null == "bootstrap":
            data_part, reference_part = (generator.choice(pooled, size) for size in (n, len(scores.reference)))
        else:
            mixed = generator.permutation(pooled)
            data_part, reference_part = mixed[:n], mixed[n:]
        # Sums of the same numbers in another order differ by rounding.
        beyond += STATISTICS[statistic](data_part, reference_part) >= observed - 1e-12 * max(1.0, abs(observed))
    return ClassifierResult(observed, (1 + beyond) / (1 + replicates), null)


def _asymptotic_p(statistic: str, scores: HeldOut) -> float:
    data, reference = scores.data, scores.reference
    if statistic == "auc":
        return float(stats.mannwhitneyu(data, reference, alternative="greater", method="asymptotic").pvalue)
    if statistic == "balanced-accuracy":
        # If both are alike, calls of "data" are equally frequent in both.
        data, reference = (np.where(x == 0, 0.5, x > 0) for x in (data, reference))
    pooled = np.concatenate([data, reference]).var(ddof=1) * (1 / len(data) + 1 / len(reference))
    if not pooled > 0:
        return 1.0
    return float(stats.norm.sf((data.mean() - reference.mean()) / pooled**0.5))


def _check(statistic: str, share: float) -> None:
    if statistic not in STATISTICS:
        raise InputError(f"statistic={statistic!r} is not known; choose one of {', '.join(map(repr, STATISTICS))}")
    if not 0 < share < 1:
        raise InputError(f"share={share!r}: give the part of the events that train, such as 0.5")
