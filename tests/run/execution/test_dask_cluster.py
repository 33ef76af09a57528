"""Clusters to work with."""

import pytest

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
