"""What an analysis declares."""

from pathlib import Path

from lanner.events.analysis import AnalysisFile, Feature, Simulated


def test_an_axis_has_the_label_and_the_unit() -> None:
    assert Feature("pt").axis == "pt"
    assert Feature("pt", unit="GeV").axis == "pt [GeV]"
    assert Feature("pt", label="$p_T$", unit="GeV").axis == "$p_T$ [GeV]"


def test_processes_stand_in_the_order_of_their_first_samples() -> None:
    samples = tuple(Simulated(name, (), process) for name, process in (("a", "top"), ("b", "dy"), ("c", "top")))
    assert AnalysisFile(Path("a.yaml"), samples, (), ()).processes == ("top", "dy")


def test_an_entry_without_a_line_is_where_the_entry_around_it_is() -> None:
    found = AnalysisFile(Path("a.yaml"), (), (), (), lines={("samples",): 2, ("samples", "dy"): 3})
    assert found.where("samples", "dy", "weights") == "a.yaml:3"
    assert found.where("samples", "top") == "a.yaml:2"
    assert found.where("data") == "a.yaml"
