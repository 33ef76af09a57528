"""The reference of an analysis: its simulated samples, each scaled to what is expected of it, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile, Simulated
from lanner.events.analysis.file import named
from lanner.events.analysis.regions import columns_for_regions, masks_of_regions
from lanner.events.io import Events, read_sample
from lanner.events.regions import Mask
from lanner.events.sample import Sample

_PB_PER_FB = 1000.0  # fb^-1 times pb
_CONTRADICTION = 1e-3  # of the sum of weights, by which files may hold more than was generated: rounding


@dataclass(frozen=True)
class Yield:
    """What is expected of a process."""

    process: str
    events: int  # simulated, after the selection
    expected: float
    error: float
    negative: float  # the share of negative weights
    worth: float  # simulated events without weights that fluctuate as much


@dataclass(frozen=True, eq=False)
class ProcessedReference:
    """Simulated events whose weights add up to the events expected, and of which process each is."""

    sample: Sample
    process: NDArray[np.intp]  # of each event, a place in `processes`
    processes: tuple[str, ...]
    description: str
    regions: dict[str, Mask] = field(default_factory=dict)  # which events lie in each

    def of_process(self, name: str) -> NDArray[np.bool_]:
        """Which events are of a process."""
        if name not in self.processes:
            raise InputError(f"{name!r} is none of the processes {', '.join(map(repr, self.processes))}")
        return np.asarray(self.process == self.processes.index(name))

    def yields(self) -> tuple[Yield, ...]:
        """What is expected of each process, after the selection."""
        weights = self.sample.weights
        assert weights is not None
        found = []
        for k, name in enumerate(self.processes):
            w = weights[self.process == k]
            squares = float(w @ w)
            worth = float(w.sum()) ** 2 / squares if squares > 0 else 0.0
            negative = float(np.mean(w < 0)) if len(w) else 0.0
            found.append(Yield(name, len(w), float(w.sum()), squares**0.5, negative, worth))
        return tuple(found)


def read_simulated(analysis: AnalysisFile, *, memory: float | str | None = None) -> ProcessedReference:
    """Read the simulated samples of an analysis.

    Parameters
    ----------
    analysis : AnalysisFile
        What `read_analysis_file` gave.
    memory : float or str or None, default None
        Memory to use at most, as for `read_sample`.

    Returns
    -------
    ProcessedReference
        All events that pass the selection, with weights that add up to the events expected.

    Raises
    ------
    InputError
        If a file or formula cannot be used, a sum of weights contradicts its files, or nothing is expected.
    """
    features, weights, process, words, regions = [], [], [], [], []
    for one in analysis.samples:
        events = _read(analysis, one, memory)
        scale = _scale(analysis, one, memory)
        w = events.sample.weights
        features.append(events.sample.features)
        weights.append(scale * (np.ones(len(events.sample)) if w is None else w))
        process.append(np.full(len(events.sample), analysis.processes.index(one.process), dtype=np.intp))
        words.append(f"{one.name}: {events.description}")
        regions.append(masks_of_regions(analysis, events))
    total = np.concatenate(weights)
    if not total.sum() > 0:
        raise InputError(
            f"{analysis.where('samples')}: the weights of all samples add up to {total.sum():.4g} after the selection: "
            "more events of positive weight are needed than of negative"
        )
    inside = {name: np.concatenate([masks[name] for masks in regions]) for name in analysis.regions}
    sample = Sample(np.vstack(features), tuple(f.name for f in analysis.features), total, label="reference")
    return ProcessedReference(sample, np.concatenate(process), analysis.processes, "; ".join(words), inside)


def read_data(analysis: AnalysisFile, *, memory: float | str | None = None) -> Events:
    """The data of an analysis, with its features and its selection."""
    if not analysis.data:
        raise InputError(f"{analysis.path} names no data: add `data: FILE`")
    extra = columns_for_regions(analysis, analysis.data, "the data")
    found: Events = named(
        analysis,
        ("data",),
        lambda: read_sample(
            list(analysis.data),
            features=[f.spelled for f in analysis.features],
            where=analysis.selection,
            extra=extra,
            label="data",
            memory=memory,
        ),
    )
    return found


def _read(analysis: AnalysisFile, one: Simulated, memory: float | str | None) -> Events:
    extra = columns_for_regions(analysis, one.files, f"sample {one.name}")
    product = "*".join(f"({w})" for w in one.weights)
    found: Events = named(
        analysis,
        ("samples", one.name),
        lambda: read_sample(
            list(one.files),
            features=[f.spelled for f in analysis.features],
            weight=f"weight={product}" if product else None,
            where=analysis.selection,
            extra=extra,
            label=one.name,
            memory=memory,
        ),
    )
    return found


def _scale(analysis: AnalysisFile, one: Simulated, memory: float | str | None) -> float:
    """What the weights are multiplied by: cross-section times luminosity over the sum of weights generated."""
    if analysis.luminosity is None or one.cross_section is None:
        return 1.0
    column = one.sum_of_weights if isinstance(one.sum_of_weights, str) else None
    generated = column or (one.weights[0] if one.weights else None)
    feature = analysis.features[0].spelled
    there: float = named(analysis, ("samples", one.name), lambda: _sum_in_files(one, generated, feature, memory))
    total = there
    if isinstance(one.sum_of_weights, float):
        total = one.sum_of_weights
        if there > total * (1 + _CONTRADICTION):
            raise InputError(
                f"{analysis.where('samples', one.name, 'sum_of_weights')}: samples.{one.name}.sum_of_weights is "
                f"{total:.6g}, but its files alone hold {there:.6g} (of {generated or 'events without weights'}): give "
                "the sum over all events that were generated"
            )
    if not total > 0:
        raise InputError(
            f"{analysis.where('samples', one.name)}: samples.{one.name}: the weights that were generated add up to "
            f"{total:.4g}: a positive sum is needed"
        )
    return analysis.luminosity * one.cross_section * _PB_PER_FB / total


def _sum_in_files(one: Simulated, column: str | None, feature: str, memory: float | str | None) -> float:
    """The sum of a column over all events of the files, before any selection; without one their number."""
    wanted = feature if column is None else f"generated={column}"
    events = read_sample(list(one.files), features=[wanted], label=one.name, memory=memory)
    return float(len(events.sample) if column is None else events.sample.features.sum())
