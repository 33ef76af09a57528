"""Refusals are kept, once each, and a line that is cut off does no harm."""

import json
from pathlib import Path

from lanner.monitor.quarantine import Quarantine


def test_refusals_are_read_again_and_not_written_twice(tmp_path: Path) -> None:
    first = Quarantine(tmp_path / "q.jsonl")
    first.add("run 1", "NaN", {"path": "a", "size": 1}, after=0)
    first.add("run 1", "NaN", {"path": "a", "size": 1}, after=0)
    first.add("run 1", "NaN", {"path": "a", "size": 2}, after=3)
    again = Quarantine(tmp_path / "q.jsonl")
    assert [(r.name, r.reason, r.origin["size"], r.after) for r in again.refusals] == [
        ("run 1", "NaN", 1, 0), ("run 1", "NaN", 2, 3)
    ]  # fmt: skip
    assert again.has({"path": "a", "size": 2})
    assert not again.has({"path": "a", "size": 3})
    assert again.of("run 1").after == 3
    assert again.of("run 2") is None


def test_each_line_is_json_with_the_reason(tmp_path: Path) -> None:
    Quarantine(tmp_path / "q.jsonl").add("a\nb", "other columns", after=2)
    (line,) = (tmp_path / "q.jsonl").read_text().splitlines()
    assert json.loads(line)["reason"] == "other columns"


def test_after_a_line_that_is_cut_off_the_next_one_stands_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    Quarantine(path).add("a", "why", after=0)
    path.write_bytes(path.read_bytes() + b'{"name": "b", "rea')
    Quarantine(path).add("c", "why", after=1)
    assert [r.name for r in Quarantine(path).refusals] == ["a", "c"]
