"""The example of the command's page runs, and the table of its JSON has what a verdict has."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lanner.monitor import opening
from lanner.monitor.calibration import Rules
from lanner.monitor.judge import BatchVerdict
from tests.monitor.folders import batch

PAGE = (Path(__file__).parents[2] / "docs" / "commands" / "monitor.md").read_text()


def test_the_python_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opening, "Rules", partial(Rules, toys=300, streams=5, length=20, windows=(2,)))
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    code = code.replace("batch=500", "batch=50")
    batches = {f"run {k}": batch(k, 50, shift=3.0 * (k == 2)) for k in range(3)}
    names: dict[str, object] = {"reference": batch(9, 4000), "batches": batches, "np": np}
    exec(code, names)
    printed = capsys.readouterr().out
    assert "run 2" in printed
    assert "angle: " in printed
    assert names["good"] == {"run 0": [[1, 9999]], "run 1": [[1, 9999]]}
    assert (tmp_path / "monitor" / "timeline.html").exists()


def test_the_fields_of_a_verdict_are_documented() -> None:
    described = PAGE[PAGE.index("## Machines") :]
    assert [f.name for f in fields(BatchVerdict) if f"`{f.name}`" not in described] == ["scale", "log_product"]
