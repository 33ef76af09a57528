"""Figures as SVG that may stand inside a page: nothing in it runs, loads or collides with its neighbours."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from lanner.report.plots.style import hep_style, lay_out, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TAGS = {"svg", "g", "path", "use", "defs", "clipPath", "rect", "image", "pattern"}
_ATTRIBUTES = {
    "id", "d", "x", "y", "width", "height", "viewBox", "transform", "style", "clip-path", "href",
    "patternUnits", "clipPathUnits", "preserveAspectRatio", "fill", "fill-opacity", "stroke", "stroke-width",
    "stroke-opacity", "opacity",
}  # fmt: skip
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_ANY_URL = re.compile(r"url\(\s*(?!#)", re.IGNORECASE)


def as_svg(figure: Figure, *, prefix: str, title: str) -> str:
    """The figure as inline SVG: letters as outlines, every id prefixed, and nothing but shapes."""
    buffer = io.StringIO()
    with hep_style():
        lay_out(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return sanitised(buffer.getvalue(), prefix=prefix, title=title)


def sanitised(text: str, *, prefix: str, title: str) -> str:
    """SVG with known elements and attributes only, ids unique to `prefix`, and a title for those who cannot see it."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # drops comments, which hold the text of every label, and the document type
    _clean(root, prefix)
    for attribute in ("width", "height"):  # in points; the page decides
        root.attrib.pop(attribute, None)
    # Matplotlib says this in a style sheet, which inside a page would apply to all of it.
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    root.set("role", "img")
    root.set("aria-label", visible(title))
    return ET.tostring(root, encoding="unicode")


def _clean(element: ET.Element, prefix: str) -> None:
    for name, value in list(element.attrib.items()):
        del element.attrib[name]
        name = "href" if name == _HREF else name
        if name not in _ATTRIBUTES or _ANY_URL.search(value):
            continue
        if name == "id":
            value = f"{prefix}-{value}"
        elif name == "href":
            if value.startswith("#"):
                value = f"#{prefix}-{value[1:]}"
            elif not value.startswith("data:image/png;base64,"):
                continue
        element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
    for child in list(element):
        if child.tag.removeprefix(f"{{{_SVG}}}") not in _TAGS or not child.tag.startswith(f"{{{_SVG}}}"):
            element.remove(child)
        else:
            _clean(child, prefix)
    element.text = element.tail = None  # shapes have no text
