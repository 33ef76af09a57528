"""`reproduce`: the paper's experiments, from events to figures, each stage kept as soon as it is done."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lanner._util.files import write_atomically
from lanner._util.progress import as_progress
from lanner.paper.datasets.library import Library
from lanner.paper.reproduce.cases import Case, case
from lanner.paper.reproduce.learned import learned_ratio
from lanner.paper.reproduce.measure import (
    Events,
    Setting,
    ideal_significances,
    seconds_per_toy,
    sensitivity,
)
from lanner.paper.reproduce.stages import Numbers, Stages

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` found: the numbers of all stages, and where its page and figures are."""

    case: Case
    numbers: Numbers
    page: Path

    def __str__(self) -> str:
        from lanner.paper.reproduce.page import summary

        return summary(self.case, self.numbers)


def reproduce(
    name: str,
    *,
    scale: str = "smoke",
    output: str | Path | None = None,
    library: Library | None = None,
    toys: int | None = None,
    experiments: int | None = None,
    memory: str | None = None,
    seed: int = 1,
    progress: Callable[..., None] | None = None,
) -> Reproduction:
    """Run one of the paper's experiments and set its numbers beside the paper's.

    Args:
        name: "one-dimensional", "dimuon", "susy" or "higgs".
        scale: "paper" for the paper's sizes, "smoke" for a minute's worth.
        output: a folder for numbers.json, results.md, figures and toys; interrupted, the same call goes on from it.
        library: where events come from (`Library`): generated and cached, or the published files.
        toys, experiments: null toys, and toys per signal strength (default: the paper's, or more).
        progress: called with the stage's name, what is done and what there is to do.
    """
    from lanner.paper.reproduce.figures import write_figures
    from lanner.paper.reproduce.page import write_page

    chosen = case(name, scale=scale)
    chosen = replace(chosen, toys=toys or chosen.toys, experiments=experiments or chosen.experiments)
    folder = Path(output if output is not None else Path("reproduce") / f"{name}-{scale}")
    events = Events(chosen, replace(library or Library(name), cuts=dict(chosen.cuts)))
    described = {k: v for k, v in asdict(chosen).items() if k != "paper"}
    stages = Stages(
        folder / "stages",
        {"case": described, "seed": seed, "source": events.library.described()},
        as_progress(progress),
    )
    numbers = _measure(chosen, events, stages, folder, memory, seed)
    write_atomically(folder / "numbers.json", json.dumps(numbers, indent=1))
    figures = write_figures(chosen, numbers, folder / "figures")
    page = write_page(chosen, numbers, figures, folder / "results.md", scale=scale)
    return Reproduction(chosen, numbers, page)


def _measure(chosen: Case, events: Events, stages: Stages, folder: Path, memory: str | None, seed: int) -> Numbers:
    low = Setting(chosen.low_level, chosen.width)
    toys = folder / "toys"
    shown = chosen.one(*chosen.shown[0])
    numbers: Numbers = {
        "time": stages.run("time", lambda _: seconds_per_toy(events, low, memory=memory, seed=seed)),
        "ideal": stages.run("ideal", lambda _: ideal_significances(events)),
    }

    def series(name: str, setting: Setting, signals: tuple, at: Path) -> Numbers:  # type: ignore[type-arg]
        return stages.run(
            name,
            lambda tell: sensitivity(events, setting, signals, folder=at, memory=memory, seed=seed, progress=tell),
            setting=asdict(setting),
        )

    numbers["low"] = series("low", low, chosen.signals, toys / "low")
    for signal, strength in chosen.shown:
        one = chosen.one(signal, strength)
        numbers.setdefault("learned", []).append(
            stages.run(
                f"learned-{signal}",
                lambda _, one=one: learned_ratio(  # type: ignore[misc]
                    events, low, one, folder=toys / "low", memory=memory, seed=seed
                ),
            )
        )
    if chosen.width_all is not None:
        every = Setting((*chosen.low_level, *chosen.high_level), chosen.width_all)
        numbers["all"] = series("all", every, chosen.signals, toys / "all")
    if chosen.loss_penalty is not None:
        # Converged: one step of the extended likelihood, an exponential, would overshoot.
        converged = replace(low, converged=True, penalty=chosen.loss_penalty)
        signals = tuple(s for s in chosen.signals if s.name in {name for name, _ in chosen.shown})
        for loss in ("logistic", "extended"):
            numbers[loss] = series(loss, replace(converged, loss=loss), signals, toys / loss)
    numbers["sizes"] = []
    for ratio in chosen.sizes:
        setting = replace(low, reference_size=round(ratio * chosen.expected))
        found = series(f"size-{ratio:g}", setting, (shown,), toys / f"size-{ratio:g}")
        numbers["sizes"].append(found | {"ratio": ratio})
    if chosen.name == "one-dimensional":
        numbers |= _one_dimensional(chosen, events, stages, folder, memory, seed)
    return numbers


def _one_dimensional(
    chosen: Case, events: Events, stages: Stages, folder: Path, memory: str | None, seed: int
) -> Numbers:
    """App. C: how width, centres and penalty are chosen, and what the width does to the significance."""
    from lanner.paper.reproduce import tuning

    found: Numbers = {
        "distances": stages.run("distances", lambda _: tuning.distances(events, seed)),
        "scan": stages.run("scan", lambda tell: tuning.scan(events, memory=memory, seed=seed, progress=tell)),
        "times": stages.run("times", lambda tell: tuning.times(events, memory=memory, seed=seed, progress=tell)),
        "widths": [],
    }
    nominal = tuple(chosen.one(s.name, chosen.shown[0][1]) for s in chosen.signals)
    fewer = replace(events, case=replace(chosen, toys=min(chosen.toys, 300), experiments=min(chosen.experiments, 100)))
    for width in tuning.WIDTHS:
        setting = Setting(chosen.low_level, width)
        at = folder / "toys" / f"width-{width:g}"
        made = stages.run(
            f"width-{width:g}",
            lambda tell, setting=setting, at=at: sensitivity(  # type: ignore[misc]
                fewer, setting, nominal, folder=at, memory=memory, seed=seed, progress=tell
            ),
        )
        found["widths"].append(made | {"width": width})
    return found
