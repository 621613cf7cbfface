"""Runs a random case against Antumbra and PostgreSQL through real sockets and says where they differ.

PostgreSQL gets the same text for all but two things: the stream is a table there, and since Antumbra refuses rows that a view
can't evaluate, the view's row expressions are evaluated in PostgreSQL after each write, as part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import pq

from tests.randomized.cases import Case, Write
from tests.randomized.views import Select

Connection = psycopg.Connection[tuple[object, ...]]


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
        for write in case.writes:
            story.append(f"{write.text} {write.parameters or ''} {write.data or ''}".rstrip())
            ours = _write(antumbra, write, ())
            theirs = _write(postgres, write, [view.check for view in case.views])
            _compare(ours, theirs, ordered=True, story=story)
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        for select in case.selects:
            story.append(select.text)
            _compare(_read(antumbra, case, select), _read(postgres, case, select), select.ordered, story)
    finally:
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        antumbra.execute(f"DROP FOREIGN TABLE {case.stream} CASCADE".encode())
        postgres.execute(f"DROP TABLE {case.stream} CASCADE".encode())


def _create_views(case: Case, antumbra: Connection, postgres: Connection, story: list[str]) -> None:
    for view in case.views:
        text = f"CREATE VIEW {view.name} AS {view.query}"
        story.append(text)
        _compare(_simple(antumbra, text), _simple(postgres, text), ordered=True, story=story)


def _compare(ours: Answer, theirs: Answer, ordered: bool, story: Sequence[str]) -> None:
    if ours.same_as(theirs, ordered):
        return
    shown = "\n".join(f"{line};" for line in story)
    raise MismatchError(f"{shown}\n-- antumbra: {_shown(ours)}\n-- postgres: {_shown(theirs)}")


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
        cursor = connection.cursor()
        if write.data is not None:
            with cursor.copy(write.text.encode()) as copy:
                copy.write(write.data)
        else:
            cursor.execute(write.text.encode(), write.parameters, binary=write.binary)
        answer = Answer(tag=cursor.statusmessage or "")
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


def _simple(connection: Connection, text: str) -> Answer:
    return _answer(connection, connection.pgconn.exec_(text.encode()))


def _read(connection: Connection, case: Case, select: Select) -> Answer:
    if not case.extended:
        return _simple(connection, select.text)
    result = connection.pgconn.exec_params(select.text.encode(), None, result_format=int(case.binary))
    return _answer(connection, result)


def _answer(connection: Connection, result: pq.abc.PGresult) -> Answer:
    if result.status == pq.ExecStatus.FATAL_ERROR:
        state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
        return Answer(sqlstate=state.decode(), message=(result.error_message or b"").decode())
    columns = range(result.nfields)
    types = tuple(((result.fname(index) or b"").decode(), result.ftype(index)) for index in columns)
    rows = tuple(tuple(result.get_value(row, index) for index in columns) for row in range(result.ntuples))
    return Answer(tag=(result.command_status or b"").decode(), types=types, rows=rows)
