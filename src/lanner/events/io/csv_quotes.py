"""Quotes that are opened and not closed in the same line: the parser would take all lines that follow for one text."""

from __future__ import annotations

import re
from typing import IO

_LINES = re.compile(rb"\r\n|\r|\n")


class QuotesWatched:
    """A file that is read through, and the number of the first line whose quotes do not match (`at_fault`).

    Only lines with quotes in them are looked at, so that a table of plain numbers costs no time. A column of numbers
    needs no text of several lines beside it, and telling such a text from lines that are lost is not possible.
    """

    def __init__(self, stream: IO[bytes], delimiter: str, skipped: int, longest: int) -> None:
        self._stream, self._skipped, self._longest = stream, skipped, longest
        other = re.escape(delimiter).encode()
        # A quote is one only at the beginning of a value; what follows the closing one is the next delimiter.
        value = rb'(?:"(?:[^"]|"")*"|[^"%s][^%s]*|)' % (other, other)
        self._well_formed = re.compile(rb"%s(?:%s%s)*" % (value, other, value))
        self._line, self._rest = 0, b""
        self.at_fault: int | None = None
        self.too_long = False  # it is not the quotes: the line has more than `longest` bytes
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Read on, and look at the lines of what was read; behind one at fault there is nothing more to read."""
        if self.at_fault is not None:
            return b""
        block = self._stream.read(size)
        self._look(block)
        if self.at_fault is None and len(self._rest) > self._longest:
            self.at_fault, self.too_long, self._rest = self._line + 1, True, b""
        return block

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._stream.close()

    def _look(self, block: bytes) -> None:
        text, self._rest = self._rest + block, b""
        if block:  # up to the last end of a line; a return at the very end may be the first half of one
            cut = max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
            text, self._rest = text[:cut], text[cut:]
        if b'"' not in text:
            self._line += text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
            return
        for line in _LINES.split(text):
            self._line += 1
            if self._line > self._skipped and b'"' in line and not self._well_formed.fullmatch(line):
                self.at_fault = self._line
                return
        self._line -= text.endswith((b"\n", b"\r"))  # nothing is behind the last end
