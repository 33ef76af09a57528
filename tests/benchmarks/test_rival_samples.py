"""The samples of the published problems follow their definitions."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats


def load() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "rival_samples.py"
    spec = spec_from_file_location("rival_samples", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["rival_samples"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


samples = load()


def grid(dimensions: int, points: int) -> np.ndarray:
    axis = (np.arange(points) + 0.5) / points
    return np.stack(np.meshgrid(*[axis] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)


def test_the_bump_is_the_papers() -> None:
    y = np.array([-1.2, -1.0, -0.9, -0.75, -0.5, -0.25, -0.1, 0.0, 0.3])
    side = np.exp(-1 / (1 - 0.6**2))
    np.testing.assert_allclose(samples.bump(y), [0, 0, side, np.exp(-1), 0, -np.exp(-1), -side, 0, 0])


def test_the_two_halves_of_a_bump_cancel() -> None:
    whole, _ = integrate.quad(lambda y: float(samples.bump(np.array([y]))[0]), -1, 0, points=[-0.5])
    assert whole == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_density_integrates_to_one_and_keeps_within_its_scale(dimensions: int) -> None:
    signs = samples.random_signs(dimensions, np.random.default_rng(1))
    scale = samples.SCALES[dimensions]
    density = samples.perturbed_density(grid(dimensions, 400), signs, scale)
    assert density.mean() == pytest.approx(1, abs=1e-9)
    assert density.min() == pytest.approx(1 - scale, abs=1e-3)
    assert density.max() == pytest.approx(1 + scale, abs=1e-3)


def test_a_sign_turns_its_own_bump_alone() -> None:
    x = grid(2, 40)
    one, other = np.ones((2, 2)), np.ones((2, 2))
    other[0, 1] = -1
    first, second = (samples.perturbed_density(x, s, 0.4) - 1 for s in (one, other))
    turned = (x[:, 0] < 0.5) & (x[:, 1] > 0.5)
    np.testing.assert_allclose(second[turned], -first[turned])
    np.testing.assert_allclose(second[~turned], first[~turned])


def test_signs_are_even() -> None:
    rng = np.random.default_rng(1)
    drawn = np.stack([samples.random_signs(2, rng) for _ in range(2000)])
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert np.abs(drawn.mean(axis=0)).max() < 0.1


def test_perturbed_events_follow_the_density() -> None:
    rng = np.random.default_rng(1)
    signs = samples.random_signs(1, rng)
    x = samples.perturbed_uniform(100_000, 1, signs, 0.2, rng)
    edges = np.linspace(0, 1, 41)
    expected = samples.perturbed_density(grid(1, 4000), signs, 0.2).reshape(40, 100).mean(axis=1) * 2500
    found, _ = np.histogram(x, edges)
    assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 0.001


@pytest.mark.parametrize("wider", [False, True])
def test_one_of_four_gaussians_is_wider(wider: bool) -> None:
    x = samples.four_gaussians(40_000, np.random.default_rng(1), wider=wider)
    assert set(map(tuple, np.sign(x))) == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    first = (x > 0).all(axis=1)
    assert first.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_allclose(np.abs(x).mean(axis=0), 20, atol=0.05)
    np.testing.assert_allclose(x[first].std(axis=0), 1.3 if wider else 1.0, rtol=0.03)
    np.testing.assert_allclose((np.abs(x[~first]) - 20).std(axis=0), 1.0, rtol=0.03)


def test_azimuths_are_read_by_name_and_no_row_is_in_both_samples(tmp_path: Path) -> None:
    rows = np.arange(600.0).reshape(100, 6)
    rows[:, 5] = np.arange(100) % 2
    header = "other,jet_4_phi,jet_3_phi,jet_2_phi,jet_1_phi,label"
    np.savetxt(tmp_path / "higgs.csv", rows, delimiter=",", header=header, comments="")
    found = samples.Azimuths.read(tmp_path / "higgs.csv")
    np.testing.assert_array_equal(found.background, rows[::2, 4:0:-1])
    assert found.has(50)
    assert not found.has(51)
    for different in (True, False):
        first, second = found.draw(40, np.random.default_rng(1), different=different)
        assert len(np.unique(np.vstack([first, second]), axis=0)) == 80
    background = set(map(tuple, found.background))
    assert set(map(tuple, found.draw(40, np.random.default_rng(1), different=True)[0])) <= background
