"""Samples that would cross a network unencrypted are warned of, with the options that help."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import lanner
from lanner.errors import ClusterWarning
from lanner.run.execution import dask
from lanner.run.execution.encryption import is_open, warn_if_open


@pytest.mark.parametrize(
    ("address", "is_read"),
    [
        ("tcp://login1:8786", True),
        ("tcp://10.0.0.3:8786", True),
        ("tcp://[2001:db8::1]:8786", True),
        ("login1:8786", True),
        ("ws://login1:8786", True),
        ("tls://login1:8786", False),
        ("wss://login1:8786", False),
        ("inproc://10.0.0.3/1/2", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://127.1.2.3:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
    ],
)
def test_addresses_that_others_can_listen_to(address: str, is_read: bool) -> None:
    assert is_open(address) is is_read


def test_the_warning_names_the_address_and_the_options() -> None:
    with pytest.warns(
        ClusterWarning, match=r"unencrypted to tcp://a:1 and others.*tls://.*--tls-ca, --tls-cert"
    ) as seen:
        warn_if_open(["tls://b:1", "tcp://c:1", "tcp://a:1"])
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_open(["tls://b:1", "tcp://127.0.0.1:1"])


@pytest.mark.parametrize(("scheduler", "worker"), [("tcp://far:1", "tls://w:1"), ("tcp://127.0.0.1:1", "tcp://far:2")])
def test_it_comes_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch, scheduler: str, worker: str) -> None:
    """Also of a scheduler on this machine, whose workers are elsewhere."""
    client = SimpleNamespace(
        scheduler=SimpleNamespace(address=scheduler),
        scheduler_info=lambda n_workers: {"workers": {worker: {}}},
        run=lambda function, on_error: {},
    )

    @contextmanager
    def no_benches(*_: Any) -> Any:
        yield "name"

    monkeypatch.setattr(dask, "_benches", no_benches)
    recipe = SimpleNamespace(prepare=lambda memory, progress: None)
    with pytest.warns(ClusterWarning, match="tcp://far"), lanner.Dask(client=client).start(recipe, memory=1):
        pass
