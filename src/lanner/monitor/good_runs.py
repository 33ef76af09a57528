"""The list of good runs as CMS writes it: {"run": [[first luminosity section, last], ...]}."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lanner.monitor.history import Entry

WHOLE = [1, 9999]  # all luminosity sections of a run


def good_runs(entries: Iterable[Entry], *, untested: bool) -> dict[str, list[list[int]]]:
    """Runs, or their luminosity sections, of the batches that are good; `untested` counts those that were too small."""
    found: dict[str, dict[int | None, list[bool | None]]] = {}
    for entry in entries:
        key = entry.record.key
        run = entry.record.name if not key else f"{key[0]:.15g}"
        section = int(key[1]) if len(key) > 1 else None
        found.setdefault(run, {}).setdefault(section, []).append(entry.is_good)
    listed: dict[str, list[list[int]]] = {}
    for run, sections in found.items():
        good = {section for section, parts in sections.items() if _is_good(parts, untested)}
        if None in good:
            listed[run] = [list(WHOLE)]
        elif good:
            listed[run] = _ranges({section for section in good if section is not None})
    return dict(sorted(listed.items(), key=lambda item: (not item[0].isdecimal(), item[0].zfill(12))))


def _is_good(parts: list[bool | None], untested: bool) -> bool:
    """Of a run or a section whose events came in several files: none is bad, and one at least was tested."""
    return False not in parts and (untested or True in parts)


def _ranges(sections: set[int]) -> list[list[int]]:
    """Neighbours joined.

    >>> _ranges({1, 2, 3, 7, 9, 10})
    [[1, 3], [7, 7], [9, 10]]
    """
    ordered = sorted(sections)
    starts = [ordered[0], *(b for a, b in pairwise(ordered) if b > a + 1)]
    ends = [*(a for a, b in pairwise(ordered) if b > a + 1), ordered[-1]]
    return [[a, b] for a, b in zip(starts, ends, strict=True)]
