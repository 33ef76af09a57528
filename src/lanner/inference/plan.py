"""The plan of a search: everything that is decided before a toy is drawn, and from the reference alone.

Nothing here fits anything. A penalty that only trial fits can tell is chosen before (`inference/tuning.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from lanner._util.text import deviation_in_words
from lanner.errors import InputError
from lanner.events import Sample, Scaling
from lanner.events.effective_size import effective_size
from lanner.events.planning import for_planning
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.resampling import room_for_data
from lanner.inference.scales import COARSE, deviations_at, ladder_of_widths, penalty_for
from lanner.inference.seeds import Stream, rng_of
from lanner.inference.units import Chosen, learn_units, said_of_units
from lanner.model.bunches import bunch_size
from lanner.model.fit import default_centers
from lanner.model.kernel import pairwise_width
from lanner.model.loss import Loss, loss_by_name, null_curvature
from lanner.model.nystrom import trace_tolerance
from lanner.settings import FitSettings

EventGenerator = Callable[[int, np.random.Generator], Any]
# Below this many reference events per expected one, toys that share them are too much alike (docs/p-value.md).
MIN_RATIO = 20.0
# Blocks into which the reference is divided for the score's moments (model/splits.py): as many as are cheap. The rank,
# whose third power each split costs, is small in few dimensions and at most the number of centres.
_FEW_DIMENSIONS, _FEW_CENTERS = 2, 1000
_LEAST_CENTERS = 20
# The deviation whose penalty decides how much of the kernel the score's features leave out, and the part of what would
# be harmless to a fit. More would reach beyond the reference, where single events rule (measured in 1-D).
_BASIS_DEVIATION, _BASIS_SHARE, _MOST_LEFT_OUT = 2.0, 10.0, 0.1
_HIT_OR_MISS_MARGIN = 1.3  # weighted events set apart for hit-or-miss, over those needed on average


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
    expected_error: float = 0.0  # of N(0), where it is the sum of the reference's weights
    moment_blocks: int | None = None  # into which the reference is divided for the score's moments
    centers_barred: bool = True  # whether centres are never a toy's data, or then count as if they were none
    bunch: int = 1  # reference events that a toy takes together (`model/bunches.py`)
    n_hit_or_miss: int | None = None  # weighted reference events from which a toy's data are drawn by hit-or-miss
    chosen: tuple[Chosen, ...] = ()  # settings that were left open

    @property
    def events_per_fit(self) -> float:
        """n = N0 + N(0) of a typical fit."""
        return self.reference_size + self.expected

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON."""
        plain = {"names": list(self.names), "periodic": list(self.periodic), "units": self.units.to_dict()}
        return asdict(self) | plain

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
        same = {f.name for f in fields(self) if f.default is not MISSING and f.default == getattr(self, f.name)}
        same |= {"combination", "chosen"}
        return {name: value for name, value in plain.items() if name not in same}


@dataclass(frozen=True)
class Part:
    """What the plan of a part of the events takes from that of the whole, of which its toys are drawn."""

    whole: Plan
    share: float  # of the whole reference's events, or of reference and data where these are relabelled


def upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    """The settings of a plan of the last format, without the one that this format does not have."""
    return {name: value for name, value in plain.items() if name != "n_held_out"}


def needs_trials(settings: FitSettings) -> bool:
    """Whether the penalty is left open and no rule gives it: then trial fits choose it."""
    several = settings.width is None or settings.chosen_statistic == "score"
    return settings.penalty is None and not several


def plan_scales(
    reference: Sample,
    data: Sample | None,
    *,
    expected: float | None,
    settings: FitSettings,
    expected_error: float = 0.0,
    part: Part | None = None,
) -> tuple[Plan, ...]:
    """The plan of a search at each of its scales: those given, or chosen from the reference.

    `data` may be None where a Poisson number of events is expected. Toys of a `part` are drawn by another plan.
    """
    statistic = settings.chosen_statistic
    null, why = choose_null(settings, reference, data, expected)
    decided = replace(settings, null=null, statistic=statistic)
    plan = plan_one(reference, data, expected=expected, settings=decided, expected_error=expected_error, part=part)
    chosen = [*why, *plan.chosen]
    widths = [plan.width]
    if settings.width is None:
        samples = (reference,) if null != "permutation" or data is None else (reference, data)
        events = ScaledRows(tuple(for_planning(s).features for s in samples), plan.units)
        widths = ladder_of_widths(events, plan.expected, rng_of(plan.seed, Stream.WIDTH))
        reason = (
            f"in equal ratios from the finest that {plan.expected:g} events can resolve to the {COARSE:.0%} quantile "
            "of the distances between reference events"
        )
        chosen = [c for c in chosen if c.setting != "width"]
        chosen.append(Chosen("widths", ", ".join(f"{w:.3g}" for w in widths), reason))
    penalties: dict[float, list[float]] = {width: [plan.penalty] for width in widths}
    if settings.penalty is None:
        loss = loss_by_name(plan.loss)
        features = len(plan.names)
        sizes = {width: deviations_at(statistic, widths, width, features=features) for width in widths}
        penalties = {w: [penalty_for(d, events=plan.events_per_fit, loss=loss) for d in sizes[w]] for w in widths}
        if statistic == "score" and settings.trace_error is None:
            plan = replace(plan, trace_error=_basis_tolerance(plan, loss))
        most = max(widths)
        name = "penalties" if len(penalties[most]) > 1 else "penalty"
        words = ", ".join(map(deviation_in_words, sizes[most]))
        reason = f"tuned to deviations of {words}"
        if sizes[most] != sizes[widths[0]]:
            reason += " (the last at the coarsest widths alone)"
        chosen.append(Chosen(name, ", ".join(f"{p:.2g}" for p in penalties[most]), reason))
    return tuple(
        replace(plan, width=width, penalty=penalty, chosen=tuple(chosen))
        for width in widths
        for penalty in penalties[width]
    )


def plan_one(
    reference: Sample,
    data: Sample | None,
    *,
    expected: float | None,
    settings: FitSettings,
    expected_error: float = 0.0,
    part: Part | None = None,
) -> Plan:
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
    some = for_planning(sample)
    units = learn_units(some, settings, "reference" if sample is reference else "reference and data together")
    chosen = said_of_units(units, some, "the reference" if sample is reference else "reference and data")
    width = settings.width
    if not isinstance(width, float):
        width = pairwise_width(ScaledRows((some.features,), units), rng=rng_of(settings.seed, Stream.WIDTH))
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
    plan = replace(plan, expected_error=expected_error)
    available = len(sample)
    if part is not None:
        plan = replace(plan, reference_size=max(2, round(part.share * part.whole.reference_size)))
        available = len(sample) if null == "permutation" else plan.reference_size
    elif null == "reference":
        plan = _make_room(plan, reference, settings.reference_size)
        available = plan.reference_size
    elif settings.reference_size is not None:
        raise InputError(f"reference_size={settings.reference_size}: null={null!r} decides on it itself; leave it out")
    if null == "permutation" and part is None:
        plan = _make_room_in_pool(plan, len(reference), len(sample) - len(reference))
    centers = settings.centers
    score_by_reference = plan.statistic == "score" and null == "reference"
    if centers is None:
        centers = min(default_centers(plan.reference_size + int(n_expected)), max(1, available // 2))
        if score_by_reference and (most := _room_for_centers(plan, len(reference))) >= _LEAST_CENTERS:
            centers = min(centers, most)
        chosen.append(Chosen("centers", str(centers), "about 10 sqrt(n) candidates"))
    if not 1 <= centers <= available:
        raise InputError(f"centers={centers}: give from 1 to {available}, the reference events of a fit")
    plan = replace(plan, centers=centers, chosen=tuple(chosen))
    if part is not None:
        whole = part.whole
        return replace(plan, moment_blocks=whole.moment_blocks, centers_barred=whole.centers_barred, bunch=whole.bunch)
    if score_by_reference:
        blocks = _moment_blocks(plan, len(reference))
        plan = replace(plan, moment_blocks=blocks, centers_barred=blocks == 1)
    relabelled = plan.statistic == "score" and null == "permutation"
    if relabelled or (score_by_reference and reference.weights is None and not plan.centers_barred):
        plan = replace(plan, bunch=bunch_size(len(sample), n_expected))
    return plan


def _room_for_centers(plan: Plan, reference: int) -> int:
    """How many centres leave half of the other reference events large enough for a toy's data."""
    return reference - 2 * (plan.n_hit_or_miss or room_for_data(plan.expected, plan.fixed, plan.expected_error))


def _moment_blocks(plan: Plan, reference: int) -> int:
    """How many blocks; 1, with moments from the centres alone, where half of the reference has no room for a toy."""
    if plan.centers > _room_for_centers(plan, reference):  # which comparisons of tests bar from their toys
        return 1
    if len(plan.names) <= _FEW_DIMENSIONS:
        return 16
    return 4 if plan.centers <= _FEW_CENTERS else 2


def _basis_tolerance(plan: Plan, loss: Loss) -> float:
    """The part of the kernel that the score's features leave out."""
    penalty = penalty_for(_BASIS_DEVIATION, events=plan.events_per_fit, loss=loss)
    harmless = trace_tolerance(
        penalty=penalty, events=plan.events_per_fit, expected=plan.expected, curvature=null_curvature(loss)
    )
    return min(_BASIS_SHARE * harmless, _MOST_LEFT_OUT)


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
    room = room_for_data(plan.expected, plan.fixed, plan.expected_error)
    hit_or_miss = None
    if reference.weights is not None:
        by = reference.draws_by
        assert by is not None
        if (by < 0).any():
            raise InputError(
                f"{np.count_nonzero(by < 0)} reference events have negative weights: toy data cannot be drawn from "
                "them here; give a generator (null='generator') or an unweighted reference"
            )
        accepted = float(by.mean() / by.max())
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
