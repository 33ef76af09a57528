"""What is expected of data that nobody has looked at: the reference along each variable, in events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanner.events import Sample
from lanner.report.binning import bin_numbers, choose_edges
from lanner.report.look import Look, checked_look
from lanner.report.variables import columns_to_show
from lanner.typing import Array


@dataclass(frozen=True, eq=False)
class ExpectedProfile:
    """The events expected along one variable. Arrays have the underflow first and the overflow last."""

    name: str
    fitted: bool  # whether the variable is one of the search's
    edges: Array
    content: Array
    error: Array  # of the content, from the number of reference events
    without: tuple[int, int] = (0, 0)  # reference events without a value, and none of the data
    axis: str | None = None  # what stands on its axis; None: the name
    stack: tuple[tuple[str, Array], ...] = ()  # the processes, and their events in each bin

    @property
    def fluctuation(self) -> Array:
        """The standard deviation of the data's number of events."""
        return np.sqrt(np.maximum(self.content, 0.0))


def expected_profiles(
    reference: Sample, *, expected: float, look: Look | None = None, variables: Mapping[str, Any] | None = None
) -> tuple[ExpectedProfile, ...]:
    """A profile along each feature, and along further variables, given row by row."""
    shown = checked_look(look, len(reference))
    w = np.ones(len(reference)) if reference.weights is None else reference.weights
    share = w * (expected / w.sum())
    columns = columns_to_show(reference, variables or None, "reference", None)
    return tuple(
        _profile(name, values, share, shown, fitted=name in reference.names)
        for name, values in columns.items()
        if np.isfinite(values).any()
    )


def _profile(name: str, values: Array, share: Array, look: Look, *, fitted: bool) -> ExpectedProfile:
    known = np.isfinite(values)
    edges = choose_edges(values[known], values[known], name=name)
    places, share = bin_numbers(values[known], edges), share[known]

    def events(rows: Any, weights: Array) -> Array:
        return np.bincount(places[rows], weights[rows], minlength=len(edges) + 1).astype(np.float64)

    everything = slice(None)
    stack = []
    if look.process is not None:
        of = look.process[known]
        stack = [(process, events(of == k, share)) for k, process in enumerate(look.processes)]
    return ExpectedProfile(
        name=name,
        fitted=fitted,
        edges=edges,
        content=events(everything, share),
        error=np.sqrt(events(everything, share**2)),
        without=(int(np.count_nonzero(~known)), 0),
        axis=look.axes.get(name),
        stack=tuple(stack),
    )
