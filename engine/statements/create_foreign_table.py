"""CREATE FOREIGN TABLE: a stream."""

from __future__ import annotations

from engine.ddl.definitions import build_stream, require_free
from engine.execution.defining import is_there
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.create_foreign_table import CreateStream


@handles(CreateStream)
def create_stream(statement: CreateStream, work: Work) -> None:
    """Make a stream. Raises the errors of `build_stream`."""
    image = work.image
    if is_there(statement.name, statement.if_not_exists, work):
        return
    require_free(image, statement.name)
    entry = build_stream(statement, image, work.settings.captured(), image.next_oid, work.server.stream_options)
    work.transaction.change_catalog(image.with_entry(entry))
    # A view is likely to follow.
    work.server.prepare_compilers()
