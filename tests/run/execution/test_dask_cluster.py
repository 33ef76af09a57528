"""Clusters to work with."""

import socket

import pytest

from lanner._util.progress import shown
from lanner.errors import ClusterError

pytest.importorskip("distributed")

from lanner.run.execution import dask_cluster


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT", 1.0)
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        dask_cluster.connected("tcp://127.0.0.1:9", tls=(None, None, None)),
    ):
        pass


def test_a_scheduler_that_never_answers_is_waited_for_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection and says nothing, as a process that was halted does."""
    monkeypatch.setattr(dask_cluster, "CONNECT", 2.0)
    monkeypatch.setattr("lanner._util.progress._MOMENT", 0.1)
    seen: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server, shown(lambda what, done, total: seen.append(what)):
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(ClusterError, match=f"no scheduler answers at {address}"),
            dask_cluster.connected(address, tls=(None, None, None)),
        ):
            pass
    assert seen == [f"waiting for the Dask scheduler at {address} to answer, at most 2 s"]
