"""Runs a random case against Antumbra and PostgreSQL through real sockets and says where they
differ.

PostgreSQL gets the same text for all but three things: the stream is a table there; since Antumbra
refuses rows that a view can't evaluate, the view's row expressions are evaluated in PostgreSQL
after each write, as part of it; and a view that skips such rows reads there what a function has let
through.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    is_refused,
    prepared,
    simple,
)
from tests.randomized.cases import Case, Write
from tests.randomized.selects import Select
from tests.randomized.views import SOURCE, View

# A prepared statement is not there. psycopg loses count of what it has prepared when a pipeline
# fails in a block, with any server.
LOST = "26000"
FOLDING = "SET stream_timeout = '1ms'"


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
        for text in case.setup:
            story.append(text)
            compare(simple(antumbra, text), simple(postgres, text), ordered=False, story=story)
        views = _create_views(case, antumbra, postgres, story)
        made = {view.name for view in views}
        checks = [view.check.replace(SOURCE, case.stream) for view in views if not view.skips]
        for write in case.writes:
            story.append(f"{write.text} {write.parameters or write.rows or ''} {write.data or ''}".rstrip())
            ours = do_write(antumbra, write, ())
            theirs = do_write(postgres, write, checks)
            case.counts["statements"] += 1
            if is_refused(ours, theirs, case.counts):
                return
            wrong = ours.sqlstate[:2] in VALUE_ERRORS and theirs.sqlstate[:2] in VALUE_ERRORS
            if not (write.several and wrong):
                compare(ours, theirs, ordered=True, story=story)
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        failing: set[str] = set()
        if case.folds:
            story.append(FOLDING)
            antumbra.execute(FOLDING.encode())
        for select in case.selects:
            if failing & select.views or not select.views <= made:
                # PostgreSQL fails only if it needs the column at fault; Antumbra's version has all
                # columns.
                continue
            story.append(f"{select.text} {select.parameters or ''}".rstrip())
            ours, theirs = _read(antumbra, case, select), _read(postgres, case, select)
            case.counts["statements"] += 1
            if is_refused(ours, theirs, case.counts):
                continue
            if fails_beyond_limit(ours, theirs, select.text, postgres):
                case.counts["failed beyond LIMIT"] += 1
                continue
            compare(ours, theirs, select.ordered, story)
            if ours.sqlstate and select.text.startswith("SELECT * FROM"):
                failing |= select.views
    finally:
        for connection in (antumbra, postgres):
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                connection.execute(b"ROLLBACK")
        antumbra.execute(b"RESET stream_timeout")
        antumbra.execute(f"DROP FOREIGN TABLE {case.stream} CASCADE".encode())
        postgres.execute(f"DROP TABLE {case.stream} CASCADE".encode())
        for text in case.cleanup:
            for connection in (antumbra, postgres):
                connection.execute(text.encode())


def _create_views(case: Case, antumbra: Connection, postgres: Connection, story: list[str]) -> list[View]:
    """Create the views on both and return those that both have."""
    views = []
    for view in case.views:
        option = " WITH (on_error = skip)" if view.skips else ""
        text = f"CREATE VIEW {view.name}{option} AS {view.query.replace(SOURCE, case.stream)}"
        story.append(text)
        ours, theirs = simple(antumbra, text), simple(postgres, _oracle_text(case, view, postgres))
        case.counts["statements"] += 1
        if is_refused(ours, theirs, case.counts):
            continue
        compare(ours, theirs, ordered=True, story=story)
        if not ours.sqlstate:
            views.append(view)
    return views


def _oracle_text(case: Case, view: View, postgres: Connection) -> str:
    """Return PostgreSQL's CREATE VIEW, and make the function that tells which rows a skipping view
    counts.
    """
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


def do_write(connection: Connection, write: Write, checks: Sequence[str]) -> Answer:
    """Do one write; with checks, evaluate them in the same transaction, so that a failure undoes
    the write.
    """
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
        if error.sqlstate == LOST and connection.info.transaction_status == pq.TransactionStatus.IDLE:
            connection.execute(b"DEALLOCATE ALL")
            return do_write(connection, write, checks)
        return Answer(sqlstate=error.sqlstate or "connection", message=str(error))


def _tags(cursor: psycopg.Cursor[tuple[object, ...]]) -> str:
    """Return the tags of all results of a message."""
    tags = [cursor.statusmessage or ""]
    while cursor.nextset():
        tags.append(cursor.statusmessage or "")
    return ", ".join(tags)


def _read(connection: Connection, case: Case, select: Select) -> Answer:
    if select.text.startswith("COPY"):
        return copy_out(connection, select.text)
    if select.parameters:
        return prepared(connection, select.text, select.parameters, case.extended, case.binary)
    if not case.extended:
        return simple(connection, select.text)
    return answer_of(connection.pgconn.exec_params(select.text.encode(), None, result_format=int(case.binary)))
