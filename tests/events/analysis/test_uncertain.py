"""Uncertainties of an analysis file: as they are meant, and what is refused, with its line and key."""

from pathlib import Path

import jsonschema
import pytest

from lanner._util.yaml_file import load_yaml
from lanner.errors import InputError
from lanner.events.analysis import read_analysis_file
from tests.events.analysis.conftest import TEXT
from tests.events.analysis.test_file import schema

UNCERTAIN = """\
uncertainties:
  lumi: {normalisation: 0.02}
  2018 top: {process: top, size: 0.06}
  pileup:
    weights_up: {dy: gen, top: pileup}
    weights_down: {dy: gen * pileup**2, top: 1/pileup}
  jes:
    shifted:
      top: [top.parquet, [top.parquet]]
  one way: {weights_up: pileup}
"""


def test_each_kind_is_read_as_it_is_meant(folder: Path) -> None:
    (folder / "analysis.yaml").write_text(TEXT + UNCERTAIN)
    lumi, top, pileup, jes, one_way = read_analysis_file(folder / "analysis.yaml").uncertainties
    assert (lumi.name, lumi.size, lumi.process) == ("lumi", 0.02, None)
    assert (top.name, top.size, top.process) == ("2018 top", 0.06, "top")
    assert pileup.weights_up == {"dy": "gen", "top": "pileup"}
    assert pileup.weights("down")["top"] == "1/pileup"
    assert jes.shifted == {"top": ((str(folder / "top.parquet"),), (str(folder / "top.parquet"),))}
    assert pileup.directions == jes.directions == ("up", "down")
    assert one_way.directions == ("up",)
    assert one_way.weights_up == dict.fromkeys(("dy", "dy-high", "top"), "pileup")


BAD = [
    ("normalisation: 0.02", "normalisation: 2", r":2\d: uncertainties.lumi.normalisation: give a relative uncertainty"),
    ("normalisation: 0.02", "normalization: 0.02", r"lumi.normalization: is not a key here; nearest: normalisation"),
    ("{normalisation: 0.02}", "0.02", r":25: uncertainties.lumi: give `key: value` lines"),
    ("{normalisation: 0.02}", "{}", r"uncertainties.lumi: is nothing yet: give one of"),
    ("0.02}", "0.02, process: top}", r"uncertainties.lumi: is normalisation and process in one: give one of"),
    ("process: top,", "process: tt,", r":26: uncertainties.2018 top.process: 'tt' is no process of this analysis"),
    ("process: top,", "process: dy,", r"'dy' is no process of this analysis; there are Drell-Yan, top"),
    ("process: top, size: 0.06", "process: 0.06, label: x", r"2018 top.label: is not a key here"),
    ("process: top, size: 0.06", "process: 0.06, size: 1", r"2018 top.process: give the name of a process, Drell-Yan"),
    (", size: 0.06", "", r":26: uncertainties.2018 top: size is missing"),
    ("weights_up: pileup", "weights_down: pileup", r"uncertainties.one way: weights_up is missing"),
    ("weights_up: pileup", "weights_up: 3", r"one way.weights_up: give a text, not 3"),
    ("{dy: gen, top: pileup}", "{dy: gen, tpo: pileup}", r":28: .*weights_up.tpo: 'tpo' is no sample of this .* top$"),
    ("{dy: gen, top: pileup}", "{dy: gen}", r":29: .*weights_down: is of other samples than weights_up"),
    ("top: [top.parquet, [top.parquet]]", "top: [a, b, c]", r":32: .*shifted.top: give the files up, or those"),
    ("\n      top: [top", " [top", r"shifted: name the samples that were shifted, as in"),
    (
        "[top.parquet, [top.parquet]]",
        "[top.parquet, [top.parquet]]\n      dy: high.parquet",
        r"shifted: some samples are shifted up and down, others up alone",
    ),
    ("settings: {toys: 90", "settings: {uncertainties: 3, toys: 90", r":23: settings.uncertainties: give them as unc"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD, ids=[new.strip()[:40] for _, new, _ in BAD])
def test_mistakes_name_the_line_and_the_key(folder: Path, old: str, new: str, said: str) -> None:
    text = TEXT + UNCERTAIN
    assert old in text
    (folder / "analysis.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as caught:
        read_analysis_file(folder / "analysis.yaml")
    assert "\n" not in str(caught.value)
    assert f"{folder / 'analysis.yaml'}:" in str(caught.value)


def test_the_schema_takes_what_is_taken_and_refuses_what_it_can(tmp_path: Path) -> None:
    text = TEXT + UNCERTAIN
    jsonschema.validate(load_yaml(tmp_path / "a.yaml", text), schema())
    of_the_samples = ("is no ", "of other samples", "up alone", "settings.unc")
    for old, new, said in BAD:
        if not any(words in said for words in of_the_samples):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(load_yaml(tmp_path / "a.yaml", text.replace(old, new, 1)), schema())
