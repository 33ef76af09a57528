"""A configuration file: every setting of a run in YAML or TOML, checked, with errors that point at the line."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanner._util.regular import text_of_settings
from lanner._util.yaml_file import load_yaml
from lanner.errors import InputError
from lanner.settings import RunSettings, check_known, checked

if TYPE_CHECKING:
    from lanner.run.execution.local import Executor
    from lanner.typing import PathLike

_DASK = ("scheduler", "workers", "threads", "tls_ca", "tls_cert", "tls_key")


def load_config(path: PathLike) -> dict[str, Any]:
    """The settings that a file gives, checked one by one."""
    path = Path(path)
    try:
        text = text_of_settings(path, "configuration")
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, beside)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise InputError(f"configuration {path} does not exist{hint}") from None
    parsed = _parse(path, text)
    settings = {key.replace("-", "_"): value for key, value in parsed.items()}
    if len(settings) < len(parsed):
        twice = next(key for key in parsed if "-" in key and key.replace("-", "_") in parsed)
        raise InputError(f"{path}:{_line(text, twice)}: {twice!r} is given with and without dashes: give it once")
    said = []
    for key, value in settings.items():
        try:
            check_known(key)
            checked(key, value)
        except InputError as error:
            line = _line(text, key)
            if key == "uncertainties" and isinstance(value, dict):
                line = _line_of_uncertainty(text, value, line)
            said.append(f"{path}:{line}: {str(error).replace(f'{key}=', f'{key}: ', 1)}")
    if said:
        raise InputError("\n".join(said))
    return settings


def write_config(path: PathLike, settings: dict[str, Any]) -> Path:
    """Write settings as YAML."""
    import yaml

    from lanner._util.files import write_atomically

    return write_atomically(path, yaml.safe_dump(settings, sort_keys=False))


def executor_chosen(settings: RunSettings) -> Executor:
    """Who makes the toys. An address or a number of workers means Dask."""
    from lanner.run.execution.dask import Dask
    from lanner.run.execution.local import Local

    given = {name: getattr(settings, name) for name in _DASK if getattr(settings, name) is not None}
    if list(given) == ["threads"] and settings.executor is None:
        raise InputError(
            "--threads is of Dask's workers: give --workers or --scheduler too (OMP_NUM_THREADS is for local runs)"
        )
    if settings.executor == "local" and given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{names}: for Dask, but executor='local'; leave out one or the other")
    return Dask(**given) if settings.executor == "dask" or given else Local()


def _parse(path: Path, text: str) -> dict[str, Any]:
    suffix = path.suffix.lower()
    if suffix == ".toml":
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # TOMLDecodeError, or a date or number that cannot be
            raise InputError(f"{path} is not TOML: {error}") from None
    if suffix in (".yaml", ".yml"):
        found = load_yaml(path, text)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise InputError(f"{path}:1: a configuration is a list of `setting: value` lines")
        # YAML takes an unquoted `null` for nothing; as a setting it is ours.
        return {"null" if key is None else str(key): value for key, value in found.items()}
    raise InputError(f"{path}: a configuration ends in .yaml, .yml or .toml")


def _line(text: str, key: str, *, first: int = 1) -> int:
    """The line on which a setting stands, or the first one to look at; in TOML it may be the title of a table."""
    name = rf"""["']?{re.escape(key).replace("_", "[_-]")}["']?"""
    pattern = re.compile(rf"""^\s*(?:{name}\s*[:=]|\[(?:uncertainties\.)?{name}\])""")
    lines = enumerate(text.splitlines()[first - 1 :], start=first)
    return next((i for i, line in lines if pattern.match(line)), first)


def _line_of_uncertainty(text: str, entries: dict[Any, Any], first: int) -> int:
    """The line of the first uncertainty that cannot be used by itself."""
    for name, entry in entries.items():
        try:
            checked("uncertainties", {name: entry})
        except InputError:
            return _line(text, str(name), first=first)
    return first
