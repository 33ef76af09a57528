"""Analysis files on the command line: `lanner init` writes one, `lanner search analysis.yaml` reads it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import click

from lanner.cli.terminal import plain_errors
from lanner.errors import InputError


@click.command()
@click.argument("file", default="analysis.yaml", type=click.Path(dir_okay=False))
def init(file: str) -> None:
    """Write an analysis file to fill in: samples, cross-sections, data, features, selection.

    FILE is analysis.yaml if nothing is given; a file that exists is never overwritten. Then: lanner search FILE
    """
    with plain_errors(quiet=False):
        from lanner._util.files import write_atomically

        path = Path(file)
        if path.suffix not in (".yaml", ".yml"):
            raise InputError(f"{path}: an analysis file ends in .yaml")
        if path.exists():
            raise InputError(f"{path} exists: give another name, or remove it")
        text = resources.files("lanner.events.analysis").joinpath("template.yaml").read_text(encoding="utf-8")
        write_atomically(path, text)
        click.echo(f"{path}: fill it in, and then: lanner search {path}")


def settings_of(path: str) -> dict[str, Any]:
    """The settings that an analysis file gives, which flags and a configuration file come before."""
    from lanner.report.analysis import read_analysis

    analysis = read_analysis(path)
    file = analysis.file
    found: dict[str, Any] = {"analysis": path, "features": [feature.spelled for feature in file.features]}
    if file.data:
        found["data"] = list(file.data)
    if file.selection is not None:
        found["where"] = file.selection
    return found | analysis.settings
