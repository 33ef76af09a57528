"""Configurations and flags: settings with values that somebody could type, and such as nobody would."""

from __future__ import annotations

import numpy as np

from lanner._util.values import Choice, Flag, Number
from lanner.settings import DECLARED
from tests.fuzz.case import Case, generator, pick
from tests.fuzz.files import damaged

VALUES = (
    "1", "0", "-1", "5", "200", "1e-6", "1e6", "0.3", "1e300", "1e-300", "1e400", "nan", "inf", "-inf", ".inf",
    ".nan", "true", "false", "yes", "null", "none", "~", "auto", "observed", "''", '""', "x", "x,y", "[x, y]",
    "[]", "{}", "{a: 1}", "[[x]]", "190:20:30", "0x10", "0o17", "0100", "1_000", "2020-01-02", "2020-13-45",
    "2020-01-02T03:04:05Z", "1e", "--1", "é", "!!int abc", "!!float x", "!!bool x", "!!binary x",
    "!!python/name:os.system", "!!timestamp x", "&a x", "*a", "<<", "|", ">", '"a\\0b"', '"\\ud800"', "9" * 25,
    "9" * 5000, "-0", "+5", "5.", ".5", "1 000", "1,000", "4 GB", "100 MB", "1 kB", "-4 GB", "r.csv", "d.csv",
    "*.csv", "../r.csv", "r.csv:x", "http://x/y.csv", "/dev/zero", "r.csv\t", "robust", "standard", "cpu",
    "cuda", "cuda:99", "score", "likelihood-ratio", "x > 0", "x >", "x**1000", "__import__('os')", "x=y",
    "z=x+y", "`x", "(" * 200, "x+" * 2000 + "x", "[" * 3000, "[" * 3000 + "]" * 3000, "{a: " * 1000,
)  # fmt: skip
KEYS = (
    *DECLARED,
    *(name.replace("_", "-") for name in DECLARED),
    *("toyz", "", "null", "1", "x y", "<<", "?", "- a", "\t", "[a]"),
)
NUMBERS = ("1", "2", "5", "10", "100", "0.3", "1e-3", "1_000", "9007199254740993", "007", "12345678901234567890")
PLAIN = (
    "1",
    "2",
    "5",
    "0.3",
    "10",
    "100",
    "1e-3",
    "1e-6",
    "1e-12",
    "1e10",
    "x",
    "y",
    "x,y",
    "x > 2",
    "z=x*y",
    "1 GB",
    "auto",
)


def _events(rows: int, seed: int) -> bytes:
    table = np.random.default_rng(seed).exponential(size=(rows, 2))
    return ("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in table.tolist())).encode()


EVENTS, DATA = _events(1500, 1), _events(60, 2)


def config(seed: int, number: int) -> Case:
    """A configuration, in YAML or TOML."""
    rng = generator(seed, number)
    toml = rng.random() < 0.3
    lines = []
    for _ in range(int(rng.integers(0, 6))):
        key = pick(rng, KEYS if rng.random() < 0.1 else tuple(DECLARED))
        value = " ".join(_value(rng, key)) if key in DECLARED and rng.random() < 0.7 else pick(rng, VALUES)
        lines.append(f"{key} = {value}" if toml else f"{key}: {value}")
    text = "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        text = damaged(rng, text)
    return Case("config", seed, number, {f"c.{'toml' if toml else 'yaml'}": text})


def flags(seed: int, number: int) -> Case:
    """Flags of a search of a small sample."""
    rng = generator(seed, number)
    given = ["search", "--reference", "r.csv", "--data", "d.csv", "--expected", "60", "--output", "out", "--quiet"]
    # What runs until it is told to stop, or elsewhere, is left to tests of its own.
    names = [name for name in DECLARED if name not in _ELSEWHERE]
    real = rng.random() < 0.1
    for _ in range(int(rng.integers(1, 4))):
        name = str(pick(rng, names))
        if real and name in _LONG:
            continue
        given += [f"--{name.replace('_', '-')}", *_value(rng, name)]
    given += ["--toys", "40"] if real else ["--dry-run"]
    return Case("flags", seed, number, {"r.csv": EVENTS, "d.csv": DATA}, tuple(given))


def _value(rng: np.random.Generator, name: str) -> list[str]:
    kind = DECLARED[name].kind
    if isinstance(kind, Flag):
        return []
    if isinstance(kind, Number) and rng.random() < 0.5:
        return [pick(rng, NUMBERS)]
    if isinstance(kind, Choice) and rng.random() < 0.7:
        return [pick(rng, kind.options)]
    return [pick(rng, PLAIN if rng.random() < 0.6 else VALUES)]


_ELSEWHERE = {
    *("scheduler", "workers", "threads", "executor", "tls_ca", "tls_cert", "tls_key", "device", "signal", "solver"),
    *("signal_events", "signal_alone", "experiments", "tests", "hidden", "clip", "optimiser", "epochs", "starts"),
}
_LONG = {"toys", "until_z", "p_precision", "tolerance"}  # a long run that somebody asked for is no fault
