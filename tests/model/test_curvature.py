import numpy as np
import pytest

from conftest import shaped
from lanner.errors import NotConvexError
from lanner.model.centers import choose_pivots
from lanner.model.curvature import Factored, second_moment
from lanner.model.features import make_features
from lanner.model.kernel import GaussianKernel

EVENTS = shaped(3, 2500)


@pytest.mark.parametrize("memory", [10**9, 8_000_000], ids=["stored", "streamed"])
@pytest.mark.parametrize("weighted", ["no", "positive", "some negative"])
def test_equals_the_dense_sum(memory: int, weighted: str, rng: np.random.Generator) -> None:
    basis = choose_pivots(EVENTS[:300], GaussianKernel(1.5), trace_error=1e-6, max_rank=300, rng=rng)
    features = make_features(EVENTS, basis, precision="double", memory=memory)
    assert features.storage == ("stored" if memory > 10**8 else "streamed")
    weights = {"no": None, "positive": rng.random(1500), "some negative": rng.normal(0.5, 1, 1500)}[weighted]
    phi = basis.features(EVENTS[200:1700])
    dense = (phi * (1 if weights is None else weights[:, None])).T @ phi
    np.testing.assert_allclose(second_moment(features, weights, slice(200, 1700)), dense, atol=1e-6)


def test_a_concave_direction_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(NotConvexError, match=r"curvature -5.*raise the penalty"):
        Factored(np.diag([1.0, -5.0]), 2.0, convex=False)


def test_the_penalty_can_make_up_for_it() -> None:
    np.testing.assert_allclose(
        Factored(np.diag([1.0, -5.0]), 6.0, convex=False).solve(np.array([7.0, 2.0])), [1.0, 2.0]
    )
