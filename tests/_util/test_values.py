from typing import Any

import numpy as np
import pytest

from lanner._util.values import Choice, Flag, Kind, Names, Number, Numbers, Text, as_number, split_names
from lanner.errors import InputError


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3), np.array(3.0)])
def test_a_number_may_be_numpys(value: Any) -> None:
    found = as_number(value, "n")
    assert (found, type(found)) == (3.0, float)


@pytest.mark.parametrize("value", ["3", True, np.True_, None, [3], np.array([3.0]), 3j])
def test_what_only_looks_like_a_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match=r"^n=.* is not a number"):
        as_number(value, "n")


@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        (Number(), "1e-3", 1e-3),
        (Number(whole=True), 5.0, 5),
        (Number(whole=True), 2**53 + 1, 2**53 + 1),
        (Number(whole=True), str(2**53 + 1), 2**53 + 1),
        (Number(words=("auto",)), "auto", "auto"),
        (Number(least=1, most=2), 2, 2.0),
        (Choice("a", "b"), "b", "b"),
        (Choice("a", none=True), "none", None),
        (Text("FILE"), "x", "x"),
        (Text("SIZE", numbers=True), 4e9, 4e9),
        (Flag(), np.True_, True),
        (Names(), "a, f(b, c)", ("a", "f(b, c)")),
        (Names(), ["a", "b,c"], ("a", "b,c")),
        (Names(path=True), "a,b.csv", ("a,b.csv",)),
        (Numbers(), "5, 10", (5.0, 10.0)),
        (Numbers(), 7, (7.0,)),
        (Numbers(whole=True, least=1), [4, 8.0], (4, 8)),
        (Numbers(), np.array([1.0, 2.0]), (1.0, 2.0)),
    ],
)
def test_a_value_comes_in_its_own_type(kind: Kind, value: Any, found: Any) -> None:
    got = kind.checked("x", value)
    assert got == found
    assert type(got) is type(found)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Number(above=0, such_as="0.3"), 0, "x=0: give a number above 0, such as 0.3"),
        (Number(least=0, below=1), 1.0, "give a number of at least 0 and below 1"),
        (Number(whole=True, least=1), 1.5, "give a whole number of at least 1"),
        (Number(), float("nan"), "give a number"),
        (Number(), float("inf"), "give a number"),
        (Number(words=("auto",)), "aut", "give a number, or 'auto'"),
        (Choice("a", "b", none=True), "c", "x='c' is not known; choose one of 'a', 'b', None"),
        (Choice("a"), ["a"], "is not known"),
        (Choice("a"), "none", "is not known"),
        (Text("FILE"), "", "give a text, FILE"),
        (Text("SIZE", numbers=True), True, "give a text, SIZE"),
        (Text("FILE"), 3, "give a text, FILE"),
        (Text("FILE"), "a\0b", "NUL"),
        (Text("FILE"), "a\ud800b", "not valid Unicode"),
        (Names(path=True), ["a\0b"], "NUL"),
        (Names(path=True), [], "give files"),
        (Names(some=True), [], "give names or formulas"),
        (Names(), " , ", "give names or formulas"),
        (Number(), True, "is not a number"),
        (Number(whole=True), "1" * 5000, "x=inf: give a whole number"),
        (Flag(), 1, "give true or false"),
        (Flag(), "yes", "give true or false"),
        (Names(), 3, "give names or formulas"),
        (Names(path=True), [""], "give files"),
        (Numbers(least=0), "5,-1", "x=-1: give a number of at least 0"),
    ],
)
def test_any_other_value_is_refused_with_what_to_give(kind: Kind, value: Any, words: str) -> None:
    with pytest.raises(InputError) as said:
        kind.checked("x", value)
    assert words in str(said.value)
    assert str(said.value).startswith("x=")


@pytest.mark.parametrize(
    ("kind", "metavar", "described"),
    [
        (Number(whole=True), "N", "int"),
        (Number(words=("auto",)), "N|auto", 'float or "auto"'),
        (Choice("a", "b", none=True), "[a|b|none]", '{"a", "b", None}'),
        (Text("FILE"), "FILE", "str"),
        (Text("SIZE", numbers=True), "SIZE", "float or str"),
        (Flag(), "", "bool"),
        (Names(path=True), "FILE", "sequence of str"),
        (Names(repeated=True), "[NAME=]EXPR", "sequence of str"),
        (Numbers(whole=True), "N1,N2,...", "sequence of int"),
    ],
)
def test_a_kind_describes_itself_to_the_terminal_and_to_the_documentation(
    kind: Kind, metavar: str, described: str
) -> None:
    assert (kind.metavar, kind.described()) == (metavar, described)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ("a", "b")),
        (" a , ,b,", ("a", "b")),
        ("f(a, g(b, c)), d", ("f(a, g(b, c))", "d")),
        ("`a,(b`,c", ("`a,(b`", "c")),
    ],
)
def test_commas_within_formulas_do_not_part_names(text: str, names: tuple[str, ...]) -> None:
    assert split_names(text) == names


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(InputError, match="x=a number of thousands of digits: give a number"):
        Number().checked("x", 10**5000)  # no parameter, because pytest could not name it
