import json
from pathlib import Path

from lanner.paper.reproduce.stages import Stages


def test_a_stage_of_other_settings_is_made_again(tmp_path: Path) -> None:
    made = []

    def make(_: object) -> dict[str, int]:
        made.append(1)
        return {"value": len(made)}

    stages = Stages(tmp_path, {"seed": 1})
    assert stages.run("a", make, width=1.0)["value"] == 1
    assert stages.run("a", make, width=1.0)["value"] == 1
    assert stages.run("a", make, width=2.0)["value"] == 2
    assert json.loads((tmp_path / "a.json").read_text())["value"] == 2


def test_progress_is_told_with_the_name_of_the_stage(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []

    def make(tell) -> dict[str, int]:
        tell("toys", 1, 2)
        return {}

    Stages(tmp_path, {}, lambda *told: seen.append(told)).run("a", make)
    assert seen == [("a, preparing", 0, 1), ("a", 1, 2)]


def test_nobody_is_told_where_nobody_asks(tmp_path: Path) -> None:
    assert "settings" in Stages(tmp_path, {}).run("a", lambda tell: {"silent": tell is None})
    assert json.loads((tmp_path / "a.json").read_text())["silent"]
