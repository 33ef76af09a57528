"""What uncertainties of an analysis are made of, read from files: varied weights, and samples that were shifted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lanner.events.analysis.declared import AnalysisFile, Simulated
from lanner.events.analysis.uncertain import Uncertain
from lanner.events.sample import Sample
from lanner.typing import Array

if TYPE_CHECKING:
    from lanner.events.io import Events

Read = Callable[..., "tuple[Events, float]"]  # events of a sample, and what their weights are multiplied by


def columns_of(analysis: AnalysisFile, one: Simulated) -> dict[tuple[str, str], str]:
    """The varied weights of a sample, by uncertainty and direction."""
    return {
        (uncertain.name, direction): uncertain.weights(direction)[one.name]
        for uncertain in analysis.uncertainties
        for direction in ("up", "down")
        if one.name in uncertain.weights(direction)
    }


def asked_for(columns: Mapping[tuple[str, str], str]) -> list[str]:
    """The same as `read_sample` takes them."""
    return [f"`{called(*key)}`={text}" for key, text in columns.items()]


def called(name: str, direction: str) -> str:
    """What a column of varied weights is called."""
    return f"weights {direction} of {name}".replace("`", "'")


def key_of(uncertain: Uncertain, one: Simulated, direction: str, analysis: AnalysisFile) -> tuple[str, ...]:
    """The entry of the analysis file that asks for these weights."""
    key = ("uncertainties", uncertain.name, f"weights_{direction}")
    return (*key, one.name) if (*key, one.name) in analysis.lines else key


def shifted_sample(
    analysis: AnalysisFile,
    uncertain: Uncertain,
    direction: str,
    nominal: Mapping[str, tuple[Array, Array]],
    read: Read,
) -> Sample:
    """All samples of the analysis, those that were shifted from their own files, the others as they are."""
    place = ("up", "down").index(direction)
    features, weights = [], []
    for one in analysis.samples:
        if one.name not in uncertain.shifted:
            x, w = nominal[one.name]
        else:
            key = ("uncertainties", uncertain.name, "shifted", one.name)
            files = uncertain.shifted[one.name][place]
            moved = replace(one, name=f"{one.name} {direction} of {uncertain.name}", files=files)
            events, scale = read(moved, key)
            found = events.sample.weights
            x, w = events.sample.features, scale * (np.ones(len(events.sample)) if found is None else found)
        features.append(x)
        weights.append(w)
    names = tuple(f.name for f in analysis.features)
    return Sample(np.vstack(features), names, np.concatenate(weights), label=f"shifted {direction}")
