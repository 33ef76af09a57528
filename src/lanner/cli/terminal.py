"""What a person at a terminal sees: warnings and errors in the words of the command line, on stderr."""

from __future__ import annotations

import errno
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from lanner._util.out_of_memory import plain_memory_errors
from lanner._util.values import Flag
from lanner.errors import LannerError, LannerWarning
from lanner.settings import DECLARED

_YIELD = re.compile(r"\b(?:up|down)_yield=(\S+)")  # of a shifted sample
_IN_PYTHON = re.compile(rf"\b({'|'.join(DECLARED)})=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^\s,;:)]*)")


def in_flags(text: str) -> str:
    """A message in the spelling of the command line.

    >>> in_flags("reference_size=0: give 2, or null='permutation', or expected=None")
    '--reference-size 0: give 2, or --null permutation, or --expected observed'
    >>> in_flags("give drop_nan=True, or features=[...]")
    'give --drop-nan, or --features A,B,...'
    """

    def flag(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if isinstance(DECLARED[name].kind, Flag) and value == "True":
            return f"--{name.replace('_', '-')}"
        value = {"None": "observed" if name == "expected" else "none", "[...]": "A,B,..."}.get(value, value)
        value = value if " " in value else value.strip("'\"")
        return f"--{name.replace('_', '-')} {value}".rstrip()

    return _YIELD.sub(r"--shifted-yield NAME=\1", _IN_PYTHON.sub(flag, text))


@contextmanager
def plain_errors(*, quiet: bool) -> Iterator[None]:
    """Errors as one message and an exit code: 1 for what the user can mend, 130 for Ctrl-C."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if not quiet and issubclass(category, LannerWarning):
            click.echo(f"Warning: {in_flags(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", LannerWarning)
        warnings.showwarning = show
        try:
            with plain_memory_errors():
                yield
        except LannerError as error:
            click.echo(f"Error: {in_flags(str(error))}", err=True)
            sys.exit(1)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error)
            click.echo(f"Error: {'the disk is full: free some space and run again' if full else error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("Interrupted. What was finished is kept: run the same command to go on.", err=True)
            sys.exit(130)
