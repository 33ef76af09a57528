import math

import numpy as np
import pytest

from lanner.report.learned import Learned
from lanner.report.region import Cut, find_region, local_significance


def learned(f_reference: np.ndarray, f_data: np.ndarray, expected: float) -> Learned:
    share = np.full(len(f_reference), expected / len(f_reference))
    return Learned(share, f_reference, f_data, np.arange(len(share)), None, 0)


def test_local_significance_is_li_and_ma() -> None:
    # Li and Ma (1983), Eq. 17, written out for n_on = 40, n_off = 50, alpha = 0.5.
    on, off, alpha = 40, 50, 0.5
    expected = math.sqrt(
        2 * (on * math.log((1 + alpha) / alpha * on / (on + off)) + off * math.log((1 + alpha) * off / (on + off)))
    )
    assert local_significance(on, alpha * off, alpha**2 * off, alpha) == pytest.approx(expected)
    assert local_significance(10, 25.0, 12.5, 0.5) < 0  # a deficit
    assert local_significance(0, 0.0, 0.0, 0.5) == 0
    assert 0 < local_significance(5, 0.0, 0.0, 0.5) < math.inf  # no reference event there


def test_a_box_in_two_variables_is_found(rng: np.random.Generator) -> None:
    reference = {"x": rng.uniform(0, 1, 20_000), "y": rng.uniform(0, 1000, 20_000)}
    data = {"x": rng.uniform(0, 1, 1000), "y": rng.uniform(0, 1000, 1000)}
    data["x"][:60], data["y"][:60] = rng.uniform(0.7, 1.0, 60), rng.uniform(0, 200, 60)

    def f(columns: dict[str, np.ndarray]) -> np.ndarray:
        return np.where((columns["x"] > 0.7) & (columns["y"] < 200), 0.7, 0.0)

    region = find_region(learned(f(reference), f(data), 1000), reference, data)
    assert region is not None
    cuts = {cut.name: cut for cut in region.cuts}
    assert set(cuts) == {"x", "y"}
    assert cuts["x"].low == pytest.approx(0.7, abs=0.01)
    assert cuts["y"].high == pytest.approx(200, abs=5)
    assert cuts["x"].high == math.inf
    assert region.local_z > 5


def test_a_deficit_is_found_too(rng: np.random.Generator) -> None:
    reference = {"n": rng.integers(0, 4, 8000).astype(float)}
    data = {"n": rng.choice(4, 1000, p=[0.4, 0.4, 0.1, 0.1]).astype(float)}
    f = {name: np.where(columns["n"] >= 2, -0.9, 0.4) for name, columns in (("r", reference), ("d", data))}
    region = find_region(learned(f["r"], f["d"], 1000), reference, data)
    assert region is not None
    assert region.selection in ("n >= 2", "n <= 1")
    assert abs(region.local_z) > 5


def test_a_flat_ratio_has_no_region() -> None:
    columns = {"x": np.linspace(0, 1, 100)}
    assert find_region(learned(np.zeros(100), np.zeros(100), 100), columns, columns) is None


def test_names_that_are_no_identifiers_are_quoted() -> None:
    assert str(Cut("m ll", 1.0, math.inf, integer=False)) == "`m ll` > 1"
    assert str(Cut("class", -math.inf, 2.5, integer=True)) == "`class` <= 2"


def test_huge_and_tiny_values_are_cut_as_well(rng: np.random.Generator) -> None:
    """The tree itself works in single precision; the cuts must not."""
    x = 1e9 + rng.uniform(0, 1, 5000)
    columns = {"time": x, "tiny": rng.uniform(0, 1e-200, 5000)}
    f = np.where(x > 1e9 + 0.5, 1.0, 0.0)
    region = find_region(learned(f, f, 5000), columns, columns)
    assert region is not None
    cut = region.cuts[0]
    assert cut.name == "time"
    assert min(abs(cut.low - 1e9 - 0.5), abs(cut.high - 1e9 - 0.5)) < 0.01


def test_without_a_variable_there_is_no_region() -> None:
    nothing: dict[str, np.ndarray] = {}
    assert find_region(learned(np.zeros(4), np.zeros(2), 2), nothing, nothing) is None
