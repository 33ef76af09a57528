"""Flags, made from the declarations of the settings, and how flags and a configuration file become `RunSettings`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lanner._util.values import Flag, Names
from lanner.cli.config import load_config
from lanner.cli.terminal import in_flags
from lanner.cli.uncertain import pop_uncertainties
from lanner.errors import InputError
from lanner.settings import DECLARED, FIT_KEYWORDS, RunSettings, checked

F = TypeVar("F", bound=Callable[..., Any])

# The flags of the commands, in the order of their help.
SAMPLES = ("features", "weight", "where", "extra", "drop_nan")
FIT = (*(name for name in FIT_KEYWORDS if name != "null"), "memory")
WORKERS = ("device", "executor", "scheduler", "workers", "threads", "tls_ca", "tls_cert", "tls_key")
UNTIL = ("until_z", "p_precision")
NETWORK = ("hidden", "clip", "optimiser", "epochs", "starts")


class _SettingType(click.ParamType):  # type: ignore[type-arg]
    """A setting's own check, so that a wrong value is refused before anything is read."""

    name = "setting"

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            checked(self._setting, value)
        except InputError as error:
            # click names the flag already.
            said = in_flags(str(error)).removeprefix(f"{flag_of(self._setting)} ")
            self.fail(said.replace(", None", ", 'none'"), param, ctx)
        return value


class Name(click.ParamType):  # type: ignore[type-arg]
    """The name of a file or folder, which is not empty: that would be the folder one happens to be in."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an empty text."""
        if not value:
            self.fail("give a name, which '' is not.", param, ctx)
        return value


def flag_of(setting: str) -> str:
    """The flag of a setting.

    >>> flag_of("reference_size")
    '--reference-size'
    """
    return f"--{setting.replace('_', '-')}"


def flags(*settings: str, **words: str) -> Callable[[F], F]:
    """The flags of some settings; a command may have words of its own for the help of some."""

    def decorate(function: F) -> F:
        for name in reversed(settings):
            kind, text = DECLARED[name].kind, words.get(name, DECLARED[name].words())
            how: dict[str, Any] = {"type": _SettingType(name), "metavar": kind.metavar}
            if isinstance(kind, Flag):
                how = {"is_flag": True, "default": None}
            elif isinstance(kind, Names) and kind.repeated:
                how = {"multiple": True, "metavar": kind.metavar}
            function = click.option(flag_of(name), name, help=text, **how)(function)
        return function

    return decorate


def common_flags(function: F) -> F:
    """The flags of every command that runs something."""
    file = click.option(
        "--config", "config_file", type=click.Path(dir_okay=False), help="YAML or TOML file with any of these."
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    quiet = click.option("--quiet", is_flag=True, help="No progress and no warnings on stderr.")
    return file(as_json(quiet(function)))


def dry_run_flag(function: F) -> F:
    """The flag of commands that take long."""
    words = "Only tell what would be done, and about what time and memory it would take here."
    return click.option("--dry-run", is_flag=True, help=words)(function)


def moved_flags(function: F) -> F:
    """The flags of commands that read the samples of a finished run again."""
    for sample, words in (("data", "the data are now, if they were"), ("reference", "the reference is now, if it was")):
        option = click.option(
            f"--{sample}", f"{sample}_file", type=Name(), metavar="FILE", help=f"Where {words} moved."
        )
        function = option(function)
    return function


def configured(config_file: str | None, given: dict[str, Any], *, needed: tuple[str, ...] = ()) -> RunSettings:
    """Flags over the file over the defaults; what a command cannot do without is asked for by name."""
    by_flags = pop_uncertainties(given)
    settings = load_config(config_file) if config_file else {}
    if by_flags:  # beside those of the file, and in the place of those with the same name
        of_file = {str(name): entry for name, entry in (settings.get("uncertainties") or {}).items()}
        settings["uncertainties"] = of_file | by_flags
    settings |= {name: value for name, value in given.items() if value is not None and value != ()}
    if settings.get("analysis") is not None:
        from lanner.cli.analysing import settings_of

        settings = settings_of(settings["analysis"]) | settings
        needed = tuple(name for name in needed if name != "reference")
    try:
        config = RunSettings.of(settings)
    except InputError as error:
        raise click.UsageError(in_flags(str(error))) from None
    missing = [name for name in needed if getattr(config, name) is None]
    if missing:
        raise click.UsageError(f"Missing option{'s' if len(missing) > 1 else ''}: {', '.join(map(flag_of, missing))}.")
    if config.null == "generator":
        raise click.UsageError("--null generator: a generator of events is a Python function, for lanner.search")
    return config


def refuse_idle(given: dict[str, Any], config: RunSettings) -> None:
    """Flags that would change nothing are more likely meant otherwise; a file may well hold every setting."""
    if given["combination"] is not None and config.width is not None:
        raise click.UsageError("--combination is of several scales: leave it out, or --width")
    if not config.blind and given["signal"]:
        raise click.UsageError("--signal is of a blind search (--blind), or of lanner power: leave it out")
    if config.blind and (config.signal is None) != (config.signal_events is None):
        raise click.UsageError("--signal and --signal-events belong together: give both, or none")
    if given["p_precision"] is not None and config.until_z is None:
        raise click.UsageError("--p-precision belongs to --until-z: give both, or --toys")


def numbers_given(config: RunSettings) -> dict[str, Any]:
    """The numbers of toys and experiments, where they were given: a function's own are its defaults."""
    return {name: getattr(config, name) for name in ("toys", "experiments") if name in config.given}


def suite_seed(config: RunSettings) -> int:
    """The seed of a suite: 1, the documentation's, if none was given."""
    return config.seed if "seed" in config.given else 1
