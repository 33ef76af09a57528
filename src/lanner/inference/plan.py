"""The plan of a search: everything that is decided before a toy is drawn, and from the reference alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lanner.errors import InputError
from lanner.events import Sample, Scaling
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.resampling import room_for_data
from lanner.inference.seeds import Stream, generator
from lanner.model.fit import default_centers
from lanner.model.kernel import pairwise_width
from lanner.model.single_fit import Settings

Generator = Callable[[int, np.random.Generator], Any]
NULLS = ("reference", "permutation", "generator")
_SOURCE_MARGIN = 1.3  # weighted events set apart for hit-or-miss, over those needed on average


@dataclass(frozen=True)
class Plan:
    """How every fit of a search is made, a toy's or the data's."""

    null: str
    names: tuple[str, ...]
    expected: float  # N(0)
    fixed: int | None  # the number of data events where only the shape is tested
    reference_size: int  # N0 of every fit
    width: float
    penalty: float
    centers: int  # M
    newton_steps: int | None
    loss: str
    precision: str
    tolerance: float | None
    trace_error: float | None
    scaling: Scaling
    seed: int
    statistic: str = "likelihood-ratio"  # or "score"
    apart: int | None = None  # reference events that shape the test, the centres among them; None: the centres alone
    source: int | None = None  # weighted reference events that a toy's data are drawn from
    chosen: tuple[str, ...] = ()  # settings that were chosen here, in words

    def settings(self) -> dict[str, Any]:
        """The plan as plain JSON: what a calibration must share with the data it is applied to."""
        plain = {k: v for k, v in asdict(self).items() if k not in ("scaling", "chosen")}
        return plain | {"names": list(self.names), "scaling": self.scaling.to_dict()}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Plan:
        """Read what `settings` wrote."""
        plain = dict(settings)
        plain["scaling"] = Scaling.from_dict(plain["scaling"])
        plain["names"] = tuple(plain["names"])
        return cls(**plain)


def make_plan(
    reference: Sample,
    data: Sample | None,
    *,
    expected: float | None,
    null: str,
    width: float | None,
    penalty: float,
    centers: int | None,
    scaling: str | None,
    seed: int,
    settings: Settings,
    reference_size: int | None = None,
) -> Plan:
    """Decide on sizes, width and centres. `data` may be None where a Poisson number of events is expected."""
    if null not in NULLS:
        raise InputError(f"null={null!r} is not known; choose one of {', '.join(map(repr, NULLS))}")
    fixed = _fixed_number(data) if expected is None else None
    n_expected = float(fixed if expected is None else expected)  # type: ignore[arg-type]
    if not (np.isfinite(n_expected) and n_expected > 0):
        raise InputError(
            f"expected={expected!r}: the number of data events that the reference predicts must be positive; "
            "use expected=None to test the shape alone"
        )
    chosen = []
    sample = reference
    if null == "permutation":
        if data is None:
            raise InputError("null='permutation' relabels the data: give them, or choose another null")
        _refuse_weights("permutation", reference=reference, data=data)
        sample = Sample(np.vstack([reference.features, data.features]), reference.names)
    units = Scaling.learn(sample, scaling)
    if width is None:
        width = pairwise_width(ScaledRows((sample.features,), units), rng=generator(seed, Stream.WIDTH))
        chosen.append(f"width {width:.4g}: 90th percentile of the distances between reference events")
    plan = Plan(
        null=null,
        names=reference.names,
        expected=n_expected,
        fixed=fixed,
        reference_size=len(reference),
        width=float(width),
        penalty=penalty,
        centers=0,
        newton_steps=settings.newton_steps,
        loss=settings.loss.name,
        precision=settings.precision,
        tolerance=settings.tolerance,
        trace_error=settings.trace_error,
        scaling=units,
        seed=seed,
    )
    if null == "reference":
        plan = _make_room(plan, reference, reference_size)
    elif reference_size is not None:
        raise InputError(f"reference_size={reference_size}: null={null!r} decides on it itself; leave it out")
    available = plan.reference_size
    if null == "permutation":
        assert data is not None
        plan = _make_room_in_pool(plan, len(reference), len(data))
        available = len(sample)
    if centers is None:
        centers = min(default_centers(plan.reference_size + int(n_expected)), max(1, available // 2))
        chosen.append(f"centers {centers}: about 10 sqrt(n) candidates")
    if not 1 <= centers <= available:
        raise InputError(f"centers={centers}: give from 1 to {available}, the reference events of a fit")
    return replace(plan, centers=int(centers), chosen=tuple(chosen))


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
    source = None
    if reference.weights is not None:
        if (reference.weights < 0).any():
            raise InputError(
                f"{np.count_nonzero(reference.weights < 0)} reference events have negative weights: toy data cannot be "
                "drawn from them; give a generator (null='generator') or an unweighted reference"
            )
        accepted = float(reference.weights.mean() / reference.weights.max())
        source = room = int(np.ceil(_SOURCE_MARGIN * room / accepted))
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
    return replace(plan, reference_size=reference_size or left, source=source)


def _make_room_in_pool(plan: Plan, reference: int, data: int) -> Plan:
    """N0 of a permutation: the whole reference, less what a toy with more data events than the data would need."""
    left = min(reference, reference + data - room_for_data(plan.expected, plan.fixed))
    if left < max(2, reference // 4):
        raise InputError(
            f"{reference} reference and {data} data events leave too few for the reference of a toy with "
            f"{plan.expected:g} expected data events; use a larger reference, or test the shape alone (expected=None)"
        )
    return replace(plan, reference_size=left)


def _refuse_weights(null: str, **samples: Sample) -> None:
    for label, sample in samples.items():
        if sample.weights is not None:
            raise InputError(
                f"the {label} has event weights: relabelled, they would follow their events into the other sample; "
                f"use null='reference' instead of null={null!r}"
            )
