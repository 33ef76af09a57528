"""Penalties by relevance."""

import numpy as np

from lanner.uncertainties.relevance import relevant_penalties

N = 10_000


def test_what_is_noise_is_switched_off_and_what_is_not_is_left_alone() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 21))
    x[:, 0] = 1
    y = 0.3 + 0.2 * x[:, 1] - 0.1 * x[:, 2] + rng.normal(size=N)
    groups = np.r_[0, 1, 1, np.arange(2, 20)]
    penalties = relevant_penalties(x.T @ x, x.T @ y, np.r_[1e-6, np.ones(20)], groups)
    assert penalties[0] == 1e-6
    assert penalties[1] == penalties[2] < 200
    assert np.count_nonzero(penalties[3:] > 1e5) >= 12
    c = np.linalg.solve(x.T @ x + np.diag(penalties), x.T @ y)
    freed = np.linalg.solve(x.T @ x + 1e-6 * np.eye(21), x.T @ y)
    truth = np.r_[0.3, 0.2, -0.1, np.zeros(18)]
    assert np.sum((c - truth) ** 2) < 0.6 * np.sum((freed - truth) ** 2)
