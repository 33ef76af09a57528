"""The clipping of a network, tuned on null toys so that t has as many degrees of freedom as there are parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from lanner._util.files import write_atomically
from lanner.typing import Array, Progress

_CLIPS = (0.1, 100.0)
_CLEARLY = 4.0  # errors of the mean, beyond which a quarter of the toys is enough to go on
_STEPS = 8


@dataclass(frozen=True)
class TriedClip:
    """Null toys at one clipping: their mean t with its error, and how well they follow the chi2 aimed at."""

    clip: float
    mean: float
    error: float
    ks_p: float
    toys: int


@dataclass(frozen=True)
class TunedClip:
    """The clipping at which t has as many degrees of freedom as the network has parameters."""

    clip: float
    dof: int
    tried: tuple[TriedClip, ...]


@dataclass(frozen=True)
class Notebook:
    """What was tried before for the same network and reference, in a file; none without a path."""

    path: Path | None
    made_for: Any

    def read(self) -> list[TriedClip]:
        """What was tried, in order; nothing from a file that is damaged or of something else."""
        try:
            if self.path is None or not self.path.exists():
                return []
            found = json.loads(self.path.read_text())
            return [TriedClip(**one) for one in found["tried"]] if found["made_for"] == self.made_for else []
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def write(self, found: TunedClip) -> None:
        """Keep it."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(asdict(found) | {"made_for": self.made_for}, indent=1))


def bisect_clip(
    null: Callable[[float, range], Array],
    dof: int,
    toys: int,
    *,
    notebook: Notebook,
    progress: Progress | None = None,
) -> TunedClip:
    """Bisect the clipping until the mean t of null toys is that of the chi2, within its error.

    `null` gives t of some toys, by their numbers, at a clipping.
    """
    low, high = _CLIPS
    before, tried = notebook.read(), list[TriedClip]()
    for step in range(_STEPS):
        if progress is not None:
            progress("tuning", step, _STEPS)
        clip = float((low * high) ** 0.5)
        known = step < len(before) and before[step].clip == clip
        one = before[step] if known else _try(null, clip, dof, toys)
        tried.append(one)
        best = min(tried, key=lambda one: abs(one.mean - dof))
        found = TunedClip(best.clip, dof, tuple(tried))
        if not known:
            notebook.write(found)
        if one.toys == toys and abs(one.mean - dof) < 0.5 * one.error:
            break
        low, high = (clip, high) if one.mean < dof else (low, clip)
    if progress is not None:
        progress("tuning", _STEPS, _STEPS)
    return found


def _try(null: Callable[[float, range], Array], clip: float, dof: int, toys: int) -> TriedClip:
    few = min(toys, max(4, toys // 4))
    t = null(clip, range(few))
    if abs(t.mean() - dof) < _CLEARLY * _error(t) and few < toys:
        t = np.concatenate([t, null(clip, range(few, toys))])
    return TriedClip(clip, float(t.mean()), _error(t), float(stats.kstest(t, "chi2", (dof,)).pvalue), len(t))


def _error(t: Array) -> float:
    """Of the mean."""
    return float(t.std(ddof=1) / len(t) ** 0.5)
