"""Which columns and formulas are taken, and which requests are refused."""

import h5py
import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.expressions import Expression
from lanner.events.io import read_sample
from lanner.events.io.memory import table_of
from lanner.events.io.request import Variable, check_same, make_request, with_names
from tests.events.io.files import formats, refusal, write_csv, write_datasets, write_tree, written


@formats
def test_every_format_offers_the_nearest_column(name, tmp_path):
    source = written(tmp_path, name, {"pt1": np.ones(3), "pt2": np.ones(3)})
    for asked in (
        {"features": ["pt3"]},
        {"weight": "pt3"},
        {"where": "pt3 > 0"},
        {"extra": ["pt3"]},
        {"extra": ["x=pt3"]},
    ):
        with pytest.raises(InputError) as refused:
            read_sample(source, label="reference", **asked)
        refusal(str(refused.value), "reference", source, "'pt3'", "'pt1'", "'pt2'")


def test_files_with_different_columns_are_refused(tmp_path):
    write_tree(tmp_path / "a.root", {"pt1": np.ones(2), "pt2": np.ones(2)})
    write_tree(tmp_path / "b.root", {"pt1": np.ones(2), "pt3": np.ones(2)})
    with pytest.raises(InputError) as refused:
        read_sample(f"{tmp_path}/*.root")
    refusal(str(refused.value), "b.root:events", "a.root:events", "missing: 'pt2'", "extra: 'pt3'", "features=")
    with pytest.raises(InputError, match="missing: 'pt2'"):
        read_sample(f"{tmp_path}/*.root", features=["pt1"], where="pt2 > 0")
    assert len(read_sample(f"{tmp_path}/*.root", features=["pt1"]).sample) == 4


def test_a_feature_can_be_a_formula_and_so_can_the_weight(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.array([1.0, 4.0]), "b": np.array([2.0, 3.0])})
    events = read_sample(tmp_path / "a.csv", features=["root=sqrt(a)", "b"], weight="w = 2 * b")
    assert events.sample.names == ("root", "b")
    assert events.sample.features.tolist() == [[1, 2], [2, 3]]
    assert events.sample.weights.tolist() == [4, 6]


def test_a_column_named_like_a_formula_is_a_column(tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2), "a=2*a": np.full(2, 7.0)})
    assert read_sample(tmp_path / "a.csv", features="a=2*a").sample.features.tolist() == [[7], [7]]


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ({"features": ["a", "w"], "weight": "w"}, "cannot be a feature and the weights"),
        ({"features": ["a", "a"]}, "more than one column named 'a'"),
        ({"features": ["a", "a=2*w"]}, "more than one variable is named 'a'"),
        ({"extra": ["m=a", "m=w"]}, "more than one variable is named 'm'"),
        ({"features": []}, "no column"),
        ({"features": ["one=1"]}, "only constants"),
        ({"where": "a"}, "yields numbers"),
        ({"where": "a.b > 1"}, "no column 'a.b' (nearest: 'a')"),
        ({"where": "sqrt(a).b > 1"}, "an attribute"),
        ({"extra": ["m=__import__('os')"]}, "cannot be used"),
        ({"weight": np.ones(2)}, "give weight='name'"),
        ({"memory": "much"}, "is not a size"),
    ],
)
def test_wrong_requests_are_refused(asked, part, tmp_path):
    write_csv(tmp_path / "a.csv", {"a": np.ones(2), "w": np.ones(2)})
    with pytest.raises(InputError) as refused:
        read_sample(tmp_path / "a.csv", **asked)
    refusal(str(refused.value), part)


def test_a_name_of_a_column_is_never_evaluated(tmp_path):
    # uproot evaluates expressions over branches; a branch, and a request, with such a name must stay a name.
    name = "__import__('os').system('touch exploded')"
    write_datasets(tmp_path / "a.h5", {"x": np.ones(2)})
    write_tree(tmp_path / "a.root", {"x": np.ones(2)})
    for source in (tmp_path / "a.root", tmp_path / "a.h5"):
        for asked in ({"features": [name]}, {"where": f"`{name}` > 0"}, {"weight": name}):
            with pytest.raises(InputError, match="has no column"):
                read_sample(source, **asked)
    branch = "__import__('os').system('x')"
    write_tree(tmp_path / "b.root", {branch: np.arange(2.0)})
    assert read_sample(tmp_path / "b.root", where=f"`{branch}` > 0").sample.features.tolist() == [[1]]


def test_columns_without_names_can_be_named_or_chosen(tmp_path):
    table = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "t.npy", table)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(table))
    np.savez(tmp_path / "t.npz", whatever=table)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["table"] = table
    for source in (table, *(tmp_path / name for name in ("t.npy", "fortran.npy", "t.npz", "t.h5"))):
        assert read_sample(source).sample.names == ("x0", "x1", "x2")
        np.testing.assert_array_equal(read_sample(source).sample.features, table)
        chosen = read_sample(source, features=["x2", "x0"], where="x1 > 1")
        np.testing.assert_array_equal(chosen.sample.features, table[1:, [2, 0]])
        named = read_sample(source, features=["pt", "eta", "phi"], where="eta > 1", extra=["twice=2*phi"])
        np.testing.assert_array_equal(named.sample.features, table[1:])
        assert named.sample.names == ("pt", "eta", "phi")
        assert named.extra["twice"].tolist() == [10, 16, 22]
        with pytest.raises(InputError, match="features name all 3 of them"):
            read_sample(source, features=["pt", "eta"])


# Variables


@pytest.mark.parametrize(
    ("text", "name", "columns"),
    [
        ("a", "a", ("a",)),
        ("m=a+b", "m", ("a", "b")),
        (" m = a", "m", ("a",)),
        ("`p_T [GeV]`=2*a", "p_T [GeV]", ("a",)),
        ("flag=a == b", "flag", ("a", "b")),
        ("flag=!(a != b) && a <= b", "flag", ("a", "b")),
        ("a <= b", "a <= b", ("a <= b",)),
    ],
)
def test_a_variable_is_a_column_or_a_name_with_a_formula(text, name, columns):
    variable = Variable.of(text, ("a", "b", "a <= b"), "data", "feature")
    assert (variable.name, variable.columns) == (name, columns)


@pytest.mark.parametrize("text", ["a == b", "a != b", "a < b"])
def test_a_comparison_is_no_definition(text):
    with pytest.raises(InputError, match="data has no column"):
        Variable.of(text, ("a", "b"), "data", "feature")


def test_a_formula_without_a_name_is_told_from_a_column_with_a_slip():
    for text in ("a[0]", "max(a)", "sqrt(a) + b", "2 * a[ -1 ]"):
        with pytest.raises(InputError, match="is a formula without a name: write name=formula"):
            Variable.of(text, ("a", "b"), "data", "feature")
    for text in ("log10(c)", "c[0]", "log(a", "a_"):
        with pytest.raises(InputError, match="data has no column"):
            Variable.of(text, ("a", "b", "log10(d)"), "data", "feature")


def test_a_constant_has_a_value_in_every_row():
    constant = Variable.of("one=1", (), "data", "feature")
    assert constant.taken({"a": np.ones(3)}, 3).values.tolist() == [1, 1, 1]


# Requests


def request_of(columns, **asked):
    asked = {"features": None, "weight": None, "where": None, "extra": (), **asked}
    return make_request(table_of(columns, None, "data"), what="data", **asked)


COLUMNS = {name: np.arange(4.0) for name in "abcd"}


def test_every_column_is_read_once_and_those_of_the_selection_are_let_go():
    request = request_of(COLUMNS, features=("b", "s=a+b"), weight="d", where="c > 0 and a > 0", extra=("b",))
    assert request.needed == ("c", "a", "b", "d")
    assert request.taken == ("b", "a", "d")
    chunk, rows, _ = request.select(COLUMNS)
    assert tuple(chunk) == request.taken
    assert rows.tolist() == [1, 2, 3]


def test_without_a_selection_all_rows_are_taken():
    chunk, rows, _ = request_of(COLUMNS, features=("a",)).select(COLUMNS)
    assert chunk is COLUMNS
    assert rows.tolist() == [0, 1, 2, 3]


def test_a_selection_may_be_an_expression_of_ones_own():
    cut = Expression.parse("a > 1", label="cut")
    assert request_of(COLUMNS, where=cut).where is cut


def test_a_further_file_may_have_more_columns_only_if_some_were_chosen():
    more = table_of({**COLUMNS, "e": np.ones(4)}, None, "more")
    check_same(more, request_of(COLUMNS, features=("a",)), "more")
    with pytest.raises(InputError, match="missing: none; extra: 'e'"):
        check_same(more, request_of(COLUMNS), "more")


def test_a_column_that_is_no_number_in_a_further_file_is_refused():
    text = table_of({**COLUMNS, "a": np.array(["x"] * 4)}, None, "text")
    with pytest.raises(InputError, match="column 'a' of text holds text"):
        check_same(text, request_of(COLUMNS, features=("a",)), "text")


def test_columns_with_names_keep_them():
    named = table_of(COLUMNS, None, "data")
    assert with_names(named, ("p", "q", "r", "s"), "data") is named
    plain = table_of(np.ones((2, 2)), None, "data")
    assert with_names(plain, ("x1",), "data") is plain
    assert with_names(plain, ("p", "q"), "data").names == ("p", "q")
