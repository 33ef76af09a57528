"""Analysis files on the command line: `lanner init` writes one, `lanner search analysis.yaml` reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lanner._util.files import write_atomically
from lanner.cli.terminal import plain_errors
from lanner.errors import InputError
from lanner.events.io.read import Events

if TYPE_CHECKING:
    from lanner.report.look import Look
    from lanner.settings import RunSettings


@click.command()
@click.argument("file", default="analysis.yaml", type=click.Path(dir_okay=False))
def init(file: str) -> None:
    """Write an analysis file to fill in: samples, cross-sections, data, features, selection.

    FILE is analysis.yaml if nothing is given; a file that exists is never overwritten. Then: lanner search FILE
    """
    with plain_errors(quiet=False):
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


@dataclass(frozen=True, eq=False)
class Processed(Events):
    """The simulated samples of an analysis, with what its plots need and what is said of its processes."""

    look: Look | None = None
    lines: tuple[str, ...] = ()


def read_processed(config: RunSettings) -> Processed:
    """The reference of an analysis, with the selection of the run."""
    from lanner.report.analysis import read_analysis

    assert config.analysis is not None
    unused = [name for name in ("weight", "extra", "spread", "drop_nan") if getattr(config, name)]
    if config.reference is not None:
        unused.append("reference")
    if unused:
        raise InputError(f"{', '.join(unused)}: an analysis file says what its samples are; leave out one or the other")
    others = [one.name for one in config.uncertainties if one.to_dict().keys() - {"normalisation"}]
    if others:
        raise InputError(
            f"uncertainties {', '.join(map(repr, others))}: of an analysis file only normalisations can be given here; "
            "from Python, lanner.read_analysis(...).search(uncertainties=[...]) takes all kinds"
        )
    analysis = read_analysis(config.analysis, memory=config.memory)
    if config.features != tuple(feature.spelled for feature in analysis.file.features):
        raise InputError(f"features: those of {config.analysis} are tested; change them there")
    analysis = replace(analysis, file=replace(analysis.file, selection=config.where))
    reference = analysis.reference
    lines = tuple(
        f"{one.process}: {one.expected:.6g} ± {one.error:.2g} expected, of {one.events} simulated events worth "
        f"{one.worth:.0f}" + (f" ({one.negative:.1%} of negative weight)" if one.negative else "")
        for one in reference.yields()
    )
    return Processed(reference.sample, {}, reference.description, 0, look=analysis.look, lines=lines)
