"""Histograms in the serialisation of UHI, which hist, boost-histogram and others of Scikit-HEP read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lanner._util.files import write_atomically
from lanner.report.characterise import Characterisation
from lanner.run.result import SearchResult
from lanner.typing import Array

if TYPE_CHECKING:
    from hist import Hist

_NULL_BINS = 50


def histograms_of(result: SearchResult, found: Characterisation | None = None) -> dict[str, Hist[Any]]:
    """The null distribution, and of each variable the data, the reference, its processes and what was learned."""
    made = {"null": null_histogram(result)}
    for profile in () if found is None else found.profiles:
        made[f"{profile.name}/data"] = profile.data
        made[f"{profile.name}/reference"] = profile.reference
        made[f"{profile.name}/learned"] = profile.reweighted
        for process, events in profile.stack:
            made[f"{profile.name}/process/{process}"] = _process(profile.reference, events)
    for plane in () if found is None else found.maps:
        x, y = plane.names
        made |= {
            f"{x}:{y}/data": plane.data,
            f"{x}:{y}/reference": plane.reference,
            f"{x}:{y}/learned": plane.reweighted,
        }
    return made


def null_histogram(result: SearchResult) -> Hist[Any]:
    """The statistic of the null toys; one that is no number is above all bins, because it counts as extreme."""
    import hist

    t = result.null.statistics
    finite = t[np.isfinite(t)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, np.nextafter(high, np.inf), _NULL_BINS + 1)
    filled: Hist[Any] = hist.Hist(hist.axis.Variable(edges, label="statistic"), storage=hist.storage.Double())
    filled.fill(np.where(np.isnan(t), np.inf, t))
    return filled


def write_histograms(path: Path, histograms: dict[str, Hist[Any]]) -> Path:
    """Write them to one JSON file, by their names."""
    import uhi.io.json
    from boost_histogram.serialization import to_uhi

    plain = {name: to_uhi(one) for name, one in histograms.items()}
    return write_atomically(path, json.dumps(plain, default=uhi.io.json.default))


def _process(like: Hist[Any], events: Array) -> Hist[Any]:
    """The events of a process in the bins of another histogram; their own variances are not kept there."""
    import hist

    filled: Hist[Any] = hist.Hist(*like.axes, storage=hist.storage.Double())
    filled.view(flow=True)[...] = events
    return filled
