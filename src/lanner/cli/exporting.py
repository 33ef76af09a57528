"""`lanner export`: what a finished search found, in the forms in which others take it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lanner._util.progress import begin, shown
from lanner.cli.options import Name, moved_flags
from lanner.cli.terminal import plain_errors
from lanner.errors import InputError

_KINDS = ("hepdata", "histograms", "toys", "ratios", "citation")


@click.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False))
@click.option("--output", type=Name(), metavar="DIR", help="Where to write (default: FOLDER/export).")
@click.option("--only", multiple=True, type=click.Choice(_KINDS), help="What to write (default: all); several times.")
@click.option(
    "--format",
    "kind",
    default="npz",
    type=click.Choice(["npz", "parquet", "csv", "h5", "root"]),
    help="Of toys and ratios (default: npz).",
)
@click.option("--events", multiple=True, metavar="FILE", help="Events at which to give the learned ratio too.")
@click.option("--variable", "variables", multiple=True, help="A variable to write (default: all); several times.")
@click.option("--extra", multiple=True, metavar="[NAME=]EXPR", help="A further variable from the files.")
@moved_flags
@click.option("--citation", "citation_alone", is_flag=True, help="Print what to cite as BibTeX, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
@click.option("--quiet", is_flag=True)
def export(
    folder: str | None,
    output: str | None,
    only: tuple[str, ...],
    kind: str,
    events: tuple[str, ...],
    variables: tuple[str, ...],
    extra: tuple[str, ...],
    citation_alone: bool,
    as_json: bool,
    quiet: bool,
    **moved: str | None,
) -> None:
    """Write a finished search for others: HEPData tables, UHI histograms, toys, learned ratios, a citation."""
    if citation_alone:
        from lanner.report.export.citation import citation

        click.echo(citation(), nl=False)
        return
    if folder is None:
        raise click.UsageError("Missing argument 'FOLDER': the folder of a finished search.")
    with plain_errors(quiet=quiet):
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.jobs import describe, read_like, reopen

            begin(told, "reading the samples")
            result = lanner.load_result(folder)
            found, more = None, {}
            if events or not only or set(only) & {"hepdata", "histograms", "ratios"}:
                config, files = reopen(Path(folder), result, extra=extra, **moved)
                begin(told, "looking for departures")
                found = describe(result, files, variables=variables or None)
                for file in events:
                    name = Path(file.partition(":")[0]).stem
                    if name in more:
                        raise InputError(f"--events: two files are called {name}: give their events in one file")
                    more[name] = read_like(config, [file], result.plan.names, name).sample
            begin(told, "writing")
            written = lanner.export(
                result,
                output or Path(folder) / "export",
                characterisation=found,
                events=more or None,
                only=only or None,
                suffix=f".{kind}",
            )
        names = [str(path) for path in written]
        click.echo(json.dumps(names) if as_json else "\n".join(names))
