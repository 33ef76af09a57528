"""Write docs/licences.md from the metadata of what is installed: `make licences`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "licences.md"
UNKNOWN = "unknown"
_LONG = 100  # letters, beyond which a field holds the text of a licence instead of its name
_SAYS_NOTHING = ("", "unknown", "osi approved")
# Libraries of a GPU's maker, which come with some builds of Torch and not with others.
_OF_A_GPU = re.compile(r"(nvidia|cuda|triton)\b")

HEAD = """\
# Licences of what Lanner needs

Every package that is installed with Lanner, or with one of its extras, at its version in `constraints.txt`, with the
licence that its own metadata name. None of them is part of Lanner's wheel. `make licences` writes this page.

The builds of Torch for NVIDIA's GPUs bring NVIDIA's libraries besides (`nvidia-...`, `cuda-...`), which are under
NVIDIA's own terms, and `triton` (MIT). They are not listed, because which of them come depends on the build. `fastjet`
names the licence of its Python code; FastJet itself, which it holds, is under the GPL.
"""

Found = dict[str, Distribution]  # by the name that all spellings share


def needed(requirements: Iterable[str]) -> Found:
    """The installed packages that these requirements ask for, and those that they ask for in turn."""
    found: Found = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        if _OF_A_GPU.match(name) or not (wanted.marker is None or wanted.marker.evaluate({"extra": extra})):
            continue
        if name not in found:
            try:
                found[name] = distribution(wanted.name)
            except PackageNotFoundError:
                raise SystemExit(f"{wanted.name} is not installed: run `make licences`, which installs it") from None
        for asked in ("", *wanted.extras):
            if (name, asked) not in seen:
                seen.add((name, asked))
                waiting += [(Requirement(text), asked) for text in found[name].requires or ()]
    return found


def licence(metadata: PackageMetadata) -> str:
    """The licence that a package names: as an expression, in words, or by its classifiers; "unknown" if nowhere."""
    if "License-Expression" in metadata:
        return " ".join(metadata["License-Expression"].split())
    words = " ".join(metadata["License"].split()) if "License" in metadata else ""
    if words.lower() not in _SAYS_NOTHING and len(words) <= _LONG:
        return words
    kinds = [c.split(" :: ")[-1] for c in metadata.get_all("Classifier") or () if c.startswith("License :: ")]
    return ", ".join(kind for kind in kinds if kind.lower() not in _SAYS_NOTHING) or UNKNOWN


def groups() -> dict[str, Found]:
    """All packages by what asks for them: a plain installation first, then each extra with what it adds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plain = needed(project["dependencies"])
    made = {"A plain installation: `pip install lanner`": plain}
    extras: dict[str, list[str]] = project["optional-dependencies"]
    for wanted in dict.fromkeys(map(tuple, extras.values())):
        names = [f"`lanner[{name}]`" for name, other in extras.items() if tuple(other) == wanted]
        added = {name: of for name, of in needed(wanted).items() if name not in plain}
        made[f"{' and '.join(names)}, in addition"] = added
    return made


def page() -> str:
    """The tables of licences."""
    parts = [HEAD]
    for title, found in groups().items():
        lines = [f"\n## {title}\n", "| package | version | licence |", "|---|---|---|"]
        for _, of in sorted(found.items()):
            # A version without the name of a local build, such as "+cpu".
            lines.append(f"| {of.metadata['Name']} | {Version(of.version).public} | {licence(of.metadata)} |")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
