import numpy as np
import pytest

from lanner.errors import InputError
from lanner.report.binning import bin_numbers, choose_edges, histogram


def test_default_bins_cover_the_central_995_permille(rng: np.random.Generator) -> None:
    values = rng.standard_normal(100_000)
    edges = choose_edges(values, values)
    assert len(edges) == 31
    np.testing.assert_allclose(np.diff(edges), edges[1] - edges[0])
    inside = np.mean((values >= edges[0]) & (values <= edges[-1]))
    assert inside == pytest.approx(0.995, abs=1e-4)


def test_the_range_includes_an_excess_beyond_the_reference(rng: np.random.Generator) -> None:
    reference = rng.uniform(0, 1, 1000)
    edges = choose_edges(reference, np.append(rng.uniform(0, 1, 90), [5.0] * 10))
    assert edges[-1] == pytest.approx(5.0)
    assert edges[-1] > 5.0  # in the last bin, not in the overflow


def test_a_variable_that_starts_at_0_is_shown_from_0(rng: np.random.Generator) -> None:
    """Its 0.25 % quantile is a hair above 0, and an underflow of that width would tell nothing."""
    values = rng.exponential(size=10_000)
    edges = choose_edges(values, values[:500])
    assert edges[0] == values.min()
    assert edges[-1] < values.max()


def test_whole_numbers_get_unit_bins(rng: np.random.Generator) -> None:
    edges = choose_edges(rng.integers(0, 6, 1000).astype(float), rng.integers(0, 6, 100).astype(float))
    np.testing.assert_array_equal(edges, np.arange(7) - 0.5)


def test_many_whole_numbers_get_bins_of_several_units(rng: np.random.Generator) -> None:
    edges = choose_edges(rng.integers(0, 1000, 5000).astype(float), np.arange(1000.0))
    assert len(edges) <= 51
    assert np.all(np.diff(edges) == edges[1] - edges[0])
    assert (edges[1] - edges[0]) % 1 == 0


def test_a_variable_that_hardly_varies_still_has_bins() -> None:
    edges = choose_edges(np.append(np.full(1000, 0.25), 7.0), np.full(10, 0.25))
    assert edges[0] < 0.25 < edges[-1]


def test_edges_given_are_kept_and_a_number_is_obeyed(rng: np.random.Generator) -> None:
    values = rng.uniform(size=100)
    np.testing.assert_array_equal(choose_edges(values, values, [0.0, 0.1, 1.0]), [0.0, 0.1, 1.0])
    assert len(choose_edges(values, values, 7)) == 8


@pytest.mark.parametrize("bins", [0, [1.0], [1.0, 1.0], [0.0, np.nan]])
def test_bins_that_are_none_are_refused_by_name(bins: object) -> None:
    with pytest.raises(InputError, match="'pt'"):
        choose_edges(np.arange(9) / 7, np.arange(9) / 7, bins, name="pt")  # type: ignore[arg-type]


def test_open_ends_have_numbers_of_their_own() -> None:
    np.testing.assert_array_equal(bin_numbers(np.array([-1.0, 0.0, 0.5, 1.0]), np.array([0.0, 1.0])), [0, 1, 1, 2])


def test_bins_without_reference_are_joined_until_they_have_some(rng: np.random.Generator) -> None:
    reference, data = rng.exponential(1.0, 2000), np.append(rng.exponential(1.0, 150), np.full(14, 12.0))
    edges = choose_edges(reference, data)
    assert edges[-1] > 12
    counts = np.histogram(reference, edges)[0]
    assert counts.min() >= 5
    uniform = choose_edges(reference, data, 30)
    assert len(uniform) == 31
    assert set(edges) <= set(uniform)
    assert np.histogram(reference, uniform)[0].min() == 0


def test_histograms_count_as_the_bin_numbers_say(rng: np.random.Generator) -> None:
    x, y, weights = rng.normal(size=(3, 500))
    edges = [np.linspace(-1, 1, 4), np.linspace(-2, 0, 3)]
    filled = histogram([x, y], edges, ["for", "y"], weights)
    cells = bin_numbers(x, edges[0]) * 4 + bin_numbers(y, edges[1])
    np.testing.assert_allclose(filled.values(flow=True).ravel(), np.bincount(cells, weights, 20))
    np.testing.assert_allclose(filled.variances(flow=True).ravel(), np.bincount(cells, weights**2, 20))
    assert [axis.label for axis in filled.axes] == ["for", "y"]


@pytest.mark.parametrize("bins", [None, 1, 10])
@pytest.mark.parametrize(
    "values",
    [
        1e18 + 128 * np.arange(5.0),
        np.array([-1e308, 1e308]),
        np.full(3, np.finfo(float).max),
        np.array([0.0, 5e-324]),
        np.array([-(2.0**31) + 1, 2.0**31 - 1]),
        np.random.default_rng(1).integers(1, 10**9, 1000).astype(float),
    ],
)
def test_very_large_numbers_get_few_edges_that_rise(values: np.ndarray, bins: int | None) -> None:
    edges = choose_edges(values, values[:2], bins)
    assert 2 <= len(edges) <= 52
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
