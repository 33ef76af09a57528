"""Several regions from Python and as a page, as the documentation has them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import lanner
from lanner.events.io.write import write_columns
from lanner.report.plots.regions import plot_regions
from lanner.report.regions import render, write_regions_report
from lanner.run.regions_result import RegionsResult

PAGE = (Path(__file__).parents[2] / "docs" / "regions.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def write_files(folder: Path) -> None:
    """Small files that the page's analysis fits."""
    rng = np.random.default_rng(1)
    for name, n in (("mc", 6000), ("data", 150)):
        columns = {"mll": 50 + 60 * rng.exponential(size=n), "eta1": rng.normal(size=n), "eta2": rng.normal(size=n)}
        if name == "mc":
            columns["w"] = np.full(n, 150 / n)
        write_columns(folder / f"{name}.csv", columns)
    (folder / "analysis.yaml").write_text(blocks("yaml")[0])


@cache
def found() -> RegionsResult:
    rng = np.random.default_rng(3)
    reference, data = rng.normal(size=(4000, 1)), np.abs(rng.normal(size=(60, 1)))
    regions = {"left": "x0 < -0.5", "middle": (np.abs(reference[:, 0]) < 1, np.abs(data[:, 0]) < 1), "<b>": "x0 > 0"}
    regions["right"] = regions.pop("<b>")
    return lanner.search_regions(reference, data, regions=regions, expected=60, toys=120, seed=1, centers=40)


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(blocks("python")[0], names)
    said = capsys.readouterr().out
    assert re.search(r"high-mass: p = 0\.\d+, Z = -?\d\.\d, \d+ data events, 1\d\.\d expected", said)
    assert isinstance(names["high"], lanner.Analysis)
    assert len(names["high"].data.sample) < 50
    exec(blocks("python")[1], names)
    assert "most of all in high-mass" in capsys.readouterr().out
    result = names["found"]
    assert isinstance(result, lanner.RegionsResult)
    assert result.leading == "high-mass"
    assert (tmp_path / "out" / "regions" / "central" / "result.json").exists()


def test_a_region_alone_has_the_events_that_were_searched(tmp_path: Path) -> None:
    write_files(tmp_path)
    analysis = lanner.read_analysis(tmp_path / "analysis.yaml")
    inside = analysis.in_region("barrel")
    mask, of_data = analysis.regions["barrel"].reference, analysis.regions["barrel"].data
    np.testing.assert_array_equal(inside.reference.sample.features, analysis.reference.sample.features[mask])
    assert analysis.reference.sample.weights is not None
    np.testing.assert_array_equal(inside.reference.sample.weights, analysis.reference.sample.weights[mask])
    np.testing.assert_array_equal(inside.data.sample.features, analysis.data.sample.features[of_data])


def test_the_page_leads_to_the_reports_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "regions" / "right").mkdir(parents=True)
    (tmp_path / "regions" / "right" / "report.html").write_text("")
    text = write_regions_report(found(), tmp_path / "report.html").read_text()
    assert re.findall(r'<a href="([^"]*)"', text) == ["regions/right/report.html"]
    assert text.index(found().verdict().split(" (")[0]) < text.index("<table>")
    for name in ("left", "middle", "right"):
        assert f"<strong>{name}</strong>" in text
    assert "by a mask" in text
    assert "x0 &lt; -0.5" in text
    assert "<script" not in text


def test_the_page_is_the_same_without_links() -> None:
    text = render(found(), {})
    assert "<a href" not in text
    assert "harmonic mean" in text


def test_every_region_is_drawn_where_its_z_is() -> None:
    axes = plot_regions(found())
    drawn = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if line.get_marker() in ("o", ">")]
    assert drawn == pytest.approx([found().z_score, *(one.z_score for one in found().regions.values())])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["all regions", "left", "middle", "right"]


def test_the_summary_has_a_line_for_each_region() -> None:
    lines = found().summary().splitlines()
    left = found().regions["left"]
    assert lines[1].split()[:4] == ["left", "p", "≤" if left.result.empirical.is_bound else "=", lines[1].split()[3]]
    assert "0 data events, 18" in lines[1]
    assert "; x0 < -0.5" in lines[1]
    assert sum("*" in line for line in lines[1:4]) == 1
