import os
import socket
from pathlib import Path

import pytest

from lanner._util.regular import check_regular
from lanner.errors import InputError


def test_only_a_regular_file_is_taken_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    for fine in ("file", "link", "none at all"):
        check_regular(tmp_path / fine, "data")
    for odd, kind in (("pipe", "a pipe"), ("socket", "a socket"), ("", "a folder"), ("/dev/zero", "a device")):
        with pytest.raises(InputError, match=f"data .* is {kind}, not a file"):
            check_regular(tmp_path / odd, "data")
