import numpy as np
import pytest
from scipy import stats

from lanner.paper.datasets.library import Library
from lanner.paper.datasets.one_dimensional import ideal_significance
from lanner.paper.reproduce.cases import case
from lanner.paper.reproduce.measure import Events, closest_dof, ideal_significances, pool_size, sample_of

CASE = case("one-dimensional", scale="smoke")
EVENTS = Events(CASE, Library("one-dimensional"))


def test_the_closest_chi2_of_chi2_toys_is_their_own(rng: np.random.Generator) -> None:
    assert closest_dof(rng.chisquare(12.0, 20_000)) == pytest.approx(12.0, abs=0.15)


def test_a_few_toys_below_zero_hardly_move_the_closest_chi2(rng: np.random.Generator) -> None:
    t = rng.chisquare(12.0, 2000)
    t[:10] = -50.0
    assert closest_dof(t) == pytest.approx(12.0, abs=0.5)


def test_a_pool_has_room_for_reference_and_data() -> None:
    # Data of 400 expected events have more than 400 + 5 sqrt(400) once in millions of toys.
    assert pool_size(CASE, 2000) > 2000 + 400 + 5 * 20
    assert len(EVENTS.background(2000)["x"]) == pool_size(CASE, 2000)


def test_signals_are_large_enough_for_every_strength() -> None:
    for signal in CASE.signals:
        assert len(EVENTS.signal(signal)["x"]) > 10 * max(signal.strengths)


def test_columns_in_the_order_asked_for() -> None:
    columns = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0]), "c": np.zeros(2)}
    sample = sample_of(columns, ("b", "a"))
    assert sample.names == ("b", "a")
    np.testing.assert_array_equal(sample.features, [[3.0, 1.0], [4.0, 2.0]])


def test_ideal_significances_of_the_exact_likelihood_ratio() -> None:
    found = ideal_significances(EVENTS)["z"]
    for signal in CASE.signals:
        assert found[signal.name] == [ideal_significance(signal.name, n, expected=400.0) for n in signal.strengths]


class MadeUp:
    """A library in which the mass is an exponential, with a Gaussian line or with a heavier tail."""

    def events(self, name: str, n: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(len(name))
        if name.startswith("zprime"):
            return {"mll": rng.normal(float(name[-3:]), 5.0, n)}
        return {"mll": 100 + rng.exponential(100.0 if name.startswith("contact") else 80.0, n)}


def test_ideal_significances_of_a_line_in_the_mass() -> None:
    chosen = case("dimuon", scale="smoke")
    found = ideal_significances(Events(chosen, MadeUp()))["z"]  # type: ignore[arg-type]
    line = next(s for s in chosen.signals if s.mass == 300.0)
    # In a window of +-1.4 widths, the best on a flat background.
    inside = 2 * stats.norm.cdf(1.4) - 1
    background = 400 * (np.exp(-(200 - 7) / 80) - np.exp(-(200 + 7) / 80))
    n, b = line.strengths[-1] * inside, background
    asimov = np.sqrt(2 * ((n + b) * np.log1p(n / b) - n))
    assert found["zprime-300"][-1] == pytest.approx(asimov, rel=0.25)
