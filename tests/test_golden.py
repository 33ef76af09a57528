"""Small runs with fixed seeds give the numbers of the record; `tests/golden/record.py` says how to remake it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.golden.record import CASES, RECORD, SINGLE, run

KNOWN: dict[str, Any] = json.loads(RECORD.read_text())
# Another processor has other rounding, 4e-5 was seen; a change that is meant to move a number moves it by more.
DOUBLE_PRECISION, SINGLE_PRECISION = 2e-4, 5e-3


def test_the_record_has_every_case() -> None:
    assert set(KNOWN) == set(CASES)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::lanner.errors.LannerWarning")
def test_no_number_has_moved(name: str) -> None:
    _same(run(name), KNOWN[name], name, tolerance=SINGLE_PRECISION if name in SINGLE else DOUBLE_PRECISION)


def test_a_number_that_has_moved_is_noticed() -> None:
    with pytest.raises(AssertionError, match="case"):
        _same([1.0, 2.0], [1.0, 2.001], "case", tolerance=DOUBLE_PRECISION)


def _same(found: Any, known: Any, where: str, *, tolerance: float, scale: float = 0.0) -> None:
    """Equal to a tolerance, relative to the number itself or to the largest of its row."""
    assert type(found) is type(known), where
    if isinstance(known, dict):
        assert found.keys() == known.keys(), where
        for key, value in known.items():
            _same(found[key], value, f"{where}.{key}", tolerance=tolerance)
    elif isinstance(known, list):
        assert len(found) == len(known), where
        largest = max((abs(x) for x in known if isinstance(x, float)), default=0.0)
        for i, value in enumerate(known):
            _same(found[i], value, f"{where}[{i}]", tolerance=tolerance, scale=largest)
    elif isinstance(known, float):
        assert abs(found - known) <= tolerance * max(abs(known), scale, 1e-3), f"{where}: {found} is not {known}"
    else:
        assert found == known, f"{where}: {found} is not {known}"
