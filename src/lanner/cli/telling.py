"""What is said of the samples before they are tested: which features, and how many events a selection has kept."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lanner._util.text import count, joined
from lanner.cli.terminal import in_flags
from lanner.errors import SameEventsWarning

if TYPE_CHECKING:
    from lanner.events.io import Events
    from lanner.run.result import SearchResult
    from lanner.settings import RunSettings


def tell_samples(config: RunSettings, *, quiet: bool, **samples: Events) -> None:
    """Say on stderr what is tested; the first sample is the one whose features count."""
    shared = shared_files(config)
    if shared is not None:
        warnings.warn(shared, SameEventsWarning, stacklevel=2)
    if quiet:
        return
    for line in lines_on_samples(config, **samples):
        click.echo(line, err=True)


def in_words(result: SearchResult) -> str:
    """What `print` shows of a result, its warnings in the spelling of the command line."""
    return str(replace(result, warnings=tuple(map(in_flags, result.warnings))))


def shared_files(config: RunSettings) -> str | None:
    """A sentence on files that are given both as the reference and as the data, if any are."""
    from lanner.events.io.paths import files_of

    if config.reference is None or config.data is None:
        return None
    of_reference, of_data = (
        {(file.path.resolve(), file.inside): str(file.path) for file in files_of(list(source), label)}
        for source, label in ((config.reference, "reference"), (config.data, "data"))
    )
    shared = [name for key, name in of_data.items() if key in of_reference]
    if not shared:
        return None
    return (
        f"{joined(shared)} {'is' if len(shared) == 1 else 'are'} given both as --reference and as --data: events that "
        "are in both agree by themselves, so the p-value is too large; give different files"
    )


def lines_on_samples(config: RunSettings, **samples: Events) -> list[str]:
    """The features, and where rows were left out how many remain, with what that means for the expected number."""
    names = next(iter(samples.values())).sample.names
    lines = [f"{count(len(names), 'feature')}: {', '.join(names)}"]
    lines += [line for events in samples.values() for line in getattr(events, "lines", ())]
    fewer = {label: events for label, events in samples.items() if len(events.sample) < events.read}
    for label, events in fewer.items():
        why = [f"--where {config.where!r}"] if config.where else []
        why += [f"--drop-nan ({count(events.dropped, 'row')})"] if events.dropped else []
        kept = f"{label}: {len(events.sample)} of {count(events.read, 'event')} kept"
        lines.append(f"{kept} by {' and '.join(why)}" if why else kept)
    if fewer and config.expected not in (None, "observed", "weights"):
        expected = float(config.expected or 0)
        lines.append(f"--expected {expected:g} has to be the number after this selection: it is taken as it is")
    return lines
