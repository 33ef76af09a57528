"""A quote that is not closed must not swallow the lines that follow."""

import gzip
import io

import pytest

from lanner.errors import ColumnWarning
from lanner.events.io import read_sample
from lanner.events.io.csv_quotes import QuotesWatched
from tests.events.io.files import refused

ROWS = "".join(f"{i},{i}.5\n" for i in range(50))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("line", ['1,"1', '"', '"1,2', '1,"2"3'])
@pytest.mark.parametrize("rest", [ROWS, ROWS + '7,"8\n' + ROWS])
def test_a_quote_that_is_not_closed_is_refused_with_its_line(tmp_path, name, line, rest):
    content = f"a,b\n{ROWS}{line}\n{rest}".encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    for asked in ({}, {"features": "a"}):
        refused(path, str(path), "line 52", "quotes", **asked)


def test_it_is_refused_in_a_column_that_is_left_out_as_well(tmp_path):
    (tmp_path / "t.csv").write_text(f'a,b\n1,"x\n{ROWS}')
    refused(tmp_path / "t.csv", "quotes in line 2", features="a")
    refused(tmp_path / "t.csv", "quotes in line 2")


def test_quotes_that_match_and_those_within_a_text_are_read(tmp_path):
    (tmp_path / "t.csv").write_text('a,"b",note\n1,"2","x, ""y"" z"\n"3",4,5" long\n5,6,\n')
    with pytest.warns(ColumnWarning, match="'note' holds text"):
        events = read_sample(tmp_path / "t.csv")
    assert events.sample.features.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("quote", [b'"', b'1"'])
def test_lines_are_counted_however_they_end_and_are_cut(end, size, quote):
    lines = [b'head"er', b"1,2", b"", b'"3",4', b"5,6", b"7," + quote, b"8,9"]
    for last in (b"", end):
        watched = QuotesWatched(io.BytesIO(end.join(lines) + last), ",", 1, 100)
        while watched.read(size):
            pass
        assert watched.at_fault == (6 if quote == b'"' else None)
        assert watched.read(size) == b""


def test_a_line_without_an_end_is_not_read_to_it():
    watched = QuotesWatched(io.BytesIO(b"a,b\n1,2\n" + b"0" * 10_000), ",", 1, 100)
    taken = 0
    while block := watched.read(50):
        taken += len(block)
    assert taken < 250
    assert (watched.at_fault, watched.too_long) == (3, True)
