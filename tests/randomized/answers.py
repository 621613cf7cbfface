"""Answers of servers, and whether two of them are one: column types, rows as bytes, SQLSTATEs."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import psycopg
from psycopg import pq

from tests.randomized.expressions import INTEGERS
from tests.randomized.refusals import PREFIX

Connection = psycopg.Connection[tuple[object, ...]]

# SQLSTATE classes of wrong values and rows: which of several is named first is nobody's promise.
VALUE_ERRORS = ("21", "22", "23")
OUT_OF_RANGE = "22003"
REFUSED = "0A000"
WIDE_NUMBER = re.compile(rb"(\d\.?){39}")
INTEGER_TYPES = (20, 21, 23)
ARRAY_TYPES = (1000, 1005, 1007, 1009, 1014, 1015, 1016, 1182, 1231, 1022, 1187, 2951, 3807)
JSONB = 3802
# From here on oids are of a user's own types; each server counts for itself.
OWN_OIDS = 16384
NUMERIC = 1700
DIGITS_MAX = 38
# Groups of four digits, the weight of the first, sign, scale; then the groups.
NUMERIC_HEAD = struct.Struct("!HhHH")
# Of equal values these keep one, and which one depends on the plan.
MERGING = re.compile(r"\b(UNION|INTERSECT|EXCEPT)\b(?! ALL)")
FRACTION = re.compile(rb"\d+\.\d+")
LAST_LIMIT = re.compile(r" LIMIT [^()]+$")
NO_ROWS = re.compile(r"(UPDATE|DELETE|SELECT|INSERT 0) 0")
BINARY_FORMS: dict[int, Callable[[str], bytes]] = {
    16: lambda text: bytes([text in ("t", "true")]),
    20: lambda text: struct.pack(">q", int(text)),
    21: lambda text: struct.pack(">h", int(text)),
    23: lambda text: struct.pack(">i", int(text)),
    25: lambda text: text.encode(),
    700: lambda text: struct.pack(">f", float(text)),
    701: lambda text: struct.pack(">d", float(text)),
    1043: lambda text: text.encode(),
}


@dataclass(frozen=True)
class Answer:
    """Answer of a server: an error's SQLSTATE, or the tag, the column types and the rows' bytes."""

    sqlstate: str = ""
    tag: str = ""
    types: tuple[tuple[str, int], ...] = ()
    rows: tuple[tuple[bytes | None, ...], ...] = ()
    message: str = ""

    def same_as(self, other: Answer, ordered: bool) -> bool:
        """Tell whether both servers gave one answer; messages are not compared."""
        if (self.sqlstate, self.tag, self.types) != (other.sqlstate, other.tag, other.types):
            return False
        if ordered and self._in_order() != other._in_order():
            return False
        return sorted(self.rows, key=repr) == sorted(other.rows, key=repr)

    def equal_to(self, other: Answer, ordered: bool) -> bool:
        """Tell whether the answers are the same but for the digits of equal numerics."""
        return self._of_values().same_as(other._of_values(), ordered)

    def _of_values(self) -> Answer:
        kinds = [kind for _, kind in self.types] or [0]
        rows = tuple(
            tuple(_number(value) if kind == NUMERIC else value for value, kind in zip(row, kinds, strict=True))
            for row in self.rows
        )
        return replace(self, rows=rows)

    def _in_order(self) -> list[list[bytes | None]]:
        """Return the rows as ORDER BY sees them: 1.5 and 1.50 are equal, and come in any order."""
        kinds = [kind for _, kind in self.types] or [0]
        return [[_as_ordered(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in self.rows]


class MismatchError(AssertionError):
    """The two servers differ; the text shows the case so far."""


def compare(ours: Answer, theirs: Answer, ordered: bool, story: Sequence[str]) -> None:
    """Raise MismatchError when the answers differ; `story` is what led to them."""
    if ours.same_as(theirs, ordered) or (ours.sqlstate == OUT_OF_RANGE and _has_wide_number(theirs)):
        return
    if MERGING.search(story[-1]) and ours.equal_to(theirs, ordered):
        return
    shown = "\n".join(f"{line};" for line in story)
    raise MismatchError(f"{shown}\n-- antumbra: {_shown(ours)}\n-- postgres: {_shown(theirs)}")


def is_planned_error(ours: Answer, theirs: Answer) -> bool:
    """Tell whether PostgreSQL has failed at a constant while it planned, where no row would have
    needed it.
    """
    return theirs.sqlstate[:2] == "22" and NO_ROWS.fullmatch(ours.tag) is not None


def fails_beyond_limit(ours: Answer, theirs: Answer, text: str, postgres: Connection) -> bool:
    """Tell whether PostgreSQL too fails at the rows that LIMIT cuts off: whether these are computed
    depends on its plan.
    """
    whole = LAST_LIMIT.sub("", text)
    if ours.sqlstate[:2] != "22" or theirs.sqlstate or whole == text:
        return False
    return simple(postgres, whole).sqlstate == ours.sqlstate


def is_refused(ours: Answer, theirs: Answer, counts: Counter[str]) -> bool:
    """Tell whether only PostgreSQL did what was asked, and ours said that it does not; count it
    with the reason.
    """
    if ours.sqlstate != REFUSED or theirs.sqlstate == REFUSED:
        return False
    counts["statements refused"] += 1
    counts[f"{PREFIX}{ours.message.splitlines()[0].removeprefix('ERROR:').strip()}"] += 1
    return True


def _has_wide_number(answer: Answer) -> bool:
    """Tell whether PostgreSQL's answer has a numeric of more digits than ours may have, whose
    refusal is documented.
    """
    return any(
        WIDE_NUMBER.search(value) or _digits_count(value) > DIGITS_MAX
        for row in answer.rows
        for value in row
        if value is not None
    )


def _digits_count(value: bytes) -> int:
    """Return the digits of a numeric in binary form, 0 for anything that has not its form."""
    if len(value) < NUMERIC_HEAD.size:
        return 0
    groups_count, weight, sign, scale = NUMERIC_HEAD.unpack_from(value)
    if len(value) != NUMERIC_HEAD.size + 2 * groups_count or groups_count == 0 or sign not in (0, 0x4000):
        return 0
    (first,) = struct.unpack_from("!H", value, NUMERIC_HEAD.size)
    whole = len(str(first)) + 4 * weight if weight >= 0 else 0
    return whole + int(scale)


def _number(value: bytes | None) -> bytes | None:
    """Return what is the same for equal numerics, in text or in binary form: without the scale, or
    without zeros at the end.
    """
    if value is None:
        return None
    if value[:1] == b"\0":
        return value[:6] + b"\0\0" + value[8:]
    return value.rstrip(b"0").rstrip(b".") if b"." in value else value


def _shown(answer: Answer) -> str:
    if answer.sqlstate:
        return f"{answer.sqlstate} {answer.message}"
    rows = sorted(answer.rows, key=repr)
    return f"{answer.tag} {answer.types} {len(rows)} rows {rows[:12]}"


def simple(connection: Connection, text: str) -> Answer:
    """Send a Query message."""
    return answer_of(connection.pgconn.exec_(text.encode()))


def copy_out(connection: Connection, text: str) -> Answer:
    """Return the lines that COPY sends, in any order."""
    try:
        with connection.cursor().copy(text.encode()) as copy:
            data = b"".join(bytes(block) for block in copy)
    except psycopg.Error as error:
        return Answer(sqlstate=error.sqlstate or "connection", message=str(error))
    return Answer(tag="COPY", rows=tuple((line,) for line in data.split(b"\n")))


def prepared(
    connection: Connection,
    text: str,
    parameters: Sequence[tuple[str, str | None]],
    named: bool,
    in_binary: bool,
) -> Answer:
    """Prepare the statement without types, and execute it with parameters of the types that the
    server found.
    """
    pgconn = connection.pgconn
    name = b"random" if named else b""
    made = pgconn.prepare(name, text.encode())
    if made.status == pq.ExecStatus.FATAL_ERROR:
        return answer_of(made)
    described = pgconn.describe_prepared(name)
    kinds = [described.param_type(index) for index in range(described.nparams)]
    values: list[bytes | None] = []
    formats = []
    for kind, (family, value) in zip(kinds, parameters, strict=True):
        # The view's column may be narrower than the term it was drawn from.
        binary = in_binary and kind in BINARY_FORMS and not (kind in INTEGER_TYPES and family not in INTEGERS)
        values.append(None if value is None else BINARY_FORMS[kind](value) if binary else value.encode())
        formats.append(int(binary))
    answers = []
    for _ in range(2):
        # psycopg's own annotation has no NULL among the values.
        result = pgconn.exec_prepared(name, values, formats, int(in_binary))  # type: ignore[arg-type]
        answers.append(answer_of(result))
    if name:
        pgconn.exec_(b"DEALLOCATE random")
    assert answers[0].same_as(answers[1], ordered=False), "two executions of one statement"
    return Answer(
        answers[0].sqlstate,
        f"{[min(kind, OWN_OIDS) for kind in kinds]} {answers[0].tag}",
        answers[0].types,
        answers[0].rows,
        answers[0].message,
    )


def answer_of(result: pq.abc.PGresult) -> Answer:
    """Return what a result says."""
    if result.status == pq.ExecStatus.FATAL_ERROR:
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
        return Answer(sqlstate=state.decode(), message=(result.error_message or b"").decode())
    columns = range(result.nfields)
    types = tuple(((result.fname(index) or b"").decode(), min(result.ftype(index), OWN_OIDS)) for index in columns)
    rows = tuple(tuple(_value(result, row, index) for index in columns) for row in range(result.ntuples))
    return Answer(tag=(result.command_status or b"").decode(), types=types, rows=rows)


def _as_ordered(value: bytes | None, kind: int) -> bytes | None:
    """Return what is the same for values that are equal, though they are written differently: a
    jsonb's numbers with any zeros.
    """
    if value is None or kind != JSONB:
        return value
    return FRACTION.sub(lambda found: found[0].rstrip(b"0").rstrip(b"."), value)


def _value(result: pq.abc.PGresult, row: int, index: int) -> bytes | None:
    """Return a value's bytes; a binary array's flag for NULLs is left out: PostgreSQL keeps it when
    the last NULL was cut off.
    """
    value = result.get_value(row, index)
    if value is not None and result.fformat(index) == 1 and result.ftype(index) in ARRAY_TYPES:
        return value[:4] + value[8:]
    return value
