"""INSERTs of one row into streams that come as one read of the socket, whose row a kernel decodes:
from the text of a Query, or from the bytes of a Bind.

Enters: a whole read of the socket (`answer`). Leaves: the reply to the read. False: nothing has
happened, and the general way takes the messages, or gives the exact error. A read that is one
INSERT of one row between two transactions is committed at once, without a transaction and a stage:
the bytes around its values are compared with those of a packet that was decoded properly before.
All other rows are staged (`staged_inserts`). No parser, no planner, no thread. Must not know
sockets.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage
from engine.catalog.per_image import PerImage
from engine.commit.log_answer import LogAnswer
from engine.commit.row_commit import RowCommit, Views
from engine.execution.outcome import expand
from engine.execution.parameter_rows import ParameterRow, parameter_row
from engine.execution.prepared import Prepared
from engine.ingest.field_readers import FieldReader
from engine.ingest.insert import HEAD, InsertTarget, now_in
from engine.sessions.reads_at_once import IDLE
from engine.sessions.staged_inserts import INSERTED, PerHead
from engine.streams.stream import arrived
from ringbuffer.decode.literals import NO_COLUMNS
from ringbuffer.decode.one_row import OneRow, Reader
from ringbuffer.decode.parameters import RAW_BYTES
from ringbuffer.memory.columns import Layout
from ringbuffer.pages.log_rows import RowRecord
from ringbuffer.ring.ring import RowWriter
from sql.catalog.catalog import ColumnDescription, SessionSettings
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.times.civil import utc_offset_us
from sql.wire import writer
from sql.wire.packets import DESCRIBE, EXECUTE, HEAD_OFFSET, NO_LIMIT, QUERY, SYNC, query_text
from sql.wire.reader import read_bind

if TYPE_CHECKING:
    from engine.sessions.session import Session

HEAD_BYTES = re.compile(HEAD.pattern.encode(), re.IGNORECASE)
NAME_OFFSET = HEAD_OFFSET + 1
# Execute's row limit lies between the two: a statement without rows has none to limit.
EXECUTE_SYNC_BYTES = len(EXECUTE + NO_LIMIT + SYNC)
# Packets of one statement: a client may choose other formats from time to time.
PACKETS_KEPT_MAX = 8


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """The memory of one row, and its commit.

    Attributes:
        late: the columns whose literals no kernel reads.
    """

    row: OneRow
    commit: RowCommit
    stream_name: str
    late: tuple[ColumnDescription, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertPacket:
    """The packet of one prepared statement with one choice of formats.

    Attributes:
        formats: of the values, 0 or 1 each.
        tail: the bytes after the values, result formats to Sync.
        messages_bytes: the bytes of the messages after Bind.
        reply: all but ReadyForQuery.
    """

    values_offset: int
    formats: Sequence[int]
    tail: bytes
    messages_bytes: int
    reply: bytes
    placed: PlacedRow


@dataclass(frozen=True, slots=True)
class KnownPacket:
    """A packet that the session has done: the next one of its statement needs comparisons alone
    while all of this holds.

    Attributes:
        head: the bytes before the values.
        name: the statement's.
        captured: the settings.
        waits: for the log.
        readers: of the values that no kernel reads.
    """

    head: bytes
    name: str
    prepared: Prepared
    captured: SessionSettings
    packet: InsertPacket
    views: Views
    waits: bool
    readers: Sequence[Reader]


class RowInserts:
    """The INSERTs of one session: finds and does them.

    Attributes:
        prepared: the session's statements by name.
    """

    def __init__(self, session: Session, prepared: dict[str, Prepared]) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._log_answer = LogAnswer(self._loop, session.connection.end_packet)
        # The reply to the packet that waits for the log, and the part of it that is said after an
        # error, too.
        self._reply = self._told = b""
        self._server = session.server
        self._prepared = prepared
        self._placed_rows: PerHead[PlacedRow | None] = PerHead(session, self._placed)
        self._known: PerImage[KnownPacket] = PerImage()
        # The readers of the last literals, and the settings with which these are read.
        self._read_with: tuple[PlacedRow | None, SessionSettings | None, Sequence[Reader]] = (None, None, ())

    def _placed(self, head: bytes, image: CatalogImage) -> PlacedRow | None:
        """Return memory for a row of an INSERT's text up to its values.

        None: the text has to go the general way.
        """
        target = self._session.staged.target(head, image)
        if target is None:
            return None
        return place(target, target.arriving, [0] * len(target.layout), self._session.settings, takes=target.takes)

    # Whole packets.

    def answer(self, data: bytes) -> bytes | bool:
        """Do the packet, if it is one of ours; see PacketsProtocol.

        data: begins with the type byte of a Bind or a Query.
        """
        if not self._is_free:
            return False
        reads = self._session.reads
        if data[0] == QUERY:
            reply = self._answer_query(data)
        else:
            reply = False if reads.is_like_last(data) else self._answer_bind(data)
        return reads.answer(data) if reply is False else reply

    @property
    def _is_free(self) -> bool:
        session = self._session
        return session.block.open is None and not session.idle.is_running

    def _is_still(self, known: KnownPacket) -> bool:
        return known.captured is self._session.settings.captured() and known.prepared is self._prepared.get(known.name)

    def _answer_query(self, data: bytes) -> bytes | bool:
        if self._session.settings.read_only:
            return False
        text = query_text(data, self._session.settings.is_conforming)
        match = None if text is None else HEAD_BYTES.match(text)
        if text is None or match is None:
            return False
        image = self._server.catalog.image
        placed = self._placed_rows.find(match[0], image)
        if placed is None:
            return False
        if not placed.row.fill_literals(text, len(match[0]), self._readers(placed), self._ask_time):
            return False
        if not self._session.identity.may_insert(placed.stream_name, image):
            return False
        waits = self._session.settings.waits_for_log
        return self._committed(placed, image.chains_of(placed.stream_name), image, waits, INSERTED, data, simple=True)

    def _ask_time(self) -> tuple[int, int]:
        """Return now() of a transaction that begins, and its local time."""
        now_us = self._server.clock.now_us()
        return now_us, now_us + utc_offset_us(now_us, self._session.settings.time_zone)

    def _readers(self, placed: PlacedRow) -> Sequence[Reader]:
        """Return the readers of the literals of a row that no kernel reads."""
        if not placed.late:
            return ()
        settings = self._session.settings
        captured = settings.captured()
        if self._read_with[:2] != (placed, captured):
            reader = FieldReader(settings.time_zone, settings.input_styles)
            readers = [reader.try_stored(column, False) for column in placed.late]
            self._read_with = placed, captured, readers
        return self._read_with[2]

    def _answer_bind(self, data: bytes) -> bytes | bool:
        image = self._server.catalog.image
        known = self._known.find(image)
        if known is None or not self._is_still(known) or not data.startswith(known.head, HEAD_OFFSET):
            known = self._look_up(data, image)
            if known is None:
                return False
            self._known.keep(image, known)
        packet = known.packet
        if (
            not data.endswith(packet.tail)
            or int.from_bytes(data[1:HEAD_OFFSET], "big") != len(data) - packet.messages_bytes - 1
        ):
            return False
        placed = packet.placed
        if not placed.row.fill(data, packet.values_offset, len(data) - len(packet.tail), known.readers):
            return False
        return self._committed(placed, known.views, image, known.waits, packet.reply, data, simple=False)

    def _look_up(self, data: bytes, image: CatalogImage) -> KnownPacket | None:
        """Return the known packet with the head of this one.

        None when the packet has to go the general way.
        """
        session = self._session
        # The bytes before the values: no portal name, the statement's, the formats and the count of
        # the values.
        name_end = data.find(0, NAME_OFFSET)
        if name_end < 0 or data[HEAD_OFFSET] != 0 or not data.endswith(SYNC) or session.settings.read_only:
            return None
        # Surrogates are in no statement's name.
        name = data[NAME_OFFSET:name_end].decode(errors="surrogateescape")
        prepared = self._prepared.get(name)
        if prepared is None or not prepared.is_bound_to(image, session.settings):
            return None
        shape = parameter_row(prepared, image, self._server.engines.tables)
        if not isinstance(shape, ParameterRow):
            return None
        head = data[HEAD_OFFSET : name_end + 5 + 2 * (data[name_end + 1] << 8 | data[name_end + 2])]
        packet = shape.packets.get(head) or learn(data, head, shape, session.settings)
        if packet is None or not session.identity.may_insert(packet.placed.stream_name, image):
            return None
        views = image.chains_of(packet.placed.stream_name)
        settings = session.settings
        reader = FieldReader(settings.time_zone, settings.input_styles)
        fields = zip(shape.target.columns, packet.formats, shape.read, strict=True)
        readers = [reader.try_stored(column, bool(code)) for column, code, is_read in fields if is_read]
        return KnownPacket(head, name, prepared, settings.captured(), packet, views, settings.waits_for_log, readers)

    def _committed(
        self, placed: PlacedRow, views: Views, image: CatalogImage, waits: bool, reply: bytes, data: bytes, simple: bool
    ) -> bytes | bool:  # fmt: skip
        """Commit the row.

        Return the reply; True when it has to wait for the log; False when nothing was done.
        """
        committer, commit = self._server.committer, placed.commit
        done = committer.commit_row(commit, views, image, waits, self._log_answer)
        if done is None:
            return False
        self._note(reply, data, commit, simple)
        if done:
            return self.end(None)
        committer.log.flush_soon(self._log_answer, self._loop.call_soon)
        return True

    def end(self, error: SqlError | None) -> bytes:
        """Return the reply to a packet that has waited for the log.

        error: the reason why the log has not taken the row.
        """
        messages = self._session.inbox.take()
        if error is None:
            return self._reply + messages + IDLE
        return writer.error_response(error) + self._told + messages + IDLE

    def _note(self, reply: bytes, data: bytes, commit: RowCommit, simple: bool) -> None:
        """Make the reply to the row that is being committed, and end everything that ends with a
        transaction.
        """
        session = self._session
        session.begin_message(simple)
        session.doing.packet = (data, commit)
        if simple:
            self._prepared.pop("", None)
        session.names.end_transaction(committed=True)
        session.settings.commit()
        changed = session.settings.changed_reports()
        self._told = b"".join(writer.parameter_status(name, value) for name, value in changed)
        self._reply = reply + self._told


def learn(data: bytes, head: bytes, shape: ParameterRow, settings: Settings) -> InsertPacket | None:
    """Take the packet apart properly.

    Return the packet to compare the next one with the same head with, None for a packet of another
    kind.
    """
    bind_end = 1 + int.from_bytes(data[1:HEAD_OFFSET], "big")
    messages = data[bind_end:]
    execute = messages.removeprefix(DESCRIBE)
    is_like = len(execute) == EXECUTE_SYNC_BYTES and execute.startswith(EXECUTE)
    if not shape.fits_one_row or not is_like or len(shape.packets) >= PACKETS_KEPT_MAX:
        return None
    try:
        bind = read_bind(data, HEAD_OFFSET, bind_end)
    except SqlError:
        return None
    if bind.parameters_offset != HEAD_OFFSET + len(head) or bind.parameters_count != len(shape.layout):
        return None
    formats = shape.codes(expand(bind.parameter_formats, bind.parameters_count))
    placed = place(shape.target, shape.layout, formats, settings, shape.read)
    if placed is None:
        return None
    values_end = bind.parameters_offset + sum(4 + len(value or b"") for value in bind.parameters())
    described = writer.NO_DATA if messages.startswith(DESCRIBE) else b""
    reply = writer.BIND_COMPLETE + described + INSERTED
    tail = data[values_end:]
    packet = shape.packets[head] = InsertPacket(bind.parameters_offset, formats, tail, len(messages), reply, placed)
    return packet


def place(
    target: InsertTarget,
    layout: Layout,
    formats: Sequence[int],
    settings: Settings,
    are_read: Sequence[bool] = (),
    takes: Mapping[int, int] = NO_COLUMNS,
) -> PlacedRow | None:
    """Return memory for whole rows of a target whose values arrive as `layout`.

    settings: of the session, for its zone. are_read: which of the values no kernel reads; () for
    none. takes: of literals, see `LiteralDecoder`. None is returned when the values need more than
    that.
    """
    stream, start = target.entry.stream, target.defaults
    given = frozenset(target.targets)
    late = target.late if takes else NO_COLUMNS
    if (
        len(start.heap)
        or len(stream.layout) in given
        or any(start.nulls[index][0] and index not in given for index in stream.not_null)
    ):
        return None
    read = [index for index, is_read in enumerate(are_read) if is_read] or list(late)
    codes = [RAW_BYTES if code and index in read else code for index, code in enumerate(formats)]
    row = OneRow(layout, codes, start, target.targets, read, takes)
    record = RowRecord(row.morsel, stream.layout, stream.oid)
    whole = arrived(row.morsel, 0)
    times = [(whole.data[index], stream.stored[index]) for index in target.now_columns]

    def tell_time(now_us: int) -> None:
        for values, column in times:
            values[0] = now_in(column, now_us, settings.time_zone)

    commit = RowCommit(whole, record, RowWriter(stream.ring, whole), tell_time if times else None)
    return PlacedRow(row, commit, stream.name, tuple(target.columns[index] for index in late))
