"""`lanner monitor`: batches of events against one reference, from files or from a folder that is watched."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lanner._util.progress import begin, shown
from lanner.cli.groups import Grouped
from lanner.cli.options import common_flags, configured, flag_of, flags
from lanner.cli.terminal import plain_errors
from lanner.errors import InputError, StoreError
from lanner.settings import DECLARED, RunSettings

if TYPE_CHECKING:
    from lanner.monitor.batches import Reader
    from lanner.monitor.feeding import Fed
    from lanner.monitor.monitor import Monitor

ALARMS = 3  # the exit code
_GOOD_RUNS, _CONFIG = "good_runs.json", "config.yaml"  # which says how batches are read
_READING = ("features", "weight", "where", "drop_nan")
_RULES = ("batch", "run_length", "windows", "false_discoveries", "tolerance", "seed")
_FIT = ("scaling", "missing", "periodic")
_REFRESH = 30.0  # seconds after which a page that is open looks for news
_SHARE = 0.1  # of the time, at most, that goes into the page
_PLACES = {
    "Batches": "batches follow by size sort expected rates rate poll idle",
    "Decisions": "good batch run_length windows false_discoveries tolerance",
    "Units": "scaling missing periodic seed memory",
}
_OWN = ("batches", "follow", "by", "size", "sort", "rates", "rate", "poll", "idle", "good", *_RULES[:4])
_WORDS = {name: DECLARED[name].words().removeprefix("Monitor: ") for name in _OWN}


@click.command(cls=Grouped, needed=("output",), places=_PLACES)
@flags(
    "reference", "features", "weight", "where", "drop_nan", "batches", "follow", "by", "size", "sort", "expected",
    "rates", "rate", "poll", "idle", "good", *_RULES[:-1], *_FIT, "seed", "memory", "output",
    **{name: words[0].upper() + words[1:] for name, words in _WORDS.items()},
    reference="Events that are known to be good; needed the first time.",
    expected="Events expected in every batch (default: observed, their number is not tested).",
    tolerance="The size of a departure that does no harm, such as 0.02: only a larger one is an alarm (default: 0).",
    where='Selection for reference and batches, such as "mll > 100 and pt1 > 20".',
    output="Folder of the calibration, the batches and the page. Without files it is looked at.",
)  # fmt: skip
@common_flags
def monitor(config_file: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Judge batches of events as they come: p-values, alarms of a stated rate, and which features depart.

    The first call learns the reference; later the folder is enough, and batches that it knows are not counted again.
    Exit codes: 0 no alarm, 3 an alarm, 2 the command is wrong, 1 something else is.
    """
    with plain_errors(quiet=quiet):
        config = _configured(config_file, given)
        sources = [flag_of(name) for name in ("batches", "follow") if getattr(config, name) is not None]
        if len(sources) > 1:
            raise click.UsageError(
                "--batches and --follow: give one of them; --follow finds files that are there already"
            )
        alarmed = _fed(config, as_json, quiet) if sources or config.reference is not None else _told(config, as_json)
    if alarmed:
        sys.exit(ALARMS)


def _configured(config_file: str | None, given: dict[str, Any]) -> RunSettings:
    """The settings, beside those that the folder was begun with."""
    config = configured(config_file, given, needed=("output",))
    if config.size is not None and config.by is not None:
        raise click.UsageError("--by and --size: give one of them")
    if config.by is not None and len(config.by) > 2:
        raise click.UsageError("--by: give one column, or those of run and luminosity section")
    for name, needed in (("sort", "by"), ("poll", "follow"), ("idle", "follow")):
        if name in config.given and getattr(config, needed) is None:
            raise click.UsageError(f"{flag_of(name)} belongs to {flag_of(needed)}")
    if config.expected == "weights":
        raise click.UsageError("--expected: give the number expected in every batch, or --rates")
    if config.rates is not None and config.expected not in (None, "observed"):
        raise click.UsageError("--expected and --rates: give one of them")
    if "rate" in config.given and config.rates is None:
        raise click.UsageError("--rate belongs to --rates")
    if "batch" not in config.given and config.size is not None:
        config = replace(config, batch=float(config.size), given=config.given | {"batch"})
    assert config.output is not None
    return _as_before(config, Path(config.output) / _CONFIG)


def _as_before(config: RunSettings, path: Path) -> RunSettings:
    """Batches are read as they were the first time."""
    from lanner.cli.config import load_config

    if not path.exists():
        return config
    before = RunSettings.of(load_config(path))
    for name in _READING:
        if name in config.given and getattr(config, name) != getattr(before, name):
            raise InputError(
                f"{name}={getattr(config, name)!r}, but the batches of {path.parent} are read with "
                f"{name}={getattr(before, name)!r}: leave it out, or use another folder"
            )
    return replace(config, **{name: getattr(before, name) for name in _READING})


def _fed(config: RunSettings, as_json: bool, quiet: bool) -> bool:
    import lanner
    from lanner.monitor.feeding import feed_files, follow

    folder, alarmed = Path(str(config.output)), False
    with shown(not quiet) as told:
        reference = _reference(config, told)
        rules = {name: getattr(config, name) for name in (*_RULES, *_FIT) if name in config.given}
        good = _good(config, reference, folder, told)
        made = lanner.Monitor(folder, reference, good=good, memory=config.memory, progress=told, **rules)
    with made:
        reader = _reader(config, made.names)
        if reference is not None:
            _keep(config, reader.features, folder)
        if not quiet:
            for words in made.calibration.refused:
                click.echo(f"not promised: {words}", err=True)
        page = _Page(made)
        try:
            if config.follow is not None:
                found: Iterator[Fed | None] = follow(
                    made.store, reader, config.follow, poll=config.poll, idle=config.idle
                )
            else:
                found = feed_files(made.store, reader, config.batches or ())
            for fed in found:
                if fed is not None:
                    alarmed |= _say(fed, as_json, quiet)
                page.write(only_if_due=True)
        except KeyboardInterrupt:
            if not quiet:
                number = len(made.store)
                click.echo(f"{number} {'batch is' if number == 1 else 'batches are'} kept in {folder}.", err=True)
            raise
        finally:
            page.write(only_if_due=False)
        if not quiet:
            click.echo(f"page: {page.path}", err=True)
    return alarmed


def _say(fed: Fed, as_json: bool, quiet: bool) -> bool:
    """A line for what is new; whether it is an alarm."""
    from lanner.monitor.words import line

    if fed.refusal is not None:
        if not quiet:
            click.echo(f"not counted: {fed.refusal.name}: {fed.refusal.reason}", err=True)
        return False
    assert fed.entry is not None
    if fed.is_new:
        verdict = fed.entry.verdict
        click.echo(json.dumps(verdict.to_dict() | {"flagged": fed.entry.is_flagged}) if as_json else line(verdict))
    return fed.entry.decided.is_alarm


def _told(config: RunSettings, as_json: bool) -> bool:
    """The state of a folder."""
    import lanner

    folder = str(config.output)
    try:
        with lanner.Monitor(folder) as made:
            _Page(made).write(only_if_due=False)
    except StoreError:  # somebody is at work in it, and writes the page
        made = lanner.Monitor(folder, read_only=True)
    with made:
        if as_json:
            for entry in made.store.entries:
                click.echo(json.dumps(entry.verdict.to_dict() | {"flagged": entry.is_flagged}))
        else:
            click.echo(made.summary())
        return any(entry.decided.is_alarm for entry in made.store.entries)


def _reference(config: RunSettings, told: Any) -> Any:
    """The reference, without the columns that batches are split by or that say how many events are expected."""
    from lanner.cli.jobs import read_reference
    from lanner.events import Sample
    from lanner.monitor.rates import names_file

    if config.reference is None:
        return None
    begin(told, "reading the reference")
    sample = read_reference(config).sample
    others = set(config.by or ())
    if config.rates is not None and not names_file(config.rates):
        others.add(config.rates)
    kept = [j for j, name in enumerate(sample.names) if name not in others or config.features is not None]
    if len(kept) == len(sample.names):
        return sample
    if not kept:
        raise InputError("the reference has no features but the columns of by and rates: name some with features=[...]")
    return Sample(sample.features[:, kept], tuple(sample.names[j] for j in kept), sample.weights, label="reference")


def _good(config: RunSettings, reference: Any, folder: Path, told: Any) -> list[Any]:
    """The features of batches that are good; one that cannot be read is an error."""
    import lanner
    from lanner.events.io.paths import files_of
    from lanner.monitor.batches import origin_of

    if config.good is None:
        return []
    begin(told, "reading the good batches")
    names = lanner.Monitor(folder, read_only=True).names if reference is None else reference.names
    reader = replace(_reader(config, names), rates=None, column=None, expected=None)
    if reader.by or reader.size is not None:
        found = list(reader.split(list(config.good), "good batches", {}))
    else:
        files = files_of(list(config.good), "good")
        found = [reader.batch(file, str(file.path), origin_of(file)) for file in files]
    for batch in found:
        if batch.features is None:
            raise InputError(f"good: {batch.reason}")
    return [batch.features for batch in found]


def _reader(config: RunSettings, names: tuple[str, ...]) -> Reader:
    from lanner.monitor.batches import Reader
    from lanner.monitor.rates import Rates, names_file

    of_file = config.rates is not None and names_file(config.rates)
    return Reader(
        features=config.features or names,
        where=config.where,
        drop_nan=config.drop_nan,
        memory=config.memory,
        by=config.by or (),
        size=config.size,
        sort=config.sort,
        expected=None if config.expected in (None, "observed") else float(config.expected),
        rates=Rates.read(Path(str(config.rates)), config.rate) if of_file else None,
        column=None if of_file else config.rates,
        rate=config.rate,
    )


def _keep(config: RunSettings, features: tuple[str, ...], folder: Path) -> None:
    """How reference and batches are read, for the next time."""
    from lanner.cli.config import write_config

    if not (folder / _CONFIG).exists():
        named = {name: value for name, value in config.to_dict().items() if name in (*_READING, "reference")}
        write_config(folder / _CONFIG, named | {"features": list(features)})


class _Page:
    """The page, written again now and then while batches come, and at the end."""

    def __init__(self, made: Monitor) -> None:
        self._made, self.path = made, made.folder
        self._due, self._written = 0.0, (-1, -1)

    def write(self, *, only_if_due: bool) -> None:
        if only_if_due and time.monotonic() < self._due:
            return
        there = len(self._made.store), len(self._made.quarantined)
        if only_if_due and there == self._written:
            return
        from lanner._util.files import write_atomically

        start = time.monotonic()
        self.path = self._made.write_page(refresh=_REFRESH if only_if_due else None)
        write_atomically(self._made.folder / _GOOD_RUNS, json.dumps(self._made.good_runs(), indent=1))
        self._written = there
        end = time.monotonic()
        self._due = end + max(2.0, (end - start) / _SHARE)
