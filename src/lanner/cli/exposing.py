"""`lanner exposure`: what a search would claim if the reference were off and nobody told it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from lanner._util.progress import begin, shown
from lanner.cli.dry_running import tell_dry_run
from lanner.cli.groups import Grouped
from lanner.cli.options import FIT, SAMPLES, WORKERS, common_flags, configured, dry_run_flag, flags
from lanner.cli.telling import tell_samples
from lanner.cli.terminal import plain_errors
from lanner.cli.uncertain import uncertainty_flags


@click.command(cls=Grouped, needed=("reference", "expected"))
@flags("reference", "expected")
@uncertainty_flags
@flags(
    "experiments", *SAMPLES, *FIT, "toys", experiments="Toy data sets of each uncertainty up and down (default: 100)."
)
@flags(*WORKERS, "output", output="Where to keep the toys and exposure.json.")
@dry_run_flag
@common_flags
def exposure(config_file: str | None, as_json: bool, quiet: bool, dry_run: bool, **given: Any) -> None:
    """Let the reference be off by each uncertainty, and see how often a search that is not told claims something.

    Interrupted, the same command with --output goes on where it was.
    """
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("reference", "expected"))
        if not config.uncertainties:
            raise click.UsageError("what may the reference be off by? Give --normalisation, --weights-up or the like")
        if dry_run:
            tell_dry_run(config, "exposure", as_json=as_json, quiet=quiet)
            return
        with shown(not quiet) as told:
            import lanner
            from lanner._util.files import write_atomically
            from lanner.cli.config import executor_chosen
            from lanner.cli.jobs import number_expected, read_reference, read_uncertainties

            begin(told, "reading the samples")
            reference = read_reference(config)
            expected = number_expected(config)
            if expected is None:
                raise lanner.errors.InputError("the exposure depends on a number of events: give --expected N")
            tell_samples(config, quiet=quiet, reference=reference)
            found = lanner.exposure(
                reference.sample,
                expected=expected,
                uncertainties=read_uncertainties(config, reference),
                toys=config.toys,
                experiments=config.experiments,
                output=config.output,
                memory=config.memory,
                executor=executor_chosen(config),
                device=config.device,
                progress=told,
                **config.fit_keywords(),
            )
        text = json.dumps(found.to_dict(), indent=1)
        if config.output:
            write_atomically(Path(config.output) / "exposure.json", text)
        click.echo(text if as_json else str(found))
