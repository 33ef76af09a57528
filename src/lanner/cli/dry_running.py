"""`--dry-run`, of every command that takes long."""

from __future__ import annotations

import json

import click

from lanner._util.progress import begin, shown
from lanner.settings import RunSettings


def tell_dry_run(config: RunSettings, purpose: str, *, as_json: bool, quiet: bool) -> None:
    """Print what a command would do."""
    with shown(not quiet) as told:
        from lanner.cli.jobs import dry_run

        begin(told, "reading the samples")
        found = dry_run(config, purpose, told)
    click.echo(json.dumps(found.to_dict(), indent=1) if as_json else str(found))
