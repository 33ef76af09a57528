"""Gradient-boosted trees of scikit-learn, as the tests here use them."""

from __future__ import annotations

from typing import Any

_MANY = 50_000  # events, for which threads are worth their while


def boosted_trees(**settings: Any) -> Any:
    """A classifier, not yet trained."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**settings)


def many(events: int) -> bool:
    """Whether to train with all cores."""
    return events >= _MANY
