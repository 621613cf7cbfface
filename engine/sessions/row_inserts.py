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
from engine.execution.parameter_rows import ComputedRow, ParameterRow, parameter_row
from engine.execution.prepared import Prepared
from engine.ingest.field_readers import FieldReader
from engine.ingest.insert import HEAD, InsertTarget, now_in
from engine.sessions.reads_at_once import IDLE, ReadPacket
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
from sql.wire.messages import Bind
from sql.wire.packets import DESCRIBE, EXECUTE, HEAD_OFFSET, NO_LIMIT, QUERY, SYNC, query_text
from sql.wire.reader import read_bind

if TYPE_CHECKING:
    from engine.sessions.session import Session

HEAD_BYTES = re.compile(HEAD.pattern.encode(), re.IGNORECASE)
NAME_OFFSET = HEAD_OFFSET + 1
# Execute's row limit lies between the two: a statement without rows has none to limit.
EXECUTE_SYNC_BYTES = len(EXECUTE + NO_LIMIT + SYNC)
# Packets of one statement, since a client may choose other formats from time to time, and packets
# of a session that were done last.
PACKETS_KEPT_MAX = 8
# The shape of a row with computed values, its parameters with their formats, and the reply.
Computed = tuple[ComputedRow, Sequence[bytes | None], tuple[int, ...], bytes]


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
class KnownInsert:
    """A packet that the session has done: the next one like it needs comparisons alone while all of
    this holds.

    Attributes:
        head: the bytes before the values.
        captured: the settings.
        placed: the row.
        reply: all but ReadyForQuery.
        waits: for the log.
        readers: of the values that no kernel reads.
        packet: None of a text.
        name, prepared: of the statement that a Bind is for.
        is_conforming: see `query_text`.
    """

    head: bytes
    captured: SessionSettings
    placed: PlacedRow
    reply: bytes
    views: Views
    waits: bool
    readers: Sequence[Reader]
    packet: InsertPacket | None = None
    name: str | None = None
    prepared: Prepared | None = None
    is_conforming: bool = True


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
        self._known_texts: PerHead[KnownInsert | None] = PerHead(session, self._learn_text)
        # What was done last, the last first.
        self._recent: PerImage[list[KnownInsert | ReadPacket]] = PerImage()

    # Whole packets.

    def answer(self, data: bytes) -> bytes | bool:
        """Do the packet, if it is one of ours; see PacketsProtocol.

        data: begins with the type byte of a Bind or a Query.
        """
        session = self._session
        if session.block.open is not None or session.idle.is_running:
            return False
        image, captured = self._server.catalog.image, session.settings.captured()
        for packet in self._recent.find(image) or ():
            if (
                data.startswith(packet.head, HEAD_OFFSET)
                and packet.captured is captured
                and (packet.name is None or packet.prepared is self._prepared.get(packet.name))
            ):
                if isinstance(packet, KnownInsert):
                    return self._do(packet, data, image, is_again=True) or self._do_rarely(data, image)
                answer = session.reads.again(packet, data, image)
                if answer is not None:
                    return answer
        known = self._look_up_text(data, image) if data[0] == QUERY else self._look_up(data, image)
        if known is not None:
            self._keep(known, image)
        reply = False if known is None else self._do(known, data, image, is_again=False)
        return reply or self._do_rarely(data, image)

    def _do_rarely(self, data: bytes, image: CatalogImage) -> bytes | bool:
        """Do the packet if it is an INSERT of values that are computed, or a read."""
        reply = self._do_computed(data, image, is_query=data[0] == QUERY)
        found = None if reply else self._session.reads.answer(data, image)
        if found is None:
            return reply
        reply, packet = found
        self._keep(packet, image)
        return reply

    def _keep(self, known: KnownInsert | ReadPacket, image: CatalogImage) -> None:
        others = [one for one in self._recent.find(image) or () if one.head != known.head]
        self._recent.keep(image, [known, *others[: PACKETS_KEPT_MAX - 1]])

    def _do(self, known: KnownInsert, data: bytes, image: CatalogImage, is_again: bool) -> bytes | bool:
        """Decode and commit the row.

        Return the reply; True when it has to wait for the log; False when nothing was done.
        is_again: the packet before it was done under the same image and settings.
        """
        packet, placed = known.packet, known.placed
        if packet is None:
            text = query_text(data, known.is_conforming)
            if text is None or not placed.row.fill_literals(text, len(known.head), known.readers, self._ask_time):
                return False
        elif (
            not data.endswith(packet.tail)
            or int.from_bytes(data[1:HEAD_OFFSET], "big") != len(data) - packet.messages_bytes - 1
            or not placed.row.fill(data, packet.values_offset, len(data) - len(packet.tail), known.readers)
        ):
            return False
        return self._committed(known, data, image, is_again)

    def _committed(self, known: KnownInsert, data: bytes, image: CatalogImage, is_again: bool) -> bytes | bool:
        """Commit the row that is decoded; see `_do`."""
        committer, commit = self._server.committer, known.placed.commit
        done = committer.commit_row(commit, known.views, image, known.waits, self._log_answer)
        if done is None:
            return False
        self._note(known, data, is_again)
        if done:
            return self.end(None)
        committer.log.flush_soon(self._log_answer, self._loop.call_soon)
        return True

    def _do_computed(self, data: bytes, image: CatalogImage, is_query: bool) -> bytes | bool:
        """Compute values of parameters, or of a text's constants, and commit their row as `_do`
        does.
        """
        session, settings = self._session, self._session.settings
        found = self._computed_text(data, image) if is_query else self._computed_bind(data, image)
        if found is None or settings.read_only:
            return False
        shape, values, formats, reply = found
        row, stream_name = shape.row, shape.target.entry.stream.name
        if not row.fits_one_row or not self._may_insert(stream_name, image):
            return False
        codes = row.codes(shape.computed.formats(formats))
        placed = shape.computed.placed.get(codes)
        if placed is None:
            if len(shape.computed.placed) >= PACKETS_KEPT_MAX:
                return False
            placed = shape.computed.placed[codes] = place(row.target, row.layout, codes, settings, row.read)
        block = None if placed is None else session.staged.block(shape, values, formats, image)
        session.sequences.end_transaction()
        readers = field_readers(row, codes, settings)
        if placed is None or block is None or not placed.row.fill(block, 0, len(block), readers):
            return False
        packet = None if is_query else InsertPacket(0, codes, b"", 0, reply, placed)
        views, waits = image.chains_of(stream_name), settings.waits_for_log
        known = KnownInsert(b"", settings.captured(), placed, reply, views, waits, readers, packet)
        return self._committed(known, data, image, is_again=False)

    def _computed_text(self, data: bytes, image: CatalogImage) -> Computed | None:
        text = query_text(data, self._session.settings.is_conforming)
        found = None if text is None else self._session.staged.shaped(text.decode(), image)
        return None if found is None else (*found, (0,) * len(found[1]), INSERTED)

    def _computed_bind(self, data: bytes, image: CatalogImage) -> Computed | None:
        name_end = data.find(0, NAME_OFFSET)
        if name_end < 0 or data[HEAD_OFFSET] != 0:
            return None
        prepared = self._prepared.get(data[NAME_OFFSET:name_end].decode(errors="surrogateescape"))
        if prepared is None or not prepared.is_bound_to(image, self._session.settings):
            return None
        shape = parameter_row(prepared, image, self._server.engines.tables)
        bind = plain_bind(data) if isinstance(shape, ComputedRow) else None
        if not isinstance(shape, ComputedRow) or bind is None or bind.parameters_count != len(shape.computed.types):
            return None
        formats = tuple(expand(bind.parameter_formats, bind.parameters_count))
        described = writer.NO_DATA if len(data) - bind_end(data) > EXECUTE_SYNC_BYTES else b""
        return shape, bind.parameters(), formats, writer.BIND_COMPLETE + described + INSERTED

    def _look_up_text(self, data: bytes, image: CatalogImage) -> KnownInsert | None:
        """Return what is known of a Query, None when it has to go the general way."""
        text = query_text(data, self._session.settings.is_conforming)
        match = None if text is None else HEAD_BYTES.match(text)
        return None if match is None else self._known_texts.find(match[0], image)

    def _learn_text(self, head: bytes, image: CatalogImage) -> KnownInsert | None:
        """Return what is known of texts up to their values.

        None: the texts have to go the general way.
        """
        session, settings = self._session, self._session.settings
        target = session.staged.target(head, image)
        if target is None or settings.read_only:
            return None
        placed = place(target, target.arriving, [0] * len(target.layout), settings, takes=target.takes)
        if placed is None or not self._may_insert(placed.stream_name, image):
            return None
        reader = FieldReader(settings.time_zone, settings.input_styles)
        readers = [reader.try_stored(column, False) for column in placed.late]
        views, waits = image.chains_of(placed.stream_name), settings.waits_for_log
        return KnownInsert(
            head, settings.captured(), placed, INSERTED, views, waits, readers, is_conforming=settings.is_conforming
        )

    def _may_insert(self, name: str, image: CatalogImage) -> bool:
        """Tell whether a row may go into a stream without a stage, which alone derives rows, and
        without a batch.
        """
        session = self._session
        return session.identity.may_insert(name, image) and not (image.transforms_of(name) or session.settings.batch)

    def _ask_time(self) -> tuple[int, int]:
        """Return now() of a transaction that begins, and its local time."""
        now_us = self._server.clock.now_us()
        return now_us, now_us + utc_offset_us(now_us, self._session.settings.time_zone)

    def _look_up(self, data: bytes, image: CatalogImage) -> KnownInsert | None:
        """Return what is known of the packets with the head of this Bind.

        None when it has to go the general way.
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
        if packet is None or not self._may_insert(packet.placed.stream_name, image):
            return None
        views = image.chains_of(packet.placed.stream_name)
        settings = session.settings
        readers = field_readers(shape, packet.formats, settings)
        return KnownInsert(
            head, settings.captured(), packet.placed, packet.reply, views, settings.waits_for_log, readers, packet, name, prepared
        )  # fmt: skip

    def end(self, error: SqlError | None) -> bytes:
        """Return the reply to a packet that has waited for the log.

        error: the reason why the log has not taken the row.
        """
        messages = self._session.inbox.take()
        if error is None:
            return self._reply + messages + IDLE
        return writer.error_response(error) + self._told + messages + IDLE

    def _note(self, known: KnownInsert, data: bytes, is_again: bool) -> None:
        """Make the reply to the row that is being committed, and end everything that ends with a
        transaction.
        """
        session = self._session
        is_text = known.packet is None
        # Under the same image and settings the look at what the session may use is the same.
        session.begin_message(is_text, looks=not is_again)
        session.doing.packet = (data, known.placed.commit)
        if is_text:
            self._prepared.pop("", None)
        session.names.end_transaction(committed=True)
        if is_again:
            # No setting was changed since the packet before: none is to be kept or told.
            self._reply, self._told = known.reply, b""
            return
        session.settings.commit()
        changed = session.settings.changed_reports()
        self._told = b"".join(writer.parameter_status(name, value) for name, value in changed)
        self._reply = known.reply + self._told


def learn(data: bytes, head: bytes, shape: ParameterRow, settings: Settings) -> InsertPacket | None:
    """Take the packet apart properly.

    Return the packet to compare the next one with the same head with, None for a packet of another
    kind.
    """
    bind = plain_bind(data) if shape.fits_one_row and len(shape.packets) < PACKETS_KEPT_MAX else None
    if bind is None:
        return None
    messages = data[bind_end(data) :]
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


def bind_end(data: bytes) -> int:
    """Return where the first message ends."""
    return 1 + int.from_bytes(data[1:HEAD_OFFSET], "big")


def plain_bind(data: bytes) -> Bind | None:
    """Return the Bind of a packet that goes on with Execute and Sync, perhaps after Describe."""
    end = bind_end(data)
    execute = data[end:].removeprefix(DESCRIBE)
    if len(execute) != EXECUTE_SYNC_BYTES or not execute.startswith(EXECUTE) or not execute.endswith(SYNC):
        return None
    try:
        return read_bind(data, HEAD_OFFSET, end)
    except SqlError:
        return None


def field_readers(shape: ParameterRow, formats: Sequence[int], settings: Settings) -> Sequence[Reader]:
    """Return the readers of the values that no kernel reads."""
    reader = FieldReader(settings.time_zone, settings.input_styles)
    fields = zip(shape.target.columns, formats, shape.read, strict=True)
    return [reader.try_stored(column, bool(code)) for column, code, is_read in fields if is_read]


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
