"""A prepared single-row INSERT that arrives whole, Bind to Sync in one read, answered in one go: the packet a busy client repeats.

Enters: what a socket read gave. Leaves: the reply, the row committed; None when the messages have to be handled one by one, which is so
for all that is not plainly right: nothing has happened then, and the general way gives the exact error. The bytes around the values are
compared with those of a packet that was decoded properly before. Only between transactions. Must not know sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.catalog import CatalogImage
from engine.parameter_rows import parameter_row
from engine.prepared import Prepared
from engine.results import expand
from ringbuffer.one_row import OneRow
from ringbuffer.ring import RowWriter
from sql.errors import SqlError
from sql.wire import writer
from sql.wire.messages import Bind
from sql.wire.reader import read_bind

if TYPE_CHECKING:
    from engine.session import Session

HEAD_OFFSET = 5
NAME_OFFSET = 6
DESCRIBE = b"D\0\0\0\x06P\0"
EXECUTE = b"E\0\0\0\x09\0"
SYNC = b"S\0\0\0\x04"
# Execute's row limit lies between the two: a statement without rows has none to limit.
EXECUTE_SYNC_BYTES = len(EXECUTE) + 4 + len(SYNC)
IDLE = writer.READY_FOR_QUERY["I"]
INSERTED = writer.command_complete("INSERT 0 1")
PACKETS_KEPT_MAX = 64


@dataclass(frozen=True, slots=True)
class InsertPacket:
    """The packet of one prepared statement with one choice of formats. row None: it isn't one for us, as long as `image` stays.

    tail: what follows the values, result formats to Sync; messages_bytes: what follows Bind; reply: all but ReadyForQuery.
    """

    name: str
    prepared: Prepared
    image: CatalogImage
    values_offset: int = 0
    tail: bytes = b""
    messages_bytes: int = 0
    reply: bytes = b""
    row: OneRow | None = None
    ring_row: RowWriter | None = None
    stream_name: str = ""


class InsertPackets:
    """The packets that one session knows. prepared: the session's statements by name."""

    def __init__(self, session: Session, prepared: Mapping[str, Prepared]) -> None:
        self._session = session
        self._database = session.database
        self._prepared = prepared
        self._known: dict[bytes, InsertPacket] = {}

    def answer(self, data: bytes) -> bytes | None:
        """Do the packet, if it is one of ours, and return the reply; data begins with a Bind's type byte."""
        session = self._session
        # What stands before the values: no portal name, the statement's, the formats and the count of the values.
        name_end = data.find(0, NAME_OFFSET)
        if name_end < 0 or not data.endswith(SYNC) or session.block.open is not None:
            return None
        head = data[HEAD_OFFSET : name_end + 5 + 2 * (data[name_end + 1] << 8 | data[name_end + 2])]
        known = self._known.get(head)
        image = self._database.image
        if known is None or known.image is not image or self._prepared.get(known.name) is not known.prepared:
            known = self._learn(data, head, image)
            if known is None:
                return None
        row, ring_row = known.row, known.ring_row
        values_end = len(data) - len(known.tail)
        if (
            row is None
            or ring_row is None
            or not data.endswith(known.tail)
            or int.from_bytes(data[1:HEAD_OFFSET], "big") != len(data) - known.messages_bytes - 1
            or not known.prepared.is_bound_to(image, session.settings)
            or not row.fill(data, known.values_offset, values_end)
        ):
            return None
        if not self._database.commit_row(known.stream_name, row.morsel, ring_row, image):
            return None
        return self._ended(known)

    def _ended(self, known: InsertPacket) -> bytes:
        """Return the reply to what has been committed; what ends with a transaction ends now."""
        session = self._session
        session.begin_message(simple=False)
        session.forget_portals()
        session.settings.commit()
        changed = session.settings.changed_reports()
        if not changed:
            return known.reply + IDLE
        told = b"".join(writer.parameter_status(name, value) for name, value in changed)
        return known.reply + told + IDLE

    def _learn(self, data: bytes, head: bytes, image: CatalogImage) -> InsertPacket | None:
        """Take the packet apart properly; return what is to be known of the next one with the same head, None when it isn't for us."""
        bind_end = 1 + int.from_bytes(data[1:HEAD_OFFSET], "big")
        messages = data[bind_end:]
        execute = messages.removeprefix(DESCRIBE)
        if data[HEAD_OFFSET] != 0 or len(execute) != EXECUTE_SYNC_BYTES or not execute.startswith(EXECUTE):
            return None
        try:
            bind = read_bind(data, HEAD_OFFSET, bind_end)
        except SqlError:
            return None
        prepared = self._prepared.get(bind.statement)
        if prepared is None or bind.parameters_offset != HEAD_OFFSET + len(head):
            return None
        if len(self._known) >= PACKETS_KEPT_MAX:
            self._known.clear()
        packet = self._known[head] = self._packet(data, bind, messages, prepared, image)
        return packet

    def _packet(
        self, data: bytes, bind: Bind, messages: bytes, prepared: Prepared, image: CatalogImage
    ) -> InsertPacket:
        shape = parameter_row(prepared, image, self._database.tables)
        row = None if shape is None else shape.one_row(expand(bind.parameter_formats, bind.parameters_count))
        if shape is None or row is None:
            return InsertPacket(bind.statement, prepared, image)
        values_end = bind.parameters_offset + sum(4 + len(value or b"") for value in bind.parameters())
        described = writer.NO_DATA if messages.startswith(DESCRIBE) else b""
        stream = shape.target.entry.stream
        return InsertPacket(
            bind.statement,
            prepared,
            image,
            bind.parameters_offset,
            data[values_end:],
            len(messages),
            writer.BIND_COMPLETE + described + INSERTED,
            row,
            RowWriter(stream.ring, row.morsel),
            stream.name,
        )
