"""Options that commands share, and how flags and a configuration file become one `Config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lanner.cli.config import Config, check_settings_of, load_config
from lanner.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

_SAMPLES = [
    click.option(
        "--features", metavar="A,B,...", help="Columns to test (default: all numeric columns of the reference)."
    ),
    click.option("--weight", metavar="COLUMN", help="Column of event weights in the reference."),
    click.option("--where", metavar="EXPR", help='Selection for all samples, such as "mll > 100 and pt1 > 20".'),
    click.option(
        "--extra",
        multiple=True,
        metavar="[NAME=]EXPR",
        help="A variable for the plots that the fit does not use; may be given several times.",
    ),
    click.option(
        "--drop-nan", is_flag=True, default=None, help="Drop rows with missing values instead of refusing them."
    ),
]
_FIT = [
    click.option(
        "--width", metavar="W", help="One kernel width, the paper's mode; 'auto': from the reference (default: four)."
    ),
    click.option(
        "--statistic",
        type=click.Choice(["likelihood-ratio", "score"]),
        help="Test statistic (default: score, with --width likelihood-ratio).",
    ),
    click.option(
        "--combination",
        type=click.Choice(["harmonic", "smallest", "product", "average"]),
        help="How several scales become one p-value (default: harmonic mean).",
    ),
    click.option("--penalty", type=float, help="Penalty (default: three; with --width the smallest stable one)."),
    click.option("--centers", type=int, help="Candidate centres (default: about 10 sqrt(n))."),
    click.option(
        "--reference-size", type=int, help="Reference events of each fit (default: all, less the room for toy data)."
    ),
    click.option("--newton-steps", type=int, help="1 is the paper's mode (default: to convergence)."),
    click.option("--loss", type=click.Choice(["logistic", "extended"]), help="Loss (default: logistic)."),
    click.option(
        "--scaling",
        type=click.Choice(["standard", "authors", "none"]),
        help="Scaling, learned on the reference (default: standard).",
    ),
    click.option("--precision", type=click.Choice(["single", "double"]), help="Of stored features (default: single)."),
    click.option("--seed", type=int, help="One seed for all random numbers (default: 0)."),
    click.option("--memory", metavar="SIZE", help="Memory budget, such as '4 GB' (default: half of what is free)."),
]
_COMMON = [
    click.option(
        "--config", "config_file", type=click.Path(dir_okay=False), help="YAML or TOML file with any of these."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option("--quiet", is_flag=True, help="No progress and no warnings on stderr."),
]
_NETWORK = [
    click.option("--hidden", metavar="N1,N2,...", help="Network: units of each hidden layer (default: 4)."),
    click.option("--clip", type=float, help="Network: bound on its parameters (default: tuned on the reference)."),
    click.option(
        "--optimiser",
        type=click.Choice(["newton", "adam"]),
        help="Network: adam is the original's and needs 1e5 epochs (default: newton).",
    ),
    click.option("--epochs", type=int, help="Network: at most so many (default: until t has settled)."),
    click.option("--starts", type=int, help="Network: trainings, of which the best counts (default: 3, with adam 1)."),
]
_WORKERS = [
    click.option(
        "--device", metavar="NAME", help="Where to compute: cpu (default), torch (on the CPU), cuda or cuda:1."
    ),
    click.option(
        "--executor",
        type=click.Choice(["local", "dask"]),
        help="Who makes the toys: this process, or Dask workers (default: local).",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Dask: a running scheduler (default: processes here)."),
    click.option("--workers", type=int, help="Dask: how many processes here (default: one for each core)."),
    click.option("--threads", type=int, help="Dask: threads of each worker (default: its share of the cores)."),
    click.option("--tls-ca", metavar="FILE", help="Dask: PEM file of the authority that signed the scheduler's key."),
    click.option("--tls-cert", metavar="FILE", help="Dask: PEM file of your certificate."),
    click.option("--tls-key", metavar="FILE", help="Dask: PEM file of your key."),
]
_MOVED = [
    click.option("--reference", "reference_file", metavar="FILE", help="Where the reference is now, if it was moved."),
    click.option("--data", "data_file", metavar="FILE", help="Where the data are now, if they were moved."),
]
reference_option = click.option(
    "--reference", metavar="FILE", help="Reference sample: FILE, FILE.root:TREE, or a glob."
)
data_option = click.option("--data", metavar="FILE", help="Data sample.")
expected_option = click.option(
    "--expected", metavar="N", help="Data events that the reference predicts; 'observed' tests the shape alone."
)
toys_option = click.option("--toys", type=int, help="Null toys (default: 1000; of the likelihood ratio 300).")
_UNTIL = [
    click.option("--until-z", type=float, metavar="Z", help="Make toys until a p-value of so many sigma is known."),
    click.option(
        "--p-precision", type=float, help="How well, relatively, p is to be known with --until-z (default: 0.3)."
    ),
]
null_option = click.option(
    "--null",
    type=click.Choice(["reference", "permutation"]),
    help="Where toys come from (default: a reference of 20 times the data or more; or a permutation).",
)


def _all(options: list[Callable[[F], F]]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


sample_options = _all(_SAMPLES)
fit_options = _all(_FIT)
common_options = _all(_COMMON)
moved_options = _all(_MOVED)
until_options = _all(_UNTIL)
network_options = _all(_NETWORK)
worker_options = _all(_WORKERS)


def split_names(text: str) -> list[str]:
    """Names or formulas between commas; a comma inside parentheses or backticks belongs to its formula.

    >>> split_names("pt, phi=arctan2(py, px), `a,b`")
    ['pt', 'phi=arctan2(py, px)', '`a,b`']
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == "`"
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"{option} {text}: give a number, or 'auto'") from None


def configured(config_file: str | None, flags: dict[str, Any], *, needed: tuple[str, ...] = ()) -> Config:
    """Flags over the file over the defaults; what a command cannot do without is asked for by name."""
    settings = load_config(config_file) if config_file else {}
    for name, value in flags.items():
        if value is None or value == ():
            continue
        if name == "features" and isinstance(value, str):
            value = split_names(value)
        elif name == "extra":
            value = list(value)
        elif name == "width" and value != "auto":
            value = _number(value, "--width")
        elif name in ("signal_events", "tests", "hidden") and isinstance(value, str):
            value = [part.strip() for part in value.split(",")]
        settings[name] = value
    try:
        config = check_settings_of(settings)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    missing = [name for name in needed if getattr(config, name) is None]
    if missing:
        raise click.UsageError(
            f"Missing option{'s' if len(missing) > 1 else ''}: {', '.join('--' + n for n in missing)}."
        )
    return config


def refuse_idle(flags: dict[str, Any], config: Config) -> None:
    """Flags that would change nothing are more likely meant otherwise; a file may well hold every setting."""
    if flags["combination"] is not None and config.width is not None:
        raise click.UsageError("--combination is of several scales: leave it out, or --width")
    if flags["p_precision"] is not None and config.until_z is None:
        raise click.UsageError("--p-precision belongs to --until-z: give both, or --toys")


def numbers_given(config: Config) -> dict[str, Any]:
    """The numbers of toys and experiments, where they were given: a function's own are its defaults."""
    given = {"toys": config.toys} if config.toys is not None else {}
    return given | ({"experiments": config.experiments} if "experiments" in config.model_fields_set else {})


def suite_seed(config: Config) -> int:
    """The seed of a suite: 1, the documentation's, if none was given."""
    return config.seed if "seed" in config.model_fields_set else 1
