import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lanner._util.machine import worker_threads
from lanner.model.parallel import blocks, for_rows, sum_over_rows


@pytest.mark.parametrize(("n", "size"), [(1, 10), (10, 3), (1000, 7), (33, 33)])
def test_every_row_is_counted_once(n: int, size: int) -> None:
    values = np.arange(n, dtype=np.float64)
    count, total = sum_over_rows(n, size, lambda rows: (np.ones_like(values[rows]).sum(), values[rows].sum()))
    assert (count, total) == (n, values.sum())


def test_the_number_of_threads_does_not_change_a_bit(rng: np.random.Generator) -> None:
    x = rng.normal(size=(10_000, 5)).astype(np.float32)

    def moments(rows: slice) -> tuple[np.ndarray]:
        return (x[rows].T @ x[rows],)

    with threadpool_limits(4):
        with worker_threads() as workers:
            assert workers > 1
        (many,) = sum_over_rows(len(x), 64, moments)
    with threadpool_limits(1):
        (one,) = sum_over_rows(len(x), 64, moments)
    np.testing.assert_array_equal(many, one)


def test_single_precision_parts_are_added_in_double() -> None:
    tenth = np.float32(0.1)
    (total,) = sum_over_rows(100_000, 1, lambda rows: (np.array(tenth),))
    assert total == pytest.approx(1e5 * float(tenth), rel=1e-12)


def test_an_error_in_a_block_reaches_the_caller() -> None:
    def fail(rows: slice) -> None:
        raise RuntimeError(f"block {rows.start}")

    with pytest.raises(RuntimeError, match="block"):
        for_rows(10, 5, fail)


def test_blocks_cover_without_overlap() -> None:
    assert [i for rows in blocks(10, 4) for i in range(rows.start, rows.stop)] == list(range(10))
