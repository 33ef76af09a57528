"""Errors travel between processes: Dask copies them by way of `__new__`."""

import pickle

import pytest

from lanner import errors

ERRORS = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.LannerError)]


@pytest.mark.parametrize("error", ERRORS)
def test_errors_can_be_made_anew_elsewhere(error):
    assert isinstance(error.__new__(error), error)
    assert str(pickle.loads(pickle.dumps(error("why")))) == "why"
