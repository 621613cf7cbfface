"""Runs a case of durable tables against both servers: the same text, session by session, and every
answer compared.
"""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
from psycopg import pq

from tests.randomized.answers import (
    VALUE_ERRORS,
    Answer,
    Connection,
    answer_of,
    compare,
    copy_out,
    fails_beyond_limit,
    is_planned_error,
    is_refused,
    prepared,
    simple,
)
from tests.randomized.table_cases import TableCase
from tests.randomized.table_writes import Statement

RESTART_STEP = 1000


def run_table_case(case: TableCase, antumbra: Mapping[str, Connection], postgres: Mapping[str, Connection]) -> None:
    """Run one case on both, each with its sessions by name. Raises MismatchError at the first
    difference.
    """
    story = [f"-- seed {case.seed}"]
    both(antumbra, postgres, f"SET TimeZone = '{case.time_zone}'")
    story.append(f"SET TimeZone = '{case.time_zone}'")
    restarts = 0
    pending = False
    try:
        for statement in case.statements:
            story.append(shown_statement(statement))
            ours = send(antumbra[statement.session], case, statement)
            theirs = send(postgres[statement.session], case, statement)
            case.counts["statements"] += 1
            if theirs.sqlstate:
                case.counts["statements failed in PostgreSQL"] += 1
            if is_refused(ours, theirs, case.counts):
                if statement.reads and not in_block(antumbra):
                    continue
                return
            if is_planned_error(ours, theirs):
                if in_block(postgres):
                    return
                continue
            if not in_block(postgres) and fails_beyond_limit(ours, theirs, statement.text, postgres[statement.session]):
                case.counts["failed beyond LIMIT"] += 1
                continue
            wrong = ours.sqlstate[:2] in VALUE_ERRORS and theirs.sqlstate[:2] in VALUE_ERRORS
            if not (wrong and statement.several):
                compare(ours, theirs, statement.ordered, story)
            pending |= bool(ours.sqlstate and case.sequences)
            if pending and not in_block(antumbra):
                # How many numbers a statement takes before it fails is nobody's promise.
                restarts += 1
                pending = False
                for sequence in case.sequences:
                    text = f"SELECT setval('{sequence}', {restarts * RESTART_STEP})"
                    story.append(text)
                    both(antumbra, postgres, text)
    finally:
        for sessions in (antumbra, postgres):
            for connection in sessions.values():
                if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                    connection.execute(b"ROLLBACK")
        for text in case.cleanup:
            both(antumbra, postgres, text)


def both(antumbra: Mapping[str, Connection], postgres: Mapping[str, Connection], text: str) -> None:
    """Send a text to the first session of both servers, whatever they say to it."""
    for sessions in (antumbra, postgres):
        simple(sessions["a"], text)


def in_block(sessions: Mapping[str, Connection]) -> bool:
    """Tell whether the first session is in a transaction."""
    return sessions["a"].info.transaction_status != pq.TransactionStatus.IDLE


def shown_statement(statement: Statement) -> str:
    """Return what a reader needs to do it again."""
    session = f"/* {statement.session} */ " if statement.session != "a" else ""
    values = statement.parameters or statement.rows or statement.numbered or ""
    return f"{session}{statement.text} {values} {statement.data or ''}".rstrip()


def send(connection: Connection, case: TableCase, statement: Statement) -> Answer:
    """Send one statement in its way."""
    text = statement.text
    if statement.data is not None or statement.rows or statement.parameters is not None:
        return _driven(connection, statement)
    if text.startswith("COPY"):
        return copy_out(connection, text)
    if statement.numbered:
        return prepared(connection, text, statement.numbered, case.extended, case.binary)
    if ";\n" in text or not case.extended:
        return simple(connection, text)
    return answer_of(connection.pgconn.exec_params(text.encode(), None, result_format=int(case.binary)))


def _driven(connection: Connection, statement: Statement) -> Answer:
    """Do what a driver's user does: COPY with data, parameters, many executions."""
    try:
        cursor = connection.cursor(binary=statement.binary)
        if statement.data is not None:
            with cursor.copy(statement.text.encode()) as copy:
                copy.write(statement.data)
        elif statement.rows:
            cursor.executemany(statement.text.encode(), statement.rows)
        else:
            cursor.execute(statement.text.encode(), statement.parameters, binary=statement.binary)
    except psycopg.Error as error:
        return Answer(sqlstate=error.sqlstate or "connection", message=str(error))
    result = cursor.pgresult
    if result is not None and result.nfields and statement.data is None:
        return answer_of(result)
    return Answer(tag=cursor.statusmessage or "")
