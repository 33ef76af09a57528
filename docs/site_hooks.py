"""What the site of the documentation needs beyond the pages here: files of the folder above, and links to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
# Files of the folder above by where they stand on the site.
SHOWN = {
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "src/lanner/run/result.schema.json": "schemas/result.schema.json",
    "src/lanner/run/regions.schema.json": "schemas/regions.schema.json",
    "src/lanner/events/analysis/analysis.schema.json": "schemas/analysis.schema.json",
}
_LINK = re.compile(r"\]\(((?:\.\./)+)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """The files of the folder above, as if they stood here."""
    for path, shown in SHOWN.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, shown, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Links out of this folder lead to where the files above are shown."""
    depth = page.file.src_uri.count("/")

    def put_right(link: re.Match[str]) -> str:
        if link[1].count("../") <= depth:
            return link[0]
        return f"]({'../' * depth}{SHOWN[link[2]]}{link[3] or ''})"

    return _LINK.sub(put_right, markdown)
