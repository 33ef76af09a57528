from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.generators import mixing

KINDS = {"background": 0.0, "bump": 1.0, "model": 2.0}
SIGNALS = {"bump": 7.0, "model": 3.0}


def sample(name: str, n: int) -> dict[str, np.ndarray]:
    return {"kind": np.full(n, KINDS[name]), "index": np.arange(float(n))}


def counts(**request: Any) -> list[int]:
    kinds = mixing.generate("test", sample, SIGNALS, **request)["kind"]
    return np.bincount(kinds.astype(int), minlength=3).tolist()


def test_exact_numbers_and_the_default_of_a_signal():
    assert counts(events=50, signal="bump", signal_events=4) == [50, 4, 0]
    assert counts(events=50, signal="bump") == [50, 7, 0]
    assert counts(events=50) == [50, 0, 0]


def test_a_signal_that_models_all_events():
    assert counts(events=50, signal="model", alone=("model",)) == [0, 0, 53]


def test_an_empty_sample_has_all_columns():
    assert set(mixing.generate("test", sample, SIGNALS, events=0)) == {"kind", "index"}


def test_columns_are_shuffled_together():
    made = mixing.generate("test", sample, SIGNALS, events=100, signal="bump", signal_events=100)
    assert np.any(np.diff(made["index"]) < 0)
    for kind in (0.0, 1.0):
        np.testing.assert_array_equal(np.sort(made["index"][made["kind"] == kind]), np.arange(100.0))


def test_poisson_numbers_have_their_variance():
    sizes = [sum(counts(events=100, poisson=True, seed=seed)) for seed in range(300)]
    assert np.mean(sizes) == pytest.approx(100, abs=3)
    assert np.var(sizes) == pytest.approx(100, rel=0.3)


def test_names_and_numbers_that_make_no_sense():
    with pytest.raises(InputError, match="signal='peak' is not known; choose one of 'bump', 'model'"):
        counts(events=1, signal="peak")
    with pytest.raises(InputError, match="events=inf"):
        counts(events=np.inf)
    with pytest.raises(InputError, match="'peak' is not a sample; choose one of background, bump, model"):
        mixing.check_sample("peak", SIGNALS)
