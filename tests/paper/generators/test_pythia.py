from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import dimuon
from lanner.paper.generators import pythia
from lanner.paper.generators.pythia import Process

needs_pythia = pytest.mark.skipif(not pythia.installed(), reason="events are generated with pythia8mc")


@needs_pythia
def test_same_seed_same_bits_for_any_number_of_processes():
    alone = dimuon.sample("zprime-600", 900, seed=7)
    together = dimuon.sample("zprime-600", 900, seed=7, processes=2)
    for name, column in alone.items():
        np.testing.assert_array_equal(column, together[name])


@needs_pythia
def test_a_smaller_sample_is_the_beginning_of_a_larger_one_and_another_seed_is_another_sample():
    large, small = dimuon.sample("zprime-600", 700, seed=7), dimuon.sample("zprime-600", 200, seed=7)
    np.testing.assert_array_equal(large["mll"][:200], small["mll"])
    assert not np.isin(dimuon.sample("zprime-600", 200, seed=8)["mll"], large["mll"]).any()
    assert len(np.unique(large["mll"])) == 700


@needs_pythia
def test_nothing_is_printed(capfd):
    dimuon.sample("zprime-300", 10)
    out, err = capfd.readouterr()
    assert out + err == ""


@needs_pythia
def test_progress_reaches_the_number_asked_for():
    seen: list[tuple[int, int]] = []
    dimuon.sample("zprime-300", 600, progress=lambda _, done, n: seen.append((done, n)))
    assert seen[-1] == (600, 600)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@needs_pythia
def test_an_interrupt_ends_the_workers():
    before = set(multiprocessing.active_children())

    def interrupt(what: str, done: int, n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dimuon.sample("zprime-300", 100_000, processes=2, progress=interrupt)
    limit = time.monotonic() + 20
    while set(multiprocessing.active_children()) - before and time.monotonic() < limit:
        time.sleep(0.05)
    assert not set(multiprocessing.active_children()) - before


@needs_pythia
def test_a_setting_that_pythia_does_not_know():
    with pytest.raises(InputError, match="'Beams:eCMM = 1'"):
        pythia.run(Process("wrong", ("Beams:eCMM = 1",)), dimuon.reconstruct, 1)  # type: ignore[arg-type]


def test_at_least_one_process():
    with pytest.raises(InputError, match="processes=0"):
        pythia.run(Process("any", ()), dimuon.reconstruct, 1, processes=0)  # type: ignore[arg-type]


def test_without_the_generator_the_message_says_what_to_install(monkeypatch):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(pythia, "import_module", missing)
    with pytest.raises(InputError, match=r"pythia8mc.*pip install 'lanner\[physics\]'"):
        dimuon.sample("background", 1)
    assert not pythia.installed()
