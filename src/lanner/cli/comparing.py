"""`lanner compare`: what one would use instead, on the same toys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lanner._util.progress import begin, shown
from lanner.cli.groups import Grouped
from lanner.cli.options import NETWORK, SAMPLES, common_flags, configured, flags, numbers_given, suite_seed
from lanner.cli.telling import tell_samples
from lanner.cli.terminal import plain_errors
from lanner.cli.uncertain import refuse_uncertainties
from lanner.settings import RunSettings


@click.command(cls=Grouped)
@click.option(
    "--suite",
    type=click.Choice(["one-dimensional", "dimuon", "susy", "higgs"]),
    help="Compare on a named suite of signals, instead of one signal or data of your own.",
)
@click.option("--signals", metavar="A,B,...", help="Some signals of the suite (default: all).")
@click.option("--share", type=float, default=1.0, help="A smaller version of the suite, such as 0.1 of its events.")
@flags("reference", "signal", "signal_events", "signal_alone", "data", "expected", "tests")
@click.option("--list", "listed", is_flag=True, help="Name the tests and stop.")
@flags(
    "toys",
    "experiments",
    "scaling",
    "missing",
    "periodic",
    "reference_size",
    *NETWORK,
    "seed",
    "memory",
    *SAMPLES,
    "output",
    toys="Null toys of each test (default: 1000).",
    output="Where to keep all toys, the table and the figure.",
)
@common_flags
def compare(
    config_file: str | None,
    as_json: bool,
    quiet: bool,
    suite: str | None,
    signals: str | None,
    share: float,
    listed: bool,
    **given: Any,
) -> None:
    """Set several tests against a signal, or against data, on the same toys: what each finds and what it costs.

    Interrupted, the same command with --output goes on where it was.
    """
    with plain_errors(quiet=quiet):
        if listed:
            from lanner._util.text import text_table
            from lanner.comparison.registry import NAMES, WORDS

            click.echo(text_table([[name, WORDS[name]] for name in NAMES]))
            return
        config = configured(config_file, given, needed=() if suite else ("reference", "expected"))
        refuse_uncertainties(config, "compare")
        of_a_run = (config.reference, config.data, config.signal, config.signal_events, config.expected)
        if suite is None and (signals is not None or share != 1.0):
            raise click.UsageError("--signals and --share are those of a suite: give --suite")
        if suite is not None and any(x is not None for x in of_a_run):
            raise click.UsageError("a suite has its own reference and signals: leave --reference and the like out")
        with shown(not quiet) as told:
            found = _suite(suite, signals, share, config, told) if suite else _files(config, told, quiet)
        click.echo(json.dumps(found.to_dict(), indent=1) if as_json else str(found))
        if config.output and not as_json:
            click.echo(f"table and figure: {Path(config.output) / 'compare.md'}, {Path(config.output) / 'compare.png'}")


def _suite(suite: str, signals: str | None, share: float, config: RunSettings, progress: Any) -> Any:
    from lanner.comparison import PUBLISHED
    from lanner.paper.suites import compare_suite

    config = replace(config, seed=suite_seed(config))
    chosen = None if signals is None else [s.strip() for s in signals.split(",")]
    return compare_suite(suite, signals=chosen, share=share, progress=progress, **_settings(config, *PUBLISHED[suite]))


def _files(config: RunSettings, progress: Any, quiet: bool) -> Any:
    import lanner
    from lanner.cli.jobs import number_expected, read_like, read_reference

    begin(progress, "reading the samples")
    reference = read_reference(config)
    others = {
        name: read_like(config, given, reference.sample.names, name)
        for name, given in (("signal", config.signal), ("data", config.data))
        if given is not None
    }
    tell_samples(config, quiet=quiet, reference=reference, **others)
    samples: dict[str, Any] = {name: events.sample for name, events in others.items()}
    return lanner.compare(
        reference.sample,
        expected=number_expected(config),
        signal_events=config.signal_events,
        alone=config.signal_alone,
        scaling=config.scaling,
        missing=config.missing,
        periodic=config.periodic,
        progress=progress,
        **samples,
        **_settings(config, (4,), None),
    )


def _settings(config: RunSettings, hidden: tuple[int, ...], clip: float | None) -> dict[str, Any]:
    """What is said; the network with what was asked for, where that differs from these layers and clipping."""
    from lanner.comparison import DEFAULT, Network

    layers = hidden if config.hidden is None else tuple(config.hidden)
    bound = clip if config.clip is None and layers == hidden else config.clip
    network = Network(layers, bound, config.optimiser, config.epochs, starts=config.starts)
    tests = [network if name == "network" else name for name in config.tests or DEFAULT]
    same = ("seed", "output", "memory", "reference_size")
    return {"tests": tests} | {name: getattr(config, name) for name in same} | numbers_given(config)
