"""The versions of what makes a number: no number moves without its version, and every kept number carries it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanner
from lanner.run import fingerprint as versions
from lanner.run.fingerprint import SCHEME, STATISTIC, Maker, array_digest, fingerprint, numbers_version
from tests.run.pinned import KINDS, RECORD, TOLERANCE, differences, draws, statistics

KNOWN: dict[str, Any] = json.loads(RECORD.read_text())


@pytest.mark.parametrize("kind", KINDS)
def test_the_statistic_moves_only_with_its_version(kind: str) -> None:
    known = KNOWN["statistic"].get(str(STATISTIC))
    assert known is not None, "STATISTIC was raised: run `make golden`"
    moved = differences(statistics(kind), known[kind])
    assert moved <= TOLERANCE, f"{kind} moved by {moved:.1e}: raise STATISTIC in run/fingerprint.py, then `make golden`"


@pytest.mark.parametrize("kind", KINDS)
def test_toys_take_other_events_only_with_the_version_of_the_scheme(kind: str) -> None:
    known = KNOWN["scheme"].get(str(SCHEME))
    assert known is not None, "SCHEME was raised: run `make golden`"
    assert draws(kind) == known[kind], "raise SCHEME and STATISTIC in run/fingerprint.py, then `make golden`"


def test_a_statistic_that_is_changed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KNOWN["statistic"][str(STATISTIC)]["fit"]
    changed = known | {"toys": [[1.0001 * t for t in row] for row in known["toys"]]}
    assert differences(changed, known) > TOLERANCE


def test_no_version_is_left_out_of_the_record() -> None:
    assert list(KNOWN["statistic"]) == [str(k) for k in range(1, STATISTIC + 1)]
    assert list(KNOWN["scheme"]) == [str(k) for k in range(1, SCHEME + 1)]


def test_what_is_kept_carries_the_versions(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    reference, data = rng.exponential(size=(3000, 1)), rng.exponential(size=(100, 1))
    how: dict[str, Any] = {"expected": 100, "toys": 20, "width": 0.3, "penalty": 1e-6, "centers": 50}
    result = lanner.search(reference, data, output=tmp_path, **how)
    store = json.loads((tmp_path / "toys" / "store.json").read_text())
    assert store["made_for"]["numbers"] == numbers_version()
    assert result.to_dict()["numbers"] == numbers_version() == {"statistic": STATISTIC, "scheme": SCHEME}
    lanner.calibrate(reference, output=tmp_path / "kept", **how)
    assert json.loads((tmp_path / "kept" / "calibration.json").read_text())["numbers"] == numbers_version()


def test_a_maker_is_known_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Maker.here()
    assert here.version == lanner.__version__
    assert f"Lanner {here.version} (statistic {STATISTIC}, scheme {SCHEME}, source" in str(here)
    monkeypatch.setattr(lanner, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "model").mkdir()
    seen = set()
    for text in ("t = 1\n", "t = 2\n", "t = 2\r\n"):
        (tmp_path / "model" / "score.py").write_bytes(text.encode())
        seen.add(versions._source.__wrapped__())
    assert len(seen) == 2  # line ends are no difference
    assert here.source not in seen


def test_digests_tell_samples_apart() -> None:
    x = np.arange(6.0)
    assert array_digest(x) == array_digest(x.copy())
    assert len({array_digest(x), array_digest(x + 1e-15), array_digest(x.reshape(2, 3)), array_digest(x, None)}) == 4
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
