"""The files that come with the package."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import lanner
from lanner.cli import main
from lanner.paper.datasets.dimuon import LOW_LEVEL, invariant_mass
from lanner.paper.datasets.example import EXPECTED


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return lanner.write_example(tmp_path_factory.mktemp("example"))


def test_the_files_hold_what_the_documentation_says(written: tuple[Path, Path]) -> None:
    reference, data = (lanner.read_sample(path).sample for path in written)
    assert reference.names == data.names == (*LOW_LEVEL, "mll")
    assert len(reference) == 10_000
    assert abs(len(data) - EXPECTED) < 5 * EXPECTED**0.5
    note = json.loads(pq.read_schema(written[1]).metadata[b"lanner"])
    assert note["signal"] == "zprime-300"
    assert note["settings"]["generator"].startswith("Pythia")


def test_the_mass_is_that_of_the_muons(written: tuple[Path, Path]) -> None:
    pytest.importorskip("vector", reason="vector comes with the extra physics")
    for path in written:
        sample = lanner.read_sample(path).sample
        columns = dict(zip(sample.names, sample.features.T, strict=True))
        mass = columns.pop("mll")
        np.testing.assert_allclose(invariant_mass(**columns), mass, rtol=1e-5)
        assert mass.min() > 60


def test_the_hidden_signal_is_found_without_its_mass(written: tuple[Path, Path]) -> None:
    reference, data = (lanner.read_sample(path, features=LOW_LEVEL).sample for path in written)
    result = lanner.search(reference, data, expected=EXPECTED, toys=300, seed=1)
    assert result.empirical.exceedances == 0
    assert result.combined is not None
    assert result.combined.scales[result.combined.dominant_scale].local_z > 5
    masses = [lanner.read_sample(path, features=["mll"]).sample for path in written]
    found = lanner.characterise(result, reference, data, extra_reference=masses[0], extra_data=masses[1])
    assert found.importance[0].name == "mll"


def test_the_command_writes_them_and_says_what_is_next(tmp_path: Path) -> None:
    made = CliRunner().invoke(main, ["example", "--output", str(tmp_path / "here")])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "here" / "reference.parquet").exists()
    assert "lanner search --reference" in made.output
    assert f"--expected {EXPECTED:g}" in made.output


@pytest.mark.full
def test_the_generator_makes_the_same_files(written: tuple[Path, Path], tmp_path: Path) -> None:
    from lanner.paper.datasets import dimuon

    pytest.importorskip("pythia8mc", reason="the generator is not installed")
    note = json.loads(pq.read_schema(written[0]).metadata[b"lanner"])
    made = dimuon.generate(events=note["events"], seed=note["seed"], cuts=dimuon.PUBLISHED, processes=2)
    shipped = lanner.read_sample(written[0]).sample
    for name, column in zip(shipped.names, shipped.features.T, strict=True):
        np.testing.assert_array_equal(made[name].astype(np.float32), column.astype(np.float32))
