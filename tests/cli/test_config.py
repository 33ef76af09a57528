import os
from pathlib import Path

import pytest

from lanner._util.values import Choice, Flag, Names, Text
from lanner.cli.config import load_config, write_config
from lanner.errors import InputError
from lanner.settings import DECLARED, RunSettings


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "reference: r.root:events\nfeatures: [pt, eta]\nexpected: 2000\npenalty: 1e-6\n"),
        ("a.toml", 'reference = "r.root:events"\nfeatures = ["pt", "eta"]\nexpected = 2000\npenalty = 1e-6\n'),
    ],
)
def test_yaml_and_toml_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    config = RunSettings.of(load_config(write(tmp_path, name, text)))
    assert (config.features, config.expected, config.penalty, config.toys) == (("pt", "eta"), 2000, 1e-6, "auto")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "width: 1\n\ntoyz: 5\n", r"a\.yaml:3: 'toyz' is not a setting; nearest: toys"),
        ("a.yaml", "seed: 1\nwidth: -2\n", r"a\.yaml:2: width: -2: give a number above 0"),
        ("a.toml", "seed = 1\ntoys = 'many'\n", r"a\.toml:2: toys: 'many': give a whole number"),
        ("a.yaml", "seed: [1\nwidth: 2\n", r"a\.yaml:\d+ is not YAML"),
        ("a.toml", "seed = = 1\n", r"a\.toml is not TOML: .*line 1"),
        ("a.yaml", "- 1\n- 2\n", r"a\.yaml:1: a configuration is"),
        ("a.yaml", "solver: falkon\n", r"a\.yaml:1: 'solver' is not a setting"),
        ("a.ini", "seed=1", r"ends in \.yaml, \.yml or \.toml"),
        ("a.yaml", "x: !!python/object/apply:os.system ['true']\n", r"a\.yaml:1 is not YAML"),
    ],
)
def test_errors_point_at_the_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(write(tmp_path, name, text))


def test_a_missing_file_offers_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "search.yaml", "")
    with pytest.raises(InputError, match=r"does not exist; nearest: search\.yaml"):
        load_config(tmp_path / "serach.yaml")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    settings = {
        "reference": 'a "b"\\c',
        "features": ["x"],
        "drop_nan": True,
        "width": 0.25,
        "penalty": 1e-10,
        "seed": 3,
    }
    assert RunSettings.of(load_config(write_config(tmp_path / "c.yaml", settings))) == RunSettings.of(settings)


def test_yaml_may_leave_null_unquoted_and_use_dashes(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("null: permutation\nnewton-steps: 1\nfeatures: pt1, pt2\n")
    config = RunSettings.of(load_config(path))
    assert (config.null, config.newton_steps, config.features) == ("permutation", 1, ("pt1", "pt2"))


def test_a_formula_keeps_its_commas(tmp_path: Path) -> None:
    path = write(tmp_path, "c.yaml", "features: pt, phi=arctan2(py, px)\nextra: r=hypot(px, py)\n")
    config = RunSettings.of(load_config(path))
    assert config.features == ("pt", "phi=arctan2(py, px)")
    assert config.extra == ("r=hypot(px, py)",)


@pytest.mark.parametrize("name", [name for name in DECLARED if name != "solver"])
def test_a_file_takes_every_setting(tmp_path: Path, name: str) -> None:
    kind = DECLARED[name].kind
    value = {Flag: "true", Text: "4 GB", Names: "[a, b]"}.get(type(kind), "1")
    if isinstance(kind, Choice):
        value = kind.options[0]
    elif name == "trace_error":
        value = "0.1"
    elif name in ("reference_size", "windows"):
        value = "2"
    elif name in ("size", "batch", "run_length"):
        value = "20"
    elif name == "false_discoveries":
        value = "0.1"
    elif name == "uncertainties":
        value = "{lumi: {normalisation: 0.03}}"
    assert set(load_config(write(tmp_path, "c.yaml", f"{name.replace('_', '-')}: {value}\n"))) == {name}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "expected: true\n", r"a\.yaml:1: expected: True is not a number"),
        ("a.yaml", "seed: 1\nexpected: 190:20:30\n", r"a\.yaml:2: expected: '190:20:30': give a number"),
        ("a.yaml", 'reference: "a\\0.csv"\n', r"a\.yaml:1: reference: .* NUL"),
        ("a.yaml", 'output: "\\ud800"\n', r"a\.yaml:1: output: .* not valid Unicode"),
        ("a.yaml", "output: ''\n", r"a\.yaml:1: output: '': give a text"),
        ("a.toml", "max-rank = 1\nmax_rank = 2\n", r"a\.toml:1: 'max-rank' is given with and without dashes"),
        ("a.toml", "expected = 2020-13-45\n", r"a\.toml is not TOML"),
        ("a.toml", f"seed = {'1' * 5000}\n", r"a\.toml is not TOML"),
        ("a.toml", f"features = {'[' * 5000}{']' * 5000}\n", r"a\.toml is not TOML"),
        ("a.yaml", "#" * 2**20 + "#", "is larger than a megabyte"),
    ],
)
def test_what_is_no_value_is_refused_in_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as said:
        load_config(write(tmp_path, name, text))
    assert "\n" not in str(said.value)


def test_a_pipe_is_no_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.yaml")
    with pytest.raises(InputError, match="is a pipe, not a file"):
        load_config(tmp_path / "c.yaml")


UNCERTAIN = "seed: 1\nuncertainties:\n  lumi: {normalisation: 0.03}\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "uncertainties: 5\n", r"a\.yaml:1: uncertainties: 5: give a name for each"),
        ("a.yaml", f"{UNCERTAIN}  pdf: 0.1\n", r"a\.yaml:4: 'pdf' is 0\.1: give one of normalisation"),
        ("a.yaml", f"{UNCERTAIN}  pdf: {{up: w}}\n", r"a\.yaml:4: 'pdf' has the key 'up', which no uncertainty has"),
        ("a.yaml", f"{UNCERTAIN}  pdf: {{}}\n", r"a\.yaml:4: 'pdf' is nothing yet"),
        (
            "a.yaml",
            f"{UNCERTAIN}  pdf:\n    weights_down: w\n",
            r"a\.yaml:4: 'pdf' has 'weights_down' alone: give weights",
        ),
        ("a.yaml", f"{UNCERTAIN}  tt: {{process: 0.1}}\n", r"a\.yaml:4: 'tt' lacks its label"),
        ("a.yaml", f"{UNCERTAIN}  tt: {{process: 3, label: x}}\n", r"a\.yaml:4: process of 'tt'=3: give a number"),
        ("a.yaml", f"{UNCERTAIN}  jes: {{shifted: []}}\n", r"a\.yaml:4: shifted of 'jes'=\[\]: give the sample up"),
        ("a.yaml", f"{UNCERTAIN}  jes: {{shifted: [[]]}}\n", r"a\.yaml:4: shifted of 'jes'=\[\[\]\]: give files"),
        (
            "a.yaml",
            f"{UNCERTAIN}  jes: {{shifted: u, shifted_yield: [1, 1]}}\n",
            r"a\.yaml:4: 'jes' has 1 samples and 2",
        ),
        (
            "a.yaml",
            f"{UNCERTAIN}  jes: {{shifted: u, shifted_yield: 9}}\n",
            r"a\.yaml:4: shifted_yield of 'jes'=.*0\.5",
        ),
        ("a.yaml", f"{UNCERTAIN}  a: {{normalisation: 0.1, process: 0.1, label: x}}\n", r"a\.yaml:4: 'a' is .* in one"),
        ("a.yaml", f"{UNCERTAIN}  lumi: {{normalisation: 0.1}}\n", r"a\.yaml:4 .*'lumi' stands in line 3 already"),
        ("a.yaml", f"{UNCERTAIN}  no: {{normalisation: 0.1}}\n", r"a\.yaml:2: an uncertainty has the name False"),
        (
            "a.yaml",
            f"{UNCERTAIN}  '2': {{normalisation: 0.1}}\n  2: {{normalisation: 0.1}}\n",
            r":5 .*'2' stands in line 4",
        ),
        ("a.toml", "[uncertainties.lumi]\nnormalisation = 2\n", r"a\.toml:1: normalisation of 'lumi'=2: give a number"),
        ("a.toml", "[uncertainties]\nlumi = {normalisation = 2}\n", r"a\.toml:2: normalisation of 'lumi'=2: give"),
        ("a.yaml", "normalisation: 0.1\n", r"a\.yaml:1: 'normalisation' is not a setting"),
    ],
)
def test_errors_of_uncertainties_point_at_the_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as said:
        load_config(write(tmp_path, name, text))
    assert "\n" not in str(said.value)


def test_uncertainties_are_read_as_they_were_written(tmp_path: Path) -> None:
    settings = {
        "uncertainties": {
            "lumi": {"normalisation": 0.03},
            "pdf": {"weights_up": "w * up", "weights_down": "w_down"},
            "jes": {"shifted": ["up.root:t", ["a.root", "b.root"]], "shifted_yield": [1.0, 0.9]},
            "tt": {"process": 0.06, "label": "process == 3"},
        }
    }
    config = RunSettings.of(load_config(write_config(tmp_path / "c.yaml", settings)))
    assert config.to_dict() == settings
    assert config.uncertainties[2].shifted == (("up.root:t",), ("a.root", "b.root"))
