"""The statements that are answered at once on the event loop: INSERTs of literals or plain
parameters, and repeated reads.

Enters: the text of a Query, or a bound portal. Leaves: the reply when the statement is done, its
rows staged in the transaction; None when the general way has to take it (which then raises the
exact error, where there is one). No parser, no planner, no thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commit.transaction import Step
from engine.execution.outcome import expand
from engine.execution.parameter_rows import parameter_row
from engine.execution.prepared import Portal
from engine.execution.reading import answer_key
from engine.ingest.insert import HEAD, InsertTarget, head_target
from engine.sessions.again import portal_again, text_again
from ringbuffer.decode.literals import decode_literals
from ringbuffer.memory.error_codes import RowError
from sql.wire import writer

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.sessions.session import Session
    from ringbuffer.memory.columns import Morsel

HEADS_KEPT_MAX = 1024
# Characters that may stand after a statement and are no part of its text.
AFTER = "; \t\r\n\f"
INSERTED_ONE = writer.command_complete("INSERT 0 1")


class HotPath:
    """The hot paths of one session.

    Targets of INSERT heads are kept while the catalog stays the same.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._server = session.server
        self._heads: dict[str, InsertTarget | None] = {}
        self._heads_image: CatalogImage | None = None
        session.settings.watchers.append(self._forget)

    def _forget(self) -> None:
        """Forget all targets: a setting has changed, the search_path perhaps."""
        self._heads_image = None

    def try_query(self, text: str, image: CatalogImage) -> bytes | None:
        """Do the whole text of a Query, if it is for a hot path, and return the reply.

        Raises SqlError when a view refuses the row.
        """
        session = self._session
        if session.connection.encoding.converts or (session.block.open is not None and session.block.open.failed):
            return None
        if "\\" in text and not session.settings.is_conforming:
            return None
        match = HEAD.match(text)
        if match is None:
            return self._kept_answer(answer_key(text.rstrip(AFTER), (), session.settings, described=False), image)
        if session.settings.read_only:
            return None
        head = match.group(0)
        target = self._target(head, image)
        if target is None or not session.identity.may_insert(target.entry.description.name, image):
            return None
        prefix = head.encode()
        try:
            given = decode_literals(text.encode(), len(prefix), target.layout, session.settings.time_zone)
        except RowError:
            return None
        if given is None:
            return None
        tag = f"INSERT 0 {given.rows_count}"
        self._stage(target, given, image, text_again(session, tag, text))
        return INSERTED_ONE if given.rows_count == 1 else writer.command_complete(tag)

    def decode_row(self, portal: Portal, image: CatalogImage) -> bool:
        """Decode the parameters of a portal that inserts one row of them.

        False is returned for other portals, and where a value needs the general way.
        """
        row = parameter_row(portal.prepared, image, self._server.engines.tables)
        if row is None or self._session.connection.encoding.converts:
            return False
        message = portal.message
        formats = expand(message.parameter_formats, len(row.layout))
        try:
            zone = self._session.settings.time_zone
            portal.given = row.decode(message.payload, message.parameters_offset, formats, zone)
        except RowError:
            return False
        portal.row = row
        return True

    def try_portal(self, portal: Portal, row_limit: int, image: CatalogImage) -> bytes | None:
        """Run a portal whose row is decoded or whose answer is kept, and return the reply.

        Raises SqlError when a view refuses the row.
        """
        session = self._session
        prepared = portal.prepared
        row = portal.row
        if row is not None:
            if session.settings.read_only:
                return None
            if row is not parameter_row(prepared, image, self._server.engines.tables):
                return None
            if not session.identity.may_insert(row.target.entry.description.name, image):
                return None
            assert portal.given is not None
            self._stage(row.target, portal.given, image, portal_again(session, "INSERT 0 1", portal))
            return INSERTED_ONE
        if prepared.parameter_types or row_limit or not prepared.text or session.connection.encoding.converts:
            return None
        formats = tuple(expand(portal.result_formats, len(prepared.schema or ())))
        return self._kept_answer(answer_key(prepared.text, formats, session.settings, described=True), image)

    def _kept_answer(self, key: object, image: CatalogImage) -> bytes | None:
        """Return an encoded answer that still holds, for the data that the transaction sees, if
        there is one.
        """
        transaction = self._session.block.open
        answers = self._server.engines.answers
        if transaction is not None and transaction.explicit and transaction.pins is None and answers.reads(key):
            # The first read of a block fixes what it sees; the snapshot of tables takes too long to
            # be taken here.
            if image.has_tables or self._session.settings.is_serializable:
                return None
            self._server.transactions.begin_reading(transaction)
        return answers.find(key, image, transaction)

    def _target(self, head: str, image: CatalogImage) -> InsertTarget | None:
        if image is not self._heads_image:
            self._heads.clear()
            self._heads_image = image
        if head in self._heads:
            return self._heads[head]
        if len(self._heads) >= HEADS_KEPT_MAX:
            self._heads.clear()
        target = self._heads[head] = head_target(
            head, image, self._session.settings.captured(), self._server.engines.tables
        )
        return target

    def _stage(self, target: InsertTarget, given: Morsel, image: CatalogImage, step: Step) -> None:
        transaction = self._session.block.current()
        transaction.note_again(step, transaction.is_untouched)
        stage = self._server.transactions.stage(target.entry, image, transaction.now_us)
        stage.add(target.rows(given, transaction.now_us, self._session.settings.time_zone))
        transaction.operations.append(stage)
