"""The statements that are answered at once on the event loop: INSERTs of literals or plain parameters, and repeated reads.

Enters: the text of a Query, or a bound portal. Leaves: True when the statement is done, its rows staged in the transaction and its reply
written; False when the general way has to take it (it then raises the exact error, where there is one). No parser, no planner, no thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.insert import HEAD, InsertTarget, head_target
from engine.parameter_rows import parameter_row
from engine.prepared import Portal
from engine.reading import answer_key
from engine.results import expand
from ringbuffer.decode_literals import decode_literals
from ringbuffer.error_codes import RowError
from sql.wire import writer

if TYPE_CHECKING:
    from engine.catalog import CatalogImage
    from engine.session import Session
    from ringbuffer.columns import Morsel

HEADS_KEPT_MAX = 1024
INSERTED_ONE = writer.command_complete("INSERT 0 1")


class HotPath:
    """The hot paths of one session. Targets of INSERT heads are kept while the catalog stays the same."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database
        self._heads: dict[str, InsertTarget | None] = {}
        self._heads_image: CatalogImage | None = None

    def try_query(self, text: str, image: CatalogImage) -> bool:
        """Do the whole text of a Query, if it is one of ours. Raises SqlError when a view refuses the row."""
        session = self._session
        if session.transaction is not None and session.transaction.failed:
            return False
        kept = self._database.answers.find(answer_key(text, (), session.settings, described=False), image)
        if kept is not None:
            session.connection.write(kept)
            return True
        match = HEAD.match(text)
        if match is None:
            return False
        head = match.group(0)
        target = self._target(head, image)
        if target is None:
            return False
        prefix = head.encode()
        try:
            given = decode_literals(text.encode(), len(prefix), target.layout)
        except RowError:
            return False
        if given is None:
            return False
        self._stage(target, target.rows(given), image)
        session.connection.write(
            INSERTED_ONE if given.rows_count == 1 else writer.command_complete(f"INSERT 0 {given.rows_count}")
        )
        return True

    def try_portal(self, portal: Portal, image: CatalogImage) -> bool:
        """Run a portal, if it inserts one row of parameters or its answer is kept. Raises SqlError when a view refuses the row."""
        session = self._session
        if session.transaction is not None and session.transaction.failed:
            return False
        prepared = portal.prepared
        if not prepared.parameter_types and prepared.text:
            formats = tuple(expand(portal.result_formats, len(prepared.schema or ())))
            kept = self._database.answers.find(
                answer_key(prepared.text, formats, session.settings, described=True), image
            )
            if kept is not None:
                session.connection.write(kept)
                return True
        row = parameter_row(prepared, image, self._database.tables)
        if row is None:
            return False
        message = portal.message
        formats_of = expand(message.parameter_formats, len(row.layout))
        try:
            rows = row.decode(message.payload, message.parameters_offset, formats_of)
        except RowError:
            return False
        self._stage(row.target, rows, image)
        session.connection.write(INSERTED_ONE)
        return True

    def _target(self, head: str, image: CatalogImage) -> InsertTarget | None:
        if image is not self._heads_image:
            self._heads.clear()
            self._heads_image = image
        if head in self._heads:
            return self._heads[head]
        if len(self._heads) >= HEADS_KEPT_MAX:
            self._heads.clear()
        target = self._heads[head] = head_target(head, image, self._database.tables)
        return target

    def _stage(self, target: InsertTarget, rows: Morsel, image: CatalogImage) -> None:
        transaction = self._session.current_transaction()
        stage = self._database.stage(target.entry, image, transaction.now_us)
        stage.add(rows)
        transaction.operations.append(stage)
