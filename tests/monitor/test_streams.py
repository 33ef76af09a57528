"""Toy streams: uniform p-values of batches and windows, which share the fluctuation of a reference."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lanner.monitor.null import BatchNull
from lanner.monitor.streams import toy_streams
from lanner.monitor.yardstick import Halves, Yardstick
from tests.monitor.conftest import BATCH

STREAMS, LENGTH = 60, 30


def made(yardstick: Yardstick, halves: Halves) -> dict[int, np.ndarray]:
    null = BatchNull.of(yardstick, halves, largest=4 * BATCH, toys=2500, seed=1)
    return toy_streams(yardstick, halves, null, batch=BATCH, windows=(2, 4), streams=STREAMS, length=LENGTH, seed=1)


@pytest.fixture(scope="module")
def streams(measured: tuple[Yardstick, Halves]) -> dict[int, np.ndarray]:
    return made(*measured)


def test_every_batch_has_a_p_of_each_window(streams: dict[int, np.ndarray]) -> None:
    assert {k: v.shape for k, v in streams.items()} == dict.fromkeys((1, 2, 4), (STREAMS, LENGTH))


def test_windows_that_are_not_full_have_a_p_of_one(streams: dict[int, np.ndarray]) -> None:
    assert (streams[4][:, :3] == 0).all()
    assert (streams[4][:, 3] < 0).all()
    assert (streams[1][:, 0] < 0).all()


def test_p_is_uniform_for_batches_and_for_windows(streams: dict[int, np.ndarray]) -> None:
    for many, log_p in streams.items():
        # Windows that share no batch.
        p = np.exp(log_p[:, many - 1 :: many]).ravel()
        assert stats.kstest(p, "uniform").pvalue > 1e-4
        assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.04)


def test_windows_that_share_batches_have_similar_p(streams: dict[int, np.ndarray]) -> None:
    four = streams[4][:, 3:]
    near, far = (np.corrcoef(four[:, :-k].ravel(), four[:, k:].ravel())[0, 1] for k in (1, 6))
    assert near > 0.4
    assert abs(far) < 0.15


def test_batches_that_share_a_small_reference_agree(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured

    def spread(worth: float) -> float:
        """The variance of the streams' means of log p, beside that of independent batches."""
        widths = tuple(replace(w, worth=worth) for w in yardstick.widths)
        found = made(replace(yardstick, widths=widths, worth=worth), halves)[1]
        return float(found.mean(axis=1).var() / (found.var() / LENGTH))

    assert spread(60_000.0) < 2
    assert spread(3.0 * BATCH) > 2


def test_progress_comes_to_its_end(measured: tuple[Yardstick, Halves]) -> None:
    yardstick, halves = measured
    null = BatchNull.of(yardstick, halves, largest=BATCH, toys=200, seed=1)
    seen: list[float] = []
    toy_streams(yardstick, halves, null, batch=BATCH, windows=(2,), streams=3, length=5, seed=1, told=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
