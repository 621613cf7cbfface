"""Long texts and large parameters of clients: read and bound on a thread, where cancel and
statement_timeout end the work; and texts of other dialects, which are translated there.

The thread gives the interpreter to the event loop many times in a millisecond, and the text that
one call of a C function looks at is bounded (`sql.parse.lexer`), so that other clients notice
nothing. Short texts are read at once, which takes less time than a thread's beginning.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.execution.prepared import Prepared, prepare
from engine.scheduler.threads import TEXT_AT_ONCE_MAX
from engine.sessions.staged_inserts import inserted
from engine.statements.literal_insert import CHARACTERS_MIN, LiteralInsert, literal_insert
from sql.catalog.schemas import find_relation
from sql.dialects.door import translate
from sql.errors import SqlError
from sql.names.dialects import DIALECTS, POSTGRES
from sql.names.relation_keys import as_written
from sql.parse.parse import parse
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.insert import Insert
from sql.wire.messages import Parse, Query

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.execution.prepared import Portal
    from engine.sessions.session import Session
    from sql.settings.settings import Settings

Result = TypeVar("Result")

# Values of parameters that are read at once.
PARAMETERS_AT_ONCE_BYTES_MAX = 16_384
# Characters of an INSERT of literals that is staged at once: its rows may need columns that are
# computed for some 10 us each.
LITERALS_AT_ONCE_MAX = 8_192
# Decoded rows that are staged at once, for the same reason.
ROWS_AT_ONCE_MAX = 1024
# One row of a stream that a kernel reads at once.
ROW_AT_ONCE_BYTES_MAX = 1 << 20
# After so long at the statements of one Query, the event loop has a turn for others.
TURN_S = 0.003
# One statement that no dialect changes, and in which none reads a constant otherwise.
SAME_IN_ALL = re.compile(r"\s*(?!(?:select|with|values|from|create|alter)\b)[a-z]+\b[^\\;]*;?\s*", re.IGNORECASE)


async def timed(session: Session, work: Callable[..., Result], *arguments: Any) -> Result:
    """Do work on a long text before its statement runs; the time counts for statement_timeout."""
    with session.timeout.running():
        return await session.threads.in_pieces(work, *arguments)


def is_plain(session: Session, text: str) -> bool:
    """Tell whether a text means what its bytes say, and may begin a statement."""
    failed = session.block.open is not None and session.block.open.failed
    escapes = "\\" in text and not session.settings.is_conforming
    return not (failed or session.connection.encoding.converts or escapes)


def done_at_once(session: Session, text: str, image: CatalogImage) -> bytes | None:
    """Do the whole text of a Query and return the reply, if that takes no parser and no thread.

    Raises SqlError.
    """
    if not is_plain(session, text):
        return None
    count = session.staged.stage_text(text, image) if len(text) <= LITERALS_AT_ONCE_MAX else None
    if count is not None:
        return inserted(count)
    return session.reads.find_text(text, image)


async def staged(session: Session, text: str) -> bytes | None:
    """Do a long text that is an INSERT of literals into a stream and return the reply, None for
    other texts. Raises SqlError.
    """
    if len(text) <= LITERALS_AT_ONCE_MAX or not is_plain(session, text):
        return None
    with session.timeout.running():
        count = await session.staged.stage_long_text(text, session.runner.image())
    rest = None if count is None else session.block.end_implicit_now()
    if rest is not None:
        await rest
    return None if count is None else inserted(count)


def decoded(session: Session, message: Parse) -> Prepared | None:
    """Return the prepared statement of a text that is an INSERT of literals into a stream, None for
    other texts.
    """
    if message.parameter_oids or not is_plain(session, message.text):
        return None
    return session.staged.prepared(message.text, session.runner.image())


def prepared(session: Session, message: Parse) -> Prepared:
    """Return the statement of a Parse. Raises SqlError."""
    found = decoded(session, message)
    if found is not None:
        return found
    text, image, shapes = session.settings.checked_text(message.text), session.runner.image(), session.reads.shapes
    kept = shapes.prepared(message, image)
    found = kept or prepare(text, message.parameter_oids, image)
    if not isinstance(found.statement, Empty):
        session.block.require_usable(found.statement)
    found.refresh(image, session.settings)
    session.runner.describe(found)
    if kept is None:
        shapes.keep_prepared(message, found)
    return found


def staged_at_once(session: Session, portal: Portal, image: CatalogImage) -> bytes | None:
    """Stage the decoded rows of a portal, if they are few, and return the reply. Raises
    SqlError.
    """
    if portal.given is None or portal.given.rows_count > ROWS_AT_ONCE_MAX:
        return None
    begun = session.staged.begun_portal(portal, image)
    if begun is None:
        return None
    stage, rows = begun
    stage.add(rows)
    return inserted(rows.rows_count)


async def staged_portal(session: Session, portal: Portal) -> bytes | None:
    """Stage the decoded rows of a portal and return the reply; None: its values are read, for the
    general way. Raises SqlError.
    """
    image = session.runner.image()
    with session.timeout.running():
        begun = session.staged.begun_portal(portal, image)
        if begun is not None:
            stage, rows = begun
            await session.in_worker(stage.add, rows)
            session.check_cancelled()
            return inserted(rows.rows_count)
    # The catalog has changed since Bind, or the rows may not be inserted.
    portal.row = None
    if not portal.prepared.is_parsed:
        await timed(session, portal.prepared.read, image, session.settings)
    portal.decode_parameters(session.settings)
    return None


async def parsed(session: Session, text: str) -> Sequence[Statement]:
    """Return the statements of a Query."""
    if len(text) <= TEXT_AT_ONCE_MAX:
        return statements_of(session, text)
    return await timed(session, statements_of, session, text)


def statements_of(session: Session, text: str) -> Sequence[Statement]:
    """Return the statements of a text, which may be one of many literals. Raises SqlError."""
    if len(text) >= CHARACTERS_MIN and is_plain(session, text):
        found = literal_insert(text, session.runner.image(), session.settings.captured())
        if found is not None:
            return (found,)
    return parse(session.settings.checked_text(text))


def is_long(portal: Portal, image: CatalogImage, settings: Settings) -> bool:
    """Tell whether to read a portal's values, or to bind its statement again, holds up others."""
    prepared = portal.prepared
    is_bound = len(prepared.text) <= TEXT_AT_ONCE_MAX or prepared.is_bound_to(image, settings)
    return not is_bound or portal.message.is_larger_than(ROW_AT_ONCE_BYTES_MAX)


def read_portal(session: Session, portal: Portal, image: CatalogImage) -> Portal:
    """Return a portal with its values read, and its statement bound again if out of date."""
    portal.prepared.refresh(image, session.settings)
    session.runner.describe(portal.prepared)
    if not session.staged.decode_table_rows(portal, image):
        portal.decode_parameters(session.settings)
    return portal


def executed(session: Session, portal: Portal) -> Statement:
    """Return what a portal does: its statement, or an INSERT of its decoded rows."""
    statement, found = portal.prepared.statement, portal.table_rows
    if found is None:
        return statement
    assert isinstance(statement, Insert), statement
    # It runs once.
    portal.table_rows = None
    entry, rows = found
    if session.runner.image().entries.get(entry.description.name) is not entry:
        portal.decode_parameters(session.settings)
        return statement
    return LiteralInsert(statement.text, statement, entry, rows)


def in_dialect(
    session: Session, action: Callable[[Any], Awaitable[None] | None], message: Query | Parse
) -> Awaitable[None] | None:
    """Act on a message whose text may be of another dialect than PostgreSQL's."""
    dialect = session.settings.value("antumbra.sql_dialect")
    session.is_translated = False
    if dialect == POSTGRES or SAME_IN_ALL.fullmatch(message.text):
        return action(message)
    return translated(session, action, message, dialect)


async def translated(
    session: Session, action: Callable[[Any], Awaitable[None] | None], message: Query | Parse, dialect: str
) -> None:
    """Act on a message with its text in PostgreSQL's SQL, of which the client is told."""
    is_query = isinstance(message, Query)
    session.begin_message(simple=is_query)
    session.doing.begin(message.text)
    image, captured = session.runner.image(), session.settings.captured()

    def columns_of(parts: tuple[str, ...]) -> Mapping[str, str] | None:
        """Return the families of a relation's columns."""
        found = find_relation(as_written(parts), image, captured)
        return None if found is None else {column.name: column.type.family for column in found.columns}

    def work() -> tuple[str, list[SqlError]]:
        """Translate, and make the notices."""
        texts, notices = [], []
        for one in translate(message.text, dialect, columns_of):
            texts.append(one.text)
            if one.is_changed:
                notices.append(SqlError("00000", f"translated from {DIALECTS[dialect]}: {one.text}", severity="NOTICE"))
            notices += [SqlError("01000", note, severity="WARNING") for note in one.notes]
        return ";\n".join(texts), notices

    try:
        text, notices = await timed(session, work)
        for notice in notices:
            session.tell(notice)
        session.is_translated = True
        rest = action(replace(message, text=text))
    except SqlError as error:
        (session.fail_query if is_query else session.fail_pipeline)(session.timeout.error_or(error))
        return
    if rest is not None:
        await rest


def told(session: Session, error: SqlError) -> SqlError:
    """Return an error as its client may see it: its place is not one in the client's own text where
    that was translated.
    """
    found = session.identity.told(error)
    return replace(found, position=None) if session.is_translated and found.position is not None else found
