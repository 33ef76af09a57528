"""What is said of the samples before they are tested: which features, and how many events a selection has kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lanner._util.text import count

if TYPE_CHECKING:
    from lanner.events.io import Events
    from lanner.settings import RunSettings


def tell_samples(config: RunSettings, *, quiet: bool, **samples: Events) -> None:
    """Say on stderr what is tested; the first sample is the one whose features count."""
    if quiet:
        return
    for line in lines_on_samples(config, **samples):
        click.echo(line, err=True)


def lines_on_samples(config: RunSettings, **samples: Events) -> list[str]:
    """The features, and where rows were left out how many remain, with what that means for the expected number."""
    names = next(iter(samples.values())).sample.names
    lines = [f"{count(len(names), 'feature')}: {', '.join(names)}"]
    fewer = {label: events for label, events in samples.items() if len(events.sample) < events.read}
    for label, events in fewer.items():
        why = [f"--where {config.where!r}"] if config.where else []
        why += [f"--drop-nan ({count(events.dropped, 'row')})"] if events.dropped else []
        kept = f"{label}: {len(events.sample)} of {count(events.read, 'event')} kept"
        lines.append(f"{kept} by {' and '.join(why)}" if why else kept)
    if fewer and config.expected not in (None, "observed"):
        expected = float(config.expected or 0)
        lines.append(f"--expected {expected:g} has to be the number after this selection: it is taken as it is")
    return lines
