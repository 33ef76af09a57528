"""That nothing but arithmetic and conditions gets past the door, and that a refusal points at the fault."""

import ast
import re
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanner.errors import InputError
from lanner.events.expression_grammar import FUNCTIONS, parse
from lanner.events.expressions import Expression
from tests.events.expression_columns import PASSED, X, Y, evaluate


def pointed_at(message):
    """The piece of the text above the carets."""
    _, text, carets, *_ = message.splitlines()
    start, stop = re.search(r"\^+", carets).span()
    return text[start:stop]


def test_every_function_is_numpys():
    assert {name: getattr(np, name) for name in FUNCTIONS} == FUNCTIONS


def test_columns_are_named_once_and_functions_are_no_columns():
    tree, names = parse("sqrt(b) > a && b < 2", "selection")
    assert names == ("b", "a")
    assert isinstance(tree, ast.BoolOp)


# ROOT's signs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x>1&&y>0", (X > 1) & (Y > 0)),
        ("x > 2 || passed", (X > 2) | PASSED),
        ("!passed", ~PASSED),
        ("!!passed", PASSED),
        ("! (x > 1)", ~(X > 1)),
        ("!x > 1", ~(X > 1)),  # as `not x > 1`
        ("x != 1", X != 1),
        ("x!=1&&!passed", (X != 1) & ~PASSED),
        ("passed == (!passed)", np.zeros(4, dtype=bool)),
        ("where(!passed, x, -x)", np.where(~PASSED, X, -X)),
        ("x > 2 || passed && !(x > 1)", (X > 2) | (PASSED & ~(X > 1))),
        ("x > 0 and passed || x > 2 or !(x > 1)", (X > 0) & PASSED | (X > 2) | ~(X > 1)),
        ("(x > 1) & passed && x > 2", (X > 2) & PASSED),
    ],
)
def test_signs_of_root_mean_the_words(text, expected):
    np.testing.assert_array_equal(evaluate(text), expected)


conditions = st.sampled_from(["a", "b", "c", "a != b", "b == c", "a < c", "(c)", "(a or b)"])
# An operator before each condition (the first is left out), how often it is negated, and the condition.
chains = st.lists(st.tuples(st.sampled_from(["and", "or"]), st.integers(0, 3), conditions), min_size=1, max_size=8)
ROWS = np.array(list(product([False, True], repeat=3)))
SIGNS = {"and": "&&", "or": "||", "not": "!"}


def in_words(chain):
    return " ".join(f"{operator} {'not ' * negated}{condition}" for operator, negated, condition in chain)[3:].strip()


def in_signs(chain, blank=" "):
    return re.sub(r"\b(and|or|not)\b *", lambda word: SIGNS[word[1]] + blank, in_words(chain))


@given(chains, st.sampled_from(["", " ", "\n"]))
def test_signs_bind_like_the_words_of_python(chain, blank):
    found = Expression.parse(in_signs(chain, blank)).evaluate(dict(zip("abc", ROWS.T, strict=True)))
    wanted = [eval(in_words(chain), {"__builtins__": {}}, dict(zip("abc", row, strict=True))) for row in ROWS.tolist()]
    assert found.tolist() == wanted


@given(chains)
def test_signs_and_words_name_the_same_columns(chain):
    assert parse(in_signs(chain), "selection")[1] == parse(in_words(chain), "selection")[1]


@given(chains, st.sampled_from(["sqrt(µ).x", "b[0.5]", "sqrt(a, b)", "sqr(a)"]))
def test_carets_stand_under_the_fault_behind_any_signs(chain, fault):
    chain = chain[:3]  # long texts are cut, which has a test of its own
    with pytest.raises(InputError) as refused:
        Expression.parse(f"{in_signs(chain)} && {fault} > 1 || !µ")
    assert pointed_at(str(refused.value)) in (fault, fault.partition("(")[0])


@pytest.mark.parametrize("name", ["a&&b", "!a", "a||!b"])
def test_signs_in_a_name_in_backticks_are_part_of_the_name(name):
    cut = Expression.parse(f"!`{name}`&&`{name}` == 0")
    assert cut.names == (name,)
    assert cut.evaluate({name: np.array([True, False])}).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "fault", "why"),
    [
        ("passed && ", "&&", "something is missing at the end"),
        ("passed ||", "||", "something is missing at the end"),
        ("!", "!", "something is missing at the end"),
        ("passed && || passed", "||", "invalid syntax"),
        ("passed &&& passed", "&", "invalid syntax"),
        ("&& passed", "&&", "invalid syntax"),
        ("passed == !passed", "!", "in parentheses"),
        ("1 + !passed", "!", "in parentheses"),
        ("passed ! passed", "passed", "'not equal' is !="),
        ("x ! = 1", "=", "'not equal' is !="),
        ("!x", "x", "a condition is needed"),
        ("passed && x", "x", "a condition is needed"),
    ],
)
def test_signs_in_the_wrong_place_are_pointed_at(text, fault, why):
    with pytest.raises(InputError) as refused:
        evaluate(text)
    assert pointed_at(str(refused.value)).startswith(fault)
    assert why in str(refused.value).splitlines()[0]


# What is refused

HOSTILE = [
    "__import__('os').system('x')",
    "().__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "x.real",
    "x[0]",
    "'text'",
    "b'text'",
    "f'{x}'",
    "lambda: x",
    "[y for y in x]",
    "{y for y in x}",
    "(x := 3)",
    "open('/etc/passwd')",
    "eval('1')",
    "sqrt.__globals__",
    "sqrt",
    "`sqrt`(x)",
    "__builtins__",
    "x if passed else y",
    "x in y",
    "x is y",
    "x @ y",
    "x << 2",
    "x ^ y",
    "(x, y)",
    "[x]",
    "{1: 2}",
    "...",
    "None",
    "1j",
    "*x",
    "sqrt(*x)",
    "sqrt(x=1)",
    "sqrt(x, out=y)",
    "yield x",
    "await x",
    "x; y",
    "x = 1",
    "x # y",
    "import os",
    "1e999",
    "1" * 400,
    "9" * 5000,
    "x \\",
    "\0",
    "\ud800",
    "`x",
    "``",
    "x`y`",
    "`x``y`",
    "x y",
    "",
    "   ",
    "x >",
    "x ! in y",
    "x is ! y",
    "f'{x!r}'",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text)[:30] for text in HOSTILE])
def test_everything_else_is_refused(text):
    with pytest.raises(InputError):
        evaluate(text)


pieces = ["x", "µ", "`a b`", "1", "f'", "'", '"', "{", "}", "(", ")", "[", "]", ":", "=", "!", "!r", "&&", "||", "&"]
pieces += [
    "|",
    "~",
    "not ",
    " and ",
    " or ",
    "lambda ",
    " if ",
    " else ",
    ".",
    ",",
    "`",
    "\\",
    " ",
    "\n",
    "sqrt(",
    "**",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(pieces), max_size=12).map("".join) | st.text(max_size=8))
def test_any_text_is_an_expression_or_refused(text):
    with suppress(InputError):
        Expression.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000_000,
        "(" * 5000,
        "-" * 9999,
        "not " * 2000 + "passed",
        "!" * 9000 + "passed",
        "x" + "+x" * 4000,
        "x" + "**x" * 3000,
        "sqrt(" * 150 + "x" + ")" * 150,
        "(" * 150 + "x" + ")" * 150 + "+1" * 150,
        "x > 1 " * 2000,
    ],
    ids=["10 MB", "parentheses", "minus", "not", "!", "sum", "power", "calls", "both", "words"],
)
def test_length_and_depth_are_limited(text):
    with pytest.raises(InputError) as refused:
        evaluate(text)
    assert len(str(refused.value)) < 2000


def test_a_refusal_points_at_the_fault_and_lists_what_is_allowed():
    with pytest.raises(InputError) as refused:
        Expression.parse("µ > 1 and os.getcwd() > 2", label="selection")
    lines = str(refused.value).splitlines()
    assert lines[0].startswith("the selection cannot be used")
    assert lines[1:3] == ["    µ > 1 and os.getcwd() > 2", "              ^^^^^^^^^^^"]
    assert "arctan2" in lines[3]
    assert "backticks" in lines[3]


def test_a_refusal_of_a_long_text_shows_only_the_part_around_the_fault():
    with pytest.raises(InputError) as refused:
        Expression.parse(" or ".join(["x > 1"] * 50 + ["x[.5]"] + ["x > 1"] * 50))
    lines = str(refused.value).splitlines()
    start, stop = re.search(r"\^+", lines[2]).span()
    assert lines[1][start:stop] == "x[.5]"
    assert len(lines[1]) < 120


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mll > x", ["'mll'", "choose from its columns"]),
        ("Single > 0", ["nearest: 'single'"]),
        ("sqr(x)", ["no function 'sqr'", "nearest: 'sqrt'"]),
        ("sqrt(x, y)", ["sqrt takes 1 argument, not 2"]),
        ("x > 1 & y > 2", ["a condition is needed", "parentheses"]),
        ("x and passed", ["a condition is needed", "!= 0"]),
        ("~x > 3", ["a condition is needed"]),
        ("where(x, 1, 2)", ["a condition is needed"]),
        ("x > 1 && sqrt(y).z > 2", ["an attribute", "and, or, not (or &&, ||, !)"]),
        ("x = 1", ["write =="]),
    ],
)
def test_a_refusal_says_what_to_do(text, parts):
    with pytest.raises(InputError) as refused:
        evaluate(text)
    for part in parts:
        assert part in str(refused.value)


def test_a_text_is_needed():
    with pytest.raises(InputError, match="is a int"):
        Expression.parse(3)  # type: ignore[arg-type]
