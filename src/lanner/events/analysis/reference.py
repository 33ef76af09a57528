"""The reference of an analysis: its simulated samples, each scaled to what is expected of it, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile, Simulated
from lanner.events.analysis.faults import formulas_of, named_at_fault
from lanner.events.analysis.regions import columns_for_regions, masks_of_regions
from lanner.events.analysis.uncertain import Uncertain
from lanner.events.analysis.varied import asked_for, called, columns_of, shifted_sample
from lanner.events.io import Events, read_sample
from lanner.events.regions import Mask
from lanner.events.sample import Sample
from lanner.typing import Array

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
    # Weights as uncertainties vary them, in the place of the sample's, by the uncertainty and "up" or "down".
    varied: dict[tuple[str, str], Array] = field(default_factory=dict)
    samples: dict[str, slice] = field(default_factory=dict)  # where the events of each sample stand

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
    features, weights, process, words = [], [], [], []
    varied: dict[tuple[str, str], list[Array]] = {}
    keys = [(one.name, way) for one in analysis.uncertainties if one.weights_up for way in one.directions]
    inside: dict[str, list[Mask]] = {name: [] for name in analysis.regions}
    for one in analysis.samples:
        events, scale = read_scaled(analysis, one, ("samples", one.name), memory)
        w = events.sample.weights
        features.append(events.sample.features)
        weights.append(scale * (np.ones(len(events.sample)) if w is None else w))
        process.append(np.full(len(events.sample), analysis.processes.index(one.process), dtype=np.intp))
        words.append(f"{one.name}: {events.description}")
        for name, mask in masks_of_regions(analysis, events).items():
            inside[name].append(mask)
        for key in keys:
            column = events.varied.get(called(*key))
            varied.setdefault(key, []).append(weights[-1] if column is None else scale * column)
    total = np.concatenate(weights)
    if not total.sum() > 0:
        raise InputError(
            f"{analysis.where('samples')}: the weights of all samples add up to {total.sum():.4g} after the selection: "
            "more events of positive weight are needed than of negative"
        )
    regions = {name: np.concatenate(masks) for name, masks in inside.items()}
    sample = Sample(np.vstack(features), tuple(f.name for f in analysis.features), total, label="reference")
    columns = {key: np.concatenate(parts) for key, parts in varied.items()}
    ends = np.cumsum([len(part) for part in weights])[:-1]
    of_samples = {one.name: rows for one, rows in zip(analysis.samples, _slices(ends, len(total)), strict=True)}
    return ProcessedReference(
        sample, np.concatenate(process), analysis.processes, "; ".join(words), regions, columns, of_samples
    )


def read_shifted(
    analysis: AnalysisFile,
    uncertain: Uncertain,
    direction: str,
    reference: ProcessedReference,
    *,
    memory: float | str | None = None,
) -> Sample:
    """The reference with the samples of an uncertainty in the place of those that they vary."""
    weights = reference.sample.weights
    assert weights is not None
    nominal = {name: (reference.sample.features[rows], weights[rows]) for name, rows in reference.samples.items()}
    return shifted_sample(
        analysis, uncertain, direction, nominal, lambda one, key: read_scaled(analysis, one, key, memory)
    )


def _slices(ends: NDArray[np.intp], length: int) -> list[slice]:
    edges = [0, *ends.tolist(), length]
    return [slice(a, b) for a, b in pairwise(edges)]


def read_data(analysis: AnalysisFile, *, memory: float | str | None = None) -> Events:
    """The data of an analysis, with its features and its selection."""
    if not analysis.data:
        raise InputError(f"{analysis.path} names no data: add `data: FILE`")
    extra = columns_for_regions(analysis, analysis.data, "the data")
    found: Events = named_at_fault(
        analysis,
        ("data",),
        analysis.data,
        formulas_of(analysis),
        lambda: read_sample(
            list(analysis.data),
            features=[f.spelled for f in analysis.features],
            where=analysis.selection,
            extra=extra,
            all_missing=True,  # of what is rare in the reference, few data events may have none
            label="data",
            memory=memory,
        ),
    )
    return found


def read_scaled(
    analysis: AnalysisFile, one: Simulated, key: tuple[str, ...], memory: float | str | None
) -> tuple[Events, float]:
    """The events of a sample, and what their weights are multiplied by; errors name the entry of that key."""
    extra = columns_for_regions(analysis, one.files, f"sample {one.name}") if key[0] == "samples" else []
    product = "*".join(f"({w})" for w in one.weights)
    scaled = analysis.luminosity is not None and one.cross_section is not None
    column = one.sum_of_weights if isinstance(one.sum_of_weights, str) else None
    generated = column or (one.weights[0] if one.weights else None)

    def read() -> Events:
        return read_sample(
            list(one.files),
            features=[f.spelled for f in analysis.features],
            weight=f"weight={product}" if product else None,
            where=analysis.selection,
            extra=extra,
            varied=asked_for(columns_of(analysis, one)),
            total=f"generated={generated}" if scaled and generated else None,
            all_missing=key[0] != "samples",  # a shifted sample may lack what the sample itself has
            label=one.name,
            memory=memory,
        )

    events: Events = named_at_fault(analysis, key, one.files, formulas_of(analysis, one), read)
    if analysis.luminosity is None or one.cross_section is None:
        return events, 1.0
    there = float(events.read) if events.total is None else events.total
    if isinstance(one.sum_of_weights, float) and there > one.sum_of_weights * (1 + _CONTRADICTION):
        where = analysis.where(*key, "sum_of_weights")
        said = f"{'.'.join(key)}.sum_of_weights" if key[0] == "samples" else f"{'.'.join(key)}: sum_of_weights"
        raise InputError(
            f"{where}: {said} is {one.sum_of_weights:.6g}, but its files alone hold {there:.6g} (of "
            f"{generated or 'events without weights'}): give the sum over all events that were generated"
        )
    total = one.sum_of_weights if isinstance(one.sum_of_weights, float) else there
    if not total > 0:
        raise InputError(
            f"{analysis.where(*key)}: {'.'.join(key)}: the weights that were generated add up to {total:.4g}: a "
            "positive sum is needed"
        )
    return events, analysis.luminosity * one.cross_section * _PB_PER_FB / total
