"""The decoder for the options of a COPY, and the functions that decoders call for fields left open.

Enters: columns, options. Leaves: decoders of the ring buffer. Raises PostgreSQL's errors for
options that name other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.ingest.copy_arrow import ArrowDecoder
from ringbuffer.decode.copy_binary import BinaryDecoder
from ringbuffer.decode.copy_formats import CsvDecoder, CsvFormat, TextDecoder, TextFormat
from ringbuffer.memory.columns import Layout, PhysicalType
from ringbuffer.memory.error_codes import DATETIME_OVERFLOW, INVALID_DATETIME, INVALID_TEXT, RowError
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError, not_supported
from sql.parse.statements.parts import CopyOptions
from sql.times.input_styles import InputStyles
from sql.types.datatypes import LiteralValue
from sql.values.encodings import Encoding, ReceivedText
from sql.values.literals import input_value

CODE_OF_SQLSTATE = {"22007": INVALID_DATETIME, "22008": DATETIME_OVERFLOW}


Decoder = TextDecoder | CsvDecoder | BinaryDecoder | ArrowDecoder


def make_decoder(
    relation: RelationDescription, layout: Layout, fallback: Callable[[int, str], LiteralValue], options: CopyOptions,
    time_zone: str,
) -> Decoder:  # fmt: skip
    """Return the decoder of lines whose fields are the columns of `layout`.

    For types without a kernel it returns texts, or binary forms.
    """
    if options.format == "arrow":
        columns = {column.name: column for column in relation.row}
        return ArrowDecoder(relation.name, [columns[one.name] for one in layout], layout)
    if options.format == "binary":
        families = {column.name: column.type.family for column in relation.row}
        return BinaryDecoder(layout, [_is_raw(column.physical, families[column.name]) for column in layout])
    if options.format == "csv":
        return CsvDecoder(layout, _csv_format(relation, layout, options), fallback, time_zone)
    return TextDecoder(layout, TextFormat(options.delimiter, options.null, options.header), fallback, time_zone)


def received_text(options: CopyOptions, encoding: Encoding) -> ReceivedText | None:
    """Return a function that converts the data of a COPY to UTF-8, None if they are UTF-8.

    encoding: the client's. Raises 0A000 for binary data.
    """
    if options.format == "arrow":
        return None
    encoding = options.encoding or encoding
    if not encoding.converts:
        return None
    if options.format == "binary":
        raise not_supported(f"binary COPY FROM in the encoding {encoding.name}", hint="Send it in UTF8, or as text.")
    return ReceivedText(encoding)


def _is_raw(physical: PhysicalType, family: str) -> bool:
    return physical == PhysicalType.TEXT and family not in ("text", "varchar")


def field_fallback(
    columns: Sequence[ColumnDescription], time_zone: str, styles: InputStyles
) -> Callable[[int, str], LiteralValue]:
    """Return the function that decoders call for a field that no kernel reads.

    It takes (column, text), returns the value, and raises RowError.
    """

    def value(index: int, text: str) -> LiteralValue:
        try:
            return input_value(text, columns[index].type, time_zone, None, styles)
        except SqlError as error:
            raise RowError(CODE_OF_SQLSTATE.get(error.sqlstate, INVALID_TEXT), 0, index, text) from None

    return value


def _csv_format(relation: RelationDescription, layout: Layout, options: CopyOptions) -> CsvFormat:
    names = [column.name for column in layout]
    known = [column.name for column in relation.row]
    for option, chosen in (("FORCE_NOT_NULL", options.force_not_null), ("FORCE_NULL", options.force_null)):
        for name in chosen:
            if name not in known:
                raise SqlError("42703", f'column "{name}" of relation "{relation.name}" does not exist')
            if name not in names:
                raise SqlError("42P10", f'{option} column "{name}" not referenced by COPY')
    return CsvFormat(
        options.delimiter,
        options.null,
        options.header,
        options.quote,
        options.escape,
        frozenset(options.force_not_null),
        frozenset(options.force_null),
    )
