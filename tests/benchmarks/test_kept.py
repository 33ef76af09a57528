"""A study goes on where it was stopped, and only with numbers of the same kind."""

import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def kept() -> Any:
    sys.path.insert(0, str(FOLDER))  # where the scripts find what they share
    try:
        import kept
    finally:
        sys.path.remove(str(FOLDER))
    return kept.Kept


def test_what_was_saved_is_there_again(kept: Any, tmp_path: Path) -> None:
    path = tmp_path / "kept" / "study.json"
    first = kept.at(path, toys=300)
    first.found["1-D"] = [0.25, 1 / 3]
    first.save()
    assert kept.at(path, toys=300).found == {"1-D": [0.25, 1 / 3]}


def test_numbers_of_other_settings_are_refused(kept: Any, tmp_path: Path) -> None:
    kept.at(tmp_path / "study.json", toys=300).save()
    with pytest.raises(SystemExit, match="'toys': 300"):
        kept.at(tmp_path / "study.json", toys=1000)


def test_numbers_of_another_statistic_are_refused(kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.at(tmp_path / "study.json").save()
    monkeypatch.setattr("lanner.run.fingerprint.STATISTIC", 0)
    with pytest.raises(SystemExit, match="give another file"):
        kept.at(tmp_path / "study.json")


def test_nothing_is_kept_without_a_file(kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept.at(None).save()
    assert list(tmp_path.iterdir()) == []
