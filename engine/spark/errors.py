"""Spark's exceptions as PostgreSQL's errors: SQLSTATE and message.

Errors of our own functions carry mark, SQLSTATE and message in their text; Spark's ANSI errors have
a condition. A text that Spark's analysis refuses is for the embedded engine, which has taken it at
CREATE VIEW: unless the refusal is known here, it is a bug of the printed SQL, and is logged. Any
other exception that is not known here stays as it is.
"""

from __future__ import annotations

import logging
import re

from pyspark.errors import AnalysisException

from engine.embedded.error_mark import own_error
from engine.storage.errors import DISK_FULL
from sql.errors import SqlError, not_supported

log = logging.getLogger(__name__)

CONDITION = re.compile(r"\[([A-Z_]+(?:\.[A-Z_]+)?)\]")
CAST_TARGET = re.compile(r'cannot be cast to "(SMALLINT|INT|BIGINT)"')
TARGET_NAMES = {"SMALLINT": "smallint", "INT": "integer", "BIGINT": "bigint"}
DIVISIONS = frozenset({"DIVIDE_BY_ZERO", "REMAINDER_BY_ZERO"})
# What Spark's analysis has no plan for.
REFUSED = ("UNSUPPORTED_SUBQUERY_EXPRESSION", "INVALID_INLINE_TABLE", "SCALAR_SUBQUERY_IS_IN")
# Of Java's IOException.
DISK_FULL_TEXTS = ("No space left on device", "File too large")
OVERFLOWS = frozenset({"ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW"})


def sql_error(error: Exception) -> Exception:
    """Return the client's error for `error`, or `error` itself where no client caused it."""
    text = str(error)
    own = own_error(text)
    if own is not None:
        return own
    for condition in CONDITION.findall(text):
        if condition in DIVISIONS:
            return SqlError("22012", "division by zero")
        if condition in OVERFLOWS:
            return SqlError("22003", _integer_message(text))
        if condition == "CAST_OVERFLOW":
            target = CAST_TARGET.search(text)
            kind = TARGET_NAMES[target.group(1)] if target is not None else "value"
            return SqlError("22003", f"{kind} out of range")
        if condition.startswith("NUMERIC_VALUE_OUT_OF_RANGE"):
            return SqlError("22003", "numeric field overflow")
        if condition == "SCALAR_SUBQUERY_TOO_MANY_ROWS":
            return SqlError("21000", "more than one row returned by a subquery used as an expression")
        if condition.startswith(REFUSED):
            return not_supported("this subquery in the upper part of a continuous view")
        if condition == "DATETIME_OVERFLOW":
            return SqlError("22008", "timestamp out of range")
    if (reason := disk_full_reason(text)) is not None:
        return SqlError(DISK_FULL, f"could not write what Spark computes: {reason}")
    if "OutOfMemoryError" in text or "OutOfDirectMemoryError" in text:
        return SqlError("53200", "out of memory", detail="Spark's heap is too small for this view.")
    if isinstance(error, AnalysisException):
        log.error("Spark refuses a query that the embedded engine runs instead: %s", text)
        return not_supported("this query in Spark")
    return error


def disk_full_reason(text: str) -> str | None:
    """Return the reason in an error's text when a disk is full or a file may not grow."""
    return next((reason for reason in DISK_FULL_TEXTS if reason in text), None)


def _integer_message(text: str) -> str:
    """Return PostgreSQL's wording.

    Spark shows an integer's type by the suffix of a value, if at all.
    """
    if re.search(r"\d+S [-+*]", text):
        return "smallint out of range"
    return "bigint out of range" if "long overflow" in text else "integer out of range"
