"""The numbers of each version of the statistic and of the toys' scheme, so that neither moves without its version.

`data/pinned.json` is the record, one entry a version, and an entry never changes. After a change that is meant to move
numbers, raise `STATISTIC` or `SCHEME` in `src/lanner/run/fingerprint.py` and add the new entry:

    make golden        # or: OMP_NUM_THREADS=1 python -m tests.run.pinned
"""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lanner
from lanner.errors import LannerWarning
from lanner.events import Sample
from lanner.inference.score_experiment import scheme_of
from lanner.run.fingerprint import SCHEME, STATISTIC, array_digest
from lanner.run.prepare import prepare
from lanner.settings import FitSettings
from lanner.typing import Array

RECORD = Path(__file__).parent / "data" / "pinned.json"
# In double precision, statistics of other processors, Pythons and NumPys agree to this part of the largest of a row.
TOLERANCE = 5e-5
_TOYS = 6  # of each row

# Searches of each kind: scores and fits; events drawn in bunches, one by one, by weight and relabelled.
KINDS: dict[str, dict[str, Any]] = {
    "score": {},
    "fit": {"width": 0.7, "penalty": 1e-5, "tolerance": 1e-9},
    "fits": {"statistic": "likelihood-ratio", "newton_steps": 1},
    "permutation": {"null": "permutation"},
    "weights": {},
}


def _samples(kind: str) -> tuple[Sample, Sample]:
    # Made of integers alone, which every machine has alike; without NumPy's distributions, which may change.
    number = 900 if kind == "permutation" else 4200
    k = np.arange(1, number + 201, dtype=np.int64)
    x = np.stack([(k * 7919) % 10007, (k * k * 31 + 17 * k) % 9973], axis=1) / 1024.0
    weights = 0.5 + ((k * 37) % 64) / 64.0 if kind == "weights" else None
    reference = Sample(x[:number], ("x", "y"), None if weights is None else weights[:number])
    return reference, Sample(x[number:], ("x", "y"))


def statistics(kind: str) -> dict[str, Any]:
    """What a small search of a kind gives: the data's statistic, and its toys at every scale."""
    reference, data = _samples(kind)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", LannerWarning)
        settings: dict[str, Any] = {"seed": 11, "precision": "double", "centers": 60, **KINDS[kind]}
        result = lanner.search(reference, data, expected=200, toys=90, output=folder, **settings)
        batch = np.load(sorted(Path(folder).rglob("batch-*.npz"))[0])
        return {"data": result.statistic, "toys": batch["statistic"][:, :_TOYS].tolist()}


def draws(kind: str) -> list[str]:
    """Digests of what some toys take from the events, to the last event."""
    reference, data = _samples(kind)
    settings = FitSettings(seed=11, precision="double", centers=60, **KINDS[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LannerWarning)
        job = prepare(reference, data, expected=200, settings=settings)
    scheme = scheme_of(job.plans[0], job.recipe.reference, job.recipe.data)
    taken = [scheme.toy(i) for i in (0, 1, 2, 1000, 10**9)]
    return [array_digest(np.sort(d.data).astype("<i8"), np.sort(d.left_out).astype("<i8"))[:16] for d in taken]


def differences(found: Any, known: Any) -> float:
    """By how much two records of statistics differ, as a part of the largest of each row."""
    rows: list[tuple[Array, Array]] = [
        (np.atleast_1d(np.array(a, dtype=float)), np.atleast_1d(np.array(b, dtype=float)))
        for a, b in zip([found["data"], *found["toys"]], [known["data"], *known["toys"]], strict=True)
    ]
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-3)) for a, b in rows)


def main() -> None:
    """Add the numbers of this version to the record; those of a version that is there already must not have moved."""
    known: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {"statistic": {}, "scheme": {}}
    found: dict[str, Any] = {kind: statistics(kind) for kind in KINDS}
    taken = {kind: draws(kind) for kind in KINDS}
    before, drawn = known["statistic"].get(str(STATISTIC)), known["scheme"].get(str(SCHEME))
    if before is not None and max(differences(found[kind], before[kind]) for kind in KINDS) > TOLERANCE:
        raise SystemExit("the statistic has changed: raise STATISTIC in src/lanner/run/fingerprint.py first")
    if drawn not in (None, taken):
        raise SystemExit("toys take other events: raise SCHEME (and STATISTIC) in src/lanner/run/fingerprint.py first")
    if before is None:
        known["statistic"][str(STATISTIC)] = found
    known["scheme"][str(SCHEME)] = taken
    RECORD.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
