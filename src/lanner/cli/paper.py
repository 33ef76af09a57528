"""The commands of the paper's experiments: `example` files, `generate` events, `reproduce` its figures and tables."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from lanner._util.progress import begin, shown
from lanner.cli.config import executor_chosen
from lanner.cli.options import WORKERS, Name, numbers_given, suite_seed
from lanner.cli.terminal import plain_errors
from lanner.settings import RunSettings

EXPERIMENTS = ("one-dimensional", "dimuon", "susy", "higgs")
_PROCESSES = click.option(
    "--processes", type=int, default=os.cpu_count() or 1, show_default="all cores", help="Generate in parallel."
)
_OF_A_SUITE = {"toys", "experiments", "output", "memory", "seed", *WORKERS}


@click.command()
@click.option("--output", type=Name(), default="example", show_default=True, metavar="DIR", help="Where to write them.")
def example(output: str) -> None:
    """Write two small files to try things on: muon pairs of a simulation, and data with something hidden in them."""
    with plain_errors(quiet=False):
        with shown(True) as told:
            from lanner.paper.datasets.example import EXPECTED, write_example

            begin(told, f"writing the example to {output}")
            reference, data = write_example(output)
        click.echo(f"{reference}: the reference\n{data}: data, in which the reference predicts {EXPECTED:g} events")
        click.echo(
            f"next: lanner search --reference {reference} --data {data} --features pt1,pt2,eta1,eta2,delta_phi "
            f"--extra mll --expected {EXPECTED:g} --seed 1 --output muons"
        )


@click.command()
@click.argument("name", type=click.Choice(EXPERIMENTS))
@click.option("--output", type=Name(), required=True, metavar="FILE", help="Where: .parquet, .h5, .root, .csv or .npz.")
@click.option("--events", type=float, help="Background events (default: the paper's N(0)).")
@click.option("--signal", help="Add a signal: tail, bulk, nonresonant; zprime-300, contact-1.0, ...; chargino; ...")
@click.option("--signal-events", type=float, help="Signal events (default: the paper's).")
@click.option("--poisson", is_flag=True, help="Let the numbers of events fluctuate.")
@click.option("--cut", "cuts", multiple=True, metavar="NAME=VALUE", help="Change a cut, such as mass=60 (GeV).")
@click.option("--energy", type=float, help="Centre-of-mass energy in GeV (default: the paper's).")
@click.option("--seed", type=int, default=0, show_default=True)
@_PROCESSES
@click.option("--quiet", is_flag=True)
def generate(
    name: str,
    output: str,
    cuts: tuple[str, ...],
    energy: float | None,
    events: float | None,
    processes: int,
    quiet: bool,
    **settings: Any,
) -> None:
    """Make events of one of the paper's experiments: the 1-D example, or collisions with Pythia 8.

    Collisions need the generator: pip install 'lanner[physics]'.
    """
    with plain_errors(quiet=quiet):
        with shown(not quiet) as told:
            from lanner.events.io.write import check_suffix, write_columns
            from lanner.paper.datasets.library import experiment_module

            check_suffix(output)
            module = experiment_module(name)
            if events is not None:
                settings["events"] = events
            if cuts:
                settings["cuts"] = _cuts(module, name, cuts)
            if energy is not None:
                settings["energy"] = energy
            note: dict[str, Any] = {"experiment": name, **{k: v for k, v in settings.items() if k != "cuts"}}
            if name == "one-dimensional" and (cuts or energy is not None):
                raise click.UsageError("the 1-D example has no cuts and no energy")
            begin(told, "generating events")
            if name == "one-dimensional":
                columns = module.generate(**settings)
            else:
                columns = module.generate(processes=processes, progress=told, **settings)
                note["settings"] = module.settings(
                    settings["signal"] or "background", **{k: v for k, v in settings.items() if k in ("cuts", "energy")}
                )
            begin(told, f"writing {output}")
            path = write_columns(output, columns, note=json.dumps(note))
        if not quiet:
            click.echo(f"{len(next(iter(columns.values())))} events in {path}")


def _cuts(module: Any, name: str, given: tuple[str, ...]) -> Any:
    """The experiment's cuts, with those given changed."""
    from dataclasses import fields, replace

    if not hasattr(module, "CUTS"):
        raise click.UsageError(f"{name} has no cuts")
    known = [f.name for f in fields(module.CUTS)]
    changed = {}
    for text in given:
        key, _, value = text.partition("=")
        try:
            changed[key] = float(value)
        except ValueError:
            raise click.UsageError(f"--cut {text}: give NAME=VALUE, such as {known[0]}=25") from None
        if key not in known:
            raise click.UsageError(f"--cut {text}: {name} has the cuts {', '.join(known)}")
    return replace(module.CUTS, **changed)


@click.command()
@click.argument("name", type=click.Choice(EXPERIMENTS))
@click.option("--scale", type=click.Choice(["smoke", "paper"]), default="smoke", show_default=True, help="How large.")
@click.option("--output", type=Name(), metavar="DIR", help="Where to write (default: reproduce/NAME-SCALE).")
@click.option("--samples", type=Name(), metavar="DIR", help="Where samples are kept (default: the user's cache).")
@click.option(
    "--published",
    multiple=True,
    metavar="SAMPLE=FILE",
    help="Read a sample from a published file: background=SM.h5, zprime-300=..., or all=SUSY.csv.",
)
@click.option(
    "--default-test",
    is_flag=True,
    help="Instead, set the default test of search beside the paper's setting, on the same toys.",
)
@click.option(
    "--toys", type=int, help="Null toys (default: the paper's 300, in 1-D 1000; with --default-test 2000 of each test)."
)
@click.option("--paper-toys", type=int, help="With --default-test: null toys of the paper's setting, if fewer.")
@click.option("--experiments", type=int, help="Toys per signal strength (default: the paper's 100, in 1-D 400).")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--memory", metavar="SIZE", help="Memory budget, such as '4 GB' (default: half of what is free).")
@_PROCESSES
@click.option("--quiet", is_flag=True)
def reproduce(
    name: str,
    samples: str | None,
    published: tuple[str, ...],
    default_test: bool,
    paper_toys: int | None,
    processes: int,
    quiet: bool,
    **settings: Any,
) -> None:
    """Run one of the paper's experiments and set its numbers and figures beside the paper's.

    Interrupted, the same command goes on where it was.
    """
    with plain_errors(quiet=quiet):
        if paper_toys is not None and not default_test:
            raise click.UsageError("--paper-toys goes with --default-test; the toys of the paper's own run are --toys")
        with shown(not quiet) as told:
            from lanner.paper.datasets.library import Library, published_files
            from lanner.paper.reproduce import reproduce as run
            from lanner.paper.reproduce.default_test import beside_default

            options: dict[str, Any] = {"processes": processes, "published": published_files(name, published)}
            if samples is not None:
                options["folder"] = Path(samples)
            settings |= {"library": Library(name, **options), "progress": told}
            made: Any = partial(beside_default, paper_toys=paper_toys) if default_test else run
            found = made(name, **settings)
        click.echo(f"{found}\nresults: {found.page}")


def run_suite(name: str, config: RunSettings, *, as_json: bool, quiet: bool) -> None:
    """`lanner power --suite`: what several tests find of a suite of signals."""
    with plain_errors(quiet=quiet):
        idle = sorted(config.given - _OF_A_SUITE)
        if idle:
            raise click.UsageError(f"a suite has its own samples and tests: leave out {', '.join(idle)}")
        with shown(not quiet) as told:
            import lanner

            found = lanner.power_suite(
                name,
                output=config.output,
                memory=config.memory,
                executor=executor_chosen(config),
                device=config.device,
                seed=suite_seed(config),
                progress=told,
                **numbers_given(config),
            )
        click.echo(json.dumps(found.to_dict()) if as_json else str(found))
        if config.output and not as_json:
            click.echo(f"table and figure: {Path(config.output) / 'suite.md'}, {Path(config.output) / 'suite.png'}")
