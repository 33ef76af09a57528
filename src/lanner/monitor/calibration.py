"""The calibration of a monitor, made once: what batches are measured by, their null, and thresholds of decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lanner._util.files import arrays_as_bytes, arrays_from_bytes
from lanner._util.machine import memory_budget
from lanner.errors import FolderError, InputError
from lanner.events import Sample
from lanner.events.scaling import Scaling
from lanner.monitor.decisions import Thresholds, thresholds_of
from lanner.monitor.null import BatchNull
from lanner.monitor.spread import spread_of, with_spread
from lanner.monitor.streams import toy_streams
from lanner.monitor.toys import SMALLEST
from lanner.monitor.yardstick import Yardstick
from lanner.run.fingerprint import numbers_version, sample_digest
from lanner.run.manifest import FolderWriter, Manifest
from lanner.settings import FitSettings
from lanner.typing import Array, PathLike, Progress

FORMAT = "lanner.monitor/1"
KIND = "monitor"
_DESCRIPTION, _ARRAYS = "calibration.json", "calibration.npz"
MOST_SHARE = 1 / 12  # of the reference that a window may be as large as
_PARTS = 1000  # in which progress is told
# Reference events for each of a typical batch, and for evidence that is accumulated over many of them. The number of
# batches needs no limit: with 20 times the fluctuation of the reference changes the mean of log e, -0.31 for uniform p,
# to -0.09 in the worst of 15 references, so that the product of e-values still falls.
LEAST_RATIO, LEAST_FOR_DRIFT = 20.0, 24.0


@dataclass(frozen=True)
class Rules:
    """What a monitor decides, and how often it may be wrong.

    Parameters
    ----------
    batch : float
        Events of a typical batch.
    run_length : float
        Batches between two false alarms of each kind of decision, on average.
    windows : tuple of int
        How many batches are judged together, beside each alone.
    false_discoveries : float
        The share of false ones in the list of flagged batches.
    tolerance : float
        A departure whose size may be below this is no alarm.
    seed : int
        Of all that is random in the calibration.
    toys : int
        Toy batches of each size.
    streams, length : int
        Toy streams for the thresholds, and the batches of each.
    """

    batch: float
    run_length: float = 1000.0
    windows: tuple[int, ...] = (2, 4, 8)
    false_discoveries: float = 0.05
    tolerance: float = 0.0
    seed: int = 0
    toys: int = 20_000
    streams: int = 300
    length: int = 200

    @property
    def largest(self) -> float:
        """Events of the largest window of typical batches, and room for batches that are several times as large."""
        return 4 * self.batch * max((1, *self.windows))


@dataclass(frozen=True, eq=False)
class MonitorCalibration:
    """All that a monitor judges batches by; of the reference itself nothing is kept."""

    rules: Rules
    yardstick: Yardstick
    null: BatchNull
    thresholds: Thresholds
    reference: str  # its digest
    refused: tuple[str, ...] = ()  # what was asked for and cannot be promised, and why

    @classmethod
    def make(
        cls,
        reference: Sample,
        rules: Rules,
        settings: FitSettings,
        *,
        good: Sequence[Array] = (),
        memory: Any = None,
        progress: Progress | None = None,
    ) -> MonitorCalibration:
        """Learn it from a reference, and the spread of batches from the features of some that are `good`."""
        budget = memory_budget(memory)
        yardstick, halves = Yardstick.of(
            reference,
            batch=rules.batch,
            largest=rules.largest,
            settings=settings,
            memory=budget,
            told=_told(progress, "preparing"),
        )
        ratio = yardstick.worth / rules.batch
        if ratio < LEAST_RATIO:
            raise InputError(
                f"the reference is worth {yardstick.worth:.0f} events, {ratio:.3g} for each event of a batch, where "
                f"{LEAST_RATIO:g} are needed: give {LEAST_RATIO * rules.batch:.0f} or more, or smaller batches"
            )
        windows = tuple(k for k in rules.windows if k * rules.batch <= MOST_SHARE * yardstick.worth)
        refused = [
            f"windows of {k} batches, for which a reference of {k * rules.batch / MOST_SHARE:.0f} events is needed"
            for k in rules.windows
            if k not in windows
        ]
        drift = ratio >= LEAST_FOR_DRIFT
        if not drift:
            refused.append(
                "evidence of a drift over many batches, for which a reference of "
                f"{LEAST_FOR_DRIFT * rules.batch:.0f} events is needed"
            )
        if len(good):
            sums = np.stack([yardstick.sums(features) for features in good])
            yardstick = with_spread(yardstick, spread_of(yardstick, halves, sums, seed=rules.seed))
        null = BatchNull.of(
            yardstick,
            halves,
            largest=rules.largest,
            toys=rules.toys,
            seed=rules.seed,
            told=_told(progress, "toy batches"),
        )
        streams = toy_streams(
            yardstick, halves, null, batch=rules.batch, windows=windows, streams=rules.streams, length=rules.length,
            seed=rules.seed, told=_told(progress, "toy streams"),
        )  # fmt: skip
        thresholds = thresholds_of(streams, rules.run_length, drift=drift)
        return cls(rules, yardstick, null, thresholds, sample_digest(reference), tuple(refused))

    @property
    def windows(self) -> tuple[int, ...]:
        """The windows for which the reference is large enough."""
        return tuple(k for k in self.rules.windows if k * self.rules.batch <= MOST_SHARE * self.yardstick.worth)

    def accumulated_share(self, size: float) -> float:
        """By which the readings of a batch are scaled for evidence and for the list of flagged batches.

        Where batches are as large as a good part of the reference, its fluctuation makes all their p-values small or
        large together. Of references 20 times as large as a typical batch, with batches of up to half the reference,
        one in ten then let the product of e-values exceed 20, which one in twenty may. So there they count as if they
        had no more than a twelfth of the reference's events.
        """
        return min(1.0, max(MOST_SHARE * self.yardstick.worth, SMALLEST) / max(size, 1.0))

    def log_p(self, readings: Array) -> tuple[Array, Array, Array]:
        """What `BatchNull.log_p` says of batches or windows, from their readings (B, 1 + readings).

        Those of more events than the largest toys are judged as if they had as many as these. Their means are those of
        more events and fluctuate less, so that their p-values are too large rather than too small.
        """
        most = self.null.sizes[-1] / readings[:, :1]
        readings = readings * np.minimum(most, 1.0)
        return self.null.log_p(self.yardstick.statistics(readings), readings[:, 0])

    def write(self, files: FolderWriter) -> None:
        """Into a folder whose files are bound together."""
        arrays = {f"yardstick/{k}": a for k, a in self.yardstick.to_arrays().items()}
        arrays |= {f"null/{k}": a for k, a in self.null.to_arrays().items()}
        files.write(_ARRAYS, arrays_as_bytes(arrays))
        description = {
            "format": FORMAT,
            "numbers": numbers_version(),
            "rules": asdict(self.rules),
            "names": list(self.yardstick.names),
            "units": self.yardstick.units.to_dict(),
            "thresholds": self.thresholds.to_dict(),
            "reference": self.reference,
            "refused": list(self.refused),
        }
        files.write(_DESCRIPTION, json.dumps(description, indent=1))

    @classmethod
    def read(cls, folder: PathLike) -> MonitorCalibration:
        """Read what `write` wrote; files that do not belong together are refused."""
        folder = Path(folder)
        path = folder / _DESCRIPTION
        if not path.exists():
            raise InputError(f"{folder} holds no {_DESCRIPTION}: give the reference, of which it is made")
        try:
            manifest = Manifest.read(folder, KIND)
            found = json.loads(manifest.content(_DESCRIPTION))
            if found["format"] != FORMAT or found["numbers"] != numbers_version():
                raise InputError(f"{path} is of another version of Lanner; calibrate again, into a new folder")
            arrays = arrays_from_bytes(manifest.content(_ARRAYS))
            parts = {what: {k.removeprefix(f"{what}/"): a for k, a in arrays.items() if k.startswith(f"{what}/")}
                     for what in ("yardstick", "null")}  # fmt: skip
            rules = Rules(**found["rules"] | {"windows": tuple(found["rules"]["windows"])})
            units = Scaling.from_dict(found["units"])
            yardstick = Yardstick.from_arrays(found["names"], units, parts["yardstick"])
            null = BatchNull.from_arrays(parts["null"])
            thresholds = Thresholds(**found["thresholds"])
            return cls(rules, yardstick, null, thresholds, found["reference"], tuple(found["refused"]))
        except InputError:
            raise
        except Exception as error:
            raise FolderError(f"{folder} holds a damaged calibration ({type(error).__name__}: {error})") from error


def _told(progress: Progress | None, what: str) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda done: progress(what, int(_PARTS * done), _PARTS)
