import numpy as np
import pytest

from lanner.errors import InputError
from lanner.inference.resampling import (
    PermutationScheme,
    ReferenceScheme,
    WeightedReferenceScheme,
    left_out_of_data,
    room_for_data,
)
from lanner.model.bunches import Bunches
from lanner.model.splits import Splits
from lanner.model.weightings import DATA, REFERENCE, Draw

HELD_OUT = np.array([3, 50, 999])
NOBODY = np.empty(0, dtype=np.intp)


def scheme(**changes: object) -> ReferenceScheme:
    """A thousand single events, and ninety of the data."""
    settings: dict[str, object] = {
        "bunches": Bunches.single(1000, 90), "expected": 100, "fixed": None, "reference_size": 800,
        "held_out": HELD_OUT, "seed": 1, "data_rows": np.arange(1000, 1090),
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
    return WeightedReferenceScheme(
        Bunches.single(1000, 0, weights), 50.0, None, 500, HELD_OUT, 1, NOBODY, splits=splits, weights=weights,
        n_hit_or_miss=source,
    )  # fmt: skip


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


def permutation(reference: int, data: int, expected: float, fixed: int | None, size: int) -> PermutationScheme:
    everybody = reference + data
    return PermutationScheme(
        Bunches.single(everybody, 0), expected, fixed, size, 1, np.arange(reference, everybody)
    )  # fmt: skip


def test_a_permutation_of_the_shape_keeps_both_sizes_and_uses_every_event() -> None:
    permuted = permutation(100, 30, 30.0, 30, 100)
    for i in range(10):
        roles = permuted.toy(i).roles()
        assert np.count_nonzero(roles == DATA) == 30
        assert np.count_nonzero(roles == REFERENCE) == 100
    assert (permuted.data(0).roles() == np.repeat([REFERENCE, DATA], [100, 30])).all()


def test_a_permutation_with_an_expected_number_draws_it_and_keeps_the_reference_size() -> None:
    permuted = permutation(400, 120, 100.0, None, 300)
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
        permutation(100, 30, 60.0, None, 100).toy(0)


def test_what_the_datas_fit_leaves_out_is_an_event_of_the_reference_once_at_most() -> None:
    first, again, other = (left_out_of_data(3, draw, 200, 80) for draw in (0, 0, 1))
    assert len(set(first)) == 80
    assert first.max() < 200
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def in_bunches(size: int = 8, reference: int = 4000, **changes: object) -> ReferenceScheme:
    """The reference in bunches, three rows of what the data's draws leave out, and the data as one row."""
    order = np.random.default_rng(8).permutation(reference)
    left_out = [left_out_of_data(1, i, reference, 500) for i in range(3)]
    beside = np.arange(reference, reference + 90)
    bunches = Bunches.dealt(order, size).with_rows(left_out, inside=True).with_rows([beside], inside=False)
    rows = np.arange(bunches.drawn, len(bunches))
    splits = Splits.of(np.arange(bunches.drawn), NOBODY, len(bunches), 4)
    settings: dict[str, object] = {
        "bunches": bunches, "expected": 300, "fixed": None, "reference_size": reference - 500, "held_out": NOBODY,
        "seed": 1, "data_rows": rows[3:], "left_out_rows": rows[:3], "splits": splits,
    }  # fmt: skip
    return ReferenceScheme(**(settings | changes))  # type: ignore[arg-type]


def events_of(made: ReferenceScheme | PermutationScheme, rows: np.ndarray) -> np.ndarray:
    starts = made.bunches.starts
    return np.concatenate([NOBODY, *(made.bunches.events[starts[row] : starts[row + 1]] for row in rows)])


def reference_events(made: ReferenceScheme | PermutationScheme, draw: Draw) -> np.ndarray:
    """The events of the reference that a draw leaves where they are."""
    taken = np.concatenate([events_of(made, draw.data), events_of(made, draw.left_out)])
    return np.setdiff1d(np.arange(made.bunches.total), taken)


def test_toys_in_bunches_have_a_poisson_number_of_events_and_a_reference_of_the_size_asked_for() -> None:
    made = in_bunches()
    toys = [made.toy(i) for i in range(400)]
    for toy in toys:
        events = np.concatenate([events_of(made, toy.data), events_of(made, toy.left_out)])
        assert len(set(events)) == len(events) == 500  # what the reference can spare
        assert len(events_of(made, toy.data)) == toy.data_size
        assert len(reference_events(made, toy)) == 3500
    numbers = np.array([toy.data_size for toy in toys])
    assert numbers.mean() == pytest.approx(300, abs=4 * (300 / 400) ** 0.5)
    assert numbers.var() == pytest.approx(300, rel=0.3)
    assert {in_bunches(fixed=77).toy(i).data_size for i in range(10)} == {77}


def test_toys_in_bunches_and_one_by_one_have_equally_many_events() -> None:
    """A number and a seed decide on it before anything else is drawn."""
    few, many = in_bunches(), in_bunches(1)
    assert [few.toy(i).data_size for i in range(20)] == [many.toy(i).data_size for i in range(20)]


def test_data_in_bunches_have_no_part_in_the_moments_that_judge_them() -> None:
    made = in_bunches()
    splits = made.splits
    assert splits is not None
    for i in range(40):
        toy = made.toy(i)
        assert toy.split == i % splits.number
        assert not splits.shaping[toy.split][splits.labels[toy.data]].any()


def test_the_datas_fit_takes_one_row_and_leaves_out_another() -> None:
    made = in_bunches()
    for i in range(3):
        draw = made.data(i)
        np.testing.assert_array_equal(events_of(made, draw.data), np.arange(4000, 4090))
        np.testing.assert_array_equal(events_of(made, draw.left_out), left_out_of_data(1, i, 4000, 500))
        assert (draw.data_size, len(reference_events(made, draw))) == (90, 3500)
        assert draw.split is None


def test_the_reference_of_a_toy_may_be_smaller_than_half_of_all_events() -> None:
    made, splits = scheme(splits=halves(), reference_size=300), halves()
    for i in range(12):
        toy = made.toy(i)
        assert toy.reference_size == 300
        assert not splits.shaping[toy.split][splits.labels[toy.data]].any()
        assert not np.isin(toy.left_out, np.concatenate([toy.data, HELD_OUT])).any()
        assert len(set(toy.left_out)) == len(toy.left_out)


@pytest.mark.parametrize("size", [1, 8])
def test_and_so_it_may_where_toys_take_bunches(size: int) -> None:
    made = in_bunches(size, reference_size=1003)
    for i in range(12):
        toy = made.toy(i)
        gone = np.concatenate([events_of(made, toy.data), events_of(made, toy.left_out)])
        assert len(set(gone)) == len(gone) == 4000 - 1003
        assert made.splits is not None
        assert not made.splits.shaping[toy.split][made.splits.labels[toy.data]].any()


def test_a_signal_is_added_to_a_toy_in_bunches_event_by_event() -> None:
    order, beside = np.random.default_rng(8).permutation(4000), np.arange(4000, 4090)
    bunches = Bunches.dealt(order, 8).with_rows(list(beside[:, None]), inside=False)
    rows = np.arange(bunches.drawn, len(bunches))
    made = in_bunches(bunches=bunches, data_rows=rows, left_out_rows=rows[:0])
    numbers = []
    for i in range(100):
        toy = made.with_signal(i, 20.0, alone=False, rows=range(4010, 4060))
        events = events_of(made, toy.data)
        signal = events[events >= 4000]
        assert len(set(signal)) == len(signal)
        assert ((signal >= 4010) & (signal < 4060)).all()
        assert len(reference_events(made, toy)) == 3500
        numbers.append(len(signal))
        alone = made.with_signal(i, 20.0, alone=True, rows=range(4010, 4060))
        assert set(events_of(made, alone.data)) == set(signal)
        assert len(reference_events(made, alone)) == 3500  # what would have been its data is left out
    assert np.mean(numbers) == pytest.approx(20, abs=4 * (20 / 100) ** 0.5)


def test_a_permutation_in_bunches_labels_all_events_alike() -> None:
    everybody = np.random.default_rng(9).permutation(2100)
    bunches = Bunches.dealt(everybody, 5)
    left_out = [left_out_of_data(1, 0, 2000, 150)]
    bunches = bunches.with_rows(left_out, inside=True).with_rows([np.arange(2000, 2100)], inside=True)
    rows = np.arange(bunches.drawn, len(bunches))
    made = PermutationScheme(bunches, 100.0, None, 1850, 1, rows[1:], rows[:1])
    often = np.zeros(2100)
    for i in range(300):
        toy = made.toy(i)
        events = events_of(made, toy.data)
        often[events] += 1
        assert len(events) == toy.data_size
        assert len(reference_events(made, toy)) == 1850
    # Single events are as many as twenty bunches, and the rest of a division falls on them: the others are alike.
    whole = np.isin(np.arange(2100), bunches.events[: bunches.whole * 5])
    data = np.arange(2100) >= 2000
    assert often[whole & data].mean() == pytest.approx(often[whole & ~data].mean(), rel=0.15)
    own = made.data(0)
    np.testing.assert_array_equal(events_of(made, own.data), np.arange(2000, 2100))
    assert len(reference_events(made, own)) == 1850
