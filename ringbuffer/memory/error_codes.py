"""The failures that a kernel reports as an integer, with their SQLSTATE and text; 0 is success.

nogil kernels must not raise: a kernel returns one of these codes and the row, and its caller raises
`RowError`.
"""

from __future__ import annotations

from dataclasses import dataclass

(
    OK,
    DIVISION_BY_ZERO,
    SMALLINT_RANGE,
    INTEGER_RANGE,
    BIGINT_RANGE,
    NUMERIC_OVERFLOW,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    REAL_RANGE,
    TIMESTAMP_RANGE,
    DATE_RANGE,
    VALUE_TOO_LONG,
    INVALID_TEXT,
    INVALID_DATETIME,
    DATETIME_OVERFLOW,
    NUMERIC_FIELD_OVERFLOW,
    NULL_VIOLATION,
    MISSING_COLUMN,
    EXTRA_COLUMN,
    UNTERMINATED_QUOTE,
    INVALID_ENCODING,
    CARRIAGE_RETURN,
    NEGATIVE_LENGTH,
    INVALID_ESCAPE,
    INVALID_ARGUMENT,
    BINARY_FORMAT,
    NUMERIC_DIGITS,
    NUL_CHARACTER,
    ROW_MISMATCH,
) = range(29)
# 40-49: decoders. NEEDS_FALLBACK never leaves a decoder: the field's text goes to the caller's slow
# parser.
(
    NEEDS_FALLBACK,
    NUMERIC_SPECIAL,
    LITERAL_NEWLINE,
    UNQUOTED_CARRIAGE_RETURN,
    UNQUOTED_NEWLINE,
    END_MARKER_CORRUPT,
    END_MARKER_STYLE,
) = range(40, 47)
# 60-79: functions and casts.
(
    DATE_OUT_OF_TIMESTAMP,
    INVALID_SQUARE_ROOT,
    INVALID_LOGARITHM_ZERO,
    INVALID_LOGARITHM_NEGATIVE,
    INVALID_POWER,
    INVALID_POWER_ZERO,
    TEXT_TOO_LONG,
    INTERVAL_RANGE,
) = range(60, 68)
# Never leaves a pipeline: its owner grows the scratch heap and runs the row again.
(
    SCRATCH_FULL,
    DATETIME_SPELLING,
    INFINITE_DATES,
    INFINITE_FIELD,
    NAN_TO_SMALLINT,
    NAN_TO_INTEGER,
    NAN_TO_BIGINT,
    INFINITY_TO_SMALLINT,
    INFINITY_TO_INTEGER,
    INFINITY_TO_BIGINT,
    BIN_ORIGIN,
    TIMESTAMP_NAN,
) = range(68, 80)
# 80-89: COPY BINARY. COPY_FIELD_COUNT has its words in the error's `field`.
(
    COPY_SIGNATURE,
    COPY_FLAGS,
    COPY_WITH_OIDS,
    COPY_CRITICAL_FLAGS,
    COPY_HEADER_LENGTH,
    COPY_HEADER_EXTENSION,
    COPY_AFTER_END,
    COPY_FIELD_COUNT,
    COPY_FIELD_SIZE,
    COPY_END,
) = range(80, 90)
# 90-99: more functions. COMPUTED: the value could not be computed before the kernel, whose caller
# finds the error.
(
    FIELD_ZERO,
    BUCKETS_COUNT,
    BUCKETS_NAN,
    BUCKETS_INFINITE,
    BUCKETS_EMPTY,
    INPUT_RANGE,
    COMPUTED,
    PERCENTILE_RANGE,
    NOT_A_SKETCH,
    SKETCH_OF_OTHERS,
) = range(90, 100)
# A text that names no zone or no field.
UNKNOWN_NAME = 100
# The machine has no room for the words of a call.
OUT_OF_MEMORY = 101

MESSAGES: dict[int, tuple[str, str]] = {
    UNKNOWN_NAME: ("22023", "time zone or field not recognized"),
    OUT_OF_MEMORY: ("53200", "out of memory"),
    DIVISION_BY_ZERO: ("22012", "division by zero"),
    SMALLINT_RANGE: ("22003", "smallint out of range"),
    INTEGER_RANGE: ("22003", "integer out of range"),
    BIGINT_RANGE: ("22003", "bigint out of range"),
    NUMERIC_OVERFLOW: ("22003", "value overflows numeric format"),
    FLOAT_OVERFLOW: ("22003", "value out of range: overflow"),
    FLOAT_UNDERFLOW: ("22003", "value out of range: underflow"),
    REAL_RANGE: ("22003", "real out of range"),
    TIMESTAMP_RANGE: ("22008", "timestamp out of range"),
    DATE_RANGE: ("22008", "date out of range"),
    BIN_ORIGIN: ("22008", "origin out of range"),
    TIMESTAMP_NAN: ("22008", "timestamp cannot be NaN"),
    FIELD_ZERO: ("22023", "field position must not be zero"),
    BUCKETS_COUNT: ("2201G", "count must be greater than zero"),
    BUCKETS_NAN: ("2201G", "operand, lower bound, and upper bound cannot be NaN"),
    BUCKETS_INFINITE: ("2201G", "lower and upper bounds must be finite"),
    INPUT_RANGE: ("22003", "input is out of range"),
    PERCENTILE_RANGE: ("22003", "percentile value is not between 0 and 1"),
    NOT_A_SKETCH: ("22023", "value is not a sketch that this function reads"),
    SKETCH_OF_OTHERS: ("22023", "the sketch has seen values of another type"),
    COMPUTED: ("XX000", "a value could not be computed"),
    BUCKETS_EMPTY: ("2201G", "lower bound cannot equal upper bound"),
    INFINITE_DATES: ("22008", "cannot subtract infinite dates"),
    INFINITE_FIELD: ("0A000", "EXTRACT of an infinite time is not supported yet"),
    NAN_TO_SMALLINT: ("0A000", "cannot convert NaN to smallint"),
    NAN_TO_INTEGER: ("0A000", "cannot convert NaN to integer"),
    NAN_TO_BIGINT: ("0A000", "cannot convert NaN to bigint"),
    INFINITY_TO_SMALLINT: ("0A000", "cannot convert infinity to smallint"),
    INFINITY_TO_INTEGER: ("0A000", "cannot convert infinity to integer"),
    INFINITY_TO_BIGINT: ("0A000", "cannot convert infinity to bigint"),
    VALUE_TOO_LONG: ("22001", "value too long for type character varying"),
    INVALID_TEXT: ("22P02", "invalid input syntax"),
    INVALID_DATETIME: ("22007", "invalid input syntax for date or time"),
    DATETIME_OVERFLOW: ("22008", "date/time field value out of range"),
    NUMERIC_FIELD_OVERFLOW: ("22003", "numeric field overflow"),
    NULL_VIOLATION: ("23502", "null value violates not-null constraint"),
    MISSING_COLUMN: ("22P04", "missing data for column"),
    EXTRA_COLUMN: ("22P04", "extra data after last expected column"),
    UNTERMINATED_QUOTE: ("22P04", "unterminated CSV quoted field"),
    INVALID_ENCODING: ("22021", 'invalid byte sequence for encoding "UTF8"'),
    CARRIAGE_RETURN: ("22P04", "literal carriage return found in data"),
    NEGATIVE_LENGTH: ("22011", "negative substring length not allowed"),
    INVALID_ESCAPE: ("22025", "LIKE pattern must not end with escape character"),
    INVALID_ARGUMENT: ("22023", "invalid argument"),
    BINARY_FORMAT: ("22P03", "incorrect binary data format"),
    NUMERIC_DIGITS: ("22003", "numeric value has more than 38 digits"),
    NUL_CHARACTER: ("22021", 'invalid byte sequence for encoding "UTF8": 0x00'),
    ROW_MISMATCH: ("22P04", "row has a different number of columns"),
    NEEDS_FALLBACK: ("22007", "invalid input syntax for date or time"),
    NUMERIC_SPECIAL: ("0A000", "NaN as numeric(p,s) is not supported yet"),
    LITERAL_NEWLINE: ("22P04", "literal newline found in data"),
    UNQUOTED_CARRIAGE_RETURN: ("22P04", "unquoted carriage return found in data"),
    UNQUOTED_NEWLINE: ("22P04", "unquoted newline found in data"),
    END_MARKER_CORRUPT: ("22P04", "end-of-copy marker corrupt"),
    END_MARKER_STYLE: ("22P04", "end-of-copy marker does not match previous newline style"),
    DATE_OUT_OF_TIMESTAMP: ("22008", "date out of range for timestamp"),
    INVALID_SQUARE_ROOT: ("2201F", "cannot take square root of a negative number"),
    INVALID_LOGARITHM_ZERO: ("2201E", "cannot take logarithm of zero"),
    INVALID_LOGARITHM_NEGATIVE: ("2201E", "cannot take logarithm of a negative number"),
    INVALID_POWER: ("2201F", "a negative number raised to a non-integer power yields a complex result"),
    INVALID_POWER_ZERO: ("2201F", "zero raised to a negative power is undefined"),
    TEXT_TOO_LONG: ("54000", "requested length too large"),
    DATETIME_SPELLING: ("0A000", "dates and timestamps that are not in ISO form are not supported here"),
    SCRATCH_FULL: ("53200", "out of memory"),
    INTERVAL_RANGE: ("22008", "interval out of range"),
    COPY_SIGNATURE: ("22P04", "COPY file signature not recognized"),
    COPY_FLAGS: ("22P04", "invalid COPY file header (missing flags)"),
    COPY_WITH_OIDS: ("22P04", "invalid COPY file header (WITH OIDS)"),
    COPY_CRITICAL_FLAGS: ("22P04", "unrecognized critical flags in COPY file header"),
    COPY_HEADER_LENGTH: ("22P04", "invalid COPY file header (missing length)"),
    COPY_HEADER_EXTENSION: ("22P04", "invalid COPY file header (wrong length)"),
    COPY_AFTER_END: ("22P04", "received copy data after EOF marker"),
    COPY_FIELD_COUNT: ("22P04", "row has a different number of fields"),
    COPY_FIELD_SIZE: ("22P04", "invalid field size"),
    COPY_END: ("22P04", "unexpected EOF in COPY data"),
}


@dataclass
class RowError(Exception):
    """A row of a client's data that can't be taken.

    Attributes:
        row: from 0 in the input.
        column: index, or -1.
        field: its text, if known.
        expression: index of the failing expression of a pipeline, or -1.
        position: byte offset of a literal in the statement, or -1.
        raw: the binary form of the field, if it has one; of a tuple that breaks off, its bytes.
    """

    code: int
    row: int
    column: int = -1
    field: str = ""
    line: int = -1
    expression: int = -1
    position: int = -1
    raw: bytes | None = None

    @property
    def sqlstate(self) -> str:
        return MESSAGES[self.code][0]

    @property
    def message(self) -> str:
        return MESSAGES[self.code][1]
