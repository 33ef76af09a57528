from lanner.report.plots.scales import plot_scales
from lanner.report.plots.style import new_axes
from tests.report.text.test_verdict import kept


def test_each_size_of_deviation_has_a_line_and_the_most_significant_scale_a_circle() -> None:
    combined = kept("combined").combined
    assert combined is not None
    ax = new_axes()
    assert plot_scales(combined, ax) is ax
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "tuned to deviations of 20 %",
        "tuned to deviations of a factor 2",
        "tuned to deviations of a factor 7",
        "the most significant scale",
    ]
    best = combined.scales[combined.dominant_scale]
    circle = next(line for line in ax.lines if line.get_label() == "the most significant scale")
    assert [float(x) for x in circle.get_xydata()[0]] == [best.width, best.local_z]  # type: ignore[index, arg-type]
