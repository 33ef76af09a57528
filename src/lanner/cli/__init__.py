"""The command line: one command per public function, in the order of the work."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lanner import __version__
from lanner._util.progress import begin, shown
from lanner.cli.analysing import init
from lanner.cli.blinding import run_blind, unblind
from lanner.cli.comparing import compare
from lanner.cli.doctor import doctor
from lanner.cli.dry_running import tell_dry_run
from lanner.cli.exporting import export
from lanner.cli.exposing import exposure
from lanner.cli.finished import inspect, report
from lanner.cli.folders import with_output
from lanner.cli.groups import Grouped
from lanner.cli.monitoring import monitor
from lanner.cli.options import (
    FIT,
    SAMPLES,
    UNTIL,
    WORKERS,
    common_flags,
    configured,
    dry_run_flag,
    flags,
    refuse_idle,
)
from lanner.cli.paper import example, generate, reproduce, run_suite
from lanner.cli.regions import has_regions, search_in_regions
from lanner.cli.telling import in_words, tell_samples
from lanner.cli.terminal import plain_errors
from lanner.cli.uncertain import check_uncertainties, refuse_uncertainties, uncertainty_flags


class _InOrder(click.Group):
    """Lists commands in the order of the work instead of the alphabet's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="lanner")
def main() -> None:
    """Do the data follow the reference model? How surely, and where do they depart from it?

    A first search:  lanner search --reference mc.root:events --data data.root:events --expected 20000 --output out
    """


main.add_command(init)
main.add_command(example)
main.add_command(generate)


@main.command(cls=Grouped, needed=("reference", "expected"))
@flags("reference", "expected", *SAMPLES, *FIT, "output", output="Write config.yaml and tuning.svg here.")
@common_flags
def tune(config_file: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Choose width, penalty and number of centres from the reference alone."""
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("reference", "expected"))
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.config import write_config
            from lanner.cli.jobs import number_expected, read_reference

            begin(told, "reading the reference")
            reference = read_reference(config)
            tell_samples(config, quiet=quiet, reference=reference)
            begin(told, "tuning")
            tuning = lanner.tune(
                reference.sample,
                expected=number_expected(config),
                memory=config.memory,
                progress=told,
                **config.fit_keywords(),
            )
            if config.output:
                from lanner.report.plots.tuning import write_tuning

                begin(told, "writing the settings and the figure")
                settings = config.to_dict() | tuning.settings()
                settings.pop("output")
                written = write_config(Path(config.output) / "config.yaml", settings)
                figure = write_tuning(tuning, Path(config.output) / "tuning.svg")
        click.echo(json.dumps(tuning.to_dict()) if as_json else str(tuning))
        if config.output:
            click.echo(f"settings in {written}, curves in {figure}", err=as_json)


@main.command(cls=Grouped, needed=("reference", "expected"))
@uncertainty_flags
@flags("reference", "expected", *SAMPLES, *FIT, "toys", *WORKERS)
@flags("output", output="Where to keep the calibration (default: a folder named after the reference).")
@dry_run_flag
@common_flags
def calibrate(config_file: str | None, as_json: bool, quiet: bool, dry_run: bool, **given: Any) -> None:
    """Make and keep the null toys of a reference, to apply to data later."""
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("reference", "expected"))
        if dry_run:
            tell_dry_run(config, "calibrate", as_json=as_json, quiet=quiet)
            return
        config = with_output(config, "calibration", quiet=quiet)
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.config import executor_chosen
            from lanner.cli.jobs import expected_of, read_reference, read_uncertainties

            expected = expected_of(config)
            if expected is None:
                raise lanner.errors.InputError("a calibration needs a number: give --expected N")
            assert config.output is not None
            begin(told, "reading the reference")
            reference = read_reference(config)
            tell_samples(config, quiet=quiet, reference=reference)
            made = lanner.calibrate(
                reference.sample,
                expected=expected,
                output=config.output,
                toys=config.toys,
                uncertainties=read_uncertainties(config, reference),
                memory=config.memory,
                executor=executor_chosen(config),
                device=config.device,
                progress=told,
                **config.fit_keywords(),
            )
        scales = [
            {"width": p.width, "penalty": p.penalty, "mean": float(t.mean()), "spread": float(t.std(ddof=1))}
            for p, t in zip(made.plans, made.toys.statistics[: len(made.plans)], strict=True)  # terms come after
        ]
        if as_json:
            click.echo(json.dumps({"folder": str(made.folder), "toys": len(made), "scales": scales}))
        else:
            for s in scales:
                click.echo("width {width:.3g}, penalty {penalty:.3g}: t = {mean:.2f} +- {spread:.2f}".format(**s))
            click.echo(f"{len(made)} toys, kept in {made.folder}")


@main.command(cls=Grouped, needed=("reference", "data", "expected"))
@click.argument("analysis", required=False, type=click.Path(dir_okay=False))
@flags("reference", "data", "expected", *SAMPLES, "spread", *FIT, "null", "toys", *UNTIL, *WORKERS)
@flags("blind", "signal", "signal_events", "signal_alone", signal="Blind: a signal whose sensitivity is shown.")
@uncertainty_flags
@flags("output", output="Where to write the result, the report and the toys (default: a folder named after the files).")
@dry_run_flag
@common_flags
def search(config_file: str | None, as_json: bool, quiet: bool, dry_run: bool, **given: Any) -> None:
    """Test whether the data follow the reference, and report where they do not.

    ANALYSIS is a file that says all of it (lanner init); what it says need not be given again.
    """
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("reference", "data", "expected"))
        refuse_idle(given, config)
        if has_regions(config):
            search_in_regions(config, as_json=as_json, quiet=quiet, dry_run=dry_run)
            return
        if dry_run:
            tell_dry_run(config, "search", as_json=as_json, quiet=quiet)
            return
        if config.blind:
            run_blind(config, as_json=as_json, quiet=quiet)
            return
        config = with_output(config, "search", quiet=quiet)
        assert config.output is not None
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.config import executor_chosen
            from lanner.cli.jobs import (
                Files,
                check_folder,
                expected_of,
                finish,
                opened_reference,
                read_like,
                read_uncertainties,
            )
            from lanner.run.blinded import refuse_blind

            refuse_blind(Path(config.output))  # before the data are read
            executor = executor_chosen(config)
            begin(told, "reading the reference")
            with opened_reference(config, executor, told) as reference:
                begin(told, "reading the data")
                data = read_like(config, config.data, reference.sample.names, "data")
                check_folder(Path(config.output), data)
                tell_samples(config, quiet=quiet, reference=reference, data=data)
                uncertainties = read_uncertainties(config, reference)
                result = lanner.search(
                    reference.sample,
                    data.sample,
                    expected=expected_of(config),
                    toys=config.toys,
                    until_z=config.until_z,
                    p_precision=config.p_precision,
                    uncertainties=uncertainties,
                    output=config.output,
                    memory=config.memory,
                    executor=executor,
                    device=config.device,
                    progress=told,
                    **config.fit_keywords(),
                )
                begin(told, "writing the report")
                result, report = finish(result, config, Files(reference, data), Path(config.output))
        click.echo(result.to_json() if as_json else f"{in_words(result)}\nreport: {report}")


main.add_command(unblind)


@main.command(cls=Grouped, needed=("data",))
@click.argument("calibration", type=click.Path(file_okay=False))
@flags("data", "expected", *SAMPLES, "memory", "output", expected="Checked against the calibration.")
@common_flags
def apply(calibration: str, config_file: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Test data against a calibration that was kept."""
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("data",))
        with shown(not quiet) as told:
            import lanner
            from lanner.cli.jobs import Files, check_folder, finish, read_like, reference_of

            begin(told, "reading the calibration")
            kept = lanner.load_calibration(calibration)
            check_uncertainties(config, () if kept.uncertain is None else kept.uncertain.nuisances.names)
            begin(told, "reading the data")
            data = read_like(config, config.data, kept.plan.names, "data")
            tell_samples(config, quiet=quiet, data=data)
            expected = None if config.expected is None else float(config.expected)
            begin(told, "applying the calibration")
            result = lanner.apply(kept, data.sample, expected=expected, memory=config.memory)
            written = ""
            if config.output:
                begin(told, "writing the report")
                folder = Path(config.output)
                check_folder(folder, data)
                reference = reference_of(kept, config)
                config = replace(config, reference=(str(Path(calibration) / "reference.npz"),))
                result, report = finish(result, config, Files(reference, data), folder)
                written = f"\nreport: {report}"
        click.echo(result.to_json() if as_json else f"{in_words(result)}{written}")


main.add_command(monitor)
main.add_command(inspect)
main.add_command(report)
main.add_command(export)


@main.command(cls=Grouped)
@click.option(
    "--suite",
    type=click.Choice(["one-dimensional", "dimuon"]),
    help="Measure several tests on a named suite of signals, instead of one test on a signal of your own.",
)
@uncertainty_flags
@flags("reference", "signal", "expected", "signal_events", "signal_alone", "experiments", *SAMPLES, *FIT, "toys")
@flags(*WORKERS, "output", output="Where to keep the toys and power.json.")
@dry_run_flag
@common_flags
def power(config_file: str | None, as_json: bool, quiet: bool, dry_run: bool, suite: str | None, **given: Any) -> None:
    """Inject a signal at several strengths: how likely is a search to find it?"""
    if suite is not None:
        with plain_errors(quiet=quiet):
            config = configured(config_file, given)
            refuse_uncertainties(config, "power --suite")
        run_suite(suite, config, as_json=as_json, quiet=quiet)
        return
    with plain_errors(quiet=quiet):
        config = configured(config_file, given, needed=("reference", "signal", "expected", "signal_events"))
        if dry_run:
            tell_dry_run(config, "power", as_json=as_json, quiet=quiet)
            return
        with shown(not quiet) as told:
            import lanner
            from lanner._util.files import write_atomically
            from lanner.cli.config import executor_chosen
            from lanner.cli.jobs import number_expected, read_like, read_reference, read_uncertainties

            begin(told, "reading the samples")
            reference = read_reference(config)
            expected = number_expected(config)
            if expected is None:
                raise lanner.errors.InputError("the power depends on a number of events: give --expected N")
            assert config.signal_events is not None
            signal = read_like(config, config.signal, reference.sample.names, "signal")
            tell_samples(config, quiet=quiet, reference=reference, signal=signal)
            found = lanner.power(
                reference.sample,
                signal.sample,
                expected=expected,
                signal_events=config.signal_events,
                alone=config.signal_alone,
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
            write_atomically(Path(config.output) / "power.json", text)
        click.echo(text if as_json else str(found))


main.add_command(exposure)
main.add_command(compare)
main.add_command(reproduce)
main.add_command(doctor)
