"""Small problems that many tests share."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import lanner
from lanner.errors import StoreWarning
from lanner.model.backend import Arrays, arrays_on
from lanner.typing import Array


def pytest_configure() -> None:
    """Have commands that tests start hear Ctrl-C: in the background a shell has all that it starts ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["cpu", "torch", "strict"])
def arrays(request: pytest.FixtureRequest) -> Arrays:
    """Where the engine's arrays live: NumPy, torch, and the array API to the letter, which stands for all others."""
    if request.param == "torch":
        pytest.importorskip("torch", reason="torch is not installed: pip install 'lanner[gpu]'")
    return arrays_on(request.param)


@dataclass(frozen=True)
class Dense:
    """A fit solved densely in double precision, on given features: the truth for the solvers.

    J(w) = sum c A(f) - sum v1 f + ridge/2 |w|^2, written out for both losses without any of Lanner's code.
    """

    phi: Array
    v0: Array
    v1: Array
    ridge: float
    loss: str

    def gradient(self, w: Array) -> Array:
        f = self.phi @ w
        if self.loss == "logistic":
            residual = self.v0 * expit(f) - self.v1 * expit(-f)
        else:
            residual = self.v0 * np.exp(f) - self.v1
        return self.phi.T @ residual + self.ridge * w

    def hessian(self, w: Array) -> Array:
        f = self.phi @ w
        d = (self.v0 + self.v1) * expit(f) * expit(-f) if self.loss == "logistic" else self.v0 * np.exp(f)
        return (self.phi * d[:, None]).T @ self.phi + self.ridge * np.eye(self.phi.shape[1])

    def newton(self, steps: int) -> Array:
        w = np.zeros(self.phi.shape[1])
        for _ in range(steps):
            w = w - np.linalg.solve(self.hessian(w), self.gradient(w))
        return w

    def value(self, w: Array) -> float:
        f = self.phi @ w
        if self.loss == "logistic":
            losses = self.v0 * np.logaddexp(0, f) + self.v1 * np.logaddexp(0, -f)
        else:
            losses = self.v0 * np.expm1(np.minimum(f, 500)) - self.v1 * f
        return float(losses.sum() + 0.5 * self.ridge * w @ w)

    def minimum(self) -> Array:
        """Newton's method with halved steps where J would rise."""
        w = np.zeros(self.phi.shape[1])
        for _ in range(60):
            step = np.linalg.solve(self.hessian(w), self.gradient(w))
            while self.value(w - step) > self.value(w) + 1e-9:
                step = 0.5 * step
            w = w - step
            if np.linalg.norm(step) < 1e-9 * np.linalg.norm(w):
                break
        return w

    def decrement(self, w: Array) -> float:
        g = self.gradient(w)
        return float(np.sqrt(g @ np.linalg.solve(self.hessian(w), g)))

    def statistic(self, w: Array) -> float:
        f = self.phi @ w
        return float(2 * (self.v1 @ f - self.v0 @ np.expm1(f)))


def exponential(reference: int, data: int, seed: int = 0) -> tuple[Array, Array]:
    """The paper's 1-D reference, and data that follow it."""
    rng = np.random.default_rng(seed)
    return rng.exponential(1 / 8, (reference, 1)), rng.exponential(1 / 8, (data, 1))


def shaped(dimensions: int, n: int, seed: int = 0) -> Array:
    """Standardised events with the heavy tails of momenta and the flat shape of angles."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, dimensions))
    x[:, ::2] = np.exp(0.5 * rng.standard_normal((n, (dimensions + 1) // 2)))
    return (x - x.mean(axis=0)) / x.std(axis=0)


def kept_result(kind: str) -> lanner.SearchResult:
    """A result of an earlier format, "combined" or "single", whose folder has no manifest."""
    with pytest.warns(StoreWarning, match="kept no manifest"):
        return lanner.load_result(Path(__file__).parent / "run" / "data" / "result_format_4" / kind)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)
