"""An analysis file, read and refused."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from lanner._util.yaml_file import load_yaml
from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file, read_simulated
from tests.events.analysis.conftest import TEXT


def test_the_file_is_read_as_it_is_meant(folder: Path) -> None:
    found = read_analysis_file(folder / "analysis.yaml")
    assert found.processes == ("Drell-Yan", "top")
    assert [f.spelled for f in found.features] == ["pt", "twice=2 * pt", "phi"]
    assert found.features[0].axis == "$p_T$ [GeV]"
    assert found.features[2].periodic == pytest.approx(2 * np.pi)
    assert found.settings == {"toys": 90, "seed": 3}
    assert found.where("samples", "top", "cross_section") == f"{folder / 'analysis.yaml'}:16"


BAD: list[tuple[str, str, str]] = [
    ("luminosity: 2.0", "luminosity: -2", r"yaml:1: luminosity: give a positive number, not -2"),
    ("luminosity: 2.0", "lumi: 2.0", r"yaml:1: lumi: is not a key here; nearest: luminosity"),
    ("luminosity: 2.0\n", "", r"yaml:5: samples.dy.cross_section: without a luminosity"),
    ("    cross_section: 0.3\n", "", r"yaml:14: samples.top: has no cross_section, but a luminosity is given"),
    ("    files: dy_*.parquet\n", "", r"yaml:3: samples.dy: files is missing"),
    ("high.parquet", "low.parquet", r"yaml:8: samples.dy-high: .*low.parquet"),
    ("4000", "300", r"yaml:12: samples.dy-high.sum_of_weights is 300, but its files alone hold 2\d\d\d"),
    ("2 * pt", "2 * px", r"yaml:20: features.twice: .*'twice', has no column 'px'"),
    ("pt > 20", "pt > 1e9", r"yaml:3: samples.dy: .*selects none of the 2100 rows"),
    ("weights: gen\n", "weights: [gen, 3]\n", r"yaml:13: samples.dy-high.weights.1: give a text, not 3"),
    ("periodic: true", "periodic: no way", r"yaml:21: features.phi.periodic: give a positive number"),
    ("periodic: true", "period: 3", r"yaml:21: features.phi.period: is not a key here; nearest: periodic"),
    (TEXT[TEXT.index("  pt: {") : TEXT.index("selection")], "  {}\n", r"yaml:18: features: give at least one entry"),
    ("data: data.parquet", "data: [data.parquet, 3]", r"yaml:17: data.1: give a text, not 3"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD, ids=[new.strip()[:30] for _, new, _ in BAD])
def test_mistakes_name_the_line_and_the_key(folder: Path, old: str, new: str, said: str) -> None:
    assert old in TEXT
    (folder / "analysis.yaml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as caught:
        read_simulated(read_analysis_file(folder / "analysis.yaml"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["", "3", "[a, b]", "samples: 3\nfeatures: [x]", "samples: {a: {files: []}}\nfeatures: [x]"]
)
def test_what_is_no_analysis_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=r"a\.yaml"):
        read_analysis_file(path)


def schema() -> Any:
    return json.loads((files("lanner.events.analysis") / "analysis.schema.json").read_text())


def test_the_template_is_an_analysis_and_obeys_the_schema(tmp_path: Path) -> None:
    text = (files("lanner.events.analysis") / "template.yaml").read_text()
    (tmp_path / "a.yaml").write_text(text)
    found = read_analysis_file(tmp_path / "a.yaml")
    assert [one.process for one in found.samples] == ["Drell-Yan", "top"]
    assert [f.name for f in found.features] == ["pt1", "phi1", "mll"]
    jsonschema.validate(load_yaml(tmp_path / "a.yaml", text), schema())


@pytest.mark.parametrize(("old", "new", "said"), [bad for bad in BAD if "is not a key" in bad[2] or "give a" in bad[2]])
def test_the_schema_refuses_what_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    jsonschema.validate(load_yaml(tmp_path / "a.yaml", TEXT), schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(load_yaml(tmp_path / "a.yaml", TEXT.replace(old, new, 1)), schema())
