"""`exposure`: how often a search would claim something if the reference were off and nobody told it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from scipy import stats

from lanner._util.progress import begin, shown
from lanner._util.text import text_table
from lanner.comparison.power import counted, search_runner
from lanner.comparison.strengths import LEVELS, Strength, judged, largest_z
from lanner.comparison.table import spread_of_z
from lanner.comparison.tests.kernel import PreparedKernel
from lanner.comparison.toy_pool import NullToys
from lanner.comparison.varied_toys import Varied, VariedToys, events_to_draw
from lanner.errors import InputError
from lanner.events import Sample
from lanner.inference.null import Null
from lanner.inference.plan import needs_trials
from lanner.inference.sequential import AUTO
from lanner.run.execution.local import Executor
from lanner.run.prepare import default_toys, prepare
from lanner.settings import FitKeywords, FitSettings, checked, spelled_out
from lanner.typing import Array, PathLike
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.learn import learn
from lanner.uncertainties.matching import match_uncertainties, weights_of

_ERROR = 0.6827  # the level of the intervals of how often
_DIRECTIONS = (("up", 1.0), ("down", -1.0))


@dataclass(frozen=True)
class Claims:
    """How often a level is reached, with the ends of a Clopper-Pearson interval (68 %).

    Beyond the largest Z that the null can show it is not known how often, but no more than that largest Z is reached.
    """

    fraction: float
    low: float
    high: float
    is_bound: bool = False

    @classmethod
    def of(cls, z: Array, level: float, most: float) -> Claims:
        """Of the Z of some toy data sets."""
        n, k = len(z), int(np.count_nonzero(z >= min(level, most - 1e-9)))
        bound = level > most
        low = float(stats.beta.ppf((1 - _ERROR) / 2, k, n - k + 1)) if k > 0 and not bound else 0.0
        high = float(stats.beta.ppf((1 + _ERROR) / 2, k + 1, n - k)) if k < n else 1.0
        return cls(k / n, low, high, bound)

    def __str__(self) -> str:
        """In per cent.

        >>> print(Claims(0.1, 0.07, 0.14), "or", Claims(0.4, 0.0, 0.45, True))
        10 % (7, 14) or ≤ 40 %
        """
        if self.is_bound and self.fraction:
            return f"≤ {100 * self.fraction:.0f} %"
        return f"{100 * self.fraction:.0f} % ({100 * self.low:.0f}, {100 * self.high:.0f})"


@dataclass(frozen=True, eq=False)
class Exposed:
    """What searches find whose reference is off by one variation."""

    name: str
    direction: str  # "up" or "down"
    growth: float  # the yield over that of the reference
    found: Strength
    most: float  # the largest Z that the law which is quoted can show

    def claims(self, level: float) -> Claims:
        """How often Z reaches a level."""
        return Claims.of(getattr(self.found, f"z_{self.found.best}"), level, self.most)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "name": self.name,
            "direction": self.direction,
            "yield": self.growth,
            "experiments": len(self.found.statistics),
            "z_16_50_84": list(self.found.band()),
            "claims": {f"{level:g} sigma": asdict(self.claims(level)) for level in LEVELS},
        }


@dataclass(frozen=True, eq=False)
class Exposure:
    """How often a search that takes its reference as exact would claim something because of each uncertainty.

    Parameters
    ----------
    null : Null
        The null toys and the laws beside them: those of a search without uncertainties.
    rows : tuple of Exposed
        For each uncertainty, up and down: `name`, `direction`, the `growth` of the yield, what was `found`, and
        `claims(level)`, how often Z reaches a level: `fraction`, and the 68 % interval `low` to `high`.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(8000, 1))
    >>> lumi = lanner.Normalisation("lumi", 0.5)
    >>> found = lanner.exposure(reference, expected=200, uncertainties=[lumi], toys=90, experiments=10)
    >>> [(row.name, row.direction, row.claims(2).fraction) for row in found.rows]
    [('lumi', 'up', 1.0), ('lumi', 'down', 1.0)]
    """

    null: Null
    rows: tuple[Exposed, ...]

    @property
    def most(self) -> float:
        """The largest Z that the law which is quoted can show."""
        return self.rows[0].most

    def to_dict(self) -> dict[str, Any]:
        """The exposure as plain JSON.

        Returns
        -------
        dict
            The number of null toys, the largest Z that can be shown, and every row.
        """
        return {
            "null_toys": len(self.null),
            "largest_z": None if np.isinf(self.most) else self.most,
            "rows": [row.to_dict() for row in self.rows],
        }

    def __str__(self) -> str:
        lines = [["uncertainty", "off by", "yield", "median Z (16 %, 84 %)", *(f"claims {x:g} sigma" for x in LEVELS)]]
        for row in self.rows:
            cells = [row.name, "+1" if row.direction == "up" else "-1", f"{100 * (row.growth - 1):+.2f} %"]
            lines.append([*cells, spread_of_z(row.found.band(), self.most), *(str(row.claims(x)) for x in LEVELS)])
        exact = ", ".join(f"{100 * stats.norm.sf(level):.2g} %" for level in LEVELS)
        return (
            f"How often a search that takes the reference as exact would claim something if it were off by one "
            f"uncertainty\n({len(self.null)} null toys, {len(self.rows[0].found.statistics)} toy data sets each, in "
            f"brackets the 68 % interval; of an exact reference: {exact})\n\n{text_table(lines)}"
        )


@spelled_out
def exposure(
    reference: Any,
    *,
    expected: float,
    uncertainties: Sequence[Uncertainty],
    toys: int | str = AUTO,
    experiments: int = 100,
    output: PathLike | None = None,
    memory: float | str | None = None,
    executor: Executor | str = "local",
    device: str = "cpu",
    progress: Callable[..., None] | bool | None = None,
    **settings: Unpack[FitKeywords],
) -> Exposure:
    """Tell how often a search would claim something if the reference were off by one uncertainty and nobody told it.

    For each uncertainty, up and down, toy data are drawn from the reference at that variation, Poisson(expected times
    the change of the yield) events each, and judged by a search without uncertainties. One that is often claimed has to
    be declared in the search.

    Parameters
    ----------
    reference : array_like, mapping, data frame or Sample
        Events of the reference model, one a row.
    expected : float
        N(0), the number of data events that the reference predicts.
    uncertainties : sequence of Normalisation, Weights, Shifted, Process or KnownRatio
        What the reference may be off by.
    toys : int or "auto", default "auto"
        How many null toys. "auto" makes 1000 of the score statistic, and 300 of fits.
    experiments : int, default 100
        Toy data sets of each uncertainty and direction.
    output : path_like, optional
        A folder in which to keep all toys, from which an interrupted run resumes.
    memory : float or str, optional
        Memory budget in bytes, or a text such as "4 GB". Default: half of what is free.
    executor : {"local", "dask"} or Dask, default "local"
        Who makes the toys; see `search`.
    device : str, default "cpu"
        Where features are kept and multiplied; see `search`.
    progress : callable or bool, optional
        True shows how far the work is, False does not; a function is called with what is being done, how much of it is
        done and how much there is. Default: shown at a terminal and in a notebook.
    <the settings of a fit>

    Returns
    -------
    Exposure
        The null and, for each uncertainty and direction, the significances that a search would report.

    Raises
    ------
    InputError
        If the reference, the uncertainties or the settings cannot be used as they are, or no uncertainty does anything.

    Examples
    --------
    >>> import lanner, numpy as np
    >>> reference = np.random.default_rng(1).exponential(size=(8000, 1))
    >>> lumi = lanner.Normalisation("lumi", 0.5)
    >>> found = lanner.exposure(reference, expected=200, uncertainties=[lumi], toys=90, experiments=10)
    >>> found.rows[0].claims(2).fraction
    1.0
    """
    fit = FitSettings(**settings)
    if fit.null not in (None, "reference"):
        raise InputError(f"null={fit.null!r}: the exposure is that of null='reference'")
    with shown(progress) as told:
        begin(told, "planning")
        job = prepare(reference, expected=expected, settings=fit, memory=memory, device=device, progress=told)
        plan, sample = job.plans[0], job.recipe.reference
        if needs_trials(fit):
            settings = settings | {"penalty": plan.penalty}  # the trials are over
        begin(told, "learning the uncertainties")
        ratios = _ratios(
            uncertainties, sample, expected=plan.expected, units=plan.units, seed=plan.seed, memory=job.memory
        )
        rows = events_to_draw(list(ratios.values()), plan, sample)
        runner = search_runner(
            sample,
            Sample(sample.features[rows], sample.names) if len(rows) else None,
            expected=expected,
            settings=settings,
            output=None if output is None else Path(output),
            memory=memory,
            executor=executor,
            device=device,
            progress=told,
        )
        number = checked("toys", toys)
        number = default_toys(runner.pool.plan) if number == AUTO else number
        experiments = checked("experiments", experiments)
        work = number + experiments * len(ratios)
        with runner:
            runner.progress = counted(told, 0, work)
            made = runner.toys("null", number, NullToys())
            ready = runner.prepared.test
            assert isinstance(ready, PreparedKernel)
            combiner = ready.combiner(made)
            null = combiner.null(ready.ladder, made)
            exposed = []
            for k, ((name, direction), varied) in enumerate(ratios.items()):
                runner.progress = counted(told, number + k * experiments, work)
                kind = _toys_of(varied, plan.expected, rows, stream=zlib.crc32(f"{name} {direction}".encode()))
                found = runner.toys(_folder(name, direction), experiments, kind)
                strength = judged(kind.mean, combiner.statistic(found.statistics), null)
                exposed.append(Exposed(name, direction, varied.growth, strength, largest_z(null, strength.best)))
    return Exposure(null, tuple(exposed))


def _ratios(
    uncertainties: Sequence[Uncertainty], reference: Sample, *, expected: float, units: Any, seed: int, memory: int
) -> dict[tuple[str, str], Varied]:
    """The ratio of each variation, up and down."""
    left = match_uncertainties(uncertainties, reference)
    if not left:
        raise InputError("there is no uncertainty that does something: give uncertainties=[lanner.Normalisation(...)]")
    learned = learn(left, reference, expected=expected, scaling=units, seed=seed, memory=memory)
    effects, weights = learned.nuisances.of(reference.features), weights_of(reference)
    return {
        (name, direction): Varied.of(effect.at(nu)[0], weights)
        for name, effect in zip(learned.nuisances.names, effects.each, strict=True)
        for direction, nu in _DIRECTIONS
    }


def _toys_of(varied: Varied, expected: float, rows: Any, *, stream: int) -> VariedToys:
    mean, excess = varied.mean(expected), varied.excess[rows]
    if mean == 0 or not excess.any():
        return VariedToys(stream, expected * varied.growth, 0.0, np.empty(0))
    return VariedToys(stream, expected * varied.least, mean, excess / excess.sum())


def _folder(name: str, direction: str) -> str:
    """Where the toys of a variation are kept: a name that any disk can have."""
    return f"exposure-{re.sub(r'[^A-Za-z0-9]+', '-', name)[:40]}-{zlib.crc32(name.encode()):08x}-{direction}"
