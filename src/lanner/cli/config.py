"""A configuration file: the flags of the command line in YAML or TOML, checked, with errors that point at the line."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lanner.errors import InputError

if TYPE_CHECKING:
    from lanner.run.execution.local import Executor

Name = str


class Config(BaseModel):
    """Every setting of a run. Fields left at None are chosen, or must come from the command line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reference: str | list[str] | None = None
    data: str | list[str] | None = None
    signal: str | list[str] | None = None
    output: str | None = None
    features: list[Name] | None = None
    weight: Name | None = None
    where: str | None = None
    extra: list[str] = Field(default_factory=list)
    drop_nan: bool = False
    expected: Annotated[float, Field(gt=0, allow_inf_nan=False)] | Literal["observed"] | None = None
    toys: int | None = Field(default=None, ge=1)
    statistic: Literal["likelihood-ratio", "score"] | None = None
    combination: Literal["harmonic", "smallest", "product", "average"] = "harmonic"
    until_z: float | None = Field(default=None, gt=0, le=6)
    p_precision: float = Field(default=0.3, ge=0.01, le=1)
    null: Literal["reference", "permutation"] | None = None
    scaling: Literal["standard", "authors", "none"] = "standard"
    width: Annotated[float, Field(gt=0)] | Literal["auto"] | None = None
    penalty: float | None = Field(default=None, gt=0)
    centers: int | None = Field(default=None, ge=1)
    newton_steps: int | None = Field(default=None, ge=1)
    reference_size: int | None = Field(default=None, ge=2)
    loss: Literal["logistic", "extended"] = "logistic"
    precision: Literal["single", "double"] = "single"
    seed: int = Field(default=0, ge=0)
    memory: str | None = None
    signal_events: list[float] | None = None
    signal_alone: bool = False
    experiments: int = Field(default=100, ge=1)
    tests: list[Name] | None = None
    hidden: list[Annotated[int, Field(ge=1)]] | None = None
    clip: float | None = Field(default=None, gt=0)
    optimiser: Literal["newton", "adam"] = "newton"
    epochs: int | None = Field(default=None, ge=1)
    starts: int | None = Field(default=None, ge=1)
    device: str = "cpu"
    executor: Literal["local", "dask"] | None = None
    scheduler: str | None = None
    workers: int | None = Field(default=None, ge=1)
    threads: int | None = Field(default=None, ge=1)
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def fit_options(self) -> dict[str, Any]:
        """The settings that `search`, `calibrate`, `power` and `tune` take as keyword arguments."""
        names = (
            "null", "statistic", "combination", "width", "penalty", "centers", "newton_steps", "loss", "precision",
            "seed", "reference_size",
        )  # fmt: skip
        chosen = {name: getattr(self, name) for name in names}
        return chosen | {"scaling": None if self.scaling == "none" else self.scaling}

    def executor_chosen(self) -> Executor:
        """Who makes the toys. An address or a number of workers means Dask."""
        from lanner.run.execution.dask import Dask
        from lanner.run.execution.local import Local

        names = ("scheduler", "workers", "threads", "tls_ca", "tls_cert", "tls_key")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if list(given) == ["threads"] and self.executor is None:
            raise InputError(
                "threads: of Dask's workers; give workers or a scheduler too (OMP_NUM_THREADS is for local runs)"
            )
        if self.executor == "local" and given:
            raise InputError(f"{', '.join(given)}: for Dask, but executor=local; leave out one or the other")
        if self.executor == "dask" or given:
            return Dask(**given)
        return Local()


def load_config(path: str | Path) -> dict[str, Any]:
    """The settings that a file gives, checked one by one."""
    path = Path(path)
    try:
        text = path.read_text()
    except FileNotFoundError:
        near = difflib.get_close_matches(
            path.name, [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        )
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise InputError(f"configuration {path} does not exist{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"configuration {path} cannot be read: {error}") from None
    settings = {key.replace("-", "_"): value for key, value in _parse(path, text).items()}
    if isinstance(settings.get("features"), str):
        settings["features"] = [name.strip() for name in settings["features"].split(",")]
    check_settings_of(settings, where=lambda key: f"{path}:{_line(text, key)}")
    return settings


def check_settings_of(settings: dict[str, Any], *, where: Any = None) -> Config:
    """A `Config`, or an error that names the setting, what was given and what is allowed."""
    try:
        return Config(**settings)
    except ValidationError as error:
        said = []
        for item in error.errors():
            key = str(item["loc"][0]) if item["loc"] else ""
            place = f"{where(key)}: " if where is not None else ""
            if item["type"] == "extra_forbidden":
                near = difflib.get_close_matches(key, Config.model_fields)
                hint = f"; nearest: {', '.join(near)}" if near else f"; known: {', '.join(Config.model_fields)}"
                said.append(f"{place}{key!r} is not a setting{hint}")
            else:
                said.append(f"{place}{key}: {item['msg'].lower()} (given: {item['input']!r})")
        raise InputError("\n".join(dict.fromkeys(said))) from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    suffix = path.suffix.lower()
    if suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not TOML: {error}") from None
    if suffix in (".yaml", ".yml"):
        import yaml

        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f":{mark.line + 1}" if mark is not None else ""
            raise InputError(f"{path}{line} is not YAML: {getattr(error, 'problem', None) or error}") from None
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise InputError(f"{path}:1: a configuration is a list of `setting: value` lines")
        # YAML takes an unquoted `null` for nothing; as a setting it is ours.
        return {"null" if key is None else str(key): value for key, value in found.items()}
    raise InputError(f"{path}: a configuration ends in .yaml, .yml or .toml")


def _line(text: str, key: str) -> int:
    """The line on which a setting stands."""
    pattern = re.compile(rf"""^\s*["']?{re.escape(key).replace("_", "[_-]")}["']?\s*[:=]""")
    return next((i for i, line in enumerate(text.splitlines(), start=1) if pattern.match(line)), 1)


def write_config(path: str | Path, settings: dict[str, Any]) -> Path:
    """Write settings as YAML or TOML, by suffix."""
    from lanner._util.files import write_atomically

    path = Path(path)
    if path.suffix.lower() == ".toml":
        text = "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())
    elif path.suffix.lower() in (".yaml", ".yml"):
        import yaml

        text = yaml.safe_dump(settings, sort_keys=False)
    else:
        raise InputError(f"{path}: a configuration ends in .yaml, .yml or .toml")
    return write_atomically(path, text)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)
