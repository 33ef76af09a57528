"""Columns of every kind that an expression may meet, and a short way to evaluate one on them."""

import numpy as np

from lanner.events.expressions import Expression

NAN = float("nan")
COLUMNS = {
    "x": np.array([0, 1, 2, 3]),
    "y": np.array([1.5, NAN, -2.0, 4.0]),
    "single": np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32),
    "passed": np.array([True, False, True, True]),
    "p_T [GeV]": np.array([10.0, 20.0, 30.0, 40.0]),
    "µ": np.ones(4),  # the micro sign, which Python's parser would turn into a Greek letter
    "<b>a/b</b>": np.full(4, 7.0),
    "__index__": np.arange(4.0),
}
X, Y, PASSED = COLUMNS["x"].astype(float), COLUMNS["y"], COLUMNS["passed"]


def evaluate(text):
    return Expression.parse(text).evaluate(COLUMNS)
