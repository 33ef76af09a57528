"""Expected numbers from files, and what is wrong with a file, by its line."""

import json
from pathlib import Path

import pytest

from lanner.errors import BatchError, InputError
from lanner.monitor.rates import Rates, names_file


def test_names_and_numbers_of_csv_and_json_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("run,events\n163286, 12.5\n# later\n\n163297,3\n")
    (tmp_path / "r.json").write_text(json.dumps({"163286": 12.5, "163297": 3}))
    for name in ("r.csv", "r.json"):
        found = Rates.read(tmp_path / name, 2.0)
        assert found.numbers == {"163286": 25.0, "163297": 6.0}
        assert found.of("163297") == 6.0
        with pytest.raises(BatchError, match="does not say how many events are expected in batch '5'"):
            found.of("5")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.csv", "a,1\nb\n", "r.csv:2: 1 cells; give two"),
        ("r.csv", "a,1\nb,many\n", "r.csv:2: 'many' is not a number"),
        ("r.csv", "a,1\na,2\n", "r.csv:2: batch 'a' is there twice"),
        ("r.csv", "a,-1\n", "r.csv:1: -1.0 is not a number of events above 0"),
        ("r.csv", "a,nan\n", "r.csv:1: nan is not a number of events above 0"),
        ("r.json", "[1]", "not of the form"),
        ("r.json", "{", "is not JSON"),
        ("r.json", '{"a": true}', "batch 'a': True is not a number of events"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        Rates.read(tmp_path / name)


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        Rates.read(tmp_path / "none.csv")


def test_what_ends_like_a_file_is_one() -> None:
    assert names_file("luminosity.CSV")
    assert not names_file("luminosity")
