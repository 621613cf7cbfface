"""Reads that are answered at once on the event loop: repeated ones, from encoded answers that still
hold, and those of a view's groups by key.

Enters: whole reads of the socket, portals, texts. Leaves: the reply; None or False when nothing was
done, and the general way takes it, which also knows all errors. Must not know sockets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import ref

from engine.catalog.per_image import nothing
from engine.execution.names import Names
from engine.execution.outcome import encode, expand, row_description
from engine.execution.prepared import Portal, Prepared, parameter
from engine.execution.reading import answer_key
from engine.execution.shapes import Shaped, Shapes, Values, packets_like
from engine.scans.answer_cache import KeptAnswer
from engine.scans.point_reads import INTEGERS, PointRead, point_read
from engine.scans.table_rows import QuickRow
from ringbuffer.encode.output_forms import Forms
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse.statements.declaration import Statement
from sql.parse.statements.select import Select
from sql.tree.expressions import Literal, Parameter
from sql.tree.relations import BoundQuery
from sql.types.datatypes import SqlType
from sql.wire import writer
from sql.wire.packets import DESCRIBE, EXECUTE, HEAD_OFFSET, NO_LIMIT, QUERY, SYNC, query_text
from sql.wire.reader import read_bind
from views.upkeep.export.one_group import BINARY_FORMAT, INTEGER_BYTES, HeldUpError, UnreadableError
from views.upkeep.point_reads import FOUND_BYTES_MAX, QuickRead

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.sessions.session import Session

# What may stand after a statement and is no part of its text.
AFTER = "; \t\r\n\f"
EXECUTE_ALL_SYNC = EXECUTE + NO_LIMIT + SYNC
IDLE = writer.READY_FOR_QUERY["I"]
ONE_ROW, NO_ROW = writer.command_complete("SELECT 1"), writer.command_complete("SELECT 0")
# Choices of result formats of one statement.
FORMATS_KEPT_MAX = 8
INTEGER = re.compile(rb"-?[0-9]{1,19}")
# Less than INTEGER takes.
DIGITS_SURE = 19


@dataclass(frozen=True, eq=False)
class KnownRead:
    """A prepared read by key, for one choice of result formats.

    Attributes:
        sought: for each key its type and the parameter or constant that it is equal to.
        quick: reads one row; None where arrays do.
        formats: of the columns.
        description: RowDescription.
    """

    bound: BoundQuery
    read: PointRead
    sought: tuple[tuple[SqlType, Parameter | Literal], ...]
    quick: QuickRead | QuickRow | None
    formats: Sequence[int]
    description: bytes


@dataclass(frozen=True, slots=True)
class ReadPacket:
    """A packet that was a read: while the settings and the image of the catalog stay, the next one
    like it needs comparisons alone.

    Attributes:
        head: the bytes after the first length up to the values.
        captured: the settings.
        values: returns the values of the parameters in a packet, None where that is not like this.
        name: of the statement that a Bind is for; None of a text.
        known: how its rows are read by key; None: they are a kept answer.
        kept: this answer; the cache lets go of it.
        formats: of the parameters.
        reply: what goes before the rows.
    """

    head: bytes
    captured: SessionSettings
    values: Values
    name: str | None
    prepared: Prepared | None
    known: KnownRead | None
    kept: Callable[[], KeptAnswer | None]
    formats: Sequence[int]
    reply: bytes


# A statement, the values of its parameters, and how it is bound.
Plan = tuple[Statement, tuple[Literal, ...], Prepared]


class ReadsAtOnce:
    """The reads of one session that are answered at once."""

    def __init__(self, session: Session, names: Names) -> None:
        self._session = session
        self._server = session.server
        self._statements: dict[str, Prepared] = names.statements
        self.shapes = Shapes(session.settings, names)
        # The text that was looked at last, with its shape.
        self._shaped: tuple[str, Shaped | None] = ("", None)

    def answer(self, data: bytes, image: CatalogImage) -> tuple[bytes, ReadPacket] | None:
        """Do a whole read of the socket, if it is one read that is answered at once: return the
        reply, and what is known of packets like this one.

        The caller, `RowInserts.answer`, has seen that the session is free.
        """
        session, is_query = self._session, data[0] == QUERY
        if is_query:
            session.identity.look()
        packet = self._look_up_text(data, image) if is_query else self._look_up(data, image)
        rows = None if packet is None else self._rows_of(packet, data, image)
        if packet is None or rows is None:
            return None
        self._note(packet, data, looks=True)
        session.settings.commit()
        changed = session.settings.changed_reports()
        told = b"".join(writer.parameter_status(name, value) for name, value in changed)
        return packet.reply + rows + told + session.inbox.take() + IDLE, packet

    def again(self, packet: ReadPacket, data: bytes, image: CatalogImage) -> bytes | None:
        """Return the reply to a packet that begins as one that was a read, under the same image and
        settings.

        The look at what the session may read is the same then, and no setting is to be kept or
        told.
        """
        rows = self._rows_of(packet, data, image)
        if rows is None:
            return None
        self._note(packet, data, looks=False)
        return b"".join((packet.reply, rows, self._session.inbox.take(), IDLE))

    def _rows_of(self, packet: ReadPacket, data: bytes, image: CatalogImage) -> bytes | None:
        values = packet.values(data)
        if values is None:
            return None
        if packet.known is None or packet.prepared is None:
            answer = packet.kept()
            return answer.data if answer is not None and answer.holds(image) else None
        return self._rows(packet.known, values, packet.formats, packet.prepared)

    def _note(self, packet: ReadPacket, data: bytes, looks: bool) -> None:
        """Begin and end the transaction of a packet that is answered."""
        session, is_text = self._session, packet.name is None
        session.begin_message(is_text, looks)
        if packet.prepared is None or is_text:
            session.doing.begin(data[HEAD_OFFSET:-1].decode())
            session.names.drop_unnamed()
        else:
            session.doing.begin(packet.prepared.shown_text)
        session.names.end_transaction(committed=True)

    def find_portal(self, portal: Portal, row_limit: int, image: CatalogImage) -> bytes | None:
        """Return the reply to an Execute."""
        prepared, session = portal.prepared, self._session
        # SQL can move in a portal with a name.
        if row_limit or portal.message.portal or not prepared.text or session.connection.encoding.converts:
            return None
        if not prepared.parameter_types:
            formats = tuple(expand(portal.result_formats, len(prepared.schema or ())))
            kept = self._kept(answer_key(prepared.text, formats, session.settings, described=True), image)
            if kept is not None:
                return kept
        known = self._known(prepared, portal.result_formats, image)
        if known is None or not session.identity.may_run(known.bound, image):
            return None
        values = list(portal.message.parameters())
        return self._rows(known, values, expand(portal.message.parameter_formats, len(values)), prepared)

    def find_text(self, text: str, image: CatalogImage) -> bytes | None:
        """Return the reply to the whole text of a Query."""
        self._shaped = text, None
        kept = self._kept(answer_key(text.rstrip(AFTER), (), self._session.settings, described=False), image)
        found = self._by_key(text, image) if kept is None else None
        if found is None:
            return kept
        shaped, known = found
        rows = self._rows(known, shaped.values, (0,) * len(shaped.values), shaped.prepared)
        return None if rows is None else known.description + rows

    def plan(self, text: str) -> Plan | None:
        """Return the statement of a text that `find_text` has looked at, with its values, None:
        the text is to be parsed.
        """
        looked_at, shaped = self._shaped
        values = None if looked_at is not text or shaped is None else shaped.literals(self._session.settings)
        if shaped is None or values is None:
            return None
        return replace(shaped.prepared.statement, text=text.rstrip(AFTER)), values, shaped.prepared

    def _kept(self, key: object, image: CatalogImage) -> bytes | None:
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

    def _by_key(self, text: str, image: CatalogImage) -> tuple[Shaped, KnownRead] | None:
        """Return how a text is read that is a read by key of a known shape."""
        shaped = self.shapes.find(text, image)
        self._shaped = text, shaped
        known = None if shaped is None else self._known(shaped.prepared, (), image)
        if shaped is None or known is None or not self._session.identity.may_run(known.bound, image):
            return None
        return shaped, known

    def _known(self, prepared: Prepared, formats: Sequence[int], image: CatalogImage) -> KnownRead | None:
        """Return how a statement is read, None: the general way reads it."""
        session = self._session
        if (
            session.block.open is not None
            or session.connection.encoding.converts
            or session.settings.is_serializable
            or not isinstance(prepared.statement, Select)
        ):
            return None
        if not prepared.is_bound_to(image, session.settings):
            return None
        kept: dict[tuple[int, ...], KnownRead | None] | None = prepared.keyed_reads.find(image)
        if kept is None:
            kept = prepared.keyed_reads.keep(image, {})
        codes = tuple(formats)
        if codes in kept:
            return kept[codes]
        if len(kept) >= FORMATS_KEPT_MAX:
            return None
        read = point_read(prepared.bound, image) if isinstance(prepared.bound, BoundQuery) else None
        kept[codes] = None if read is None else self._made(prepared, read, codes)
        return kept[codes]

    def _made(self, prepared: Prepared, read: PointRead, formats: tuple[int, ...]) -> KnownRead | None:
        bound, schema = prepared.bound, prepared.schema
        assert isinstance(bound, BoundQuery) and schema is not None
        if len(formats) > 1 and len(formats) != len(schema):
            return None
        codes = expand(formats, len(schema))
        sought = tuple((key.type, key.values[0]) for key in read.keys if len(key.values) == 1 and not key.is_array)
        quick = None
        if len(sought) == len(read.keys):
            with suppress(UnreadableError):
                quick = self._server.engines.points.quick(read, codes, Forms(*self._session.settings.shown))
        return KnownRead(bound, read, sought, quick, codes, row_description(schema, formats))

    def _look_up_text(self, data: bytes, image: CatalogImage) -> ReadPacket | None:
        """Return what is known of a packet that is one Query, None: it is none of ours."""
        settings = self._session.settings
        given = query_text(data, settings.is_conforming)
        if given is None:
            return None
        text, head, values = given.decode(), data[HEAD_OFFSET:], same_as(data)
        key = answer_key(text.rstrip(AFTER), (), settings, described=False)
        answer = self._server.engines.answers.holding(key, image)
        if answer is not None:
            return ReadPacket(head, settings.captured(), values, None, None, None, ref(answer), (), b"")
        found = self._by_key(text, image)
        if found is None:
            return None
        shaped, known = found
        if shaped.values:
            head, values = packets_like(text)
        formats = (0,) * len(shaped.values)
        return ReadPacket(
            head, settings.captured(), values, None, shaped.prepared, known, nothing, formats, known.description
        )

    def _look_up(self, data: bytes, image: CatalogImage) -> ReadPacket | None:
        """Take a packet apart, None: it is none of ours."""
        bind_end = 1 + int.from_bytes(data[1:HEAD_OFFSET], "big")
        messages = data[bind_end:]
        described = messages.startswith(DESCRIBE)
        if messages.removeprefix(DESCRIBE) != EXECUTE_ALL_SYNC or data[HEAD_OFFSET] != 0:
            return None
        try:
            message = read_bind(data, HEAD_OFFSET, bind_end)
        except SqlError:
            return None
        prepared = self._statements.get(message.statement)
        if prepared is None or message.parameters_count != len(prepared.parameter_types):
            return None
        if len(message.parameter_formats) not in (0, 1, message.parameters_count):
            return None
        settings, known = self._session.settings, self._known(prepared, message.result_formats, image)
        answer = self._kept_answer(prepared, message.result_formats, image) if known is None else None
        if known is None and answer is None:
            return None
        # The settings are part of the key of a kept answer.
        if known is not None and not self._session.identity.may_run(known.bound, image):
            return None
        start = message.parameters_offset
        bind_bytes = 2 + 2 * len(message.result_formats)
        reply = writer.BIND_COMPLETE
        if described:
            assert prepared.schema is not None
            reply += row_description(prepared.schema, message.result_formats)
        formats = tuple(expand(message.parameter_formats, message.parameters_count))
        head, values = data[HEAD_OFFSET:start], same_as(data)
        if formats:
            values = values_after(len(head), len(formats), data[bind_end - bind_bytes :], bind_bytes)
        kept = nothing if answer is None else ref(answer)
        return ReadPacket(head, settings.captured(), values, message.statement, prepared, known, kept, formats, reply)

    def _kept_answer(self, prepared: Prepared, formats: Sequence[int], image: CatalogImage) -> KeptAnswer | None:
        """Return the kept answer to a statement, None where there is none that holds."""
        session, schema = self._session, prepared.schema
        if prepared.parameter_types or schema is None or len(formats) not in (0, 1, len(schema)):
            return None
        if session.connection.encoding.converts or not prepared.is_bound_to(image, session.settings):
            return None
        key = answer_key(prepared.text, tuple(expand(formats, len(schema))), session.settings, described=True)
        return self._server.engines.answers.holding(key, image)

    def _rows(
        self, known: KnownRead, values: Sequence[bytes | None], formats: Sequence[int], prepared: Prepared
    ) -> bytes | None:
        """Return the DataRow messages and CommandComplete of a read that the session may do.

        values, formats: of the parameters.
        """
        try:
            if known.quick is not None:
                return one_row(known, known.quick, values, formats, prepared.parameter_types)
        except HeldUpError:
            return None
        except UnreadableError:
            pass
        return self._by_arrays(known, values, formats, prepared)

    def _by_arrays(
        self, known: KnownRead, values: Sequence[bytes | None], formats: Sequence[int], prepared: Prepared
    ) -> bytes | None:
        """Return the rows of a read of some keys, or of values that arrays encode."""
        settings, schema = self._session.settings, prepared.schema
        given = zip(values, prepared.parameter_types, formats, strict=True)
        try:
            literals = [parameter(prepared, *one, settings, number) for number, one in enumerate(given, 1)]
            rows = self._server.engines.points.rows(known.read, literals, self._server.clock.now_us())
        except SqlError:
            return None
        if rows is None or rows.nbytes > FOUND_BYTES_MAX or schema is None:
            return None
        data, _ = encode(rows, schema, known.formats, Forms(*settings.shown))
        return data + writer.command_complete(f"SELECT {rows.num_rows}")


def one_row(
    known: KnownRead,
    quick: QuickRead | QuickRow,
    values: Sequence[bytes | None],
    formats: Sequence[int],
    types: Sequence[SqlType],
) -> bytes:
    """Return DataRow, if there is one, and CommandComplete. Raises UnreadableError."""
    key: list[int | bytes] = []
    is_possible_key = True
    for kind, one in known.sought:
        if isinstance(one, Parameter):
            place = one.number - 1
            value = read_value(values[place], types[place], formats[place])
        else:
            value = constant_of(one)
        if value is None or (isinstance(value, int) and not -INTEGERS[kind.family] <= value < INTEGERS[kind.family]):
            is_possible_key = False
        else:
            key.append(value)
    row = quick.data_row(key) if is_possible_key else None
    return NO_ROW if row is None else row + ONE_ROW


def same_as(packet: bytes) -> Values:
    """Return what knows this packet alone, which has no values."""
    return lambda data: () if data == packet else None


def values_after(head_bytes: int, count: int, tail: bytes, bind_bytes: int) -> Values:
    """Return what finds the values of a Bind between a known head and a known tail, of which
    `bind_bytes` are Bind's.
    """

    def values(data: bytes) -> Sequence[bytes | None] | None:
        found: list[bytes | None] = []
        at = HEAD_OFFSET + head_bytes
        for _ in range(count):
            length = int.from_bytes(data[at : at + 4], "big", signed=True)
            at += 4
            if length < -1:
                return None
            found.append(None if length < 0 else data[at : at + length])
            at += max(length, 0)
        is_known = data[at:] == tail and int.from_bytes(data[1:HEAD_OFFSET], "big") == at + bind_bytes - 1
        return found if is_known else None

    return values


def read_value(value: bytes | None, kind: SqlType, format_code: int) -> int | bytes | None:
    """Return the value of a parameter. Raises UnreadableError where the general way has to."""
    if value is None:
        return None
    if kind.family in INTEGERS:
        if format_code == BINARY_FORMAT:
            if len(value) == INTEGER_BYTES[kind.family]:
                return int.from_bytes(value, "big", signed=True)
        elif (value.isdigit() and len(value) < DIGITS_SURE) or INTEGER.fullmatch(value):
            number = int(value)
            if -INTEGERS[kind.family] <= number < INTEGERS[kind.family]:
                return number
        raise UnreadableError
    if kind.family not in ("text", "varchar") or kind.length is not None or 0 in value:
        raise UnreadableError
    try:
        value.decode()
    except UnicodeDecodeError:
        raise UnreadableError from None
    return value


def constant_of(literal: Literal) -> int | bytes | None:
    """Return the value of a constant of an integer or a text."""
    value = literal.value
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        raise UnreadableError
    return value.encode()
