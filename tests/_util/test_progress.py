import pytest

from lanner._util.progress import as_progress, named, part_of


@pytest.fixture
def seen() -> list[tuple]:
    return []


def test_no_progress_stays_none() -> None:
    assert as_progress(None) is named(None, "toys") is part_of(None, 1, 2) is None


def test_a_function_of_three_is_told_what_is_being_done(seen: list) -> None:
    as_progress(lambda what, done, total: seen.append((what, done, total)))("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_a_function_of_two_is_told_the_numbers(seen: list) -> None:
    as_progress(lambda done, total: seen.append((done, total)))("toys", 1, 2)
    assert seen == [(1, 2)]


def test_a_function_of_any_number_is_told_everything(seen: list) -> None:
    as_progress(lambda *said: seen.append(said))("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_a_function_that_hides_its_parameters_is_told_everything(seen: list) -> None:
    class Hidden:
        @property
        def __signature__(self) -> None:
            raise ValueError("no signature found")

        def __call__(self, *said: object) -> None:
            seen.append(said)

    as_progress(Hidden())("toys", 1, 2)
    assert seen == [("toys", 1, 2)]


def test_an_error_within_it_is_not_taken_for_another_number_of_parameters() -> None:
    def broken(done: int, total: int) -> None:
        raise TypeError("of its own")

    with pytest.raises(TypeError, match="of its own"):
        as_progress(broken)("toys", 1, 2)


def test_work_within_other_work_goes_by_the_name_of_that(seen: list) -> None:
    named(lambda *said: seen.append(said), "trial fits")("toys", 1, 2)
    assert seen == [("trial fits", 1, 2)]


def test_a_part_is_counted_with_what_is_done_already(seen: list) -> None:
    part_of(lambda *said: seen.append(said), 100, 300)("toys", 5, 50)
    assert seen == [("toys", 105, 300)]
