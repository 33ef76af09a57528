"""YAML without surprises: numbers are what they look like, and every line counts once."""

from pathlib import Path
from typing import Any

import pytest

from lanner._util.yaml_file import load_yaml
from lanner.errors import InputError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100", 100),
        ("-1_000", -1000),
        ("0100", 100),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("1e-6", "1e-6"),
        ("190:20:30", "190:20:30"),
        ("0x10", "0x10"),
        ("2020-01-02", "2020-01-02"),
        ("2020-13-45", "2020-13-45"),
        ("true", True),
        ("null", None),
        ("", None),
        ("[pt, 2]", ["pt", 2]),
    ],
)
def test_a_value_is_what_it_looks_like(text: str, value: Any) -> None:
    found = load_yaml(Path("c.yaml"), f"x: {text}\n")["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("expected: 5\nseed: 1\nexpected: 7\n", r"c\.yaml:3 .*'expected' stands in line 1 already"),
        ("max-rank: 5\nmax_rank: 7\n", r"c\.yaml:2 .*'max_rank' stands in line 1 already"),
        (f"seed: {'1' * 5000}\n", r"c\.yaml:1 .*is no int"),
        ("seed: 1\nwidth: !!int abc\n", r"c\.yaml:2 .*'abc' is no int"),
        ("width: !!float abc\n", r"c\.yaml:1 .*'abc' is no float"),
        ("where: !!timestamp 2020-13-45\n", r"c\.yaml:1 .*is no timestamp"),
        ("drop_nan: !!bool maybe\n", r"c\.yaml:1 .*is no bool"),
        (f"features: {'[' * 5000}{']' * 5000}\n", r"c\.yaml:1 .*too many lists"),
        (f"features: {'{a: ' * 5000}{'}' * 5000}\n", r"c\.yaml:1 .*too many lists"),
        (BOMB, r"c\.yaml:2 .*'\*a' refers to another line"),
        ("features: &a [*a]\n", r"c\.yaml:1 .*refers to another line"),
        ("a: \0\n", "special characters are not allowed"),
    ],
)
def test_what_has_two_meanings_or_none_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as said:
        load_yaml(Path("c.yaml"), text)
    assert len(str(said.value)) < 300
