"""From a kernel's error code to what PostgreSQL would say: message with type and value, DETAIL, CONTEXT.

The exact words come from the text input function in `sql.literals`, which is asked again for the one bad field.
"""

from __future__ import annotations

from ringbuffer import error_codes
from ringbuffer.error_codes import RowError
from sql.catalog import ColumnDescription
from sql.errors import SqlError
from sql.literals import input_value
from sql.wire.reader import encoding_error
from views.view import ContinuousView

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
SHOWN_BYTES_MAX = 100


def value_error(error: RowError, columns: tuple[ColumnDescription, ...], relation: str, time_zone: str) -> SqlError:
    """Return the client's error for a bad value of `columns[error.column]`, or for a line that has none."""
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
            input_value(error.field, column.type, time_zone, None)
        except SqlError as exact:
            return exact
    return SqlError(error.sqlstate, error.message)


def line_error(error: RowError) -> SqlError:
    """Return the client's error for a line that can't be taken apart."""
    if error.code == error_codes.INVALID_ENCODING:
        data = error.field.encode(errors="surrogateescape")
        try:
            data.decode()
        except UnicodeDecodeError as bad:
            return encoding_error(data, bad.start)
    return SqlError(error.sqlstate, error.message, hint=LINE_HINTS.get(error.code))


def copy_error(error: RowError, columns: tuple[ColumnDescription, ...], relation: str, time_zone: str) -> SqlError:
    """Return the client's error for a bad COPY line, with PostgreSQL's CONTEXT."""
    result = value_error(error, columns, relation, time_zone)
    place = f"COPY {relation}, line {error.line}"
    if error.code in UNREAD_LINE_ERRORS:
        result.context = place
    elif error.code in LINE_ERRORS or error.column < 0:
        result.context = f'{place}: "{shown(error.field)}"'
    elif error.code == error_codes.NULL_VIOLATION:
        result.context = place
    else:
        result.context = f'{place}, column {columns[error.column].name}: "{shown(error.field)}"'
    return result


def shown(text: str) -> str:
    """Return as much of a line or a field as a CONTEXT shows."""
    data = text.encode()
    return text if len(data) <= SHOWN_BYTES_MAX else data[:SHOWN_BYTES_MAX].decode(errors="ignore") + "..."


def view_error(view: ContinuousView, error: RowError) -> SqlError:
    """Return the inserting client's error for a row that a view's expression can't take."""
    return SqlError(
        error.sqlstate,
        error.message,
        context=f'continuous view "{view.definition.name}", expression {view.state.expression_text(error.expression)}',
        hint="The statement was not applied. CREATE VIEW ... WITH (on_error = skip) lets a view leave such rows out.",
    )
