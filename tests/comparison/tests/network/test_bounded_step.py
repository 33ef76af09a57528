import numpy as np
import pytest
from scipy.optimize import lsq_linear

torch = pytest.importorskip("torch", reason="the network needs torch: pip install 'lanner[network]'")

from lanner.comparison.tests.network.bounded_step import bounded_step, next_damping  # noqa: E402

CLIP = 0.87
NETWORKS, PARAMETERS = 20, 12


@pytest.fixture
def problem():
    """Parameters within the box, some at its bound, a gradient and a curvature for each network."""
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=(NETWORKS, 40, PARAMETERS))
    now = np.clip(rng.normal(size=(NETWORKS, PARAMETERS)), -CLIP, CLIP).astype(np.float32)
    gradient = 20 * rng.normal(size=(NETWORKS, PARAMETERS))
    return now, gradient, np.einsum("nij,nik->njk", slopes, slopes)


def step_of(problem, damping=1e-9):
    now, gradient, curvature = map(torch.from_numpy, problem)
    return bounded_step(now, gradient.float(), curvature, torch.full((NETWORKS,), damping).double(), CLIP)


def falls(problem, moved):
    """By how much the quadratic model falls."""
    _, gradient, curvature = problem
    return -(gradient * moved).sum(axis=1) - np.einsum("ni,nij,nj->n", moved, curvature, moved) / 2


def best_moves(problem):
    """The model's minimum in the box, from scipy: 1/2 |L^T (x + H^-1 g)|^2 with H = L L^T."""
    moves = []
    for now, gradient, curvature in zip(*problem, strict=True):
        root = np.linalg.cholesky(curvature)
        found = lsq_linear(root.T, -np.linalg.solve(root, gradient), (-CLIP - now, CLIP - now), tol=1e-12)
        moves.append(found.x)
    return np.array(moves)


def test_the_step_ends_in_the_box_near_the_lowest_point(problem) -> None:
    step = step_of(problem)
    moved = step.parameters.numpy().astype(float) - problem[0]
    assert np.abs(step.parameters.numpy()).max() <= np.float32(CLIP)
    best = falls(problem, best_moves(problem))
    assert (falls(problem, moved) <= best * (1 + 1e-5)).all()
    assert np.median(falls(problem, moved) / best) > 0.98


def test_it_is_better_than_clipping_the_free_step(problem) -> None:
    now, gradient, curvature = problem
    free = np.linalg.solve(curvature, -gradient[:, :, None])[:, :, 0]
    clipped = np.clip(now + free, -CLIP, CLIP) - now
    moved = step_of(problem).parameters.numpy().astype(float) - now
    assert np.mean(falls(problem, moved)) > 1.05 * np.mean(falls(problem, clipped))


def test_the_promised_gain_is_that_of_the_model(problem) -> None:
    step = step_of(problem)
    moved = step.parameters.numpy().astype(float) - problem[0]
    assert step.gain.numpy() == pytest.approx(falls(problem, moved), rel=1e-5)


def test_without_bounds_in_reach_it_is_newtons_step(problem) -> None:
    now, gradient, curvature = problem
    inside = (0.1 * now, 1e-3 * gradient, curvature)
    expected = 0.1 * now + np.linalg.solve(curvature, -1e-3 * gradient[:, :, None])[:, :, 0]
    assert step_of(inside).parameters.numpy() == pytest.approx(expected, abs=1e-6)


def test_much_damping_makes_small_steps_downhill(problem) -> None:
    step = step_of(problem, damping=1e6)
    moved = step.parameters.numpy() - problem[0]
    assert np.abs(moved).max() < 1e-5
    assert (step.gain.numpy() >= 0).all()


def test_damping_follows_what_the_steps_gain() -> None:
    fallen = torch.tensor([1.0, 0.5, 0.1, -1.0, float("nan")], dtype=torch.float64)
    found = next_damping(torch.full((5,), 0.1, dtype=torch.float64), fallen, torch.ones(5, dtype=torch.float64))
    assert found.numpy() == pytest.approx([0.1 / 3, 0.1, 0.2, 0.4, 0.4])
