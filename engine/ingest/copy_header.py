"""COPY ... HEADER MATCH: the first line has to name the columns of the lines, in their order.

Enters: the first bytes of a COPY. Leaves: nothing, or 22P04 in PostgreSQL's words. Must not remove
the line: decoders skip it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from engine.streams.row_errors import shown
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions

# 1,600 names of 63 bytes, each of them escaped, have less.
LINE_BYTES_MAX = 1_048_576
LINE_END = re.compile(rb"[\r\n]")
UNESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class HeaderMatch:
    """The check of the first line of one COPY; without the option there is nothing to check."""

    def __init__(self, relation: str, columns: Sequence[ColumnDescription], options: CopyOptions) -> None:
        self._relation = relation
        self._names = [column.name for column in columns]
        self._options = options
        self._is_due = options.header_match
        self._kept = bytearray()
        self._searched = 0

    def passed(self, pieces: list[bytes | memoryview], is_end: bool) -> list[bytes | memoryview]:
        """Return what is to be decoded, nothing until the whole first line is there.

        Raises 22P04, and 54000 for a line of more than `LINE_BYTES_MAX`.
        """
        if not self._is_due:
            return pieces
        for piece in pieces:
            self._kept += piece
        found = LINE_END.search(self._kept, self._searched)
        self._searched = len(self._kept)
        length = self._searched if found is None else found.start()
        if length > LINE_BYTES_MAX:
            raise SqlError("54000", "the header line is too long", context=f"COPY {self._relation}, line 1")
        if found is None and not is_end:
            return []
        data, self._kept = bytes(self._kept), bytearray()
        self._is_due = False
        line = data[:length].decode(errors="replace")
        try:
            check_header(line, self._names, self._options)
        except SqlError as error:
            error.context = f'COPY {self._relation}, line 1: "{shown(line)}"'
            raise
        return [data]


def check_header(line: str, names: Sequence[str], options: CopyOptions) -> None:
    """Raise 22P04 for the first field that is not the name of its column."""
    fields = csv_fields(line, options) if options.format == "csv" else text_fields(line, options)
    if len(fields) != len(names):
        message = f"wrong number of fields in header line: got {len(fields)}, expected {len(names)}"
        raise SqlError("22P04", message)
    for number, (field, name) in enumerate(zip(fields, names, strict=True), 1):
        start = f"column name mismatch in header line field {number}: got"
        if field is None:
            raise SqlError("22P04", f'{start} null value ("{options.null}"), expected "{name}"')
        if field != name:
            raise SqlError("22P04", f'{start} "{field}", expected "{name}"')


def csv_fields(line: str, options: CopyOptions) -> list[str | None]:
    """Return the fields of a CSV line, None for the null text."""
    doubled = options.escape == options.quote
    reader = csv.reader(
        [line],
        delimiter=options.delimiter,
        quotechar=options.quote,
        doublequote=doubled,
        escapechar=None if doubled else options.escape,
    )
    fields = next(reader, [""])
    return [None if field == options.null else field for field in fields or [""]]


def text_fields(line: str, options: CopyOptions) -> list[str | None]:
    """Return the fields of a line in text format, None for the null text."""
    fields: list[str | None] = []
    raw, value, escaped = "", "", False
    for character in line + options.delimiter:
        if escaped:
            raw, value, escaped = raw + character, value + UNESCAPED.get(character, character), False
        elif character == "\\":
            raw, escaped = raw + character, True
        elif character == options.delimiter:
            fields.append(None if raw == options.null else value)
            raw = value = ""
        else:
            raw, value = raw + character, value + character
    return fields
