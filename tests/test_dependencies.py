"""Dependencies are pinned exactly, each has a licence that is known, and the wheel is the same whenever it is built."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LICENCES, PINS = (runpy.run_path(str(ROOT / "docs" / f"make_{name}.py")) for name in ("licences", "pins"))
ROW = re.compile(r"\| ([\w.-]+) \| ([\w.]+) \| (.+) \|")
FAMILIES = re.compile(r"MIT|BSD|Apache|MPL|Mozilla|PSF|Python Software Foundation|GPL|Zlib|BSL|ISC|CC0|Public Domain")


def pinned() -> dict[str, str]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines]
    assert None not in found, "a pin is a name, == and a version"
    return {canonicalize_name(m[1]): m[2] for m in found}


def tables() -> dict[str, dict[str, tuple[str, str]]]:
    """Version and licence of each package, under each title of the page."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for part in (ROOT / "docs" / "licences.md").read_text().split("\n## ")[1:]:
        title, *lines = part.splitlines()
        rows = [ROW.fullmatch(line) for line in lines if line and not line.startswith(("| package", "|---"))]
        found[title] = {canonicalize_name(m[1]): (m[2], m[3]) for m in rows}
    return found


def declared() -> list[Requirement]:
    extras = PROJECT["project"]["optional-dependencies"].values()
    built = PROJECT["build-system"]["requires"]
    return [Requirement(r) for r in (*PROJECT["project"]["dependencies"], *built, *(r for e in extras for r in e))]


@pytest.mark.parametrize("wanted", declared(), ids=lambda wanted: wanted.name)
def test_what_is_declared_is_pinned_at_a_version_that_is_allowed(wanted: Requirement) -> None:
    assert wanted.specifier.contains(pinned()[canonicalize_name(wanted.name)]), "run `make pins`"


def test_every_pin_has_a_licence_and_nothing_else_does() -> None:
    listed = {name: version for table in tables().values() for name, (version, _) in table.items()}
    assert listed == pinned(), "run `make licences`"


def test_no_licence_is_unknown() -> None:
    named = {name: licence for table in tables().values() for name, (_, licence) in table.items()}
    assert {name: licence for name, licence in named.items() if not FAMILIES.search(licence)} == {}


def test_a_plain_installation_asks_nobody_to_publish_their_code() -> None:
    plain = next(table for title, table in tables().items() if title.startswith("A plain"))
    assert "numpy" in plain
    assert {name: licence for name, (_, licence) in plain.items() if re.search("GPL|General Public", licence)} == {}


def test_the_page_is_what_the_installed_packages_say() -> None:
    try:
        found = LICENCES["groups"]()
    except SystemExit as missing:
        pytest.skip(str(missing))
    here = {name: of.version.partition("+")[0] for group in found.values() for name, of in group.items()}
    other = sorted(name for name, version in here.items() if pinned().get(name, version) != version)
    if other:
        pytest.skip(f"installed at other versions than constraints.txt has: {', '.join(other)}")
    assert LICENCES["page"]() == (ROOT / "docs" / "licences.md").read_text(), "run `make licences`"


def metadata(**fields: Any) -> Message:
    made = Message()
    for name, values in fields.items():
        for value in [values] if isinstance(values, str) else values:
            made[name.replace("_", "-")] = value
    return made


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"License_Expression": "MIT", "License": "other words"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
        (
            {"License": "Permission is granted " * 9, "Classifier": "License :: OSI Approved :: MIT License"},
            "MIT License",
        ),
        ({"License": "UNKNOWN", "Classifier": ["Topic :: Text", "License :: Public Domain"]}, "Public Domain"),
        ({"License": "UNKNOWN", "Classifier": "License :: OSI Approved"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_a_licence_is_read_from_where_it_is_named(fields: dict[str, Any], words: str) -> None:
    assert LICENCES["licence"](metadata(**fields)) == words


def test_packages_are_followed_to_those_that_they_need() -> None:
    found = LICENCES["needed"](["pytest"])
    assert {"pytest", "pluggy", "iniconfig", "packaging"} <= set(found)
    assert "numpy" not in found
    with pytest.raises(SystemExit, match="no-such-thing is not installed"):
        LICENCES["needed"](["no-such-thing"])


def test_pins_are_those_of_the_report_of_pip() -> None:
    packages = [
        ("Zeta_x", "1.0+cpu", False),
        ("alpha", "2.1", False),
        ("lanner", "0.1.0", True),
        ("cuda-x", "9", False),
    ]
    report = {"install": [{"metadata": {"name": n, "version": v}, "is_direct": d} for n, v, d in packages]}
    assert PINS["pins"](report) == PINS["HEAD"] + "alpha==2.1\nZeta_x==1.0\n"


def test_pins_are_chosen_with_the_oldest_python() -> None:
    project = {"requires-python": ">=3.11"}
    PINS["refuse_newer_python"](project, (3, 11))
    with pytest.raises(SystemExit, match=r"this is Python 3\.13.*make pins PYTHON=python3\.11"):
        PINS["refuse_newer_python"](project, (3, 13))
    assert PINS["refuse_newer_python"](PROJECT["project"], (3, 11)) is None


def test_the_wheel_is_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed: it is among the extras `dev`")
    digests, names = set(), set()
    for place, age, mask in (("here", 0, 0o022), ("else/where", 10**8, 0o077)):
        source = tmp_path / place
        shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        for path in sorted(source.rglob("*"), reverse=bool(age)):
            os.utime(path, (path.stat().st_mtime - age,) * 2)
            path.chmod(path.stat().st_mode & ~mask)
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "made"]
        done = subprocess.run(build, cwd=source, capture_output=True, text=True, umask=mask)
        assert done.returncode == 0, done.stderr
        (wheel,) = (source / "made").iterdir()
        names.add(wheel.name)
        digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert len(names) == len(digests) == 1
