"""How far work is, and how long it will still take, by a clock that the tests set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lanner._util.steps import Steps, TimeLeft, minutes


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steps(clock: Clock) -> Steps:
    return Steps(clock)


def lumps(seconds: float, lump: float, number: int) -> Iterator[tuple[float, float]]:
    """Moments, and what is done by then, of work that comes in lumps."""
    return ((k * seconds, k * lump) for k in range(1, number + 1))


def worst_factor(told: list[tuple[float, float]], *, wait: float = 0.0, after: float = 1 / 3) -> float:
    """The worst ratio of the time left to the truth, or of the truth to it, of work whose last part is told at the end.

    It is asked after each part and some time later, from a share of the work on, and not in the last tenth of the time,
    where seconds do not matter.
    """
    (end, total), estimate = told[-1], TimeLeft(0.0)
    worst = 1.0
    for moment, done in told:
        estimate.update(moment, done)
        for now in (moment, moment + wait):
            if done >= after * total and now < 0.9 * end:
                left = estimate.left(now, total)
                assert left is not None
                worst = max(worst, left / (end - now), (end - now) / max(left, 1e-9))
    return worst


@pytest.mark.parametrize("number", [3, 10, 5000])
def test_the_time_left_of_steady_work_is_right(number: int) -> None:
    seconds = 60 / number
    assert worst_factor(list(lumps(seconds, 1.0, number)), wait=0.9 * seconds) < 1.01


def test_it_is_right_where_two_workers_end_at_nearly_the_same_time() -> None:
    told = [(10 * k + late, 2.0 * k - 1 + (late > 0)) for k in range(1, 11) for late in (0.0, 0.1)]
    assert worst_factor(told, wait=5.0) < 1.5


def test_it_is_right_after_much_was_read_from_a_store() -> None:
    stored = [(0.1 * k, 10_000.0 * k) for k in range(1, 11)]
    made = [(1 + 0.1 * k, 100_000 + 10.0 * k) for k in range(1, 101)]
    rest = stored + made
    estimate, end, total = TimeLeft(0.0), *rest[-1]
    for moment, done in rest:
        estimate.update(moment, done)
        if 1 + 10 / 3 <= moment < 10:
            assert 0.5 < estimate.left(moment, total) / (end - moment) < 2


def test_it_is_right_after_a_slow_start() -> None:
    told = [(5.0, 16.0)] + [(5 + 0.1 * k, 16 + 100.0 * k) for k in range(1, 101)]
    assert worst_factor(told) < 2


def test_it_follows_work_that_becomes_slower() -> None:
    told = [*lumps(0.1, 2.0, 100)] + [(10 + t, 200 + d) for t, d in lumps(0.1, 1.0, 200)]
    assert worst_factor(told, after=0.6) < 2


def test_nothing_is_said_of_the_time_left_before_enough_is_done() -> None:
    estimate = TimeLeft(0.0)
    assert estimate.left(1.0, 1000) is None
    estimate.update(2.0, 1)
    assert estimate.left(2.0, 1000) is None
    assert estimate.left(2.0, 10) == pytest.approx(18)


def test_nothing_is_said_of_the_time_left_where_nothing_was_heard_for_too_long() -> None:
    estimate = TimeLeft(0.0)
    for moment, done in lumps(1.0, 1.0, 10):
        estimate.update(moment, done)
    assert estimate.left(10.5, 20) == pytest.approx(9.5)
    assert estimate.left(14.0, 20) > 10  # late, and later than was thought
    assert estimate.left(30.0, 20) is None


def test_times_are_those_of_a_clock() -> None:
    assert [minutes(x) for x in (-1, 0.9, 59.9, 60)] == ["0:00", "0:00", "0:59", "1:00"]
    assert [minutes(x) for x in (3599, 3600, 36_010)] == ["59:59", "1:00:00", "10:00:10"]


def test_before_anything_is_told_it_starts(steps: Steps) -> None:
    assert steps.line(100.0) == "starting"


def test_a_step_is_counted_with_the_time_left(steps: Steps, clock: Clock) -> None:
    steps.tell("toys", 0, 5000)
    assert steps.line(clock.now) == "toys 0 of 5000"
    clock.now += 12
    steps.tell("toys", 1200, 5000)
    assert steps.line(clock.now) == "toys 1200 of 5000, about 0:38 left"
    clock.now += 5
    assert steps.line(clock.now) == "toys 1200 of 5000, about 0:33 left"


def test_words_that_count_get_a_percentage(steps: Steps, clock: Clock) -> None:
    steps.tell("preparing scale 1 of 5", 0, 500)
    clock.now += 14
    steps.tell("preparing scale 2 of 5", 185, 500)
    assert steps.line(clock.now) == "preparing scale 2 of 5, 37 %, about 0:24 left"


def test_words_with_a_comma_are_set_apart_from_their_count(steps: Steps, clock: Clock) -> None:
    steps.tell("ks, null", 3, 40)
    assert steps.line(clock.now) == "ks, null: 3 of 40"


def test_a_total_that_is_a_limit_is_called_so(steps: Steps, clock: Clock) -> None:
    steps.tell("toys, at most", 0, 5000)
    clock.now += 12
    steps.tell("toys, at most", 1200, 5000)
    assert steps.line(clock.now) == "toys 1200 of at most 5000, at most 0:38 left"


def test_a_single_thing_is_not_counted(steps: Steps, clock: Clock) -> None:
    steps.tell("reading the data", 0, 1)
    clock.now += 7
    assert steps.line(clock.now) == "reading the data"


def test_what_begins_with_the_same_word_is_one_step(steps: Steps, clock: Clock) -> None:
    assert steps.tell("preparing scale 1 of 2", 50, 200) == (True, True)
    assert steps.tell("preparing scale 1 of 2", 70, 200) == (False, False)
    clock.now += 3
    assert steps.tell("preparing scale 2 of 2", 100, 200) == (False, True)
    (step,) = steps
    assert (step.words, step.done, step.seconds(clock.now)) == ("preparing scale 2 of 2", 100, 3)


def test_the_same_work_for_something_else_is_counted_from_its_own_start(steps: Steps, clock: Clock) -> None:
    steps.tell("ks, preparing", 16, 16)
    clock.now += 3
    steps.tell("ks, null", 0, 1000)
    clock.now += 2
    steps.tell("ks, null", 500, 1000)
    assert steps.line(clock.now) == "ks, null: 500 of 1000, about 0:02 left"
    steps.tell("ks, null", 1000, 1000)
    steps.tell("ks, null", 10, 1000)  # another sample's
    assert steps.line(clock.now) == "ks, null: 10 of 1000"


def test_what_is_done_is_not_undone_where_it_is_told_again(steps: Steps, clock: Clock) -> None:
    clock.now += 10
    steps.tell("toys", 500, 1000)
    for done in (100, 200, 300):  # read once more from where they are kept
        steps.tell("toys", done, 1000)
    assert steps.line(clock.now) == "toys 500 of 1000, about 0:10 left"


def test_what_is_done_when_it_is_first_told_was_done_since_the_last_word(steps: Steps, clock: Clock) -> None:
    clock.now += 4
    steps.tell("tuning", 1, 5)
    assert steps.line(clock.now) == "tuning 1 of 5, about 0:16 left"


def test_a_step_ends_when_it_is_done_or_when_another_begins(steps: Steps, clock: Clock) -> None:
    steps.tell("reading the data", 0, 1)
    clock.now += 2
    steps.tell("toys", 0, 10)
    clock.now += 3
    steps.tell("toys", 10, 10)
    assert steps.line(clock.now) == "toys 10 of 10, done"
    clock.now += 5
    assert [step.seconds(clock.now) for step in steps] == [2, 3]
    assert steps.line(clock.now) == "toys done, working on what follows"
