import numpy as np
import pytest

from lanner.inference.seeds import Stream, rng_of


def test_the_numbers_of_the_streams_never_change() -> None:
    """Kept toys mean something by them."""
    names = ["CENTERS", "TOYS", "DATA", "PIVOTS", "WIDTH", "CALIBRATION", "TUNING", "POWER", "BUNCHES", "ACCEPTED"]
    names += ["AUXILIARY", "NETWORK", "MONITOR"]
    assert [(s.name, s.value) for s in Stream] == [(name, value) for value, name in enumerate(names)]


def test_a_place_has_its_own_numbers_again_and_again() -> None:
    first, again = (rng_of(3, Stream.TOYS, 17).random(5) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    "other",
    [(4, Stream.TOYS, 17), (3, Stream.DATA, 17), (3, Stream.TOYS, 18), (3, Stream.TOYS), (3, Stream.TOYS, 1, 7)],
)
def test_every_other_place_has_others(other: tuple) -> None:
    assert not np.array_equal(rng_of(3, Stream.TOYS, 17).random(5), rng_of(*other).random(5))


def test_streams_are_not_correlated() -> None:
    draws = np.array([rng_of(0, Stream.TOYS, i).standard_normal(2000) for i in range(8)])
    off = np.corrcoef(draws)[~np.eye(8, dtype=bool)]
    assert np.abs(off).max() < 5 / 2000**0.5
