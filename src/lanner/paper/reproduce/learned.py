"""The learned density ratio against variables that the fit did not see (the paper's Fig. on reconstructed ratios)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lanner.errors import CountWarning, NullWarning
from lanner.paper.reproduce.cases import SignalCase
from lanner.paper.reproduce.measure import Events, Setting, pool_size, sample_of
from lanner.paper.reproduce.stages import Numbers
from lanner.report.learned import Learned
from lanner.report.profiles import make_profile
from lanner.run.search import search


def learned_ratio(
    events: Events, setting: Setting, signal: SignalCase, *, folder: Path, memory: str | None, seed: int
) -> Numbers:
    """One toy experiment with a signal, searched as data would be; `folder` holds its null toys."""
    case, (strength,) = events.case, signal.strengths
    options = setting.options(case, seed=seed)
    rows = pool_size(case, setting.reference_size or case.reference_size)
    rng = np.random.default_rng([seed, 7])
    number = int(rng.poisson(case.expected))
    # The data's background has no event in common with the reference.
    background = events.library.events("background", rows + number)
    injected = events.signal(signal)
    chosen = rng.permutation(len(next(iter(injected.values()))))[: int(rng.poisson(strength))]
    reference = {name: column[:rows] for name, column in background.items()}
    data = {
        name: np.concatenate([column[:0] if signal.alone else column[rows:], injected[name][chosen]])
        for name, column in background.items()
    }
    with warnings.catch_warnings():
        # A small toy has a strong signal, and the number of its events is no surprise; the sizes are the paper's.
        for known in (CountWarning, NullWarning):
            warnings.simplefilter("ignore", known)
        found = search(
            sample_of(reference, setting.features),
            sample_of(data, setting.features),
            expected=case.expected,
            toys=case.toys,
            output=folder,
            memory=memory,
            **options,
        )
    learned = Learned.evaluate(
        found.ratio,
        sample_of(reference, setting.features),
        sample_of(data, setting.features),
        expected=case.expected,
        null_coefficients=found.null_coefficients,
        rng=rng,
    )
    assert found.analytic is not None
    profiles = []
    for name in case.ratio_variables:
        # A resonance lies where the reference has next to no events, and bins chosen by those would end before it.
        bins = None if signal.mass is None else np.linspace(reference[name].min(), 1.4 * signal.mass, 33)
        profile = make_profile(
            learned, reference[name], data[name], name=name, fitted=name in setting.features, bins=bins
        )
        ideal = _ideal(background[name], injected[name], profile.edges, signal, strength, case.expected)
        profiles.append(profile.to_dict() | {"ideal_ratio": ideal})
    return {
        "signal": signal.name,
        "signal_events": strength,
        "statistic": found.statistic,
        "z_analytic": found.analytic.z_score,
        "profiles": profiles,
    }


def _ideal(
    background: Any, signal: Any, edges: Any, case: SignalCase, strength: float, expected: float
) -> list[float | None]:
    """n(x|1)/n(x|0) per bin from all simulated events, underflow first and overflow last."""
    open_edges = np.concatenate([[-np.inf], edges, [np.inf]])
    b = expected * np.histogram(background, open_edges)[0] / len(background)
    s = strength * np.histogram(signal, open_edges)[0] / len(signal)
    top = s if case.alone else b + s
    return [float(x / y) if y > 0 else None for x, y in zip(top, b, strict=True)]
