import numpy as np
import pytest

from lanner._util.out_of_memory import plain_memory_errors
from lanner.errors import MemoryBudgetError
from lanner.settings import spelled_out


def too_much() -> None:
    np.zeros(2**62, dtype=np.uint8)


def test_an_array_that_does_not_fit_is_said_in_one_line() -> None:
    with (
        pytest.raises(
            MemoryBudgetError, match=r"not enough memory \(Unable to allocate .*give a smaller memory="
        ) as said,
        plain_memory_errors(),
    ):
        too_much()
    assert "\n" not in str(said.value)


def test_what_says_more_already_stays_as_it_is() -> None:
    with pytest.raises(MemoryBudgetError, match=r"^one block needs"), plain_memory_errors():
        raise MemoryBudgetError("one block needs 5 MB")


def test_no_public_function_lets_a_bare_memory_error_out() -> None:
    with pytest.raises(MemoryBudgetError, match="not enough memory"):
        spelled_out(too_much)()
