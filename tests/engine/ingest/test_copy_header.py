"""The check of a header line: pieces of any size, line ends of each kind, and lines without end."""

from __future__ import annotations

import pytest

from engine.ingest.copy_header import LINE_BYTES_MAX, HeaderMatch
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions
from sql.types.datatypes import SqlType

COLUMNS = tuple(ColumnDescription(name, SqlType("int4")) for name in ("id", "name"))


def match() -> HeaderMatch:
    return HeaderMatch("t", COLUMNS, CopyOptions(format="csv", header_match=True, delimiter=",", quote='"', escape='"'))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_pieces_of_any_size(end: bytes, size: int) -> None:
    data = b'id,"name"' + end + b"1,2" + end
    checked = match()
    pieces = [data[place : place + size] for place in range(0, len(data), size)]
    passed = [one for piece in pieces for one in checked.passed([piece], is_end=False)]
    assert b"".join(passed + checked.passed([], is_end=True)) == data
    assert b"".join(match().passed(list(pieces), is_end=True)) == data


def test_a_line_without_end_is_refused_before_it_takes_memory() -> None:
    checked = match()
    for _ in range(LINE_BYTES_MAX // 65_536):
        assert checked.passed([b"x" * 65_536], is_end=False) == []
    with pytest.raises(SqlError, match="54000: the header line is too long"):
        checked.passed([b"x"], is_end=False)


def test_a_long_first_piece_is_no_long_line() -> None:
    data = b"id,name\n" + b"1,2\n" * LINE_BYTES_MAX
    assert match().passed([data], is_end=False) == [data]
