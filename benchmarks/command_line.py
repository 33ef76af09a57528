"""What the scripts of this folder have in common on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path


def study_parser(
    doc: str | None, *, writes: str | None = None, flag: str = "--output", keeps: bool = False
) -> argparse.ArgumentParser:
    """A parser with `--smoke`; a flag for where results go if the script `writes` any; `--kept` if it `keeps` them."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="Sizes of seconds: does the script still run?")
    if writes is not None:
        parser.add_argument(flag, dest="output", type=Path, help=f"Where results go (default: {writes}).")
        parser.set_defaults(writes=Path(writes))
    if keeps:
        parser.add_argument("--kept", type=Path, help="A file that keeps what is done; run again to go on.")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line. The numbers of a smoke run mean nothing, so it never replaces those of the docs."""
    arguments = parser.parse_args()
    writes = getattr(arguments, "writes", None)
    if writes is not None and arguments.output is None:
        if arguments.smoke:
            parser.error("--smoke needs another place for its results than the docs")
        arguments.output = writes
    return arguments
