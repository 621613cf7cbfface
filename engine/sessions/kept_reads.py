"""Repeated reads that are answered at once on the event loop, from encoded answers that still hold.

Enters: the text of a Query, or a portal. Leaves: the reply, or None when the general way has to
take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.execution.outcome import expand
from engine.execution.prepared import Portal
from engine.execution.reading import answer_key

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.sessions.session import Session

# What may stand after a statement and is no part of its text.
AFTER = "; \t\r\n\f"


class KeptReads:
    """The repeated reads of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find_text(self, text: str, image: CatalogImage) -> bytes | None:
        """Return the reply to the whole text of a Query."""
        return self._find(answer_key(text.rstrip(AFTER), (), self._session.settings, described=False), image)

    def find_portal(self, portal: Portal, row_limit: int, image: CatalogImage) -> bytes | None:
        """Return the reply to an Execute."""
        prepared, session = portal.prepared, self._session
        if prepared.parameter_types or row_limit or not prepared.text or session.connection.encoding.converts:
            return None
        formats = tuple(expand(portal.result_formats, len(prepared.schema or ())))
        return self._find(answer_key(prepared.text, formats, session.settings, described=True), image)

    def _find(self, key: object, image: CatalogImage) -> bytes | None:
        """Return an encoded answer that still holds, for the data that the transaction sees, if
        there is one.
        """
        session = self._session
        transaction, server = session.block.open, session.server
        answers = server.engines.answers
        if transaction is not None and transaction.explicit and transaction.pins is None and answers.reads(key):
            # The first read of a block fixes what it sees; the snapshot of tables takes too long to
            # be taken here.
            if image.has_tables or session.settings.is_serializable:
                return None
            server.transactions.begin_reading(transaction)
        return answers.find(key, image, transaction)
