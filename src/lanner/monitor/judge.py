"""What a monitor says of a batch: its p-value, the size of the departure, which features, where, and what it decides.

A stream is a fold: the state after a batch follows from the state before and the sums of the batch, and so can be made
again from what was kept of each batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import poisson

from lanner.inference.significance import z_of_log_p
from lanner.monitor.bins import FeatureDeparture
from lanner.monitor.calibration import MonitorCalibration
from lanner.monitor.decisions import Evidence, FlaggedList
from lanner.monitor.effect import Effect, Place, effect_of, place_of
from lanner.monitor.toys import SMALLEST
from lanner.run.result_plain import finite
from lanner.typing import Array

SHOWN = 3  # features that are named


@dataclass(frozen=True)
class Window:
    """The last batches, judged together."""

    batches: int
    events: int
    p_value: float


@dataclass(frozen=True)
class Alarm:
    """A decision of a monitor: of which kind, and why."""

    kind: str  # "batch", "windows" or "drift"
    reason: str


@dataclass(frozen=True)
class BatchVerdict:
    """What is said of one batch."""

    name: str
    number: int  # its place in the stream, from 0
    events: int
    expected: float | None  # events, where the rate is known
    p_value: float | None  # None: too few events to be tested alone
    z_score: float | None
    is_limit: bool  # whether no toy is as extreme
    p_shape: float | None
    p_count: float | None
    scale: str | None  # the statistic that is the most significant
    effect: Effect | None
    features: tuple[FeatureDeparture, ...]
    place: Place | None
    windows: tuple[Window, ...]
    log_r: float  # evidence of drift, of Shiryaev and Roberts
    log_product: float  # of all e-values
    alarms: tuple[Alarm, ...]
    tolerated: tuple[Alarm, ...] = ()  # alarms that the tolerance leaves out
    p_extrapolated: float | None = None  # continued beyond the toys

    @property
    def is_alarm(self) -> bool:
        """Whether anything is decided."""
        return bool(self.alarms)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; numbers that are infinite are None."""
        plain = asdict(self)
        plain["features"] = [asdict(f) | {"words": f.words} for f in self.features]
        return {key: finite(value) for key, value in plain.items()}


@dataclass(frozen=True, eq=False)
class StreamState:
    """What of the past decides on the next batch."""

    number: int = 0
    last: tuple[Array, ...] = ()  # readings of the last batches, since the last alarm of windows
    evidence: Evidence = field(default_factory=Evidence)
    flagged: FlaggedList | None = None


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges batches, one after another."""

    calibration: MonitorCalibration

    def sums(self, features: Array) -> Array:
        """All that is kept of the events of a batch."""
        return self.calibration.yardstick.sums(features)

    def start(self) -> StreamState:
        """Before the first batch."""
        return StreamState(flagged=FlaggedList(self.calibration.rules.false_discoveries))

    def after(
        self, state: StreamState, sums: Array, name: str, *, expected: float | None = None, details: bool = True
    ) -> tuple[StreamState, BatchVerdict]:
        """The state and the verdict after one more batch."""
        of, rules = self.calibration, self.calibration.rules
        own = of.yardstick.read(sums[None])[0]
        last = (*state.last, own)[-max((1, *of.windows)) :]
        joined = [(1, own)] + [(k, np.sum(last[-k:], axis=0)) for k in of.windows if len(last) >= k]
        # At the end the batch as it counts for what is accumulated.
        readings = np.stack([*(r for _, r in joined), own * of.accumulated_share(own[0])])
        tested = readings[:, 0] >= SMALLEST
        log_p, log_tail, of_scales = np.zeros(len(readings)), np.zeros(len(readings)), None
        if tested.any():
            log_p[tested], log_tail[tested], of_scales = of.log_p(readings[tested])
        events = int(sums[0])
        log_shape = float(log_p[0]) if tested[0] else None
        log_count = None if expected is None else _log_p_of_count(events, expected)
        log_own = _combined(log_shape, log_count)
        log_beyond = _combined(float(log_tail[0]) if tested[0] else None, log_count)
        log_added = _combined(float(log_p[-1]) if tested[-1] else None, log_count)
        log_listed = _combined(float(log_tail[-1]) if tested[-1] else None, log_count)
        judged = zip(joined[1:], log_p[1:-1], tested[1:-1], strict=True)
        windows = tuple(Window(k, int(r[0]), float(np.exp(p))) for (k, r), p, ok in judged if ok)
        evidence, flagged = state.evidence, state.flagged
        assert flagged is not None
        if log_added is not None and log_listed is not None:
            evidence, flagged = evidence.after(log_added), flagged.after(log_listed)
        alarms = self._alarms(log_own, windows, evidence, events)
        effect = effect_of(of.yardstick, own, rules.batch) if tested[0] and details else None
        tolerated: tuple[Alarm, ...] = ()
        if rules.tolerance > 0 and alarms:
            alarms, tolerated = self._tolerated(alarms, joined)
        verdict = BatchVerdict(
            name=name,
            number=state.number,
            events=events,
            expected=expected,
            p_value=None if log_own is None else float(np.exp(log_own)),
            z_score=None if log_own is None else z_of_log_p(min(log_own, -1e-12)),
            is_limit=log_shape is not None and bool(log_shape <= np.log(of.null.smallest_p) + 1e-9),
            p_shape=None if log_shape is None else float(np.exp(log_shape)),
            p_count=None if log_count is None else float(np.exp(log_count)),
            scale=None if of_scales is None or not tested[0] else of.yardstick.labels[int(np.argmin(of_scales[:, 0]))],
            effect=effect,
            features=self._features(sums) if tested[0] and details else (),
            place=place_of(of.yardstick, own) if tested[0] and details else None,
            windows=windows,
            log_r=evidence.log_r,
            log_product=evidence.log_product,
            alarms=alarms,
            tolerated=tolerated,
            p_extrapolated=None if log_beyond is None else float(np.exp(log_beyond)),
        )
        kinds = {alarm.kind for alarm in (*alarms, *tolerated)}
        if "drift" in kinds:
            evidence = evidence.reset()
        kept = () if "windows" in kinds else last
        return replace(state, number=state.number + 1, last=kept, evidence=evidence, flagged=flagged), verdict

    def _alarms(
        self, log_p: float | None, windows: Sequence[Window], evidence: Evidence, events: int
    ) -> tuple[Alarm, ...]:
        of, once = self.calibration.thresholds, f"once in {self.calibration.rules.run_length:g} batches"
        found = []
        if log_p is not None and log_p <= of.single:
            found.append(Alarm("batch", f"p = {np.exp(log_p):.2g} of {events} events, as low as by chance {once}"))
        if of.windows is not None and windows:
            lowest = min(windows, key=lambda w: w.p_value)
            if np.log(lowest.p_value) <= of.windows:
                found.append(
                    Alarm("windows", f"p = {lowest.p_value:.2g} of the last {lowest.batches} batches, {lowest.events} "
                          f"events, as low as in any window by chance {once}")
                )  # fmt: skip
        if of.drift is not None and evidence.log_r >= of.drift:
            found.append(
                Alarm("drift", f"evidence e^{evidence.log_r:.1f} for a slow change, as large as by chance {once}")
            )
        return tuple(found)

    def _tolerated(
        self, alarms: tuple[Alarm, ...], joined: Sequence[tuple[int, Array]]
    ) -> tuple[tuple[Alarm, ...], tuple[Alarm, ...]]:
        """Alarms of departures that are surely larger than the tolerance, and those of others."""
        rules, yardstick = self.calibration.rules, self.calibration.yardstick
        of_kind = {"batch": joined[0][1], "windows": joined[-1][1], "drift": joined[-1][1]}
        small = {kind for kind, r in of_kind.items() if effect_of(yardstick, r, rules.batch).low <= rules.tolerance}
        return tuple(a for a in alarms if a.kind not in small), tuple(a for a in alarms if a.kind in small)

    def _features(self, sums: Array) -> tuple[FeatureDeparture, ...]:
        yardstick = self.calibration.yardstick
        return tuple(yardstick.bins.departures(sums[yardstick.part_of_bins], yardstick.worth)[:SHOWN])


def _log_p_of_count(number: int, expected: float) -> float:
    """log p of a number of events, two-sided."""
    one_sided = min(poisson.logsf(number - 1, expected), poisson.logcdf(number, expected))
    return float(min(0.0, np.log(2) + one_sided))


def _combined(log_shape: float | None, log_count: float | None) -> float | None:
    """log p of the smaller of two, which are independent: 1 - (1 - p)^2."""
    if log_shape is None or log_count is None:
        return log_shape if log_count is None else log_count
    p = min(log_shape, log_count)
    return float(p + np.log(2 - np.exp(p)))
