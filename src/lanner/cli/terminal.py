"""What a person at a terminal sees: progress and warnings on stderr, results on stdout."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from lanner.errors import LannerError, LannerWarning

Progress = Callable[[int, int], None]


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Progress | None]:
    """A bar with the time left on stderr; nothing where quiet, or where stderr is not a terminal."""
    with stage_bar(quiet=quiet) as tell:
        yield None if tell is None else lambda done, total: tell(what, done, total)


@contextmanager
def stage_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """The same for work in stages, each with a bar of its own."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}
        preparing = bar.add_task("preparing", total=None)

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                bar.update(preparing, visible=False)
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield tell


@contextmanager
def plain_errors(*, quiet: bool) -> Iterator[None]:
    """Errors as one message and an exit code: 1 for what the user can mend, 130 for Ctrl-C."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if not quiet and issubclass(category, LannerWarning):
            click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", LannerWarning)
        warnings.showwarning = show
        try:
            yield
        except LannerError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(1)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
            click.echo(f"Error: {'the disk is full: free some space and run again' if full else error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("Interrupted. What was finished is kept: run the same command to go on.", err=True)
            sys.exit(130)
