"""`lanner`, and `python -m lanner`: the command line, with a plain end for a Ctrl-C that comes while it starts."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from lanner.cli import main as command

        command(prog_name="lanner")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
