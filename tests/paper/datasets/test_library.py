from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.paper.datasets import library as module
from lanner.paper.datasets import susy
from lanner.paper.datasets.library import Library, cache_folder, experiment_module, published_files


def test_published_files_are_named_by_sample(tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    file.touch()
    assert published_files("one-dimensional", [f"tail={file}"]) == {"tail": file}
    assert set(published_files("one-dimensional", [f"all={file}"])) == {"background", "tail", "bulk", "nonresonant"}
    with pytest.raises(InputError, match="SAMPLE=FILE"):
        published_files("one-dimensional", ["zprime=a.h5"])
    with pytest.raises(InputError, match="does not exist"):
        published_files("one-dimensional", ["tail=nowhere.h5"])


def test_one_dimensional_samples_grow_without_changing() -> None:
    library = Library("one-dimensional")
    few, many = library.events("background", 10)["x"], library.events("background", 100)["x"]
    assert (few == many[:10]).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems keep caches elsewhere")
def test_the_cache_is_where_the_user_or_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANNER_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "lanner"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "lanner"
    monkeypatch.setenv("LANNER_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    assert Library("susy").folder == tmp_path / "own" / "samples"


def test_unknown_experiments_and_samples_are_refused() -> None:
    with pytest.raises(InputError, match="'1d' is not an experiment; choose one of one-dimensional, dimuon"):
        experiment_module("1d")
    with pytest.raises(InputError, match="'zprime' is not a sample; choose one of background, tail"):
        Library("one-dimensional").events("zprime", 1)


def test_a_published_file_is_read_instead(tmp_path: Path) -> None:
    path = tmp_path / "SUSY.csv"
    np.savetxt(path, np.column_stack([np.arange(6) % 2, np.arange(6 * 18).reshape(6, 18)]), delimiter=",")
    library = Library("susy", published={"chargino": path})
    assert library.events("chargino", 2)["lepton_1_pT"].tolist() == [18.0, 54.0]


class Generator:
    """Stands for SUSY: counts how often events are made, each numbered."""

    SIGNALS = susy.SIGNALS
    CUTS = susy.Cuts()

    def __init__(self) -> None:
        self.made: list[int] = []

    def settings(self, name: str, cuts: susy.Cuts = CUTS) -> dict[str, object]:
        return {"sample": name, "pt": cuts.pt}

    def sample(self, name: str, n: int, **options: object) -> dict[str, np.ndarray]:
        self.made.append(n)
        return {"x": np.arange(float(n))}


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Generator:
    made = Generator()
    monkeypatch.setattr(module, "experiment_module", lambda name: made)
    return made


def test_a_sample_is_made_once_and_again_only_if_it_is_too_short(tmp_path: Path, generator: Generator) -> None:
    library = Library("susy", folder=tmp_path)
    for n in (20, 10, 20, 30, 25):
        assert library.events("background", n)["x"].tolist() == list(range(n))
    assert generator.made == [20, 30]


def test_other_cuts_have_their_own_file(tmp_path: Path, generator: Generator) -> None:
    for cuts in ({}, {"pt": 30.0}):
        Library("susy", folder=tmp_path, cuts=cuts).events("background", 5)
    assert {path.name for path in tmp_path.iterdir()} == {
        "susy-background.parquet",
        "susy-pt30-background.parquet",
    }


def test_a_file_of_other_settings_is_refused(
    tmp_path: Path, generator: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library("susy", folder=tmp_path)
    library.events("background", 5)
    monkeypatch.setattr(generator, "settings", lambda name: {"sample": name, "pt": 99.0})
    with pytest.raises(InputError, match=r"made with other settings \(pt\): delete it"):
        library.events("background", 5)


def test_a_damaged_file_is_refused(tmp_path: Path, generator: Generator) -> None:
    (tmp_path / "susy-background.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="is damaged"):
        Library("susy", folder=tmp_path).events("background", 5)


def test_what_events_depend_on_is_ready_for_json(tmp_path: Path) -> None:
    described = Library("susy", published={"chargino": tmp_path / "a.csv"}, cuts={"pt": 25.0}).described()
    assert json.loads(json.dumps(described)) == described
    assert described["cuts"] == {"pt": 25.0}
