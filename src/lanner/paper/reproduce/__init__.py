"""`reproduce`: the paper's experiments, from events to figures, each stage kept as soon as it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lanner._util.files import write_atomically
from lanner._util.progress import as_progress, begin
from lanner.paper.datasets.library import Library
from lanner.paper.reproduce.cases import Case, SignalCase, case
from lanner.paper.reproduce.learned import learned_ratio
from lanner.paper.reproduce.measure import Events, Setting, ideal_significances, seconds_per_toy, sensitivity
from lanner.paper.reproduce.stages import Numbers, Stages

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` found.

    Printed, it is a short table of ideal and observed significances.

    Parameters
    ----------
    case : Case
        The experiment as it was run: sizes, settings, signals, and the numbers that the paper prints.
    numbers : dict
        The numbers of all stages, as they are in ``numbers.json``: among others ``"ideal"``, the significance of a
        test that knows each signal, and ``"low"``, the null toys and those with signals.
    page : Path
        The page of results, with tables and figures.

    See Also
    --------
    reproduce : Makes one.

    Examples
    --------
    >>> import lanner
    >>> found = lanner.reproduce("one-dimensional")  # doctest: +SKIP
    >>> print(found.page)  # doctest: +SKIP
    reproduce/one-dimensional-smoke/results.md
    """

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

    Every stage is kept in the output folder as soon as it is done: a call that was interrupted goes on from there when
    it is repeated.

    Parameters
    ----------
    name : {"one-dimensional", "dimuon", "susy", "higgs"}
        The experiment.
    scale : {"smoke", "paper"}, default "smoke"
        The paper's sizes, which take hours, or sizes so small that a minute is enough.
    output : str or Path, optional
        A folder for ``numbers.json``, the page ``results.md``, the figures and the toys; by default
        ``reproduce/NAME-SCALE``.
    library : Library, optional
        Where events come from. By default collisions are generated with Pythia 8 and kept in the user's cache folder;
        a library can also read the published files.
    toys : int, optional
        Number of null toys; by default the paper's 300, in the 1-D example 1000, and 40 at the scale "smoke".
    experiments : int, optional
        Number of toys for each strength of a signal; by default the paper's 100, in the 1-D example 400, and 20 at the
        scale "smoke".
    memory : str, optional
        Memory budget, such as ``"4 GB"``; by default half of the memory that is free.
    seed : int, default 1
        Seed of the toys.
    progress : callable, optional
        Called with the name of a stage, how much of it is done, and how much there is to do.

    Returns
    -------
    Reproduction
        The numbers of all stages, and where the page of results is.

    Raises
    ------
    InputError
        If the experiment or the scale is not known, or events cannot be made or read.
    MemoryBudgetError
        If the memory budget is too small.

    See Also
    --------
    lanner.power : How much of a signal of one's own would be found.

    Examples
    --------
    >>> import lanner
    >>> found = lanner.reproduce("one-dimensional", scale="smoke", seed=1)  # doctest: +SKIP
    >>> print(found)  # doctest: +SKIP
    1-D example: 40 null toys, chi2 dof 9.67 +- 0.68
    ...
    """
    from lanner.paper.reproduce.figures import write_figures
    from lanner.paper.reproduce.page import write_page

    chosen = case(name, scale=scale)
    chosen = replace(chosen, toys=toys or chosen.toys, experiments=experiments or chosen.experiments)
    folder = Path(output if output is not None else Path("reproduce") / f"{name}-{scale}")
    events = Events(chosen, replace(library or Library(name), cuts=dict(chosen.cuts)))
    described = {k: v for k, v in asdict(chosen).items() if k != "paper"}
    depends = {"case": described, "seed": seed, "source": events.library.described()}
    stages = Stages(folder / "stages", depends, as_progress(progress))
    numbers = _Measurement(events, stages, folder / "toys", memory, seed).all()
    write_atomically(folder / "numbers.json", json.dumps(numbers, indent=1))
    begin(stages.progress, "drawing the figures")
    figures = write_figures(chosen, numbers, folder / "figures")
    page = write_page(chosen, numbers, figures, folder / "results.md", scale=scale)
    return Reproduction(chosen, numbers, page)


@dataclass(frozen=True)
class _Measurement:
    """All stages of one case, with what they have in common."""

    events: Events
    stages: Stages
    toys: Path
    memory: str | None
    seed: int

    def all(self) -> Numbers:
        """The numbers of every stage that the case has."""
        events, memory, seed = self.events, self.memory, self.seed
        case = events.case
        low = Setting(case.low_level, case.width)
        numbers: Numbers = {
            "time": self.stages.run("time", lambda _: seconds_per_toy(events, low, memory=memory, seed=seed)),
            "ideal": self.stages.run("ideal", lambda _: ideal_significances(events)),
            "low": self._series("low", low, case.signals),
            "learned": [self._learned(low, case.one(*shown)) for shown in case.shown],
        }
        if case.width_all is not None:
            every = Setting((*case.low_level, *case.high_level), case.width_all)
            numbers["all"] = self._series("all", every, case.signals)
        if case.loss_penalty is not None:
            # Converged: one step of the extended likelihood, an exponential, would overshoot.
            converged = replace(low, converged=True, penalty=case.loss_penalty)
            signals = [s for s in case.signals if s.name in dict(case.shown)]
            for loss in ("logistic", "extended"):
                numbers[loss] = self._series(loss, replace(converged, loss=loss), signals)
        first = case.one(*case.shown[0])
        numbers["sizes"] = [
            self._series(f"size-{ratio:g}", replace(low, reference_size=round(ratio * case.expected)), [first])
            | {"ratio": ratio}
            for ratio in case.sizes
        ]
        return numbers | (self._settings_of_the_fit() if case.name == "one-dimensional" else {})

    def _settings_of_the_fit(self) -> Numbers:
        """App. C: how width, centres and penalty are chosen, and what the width does to the significance."""
        from lanner.paper.reproduce import tuning

        events, memory, seed, run = self.events, self.memory, self.seed, self.stages.run
        case = events.case
        fewer = replace(case, toys=min(case.toys, 300), experiments=min(case.experiments, 100))
        quicker = replace(self, events=replace(events, case=fewer))
        nominal = [case.one(s.name, case.shown[0][1]) for s in case.signals]
        return {
            "distances": run("distances", lambda _: tuning.distances(events, seed)),
            "scan": run("scan", lambda tell: tuning.scan(events, memory=memory, seed=seed, progress=tell)),
            "times": run("times", lambda tell: tuning.times(events, memory=memory, seed=seed, progress=tell)),
            "widths": [
                quicker._series(f"width-{width:g}", Setting(case.low_level, width), nominal) | {"width": width}
                for width in tuning.WIDTHS
            ],
        }

    def _series(self, name: str, setting: Setting, signals: Sequence[SignalCase]) -> Numbers:
        """A stage of null toys and toys with signals."""
        return self.stages.run(
            name,
            lambda tell: sensitivity(
                self.events,
                setting,
                signals,
                folder=self.toys / name,
                memory=self.memory,
                seed=self.seed,
                progress=tell,
            ),
            setting=asdict(setting),
        )

    def _learned(self, setting: Setting, signal: SignalCase) -> Numbers:
        """A stage with the density ratio that is learned from one toy; it has the null toys of the stage "low"."""
        return self.stages.run(
            f"learned-{signal.name}",
            lambda _: learned_ratio(
                self.events, setting, signal, folder=self.toys / "low", memory=self.memory, seed=self.seed
            ),
        )
