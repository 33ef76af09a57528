"""What may be known of data that nobody has looked at: the names of their columns, and nothing below them."""

from pathlib import Path

import numpy as np
import pytest

from lanner.errors import InputError
from lanner.events.io.header import check_header
from tests.events.io.files import formats, written


def test_nothing_below_the_header_of_a_text_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("pt,eta\nthis is no; event, at \"all\n'%&")
    check_header([str(path)], features=["pt", "twice=2*eta"], where="eta > 1")


@formats
def test_a_column_that_is_missing_is_named_in_every_format(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, {"pt": np.arange(5.0), "eta": np.arange(5.0)})
    check_header([str(path)], features=["pt", "eta"])
    with pytest.raises(InputError, match="pt3"):
        check_header([str(path)], features=["pt", "sum=pt + pt3"])
    with pytest.raises(InputError, match="phi"):
        check_header([str(path)], features=["pt"], where="phi > 1")
