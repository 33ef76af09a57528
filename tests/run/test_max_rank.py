"""The largest rank: a setting in Python, a flag, a key of a configuration file, and an entry of the result."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.errors import InputError

RNG = np.random.default_rng(1)
REFERENCE, DATA = RNG.normal(size=(2000, 3)), RNG.normal(size=(100, 3))


def test_no_fit_has_a_larger_rank() -> None:
    free, held = (lanner.search(REFERENCE, DATA, expected=100, toys=66, max_rank=rank, seed=1) for rank in (4000, 30))
    assert free.combined is not None
    assert held.combined is not None
    assert max(s.rank for s in free.combined.scales) > 30
    assert max(s.rank for s in held.combined.scales) == 30
    assert held.plan.max_rank == 30
    assert held.to_dict()["configuration"]["max_rank"] == 30


def test_toys_that_are_kept_depend_on_it(tmp_path: Path) -> None:
    lanner.search(REFERENCE, DATA, expected=100, toys=66, output=tmp_path)
    with pytest.raises(lanner.errors.StoreError, match="max_rank"):
        lanner.search(REFERENCE, DATA, expected=100, toys=66, output=tmp_path, max_rank=30)


@pytest.mark.parametrize("wrong", [0, 1.5, "many"])
def test_what_is_no_rank_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="max_rank="):
        lanner.search(REFERENCE, DATA, expected=100, max_rank=wrong)  # type: ignore[arg-type]


def test_it_is_a_flag_and_a_key(tmp_path: Path) -> None:
    for name, events in (("reference", REFERENCE), ("data", DATA)):
        np.save(tmp_path / f"{name}.npy", events)
    config = tmp_path / "search.yaml"
    config.write_text("max-rank: 25\nexpected: 100\ntoys: 66\n")
    files = [f"--{name}={tmp_path / name}.npy" for name in ("reference", "data")]
    ranks = {}
    for way, words in (("file", []), ("flag", ["--max-rank", "20"])):
        output = tmp_path / way
        said = CliRunner().invoke(main, ["search", *files, "--config", str(config), "--output", str(output), *words])
        assert said.exit_code == 0, said.output
        ranks[way] = json.loads((output / "result.json").read_text())["configuration"]["max_rank"]
    assert ranks == {"file": 25, "flag": 20}
