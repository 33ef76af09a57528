"""What an expression computes, and which columns it takes."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.events.expressions import Expression
from tests.events.expression_columns import COLUMNS, PASSED, X, Y, evaluate

# What is computed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", X),
        ("2 * x + 1", 2 * X + 1),
        ("-x ** 2", -(X**2)),
        ("2 ** 3 ** 0.5 + x", 2 ** (3**0.5) + X),
        ("x // 2 + x % 2 / 2", X // 2 + X % 2 / 2),
        ("(x > 1)", X > 1),
        ("0 < x <= 2", (X > 0) & (X <= 2)),
        ("x > 1 and y > 0 or passed", (X > 1) & (Y > 0) | PASSED),
        ("not x > 1", ~(X > 1)),
        ("(x > 1) & ~(y > 0) | passed", (X > 1) & ~(Y > 0) | PASSED),
        ("passed == 1", PASSED),
        ("passed == True", PASSED),
        ("passed + passed", 2.0 * PASSED),
        ("where(passed, x, -y)", np.where(PASSED, X, -Y)),
        ("where(x > 1, passed, x < 1)", np.where(X > 1, PASSED, X < 1)),
        ("isfinite(y)", np.isfinite(Y)),
        ("minimum(x, 2) + maximum(y, 0)", np.minimum(X, 2) + np.maximum(Y, 0)),
        ("hypot(x, 3) * arctan2(x, 2)", np.hypot(X, 3) * np.arctan2(X, 2)),
        ("single > 0.1", COLUMNS["single"].astype(float) > 0.1),
        ("`p_T [GeV]` / `x`", COLUMNS["p_T [GeV]"] / np.where(X == 0, 1, X) * np.where(X == 0, np.inf, 1)),
        ("`<b>a/b</b>` + µ", np.full(4, 8.0)),
        ("`__index__`", X),
        ("  x\n  > 1\t", X > 1),
        ("1 < 2", np.ones(4, dtype=bool)),
        ("1_000 + 0x10 + 1e3", np.full(4, 2016.0)),
    ],
)
def test_text_means_what_numpy_computes(text, expected):
    result = evaluate(text)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == (bool if np.asarray(expected).dtype == bool else np.float64)


def test_names_are_listed_once_in_the_order_of_the_text():
    assert Expression.parse("y > `p_T [GeV]` and y < sqrt(x)").names == ("y", "p_T [GeV]", "x")


def test_integers_are_float64_and_cannot_hang():
    assert np.isposinf(evaluate("9**9**9**9")).all()


def test_it_survives_pickling():
    cut = Expression.parse("x > 1", label="selection")
    again = pickle.loads(pickle.dumps(cut))
    assert again == cut
    np.testing.assert_array_equal(again.evaluate(COLUMNS), cut.evaluate(COLUMNS))


UNARY = ["-{}", "abs({})", "sqrt({})", "exp({})", "sin({})", "arctan({})", "tanh({})", "floor({})"]
BINARY = ["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} ** {})", "({} % {})", "hypot({}, {})"]
JUNCTIONS = ["({} and {})", "({} or {})", "({} & {})", "({} | {})", "({}&&{})", "({}||{})"]
NUMPY = {name: getattr(np, name) for name in ("abs", "sqrt", "exp", "sin", "arctan", "tanh", "floor", "hypot")}
numbers = st.recursive(
    st.sampled_from(["a", "b", "1.5", "2", "0.1"]),
    lambda inner: (
        st.builds(str.format, st.sampled_from(UNARY), inner)
        | st.builds(str.format, st.sampled_from(BINARY), inner, inner)
    ),
    max_leaves=12,
)
comparisons = st.builds(
    str.format, st.sampled_from(["({} < {})", "({} >= {})", "({} != {})", "({0} < {1} <= 3)"]), numbers, numbers
)
conditions = st.recursive(
    comparisons,
    lambda inner: (
        st.builds(str.format, st.sampled_from(JUNCTIONS), inner, inner)
        | st.builds(str.format, st.sampled_from(["(not {})", "(!{})", "(~{})"]), inner)
    ),
    max_leaves=4,
)


class Powers(np.ndarray):
    """An array whose `**` is `np.power`: the operator's own short cuts differ from it in the last bit."""

    def __pow__(self, other):  # type: ignore[override]
        return np.power(self, other)


@settings(max_examples=60, deadline=None)
@given(numbers, conditions, st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5))
def test_random_expressions_agree_with_python_on_scalars(number, condition, values):
    # Python itself, row by row, is the independent truth: its own precedence, and `and` as written. Columns of one
    # row on both sides, because numpy computes some powers of longer arrays differently in the last bit.
    columns = {"a": np.array(values), "b": np.array(values[::-1])}
    with np.errstate(all="ignore"):
        for text in (number, condition):
            expression = Expression.parse(text)
            plain = re.sub(r"(?<![\w.])(\d+(\.\d+)?)(?![\w.])", r"f(\1)", text).replace("~", "not ")
            plain = re.sub(r"!(?!=)", "not ", plain.replace("&&", " and ").replace("||", " or "))
            together = expression.evaluate(columns)
            for row in range(len(values)):
                here = {name: column[[row]] for name, column in columns.items()}
                scope: dict[str, Any] = {name: column.view(Powers) for name, column in here.items()}
                scope["f"] = lambda n: np.array(float(n)).view(Powers)
                result = expression.evaluate(here)
                np.testing.assert_array_equal(result, eval(plain, {"__builtins__": {}}, scope | NUMPY))
                assert together.dtype == result.dtype
                if "**" not in text:
                    np.testing.assert_array_equal(together[[row]], result)


# What is refused


def test_a_selection_has_to_be_true_or_false():
    with pytest.raises(InputError, match=r"'x \+ 1' yields numbers"):
        Expression.parse("x + 1").select(COLUMNS)
    assert Expression.parse("passed").select(COLUMNS).tolist() == PASSED.tolist()


@pytest.mark.parametrize("column", [np.array(["a", "b"]), np.ones((2, 2)), np.array([[1], [2, 3]], dtype=object)])
def test_columns_that_are_no_numbers_are_refused(column):
    with pytest.raises(InputError, match="one number per event"):
        Expression.parse("x > 1").evaluate({"x": column})


def test_columns_of_different_length_are_refused():
    with pytest.raises(InputError, match="differ in length"):
        Expression.parse("x > y").evaluate({"x": np.ones(2), "y": np.ones(3)})


def test_an_expression_without_columns_has_one_value():
    assert Expression.parse("1 + 1").evaluate({}) == 2


def test_two_expressions_of_the_same_text_are_equal():
    assert Expression.parse("x > 1", label="cut") == Expression.parse("x > 1") != Expression.parse("x > 2")


def test_masked_values_compare_as_nan():
    masked = np.ma.masked_equal([1, 2, 3], 2)
    assert Expression.parse("x > 0").evaluate({"x": masked}).tolist() == [True, False, True]
