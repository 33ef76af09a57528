import numpy as np
import pytest

from lanner.errors import InputError
from lanner.inference.toys import draw_roles
from lanner.model.weightings import DATA, REFERENCE

BARRED = np.array([3, 50, 999])


def draw(seed: int, **changes: object) -> np.ndarray:
    settings: dict[str, object] = {"expected": 100, "reference_size": 800, "barred": BARRED} | changes
    return draw_roles(1000, rng=np.random.default_rng(seed), **settings)  # type: ignore[arg-type]


def test_the_reference_has_the_size_asked_for_and_holds_the_centres() -> None:
    for seed in range(20):
        roles = draw(seed)
        assert np.count_nonzero(roles == REFERENCE) == 800
        assert (roles[BARRED] == REFERENCE).all()


def test_the_data_are_poisson() -> None:
    counts = np.array([np.count_nonzero(draw(seed) == DATA) for seed in range(2000)])
    assert counts.mean() == pytest.approx(100, abs=4 * (100 / 2000) ** 0.5)
    assert counts.var() == pytest.approx(100, rel=0.15)


def test_every_other_event_is_data_equally_often() -> None:
    often = sum((draw(seed) == DATA).astype(int) for seed in range(2000))
    assert often[BARRED].sum() == 0
    free = np.delete(often, BARRED)
    expected = 2000 * 100 / 997
    assert ((free - expected) ** 2 / expected).sum() == pytest.approx(997, abs=4 * (2 * 997) ** 0.5)


def test_a_seed_is_a_toy() -> None:
    np.testing.assert_array_equal(draw(5), draw(5))
    assert (draw(5) != draw(6)).any()


def test_too_small_a_pool_is_an_error() -> None:
    with pytest.raises(InputError, match="does not fit into a pool of 1000"):
        draw(1, reference_size=950)
