"""Settings: each is declared here once, with its type, its default, its check and its words.

`FitSettings` says how every fit of a run is made; `search`, `calibrate`, `power` and `tune` take its settings as
keyword arguments (`FitKeywords`). `RunSettings` adds what only a whole run needs: files, toys, workers. The flags of
the command line, the keys of a configuration file and the documented parameters are made from these declarations.

To add a setting: a field of `FitSettings` and of `FitKeywords`, and the line of code that obeys it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, TypeVar, get_type_hints

from lanner._util.out_of_memory import plain_memory_errors
from lanner._util.text import nearest_hint
from lanner._util.values import Choice, Declared, Flag, Names, Number, Numbers, Text, setting
from lanner.errors import InputError, UnknownSettingError

# Beyond so many directions a fit costs more than the last ones are worth, and the score finds no more (docs/engine.md).
MAX_RANK = {"score": 1000, "likelihood-ratio": 4000}
# What the Newton decrement may be at the end of a fit: the error of t is below 2 sqrt(t) times that, so 1e-3 is
# 0.15 % of the spread sqrt(2 dof) of t. Double precision can do better at little cost; Falkon, whose centres
# are not thinned, is held back by the rounding in an ill-conditioned kernel matrix.
TOLERANCE = {"single": 1e-3, "double": 1e-7, "falkon": 1e-3}
# Beyond these, powers of the eigenvalues are no doubles any more; nobody means such numbers.
PENALTY = Number(least=1e-30, most=1e30, such_as="1e-6")
EXPECTED = Number(least=1e-6, most=1e15, words=("observed",), such_as="20000")


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
        None, PENALTY, "Weight of the regularisation.", "several; of fits one, with a width the smallest stable one"
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
                object.__setattr__(self, f.name, checked(f.name, getattr(self, f.name)))
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


@dataclass(frozen=True, kw_only=True)
class RunSettings(FitSettings):
    """All that a run can be told: what the command line has flags for, and a configuration file keys."""

    reference: tuple[str, ...] | None = setting(
        None, Names(path=True), "Reference sample: FILE, FILE.root:TREE, or a glob."
    )
    data: tuple[str, ...] | None = setting(None, Names(path=True), "Data sample.")
    signal: tuple[str, ...] | None = setting(None, Names(path=True), "Signal sample to inject.")
    output: str | None = setting(None, Text("DIR"), "Folder for all that is written.")
    features: tuple[str, ...] | None = setting(
        None, Names(some=True), "Columns or formulas to test.", "all numeric columns of the reference"
    )
    weight: str | None = setting(None, Text("COLUMN"), "Column of event weights in the reference.")
    where: str | None = setting(None, Text("EXPR"), 'Selection for all samples, such as "mll > 100 and pt1 > 20".')
    extra: tuple[str, ...] = setting(
        (), Names(repeated=True), "A variable for the plots that the fit does not use; may be given several times."
    )
    drop_nan: bool = setting(False, Flag(), "Drop rows with missing values instead of refusing them.")
    expected: float | str | None = setting(
        None, EXPECTED, "Data events that the reference predicts; 'observed' tests the shape alone."
    )
    toys: int | str = setting(
        "auto",
        Number(whole=True, least=1, words=("auto",), such_as="300"),
        "Null toys; auto makes as many as it takes to know the p-value.",
        "auto",
    )
    until_z: float | None = setting(
        None, Number(above=0, most=6, such_as="4"), "Make toys until a p-value of so many sigma is known."
    )
    p_precision: float = setting(
        0.3, Number(least=0.01, most=1, such_as="0.3"), "Relative precision of that p-value.", "0.3"
    )
    memory: str | float | None = setting(
        None, Text("SIZE", numbers=True), "Memory budget, such as '4 GB'.", "half of what is free"
    )
    signal_events: tuple[float, ...] | None = setting(None, Numbers(), "Mean numbers of signal events to try.")
    signal_alone: bool = setting(
        False,
        Flag(),
        "The signal is a model of all data: toy data are drawn from it alone, not added to the reference.",
    )
    experiments: int = setting(100, Number(whole=True, least=1), "Toy data sets per signal and strength.", "100")
    tests: tuple[str, ...] | None = setting(
        None, Names(some=True), "Tests to compare; --list names them.", "all but the slow ones"
    )
    hidden: tuple[int, ...] | None = setting(
        None, Numbers(whole=True, least=1), "Network: units of each hidden layer.", "4"
    )
    clip: float | None = setting(None, Number(above=0), "Network: bound on its parameters.", "tuned on the reference")
    optimiser: str = setting(
        "newton", Choice("newton", "adam"), "Network: adam is the original's and needs 1e5 epochs.", "newton"
    )
    epochs: int | None = setting(None, Number(whole=True, least=1), "Network: at most so many.", "until t has settled")
    starts: int | None = setting(
        None, Number(whole=True, least=1), "Network: trainings, of which the best counts.", "3, with adam 1"
    )
    device: str = setting("cpu", Text("NAME"), "Where to compute: cpu, torch (on the CPU), cuda or cuda:1.", "cpu")
    executor: str | None = setting(
        None, Choice("local", "dask"), "Who makes the toys: this process, or Dask workers.", "local"
    )
    scheduler: str | None = setting(None, Text("ADDRESS"), "Dask: a running scheduler.", "processes here")
    workers: int | None = setting(None, Number(whole=True, least=1), "Dask: how many processes here.", "one per core")
    threads: int | None = setting(
        None, Number(whole=True, least=1), "Dask: threads of each worker.", "its share of the cores"
    )
    tls_ca: str | None = setting(None, Text("FILE"), "Dask: PEM file of the authority that signed the scheduler's key.")
    tls_cert: str | None = setting(None, Text("FILE"), "Dask: PEM file of your certificate.")
    tls_key: str | None = setting(None, Text("FILE"), "Dask: PEM file of your key.")
    given: frozenset[str] = frozenset()  # the names of those that somebody gave

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> RunSettings:
        """The settings that somebody gave, by name; the others are at their defaults."""
        for name in settings:
            check_known(name)
        return cls(**settings, given=frozenset(settings))

    def fit_keywords(self) -> FitKeywords:
        """The settings that `search`, `calibrate`, `power` and `tune` take as keyword arguments."""
        return {name: getattr(self, name) for name in FIT_KEYWORDS}  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """The settings that are not at their defaults, as plain YAML."""
        plain = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name in DECLARED and getattr(self, f.name) != f.default
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


DECLARED: Mapping[str, Declared] = {
    f.name: f.metadata["declared"] for f in fields(RunSettings) if "declared" in f.metadata
}
FIT_KEYWORDS = tuple(FitKeywords.__annotations__)
FIT_ONLY = ("newton_steps", "solver", "tolerance")  # mean nothing for the score statistic, which needs no fit


def checked(name: str, value: Any) -> Any:
    """A value of a setting in its own type, or an `InputError` that says what to give.

    >>> checked("toys", 300.0)
    300
    """
    return None if value is None else DECLARED[name].kind.checked(name, value)


def check_known(name: str) -> None:
    """Refuse what is no setting of a run, and offer the nearest."""
    known = [one for one in DECLARED if one != "solver"]  # which only a fit on its own lets one choose
    if name not in known:
        raise UnknownSettingError(f"{name!r} is not a setting{nearest_hint(name, known)}")


F = TypeVar("F", bound=Callable[..., Any])
_HERE = "<the settings of a fit>"  # where a docstring has them


def spelled_out(function: F) -> F:
    """Let a function that takes `**settings: Unpack[FitKeywords]` look as if it named each of them.

    They stand in its signature and, where its docstring has "<the settings of a fit>", in its documentation. A keyword
    that is misspelt gets an error that offers the nearest, also of a function without such settings.
    """
    own = inspect.signature(function)
    parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    if len(parameters) < len(own.parameters):
        defaults, hints = {f.name: f.default for f in fields(FitSettings)}, get_type_hints(FitKeywords)
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hints[name])
            for name in FIT_KEYWORDS
        ]
    known = {p.name for p in parameters}

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                raise UnknownSettingError(f"{function.__name__} has no argument {name!r}{nearest_hint(name, known)}")
        if isinstance(keywords.get("output"), str):
            checked("output", keywords["output"])  # without a name it would be the folder that one happens to be in
        with plain_memory_errors():
            return function(*args, **keywords)

    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    if called.__doc__ is not None:
        called.__doc__ = called.__doc__.replace(_HERE, _documented().strip())
    return called  # type: ignore[return-value]


def _documented(indent: str = "    ") -> str:
    """The settings of a fit as entries of a numpydoc section."""
    lines = []
    for name in FIT_KEYWORDS:
        declared = DECLARED[name]
        unset = f" Default: {declared.unset}." if declared.unset else ""
        lines += [f"{indent}{name} : {declared.kind.described()}, optional", f"{indent}    {declared.help}{unset}"]
    return "\n".join(lines)
