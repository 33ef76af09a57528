"""`RunSettings`: what only a whole run needs beside the settings of its fits: files, toys, workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from lanner._util.text import nearest_hint
from lanner._util.values import Choice, Declared, Flag, Names, Number, Numbers, Text, setting
from lanner.errors import UnknownSettingError
from lanner.settings.fit import FitKeywords, FitSettings
from lanner.settings.uncertain import DeclaredUncertainty, Uncertainties

EXPECTED = Number(least=1e-6, most=1e15, words=("observed", "weights"), such_as="20000")  # nobody means others


@dataclass(frozen=True, kw_only=True)
class RunSettings(FitSettings):
    """All that a run can be told: what the command line has flags for, and a configuration file keys."""

    analysis: str | None = setting(
        None, Text("FILE"), "An analysis file: simulated samples, data, features, selection (lanner init)."
    )
    reference: tuple[str, ...] | None = setting(
        None, Names(path=True), "Reference sample: FILE, FILE.root:TREE, or a glob."
    )
    data: tuple[str, ...] | None = setting(None, Names(path=True), "Data sample.")
    signal: tuple[str, ...] | None = setting(None, Names(path=True), "Signal sample to inject.")
    output: str | None = setting(None, Text("DIR"), "Folder for all that is written.")
    features: tuple[str, ...] | None = setting(
        None,
        Names(some=True),
        "Columns or formulas to test.",
        "all columns of numbers but identifiers, weights and labels",
    )
    weight: str | None = setting(None, Text("COLUMN"), "Column of event weights in the reference.")
    where: str | None = setting(None, Text("EXPR"), 'Selection for all samples, such as "mll > 100 and pt1 > 20".')
    extra: tuple[str, ...] = setting(
        (), Names(repeated=True), "A variable for the plots that the fit does not use; may be given several times."
    )
    blind: bool = setting(
        False,
        Flag(),
        "Do all that needs no data and show what may be found; of the data only the names of their columns are read. "
        "Then: lanner unblind.",
    )
    spread: bool = setting(
        False,
        Flag(),
        "Leave the reference in its files, for one that is larger than memory: Dask workers, or this process, read it "
        "part by part.",
    )
    drop_nan: bool = setting(False, Flag(), "Drop rows with missing values instead of refusing them.")
    uncertainties: tuple[DeclaredUncertainty, ...] = setting(
        (), Uncertainties(), "Systematic uncertainties of the reference, each under its name.", "none"
    )
    expected: float | str | None = setting(
        None,
        EXPECTED,
        "Data events that the reference predicts; 'weights': the sum of its weights; 'observed' tests the shape alone.",
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
    batches: tuple[str, ...] | None = setting(
        None, Names(path=True), "Monitor: files of batches, or a glob; each is a batch, unless they are split."
    )
    follow: str | None = setting(None, Text("DIR"), "Monitor: a folder, or a glob, whose new files are batches.")
    by: tuple[str, ...] | None = setting(
        None, Names(some=True), "Monitor: split events by the values of a column, or of run and luminosity section."
    )
    size: int | None = setting(None, Number(whole=True, least=8), "Monitor: split events into batches of so many.")
    sort: bool = setting(False, Flag(), "Monitor: batches of --by in the order of their values, not of the events.")
    good: tuple[str, ...] | None = setting(
        None,
        Names(path=True),
        "Monitor: files of batches that are known to be good, split as batches are: how they differ is no alarm.",
    )
    rates: str | None = setting(
        None,
        Text("FILE|COLUMN"),
        "Monitor: how many events are expected in each batch: a CSV or JSON file of names and numbers, or a column.",
    )
    rate: float = setting(1.0, Number(above=0, most=1e15), "Monitor: expected events for each unit of --rates.", "1")
    poll: float = setting(5.0, Number(least=0.01, most=86400), "Monitor: seconds between two looks at --follow.", "5")
    idle: float | None = setting(
        None, Number(above=0, most=1e9), "Monitor: end when nothing new has come for so many seconds.", "never"
    )
    batch: float | None = setting(
        None,
        Number(least=8, most=1e9, such_as="500"),
        "Monitor: events of a typical batch.",
        "--size, where it is given",
    )
    run_length: float = setting(
        1000.0, Number(least=10, most=1e6), "Monitor: batches between two false alarms of each kind.", "1000"
    )
    windows: tuple[int, ...] = setting(
        (2, 4, 8), Numbers(whole=True, least=2), "Monitor: how many of the last batches are judged together.", "2,4,8"
    )
    false_discoveries: float = setting(
        0.05, Number(above=0, below=1), "Monitor: the share of false ones in the list of flagged batches.", "0.05"
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
    workers: int | None = setting(
        None, Number(whole=True, least=1), "Dask: how many processes here.", "one for each core"
    )
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
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}
        if "uncertainties" in plain:
            plain["uncertainties"] = {one.name: one.to_dict() for one in plain["uncertainties"]}
        return plain


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
