"""Every example of docs/formulas.md about lists runs, and says of an event without objects what the page says."""

import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.expression_grammar import FUNCTIONS
from lanner.events.io import read_sample
from lanner.events.lists import REDUCERS
from lanner.events.missing import ABSENT
from tests.events.io.nanoaod import events_of, flattened, write_tree

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text()
LISTS = PAGE[PAGE.index("## Lists") :]
ROWS = [
    (found[1].replace(r"\|", "|"), found[2].strip())
    for found in re.finditer(r"(?m)^\| `(.+?)` \|.*\| (.+?) \|$", LISTS)
]
SAID = {"missing": ABSENT, "0": 0.0, "false": 0.0, "true": 1.0, "genWeight": 1.5}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Many events, and a last one with neither muons nor jets."""
    columns = flattened(events_of(1000))
    columns["Jet_eta"] = columns["Jet_phi"]
    nothing = {name: column[:1][..., :0] if column.ndim > 1 else column[:1] for name, column in columns.items()}
    nothing["genWeight"] = np.array([1.5])
    together = {name: ak.concatenate([column, nothing[name]]) for name, column in columns.items()}
    collections = {
        name: ak.zip({key.partition("_")[2]: column for key, column in together.items() if key.startswith(f"{name}_")})
        for name in ("Muon", "Jet")
    }
    flat = {name: column for name, column in together.items() if column.ndim == 1}
    return write_tree(tmp_path_factory.mktemp("page") / "mc.root", flat | collections)


def test_the_page_has_examples():
    assert len(ROWS) == 22


@pytest.mark.parametrize(("text", "said"), ROWS, ids=[text for text, _ in ROWS])
def test_every_example_runs_and_an_event_without_objects_has_the_value_said(source, text, said):
    if re.match(r"\w+=(?!=)", text):
        column = read_sample(source, features=[text]).sample.features[:, 0]
    else:
        column = read_sample(source, features=[f"holds={text}"]).sample.features[:, 0]
        assert len(read_sample(source, features="MET_pt", where=text).sample) == column.sum()
        assert 0 < column.sum() < len(column)
    assert column[-1] == SAID[said]
    assert len(np.unique(column)) > 1


def test_weights_of_the_page_are_weights(source):
    (weight,) = (text for text, _ in ROWS if text.startswith("w="))
    assert read_sample(source, features="MET_pt", weight=weight).sample.weights[-1] == 1.5


def test_the_page_names_every_function():
    for name in (*FUNCTIONS, *REDUCERS):
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE), name


def test_what_the_page_quotes_is_what_is_said(tmp_path):
    source = write_tree(tmp_path / "mc.root", events_of(1000))
    quoted = {line.strip() for line in PAGE.splitlines() if line.startswith("    ")}
    said = [read_sample(source, features="pt2=Muon_pt[1]").description]
    with pytest.raises(InputError) as refused:
        read_sample(source, features="pt8=Muon_pt[7]")
    said.append(str(refused.value))
    assert quoted == {text.replace(source, "mc.root") for text in said}
