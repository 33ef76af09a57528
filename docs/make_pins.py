"""Write constraints.txt from what pip would install, as it reports it: `make pins`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PINS = ROOT / "constraints.txt"
HEAD = """\
# The versions that the checks ran with, so that they run the same everywhere. Users are not bound by these.
# `make pins` chooses them anew.
"""
# Libraries of a GPU's maker, which come with some builds of Torch and not with others.
OF_A_GPU = re.compile(r"(nvidia|cuda|triton)\b")


def pins(report: dict[str, Any]) -> str:
    """Each package of a report of `pip install --report` at its version, the project itself left out."""
    found = {}
    for package in report["install"]:
        name, version = package["metadata"]["name"], package["metadata"]["version"]
        if package.get("is_direct") is not True and not OF_A_GPU.match(name.lower()):
            found[re.sub(r"[-_.]+", "-", name).lower()] = f"{name}=={version.partition('+')[0]}\n"
    return HEAD + "".join(line for _, line in sorted(found.items()))


def refuse_newer_python(project: dict[str, Any], here: tuple[int, int]) -> None:
    """What the oldest Python takes installs on the others too, but not the other way round."""
    oldest = re.fullmatch(r">=(\d+)\.(\d+)", project["requires-python"])
    assert oldest is not None
    wanted = int(oldest[1]), int(oldest[2])
    if here != wanted:
        raise SystemExit(
            f"this is Python {here[0]}.{here[1]}. Versions are chosen with the oldest Python that Lanner supports, "
            f"because what needs a newer one would not install there: make pins PYTHON=python{wanted[0]}.{wanted[1]}"
        )


if __name__ == "__main__":
    refuse_newer_python(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], sys.version_info[:2])
    if len(sys.argv) > 1:  # otherwise it was only asked whether this Python will do
        PINS.write_text(pins(json.loads(Path(sys.argv[1]).read_text())), encoding="utf-8")
