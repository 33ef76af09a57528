"""The commands on a finished search: `inspect` it, and write its `report` again."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lanner._util.progress import begin, shown
from lanner.cli.options import Name, moved_flags
from lanner.cli.terminal import plain_errors


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--variable", "variables", multiple=True, help="A variable to show (default: all); several times.")
@click.option("--extra", multiple=True, metavar="[NAME=]EXPR", help="A further variable from the files.")
@moved_flags
@click.option("--figures", type=Name(), metavar="DIR", help="Where to write the figures (default: FOLDER/figures).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--quiet", is_flag=True)
def inspect(
    folder: str,
    variables: tuple[str, ...],
    extra: tuple[str, ...],
    figures: str | None,
    as_json: bool,
    quiet: bool,
    **moved: str | None,
) -> None:
    """Show where the data of a finished search depart from the reference."""
    with plain_errors(quiet=quiet):
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.jobs import describe, reopen
            from lanner.report.plots.figures import write_figures

            begin(told, "reading the samples")
            result = lanner.load_result(folder)
            _, files = reopen(Path(folder), result, extra=extra, **moved)
            begin(told, "looking for departures")
            found = describe(result, files, variables=variables or None)
            begin(told, "drawing the figures")
            written = write_figures(result, found, Path(figures or Path(folder) / "figures"))
        click.echo(json.dumps(found.to_dict(), indent=1) if as_json else str(found))
        click.echo(f"figures: {', '.join(map(str, written))}", err=as_json)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--output", type=Name(), metavar="FILE", help="Where to write (default: FOLDER/report.html).")
@click.option("--title", help="Title of the report.")
@click.option("--extra", multiple=True, metavar="[NAME=]EXPR", help="A further variable from the files.")
@moved_flags
@click.option("--quiet", is_flag=True)
def report(
    folder: str, output: str | None, title: str | None, extra: tuple[str, ...], quiet: bool, **moved: str | None
) -> None:
    """Write the report of a finished search again."""
    with plain_errors(quiet=quiet):
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.jobs import reopen, report_again

            begin(told, "reading the samples")
            result = lanner.load_result(folder)
            _, files = reopen(Path(folder), result, extra=extra, **moved)
            begin(told, "writing the report")
            path = report_again(result, files, Path(folder), output=output, title=title)
        click.echo(f"report: {path}")
