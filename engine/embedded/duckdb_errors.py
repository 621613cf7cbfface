"""DuckDB's exceptions as PostgreSQL's: SQLSTATE and message.

Errors of our own functions carry mark, SQLSTATE and message in their text; DuckDB's own are told
apart by class and wording. An exception that is not known here is a bug of the printed SQL and
stays a DuckDB exception.
"""

from __future__ import annotations

import re

import duckdb

from engine.embedded.error_mark import own_error
from sql.errors import SqlError, not_supported

NO_SPACE, TOO_LARGE = "No space left on device", "File too large"
CONFLICT = "could not serialize access due to concurrent update"
STREAM_ERRORS: dict[str, type[duckdb.Error]] = {
    "Conversion": duckdb.ConversionException,
    "Out of Range": duckdb.OutOfRangeException,
    "Out of Memory": duckdb.OutOfMemoryException,
    "INTERRUPT": duckdb.InterruptException,
    "IO": duckdb.IOException,
    "FATAL": duckdb.FatalException,
    "Invalid Input": duckdb.InvalidInputException,
}
INTEGER_NAMES = {"INT16": "smallint", "INT32": "integer", "INT64": "bigint"}
TYPE_IN_TEXT = re.compile(r"(?:destination type|of|to type) (INT16|INT32|INT64|DECIMAL)")

# A date and a timestamp by the names of the types that hold them; an integer always fits into a
# bigint.
DATE_TO_TIMESTAMP = re.compile(r"Type INT32 with value .* destination type INT64")
# For a timestamp moved by months, and for integers without a counterpart.
MOVED_TIMESTAMP = re.compile(r"Date out of range: |Date and time not in")
WITHOUT_COUNTERPART = re.compile(r"Overflow (?:in division of |on abs\()(-\d+)")
LEAST_INTEGERS = {
    str(-(1 << bits - 1)): f"{name} out of range" for bits, name in ((16, "smallint"), (32, "integer"), (64, "bigint"))
}
# A COMMIT whose log could not be written; nothing of the transaction has happened then.
UNWRITTEN_COMMIT = re.compile(r"TransactionContext Error: Failed to commit: Could not \w+ file ")
NUMERIC_FIELD = re.compile(r"to (?:type )?DECIMAL\((\d+),\s*(\d+)\)")


def sql_error(error: duckdb.Error) -> Exception:
    """Return the client's error for `error`, or `error` itself where no client caused it."""
    text = str(error)
    own = own_error(text)
    if own is not None:
        return own
    if isinstance(error, duckdb.InterruptException):
        return SqlError("57014", "canceling statement due to user request")
    if isinstance(error, duckdb.OutOfMemoryException):
        return SqlError("53200", "out of memory", detail=text.splitlines()[0])
    if "maximum total string size" in text:
        detail = "A batch of rows may have 2,147,483,647 bytes of texts."
        return SqlError("53200", "the answer is too large", detail=detail, hint="Ask for shorter texts, or fewer rows.")
    if isinstance(error, duckdb.TransactionException) and "conflict" in text.lower():
        return SqlError("40001", CONFLICT)
    if text.startswith("Binder Error: TRY can not be used"):
        return not_supported("TRY of this function")
    if isinstance(error, (duckdb.IOException, duckdb.FatalException)) or UNWRITTEN_COMMIT.match(text):
        return _disk_error(text.splitlines()[0])
    if "Division by zero" in text:
        return SqlError("22012", "division by zero")
    if "More than one row returned by a subquery" in text:
        return SqlError("21000", "more than one row returned by a subquery used as an expression")
    if "Argument for ntile must be greater than zero" in text:
        return SqlError("22014", "argument of ntile must be greater than zero")
    if "must not end with escape character" in text:
        return SqlError("22025", "LIKE pattern must not end with escape character")
    if isinstance(error, (duckdb.OutOfRangeException, duckdb.ConversionException)):
        # The lines that follow quote the statement, whose words say nothing of the value.
        return _out_of_range(text.splitlines()[0].partition(" when casting from source column")[0])
    return error


def error_in_stream(error: OSError) -> duckdb.Error:
    """Return DuckDB's exception for an error after the first rows.

    Arrow passes on the text of the exception alone, which begins with its class.
    """
    text = str(error)
    kind = text.partition(" Error:")[0]
    return STREAM_ERRORS.get(kind, duckdb.Error)(text)


def _disk_error(text: str) -> SqlError:
    """Return the error of a file that could not be read or written."""
    for reason in (NO_SPACE, TOO_LARGE):
        if reason in text or (reason == NO_SPACE and "disk quota" in text.lower()):
            return SqlError("53100", f"could not write to the file of the tables: {reason}", detail=text)
    hint = "Restart the server: what was committed is kept." if "invalidated" in text else None
    return SqlError("58030", "could not read or write the file of the tables", detail=text, hint=hint)


def _out_of_range(text: str) -> SqlError:
    field = NUMERIC_FIELD.search(text)
    if field is not None:
        return _field_overflow(int(field.group(1)), int(field.group(2)))
    if DATE_TO_TIMESTAMP.search(text):
        return SqlError("22008", "date out of range for timestamp")
    least = WITHOUT_COUNTERPART.search(text)
    if least is not None and least.group(1) in LEAST_INTEGERS:
        return SqlError("22003", LEAST_INTEGERS[least.group(1)])
    lowered = text.lower()
    if MOVED_TIMESTAMP.search(text) or "timestamp" in lowered or "interval" in lowered:
        return SqlError("22008", "timestamp out of range")
    if "date" in lowered:
        return SqlError("22008", "date out of range")
    found = TYPE_IN_TEXT.search(text)
    kind = found.group(1) if found is not None else ""
    if kind in INTEGER_NAMES:
        return SqlError("22003", f"{INTEGER_NAMES[kind]} out of range")
    if kind == "DECIMAL" or "DECIMAL" in text or "HUGEINT" in text:
        return SqlError("22003", "numeric field overflow")
    return SqlError("22003", "value out of range")


def _field_overflow(precision: int, scale: int) -> SqlError:
    digits = precision - scale
    bound = f"10^{digits}" if digits else "1"
    detail = f"A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
    return SqlError("22003", "numeric field overflow", detail=detail)
