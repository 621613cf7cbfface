"""COPY ... FROM a file of the server, and the COPY that takes data from the client.

Enters: the statement, and the work. Leaves: an outcome, or the COPY that takes data; its rows are
in the transaction's part on tables, or staged.
"""

from __future__ import annotations

import time

from engine.catalog.image import StreamEntry, TableEntry, ViewEntry
from engine.catalog.joined_tables import refuse_joined
from engine.catalog.system import the_system
from engine.commit.parts import stages_of
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.ingest.copy_decoders import received_text
from engine.ingest.copy_in import ROOM_WAIT_S, CopyIn, CopyServer, Publishing
from engine.ingest.insert import make_target
from engine.ingest.server_files import open_to_read
from engine.statements.copy_into_table import CopyIntoTable, copy_target
from engine.statements.table_writes import TableWriter
from engine.storage.errors import disk_error
from sql.bind.writes.constraints import bind_copied
from sql.errors import SqlError, not_supported
from sql.parse.statements.copy import CopyFrom


@handles(CopyFrom)
async def copy_file(statement: CopyFrom, work: Work) -> Outcome:
    """Do COPY FROM a file of the server."""
    copy = open_copy(statement, work, autocommit=not (work.in_block or work.transaction.operations))
    # The COPY may wait for room in a stream.
    return await work.threads.in_thread(read_file, statement, copy, work)


def open_copy(statement: CopyFrom, work: Work, autocommit: bool) -> CopyIn | CopyIntoTable:
    """Return the COPY that takes the data. Raises the errors of the statement.

    autocommit: the COPY is a transaction of its own.
    """
    work.require_writable(statement.tag)
    entry = copied_entry(statement, work)
    if isinstance(entry, TableEntry):
        return copy_into_table(statement, entry, work)
    return copy_into_stream(statement, entry, work, autocommit)


def read_file(statement: CopyFrom, copy: CopyIn | CopyIntoTable, work: Work) -> Outcome:
    """Copy a file, block by block."""
    config = work.server.config
    assert statement.file is not None, statement.text
    try:
        text = received_text(statement.options, work.settings.encoding)
        with open_to_read(config.copy_directory, statement.file) as file:
            wrong: SqlError | None = None
            while wrong is None and (data := file.read(config.copy_block_bytes)):
                work.threads.check_cancelled()
                if text is not None:
                    data, wrong = text.feed(data)
                if copy.take(data) or wrong is not None:
                    decode(copy, work)
        if text is not None and wrong is None:
            _, wrong = text.feed(b"", is_end=True)
        if wrong is not None:
            decode(copy, work)
            wrong.context = copy.place
            raise wrong
        copy.finish()
    except OSError as error:
        copy.drop()
        raise copy.with_published(disk_error(error, f'read from file "{statement.file}"')) from None
    except SqlError as error:
        copy.drop()
        raise copy.with_published(error) from None
    work.transaction.operations.extend(copy.stages())
    return Outcome(f"COPY {copy.rows_count}")


def decode(copy: CopyIn | CopyIntoTable, work: Work) -> None:
    """Decode the data that has been taken, and wait for room where the stream has none."""
    while copy.decode():
        if isinstance(copy, CopyIn) and copy.needs_room:
            time.sleep(ROOM_WAIT_S)
        work.threads.check_cancelled()


def copied_entry(statement: CopyFrom, work: Work) -> StreamEntry | TableEntry:
    """Return the relation that the rows of a COPY go into.

    Raises 42P01, or 42809 as PostgreSQL does for a relation that takes no rows.
    """
    name = statement.name
    entry = work.image.existing(name, statement.name_position)
    if isinstance(entry, StreamEntry | TableEntry):
        return entry
    kind = "sequence" if entry.description.kind == "sequence" else "view"
    hint = None
    if isinstance(entry, ViewEntry) and entry.is_state:
        hint = f"Rows go into the stream below it: {entry.states[0].stream_name}."
    raise SqlError("42809", f'cannot copy to {kind} "{name}"', hint=hint, position=statement.name_position)


def copy_into_table(statement: CopyFrom, entry: TableEntry, work: Work) -> CopyIntoTable:
    """Return the COPY of a table."""
    if statement.options.publish_ms is not None:
        raise not_supported("COPY with publish into a table", hint="Rows of a table appear when the COPY is over.")
    name, settings = entry.description.name, work.settings

    def open_writer() -> TableWriter:
        tables = work.server.transactions.begin_tables(work.transaction)
        image = work.image
        if image.entries.get(name) is not entry:
            raise SqlError("40001", f'table "{name}" was altered while COPY began')
        refuse_joined(name, image.entries.values())
        return TableWriter(tables, entry, {}, work.transaction.now_us, settings.time_zone)

    where, condition = statement.where, None
    if where is not None:
        condition = bind_copied(where, entry.description, work.image, settings.captured())
    target = copy_target(entry, statement.columns, condition)
    block_bytes = work.server.config.copy_block_bytes
    captured = settings.captured()

    def oid(kind: str, text: str) -> int:
        return the_system().oid(work.image, kind, text, captured, None)

    return CopyIntoTable(target, statement, open_writer, settings.time_zone, settings.input_styles, block_bytes, oid)


def copy_into_stream(statement: CopyFrom, entry: StreamEntry, work: Work, autocommit: bool) -> CopyIn:
    """Return the COPY of a stream."""
    if statement.where is not None:
        raise not_supported("COPY ... WHERE into a stream", hint="Give the condition to its views.")
    if statement.options.freeze:
        raise SqlError("0A000", "cannot perform COPY FREEZE on a foreign table")
    settings, now_us = work.settings, work.transaction.now_us
    target = make_target(entry, statement.columns, work.server.engines.tables, now_us, settings.time_zone)
    publish_ms = statement.options.publish_ms
    if publish_ms and not autocommit:
        raise SqlError(
            "25001",
            "COPY with publish cannot run inside a transaction block",
            hint="Leave publish out, or run the COPY by itself in autocommit mode.",
        )
    if publish_ms and settings.batch:
        raise not_supported(
            "COPY with publish in a batch",
            hint="A batch is one transaction: leave publish out, or RESET antumbra.batch.",
        )
    if publish_ms is None and autocommit and not settings.batch:
        publish_ms = settings.publish_interval_ms
    server = work.server
    return CopyIn(
        CopyServer(
            server.transactions,
            server.committer,
            server.catalog,
            server.clock,
            server.config.copy_block_bytes,
            work.threads.beside,
        ),
        target,
        statement.options,
        work.image,
        now_us,
        settings.time_zone,
        settings.input_styles,
        Publishing(
            publish_ms or None, settings.waits_for_room, settings.waits_for_log, not stages_of(work.transaction)
        ),
    )
