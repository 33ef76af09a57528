"""What is particular to CSV and text files."""

import gzip
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from lanner.errors import ColumnWarning
from lanner.events.io import read_sample
from lanner.events.io.csv import _delimiter
from tests.events.io.files import refused


def text(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "\ufeffa,b\n1,2\n3,4\n",
        "\n\na,b\n1,2\n\n3,4\n",
        "# a,b\n1,2\n3,4\n",
        "#a b\n1.0 2.0\n3e0 4E0\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        " a , b \n 1 , 2 \n +3 , 4. \n",
        '"a","b"\n"1","2"\n3,4\n',
        ",a,b\n0,1,2\n1,3,4\n",
    ],
)
def test_csv_headers_delimiters_and_line_ends(content, tmp_path):
    events = read_sample(text(tmp_path, content))
    assert events.sample.names == ("a", "b")
    assert events.sample.features.tolist() == [[1, 2], [3, 4]]


def test_csv_of_numpy_and_of_pyarrow(tmp_path):
    table = np.random.default_rng(0).standard_normal((20, 2))
    np.savetxt(tmp_path / "a.txt", table, header="a b", fmt="%.17g")
    pyarrow.csv.write_csv(pa.table({"a": table[:, 0], "b": table[:, 1]}), tmp_path / "b.csv")
    for name in ("a.txt", "b.csv"):
        assert read_sample(tmp_path / name).sample.features.tobytes() == table.tobytes()


def test_csv_one_column_may_have_blanks_in_its_name(tmp_path):
    assert read_sample(text(tmp_path, "p_T [GeV]\n1\n2\n")).sample.names == ("p_T [GeV]",)


def test_csv_text_among_numbers_is_shown_with_its_line(tmp_path):
    rows = "".join(f"{i},{i}.5\n" for i in range(300))
    path = text(tmp_path, f"a,b\n{rows}300,oops\n301,1.5\n")
    refused(path, str(path), "column 'b'", "'oops'", "line 302", "a number is needed")
    assert len(read_sample(path, features="a").sample) == 302
    refused(text(tmp_path, "a,b\n1,x\n2,y\n"), "column 'b'", "holds text, such as 'x'", features=["b"])
    refused(text(tmp_path, "a\ntrue\nfalse\nmaybe\n"), "'maybe'", "line 4", "a condition is needed")


def test_csv_numbers_with_thousands_separators_are_not_lost_without_a_word(tmp_path):
    path = text(tmp_path, 'a,b\n1,"1,234"\n2,"5,678"\n')
    with pytest.warns(ColumnWarning, match="'b' holds text, such as '1,234'"):
        assert read_sample(path).sample.names == ("a",)
    refused(path, "column 'b'", "'1,234'", features=["a", "b"])


def test_csv_lines_of_another_length_are_shown(tmp_path):
    refused(text(tmp_path, "a,b\n1,2\n3\n"), "1 values in line 3", "2 columns")
    refused(text(tmp_path, "a,b\n1,2\n3,4,5\n"), "3 values in line 3", "2 columns")
    refused(text(tmp_path, "a,b\x0b\n1,2\n3\n"), "('a', 'b')")  # on one line, whatever is in a name
    refused(text(tmp_path, "a,b\x0bc\n1,2\n3\n"), r"('a', 'b\x0bc')")
    for sign in (";", "\t"):
        refused(text(tmp_path, f"a{sign}b\n1\n2\n"), repr(sign), "first row is not divided so")
        assert read_sample(text(tmp_path, f'"a{sign}b"\n1\n2\n')).sample.names == (f"a{sign}b",)


# In a process of its own, which does not stop what it began: `tracemalloc.stop` is not safe while other threads, here
# those of the parser, allocate (CPython before 3.12.9), and a process of the tests has died at this place.
PEAKS = """
import sys, tracemalloc
from lanner.errors import InputError
from lanner.events.io import read_sample
read_sample(sys.argv[1])  # imports what is needed
tracemalloc.start()
for path in sys.argv[2:]:
    tracemalloc.reset_peak()
    try:
        read_sample(path, memory="16 MB")
    except InputError as error:
        print(tracemalloc.get_traced_memory()[1], error)
"""


def test_csv_a_line_without_an_end_is_refused_within_the_memory_budget(tmp_path):
    paths = {}
    for where in (0, 1, 300):
        lines = [b"a,b\n", *[b"1,2\n"] * 400]
        lines[where] = b"0" * 30_000_000 + b",2\n"
        content = b"".join(lines)
        for name, packed in (("csv", content), ("csv.gz", gzip.compress(content, 1))):
            paths[text(tmp_path, packed, f"{where}.{name}")] = where + 1
    command = [sys.executable, "-c", PEAKS, text(tmp_path, "a,b\n1,2\n"), *paths]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for one, (path, line) in zip(found, paths.items(), strict=True):
        peak, said = one.split(" ", 1)
        assert int(peak) < 16e6
        assert said.startswith(f"{path} has a line of more than 1048576 characters, line {line}: ")


def test_csv_needs_a_header(tmp_path):
    refused(text(tmp_path, "1.0,2.0\n3.0,4.0\n"), "begins with numbers", "header")
    refused(text(tmp_path, ""), "is empty")
    refused(text(tmp_path, " \n\n"), "is empty")
    refused(text(tmp_path, "a,a\n1,2\n"), "more than one column named 'a'")
    refused(text(tmp_path, b"\xff\xfea,b\n1,2\n"), "cannot be read as CSV")


def test_csv_missing_values_and_conditions(tmp_path):
    path = text(tmp_path, "a,b,ok\n1,2,True\n,4,False\nNaN,5,true\n6,NA,TRUE\n7,8,\n9,10,true\n")
    refused(path, "'a' (2)", "'b' (1)", features=["a", "b"])
    events = read_sample(path, features=["a", "b"], where="b > 3", drop_nan=True)
    assert events.sample.features.tolist() == [[7, 8], [9, 10]]
    assert read_sample(
        text(tmp_path, "a,ok\n1,True\n2,False\n"), features="a", where="ok"
    ).sample.features.tolist() == [[1]]


def test_csv_a_number_too_many_for_float64_is_infinite_and_refused(tmp_path):
    refused(text(tmp_path, "a\n1\n1e400\n"), "column 'a' (1 of 2 rows)")


@pytest.mark.parametrize(
    ("header", "first", "wanted"),
    [
        ("a,b", "1,2", ","),
        ("a;b", "1,5;2,5", ";"),
        ("a b", "1 2", " "),
        ("a\tb", "1\t2", "\t"),
        ("p_T [GeV]", "1", ","),  # blanks in a name, because the row has only one value
        ("a [x, y];b", "1;2", ";"),
    ],
)
def test_csv_the_delimiter_cuts_header_and_first_row_alike(header, first, wanted):
    assert _delimiter(header, first) == wanted
