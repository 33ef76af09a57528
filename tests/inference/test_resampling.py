import numpy as np
import pytest

from lanner.errors import InputError
from lanner.inference.resampling import PermutationScheme, ReferenceScheme, WeightedReferenceScheme, room_for_data
from lanner.model.splits import Splits
from lanner.model.weightings import DATA, REFERENCE

HELD_OUT = np.array([3, 50, 999])


def scheme(**changes: object) -> ReferenceScheme:
    settings: dict[str, object] = {
        "reference": 1000, "data_size": 90, "expected": 100, "fixed": None, "reference_size": 800, "held_out": HELD_OUT,
        "seed": 1,
    }  # fmt: skip
    return ReferenceScheme(**(settings | changes))  # type: ignore[arg-type]


def test_the_reference_has_the_size_asked_for_and_holds_the_centres() -> None:
    for i in range(20):
        for roles in (scheme().toy(i).roles(), scheme().data(i).roles()):
            assert np.count_nonzero(roles == REFERENCE) == 800
            assert (roles[HELD_OUT] == REFERENCE).all()


def test_toys_leave_the_data_out_and_the_datas_fit_takes_them_all() -> None:
    assert (scheme().toy(0).roles()[1000:] == 0).all()
    roles = scheme().data(0).roles()
    assert (roles[1000:] == DATA).all()
    assert (roles[:1000] != DATA).all()


def test_the_number_of_data_is_poisson_or_fixed() -> None:
    counts = np.array([np.count_nonzero(scheme().toy(i).roles() == DATA) for i in range(2000)])
    assert counts.mean() == pytest.approx(100, abs=4 * (100 / 2000) ** 0.5)
    assert counts.var() == pytest.approx(100, rel=0.15)
    assert {np.count_nonzero(scheme(fixed=77).toy(i).roles() == DATA) for i in range(10)} == {77}


def test_every_other_event_is_data_equally_often() -> None:
    often = sum((scheme().toy(i).roles()[:1000] == DATA).astype(int) for i in range(2000))
    assert often[HELD_OUT].sum() == 0
    free, mean = np.delete(often, HELD_OUT), 2000 * 100 / 997
    assert ((free - mean) ** 2 / mean).sum() == pytest.approx(997, abs=4 * (2 * 997) ** 0.5)


def test_a_number_and_a_seed_are_a_toy() -> None:
    np.testing.assert_array_equal(scheme().toy(5).roles(), scheme().toy(5).roles())
    assert (scheme().toy(5).roles() != scheme().toy(6).roles()).any()
    assert (scheme().toy(5).roles() != scheme(seed=2).toy(5).roles()).any()
    assert (scheme().data(0).roles() != scheme().data(1).roles()).any()


def test_the_room_is_never_exceeded(rng: np.random.Generator) -> None:
    for mean in (1.0, 10.0, 1000.0):
        assert rng.poisson(mean, 10**6).max() < room_for_data(mean, None)
    assert room_for_data(10.0, 7) == 7


def test_too_small_a_pool_is_an_error() -> None:
    with pytest.raises(InputError, match="does not fit into a reference of 1000"):
        scheme(reference_size=950).toy(1).roles()


def halves(blocks: int = 4, rows: int = 1000) -> Splits:
    order = np.random.default_rng(9).permutation(np.setdiff1d(np.arange(rows), HELD_OUT))
    return Splits.of(order, HELD_OUT, rows, blocks)


@pytest.mark.parametrize("blocks", [1, 2, 4, 16])
def test_a_toys_data_have_no_part_in_the_moments_that_judge_it(blocks: int) -> None:
    splits = halves(blocks)
    seen = set()
    for i in range(60):
        toy = scheme(splits=splits).toy(i)
        assert toy.split == i % splits.number
        shaping = splits.shaping[toy.split][splits.labels[toy.data]]
        assert (splits.labels[toy.data] >= 0).all()
        assert not shaping.any()
        assert toy.reference_size == 800
        assert len(set(toy.data)) == len(toy.data)
        assert not np.isin(toy.left_out, np.concatenate([toy.data, HELD_OUT])).any()
        assert len(set(toy.left_out)) == len(toy.left_out)
        seen.add(toy.split)
    assert len(seen) == splits.number
    assert scheme(splits=splits).data(0).split is None  # by all of them


def test_with_splits_too_every_event_is_data_and_is_left_out_equally_often() -> None:
    made, splits = scheme(splits=halves()), halves()
    toys = [made.toy(i) for i in range(300 * splits.number)]
    for rows, mean in (("data", 100.0), ("left_out", None)):
        often = np.bincount(np.concatenate([getattr(t, rows) for t in toys]), minlength=1000)
        assert often[HELD_OUT].sum() == 0
        free = np.delete(often, HELD_OUT)
        per_event = np.mean([len(getattr(t, rows)) for t in toys]) * len(toys) / 997
        if mean is not None:
            assert per_event == pytest.approx(len(toys) * mean / 997, rel=0.01)
        assert ((free - per_event) ** 2 / per_event).sum() < 997 + 5 * (2 * 997) ** 0.5
    assert np.mean([len(t.data) for t in toys]) == pytest.approx(100, abs=4 * (100 / len(toys)) ** 0.5)


def test_a_signal_belongs_to_the_split_of_its_toy() -> None:
    toy = scheme(splits=halves()).with_signal(3, 20.0, alone=False)
    own = toy.data[toy.data < 1000]
    assert toy.split is not None
    assert not halves().shaping[toy.split][halves().labels[own]].any()
    assert len(toy.data) > len(own)


def weighted(weights: np.ndarray, source: int = 400, splits: Splits | None = None) -> WeightedReferenceScheme:
    return WeightedReferenceScheme(1000, 0, 50.0, None, 500, HELD_OUT, 1, splits, weights=weights, n_hit_or_miss=source)


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_weighted_toys_have_no_part_in_the_moments_that_judge_them(blocks: int) -> None:
    splits, weights = halves(blocks), np.linspace(0.5, 1.0, 1000)
    for i in range(40):
        toy = weighted(weights, splits=splits).toy(i)
        assert toy.split == i % splits.number
        assert (splits.labels[toy.data] >= 0).all()
        assert not splits.shaping[toy.split][splits.labels[toy.data]].any()
        assert toy.reference_size == 500
        roles = toy.roles()
        assert np.count_nonzero(roles == DATA) == len(toy.data)
        assert (roles[HELD_OUT] == REFERENCE).all()


def test_with_splits_weighted_events_become_data_as_often_as_they_weigh() -> None:
    weights = np.where(np.arange(1000) < 500, 1.0, 0.25)
    often = sum((weighted(weights, splits=halves()).toy(i).roles() == DATA).astype(int) for i in range(1000))
    assert often[:500].sum() / often[500:].sum() == pytest.approx(4, rel=0.07)


def test_weighted_events_become_data_as_often_as_they_weigh(rng: np.random.Generator) -> None:
    weights = np.where(np.arange(1000) < 500, 1.0, 0.25)
    often = sum((weighted(weights).toy(i).roles() == DATA).astype(int) for i in range(1000))
    assert often[:500].sum() / often[500:].sum() == pytest.approx(4, rel=0.05)


def test_a_weighted_toy_shares_no_event_between_data_and_reference() -> None:
    roles = weighted(np.ones(1000)).toy(0).roles()
    assert np.count_nonzero(roles == REFERENCE) == 500
    assert (roles[HELD_OUT] == REFERENCE).all()


def test_weights_too_uneven_for_hit_or_miss_are_an_error() -> None:
    weights = np.full(1000, 0.01)
    weights[0] = 1.0
    with pytest.raises(InputError, match="hit-or-miss accepted"):
        weighted(weights).toy(0).roles()


def test_a_permutation_of_the_shape_keeps_both_sizes_and_uses_every_event() -> None:
    permuted = PermutationScheme(100, 30, 30.0, 30, 100, seed=1)
    for i in range(10):
        roles = permuted.toy(i).roles()
        assert np.count_nonzero(roles == DATA) == 30
        assert np.count_nonzero(roles == REFERENCE) == 100
    assert (permuted.data(0).roles() == np.repeat([REFERENCE, DATA], [100, 30])).all()


def test_a_permutation_with_an_expected_number_draws_it_and_keeps_the_reference_size() -> None:
    permuted = PermutationScheme(400, 120, 100.0, None, 300, seed=1)
    roles = np.stack([permuted.toy(i).roles() for i in range(300)])
    data = np.count_nonzero(roles == DATA, axis=1)
    assert abs(data.mean() - 100) < 3
    assert 0.7 < data.var() / 100 < 1.4  # Poisson
    assert (np.count_nonzero(roles == REFERENCE, axis=1) == 300).all()
    # All events are alike to it.
    share = np.mean(roles == DATA, axis=0)
    assert abs(share[:400].mean() - share[400:].mean()) < 0.01
    for i in range(3):
        found = permuted.data(i).roles()
        assert (found[400:] == DATA).all()
        assert np.count_nonzero(found == REFERENCE) == 300
    assert (permuted.data(0).roles() != permuted.data(1).roles()).any()


def test_a_permutation_without_room_is_an_error() -> None:
    with pytest.raises(InputError, match="does not fit into the 130 events"):
        PermutationScheme(100, 30, 60.0, None, 100, seed=1).toy(0)
