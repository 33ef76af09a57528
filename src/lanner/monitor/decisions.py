"""When a monitor calls: each kind of decision has a threshold that toy streams have calibrated.

- **A single batch**: its p-value is below one over the run length, so that a false alarm comes once in so many batches.
- **Windows** of the last 2, 4, 8, ... batches: the smallest of their p-values is below what toy streams reach once in
  a run length. After an alarm windows begin anew.
- **Drift**: evidence is accumulated by Shiryaev and Roberts, R = (1 + R) e with the e-value of each batch, until it
  exceeds what toy streams reach once in a run length.
- **A list of flagged batches** with a false-discovery rate, decided as they come: by e-LOND, which holds for dependent
  p-values too (Xu and Ramdas, arXiv:2306.17028), and by LORD++, which asks for independent ones (Ramdas et al.,
  arXiv:1710.00499).

The e-value of a p-value is the mixture of kappa p^(kappa - 1) over kappa from 0 to 1, (1 - p + p ln p) / (p ln^2 p).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import zeta

from lanner.typing import Array

_BISECTIONS = 60


def log_e_value(log_p: Array) -> Array:
    """log e of p-values: its mean is 1 where p is uniform.

    >>> np.exp(log_e_value(np.log([1.0, 0.5, 1e-4]))).round(3).tolist()
    [0.5, 0.639, 117.762]
    """
    x = -np.asarray(log_p, dtype=np.float64)
    # log of (e^x - 1 - x) / x^2, which cancels near p = 1: its series there is 1/2 + x/6 + x^2/24.
    close = x < 1e-3
    y = np.where(close, 1.0, x)
    return np.where(close, np.log(0.5 + x / 6 + x**2 / 24), y + np.log1p(-(1 + y) * np.exp(-y)) - 2 * np.log(y))


@dataclass(frozen=True)
class Thresholds:
    """Below which log p, and above which log R, a monitor calls."""

    single: float
    windows: float | None  # None: the reference is too small for windows
    drift: float | None

    def to_dict(self) -> dict[str, float | None]:
        """As plain JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Evidence:
    """log R of Shiryaev and Roberts, and log of the product of all e-values."""

    log_r: float = -np.inf
    log_product: float = 0.0

    def after(self, log_p: float) -> Evidence:
        """With one more batch."""
        log_e = float(log_e_value(np.array([log_p]))[0])
        return Evidence(float(np.logaddexp(0.0, self.log_r)) + log_e, self.log_product + log_e)

    def reset(self) -> Evidence:
        """After an alarm: the product goes on."""
        return Evidence(-np.inf, self.log_product)


def thresholds_of(streams: Mapping[int, Array], run_length: float, *, drift: bool = True) -> Thresholds:
    """From log p of toy streams, (streams, batches), by the number of batches in a window; 1 is a batch alone.

    Evidence begins at nothing in each of them: of streams of 200 batches the thresholds give rates in streams of 3000
    that are 2 to 6 % higher (independent batches, run lengths of 100 and 1000).
    """
    single = streams[1]
    goal = single.size / run_length

    def solved(alarms: Callable[[float], int], low: float, high: float) -> float:
        """The threshold between `low`, at which there are too many alarms, and `high`."""
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if alarms(middle) > goal else (low, middle)
        return high

    windows = {length: log_p for length, log_p in streams.items() if length > 1}
    of_windows = -solved(lambda c: _window_alarms(windows, -c), 0.0, 100.0) if windows else None
    log_e = log_e_value(single)
    of_drift = solved(lambda c: _drift_alarms(log_e, c), -5.0, 100.0) if drift else None
    return Thresholds(-float(np.log(run_length)), of_windows, of_drift)


def _window_alarms(windows: Mapping[int, Array], threshold: float) -> int:
    """How often any window is below the threshold, where windows begin anew after each alarm."""
    streams, batches = next(iter(windows.values())).shape
    since, alarms = np.zeros(streams, dtype=np.intp), 0
    for t in range(batches):
        since += 1
        alarm = np.zeros(streams, dtype=bool)
        for length, log_p in windows.items():
            alarm |= (since >= length) & (log_p[:, t] <= threshold)
        alarms += int(alarm.sum())
        since[alarm] = 0
    return alarms


def _drift_alarms(log_e: Array, threshold: float) -> int:
    """How often R exceeds the threshold, beginning anew after each alarm."""
    log_r, alarms = np.full(len(log_e), -np.inf), 0
    for t in range(log_e.shape[1]):
        log_r = np.logaddexp(0.0, log_r) + log_e[:, t]
        alarm = log_r >= threshold
        alarms += int(alarm.sum())
        log_r[alarm] = -np.inf
    return alarms


@dataclass(frozen=True)
class FlaggedList:
    """Batches flagged as they come, with a false-discovery rate."""

    rate: float
    seen: int = 0
    by_e: tuple[int, ...] = ()  # numbers of the batches that e-LOND flags
    by_lord: tuple[int, ...] = ()  # those of LORD++

    def after(self, log_p: float) -> FlaggedList:
        """With one more batch."""
        t = self.seen + 1
        log_e = float(log_e_value(np.array([log_p]))[0])
        by_e, by_lord = self.by_e, self.by_lord
        if log_e >= -np.log(self.rate * _share(t) * (len(by_e) + 1)):
            by_e = (*by_e, self.seen)
        if log_p <= np.log(self._lord_level(t)):
            by_lord = (*by_lord, self.seen)
        return FlaggedList(self.rate, t, by_e, by_lord)

    def _lord_level(self, t: int) -> float:
        """LORD++ with half of the rate as wealth to begin with."""
        wealth = self.rate / 2
        level = _share(t) * wealth
        for k, flagged in enumerate(self.by_lord):
            level += _share(t - flagged - 1) * (self.rate - wealth if k == 0 else self.rate)
        return level


_SERIES = float(1 / zeta(1.6))


def _share(t: int) -> float:
    """Parts of the level for batch after batch, which add up to 1.

    >>> round(sum(_share(t) for t in range(1, 100_000)), 2)
    1.0
    """
    return _SERIES / t**1.6 if t > 0 else 0.0
