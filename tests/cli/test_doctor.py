"""What Lanner finds on a machine."""

import json
import sys

import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.cli.doctor import findings


def test_it_tells_versions_cores_memory_gpu_and_folders() -> None:
    found = findings("2 GB")
    assert found["versions"]["lanner"] == lanner.__version__
    assert found["versions"]["python"] == sys.version.split()[0]
    assert found["processor"]["cores this process may use"] >= 1
    assert found["processor"]["BLAS threads"] >= 1
    assert found["memory"]["budget of a run"] == "2.00 GB"
    assert set(found) == {"versions", "processor", "memory", "gpu", "folders"}


def test_json_has_what_the_text_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANNER_CACHE", "somewhere")
    as_json = CliRunner().invoke(main, ["doctor", "--json"])
    found = json.loads(as_json.stdout)
    text = CliRunner().invoke(main, ["doctor"]).stdout
    for section, values in found.items():
        assert section in text
        for name in values:
            assert f"  {name} " in text
    assert "somewhere (not there yet)" in text


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["lanner.cli.doctor"], "find_spec", lambda name: None)
    assert findings()["gpu"] == {"torch": None}


def test_a_budget_that_is_no_size_is_refused_in_the_spelling_of_the_flag() -> None:
    done = CliRunner().invoke(main, ["doctor", "--memory", "lots"])
    assert done.exit_code == 1
    assert "--memory lots is not a size" in done.stderr
