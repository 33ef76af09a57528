"""The plan of a search: everything that is decided before a toy is drawn, and from the reference alone.

Nothing here fits anything. A penalty that only trial fits can tell is chosen before (`inference/tuning.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from lanner._util.text import deviation_in_words
from lanner.errors import InputError
from lanner.events import Sample, Scaling
from lanner.events.effective_size import effective_size
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.resampling import room_for_data
from lanner.inference.scales import DEVIATIONS, QUANTILES, ladder_of_widths, penalty_for
from lanner.inference.seeds import Stream, rng_of
from lanner.model.fit import default_centers
from lanner.model.kernel import pairwise_width
from lanner.model.loss import loss_by_name
from lanner.model.moments import MOST_ROWS
from lanner.settings import FitSettings

EventGenerator = Callable[[int, np.random.Generator], Any]
# Below this many reference events per expected one, toys that share them are too much alike (docs/p-value.md).
MIN_RATIO = 20.0
# One reference event in so many gives the score its moments and is never a toy's data (see inference/resampling.py).
_HELD_OUT = 4
_HIT_OR_MISS_MARGIN = 1.3  # weighted events set apart for hit-or-miss, over those needed on average


@dataclass(frozen=True)
class Chosen:
    """A setting that was left open: what was chosen, and why."""

    setting: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.setting} {self.value}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Plan(FitSettings):
    """The settings of every fit of a search, a toy's or the data's, with nothing left open."""

    null: str
    statistic: str
    width: float
    penalty: float
    centers: int  # M
    reference_size: int  # N0 of every fit
    names: tuple[str, ...]
    expected: float  # N(0)
    fixed: int | None  # the number of data events where only the shape is tested
    units: Scaling
    n_held_out: int | None = None  # reference events that shape the test, centres included; None: the centres alone
    n_hit_or_miss: int | None = None  # weighted reference events from which a toy's data are drawn by hit-or-miss
    chosen: tuple[Chosen, ...] = ()  # settings that were left open

    @property
    def events_per_fit(self) -> float:
        """n = N0 + N(0) of a typical fit."""
        return self.reference_size + self.expected

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON."""
        return asdict(self) | {"names": list(self.names), "units": self.units.to_dict()}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Plan:
        """Read what `to_dict` wrote."""
        return cls(
            **plain
            | {
                "names": tuple(plain["names"]),
                "units": Scaling.from_dict(plain["units"]),
                "chosen": tuple(Chosen(**one) for one in plain.get("chosen", ())),
            }
        )

    def toy_settings(self) -> dict[str, Any]:
        """What toys depend on, as plain JSON.

        A setting at its default is left out, so that a setting which is new makes no kept toys void.
        """
        plain = self.to_dict()
        same = {f.name for f in fields(self) if f.default is not MISSING and f.default == plain[f.name]}
        return {name: value for name, value in plain.items() if name not in same | {"combination", "chosen"}}


def upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    """The settings of a plan as the last format had them, under the names of this one."""
    names = {"apart": "n_held_out", "source": "n_hit_or_miss", "scaling": "units"}
    found = {names.get(name, name): value for name, value in plain.items() if name != "chosen"}
    return found | {"scaling": plain["scaling"]["rule"]}


def needs_trials(settings: FitSettings) -> bool:
    """Whether the penalty is left open and no rule gives it: then trial fits choose it."""
    several = settings.width is None or settings.chosen_statistic == "score"
    return settings.penalty is None and not several


def plan_scales(
    reference: Sample, data: Sample | None, *, expected: float | None, settings: FitSettings
) -> tuple[Plan, ...]:
    """The plan of a search at each of its scales: those given, or chosen from the reference.

    `data` may be None where a Poisson number of events is expected.
    """
    statistic = settings.chosen_statistic
    null, why = choose_null(settings, reference, data, expected)
    plan = plan_one(reference, data, expected=expected, settings=replace(settings, null=null, statistic=statistic))
    chosen = [*why, *plan.chosen]
    widths = [plan.width]
    if settings.width is None:
        samples = (reference,) if null != "permutation" or data is None else (reference, data)
        events = ScaledRows(tuple(s.features for s in samples), plan.units)
        widths = ladder_of_widths(events, rng_of(plan.seed, Stream.WIDTH))
        low, high = QUANTILES
        reason = (
            f"in equal ratios from the {low:.0%} to the {high:.0%} quantile of the distances between reference events"
        )
        chosen = [c for c in chosen if c.setting != "width"]
        chosen.append(Chosen("widths", ", ".join(f"{w:.3g}" for w in widths), reason))
    penalties: Sequence[float] = [plan.penalty]
    if settings.penalty is None:
        deviations = DEVIATIONS[statistic]
        loss = loss_by_name(plan.loss)
        penalties = [penalty_for(d, events=plan.events_per_fit, loss=loss) for d in deviations]
        name = "penalties" if len(penalties) > 1 else "penalty"
        words = ", ".join(map(deviation_in_words, deviations))
        chosen.append(Chosen(name, ", ".join(f"{p:.2g}" for p in penalties), f"tuned to deviations of {words}"))
    return tuple(
        replace(plan, width=width, penalty=penalty, chosen=tuple(chosen)) for width in widths for penalty in penalties
    )


def plan_one(reference: Sample, data: Sample | None, *, expected: float | None, settings: FitSettings) -> Plan:
    """Decide on sizes, units and centres, and on one width; the null is given, and the penalty is or comes later."""
    null = settings.null or "reference"
    fixed = _fixed_number(data) if expected is None else None
    n_expected = float(fixed if expected is None else expected)  # type: ignore[arg-type]
    if null == "permutation" and data is None:
        raise InputError("null='permutation' relabels the data: give them, or choose another null")
    sample = reference
    if null == "permutation" and data is not None:
        _refuse_weights(reference=reference, data=data)
        sample = Sample(np.vstack([reference.features, data.features]), reference.names)
    chosen = []
    units = Scaling.learn(sample, settings.scaling)
    width = settings.width
    if not isinstance(width, float):
        width = pairwise_width(ScaledRows((sample.features,), units), rng=rng_of(settings.seed, Stream.WIDTH))
        reason = "90th percentile of the distances between reference events"
        chosen.append(Chosen("width", f"{width:.4g}", reason))
    decided = {
        "null": null,
        "statistic": settings.chosen_statistic,
        "width": width,
        "penalty": 1e-6 if settings.penalty is None else settings.penalty,
        "centers": 0,
        "reference_size": len(reference),
    }
    given = {f.name: getattr(settings, f.name) for f in fields(FitSettings)}
    plan = Plan(**given | decided, names=reference.names, expected=n_expected, fixed=fixed, units=units)
    available = len(sample)
    if null == "reference":
        plan = _make_room(plan, reference, settings.reference_size)
        available = plan.reference_size
    elif settings.reference_size is not None:
        raise InputError(f"reference_size={settings.reference_size}: null={null!r} decides on it itself; leave it out")
    if null == "permutation":
        plan = _make_room_in_pool(plan, len(reference), len(sample) - len(reference))
    centers = settings.centers
    if centers is None:
        centers = min(default_centers(plan.reference_size + int(n_expected)), max(1, available // 2))
        chosen.append(Chosen("centers", str(centers), "about 10 sqrt(n) candidates"))
    if not 1 <= centers <= available:
        raise InputError(f"centers={centers}: give from 1 to {available}, the reference events of a fit")
    plan = replace(plan, centers=centers, chosen=tuple(chosen))
    if plan.statistic == "score" and null == "reference":
        held_out = min(len(reference) // _HELD_OUT, plan.reference_size // 2, MOST_ROWS)
        plan = replace(plan, n_held_out=max(plan.centers, held_out))
    return plan


def choose_null(
    settings: FitSettings, reference: Sample, data: Sample | None, expected: float | None
) -> tuple[str, tuple[Chosen, ...]]:
    """The reference where it is large enough for toys of its own, and a permutation otherwise; and why."""
    if settings.null is not None:
        return settings.null, ()
    if data is None or reference.weights is not None or settings.reference_size is not None:
        return "reference", ()  # a permutation needs data, and no weights or sizes of its own
    if effective_size(reference).worth >= MIN_RATIO * (len(data) if expected is None else expected):
        return "reference", ()
    reason = (
        f"toys are drawn from reference and data together, because the reference is worth fewer than {MIN_RATIO:g} "
        "events for each one expected, too few for toys of its own"
    )
    return "permutation", (Chosen("null", "permutation", reason),)


def _fixed_number(data: Sample | None) -> int:
    """The number of data events where it is fixed because only the shape is tested."""
    if data is None:
        raise InputError(
            "expected=None fixes the number of data events to that observed: give the data, or the number expected"
        )
    return len(data)


def _make_room(plan: Plan, reference: Sample, reference_size: int | None) -> Plan:
    """N0 = R less the room for one data sample (more of it where hit-or-miss thins weighted events), or fewer."""
    room = room_for_data(plan.expected, plan.fixed)
    hit_or_miss = None
    if reference.weights is not None:
        if (reference.weights < 0).any():
            raise InputError(
                f"{np.count_nonzero(reference.weights < 0)} reference events have negative weights: toy data cannot be "
                "drawn from them; give a generator (null='generator') or an unweighted reference"
            )
        accepted = float(reference.weights.mean() / reference.weights.max())
        hit_or_miss = room = int(np.ceil(_HIT_OR_MISS_MARGIN * room / accepted))
    left = len(reference) - room
    if left < max(room, 2):
        raise InputError(
            f"the reference has {len(reference)} events, of which a toy's data need {room}: too few are left for "
            "the toy's reference; use a larger reference, null='permutation', or null='generator'"
        )
    if reference_size is not None and not 2 <= reference_size <= left:
        raise InputError(
            f"reference_size={reference_size}: give from 2 to {left}, the reference events left beside a toy's data"
        )
    return replace(plan, reference_size=reference_size or left, n_hit_or_miss=hit_or_miss)


def _make_room_in_pool(plan: Plan, reference: int, data: int) -> Plan:
    """N0 of a permutation: the whole reference, less what a toy with more data events than the data would need."""
    left = min(reference, reference + data - room_for_data(plan.expected, plan.fixed))
    if left < max(2, reference // 4):
        raise InputError(
            f"{reference} reference and {data} data events leave too few for the reference of a toy with "
            f"{plan.expected:g} expected data events; use a larger reference, or test the shape alone (expected=None)"
        )
    return replace(plan, reference_size=left)


def _refuse_weights(**samples: Sample) -> None:
    for label, sample in samples.items():
        if sample.weights is not None:
            raise InputError(
                f"the {label} has event weights: relabelled, they would follow their events into the other sample; "
                "use null='reference' instead of null='permutation'"
            )
