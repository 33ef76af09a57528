import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from lanner.report.plots.figures import pictures
from lanner.report.plots.search import plot_null
from lanner.report.plots.svg import as_svg, sanitised
from tests.report.showcase import the_case, the_findings

EVIL = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" onload="alert(1)">
<metadata>made by</metadata><style>* {color: red}</style><script>alert(1)</script><!-- a label -->
<g id="a" onclick="alert(1)" style="fill: url(http://x/y)"><foreignObject><p>hi</p></foreignObject>text</g>
<use xlink:href="#a"/><use xlink:href="http://evil/x.svg#a"/><image href="https://evil/x.png"/>
<image href="data:image/png;base64,AAAA"/><path clip-path="url(#a)" d="M 0 0"/><a href="javascript:alert(1)"/></svg>"""


def test_only_shapes_are_left() -> None:
    clean = sanitised(EVIL, prefix="f1", title='a "title" <b>')
    assert not re.search(r"script|alert|evil|foreign|metadata|http://x|made by|label -->|color|text<", clean)
    assert 'href="#f1-a"' in clean
    assert 'clip-path="url(#f1-a)"' in clean
    assert "data:image/png;base64,AAAA" in clean
    assert ET.fromstring(clean).get("aria-label") == 'a "title" <b>'


def test_ids_of_different_figures_never_meet_and_references_hit() -> None:
    few = replace(the_findings(), profiles=the_findings().profiles[:2])
    made = pictures(the_case().result, few)
    ids = [i for picture in made for i in re.findall(r'\bid="([^"]*)"', picture.svg)]
    assert len(ids) == len(set(ids)) > 50
    used = {i for picture in made for i in re.findall(r'(?:href="#|url\(#)([^")]*)', picture.svg)}
    assert used <= set(ids)


def test_the_same_result_gives_the_same_figure() -> None:
    once, again = (as_svg(plot_null(the_case().result).figure, prefix="a", title="t") for _ in range(2))  # type: ignore[arg-type]
    assert once == again
