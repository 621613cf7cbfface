"""From the error code of a kernel to PostgreSQL's error: message with type and value, DETAIL,
CONTEXT.

The exact words come from the text input function in `sql.values.literals`, which reads the one bad
field again.
"""

from __future__ import annotations

from ringbuffer.memory import error_codes
from ringbuffer.memory.error_codes import RowError
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.times.input_styles import USUAL, InputStyles
from sql.types.datatypes import SqlType
from sql.values.encodings import UTF8
from sql.values.literals import apply_modifier, binary_value, input_value
from views.upkeep.chain import Chain
from views.upkeep.computed import ComputedError

# Errors of the line as a whole: the CONTEXT shows the line, not a column.
LINE_ERRORS = frozenset(
    {
        error_codes.EXTRA_COLUMN,
        error_codes.MISSING_COLUMN,
        error_codes.UNTERMINATED_QUOTE,
        error_codes.CARRIAGE_RETURN,
        error_codes.INVALID_ENCODING,
        error_codes.NUL_CHARACTER,
        error_codes.ROW_MISMATCH,
        error_codes.LITERAL_NEWLINE,
        error_codes.UNQUOTED_CARRIAGE_RETURN,
        error_codes.UNQUOTED_NEWLINE,
        error_codes.END_MARKER_CORRUPT,
        error_codes.END_MARKER_STYLE,
    }
)
# Errors in finding where the line ends: there is no line to show yet.
UNREAD_LINE_ERRORS = frozenset(
    {
        error_codes.INVALID_ENCODING,
        error_codes.NUL_CHARACTER,
        error_codes.CARRIAGE_RETURN,
        error_codes.LITERAL_NEWLINE,
        error_codes.UNQUOTED_CARRIAGE_RETURN,
        error_codes.UNQUOTED_NEWLINE,
        error_codes.END_MARKER_CORRUPT,
        error_codes.END_MARKER_STYLE,
    }
)
LINE_HINTS = {
    error_codes.CARRIAGE_RETURN: 'Use "\\r" to represent carriage return.',
    error_codes.LITERAL_NEWLINE: 'Use "\\n" to represent newline.',
    error_codes.UNQUOTED_CARRIAGE_RETURN: "Use quoted CSV field to represent carriage return.",
    error_codes.UNQUOTED_NEWLINE: "Use quoted CSV field to represent newline.",
}
# Errors of COPY BINARY: those of its header stand before any line.
HEADER_ERRORS = frozenset(
    {
        error_codes.COPY_SIGNATURE,
        error_codes.COPY_FLAGS,
        error_codes.COPY_WITH_OIDS,
        error_codes.COPY_CRITICAL_FLAGS,
        error_codes.COPY_HEADER_LENGTH,
        error_codes.COPY_HEADER_EXTENSION,
    }
)
BINARY_ERRORS = HEADER_ERRORS | {
    error_codes.COPY_AFTER_END,
    error_codes.COPY_FIELD_COUNT,
    error_codes.COPY_FIELD_SIZE,
    error_codes.COPY_END,
}
SHOWN_BYTES_MAX = 100


def value_error(
    error: RowError, columns: tuple[ColumnDescription, ...], relation: str, time_zone: str, styles: InputStyles = USUAL
) -> SqlError:
    """Return the client's error for a bad value of `columns[error.column]`, or for a line without
    one.
    """
    if error.column < 0 or error.column >= len(columns):
        return line_error(error)
    column = columns[error.column]
    if error.code == error_codes.NULL_VIOLATION:
        return SqlError(
            error.sqlstate,
            f'null value in column "{column.name}" of relation "{relation}" violates not-null constraint',
        )
    if error.code == error_codes.MISSING_COLUMN:
        return SqlError(error.sqlstate, f'missing data for column "{column.name}"')
    if error.code not in LINE_ERRORS:
        try:
            input_value(error.field, column.type, time_zone, None, styles)
        except SqlError as exact:
            return exact
    return SqlError(error.sqlstate, error.message)


def line_error(error: RowError) -> SqlError:
    """Return the client's error for a line that can't be split into fields."""
    if error.code == error_codes.INVALID_ENCODING:
        data = error.field.encode(errors="surrogateescape")
        try:
            data.decode()
        except UnicodeDecodeError as bad:
            return UTF8.refused(data, bad.start)
    return SqlError(error.sqlstate, error.message, hint=LINE_HINTS.get(error.code))


def copy_error(
    error: RowError, columns: tuple[ColumnDescription, ...], relation: str, time_zone: str, styles: InputStyles = USUAL
) -> SqlError:
    """Return the client's error for a bad COPY line, with PostgreSQL's CONTEXT."""
    place = f"COPY {relation}, line {error.line}"
    if error.raw is not None or error.code in BINARY_ERRORS:
        return binary_error(error, columns, relation, place)
    result = value_error(error, columns, relation, time_zone, styles)
    if error.code in UNREAD_LINE_ERRORS:
        result.context = place
    elif error.code in LINE_ERRORS or error.column < 0:
        result.context = f'{place}: "{shown(error.field)}"'
    elif error.code == error_codes.NULL_VIOLATION:
        result.context = place
    else:
        result.context = within(result, f'{place}, column {columns[error.column].name}: "{shown(error.field)}"')
    return result


def within(error: SqlError, place: str) -> str:
    """Return the CONTEXT of an error at `place`, after the CONTEXT that the error has."""
    return place if error.context is None else f"{error.context}\n{place}"


def binary_error(error: RowError, columns: tuple[ColumnDescription, ...], relation: str, place: str) -> SqlError:
    """Return the client's error for bad data in COPY BINARY.

    The error of a value comes from the receive function of its type.
    """
    result = SqlError(error.sqlstate, error.field or error.message)
    if error.code in HEADER_ERRORS:
        return result
    if error.code == error_codes.NULL_VIOLATION:
        result.message = value_error(error, columns, relation, "").message
    elif error.code in (error_codes.COPY_FIELD_SIZE, error_codes.COPY_END):
        return broken_tuple(error, result, columns, place)
    elif error.column >= 0:
        column = columns[error.column]
        result = receive_error(error.raw or b"", column.type) or result
        place = f"{place}, column {column.name}"
    result.context = within(result, place)
    return result


def broken_tuple(error: RowError, result: SqlError, columns: tuple[ColumnDescription, ...], place: str) -> SqlError:
    """Return the error of a tuple that breaks off: that of the first bad field before the end, or
    `result`.
    """
    at, raw = 0, error.raw or b""
    for column in columns[: error.column]:
        size = int.from_bytes(raw[at : at + 4], "big", signed=True)
        at += 4
        found = None if size < 0 else receive_error(raw[at : at + size], column.type)
        at += max(size, 0)
        if found is not None:
            found.context = within(found, f"{place}, column {column.name}")
            return found
    result.context = f"{place}, column {columns[error.column].name}" if error.column >= 0 else place
    return result


def receive_error(data: bytes, kind: SqlType) -> SqlError | None:
    """Return the error of a value in binary form, None for a valid value."""
    try:
        apply_modifier(binary_value(data, kind), kind)
    except SqlError as error:
        return error
    return None


def shown(text: str) -> str:
    """Return the beginning of a line or a field, as long as a CONTEXT shows it."""
    data = text.encode()
    return text if len(data) <= SHOWN_BYTES_MAX else data[:SHOWN_BYTES_MAX].decode(errors="ignore") + "..."


def view_error(view: Chain, error: RowError) -> SqlError:
    """Return the error that the inserting client gets for a row that a view can't evaluate."""
    return SqlError(
        error.sqlstate,
        error.message,
        detail=error.error.detail if isinstance(error, ComputedError) else None,
        context=f'continuous view "{view.definition.shown}", expression {view.state.program.expression_text(error.expression)}',
        hint="The statement was not applied. CREATE VIEW ... WITH (on_error = skip) lets a view leave such rows out.",
    )
