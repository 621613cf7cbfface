"""Runs a random case against Antumbra and PostgreSQL through real sockets and says where they differ.

PostgreSQL gets the same text for all but three things: the stream is a table there; since Antumbra refuses rows that a view
can't evaluate, the view's row expressions are evaluated in PostgreSQL after each write, as part of it; and a view that skips such rows
reads there what a function has let through.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import pq

from tests.randomized.cases import Case, Write
from tests.randomized.expressions import INTEGERS
from tests.randomized.selects import Select
from tests.randomized.views import SOURCE, View

Connection = psycopg.Connection[tuple[object, ...]]

# SQLSTATE classes of wrong values: which of several wrong values is named first is nobody's promise.
VALUE_ERRORS = ("22", "23")
OUT_OF_RANGE = "22003"
WIDE_NUMBER = re.compile(rb"(\d\.?){39}")
INTEGER_TYPES = (20, 21, 23)
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
    """What a server said: an error's SQLSTATE, or the tag, the column types and the rows' bytes."""

    sqlstate: str = ""
    tag: str = ""
    types: tuple[tuple[str, int], ...] = ()
    rows: tuple[tuple[bytes | None, ...], ...] = ()
    message: str = ""

    def same_as(self, other: Answer, ordered: bool) -> bool:
        """Tell whether both servers gave one answer; messages are not compared."""
        if (self.sqlstate, self.tag, self.types) != (other.sqlstate, other.tag, other.types):
            return False
        if ordered:
            return self.rows == other.rows
        return sorted(self.rows, key=repr) == sorted(other.rows, key=repr)


class MismatchError(AssertionError):
    """The two servers differ; the text shows the case so far."""


def run_case(case: Case, antumbra: Connection, postgres: Connection) -> None:
    """Run one case on both. Raises MismatchError at the first difference."""
    story: list[str] = [f"-- seed {case.seed}", f"SET TimeZone = '{case.time_zone}'"]
    for connection in (antumbra, postgres):
        connection.execute(f"SET TimeZone = '{case.time_zone}'".encode())
    create = f"CREATE FOREIGN TABLE {case.stream} ({case.column_list}) SERVER stream"
    story.append(create)
    antumbra.execute(create.encode())
    postgres.execute(f"CREATE UNLOGGED TABLE {case.stream} ({case.column_list})".encode())
    try:
        _create_views(case, antumbra, postgres, story)
        checks = [view.check.replace(SOURCE, case.stream) for view in case.views if not view.skips]
        for write in case.writes:
            story.append(f"{write.text} {write.parameters or write.rows or ''} {write.data or ''}".rstrip())
            ours = _write(antumbra, write, ())
            theirs = _write(postgres, write, checks)
            wrong = ours.sqlstate[:2] in VALUE_ERRORS and theirs.sqlstate[:2] in VALUE_ERRORS
            if not (write.several and wrong):
                _compare(ours, theirs, ordered=True, story=story)
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        failing: set[str] = set()
        for select in case.selects:
            if failing & select.views:
                # PostgreSQL fails only if it needs the column at fault; Antumbra's version has all columns.
                continue
            story.append(f"{select.text} {select.parameters or ''}".rstrip())
            ours, theirs = _read(antumbra, case, select), _read(postgres, case, select)
            _compare(ours, theirs, select.ordered, story)
            if ours.sqlstate and select.text.startswith("SELECT * FROM"):
                failing |= select.views
    finally:
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        antumbra.execute(f"DROP FOREIGN TABLE {case.stream} CASCADE".encode())
        postgres.execute(f"DROP TABLE {case.stream} CASCADE".encode())


def _create_views(case: Case, antumbra: Connection, postgres: Connection, story: list[str]) -> None:
    for view in case.views:
        option = " WITH (on_error = skip)" if view.skips else ""
        text = f"CREATE VIEW {view.name}{option} AS {view.query.replace(SOURCE, case.stream)}"
        story.append(text)
        ours, theirs = _simple(antumbra, text), _simple(postgres, _oracle_text(case, view, postgres))
        _compare(ours, theirs, ordered=True, story=story)


def _oracle_text(case: Case, view: View, postgres: Connection) -> str:
    """Return PostgreSQL's CREATE VIEW, and make the function that tells which rows a skipping view counts."""
    source = case.stream
    if view.skips:
        one_row = view.check.replace(SOURCE, f"(SELECT ($1).*) AS {case.stream}")
        postgres.execute(
            f"CREATE FUNCTION {view.name}_ok({case.stream}) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN "
            f"PERFORM * FROM ({one_row}) AS c; RETURN true; EXCEPTION WHEN data_exception THEN RETURN false; END $$".encode()
        )
        # OFFSET 0 keeps the view's conditions above the function.
        rows = f"SELECT * FROM {case.stream} WHERE {view.name}_ok({case.stream}.*) OFFSET 0"
        source = f"({rows}) AS {case.stream}"
    return f"CREATE VIEW {view.name} AS {view.query.replace(SOURCE, source)}"


def _compare(ours: Answer, theirs: Answer, ordered: bool, story: Sequence[str]) -> None:
    if ours.same_as(theirs, ordered) or (ours.sqlstate == OUT_OF_RANGE and _has_wide_number(theirs)):
        return
    shown = "\n".join(f"{line};" for line in story)
    raise MismatchError(f"{shown}\n-- antumbra: {_shown(ours)}\n-- postgres: {_shown(theirs)}")


def _has_wide_number(answer: Answer) -> bool:
    """Tell whether PostgreSQL's text answer has a numeric of more digits than ours may have, whose refusal is documented."""
    return any(WIDE_NUMBER.search(value) for row in answer.rows for value in row if value is not None)


def _shown(answer: Answer) -> str:
    if answer.sqlstate:
        return f"{answer.sqlstate} {answer.message}"
    rows = sorted(answer.rows, key=repr)
    return f"{answer.tag} {answer.types} {len(rows)} rows {rows[:12]}"


def _write(connection: Connection, write: Write, checks: Sequence[str]) -> Answer:
    """Do one write; with checks, evaluate them in the same transaction, so that a failure undoes the write."""
    own = checks and connection.info.transaction_status == pq.TransactionStatus.IDLE and write.text != "BEGIN"
    is_insert = write.text.startswith(("INSERT", "COPY"))
    if own and is_insert:
        connection.execute(b"BEGIN")
    try:
        cursor = connection.cursor(binary=write.binary)
        if write.data is not None:
            with cursor.copy(write.text.encode()) as copy:
                copy.write(write.data)
        elif write.rows:
            cursor.executemany(write.text.replace("%s", "%b" if write.binary else "%s").encode(), write.rows)
        else:
            cursor.execute(write.text.encode(), write.parameters, binary=write.binary)
        answer = Answer(tag=_tags(cursor))
        if checks and is_insert:
            for check in checks:
                connection.execute(check.encode())
        if own and is_insert:
            connection.execute(b"COMMIT")
        return answer
    except psycopg.Error as error:
        if own and is_insert:
            connection.execute(b"ROLLBACK")
        return Answer(sqlstate=error.sqlstate or "connection", message=str(error))


def _tags(cursor: psycopg.Cursor[tuple[object, ...]]) -> str:
    """Return the tags of all results of a message."""
    tags = [cursor.statusmessage or ""]
    while cursor.nextset():
        tags.append(cursor.statusmessage or "")
    return ", ".join(tags)


def _simple(connection: Connection, text: str) -> Answer:
    return _answer(connection.pgconn.exec_(text.encode()))


def _read(connection: Connection, case: Case, select: Select) -> Answer:
    if select.text.startswith("COPY"):
        return _copy_out(connection, select.text)
    if select.parameters:
        return _prepared(connection, case, select)
    if not case.extended:
        return _simple(connection, select.text)
    return _answer(connection.pgconn.exec_params(select.text.encode(), None, result_format=int(case.binary)))


def _copy_out(connection: Connection, text: str) -> Answer:
    """Return the lines that COPY sends, in any order."""
    try:
        with connection.cursor().copy(text.encode()) as copy:
            data = b"".join(bytes(block) for block in copy)
    except psycopg.Error as error:
        return Answer(sqlstate=error.sqlstate or "connection", message=str(error))
    return Answer(tag="COPY", rows=tuple((line,) for line in data.split(b"\n")))


def _prepared(connection: Connection, case: Case, select: Select) -> Answer:
    """Prepare the statement without types, and execute it with parameters of the types that the server found."""
    pgconn = connection.pgconn
    name = b"random" if case.extended else b""
    prepared = pgconn.prepare(name, select.text.encode())
    if prepared.status == pq.ExecStatus.FATAL_ERROR:
        return _answer(prepared)
    described = pgconn.describe_prepared(name)
    kinds = [described.param_type(index) for index in range(described.nparams)]
    values: list[bytes | None] = []
    formats = []
    for kind, (family, text) in zip(kinds, select.parameters, strict=True):
        # The view's column may be narrower than the term it was drawn from.
        binary = case.binary and kind in BINARY_FORMS and not (kind in INTEGER_TYPES and family not in INTEGERS)
        values.append(None if text is None else BINARY_FORMS[kind](text) if binary else text.encode())
        formats.append(int(binary))
    answers = []
    for _ in range(2):
        # psycopg's own annotation has no NULL among the values.
        result = pgconn.exec_prepared(name, values, formats, int(case.binary))  # type: ignore[arg-type]
        answers.append(_answer(result))
    if name:
        pgconn.exec_(b"DEALLOCATE random")
    assert answers[0].same_as(answers[1], ordered=False), "two executions of one statement"
    return Answer(
        answers[0].sqlstate,
        f"{kinds} {answers[0].tag}",
        answers[0].types,
        answers[0].rows,
        answers[0].message,
    )


def _answer(result: pq.abc.PGresult) -> Answer:
    if result.status == pq.ExecStatus.FATAL_ERROR:
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
        return Answer(sqlstate=state.decode(), message=(result.error_message or b"").decode())
    columns = range(result.nfields)
    types = tuple(((result.fname(index) or b"").decode(), result.ftype(index)) for index in columns)
    rows = tuple(tuple(result.get_value(row, index) for index in columns) for row in range(result.ntuples))
    return Answer(tag=(result.command_status or b"").decode(), types=types, rows=rows)
