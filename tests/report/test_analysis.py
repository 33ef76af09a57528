"""An analysis file from Python, as its page in the documentation has it."""

import re
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.events.io.write import write_columns

PAGE = (Path(__file__).parents[2] / "docs" / "analysis.md").read_text()


def block(language: str) -> str:
    """The first block of a language on the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def write_samples(folder: Path) -> None:
    """Small files that the page's analysis fits."""
    rng = np.random.default_rng(1)
    for name, n in (("dy_1", 6000), ("dy_2", 4000), ("top", 6000), ("data", 270)):
        columns = {
            "pt": rng.exponential(60 if name == "top" else 30, n) + 5,
            "eta": rng.normal(size=n),
            "phi": rng.uniform(-np.pi, np.pi, n),
        }
        if name != "data":
            columns |= {
                "generator": np.where(rng.random(n) < 0.15, -2.0, 2.0),
                "pileup": rng.uniform(0.9, 1.1, n),
            }
        write_columns(folder / f"{name}.parquet", columns)
        if name == "top":
            for way, change in (("up", 1.02), ("down", 1 / 1.02)):
                write_columns(folder / f"top_{way}.parquet", columns | {"pt": change * columns["pt"]})
    (folder / "analysis.yaml").write_text(block("yaml"))


def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block("python"), names)
    said = capsys.readouterr().out
    assert re.search(r"Drell-Yan: \d+\.\d ± \d+\.\d expected, 1\d% negative weights", said)
    report = (tmp_path / "report.html").read_text()
    assert "Drell-Yan" in report or "<path" in report
    result = names["result"]
    assert isinstance(result, lanner.SearchResult)
    analysis = names["analysis"]
    assert isinstance(analysis, lanner.Analysis)
    worth = analysis.reference.sample.worth
    assert result.plan.expected == pytest.approx(sum(one.expected for one in analysis.reference.yields()))
    assert result.plan.expected_error == pytest.approx(result.plan.expected / worth**0.5)
    assert result.plan.periodic[0].startswith("phi=6.28")


def test_settings_given_come_before_those_of_the_file(tmp_path: Path) -> None:
    write_samples(tmp_path)
    analysis = lanner.read_analysis(tmp_path / "analysis.yaml")
    result = analysis.search(toys=90, expected=250, seed=2)
    assert (result.plan.expected, result.plan.seed) == (250, 2)
    profile = analysis.characterise(result).profile("ht")
    assert profile.axis == "$H_T$ [GeV]"
    assert [name for name, _ in profile.stack] == ["Drell-Yan", "top"]


def test_the_uncertainties_of_the_page_are_read(tmp_path: Path) -> None:
    write_samples(tmp_path)
    _, uncertain = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "analysis.yaml").write_text(block("yaml") + uncertain)
    analysis = lanner.read_analysis(tmp_path / "analysis.yaml")
    found = {type(one): one for one in analysis.uncertainties}
    assert list(found) == [lanner.Normalisation, lanner.Process, lanner.Weights, lanner.Shifted]
    assert found[lanner.Process].label.sum() == analysis.reference.of_process("top").sum()
    assert found[lanner.Shifted].down is not None
