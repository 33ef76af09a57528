"""The paper's way to fit: one Newton step from f = 0, at one width."""

from __future__ import annotations

from typing import Any, Unpack

from lanner.settings import FitKeywords

ONE_STEP: dict[str, Any] = {"newton_steps": 1}


def paper_settings(**changed: Unpack[FitKeywords]) -> FitKeywords:
    """Settings of `search` for a test of the paper's.

    >>> paper_settings(width=0.3)
    {'newton_steps': 1, 'width': 0.3}
    """
    settings: FitKeywords = {"newton_steps": 1}
    return settings | changed
