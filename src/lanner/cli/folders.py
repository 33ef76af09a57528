"""Where a command writes if nobody says: a folder named after its inputs, a different one for a different run."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import click

from lanner.settings import RunSettings

# What a run can be asked for again without becoming another one: more toys, other machines.
_SAME_RUN = {"output", "toys", "until_z", "p_precision", "memory", "device", "executor", "scheduler", "workers"}
_SAME_RUN |= {"threads", "tls_ca", "tls_cert", "tls_key"}
_OF_BLIND = {"blind", "signal", "signal_events", "signal_alone"}
_SAME_RUN |= _OF_BLIND  # an open search comes upon the folder of the blind one, which refuses it


def with_output(config: RunSettings, command: str, *, quiet: bool) -> RunSettings:
    """The settings with a folder to write to, which is said where it was not chosen."""
    if config.output is not None:
        return config
    folder = default_folder(config, command)
    if not quiet:
        there = "goes on with what is there" if Path(folder).exists() else "give --output for another"
        click.echo(f"output: {folder} ({there})", err=True)
    return replace(config, output=folder)


def default_folder(config: RunSettings, command: str) -> str:
    """A name from the inputs, and a part that other settings change, so that no run comes upon another's folder.

    >>> default_folder(RunSettings.of({"reference": "mc.root:events", "data": "run2/data.root"}), "search")
    'search-data-mc-98000c'
    """
    names = [_stem(files[0]) for files in (config.data, config.reference) if files]
    if config.analysis is not None:
        names = [_stem(config.analysis)]
    settings = {name: value for name, value in config.to_dict().items() if name not in _SAME_RUN}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    return "-".join([command, *names, digest[:6]])


def _stem(file: str) -> str:
    """The name of a file in a few letters that every file system takes."""
    name = Path(file).name.split(":")[0].split(".")[0]
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:40] or "events"
