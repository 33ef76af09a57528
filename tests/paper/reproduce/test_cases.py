import pytest

from lanner.errors import InputError
from lanner.paper.datasets.library import MODULES, experiment_module
from lanner.paper.reproduce.cases import case


def test_the_papers_settings() -> None:
    full = case("one-dimensional")
    assert (full.expected, full.reference_size, full.centers, full.width, full.penalty) == (2000, 2e5, 3000, 0.3, 1e-10)
    dimuon = case("dimuon")
    assert dimuon.cuts == (("mass", 60.0),)
    assert (dimuon.expected, dimuon.reference_size, dimuon.centers, dimuon.width) == (2e4, 1e5, 2e4, 3.0)
    for name, widths in (("susy", (4.5, 5.0)), ("higgs", (7.0, 7.5))):
        uci = case(name)
        assert (uci.expected, uci.reference_size, uci.centers, uci.penalty) == (1e5, 5e5, 1e4, 1e-6)
        assert (uci.width, uci.width_all) == widths


@pytest.mark.parametrize(("name", "scale"), [("1d", "paper"), ("dimuon", "huge")])
def test_what_is_not_known_is_refused(name: str, scale: str) -> None:
    with pytest.raises(InputError, match="choose"):
        case(name, scale=scale)


@pytest.mark.parametrize("name", list(MODULES))
@pytest.mark.parametrize("scale", ["paper", "smoke"])
def test_cases_agree_with_their_experiments(name: str, scale: str) -> None:
    chosen, module = case(name, scale=scale), experiment_module(name)
    assert {s.name for s in chosen.signals} <= set(module.SIGNALS)
    if name != "one-dimensional":
        assert chosen.low_level == module.LOW_LEVEL
        assert set(chosen.ratio_variables) <= set(module.HIGH_LEVEL)
    for signal, strength in chosen.shown:
        assert chosen.one(signal, strength).strengths == (
            next(s for s in chosen.signals if s.name == signal).strengths[strength],
        )


def test_a_smoke_case_is_small_and_has_signals_of_similar_significance() -> None:
    full, small = case("susy"), case("susy", scale="smoke")
    assert small.expected == 400
    assert small.reference_size == 2000
    # Signal over root background
    assert small.signals[0].strengths[-1] / 400**0.5 == pytest.approx(650 / full.expected**0.5, rel=0.01)
    assert small.paper == {}
