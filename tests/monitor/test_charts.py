"""Charts are well-formed, escaped, and put values where they belong."""

import xml.etree.ElementTree as ET

from lanner.monitor.charts import Chart, diverging, powers


def chart() -> Chart:
    return Chart(200, 100, (0.0, 10.0), (0.0, 1.0), left=20, right=20, top=10, bottom=10)


def test_values_are_where_they_belong() -> None:
    one = chart()
    assert [one.px(x) for x in (0, 5, 10)] == [20, 100, 180]
    assert [one.py(y) for y in (0, 0.5, 1, 9)] == [90, 50, 10, 10]


def test_everything_is_escaped() -> None:
    one, evil = chart(), '<script>alert("x")</script>&\u202e'
    one.frame()
    one.text(1, 1, evil)
    one.y_ticks([(0.5, evil)])
    one.x_ticks([(5, evil)])
    one.y_label(evil)
    one.level(0.5, "#000", evil)
    one.mark(5, 0.5, color="#000", radius=2, hint=evil, link='"x')
    one.mark(5, 5, color="#000", radius=2, hint=evil)
    one.cell((1, 2), (0, 1), "#fff", evil)
    one.curve([0, 1, 2, 3], [0.1, float("nan"), 0.2, 0.3], "#000")
    one.bars([(0, 1, 0.0, 0.5)], "#000")
    one.errors([(1, 0.5, 0.1)], "#000")
    root = ET.fromstring(one.svg(evil, "line"))
    tags = {element.tag for element in root.iter()}
    assert tags == {"svg", "rect", "text", "polyline", "circle", "path", "a", "title"}
    assert any("<script>" in (element.text or "") for element in root.iter("text"))


def test_powers_are_few_and_within() -> None:
    ticks = powers(-300, 0)
    assert len(ticks) <= 9
    assert ticks[-1] == (0, "1")


def test_colours_deepen_with_the_value() -> None:
    reds = [int(diverging(x, 1.0)[5:], 16) for x in (0.0, 0.3, 0.6, 1.0)]
    assert reds == sorted(reds, reverse=True)
    assert diverging(1.0, 0.0) == "#ffffff"
