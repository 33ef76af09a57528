"""The significance of tests that know the signal, with which a model-independent test is compared.

They are the paper's: the likelihood ratio where the densities are known (the 1-D example) or binned (the contact
interaction), and cut and count where a mass or the output of a classifier tells signal from background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from lanner.errors import InputError
from lanner.inference.significance import z_of_log_p
from lanner.typing import Array

_GRID = 1 << 18  # points
_GRID_WIDTH = 30.0  # standard deviations
_MIN_BACKGROUND = 20  # simulated background events that a cut has to leave, or its efficiency is hardly known


def likelihood_ratio_z(null: Array, alternative: Array) -> float:
    """Median significance of the likelihood ratio between two sets of Poisson means, bin by bin.

    T = sum_i n_i l_i with l_i = log(alternative_i / null_i), of which t = 2 T - constant, is a compound Poisson sum:
    its law is an FFT of the l_i. It is computed under the alternative, where the median is wanted, and carried over
    to the null by the likelihood ratio itself,

        P_null(T >= m) = sum_{T >= m} P_alternative(T) exp(-T + sum_i (alternative_i - null_i)),

    so p-values of 1e-30 are as good as any.

    >>> round(likelihood_ratio_z(np.array([1e4]), np.array([1e4 + 300.0])), 2)  # counting, about 300 / sqrt(1e4)
    2.99
    """
    null, alternative = np.asarray(null, dtype=np.float64), np.asarray(alternative, dtype=np.float64)
    if null.shape != alternative.shape or (null <= 0).any() or (alternative <= 0).any():
        raise InputError("the means of both hypotheses must be positive in the same bins: merge bins without events")
    jumps = np.log(alternative / null)
    mean, spread = float(alternative @ jumps), float(np.sqrt(alternative @ jumps**2))
    if spread == 0.0:
        return 0.0
    step = _GRID_WIDTH * spread / _GRID
    # Each jump is shared between its two neighbours on the grid, so that its mean is exact.
    place = jumps / step
    low = np.floor(place).astype(np.int64)
    rates = np.zeros(_GRID)
    np.add.at(rates, low % _GRID, alternative * (low + 1 - place))
    np.add.at(rates, (low + 1) % _GRID, alternative * (place - low))
    law = np.maximum(np.fft.ifft(np.exp(np.fft.fft(rates) - rates.sum())).real, 0.0)
    # The grid is a circle; cut it open opposite the mean.
    first = round(mean / step) - _GRID // 2
    values = step * (first + np.arange(_GRID))
    law = np.roll(law, -(first % _GRID))
    above = int(np.searchsorted(np.cumsum(law), 0.5 * law.sum()))
    # The median's own lump of probability, if there is one, counts half, as a randomised test would have it.
    share = law[above:].copy()
    share[0] *= 0.5
    with np.errstate(divide="ignore"):
        terms = np.log(share / law.sum()) - values[above:] + alternative.sum() - null.sum()
    return z_of_log_p(float(special.logsumexp(terms)))


def counting_z(signal: float, background: float) -> float:
    """Median significance of `signal` events over a known background (Asimov, arXiv:1007.1727).

    >>> round(counting_z(10.0, 100.0), 2), counting_z(0.0, 5.0)
    (0.98, 0.0)
    """
    if signal <= 0 or background <= 0:
        return 0.0
    return float(np.sqrt(2 * ((signal + background) * np.log1p(signal / background) - signal)))


@dataclass(frozen=True, eq=False)
class Cut:
    """Simulated background and signal in one variable, from which the best cut is found.

    The cut is chosen on every other event, and its efficiencies are those of the rest, so that it cannot profit from a
    fluctuation.
    """

    background: Array
    signal: Array

    def above_z(self, *, expected: float, signal_events: float) -> float:
        """The significance of a count above the best threshold, for the output of a classifier."""
        thresholds = np.quantile(self.signal, np.linspace(0.0, 0.995, 400))
        return self._best([(t, np.inf) for t in thresholds], expected, signal_events)

    def around_z(self, centre: float, *, expected: float, signal_events: float) -> float:
        """The significance of a count in the best window around a mass."""
        distances = np.quantile(np.abs(self.signal - centre), np.linspace(0.1, 0.95, 60))
        return self._best([(centre - d, centre + d) for d in distances], expected, signal_events)

    def _best(self, windows: list[tuple[float, float]], expected: float, signal_events: float) -> float:
        halves = [(np.sort(self.background[k::2]), np.sort(self.signal[k::2])) for k in (0, 1)]

        def counts(half: int, window: tuple[float, float]) -> tuple[float, float, int]:
            background, signal = halves[half]
            b = int(np.diff(np.searchsorted(background, window))[0])
            s = int(np.diff(np.searchsorted(signal, window))[0])
            return signal_events * s / len(signal), expected * b / len(background), b

        usable = [w for w in windows if counts(0, w)[2] >= _MIN_BACKGROUND]
        if not usable:
            raise InputError(
                f"no cut leaves {_MIN_BACKGROUND} of {len(self.background)} background events: simulate more"
            )
        best = max(usable, key=lambda w: counting_z(*counts(0, w)[:2]))
        s, b, _ = counts(1, best)
        return counting_z(s, b)


def supervised(
    background: Array, signal: Array, *, training: int = 200_000, seed: int = 0, iterations: int = 300
) -> tuple[Cut, float]:
    """Train boosted trees on at most `training` events of each kind; return their output on the rest and its AUC."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(seed)
    parts = []
    for events in (background, signal):
        events = events[rng.permutation(len(events))]
        used = min(training, len(events) * 2 // 3)
        parts.append((events[:used], events[used:]))
    features = np.vstack([used for used, _ in parts])
    labels = np.repeat([0, 1], [len(used) for used, _ in parts])
    classifier = HistGradientBoostingClassifier(
        max_iter=iterations, learning_rate=0.1, early_stopping=True, random_state=seed
    ).fit(features, labels)
    scores = [classifier.decision_function(rest) for _, rest in parts]
    auc = roc_auc_score(np.repeat([0, 1], [len(s) for s in scores]), np.concatenate(scores))
    return Cut(np.asarray(scores[0], dtype=np.float64), np.asarray(scores[1], dtype=np.float64)), float(auc)
