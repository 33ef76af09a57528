"""Results that a folder held before: where toys are added until a result is significant, it must say so.

Each finished search leaves a file of its own, so that runs which end together lose none, and its name tells all that
is asked of it, so that none can be damaged. A run that was interrupted had no result, and has left none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lanner._util.files import remove_abandoned, write_atomically
from lanner.inference.plan import Plan
from lanner.run.fingerprint import fingerprint
from lanner.run.result import SearchResult

_FOLDER = "looks"


def looks_before(folder: Path, plans: Sequence[Plan], result: SearchResult) -> tuple[int, ...]:
    """The numbers of toys of earlier results on the same data with the same settings, where they were fewer."""
    pattern = f"{_name(plans, result)}-*.json"
    found = (path.stem.rpartition("-")[2] for path in (folder / _FOLDER).glob(pattern))
    return tuple(sorted(number for number in (int(text) for text in found if text.isdigit()) if number < _toys(result)))


def record_look(folder: Path, plans: Sequence[Plan], result: SearchResult) -> None:
    """Keep that a result with its number of toys was seen."""
    remove_abandoned(folder / _FOLDER)
    about = {"toys": _toys(result), "p_value": result.p_value}
    write_atomically(folder / _FOLDER / f"{_name(plans, result)}-{_toys(result)}.json", json.dumps(about))


def _toys(result: SearchResult) -> int:
    """How many toys were made, with those that only make scales comparable."""
    return len(result.null) + (0 if result.combined is None else result.combined.n_map_toys)


def _name(plans: Sequence[Plan], result: SearchResult) -> str:
    """What a result depends on besides the number of its toys, as a short name."""
    settings = plans[0].toy_settings() | {"combination": plans[0].combination}
    scales = [[p.width, p.penalty] for p in plans]
    return fingerprint({"events": dict(result.digests), "settings": settings, "scales": scales})
