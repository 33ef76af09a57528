"""The help of commands with many options, and what click says of values that cannot be."""

import click
import pytest
from click.testing import CliRunner

from lanner import __version__
from lanner.cli import main
from lanner.cli.groups import Grouped


def output(*arguments: str) -> str:
    return CliRunner().invoke(main, arguments).output


def test_options_stand_in_the_order_in_which_one_needs_them() -> None:
    text = output("search", "--help")
    titles = ["Input:", "Physics:", "Uncertainties:", "Toys:", "Fit (", "Output:", "Machine and cluster:"]
    places = [text.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert text.index("--tls-ca") > text.index("--output")


def test_what_one_cannot_do_without_is_marked() -> None:
    for name, command in main.commands.items():
        if isinstance(command, Grouped):
            assert output(name, "--help").count("[required]") == len(command.needed), name
    assert output("search", "--help").count("[required]") == 3


def test_every_option_of_a_grouped_command_has_its_group() -> None:
    for command in main.commands.values():
        if isinstance(command, Grouped):
            options = [p.name for p in command.params if isinstance(p, click.Option)]
            placed = " ".join(command.groups.values()).split()
            assert [name for name in options if name not in placed] == []
    assert "\nOptions:" not in output("search", "--help")


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--width", "abc", "Invalid value for '--width': abc: give a number above 0, such as 0.3, or 'auto'"),
        ("--scaling", "x", "Invalid value for '--scaling': x is not known; choose one of 'robust', 'standard', 'auth"),
    ],
)
def test_a_wrong_value_is_refused_in_the_spelling_of_the_flag(flag: str, value: str, said: str) -> None:
    text = " ".join(output("search", flag, value).split())
    assert said in text
    assert "=" not in text


def test_the_version_is_that_of_the_package() -> None:
    assert output("--version") == f"lanner, version {__version__}\n"
