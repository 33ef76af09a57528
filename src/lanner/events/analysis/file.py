r"""Reads an analysis file: YAML, every key known, and errors that name the file, the line and the key.

    luminosity: 59.8                     # fb^-1
    samples:
      dy:
        files: mc/dy_*.root:Events
        process: Drell-Yan
        cross_section: 6077.2            # pb
        sum_of_weights: 1.2e9            # of all events generated; or the column to sum over the files
        weights: [genWeight, puWeight]
    data: data/*.root:Events
    features:
      mll: {formula: "sqrt(2*pt1*pt2*(cosh(eta1-eta2)-cos(phi1-phi2)))", label: "$m_{\\ell\\ell}$", unit: GeV}
      phi1: {periodic: true}
    selection: pt1 > 20 && pt2 > 20
    regions:
      barrel: abs(eta1) < 1.2 && abs(eta2) < 1.2
      high_mass: mll > 200
    uncertainties:
      cross-section: {process: Drell-Yan, size: 0.06}
    settings: {toys: auto, seed: 1}

`analysis.schema.json` beside this file says the same for editors.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from lanner._util.regular import text_of_settings
from lanner._util.yaml_file import load_yaml_lines
from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile, Feature, Simulated
from lanner.events.analysis.uncertain import read_uncertainties
from lanner.events.expressions import Expression
from lanner.events.regions import check_names
from lanner.typing import PathLike

_TURN = 2 * math.pi
_KEYS = ("luminosity", "samples", "data", "features", "selection", "regions", "uncertainties", "settings")
_OF_SAMPLE = ("files", "process", "cross_section", "sum_of_weights", "weights")
_OF_FEATURE = ("formula", "label", "unit", "periodic")


def read_analysis_file(path: PathLike) -> AnalysisFile:
    """Read an analysis file.

    Parameters
    ----------
    path : path_like
        A YAML file; `lanner init` writes one to fill in.

    Returns
    -------
    AnalysisFile
        What it says, checked. Paths of samples are relative to the file.

    Raises
    ------
    InputError
        If the file cannot be read, or says what cannot be meant; the message names the line and the key.
    """
    path = Path(path)
    try:
        text = text_of_settings(path, "analysis file")
    except FileNotFoundError as error:
        raise InputError(f"analysis file {path} cannot be read: {error}") from None
    found, lines = load_yaml_lines(path, text)
    return _Reader(path, lines).analysis(found)


class _Reader:
    """Turns what YAML gives into an `AnalysisFile`, or says in which line it cannot."""

    def __init__(self, path: Path, lines: dict[tuple[Any, ...], int]) -> None:
        self.path, self.lines = path, lines

    def analysis(self, found: Any) -> AnalysisFile:
        top = self.mapping(found, (), _KEYS, needed=("samples", "features"))
        samples = tuple(
            self.sample(str(name), entry) for name, entry in self.mapping(top["samples"], ("samples",)).items()
        )
        luminosity = None if top.get("luminosity") is None else self.positive(top["luminosity"], ("luminosity",))
        for one in samples:
            self.check_scale(one, luminosity)
        settings = {str(k): v for k, v in self.mapping(top.get("settings") or {}, ("settings",), needed=None).items()}
        if "uncertainties" in settings:
            self.fail(("settings", "uncertainties"), "give them as uncertainties of the analysis, beside its settings")
        uncertain = top.get("uncertainties")
        return AnalysisFile(
            self.path,
            samples,
            self.files(top["data"], ("data",)) if top.get("data") is not None else (),
            self.features(top["features"]),
            None if top.get("selection") is None else self.text(top["selection"], ("selection",)),
            self.regions(top.get("regions")),
            luminosity,
            settings,
            () if uncertain is None else read_uncertainties(self, uncertain, samples),
            self.lines,
        )

    def sample(self, name: str, entry: Any) -> Simulated:
        here = ("samples", name)
        given = self.mapping(entry, here, _OF_SAMPLE, needed=("files",))
        weights = given.get("weights") or ()
        weights = (weights,) if isinstance(weights, str) else weights
        if not isinstance(weights, list | tuple):
            self.fail((*here, "weights"), "give a column, or a list of them")
        total = given.get("sum_of_weights")
        if total is not None and not isinstance(total, str):
            total = self.positive(total, (*here, "sum_of_weights"))
        section = given.get("cross_section")
        return Simulated(
            name,
            self.files(given["files"], (*here, "files")),
            self.text(given.get("process", name), (*here, "process")),
            tuple(self.text(one, (*here, "weights", k)) for k, one in enumerate(weights)),
            None if section is None else self.positive(section, (*here, "cross_section")),
            total,
        )

    def check_scale(self, one: Simulated, luminosity: float | None) -> None:
        """Refuse a sample that is half scaled: the events expected of it could not be told."""
        here = ("samples", one.name)
        if luminosity is not None and one.cross_section is None:
            self.fail(
                here, "has no cross_section, but a luminosity is given: give the cross_section in pb, or leave out the "
                "luminosity where all weights add up to the events expected",
            )  # fmt: skip
        if luminosity is None and one.cross_section is not None:
            self.fail((*here, "cross_section"), "without a luminosity, in fb^-1, tells no number of events: give both")
        if one.sum_of_weights is not None and one.cross_section is None:
            self.fail((*here, "sum_of_weights"), "scales a cross_section, which is not given")

    def features(self, found: Any) -> tuple[Feature, ...]:
        if isinstance(found, list):
            found = {self.text(name, ("features", k)): None for k, name in enumerate(found)}
        made = []
        for name, entry in self.mapping(found, ("features",)).items():
            here = ("features", name)
            if isinstance(entry, str):
                entry = {"formula": entry}
            given = self.mapping(entry or {}, here, _OF_FEATURE)
            words = {
                key: None if given.get(key) is None else self.text(given[key], (*here, key))
                for key in ("formula", "label", "unit")
            }
            turn = given.get("periodic")
            if turn is True:
                turn = _TURN
            elif turn is False or turn is None:
                turn = None
            else:
                turn = self.positive(turn, (*here, "periodic"))
            made.append(Feature(str(name), **words, periodic=turn))
        return tuple(made)

    def regions(self, found: Any) -> dict[str, str]:
        given = {} if found is None else self.mapping(found, ("regions",))
        made: dict[str, str] = {}
        for name, entry in given.items():
            here = ("regions", name)
            try:
                check_names([*made, name])
                Expression.parse(self.text(entry, here), label="region")
            except InputError as error:
                if str(error).startswith(str(self.path)):
                    raise
                self.fail(here, str(error))
            made[name] = entry
        return made

    def mapping(
        self,
        found: Any,
        here: tuple[Any, ...],
        known: tuple[str, ...] | None = None,
        *,
        needed: tuple[str, ...] | None = (),
    ) -> Mapping[Any, Any]:
        """A mapping with keys that are known, if these are told, and with something in it, unless nothing is needed."""
        if not isinstance(found, Mapping):
            self.fail(here, "give `key: value` lines" if here else "an analysis is a list of `key: value` lines")
        if not found and known is None and needed is not None:
            self.fail(here, "give at least one entry")
        if known is None:
            return found
        for key in found:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, 1, 0.5)
                hint = f"; nearest: {near[0]}" if near else f"; there are {', '.join(known)}"
                self.fail((*here, key), f"is not a key here{hint}")
        for key in needed or ():
            if found.get(key) is None:
                self.fail(here, f"{key} is missing")
        return found

    def files(self, found: Any, here: tuple[Any, ...]) -> tuple[str, ...]:
        several = found if isinstance(found, list) else [found]
        if not several:
            self.fail(here, "give at least one file")
        return tuple(self.beside(self.text(one, (*here, k))) for k, one in enumerate(several))

    def beside(self, file: str) -> str:
        """A path relative to the analysis file."""
        return file if Path(file).is_absolute() else str(self.path.parent / file)

    def text(self, found: Any, here: tuple[Any, ...]) -> str:
        if not isinstance(found, str) or not found.strip():
            self.fail(here, f"give a text, not {found!r}")
        return found

    def positive(self, found: Any, here: tuple[Any, ...]) -> float:
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < math.inf:
            self.fail(here, f"give a positive number, not {found!r}")
        return float(found)

    def fail(self, here: tuple[Any, ...], problem: str) -> NoReturn:
        """Raise an error that names the line and the key."""
        place = AnalysisFile(self.path, (), (), (), lines=self.lines).where(*here)
        key = ".".join(map(str, here))
        raise InputError(f"{place}: {key + ': ' if key else ''}{problem}")


def named(analysis: AnalysisFile, keys: tuple[Any, ...], read: Callable[[], Any]) -> Any:
    """What a function reads; its errors name the entry of the analysis file that asked for it."""
    try:
        return read()
    except InputError as error:
        raise InputError(f"{analysis.where(*keys)}: {'.'.join(map(str, keys))}: {error}") from None
