"""`FitSettings`: how every fit of a run is made. `search`, `calibrate`, `power` and `tune` take these as keywords."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TypedDict

from lanner._util.values import Choice, Names, Number, setting
from lanner.errors import InputError

# Beyond so many directions a fit costs more than the last ones are worth, and the score finds no more (docs/engine.md).
MAX_RANK = {"score": 1000, "likelihood-ratio": 4000}
# What the Newton decrement may be at the end of a fit: the error of t is below 2 sqrt(t) times that, so 1e-3 is
# 0.15 % of the spread sqrt(2 dof) of t. Double precision can do better at little cost; Falkon, whose centres
# are not thinned, is held back by the rounding in an ill-conditioned kernel matrix.
TOLERANCE = {"single": 1e-3, "double": 1e-7, "falkon": 1e-3}


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """How every fit of a run is made, a toy's or the data's. None: chosen from the reference.

    Every value is checked when it is set; one that cannot be used raises an `InputError` that says what to give.

    >>> FitSettings(width=0.3, newton_steps=1).newton_steps
    1
    """

    null: str | None = setting(
        None,
        Choice("reference", "permutation", "generator"),
        "Where toys come from: the reference; reference and data together, relabelled; or a generator of events.",
        "the reference, or a permutation where it has less than 20 events for each one expected",
    )
    statistic: str | None = setting(
        None,
        Choice("likelihood-ratio", "score"),
        "Test statistic: the likelihood ratio t of the paper, or the score, t to second order, which needs no fit.",
        "the score; with a width the likelihood ratio",
    )
    combination: str = setting(
        "harmonic",
        Choice("harmonic", "smallest", "product", "average"),
        "How the p-values of several scales become one.",
        "their harmonic mean",
    )
    width: float | str | None = setting(
        None,
        Number(above=0, words=("auto",), such_as="0.3"),
        "Width of the Gaussian kernel, for a single scale, the paper's mode; 'auto': one from the reference.",
        "several widths",
    )
    penalty: float | None = setting(
        None,
        Number(above=0, such_as="1e-6"),
        "Weight of the regularisation.",
        "several; of the likelihood ratio one, with a width the smallest stable one",
    )
    centers: int | None = setting(
        None, Number(whole=True, least=1), "Candidate centres of the kernel.", "about 10 sqrt(n)"
    )
    reference_size: int | None = setting(
        None,
        Number(whole=True, least=2),
        "Reference events of each fit.",
        "all, less the room for a toy's data",
        label="reference events of each fit",
    )
    newton_steps: int | None = setting(
        None, Number(whole=True, least=1), "Newton steps of each fit; 1 is the paper's mode.", "to convergence"
    )
    loss: str = setting("logistic", Choice("logistic", "extended"), "Loss of the fit.", "logistic")
    solver: str = setting("newton", Choice("newton", "falkon"), "Solver of the fit.", "newton")
    scaling: str | None = setting(
        "robust",
        Choice("robust", "standard", "authors", none=True),
        "Scaling, learned on the reference; robust: median and central 68 % interval, standard: mean and deviation.",
        "robust",
    )
    missing: str = setting(
        "auto",
        Choice("auto", "keep"),
        "Values such as -999 that many rows share far from all others: missing, with an indicator, or kept as numbers.",
        "auto",
        label="missing values",
    )
    periodic: Sequence[str] = setting((), Names(), "Angles, each NAME or NAME=PERIOD: their ends are joined.", "none")
    precision: str = setting(
        "single", Choice("single", "double"), "Precision of stored features; sums are always double.", "single"
    )
    tolerance: float | None = setting(
        None,
        Number(above=0, such_as="1e-3"),
        "Newton decrement at which a fit has converged.",
        "1e-3 in single precision, 1e-7 in double",
    )
    trace_error: float | None = setting(
        None,
        Number(least=0, below=1, such_as="1e-4"),
        "Part of the kernel to leave out.",
        "what the penalty makes harmless",
        label="part of the kernel left out",
    )
    max_rank: int | None = setting(
        None,
        Number(whole=True, least=1),
        "Largest rank of the features: more directions cost time and memory, and buy less and less.",
        f"{MAX_RANK['score']}; of fits {MAX_RANK['likelihood-ratio']}",
        label="largest rank of the features",
    )
    seed: int = setting(0, Number(whole=True, least=0), "One seed, from which all random numbers follow.", "0")

    def __post_init__(self) -> None:
        for f in fields(self):
            if "declared" in f.metadata:
                value, kind = getattr(self, f.name), f.metadata["declared"].kind
                object.__setattr__(self, f.name, None if value is None else kind.checked(f.name, value))
        if self.statistic == "score" and self.solver != "newton":
            raise InputError(
                f"statistic='score' needs no solver, and solver={self.solver!r} has no eigenvalues: leave it out"
            )

    @property
    def chosen_max_rank(self) -> int:
        """The largest rank that was given, or what a score or a fit takes."""
        return self.max_rank or MAX_RANK[self.chosen_statistic]

    @property
    def chosen_statistic(self) -> str:
        """The statistic that was given, or the score where widths are left open and the likelihood ratio with one."""
        chosen = self.statistic or ("score" if self.width is None else "likelihood-ratio")
        if chosen == "score" and self.newton_steps is not None:
            raise InputError(
                f"newton_steps={self.newton_steps!r}: the score statistic needs no fit; leave it out, or choose "
                "statistic='likelihood-ratio'"
            )
        return chosen

    @property
    def converges(self) -> bool:
        """Whether fits go on until they have converged, and are not stopped after some Newton steps."""
        return self.newton_steps is None

    @property
    def goal(self) -> float:
        """The Newton decrement at which a fit has converged."""
        return (
            TOLERANCE["falkon" if self.solver == "falkon" else self.precision]
            if self.tolerance is None
            else self.tolerance
        )

    def one_step(self) -> FitSettings:
        """The same with a single Newton step."""
        return replace(self, newton_steps=1)


class FitKeywords(TypedDict, total=False):
    """The settings of a fit as keyword arguments of `search`, `calibrate`, `power` and `tune`."""

    null: str | None
    statistic: str | None
    combination: str
    width: float | str | None
    penalty: float | None
    centers: int | None
    reference_size: int | None
    newton_steps: int | None
    loss: str
    scaling: str | None
    missing: str
    periodic: Sequence[str]
    precision: str
    tolerance: float | None
    trace_error: float | None
    max_rank: int | None
    seed: int
