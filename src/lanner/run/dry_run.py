"""`dry_run`: what a search, a calibration or a study of power would do, and about what it would take, without doing it.

The plan is made as a search makes it, and the pivots of every width are chosen, so ranks are the real ones. Then the
steps of docs/engine.md are added up, with the speed of this machine at kernel values, whitening, products and
eigenvalue problems, each measured for a moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np
from scipy import sparse

from lanner._util.machine import megabytes
from lanner._util.progress import begin, shown
from lanner._util.text import as_html, as_text, count
from lanner.events.scaled_rows import ScaledRows
from lanner.inference.combination import AUTO_MAP_TOYS
from lanner.inference.experiment import basis_of, candidates_of
from lanner.inference.plan import EventGenerator, Plan
from lanner.inference.sequential import AUTO, FIRST
from lanner.model.kernel import GaussianKernel, KernelColumns
from lanner.model.nystrom import choose_pivots
from lanner.model.parallel import for_rows
from lanner.model.score_pool import GATHER
from lanner.model.splits import Splits
from lanner.model.summing import Whitened, moment_events, reach_columns
from lanner.run.expected_error import with_expected_error
from lanner.run.prepare import Job, prepare
from lanner.run.uncertain_dry_run import Learning, planned_learning
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.uncertainties.declared import Uncertainty

_ROWS, _RANK, _EIGEN = 2048, 500, 300  # of the products and eigenvalue problems that are timed
_BASE = 300e6  # bytes of Python and its libraries
_REPORT = 4.0  # seconds for the result and its report
_PASSES = 9  # over the events, of a fit
_TOY = 8e-5  # seconds of a toy beside its products


@dataclass(frozen=True)
class DryRun:
    """What would be done, and what it would take on this machine, to about a factor of 2.

    Parameters
    ----------
    features : tuple of str
        The features that would be used.
    settings : tuple of (str, str)
        What would be chosen, and why.
    ranks : tuple of (float, int)
        The widths, and how many directions each has.
    toys : tuple of (int, int)
        The fewest and the most null toys; the same where their number is fixed.
    prepare_seconds : float
        Seconds before the first toy.
    toy_seconds : float
        Seconds of one toy.
    memory : float
        Bytes at most.
    uncertainties : tuple of (str, str)
        The uncertainties that would be in, and what each is.
    learning_seconds : float
        Seconds to learn them, part of those before the first toy.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> lanner.dry_run(reference, expected=200, toys=90).toys
    (90, 90)
    """

    features: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    ranks: tuple[tuple[float, int], ...]
    toys: tuple[int, int]
    prepare_seconds: float
    toy_seconds: float
    memory: float
    uncertainties: tuple[tuple[str, str], ...] = ()
    learning_seconds: float = 0.0

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds of the whole, with the fewest and with the most toys."""
        fewest, most = (self.prepare_seconds + n * self.toy_seconds + _REPORT for n in self.toys)
        return fewest, most

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON.

        Returns
        -------
        dict
            The fields, and the seconds of the whole.
        """
        return asdict(self) | {"seconds": self.seconds}

    def __str__(self) -> str:
        return as_text("A dry run: nothing was computed", self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html("A dry run: nothing was computed", self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        (fewest, most), (least, longest) = self.toys, self.seconds
        toys, time_needed = count(fewest, "toy"), _clock(least)
        if most > fewest:
            toys += f" if the data are unremarkable, {most} at most"
            time_needed += f", {_clock(longest)} at most"
        widths = ", ".join(f"{width:.3g} (rank {rank})" for width, rank in self.ranks)
        uncertain = [("uncertainties", "; ".join(f"{name}: {words}" for name, words in self.uncertainties) or "none")]
        if self.learning_seconds:
            uncertain.append(("learning them", f"about {_clock(self.learning_seconds)}"))
        return [
            ("features", ", ".join(self.features)),
            ("widths", widths),
            *self.settings,
            *uncertain,
            ("toys", toys),
            ("time on this machine", f"about {time_needed}: {_clock(self.prepare_seconds)} before the first toy"),
            ("memory", f"about {megabytes(self.memory)}"),
        ]


@spelled_out
def dry_run(
    reference: Any,
    data: Any = None,
    *,
    expected: float | str | None,
    toys: int | str = AUTO,
    uncertainties: Sequence[Uncertainty] = (),
    generator: EventGenerator | None = None,
    memory: float | str | None = None,
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> DryRun:
    """Tell what a search (or, without data, a calibration) would do, and about how long it would take here.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    data : array_like, mapping, data frame or Sample, optional
        The measured events.
    expected : float, "weights" or None
        N(0), the number of data events that the reference predicts; see `search`.
    toys : int or "auto", default "auto"
        How many null toys; see `search`.
    uncertainties : sequence of Normalisation, Weights, Shifted, Process or KnownRatio, optional
        Systematic uncertainties of the reference; see `search`.
    generator : callable, optional
        A function (n, rng) that returns n events of the reference model; see `search`.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`. Times are those of the CPU.
    progress : callable or bool, optional
        Called with what is being done, how much of it is done and how much there is; see `search`.
    <the settings of a fit>

    Returns
    -------
    DryRun
        What would be done, with time and memory.

    Raises
    ------
    InputError
        If the samples or settings cannot be used as they are.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(4000, 1))
    >>> lanner.dry_run(reference, expected=200, toys=90).seconds[0] > 0
    True
    """
    with shown(progress) as told:
        begin(told, "planning")
        expected, uncertainties = with_expected_error(expected, reference, uncertainties)
        job = prepare(
            reference,
            data,
            expected=expected,
            settings=FitSettings(**settings),
            memory=memory,
            device=device,
            generator=generator,
            uncertain=bool(uncertainties),
            progress=told,
        )
        learning = planned_learning(job, uncertainties)
        begin(told, "choosing pivots")
        return estimate(job, checked("toys", toys), learning)


def estimate(job: Job, toys: int | str, learning: Learning) -> DryRun:
    """What a run that can start would take."""
    recipe, plan = job.recipe, job.plans[0]
    samples = [recipe.reference] if recipe.data is None else [recipe.reference, recipe.data]
    events = ScaledRows(tuple(s.features for s in samples), plan.units)
    machine = _Machine.measured(len(plan.units.scaled_names))
    seconds, toy_seconds, held, work = 0.3, _TOY, 0.0, 0.0
    ranks = []
    for width, of_width in _by_width(job.plans).items():
        start = time.perf_counter()
        candidates, _ = candidates_of(of_width, recipe.reference, events, recipe.make_events)
        rank = basis_of(of_width, candidates, job.memory).rank
        ranks.append((width, rank))
        cost = _Cost.of(of_width, len(recipe.reference), 0 if recipe.data is None else len(recipe.data), rank, machine)
        seconds += time.perf_counter() - start + cost.prepare
        toy_seconds += cost.toy
        held, work = held + cost.held, max(work, cost.work)
    fewest, most = _numbers(job, toys)
    learning_seconds = learning.kernel_values * machine.kernel
    own = sum(s.features.nbytes for s in samples)
    return DryRun(
        plan.names,
        tuple((c.setting, f"{c.value}: {c.reason}") for c in plan.chosen if c.setting != "widths"),
        tuple(ranks),
        (fewest, most),
        seconds + learning_seconds,
        toy_seconds,
        _BASE + own + max(held + work, learning.memory),
        learning.words,
        learning_seconds,
    )


def _by_width(plans: tuple[Plan, ...]) -> dict[float, Plan]:
    """The plan with the smallest penalty of each width, whose features serve the others."""
    return {p.width: p for p in sorted(plans, key=lambda p: (p.width, -p.penalty))}


def _numbers(job: Job, toys: int | str) -> tuple[int, int]:
    """The fewest and the most toys."""
    stopping = job.stopping()
    if toys != AUTO:
        return int(toys), int(toys)
    if stopping is None:
        return job.toys, job.toys
    maps = AUTO_MAP_TOYS if len(job.plans) > 1 else 0
    return maps + FIRST, maps + stopping.toys


@dataclass(frozen=True)
class _Machine:
    """Seconds of one operation, on all cores."""

    kernel: float  # of an event and a pivot
    whiten: float  # of an event and a pair of directions
    product: float  # the same in single precision
    gather: float  # of a row and a direction of a toy
    eigen: float  # of three directions

    @classmethod
    def measured(cls, dimensions: int) -> _Machine:
        rng = np.random.default_rng(0)
        x, pivots = rng.standard_normal((_ROWS, dimensions)), rng.standard_normal((_RANK, dimensions))
        kernel = GaussianKernel(float(dimensions**0.5))
        columns = KernelColumns.of(kernel, pivots)
        basis = choose_pivots(pivots, kernel, trace_error=0.0, max_rank=_RANK, rng=rng)
        whitened, block, rank = Whitened.of(basis), columns(x), basis.rank
        phi = rng.standard_normal((_ROWS, _RANK)).astype(np.float32)
        taken = sparse.random_array((64, _ROWS), density=0.2, rng=rng, format="csr", dtype=np.float32)
        symmetric = rng.standard_normal((_EIGEN, _EIGEN))
        symmetric = symmetric + symmetric.T
        parts = 8 * _ROWS  # so that every core has its share

        def on_all_cores(do: Callable[[], Any]) -> Callable[[], None]:
            return lambda: for_rows(parts, _ROWS, lambda _: do())

        return cls(
            kernel=_seconds(on_all_cores(lambda: columns(x))) / (parts * _RANK),
            whiten=_seconds(on_all_cores(lambda: whitened.phi(block[:, :rank]))) / (parts * rank**2),
            product=_seconds(lambda: phi.T @ phi) / (_ROWS * _RANK**2),
            gather=_seconds(on_all_cores(lambda: taken @ phi)) / (8 * taken.nnz * _RANK),
            eigen=_seconds(lambda: np.linalg.eigh(symmetric)) / _EIGEN**3,
        )


def _seconds(do: Callable[[], Any]) -> float:
    """The shortest of some tries."""
    do()
    tries = []
    for _ in range(3):
        start = time.perf_counter()
        do()
        tries.append(time.perf_counter() - start)
    return min(tries)


@dataclass(frozen=True)
class _Cost:
    """What one width takes: seconds before the first toy and of a toy, bytes that stay and that do not."""

    prepare: float
    toy: float
    held: float
    work: float

    @classmethod
    def of(cls, plan: Plan, reference: int, data: int, rank: int, m: _Machine) -> _Cost:
        pooled = plan.null == "permutation"
        n = reference + (data if pooled else 0)
        if plan.statistic != "score":
            every = n + data
            return cls(
                prepare=every * rank * (m.kernel + rank * (m.whiten + m.product)) + rank**3 * m.eigen,
                toy=2 * _PASSES * every * rank * 2 * m.product,
                held=4.0 * every * rank,
                work=8.0 * 6 * rank**2,
            )
        rows = n / plan.bunch
        splits = 1 if plan.moment_blocks is None else Splits(np.empty(0, np.int8), plan.moment_blocks).number
        some = min(n, moment_events(rank))
        prepare_seconds = (
            (n + data) * (rank * m.kernel + reach_columns(n, rank) ** 2 * m.whiten)
            + rows * rank**2 * m.whiten
            + some * (0 if plan.bunch == 1 else rank * m.kernel + rank**2 * m.whiten)
            + some * rank**2 * m.product
            + (splits + 1) * rank**3 * m.eigen
        )
        taken = plan.expected / plan.bunch
        product = taken * m.gather if plan.expected < GATHER * n else rows * m.product
        return cls(
            prepare=prepare_seconds,
            toy=rank * (product + 6 * rank * m.product + 2e-8),
            held=4.0 * rows * rank + 8.0 * rank**2 * (2 + splits),
            work=8.0 * 6 * rank**2 + 16.0 * 16384 * rank,
        )


def _clock(seconds: float) -> str:
    """Words for a time."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.0f} days"
