"""Which formulas leave a list per event, found from the columns' names alone."""

import pytest

from lanner.errors import InputError
from lanner.events.expression_grammar import Place, parse
from lanner.events.expression_levels import check_levels

LISTS = {"Muon_pt", "Muon_phi", "Jet.pt"}


def check(text):
    check_levels(parse(text, "feature 'a'")[0], LISTS, Place(text, "feature 'a'"), "mc.root:Events")


@pytest.mark.parametrize(
    "text",
    [
        "met",
        "Muon_pt[0]",
        "-Muon_pt[-1] + met",
        "Jet.pt[0] > 30 && count(Muon_pt) == 2",
        "(Muon_pt * cos(Muon_phi))[1]",
        "max(where(Muon_pt > met, Muon_pt, 0)) > 3",
        "0 < count(Muon_pt > 10) < 3",
        "!any(abs(Muon_phi) > 2)",
    ],
)
def test_one_value_per_event_is_let_through(text):
    check(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Muon_pt", r"column 'Muon_pt' stays jagged.*Muon_pt\[0\].*max\(Muon_pt\).*count\(Muon_pt\)"),
        ("met + 2 * abs(Jet.pt)", r"column 'Jet.pt' stays jagged.*Jet.pt\[0\]"),
        ("met > 3 && Muon_pt > 10", "column 'Muon_pt' stays jagged"),
        ("1 < Muon_pt < 10", "column 'Muon_pt' stays jagged"),
        ("where(met > 1, met, Muon_pt)", "column 'Muon_pt' stays jagged"),
        ("met[0]", "'met' is one number per event.*leave the index out"),
        ("Muon_pt[0][1]", r"'Muon_pt\[0\]' is one number per event"),
        ("max(met)", r"max takes a list per event, and maximum\(a, b\) two numbers"),
        ("min(Muon_pt[0])", r"min takes a list per event, and minimum\(a, b\)"),
        ("sum(max(Muon_pt))", "leave sum out"),
        ("any(met > 3)", "any takes a list per event"),
        ("count(3)", "'3' is one value per event"),
    ],
)
def test_the_rest_is_refused_in_one_line_with_file_and_formula(text, why):
    with pytest.raises(InputError, match=why) as refused:
        check(text)
    message = str(refused.value)
    assert message.startswith("mc.root:Events, for the feature 'a' ")
    assert "\n" not in message
