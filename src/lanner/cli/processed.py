"""The reference of an analysis file, for commands that read samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lanner.errors import InputError
from lanner.events.io.read import Events
from lanner.report.analysis import Analysis, read_analysis
from lanner.report.look import Look
from lanner.settings import RunSettings
from lanner.uncertainties.declared import Uncertainty


@dataclass(frozen=True, eq=False)
class Processed(Events):
    """The simulated samples of an analysis, with what its plots need and what is said of its processes."""

    analysis: Analysis | None = None
    look: Look | None = None
    lines: tuple[str, ...] = ()


def read_processed(config: RunSettings) -> Processed:
    """The reference of an analysis, with the selection of the run."""
    assert config.analysis is not None
    unused = [name for name in ("weight", "extra", "spread", "drop_nan") if getattr(config, name)]
    if config.reference is not None:
        unused.append("reference")
    if unused:
        raise InputError(f"{', '.join(unused)}: an analysis file says what its samples are; leave out one or the other")
    others = [one.name for one in config.uncertainties if one.to_dict().keys() - {"normalisation"}]
    if others:
        raise InputError(
            f"uncertainties {', '.join(map(repr, others))}: beside an analysis file only normalisations can be given "
            f"here; all kinds can stand in {config.analysis} itself, below uncertainties:"
        )
    analysis = read_analysis(config.analysis, memory=config.memory)
    if config.features != tuple(feature.spelled for feature in analysis.file.features):
        raise InputError(f"features: those of {config.analysis} are tested; change them there")
    analysis = replace(analysis, file=replace(analysis.file, selection=config.where))
    return processed_of(analysis)


def processed_of(analysis: Analysis) -> Processed:
    """The simulated samples of an analysis as a command uses them."""
    reference = analysis.reference
    lines = tuple(
        f"{one.process}: {one.expected:.6g} ± {one.error:.2g} expected, of {one.events} simulated events worth "
        f"{one.worth:.0f}" + (f" ({one.negative:.1%} of negative weight)" if one.negative else "")
        for one in reference.yields()
    )
    return Processed(reference.sample, {}, reference.description, 0, analysis=analysis, look=analysis.look, lines=lines)


def uncertainties_beside(reference: Events, declared: Sequence[Uncertainty]) -> list[Uncertainty]:
    """Those declared by flags and those of the analysis, of which the former come before others of their name."""
    if not isinstance(reference, Processed) or reference.analysis is None:
        return list(declared)
    names = {one.name for one in declared}
    return [*declared, *(one for one in reference.analysis.uncertainties if one.name not in names)]
