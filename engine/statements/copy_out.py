"""COPY TO: the query for a relation's name, and its rows in text or CSV for the client or a file of
the server.

Enters: the statement and its bound query's rows. Leaves: an outcome whose bytes are CopyData
messages, or a written file. Must not read relations itself.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.execution.outcome import Outcome
from engine.ingest.server_files import open_to_write
from engine.storage.errors import disk_error
from ringbuffer.encode.copy import CopyFormat, encode_copy_rows
from ringbuffer.encode.copy_binary import encode_binary_rows
from ringbuffer.encode.output_forms import Forms
from sql.bind.queries.query import bind_query
from sql.bind.writes.write_target import listed_columns
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse.statements.copy import CopyTo
from sql.tree.expressions import Column
from sql.tree.relations import BoundQuery, OutputColumn, Project, Scan, Schema
from sql.values.encodings import Encoding
from sql.wire import writer
from sql.wire.recoding import sent_copy
from views.model.arrow_schema import arrow_schema, encoded_family

COPY_ROWS_PER_MESSAGE = 16_384
MESSAGE_HEAD_BYTES = 5


def bind_copied(statement: CopyTo, image: CatalogImage, settings: SessionSettings) -> BoundQuery:
    """Return the copied relation or query as a query.

    Raises PostgreSQL's errors for a name that can't be copied from.
    """
    if statement.query is not None:
        return bind_query(statement.query, image, settings, versions=True)
    entry = image.existing(statement.name, statement.name_position)
    if not isinstance(entry, TableEntry):
        kind = "view" if entry.description.kind == "query" else entry.description.kind
        hint = None if kind == "sequence" else "Try the COPY (SELECT ...) TO variant."
        message = f'cannot copy from {kind} "{statement.name}"'
        raise SqlError("42809", message, hint=hint, position=statement.name_position)
    relation = entry.description
    schema = tuple(OutputColumn(column.name, column.type) for column in relation.columns)
    items = tuple(
        (relation.columns[index].name, Column(index, relation.columns[index].name, relation.columns[index].type))
        for index in listed_columns(relation, statement.columns)
    )
    names = frozenset({relation.name})
    root = Project(Scan(relation.name, "table", schema), items)
    return BoundQuery(root, (), names, False, names, told=root.schema)


def copy_outcome(
    statement: CopyTo,
    schema: Schema,
    table: pa.Table,
    forms: Forms,
    encoding: Encoding,
    copy_directory: Path | None,
    run: Callable[..., Awaitable[bytes | None]],
) -> Outcome:
    """Return the rows for the client, which `run` makes piece by piece.

    With a file's name they are written there instead.
    """
    tag = f"COPY {table.num_rows}"
    if statement.file is None:
        require_columns(statement, schema)
        pieces = encoded(statement, schema, table, forms, encoding)
        return Outcome(tag, copying=messages_of(response(statement, schema), pieces, run))
    try:
        with open_to_write(copy_directory, statement.file) as file:
            for messages in encoded(statement, schema, table, forms, encoding):
                file.writelines(payloads(messages))
    except OSError as error:
        raise disk_error(error, f'write to file "{statement.file}"') from None
    return Outcome(tag)


async def messages_of(
    head: bytes, pieces: Iterator[bytes], run: Callable[..., Awaitable[bytes | None]]
) -> AsyncIterator[bytes]:
    """Yield the messages of a COPY, each piece made by `run` once the client has taken the one
    before.
    """
    yield head
    while (data := await run(next, pieces, None)) is not None:
        yield data
    yield writer.COPY_DONE


def passing_outcome(
    statement: CopyTo,
    schema: Schema,
    more: Callable[[], Awaitable[pa.Table | None]],
    forms: Forms,
    encoding: Encoding,
) -> Outcome:
    """Return rows for the client that are made while they are sent.

    more: returns the next rows, None at their end.
    """
    require_columns(statement, schema)
    outcome, empty = Outcome("COPY #"), arrow_schema(schema).empty_table()

    async def messages() -> AsyncIterator[bytes]:
        yield response(statement, schema)
        # A header goes out before any row is there, but the header of the binary format with the
        # first row.
        begins = statement.options.format == "binary"
        for data in encoded(statement, schema, empty, forms, encoding, ends=False):
            yield data
        while (table := await more()) is not None:
            for data in encoded(statement, schema, table, forms, encoding, begins, ends=False):
                yield data
            begins = begins and table.num_rows == 0
            outcome.sent += table.num_rows
        for data in encoded(statement, schema, empty, forms, encoding, begins):
            yield data
        yield writer.COPY_DONE

    outcome.copying = messages()
    return outcome


def response(statement: CopyTo, schema: Schema) -> bytes:
    """Return CopyOutResponse."""
    return writer.copy_out_response(int(statement.options.format == "binary"), len(schema))


def require_columns(statement: CopyTo, schema: Schema) -> None:
    """Raise 42703 for an option that names a column which the rows don't have."""
    names = [column.name for column in schema]
    for name in statement.options.force_quote or ():
        if name not in names:
            raise SqlError("42703", f'column "{name}" does not exist')


def encoded(
    statement: CopyTo,
    schema: Schema,
    table: pa.Table,
    forms: Forms,
    encoding: Encoding,
    begins: bool = True,
    ends: bool = True,
) -> Iterator[bytes]:
    """Yield the rows as CopyData messages, many in one piece.

    begins: a header comes first, if one is asked for; ends: a marker comes last. encoding: the
    client's, for a COPY that does not name another one.
    """
    require_columns(statement, schema)
    options = statement.options
    encoding = options.encoding or encoding
    types = [column.type for column in schema]
    form = CopyFormat(
        options.format,
        options.delimiter,
        options.null,
        options.header,
        options.quote,
        options.escape,
        options.force_quote,
    )
    names = [column.name for column in schema]
    families = [encoded_family(kind) for kind in types]
    for start in range(0, max(table.num_rows, 1), COPY_ROWS_PER_MESSAGE):
        rows = table.slice(start, min(COPY_ROWS_PER_MESSAGE, table.num_rows - start))
        first = begins and start == 0
        if options.format == "binary":
            data = encode_binary_rows(
                rows.columns, families, first, ends and start + COPY_ROWS_PER_MESSAGE >= table.num_rows, rows.num_rows
            )
        else:
            data = encode_copy_rows(rows.columns, names, families, form, forms, header=first, rows_count=rows.num_rows)
        if data and encoding.converts:
            data = sent_copy(data, types if options.format == "binary" else None, encoding)
        if data:
            yield data


def payloads(messages: bytes) -> Iterator[memoryview]:
    """Yield the contents of messages."""
    view, start = memoryview(messages), 0
    while start < len(view):
        (length,) = struct.unpack_from("!i", view, start + 1)
        yield view[start + MESSAGE_HEAD_BYTES : start + 1 + length]
        start += 1 + length
