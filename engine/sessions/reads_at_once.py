"""Reads that are answered at once on the event loop: repeated ones, from encoded answers that still
hold, and those of a view's groups by key.

Enters: whole reads of the socket, portals, texts. Leaves: the reply; None or False when nothing was
done, and the general way takes it, which also knows all errors. Must not know sockets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.catalog.per_image import PerImage
from engine.execution.names import Names
from engine.execution.outcome import encode, expand, row_description
from engine.execution.prepared import Portal, Prepared, parameter
from engine.execution.reading import answer_key
from engine.execution.shapes import Shaped, Shapes
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
    """A packet that was taken apart: the next one of its statement needs comparisons alone.

    Attributes:
        head: the bytes from the name of the portal to before the values.
        tail: the bytes after the values, of which `bind_bytes` are Bind's.
        known: how its rows are read by key; None: they are a kept answer, whose key is `kept`.
        formats: of the parameters.
        captured: the settings.
        reply: what goes before the rows.
    """

    head: bytes
    tail: bytes
    bind_bytes: int
    name: str
    prepared: Prepared
    known: KnownRead | None
    kept: object
    formats: tuple[int, ...]
    captured: SessionSettings
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
        self._packet: PerImage[ReadPacket] = PerImage()

    def is_like_last(self, data: bytes) -> bool:
        """Tell whether a packet begins as the last one that was a read. Cheap."""
        packet = self._packet.find(self._server.catalog.image)
        return packet is not None and data.startswith(packet.head, HEAD_OFFSET)

    def answer(self, data: bytes) -> bytes | bool:
        """Do a whole read of the socket, if it is one read that is answered at once; see
        PacketsProtocol.

        The caller, `RowInserts.answer`, has seen that the session is free.
        """
        if data[0] != QUERY:
            reply = self._answer_bind(data)
            return False if reply is None else reply
        reply = self._answer_query(data)
        if reply is None:
            return False
        self._session.names.drop_unnamed()
        return self._ended(reply)

    def _ended(self, reply: bytes) -> bytes:
        """Return a reply with what follows it, after everything that ends with a transaction has
        ended.
        """
        session = self._session
        session.names.end_transaction(committed=True)
        session.settings.commit()
        changed = session.settings.changed_reports()
        told = b"".join(writer.parameter_status(name, value) for name, value in changed)
        return reply + told + session.inbox.take() + IDLE

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
        settings = self._session.settings
        self._shaped = text, None
        kept = self._kept(answer_key(text.rstrip(AFTER), (), settings, described=False), image)
        if kept is None:
            self._shaped = text, self.shapes.find(text, image)
            return self._by_key(image)
        return kept

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

    def _by_key(self, image: CatalogImage) -> bytes | None:
        """Return the reply to a text that is a read by key of a known shape."""
        _, shaped = self._shaped
        known = None if shaped is None else self._known(shaped.prepared, (), image)
        if shaped is None or known is None or not self._session.identity.may_run(known.bound, image):
            return None
        rows = self._rows(known, shaped.values, (0,) * len(shaped.values), shaped.prepared)
        return None if rows is None else known.description + rows

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
        if read is not None and not self._server.engines.points.is_loaded:
            # The general way loads the kernels.
            return None
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

    def _answer_query(self, data: bytes) -> bytes | None:
        session = self._session
        text = query_text(data, session.settings.is_conforming)
        if text is None:
            return None
        found = text.decode()
        session.identity.look()
        reply = self.find_text(found, self._server.catalog.image)
        if reply is not None:
            session.begin_message(simple=True)
            session.doing.begin(found)
        return reply

    def _answer_bind(self, data: bytes) -> bytes | None:
        image, session = self._server.catalog.image, self._session
        packet = self._packet.find(image)
        values = None
        if packet is not None and packet.captured is session.settings.captured():
            values = values_of(data, packet) if packet.prepared is self._statements.get(packet.name) else None
        # Under the same image and settings the look at what the session may read is the same, and
        # no setting is to be kept or told.
        is_again = values is not None
        if packet is None or values is None:
            packet = self._look_up(data, image)
            values = None if packet is None else values_of(data, packet)
            if packet is None or values is None or not self._may_run(packet, image):
                self._packet.forget()
                return None
            self._packet.keep(image, packet)
        if packet.known is None:
            rows = self._server.engines.answers.find(packet.kept, image, None)
        else:
            rows = self._rows(packet.known, values, packet.formats, packet.prepared)
        if rows is None:
            return None
        session.begin_message(simple=False, looks=not is_again)
        session.doing.begin(packet.prepared.shown_text)
        if not is_again:
            return self._ended(packet.reply + rows)
        session.names.end_transaction(committed=True)
        return packet.reply + rows + session.inbox.take() + IDLE

    def _may_run(self, packet: ReadPacket, image: CatalogImage) -> bool:
        # The settings are part of the key of a kept answer.
        return packet.known is None or self._session.identity.may_run(packet.known.bound, image)

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
        known = self._known(prepared, message.result_formats, image)
        kept = self._kept_key(prepared, message.result_formats, image) if known is None else None
        if known is None and kept is None:
            return None
        start = message.parameters_offset
        bind_bytes = 2 + 2 * len(message.result_formats)
        reply = writer.BIND_COMPLETE
        if described:
            assert prepared.schema is not None
            reply += row_description(prepared.schema, message.result_formats)
        formats = tuple(expand(message.parameter_formats, message.parameters_count))
        captured = self._session.settings.captured()
        return ReadPacket(
            data[HEAD_OFFSET:start], data[bind_end - bind_bytes :], bind_bytes, message.statement, prepared, known,
            kept, formats, captured, reply,
        )  # fmt: skip

    def _kept_key(self, prepared: Prepared, formats: Sequence[int], image: CatalogImage) -> object | None:
        """Return the key of the kept answer to a statement, None where there is none that holds."""
        session, schema = self._session, prepared.schema
        if prepared.parameter_types or schema is None or len(formats) not in (0, 1, len(schema)):
            return None
        if session.connection.encoding.converts or not prepared.is_bound_to(image, session.settings):
            return None
        key = answer_key(prepared.text, tuple(expand(formats, len(schema))), session.settings, described=True)
        return key if self._server.engines.answers.find(key, image, None) is not None else None

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
    fields = quick.fields(key) if is_possible_key else None
    return NO_ROW if fields is None else writer.data_row(fields) + ONE_ROW


def values_of(data: bytes, packet: ReadPacket) -> list[bytes | None] | None:
    """Return the values of the parameters, None where the rest is not that of the known packet."""
    if not data.startswith(packet.head, HEAD_OFFSET):
        return None
    values: list[bytes | None] = []
    at = HEAD_OFFSET + len(packet.head)
    for _ in packet.formats:
        length = int.from_bytes(data[at : at + 4], "big", signed=True)
        at += 4
        if length < -1:
            return None
        values.append(None if length < 0 else data[at : at + length])
        at += max(length, 0)
    is_known = data[at:] == packet.tail and int.from_bytes(data[1:HEAD_OFFSET], "big") == at + packet.bind_bytes - 1
    return values if is_known else None


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
