"""Bunches of events: who is in which row, and what a toy takes of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanner.model.bunches import MANY, Bunches, bunch_size


def in_random_order(events: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).permutation(events)


def events_of(bunches: Bunches, rows: np.ndarray) -> np.ndarray:
    """The events of some rows, one by one."""
    parts = [bunches.events[bunches.starts[row] : bunches.starts[row + 1]] for row in rows]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)


@given(size=st.integers(1, 12), further=st.integers(0, 300), seed=st.integers(0, 100))
def test_every_event_is_dealt_to_exactly_one_row(size: int, further: int, seed: int) -> None:
    events = in_random_order(21 * size + further, seed)
    bunches = Bunches.dealt(events, size)
    assert sorted(events_of(bunches, np.arange(len(bunches)))) == list(range(len(events)))
    assert len(bunches) == bunches.drawn == len(bunches.sizes) == len(bunches.mass)
    assert bunches.total == len(events) == bunches.sizes.sum()
    assert bunches.inside.all()


@given(size=st.integers(1, 12), further=st.integers(0, 300))
def test_the_first_rows_are_bunches_of_the_size_and_the_others_single_events(size: int, further: int) -> None:
    bunches = Bunches.dealt(in_random_order(21 * size + further), size)
    assert bunches.size == size
    assert set(bunches.sizes[: bunches.whole]) == {size}
    assert set(bunches.sizes[bunches.whole :]) <= {1}
    # As many single events as two toys' worth of remainders, and more, also in half of the rows.
    assert size == 1 or bunches.drawn - bunches.whole >= 20 * size


def test_bunches_of_one_are_the_events_in_their_order() -> None:
    events = in_random_order(50)
    bunches = Bunches.dealt(events, 1)
    assert (bunches.drawn, bunches.whole, bunches.size) == (50, 50, 1)
    np.testing.assert_array_equal(bunches.events, events)


def test_too_few_events_for_bunches_are_an_error() -> None:
    with pytest.raises(ValueError, match="20 events cannot be dealt into bunches of 5"):
        Bunches.dealt(np.arange(20), 5)


@given(data=st.data(), size=st.integers(1, 9), further=st.integers(0, 200), seed=st.integers(0, 1000))
def test_so_many_events_are_taken_as_were_asked_for_and_none_of_them_twice(
    data: st.DataObject, size: int, further: int, seed: int
) -> None:
    bunches = Bunches.dealt(in_random_order(25 * size + further), size)
    room = bunches.whole * size
    number = data.draw(st.integers(0, room))
    others = data.draw(st.integers(0, room - number))
    taken, left_out = bunches.take(np.random.default_rng(seed), np.arange(bunches.drawn), number, others)
    assert len(events_of(bunches, taken)) == bunches.sizes[taken].sum() == number
    assert len(events_of(bunches, left_out)) == others
    both = np.concatenate([events_of(bunches, taken), events_of(bunches, left_out)])
    assert len(set(both)) == number + others


@pytest.mark.parametrize("size", [1, 4])
def test_only_rows_that_are_allowed_are_taken(size: int) -> None:
    bunches, rng = Bunches.dealt(in_random_order(1000), size), np.random.default_rng(2)
    allowed = np.flatnonzero(rng.random(bunches.drawn) < 0.4)
    for _ in range(200):
        number, further = (int(n) for n in rng.integers(0, 150, 2))
        for rows in bunches.take(rng, allowed, number, further):
            assert np.isin(rows, allowed).all()


def test_a_toy_takes_whole_bunches_and_single_events_for_the_rest() -> None:
    bunches = Bunches.dealt(in_random_order(1000), 7)
    taken, left_out = bunches.take(np.random.default_rng(3), np.arange(bunches.drawn), 52, 24)
    assert np.count_nonzero(taken < bunches.whole) == 7  # of 49 events
    assert np.count_nonzero(taken >= bunches.whole) == 3
    assert np.count_nonzero(left_out < bunches.whole) == np.count_nonzero(left_out >= bunches.whole) == 3


def chi2(often: np.ndarray) -> float:
    """In standard deviations: how much more unequal numbers are than those of a Poisson process."""
    mean = often.mean()
    return float((((often - mean) ** 2 / mean).sum() - len(often)) / (2 * len(often)) ** 0.5)


def test_over_many_toys_every_event_is_taken_equally_often() -> None:
    bunches, rng = Bunches.dealt(in_random_order(800), 1), np.random.default_rng(4)
    drawn = [bunches.take(rng, np.arange(800), int(rng.poisson(40)), 100) for _ in range(3000)]
    for part in (0, 1):
        rows = np.concatenate([pair[part] for pair in drawn])
        often = np.bincount(events_of(bunches, rows), minlength=800)
        assert often.sum() == pytest.approx(3000 * (40, 100)[part], rel=0.02)
        # Without replacement they are less unequal than Poisson numbers by the share that is taken.
        assert -6 < chi2(often) < 4


def test_over_many_dealings_every_event_is_taken_equally_often_in_bunches_too() -> None:
    """Of one dealing single events are taken more or less often than others: who is single is random."""
    often, toys = np.zeros(400), 0
    for seed in range(1500):
        bunches, rng = Bunches.dealt(in_random_order(400, seed), 5), np.random.default_rng(seed)
        taken, _ = bunches.take(rng, np.arange(bunches.drawn), int(rng.poisson(30)), 20)
        often[events_of(bunches, taken)] += 1
        toys += 1
    assert often.mean() == pytest.approx(toys * 30 / 400, rel=0.03)
    assert abs(chi2(often)) < 4


def test_over_many_dealings_pairs_of_events_are_taken_together_as_often_as_by_chance() -> None:
    """Bunches are random: that two events share one is as likely for all pairs."""
    together = 0.0
    for seed in range(4000):
        bunches, rng = Bunches.dealt(in_random_order(150, seed), 5), np.random.default_rng(seed)
        taken = events_of(bunches, bunches.take(rng, np.arange(bunches.drawn), 30, 0)[0])
        together += np.isin([0, 1], taken).all()
    expected = 4000 * (30 / 150) * (29 / 149)
    assert together == pytest.approx(expected, abs=4 * expected**0.5)


def test_further_rows_come_last_and_are_taken_by_nobody() -> None:
    dealt = Bunches.dealt(in_random_order(300), 3)
    left_out, data = in_random_order(300, 2)[:40], np.arange(300, 360)
    bunches = dealt.with_rows([left_out], inside=True).with_rows([data], inside=False)
    assert (len(bunches), bunches.drawn, bunches.whole) == (len(dealt) + 2, dealt.drawn, dealt.whole)
    assert (bunches.total, bunches.size) == (300, 3)
    np.testing.assert_array_equal(events_of(bunches, np.array([len(dealt)])), left_out)
    np.testing.assert_array_equal(events_of(bunches, np.array([len(dealt) + 1])), data)
    assert bunches.sizes[-2:].tolist() == [40, 60]
    assert bunches.inside[-2:].tolist() == [True, False]
    assert bunches.inside[:-2].all()
    np.testing.assert_array_equal(bunches.mass, bunches.sizes)


def test_no_further_rows_change_nothing() -> None:
    dealt = Bunches.dealt(in_random_order(300), 3)
    assert dealt.with_rows([], inside=True) is dealt


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.5, 20)], ids=["unweighted", "weighted"])
def test_single_events_are_rows_in_the_order_of_the_pool(weights: np.ndarray | None) -> None:
    bunches = Bunches.single(20, 5, weights)
    np.testing.assert_array_equal(bunches.events, np.arange(25))
    assert (len(bunches), bunches.drawn, bunches.total, bunches.size) == (25, 20, 20, 1)
    assert bunches.are_events
    assert bunches.inside.tolist() == [True] * 20 + [False] * 5
    truth = np.ones(25) if weights is None else np.append(weights, np.ones(5))  # the data weigh one each
    np.testing.assert_array_equal(bunches.mass, truth)


def test_rows_are_the_events_where_nothing_is_summed_or_moved() -> None:
    assert Bunches.dealt(np.arange(40), 1).are_events
    assert not Bunches.dealt(np.arange(40)[::-1], 1).are_events
    assert not Bunches.dealt(np.arange(80), 2).are_events
    assert not Bunches.dealt(np.arange(40), 1).with_rows([np.arange(40, 45)], inside=False).are_events


@pytest.mark.parametrize("size", [1, 6])
def test_the_row_of_an_event_is_the_one_that_holds_it(size: int) -> None:
    dealt = Bunches.dealt(in_random_order(400), size)
    # Also where the same events are in a row that toys do not take.
    bunches = dealt.with_rows([np.arange(30)], inside=True).with_rows([np.arange(400, 420)], inside=False)
    some = np.array([3, 399, 0, 17, 200])
    rows = bunches.rows_of(some)
    assert (rows < bunches.drawn).all()
    for event, row in zip(some, rows, strict=True):
        assert event in events_of(bunches, np.array([row]))


@pytest.mark.parametrize("taken", [100.0, 5e3, 1e6])
@pytest.mark.parametrize("events", [100, MANY - 1, 2 * MANY, 10**6, 10**8])
def test_bunches_are_many_and_a_toy_takes_many_of_them(events: int, taken: float) -> None:
    size = bunch_size(events, taken)
    assert size >= 1
    if size > 1:
        assert events // size >= MANY
        assert taken / size >= 50
        assert events // (size + 1) < MANY or taken / (size + 1) < 50  # and as large as that allows


def test_rows_whose_sums_are_known_have_sizes_and_no_events() -> None:
    bunches = Bunches.kept(np.array([8, 8, 90]), np.array([True, True, False]))
    assert (len(bunches), bunches.drawn, len(bunches.events)) == (3, 0, 0)
    assert bunches.sizes.tolist() == bunches.mass.tolist() == [8, 8, 90]
    assert bunches.inside.tolist() == [True, True, False]


@given(size=st.integers(1, 9), seed=st.integers(0, 100), share=st.floats(0.01, 1.0))
def test_rows_within_a_selection_hold_its_events_and_no_others(size: int, seed: int, share: float) -> None:
    bunches = Bunches.dealt(in_random_order(21 * size + 40, seed), size)
    bunches = bunches.with_rows([np.arange(5), np.array([70, 71]) % bunches.total], inside=False)
    kept = np.random.default_rng(seed).random(bunches.total) < share
    found, place = bunches.within(kept)
    number = np.cumsum(kept) - 1
    for row, its in enumerate(place):
        mine = events_of(bunches, np.array([row]))
        wanted = [int(number[event]) for event in mine if kept[event]]
        assert events_of(found, np.array([its])).tolist() == wanted if its >= 0 else wanted == []
    assert (np.diff(found.sizes[: found.drawn]) <= 0).all()
    assert (found.sizes > 0).all()
    assert found.drawn == np.count_nonzero(place[: bunches.drawn] >= 0)
    np.testing.assert_array_equal(found.inside[place[place >= 0]], bunches.inside[place >= 0])
