"""One declaration of every setting, and everything that is made from it agrees."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

import numpy as np
import pytest

import lanner
from lanner._util.values import Choice
from lanner.cli import main
from lanner.cli.options import flag_of
from lanner.errors import InputError, LannerError, UnknownSettingError
from lanner.events.units import RULES
from lanner.inference.combination import COMBINATIONS
from lanner.inference.scales import DEVIATIONS
from lanner.model.features import PRECISIONS
from lanner.model.loss import LOSSES
from lanner.settings import (
    DECLARED,
    FIT_KEYWORDS,
    TOLERANCE,
    FitKeywords,
    FitSettings,
    RunSettings,
    checked,
    spelled_out,
)

# A search has toys of one kind of solver only; the other is for single fits, `fit_ratio(solver="falkon")`.
NO_KEYWORD = {"solver"}
NO_FLAG = {"analysis", "solver", "uncertainties"}  # an argument of search; of fit_ratio alone; kinds with a flag each
FUNCTIONS = [name for name in lanner.__all__ if inspect.isfunction(getattr(lanner, name))]
DEFAULTS = {f.name: f.default for f in fields(FitSettings)}


def test_every_setting_of_a_fit_is_a_keyword() -> None:
    assert set(FIT_KEYWORDS) == {f.name for f in fields(FitSettings)} - NO_KEYWORD


def test_keywords_have_the_types_of_the_settings() -> None:
    declared, keywords = get_type_hints(FitSettings), get_type_hints(FitKeywords)
    assert keywords == {name: declared[name] for name in FIT_KEYWORDS}


@pytest.mark.parametrize("name", ["search", "calibrate", "power", "tune"])
def test_they_stand_in_the_signature_with_their_defaults(name: str) -> None:
    parameters = inspect.signature(getattr(lanner, name)).parameters
    assert {key: parameters[key].default for key in FIT_KEYWORDS} == {key: DEFAULTS[key] for key in FIT_KEYWORDS}
    assert all(parameters[key].kind is inspect.Parameter.KEYWORD_ONLY for key in FIT_KEYWORDS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_public_function_takes_just_anything(name: str) -> None:
    kinds = {p.kind for p in inspect.signature(getattr(lanner, name)).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_placeholder_is_left_in_the_documentation(name: str) -> None:
    assert "<the settings" not in getattr(lanner, name).__doc__


@pytest.mark.parametrize(
    ("setting", "implemented"),
    [
        ("loss", set(LOSSES)),
        ("combination", set(COMBINATIONS)),
        ("precision", set(PRECISIONS)),
        ("statistic", set(DEVIATIONS)),
        ("scaling", {rule for rule in RULES if rule is not None}),
    ],
)
def test_choices_are_what_is_implemented(setting: str, implemented: set[str]) -> None:
    kind = DECLARED[setting].kind
    assert isinstance(kind, Choice)
    assert set(kind.options) == implemented
    assert kind.none == (setting == "scaling")


@pytest.mark.parametrize("name", ["search", "calibrate", "power", "tune", "compare", "fit_ratio", "classifier_test"])
def test_a_misspelt_keyword_gets_the_nearest(name: str) -> None:
    function: Callable[..., Any] = getattr(lanner, name)
    known = "memory" if "memory" in inspect.signature(function).parameters else "statistic"
    with pytest.raises(UnknownSettingError, match=f"{name} has no argument '{known}s'.*{known}") as said:
        function(None, **{f"{known}s": 1})
    assert isinstance(said.value, LannerError)
    assert isinstance(said.value, TypeError)


def test_every_setting_has_a_flag() -> None:
    flags = {option for command in main.commands.values() for p in command.params for option in p.opts}
    assert {name for name in DECLARED if flag_of(name) not in flags} == NO_FLAG


@pytest.mark.parametrize("name", DECLARED)
def test_every_default_passes_its_own_check(name: str) -> None:
    default = {f.name: f.default for f in fields(RunSettings)}[name]
    assert checked(name, default) == default


@pytest.mark.parametrize("name", DECLARED)
def test_every_setting_says_what_it_does(name: str) -> None:
    declared = DECLARED[name]
    assert declared.help.endswith(".")
    assert declared.kind.described()
    assert not declared.unset.endswith(".")


def test_a_wrong_value_is_refused_when_it_is_set() -> None:
    with pytest.raises(InputError, match=r"penalty=0: give a number of at least 1e-30 and of at most 1e\+30, such as"):
        FitSettings(penalty=0)


@pytest.mark.parametrize(
    ("name", "value"), [("penalty", 1e300), ("penalty", 1e-300), ("expected", 1e-300), ("expected", 1e300)]
)
def test_numbers_that_nobody_means_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name}=1e.* give a number of at least"):
        RunSettings.of({name: value})
    reference, data = np.random.default_rng(1).random((1000, 1)), np.random.default_rng(2).random((50, 1))
    with pytest.raises(InputError, match=f"{name}=1e.* positive"):
        lanner.fit_ratio(reference, data, **({"expected": 50} | {name: value}))  # type: ignore[arg-type]


def test_an_unknown_setting_offers_the_nearest() -> None:
    with pytest.raises(UnknownSettingError, match=r"'newton_step' is not a setting.*newton_steps"):
        RunSettings.of({"newton_step": 1})


def test_the_score_needs_neither_steps_nor_a_solver() -> None:
    with pytest.raises(InputError, match="needs no solver"):
        FitSettings(statistic="score", solver="falkon")
    with pytest.raises(InputError, match="needs no fit"):
        _ = FitSettings(newton_steps=1).chosen_statistic


@pytest.mark.parametrize(
    ("settings", "statistic"),
    [({}, "score"), ({"width": 0.3}, "likelihood-ratio"), ({"width": 0.3, "statistic": "score"}, "score")],
)
def test_a_width_is_for_the_likelihood_ratio(settings: dict[str, Any], statistic: str) -> None:
    assert FitSettings(**settings).chosen_statistic == statistic


def test_the_goal_follows_precision_and_solver_unless_it_is_given() -> None:
    assert FitSettings(precision="double").goal == TOLERANCE["double"]
    assert FitSettings(solver="falkon", precision="double").goal == TOLERANCE["falkon"]
    assert FitSettings(tolerance=0.5).goal == 0.5


def test_a_run_remembers_what_was_given() -> None:
    run = RunSettings.of({"toys": 300, "seed": 0})
    assert run.given == {"toys", "seed"}
    assert run.to_dict() == {"toys": 300}
    assert set(run.fit_keywords()) == set(FIT_KEYWORDS)


def test_settings_survive_their_own_plain_form() -> None:
    run = RunSettings.of({"features": "a,f(b, c)", "signal_events": "5,10", "width": "auto", "scaling": "none"})
    again = RunSettings.of(run.to_dict())
    assert again == RunSettings.of(
        {"features": ("a", "f(b, c)"), "signal_events": (5, 10), "width": "auto"} | {"scaling": None}
    )


def test_a_function_is_spelled_out_without_being_changed() -> None:
    def function(x: int, *, memory: int = 3) -> int:
        """Words."""
        return x + memory

    found = spelled_out(function)
    assert (found(1), found(1, memory=1)) == (4, 2)
    assert (found.__name__, found.__doc__) == ("function", "Words.")
    assert inspect.signature(found) == inspect.signature(function)
