"""INSERTs into streams whose rows a kernel decodes from one buffer, and a transaction stages: the
text of a statement, or the bytes of a Bind.

Enters: a text, or a portal. Leaves: the number of staged rows. None or False: nothing has happened,
and the general way takes the message, or gives the exact error. No parser, no planner, and a thread
for long texts alone. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.catalog.image import CatalogImage
from engine.catalog.per_image import PerImage
from engine.commit.staging import StatementStage
from engine.commit.transaction import Step
from engine.execution.insert_shapes import insert_shape
from engine.execution.outcome import expand
from engine.execution.parameter_rows import ComputedRow, LiteralRows, ParameterRows, TableRows, parameter_row
from engine.execution.prepared import Portal, Prepared, UnparsedInsert
from engine.ingest.field_readers import ColumnError, FieldReader
from engine.ingest.insert import HEAD, InsertTarget, head_target
from engine.sessions.again import portal_again, text_again
from ringbuffer.decode.literals import AskTime
from ringbuffer.decode.one_row import BLOCK_BYTES_MAX
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from sql.times.civil import utc_offset_us
from sql.wire import writer

if TYPE_CHECKING:
    from engine.sessions.session import Session

Value = TypeVar("Value")

HEADS_KEPT_MAX = 256
# Parameters of several rows that are read at once where no kernel reads some of them, which takes
# some 10 us each.
READ_AT_ONCE_BYTES_MAX = 16_384
INSERTED = writer.command_complete("INSERT 0 1")


def inserted(rows_count: int) -> bytes:
    """Return CommandComplete of an INSERT."""
    return INSERTED if rows_count == 1 else writer.command_complete(f"INSERT 0 {rows_count}")


class PerHead(Generic[Value]):
    """Values that are made of heads of INSERTs, which are their texts up to their values: kept for
    one image of the catalog, as long as no setting changes.
    """

    def __init__(self, session: Session, make: Callable[[bytes, CatalogImage], Value]) -> None:
        self._identity, self._make = session.identity, make
        self._kept: PerImage[dict[bytes, Value]] = PerImage()
        # The search_path perhaps.
        session.settings.watchers.append(self._kept.forget)

    def find(self, head: bytes, image: CatalogImage) -> Value:
        """Return what was made of a head, or make it."""
        kept = self._kept.find(image)
        if kept is None or len(kept) >= HEADS_KEPT_MAX:
            # Which schemas names are looked for in.
            self._identity.look()
            kept = self._kept.keep(image, {})
        if head not in kept:
            kept[head] = self._make(head, image)
        return kept[head]


class StagedInserts:
    """The staged INSERTs of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._server = session.server
        self._targets: PerHead[InsertTarget | None] = PerHead(session, self._made_target)

    def target(self, head: bytes, image: CatalogImage) -> InsertTarget | None:
        """Return the target of an INSERT's text up to its values.

        None: the text has to go the general way.
        """
        return self._targets.find(head, image)

    def _made_target(self, head: bytes, image: CatalogImage) -> InsertTarget | None:
        settings = self._session.settings.captured()
        return head_target(head.decode(), image, settings, self._server.engines.tables)

    def stage_text(self, text: str, image: CatalogImage) -> int | None:
        """Stage the rows of a whole text that is an INSERT of literals; return their number.

        Raises SqlError when a view refuses a row.
        """
        target = self._allowed_target(text, image)
        given = None if target is None else self._decoded(target, text, self._ask_time)
        if target is not None and given is None:
            found = self.shaped(text, image)
            if found is not None:
                target, given = found[0].target, self._computed(*found, (), image)
        if target is None or given is None:
            return None
        step = text_again(self._session, f"INSERT 0 {given.rows_count}", text)
        stage, rows = self._begun(target, given, image, step)
        stage.add(rows)
        return given.rows_count

    async def stage_long_text(self, text: str, image: CatalogImage) -> int | None:
        """Do what `stage_text` does, for a long text: what takes time is done by a worker.

        Raises 57014, too.
        """
        target = self._allowed_target(text, image)
        if target is None:
            return None
        session = self._session
        given = await session.in_worker(self._decoded, target, text, self._ask_time)
        session.check_cancelled()
        if given is None:
            return None
        stage, rows = self._begun(target, given, image, text_again(session, f"INSERT 0 {given.rows_count}", text))
        await session.in_worker(stage.add, rows)
        session.check_cancelled()
        return given.rows_count

    def prepared(self, text: str, image: CatalogImage) -> Prepared | None:
        """Return the prepared statement of a text that is an INSERT of literals, None for other
        texts.
        """
        target = self._target_of(text, image)
        given = None if target is None else self._decoded(target, text)
        if target is None or given is None:
            return None
        prepared = Prepared(UnparsedInsert(text), (), was_bound=True)
        prepared.bound_to.keep(image, self._session.settings.captured())
        prepared.insert_row.keep(image, LiteralRows(target, given))
        return prepared

    def _allowed_target(self, text: str, image: CatalogImage) -> InsertTarget | None:
        """Return the target of a text that may be an INSERT of literals which the role may do
        now.
        """
        target = None if self._session.settings.read_only else self._target_of(text, image)
        if target is None or not self._session.identity.may_insert(target.entry.description.name, image):
            return None
        return target

    def _target_of(self, text: str, image: CatalogImage) -> InsertTarget | None:
        """Return the target of a text that may be an INSERT of literals."""
        match = HEAD.match(text)
        return None if match is None else self.target(match[0].encode(), image)

    def _ask_time(self) -> tuple[int, int]:
        """Return now() of the transaction, and its local time."""
        now_us = self._session.block.current().now_us
        return now_us, now_us + utc_offset_us(now_us, self._session.settings.time_zone)

    def _decoded(self, target: InsertTarget, text: str, ask_time: AskTime | None = None) -> Morsel | None:
        """Return the rows of a text, None where they are not literals that a decoder knows.

        ask_time: None for rows that are to be the same whenever they are inserted.
        """
        match = HEAD.match(text)
        assert match is not None, text
        settings = self._session.settings
        try:
            given = target.literals.decode(text.encode(), len(match[0].encode()), settings.time_zone, ask_time)
            if given is None or target.is_decoded:
                return given
            reader = FieldReader(settings.time_zone, settings.input_styles)
            return reader.rows(given, target.columns, target.layout, [False] * len(target.layout))
        except (RowError, ColumnError):
            return None

    def decode_row(self, portal: Portal, image: CatalogImage) -> bool:
        """Decode the parameters of a portal that inserts rows of them.

        False is returned for other portals, and where a value needs the general way.
        """
        row = parameter_row(portal.prepared, image, self._server.engines.tables)
        if row is None or self._session.connection.encoding.converts:
            return False
        if isinstance(row, TableRows):
            is_large = portal.message.is_larger_than(READ_AT_ONCE_BYTES_MAX)
            return not is_large and self.decode_table_rows(portal, image)
        message = portal.message
        if isinstance(row, ComputedRow):
            given = self._computed(row, message.parameters(), message.parameter_formats, image)
            portal.given, portal.row = given, None if given is None else row
            return given is not None
        is_read = isinstance(row, ParameterRows) and any(row.row.read)
        if is_read and message.is_larger_than(READ_AT_ONCE_BYTES_MAX):
            return False
        formats = expand(message.parameter_formats, len(row.layout))
        try:
            settings = self._session.settings
            reader = FieldReader(settings.time_zone, settings.input_styles)
            portal.given = row.decode_one(message.payload, message.parameters_offset, formats, reader)
        except (RowError, ColumnError):
            return False
        portal.row = None if portal.given is None else row
        return portal.given is not None

    def decode_table_rows(self, portal: Portal, image: CatalogImage) -> bool:
        """Decode the parameters of a portal that inserts rows of them into a table.

        False is returned for other portals, and where a value needs the general way.
        """
        row = parameter_row(portal.prepared, image, self._server.engines.tables)
        if not isinstance(row, TableRows) or self._session.connection.encoding.converts:
            return False
        settings = self._session.settings
        try:
            rows = row.decode(portal.message, FieldReader(settings.time_zone, settings.input_styles))
        except (RowError, ColumnError):
            return False
        portal.table_rows = None if rows is None else (row.entry, rows)
        return rows is not None

    def _computed(
        self, row: ComputedRow, values: Sequence[bytes | None], formats: Sequence[int], image: CatalogImage
    ) -> Morsel | None:
        """Return the row with computed values of parameters, None: it has to go the general way."""
        given, settings = tuple(expand(formats, len(values))), self._session.settings
        block = None if settings.read_only else self.block(row, values, given, image)
        reader = FieldReader(settings.time_zone, settings.input_styles)
        try:
            return None if block is None else row.row.decode_one(block, 0, row.computed.formats(given), reader)
        except (RowError, ColumnError):
            return None

    def block(
        self, row: ComputedRow, values: Sequence[bytes | None], formats: Sequence[int], image: CatalogImage
    ) -> bytes | None:
        """Return the values of a row as the parameters of a Bind.

        None: it has to go the general way.
        """
        if sum(len(value or b"") for value in values) > BLOCK_BYTES_MAX:
            return None
        sequences = self._session.sequences
        sequences.image, sequences.read_only = image, False
        return row.computed.block(values, formats, sequences)

    def shaped(self, text: str, image: CatalogImage) -> tuple[ComputedRow, Sequence[bytes]] | None:
        """Return the row of the shape of a text that is an INSERT with expressions, and its
        constants, if the shape has come before.
        """
        match, session = HEAD.match(text), self._session
        if match is None or self.target(match[0].encode(), image) is None:
            return None
        found = insert_shape(session.reads.shapes, text, match.end(), session.settings, image)
        row = None if found is None else parameter_row(found.prepared, image, self._server.engines.tables)
        return (row, found.values) if found is not None and isinstance(row, ComputedRow) else None

    def begun_portal(self, portal: Portal, image: CatalogImage) -> tuple[StatementStage, Morsel] | None:
        """Return a stage for the decoded rows of a portal, and the whole rows to add; None if they
        are not to be inserted as they are.
        """
        session, row, given = self._session, portal.row, portal.given
        if (
            row is None
            or isinstance(row, TableRows)
            or given is None
            or session.settings.read_only
            or row is not parameter_row(portal.prepared, image, self._server.engines.tables)
            or not session.identity.may_insert(row.target.entry.description.name, image)
        ):
            return None
        return self._begun(row.target, given, image, portal_again(session, f"INSERT 0 {given.rows_count}", portal))

    def _begun(
        self, target: InsertTarget, given: Morsel, image: CatalogImage, step: Step
    ) -> tuple[StatementStage, Morsel]:
        """Return a stage of the transaction, which is dropped with the transaction when the
        statement fails, and the whole rows to add.
        """
        transaction = self._session.block.current()
        transaction.note_again(step, transaction.is_untouched)
        rows = target.rows(given, transaction.now_us, self._session.settings.time_zone)
        stage = self._server.transactions.stage(target.entry, image, transaction.now_us)
        transaction.operations.append(stage)
        return stage, rows
