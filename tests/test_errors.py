"""Errors and warnings travel between processes, and a page says what to do about each."""

import pickle
from pathlib import Path

import pytest

from lanner import errors

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Exception)]
PAGE = Path(__file__).parent.parent / "docs" / "errors.md"


def test_each_is_an_error_or_a_warning_of_lanner() -> None:
    assert all(issubclass(c, errors.LannerError) != issubclass(c, errors.LannerWarning) for c in CLASSES)


@pytest.mark.parametrize("kind", CLASSES)
def test_each_can_be_made_anew_elsewhere(kind: type[Exception]) -> None:
    assert isinstance(kind.__new__(kind), kind)  # Dask copies them by way of `__new__`
    again = pickle.loads(pickle.dumps(kind("why")))
    assert type(again) is kind
    assert str(again) == "why"


@pytest.mark.parametrize("kind", CLASSES)
def test_each_is_documented(kind: type[Exception]) -> None:
    assert kind.__doc__
    assert f"| `{kind.__name__}` |" in PAGE.read_text()
