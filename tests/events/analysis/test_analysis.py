"""An analysis file, and the reference that it stands for."""

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
from lanner.events.analysis.reference import read_data
from lanner.events.io.write import write_columns

TEXT = """\
luminosity: 2.0
samples:
  dy:
    files: dy_*.parquet
    process: Drell-Yan
    cross_section: 0.5
    weights: [gen, pileup]
  dy-high:
    files: high.parquet
    process: Drell-Yan
    cross_section: 0.1
    sum_of_weights: 4000
    weights: gen
  top:
    files: [top.parquet]
    cross_section: 0.3
data: data.parquet
features:
  pt: {label: "$p_T$", unit: GeV}
  twice: 2 * pt
  phi: {periodic: true}
selection: pt > 20
settings: {toys: 90, seed: 3}
"""


def columns(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "pt": rng.exponential(30, n),
        "phi": rng.uniform(-np.pi, np.pi, n),
        "gen": 3.0 * np.where(rng.random(n) < 0.2, -1.0, 1.0),
        "pileup": rng.uniform(0.8, 1.2, n),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, name in enumerate(("dy_1", "dy_2", "high", "top", "data")):
        write_columns(tmp_path / f"{name}.parquet", columns(1000 + 100 * k, k))
    (tmp_path / "analysis.yaml").write_text(TEXT)
    return tmp_path


def test_the_file_is_read_as_it_is_meant(folder: Path) -> None:
    found = read_analysis_file(folder / "analysis.yaml")
    assert found.processes == ("Drell-Yan", "top")
    assert [f.spelled for f in found.features] == ["pt", "twice=2 * pt", "phi"]
    assert found.features[0].axis == "$p_T$ [GeV]"
    assert found.features[2].periodic == pytest.approx(2 * np.pi)
    assert found.settings == {"toys": 90, "seed": 3}
    assert found.where("samples", "top", "cross_section") == f"{folder / 'analysis.yaml'}:16"


def test_weights_add_up_to_the_events_expected(folder: Path) -> None:
    reference = read_simulated(read_analysis_file(folder / "analysis.yaml"))
    first, second, high, top = (columns(1000 + 100 * k, k) for k in range(4))
    dy = {name: np.concatenate([first[name], second[name]]) for name in first}
    by_hand = [
        2.0 * 0.5 * 1000 / dy["gen"].sum() * (dy["gen"] * dy["pileup"])[dy["pt"] > 20],
        2.0 * 0.1 * 1000 / 4000 * high["gen"][high["pt"] > 20],
        2.0 * 0.3 * 1000 / 1300 * np.ones(int((top["pt"] > 20).sum())),
    ]
    assert reference.sample.weights is not None
    np.testing.assert_allclose(reference.sample.weights, np.concatenate(by_hand), rtol=1e-12)
    np.testing.assert_array_equal(reference.sample.features[:, 1], 2 * reference.sample.features[:, 0])
    drell_yan, tops = reference.yields()
    assert drell_yan.expected == pytest.approx(sum(w.sum() for w in by_hand[:2]))
    assert tops.expected == pytest.approx(by_hand[2].sum())
    assert drell_yan.error == pytest.approx(np.sqrt(sum((w**2).sum() for w in by_hand[:2])))
    assert drell_yan.negative == pytest.approx(0.2, abs=0.03)
    assert tops.worth == pytest.approx(tops.events)
    assert reference.of_process("top").sum() == tops.events


def test_data_have_the_same_selection_and_no_weights(folder: Path) -> None:
    data = read_data(read_analysis_file(folder / "analysis.yaml"))
    assert data.sample.weights is None
    assert data.sample.names == ("pt", "twice", "phi")
    assert data.sample.features[:, 0].min() > 20


def test_without_luminosity_weights_are_the_events_expected(folder: Path) -> None:
    text = "samples:\n  a: {files: top.parquet, weights: pileup}\nfeatures: [pt]\n"
    (folder / "plain.yaml").write_text(text)
    reference = read_simulated(read_analysis_file(folder / "plain.yaml"))
    assert reference.sample.total_weight == pytest.approx(columns(1300, 3)["pileup"].sum())


BAD: list[tuple[str, str, str]] = [
    ("luminosity: 2.0", "luminosity: -2", r"yaml:1: luminosity: give a positive number, not -2"),
    ("luminosity: 2.0", "lumi: 2.0", r"yaml:1: lumi: is not a key here; nearest: luminosity"),
    ("luminosity: 2.0\n", "", r"yaml:5: samples.dy.cross_section: without a luminosity"),
    ("    cross_section: 0.3\n", "", r"yaml:14: samples.top: has no cross_section, but a luminosity is given"),
    ("    files: dy_*.parquet\n", "", r"yaml:3: samples.dy: files is missing"),
    ("high.parquet", "low.parquet", r"yaml:8: samples.dy-high: .*low.parquet"),
    ("4000", "300", r"yaml:12: samples.dy-high.sum_of_weights is 300, but its files alone hold 2\d\d\d"),
    ("2 * pt", "2 * px", r"yaml:3: samples.dy: .*'px'"),
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


def test_a_negative_total_is_refused(folder: Path) -> None:
    text = "samples:\n  a: {files: top.parquet, weights: '-pileup'}\nfeatures: [pt]\n"
    (folder / "plain.yaml").write_text(text)
    with pytest.raises(InputError, match=r"plain.yaml:2"):
        read_simulated(read_analysis_file(folder / "plain.yaml"))


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
