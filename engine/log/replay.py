"""What the records of a log mean: which rows and which changes of the catalog count, in the order in which they were decided.

Enters: records in the order of the log. Leaves: calls of a `ReplayTarget`. A transaction counts at its COMMIT, at its only record, or at
its PREPARE if the file of the tables holds its number; what is never decided is never applied. What was decided before the checkpoint's
position is in the checkpoint; undecided transactions of that time are collected from before it. Must not know files, views or rings.
"""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, Protocol

from engine.log.kept_rows import KeptRows, RowsKeeper
from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, Record
from ringbuffer.pages.log_rows import ARRIVED_FORMS, JOINED_FORM, ROW_FORM, ROW_FORMS, ROWS_HEAD
from sql.errors import SqlError

log = logging.getLogger(__name__)

DAMAGED = "XX001"
# The payload of a COMMIT: how many records of rows the transaction has.
RECORDS_COUNT = struct.Struct("<I")


class LoggedRows(NamedTuple):
    """One record's rows, in the form of ringbuffer/pages/log_rows. now_us: the transaction's now(); columns_count: of the rows.

    arrival_us: when the transaction was decided; None: the rows' last column, which is not counted, is their arrival.
    """

    rows: memoryview
    now_us: int
    columns_count: int
    arrival_us: int | None


class ReplayTarget(Protocol):
    """Whom the effects of a log happen to."""

    def apply_rows(self, stream_oid: int, rows: Iterable[LoggedRows], views: Collection[int] | None) -> None:
        """Apply one statement's rows: to the views with these oids, or to all that are attached to the stream now (None).

        The stream or some of the views may have been dropped since. rows: to be gone through once, each of them only until the next.
        """

    def attach(self, oids: Sequence[int]) -> None:
        """Streams and views were created."""

    def detach(self, oids: Sequence[int]) -> None:
        """Streams and views were dropped."""

    def join(self, state_oid: int, probe: int, rows: bytes) -> None:
        """The view with this state joins its stream with these rows (`views.upkeep.join_tables.rows_to_bytes`) from here on."""

    def keep_newest(self, stream_oid: int, count: int) -> None:
        """A stream's ring was made anew with so many tuples; the older ones were gone from then on."""

    def finish(self) -> None:
        """The log has ended: whatever was put off is to be done now."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of one record of an undecided transaction."""

    stream_oid: int
    statement: int
    now_us: int
    columns_count: int
    has_arrival: bool
    kept: KeptRows


@dataclass(slots=True)
class OpenTransaction:
    """A transaction that is not decided yet. position, sequence: of its first record; damaged: records of it may be lost.

    joins: pieces of what views join with from then on, the oid of a state and the number of a probe in the places of stream and columns.
    """

    position: int
    sequence: int
    damaged: bool = False
    pieces: list[Piece] = field(default_factory=list)
    joins: list[Piece] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a PREPARE record says: streams and views created and dropped, the views that each statement met, how many records of rows.

    kept: (oid, tuples) of the streams whose rings were made anew: so many of their newest tuples were there after it.
    """

    created: tuple[int, ...]
    dropped: tuple[int, ...]
    views: tuple[tuple[int, ...], ...]
    records_count: int | None
    kept: tuple[tuple[int, int], ...] = ()


class Replay:
    """The state machine. Records come in with `take`, from the first one of the transactions that the checkpoint found undecided on.

    position: what was decided before it is ignored; sequence: of the first record that is due. committed_numbers: of the transactions that
    the file of the tables holds.
    """

    def __init__(
        self,
        target: ReplayTarget,
        committed_numbers: Container[int],
        position: int,
        sequence: int,
        keeper: RowsKeeper,
    ) -> None:
        self.highest_transaction = 0
        self.highest_sequence = sequence - 1
        self.newest_us = 0
        self.applied_count = 0
        self.lost: list[int] = []
        self._target = target
        self._committed_numbers = committed_numbers
        self._position = position
        self._keeper = keeper
        self._open: dict[int, OpenTransaction] = {}
        self._refused: set[int] = set()
        self._has_gap = False

    @property
    def open_count(self) -> int:
        """Transactions that are not decided yet."""
        return len(self._open)

    @property
    def oldest_open(self) -> tuple[int, int] | None:
        """Position and sequence number of the first record of an undecided transaction, if there is one."""
        return min(((one.position, one.sequence) for one in self._open.values()), default=None)

    def take(self, record: Record) -> None:
        """Take the next record. Raises SqlError XX001 when log and tables contradict each other, and OSError."""
        if record.sequence != self.highest_sequence + 1:
            self._begin_after_gap(record)
        self.highest_sequence = record.sequence
        self.highest_transaction = max(self.highest_transaction, record.transaction)
        self.newest_us = max(self.newest_us, record.time_us)
        counts = record.position >= self._position
        if record.kind == ROWS:
            self._take_rows(record, counts)
        elif record.kind == COMMIT:
            self._decide(record, None, counts)
        elif record.kind == PREPARE:
            self._decide(record, read_prepared(record), counts)
        else:
            assert record.kind == COMMITTED, record.kind
            self._check_committed(record)

    def finish(self) -> None:
        """The log has ended: what is still undecided will never be decided."""
        for number in list(self._open):
            self._close(number)
        self._target.finish()
        self._keeper.close()

    def _begin_after_gap(self, record: Record) -> None:
        """Records were given up on purpose: of the undecided transactions some may be missing."""
        log.warning("the log has no records from %d to %d", self.highest_sequence + 1, record.sequence - 1)
        self._has_gap = True
        for opened in self._open.values():
            opened.damaged = True

    def _take_rows(self, record: Record, counts: bool) -> None:
        stream_oid, form, columns_count, now_us = read_rows_head(record)
        if form not in (*ROW_FORMS, *ARRIVED_FORMS, JOINED_FORM):
            raise SqlError(
                DAMAGED,
                f"record {record.sequence} of the log has rows of form {form}; this server reads {ROW_FORM} to {ARRIVED_FORMS[-1]}",
            )
        rows = record.payload[ROWS_HEAD.size :]
        if record.commits:
            if counts:
                arrival_us = None if form in ARRIVED_FORMS else record.time_us
                self._target.apply_rows(stream_oid, (LoggedRows(rows, now_us, columns_count, arrival_us),), None)
                self.applied_count += 1
            return
        opened = self._open.get(record.transaction)
        if opened is None:
            opened = self._open[record.transaction] = OpenTransaction(record.position, record.sequence)
        kept = self._keeper.keep(rows)
        piece = Piece(stream_oid, record.statement, now_us, columns_count, form in ARRIVED_FORMS, kept)
        (opened.joins if form == JOINED_FORM else opened.pieces).append(piece)

    def _decide(self, record: Record, prepared: Prepared | None, counts: bool) -> None:
        number = record.transaction
        if prepared is not None and number not in self._committed_numbers:
            if counts:
                self._refused.add(number)
            self._close(number)
            return
        if counts:
            self._apply(record, prepared, self._is_whole(record, prepared))
        self._close(number)

    def _is_whole(self, record: Record, prepared: Prepared | None) -> bool:
        """Tell whether all rows of a transaction were read; with a gap in the log some may not have been."""
        opened = self._open.get(record.transaction)
        read_count = 0 if opened is None else len(opened.pieces) + len(opened.joins)
        written_count = read_records_count(record) if prepared is None else prepared.records_count
        if written_count is None:
            return opened is None or not opened.damaged
        if written_count != read_count and not self._has_gap:
            message = (
                f"transaction {record.transaction} of the log has {read_count} records of rows, not {written_count}"
            )
            raise SqlError(DAMAGED, message)
        return written_count == read_count

    def _apply(self, record: Record, prepared: Prepared | None, whole: bool) -> None:
        """Apply a transaction that counts, and that `record` decides: all of its rows, or none if some are lost."""
        number = record.transaction
        if prepared is not None and prepared.created:
            self._target.attach(prepared.created)
        if whole:
            opened = self._open.get(number)
            for (state_oid, probe), joins in groupby(() if opened is None else opened.joins, side_of):
                kept = b"".join(bytes(self._keeper.read(piece.kept)) for piece in joins)
                self._target.join(state_oid, probe, kept)
            for (stream_oid, statement), pieces in groupby(() if opened is None else opened.pieces, place_of):
                views = None
                if prepared is not None and statement < len(prepared.views):
                    views = prepared.views[statement]
                self._target.apply_rows(stream_oid, self._read(pieces, record.time_us), views)
            self.applied_count += 1
        else:
            log.warning("transaction %d is left out, since some of its rows are lost with skipped segments", number)
            self.lost.append(number)
        if prepared is not None:
            for stream_oid, count in prepared.kept:
                self._target.keep_newest(stream_oid, count)
            if prepared.dropped:
                self._target.detach(prepared.dropped)

    def _read(self, pieces: Iterable[Piece], arrival_us: int) -> Iterator[LoggedRows]:
        for piece in pieces:
            own_us = None if piece.has_arrival else arrival_us
            yield LoggedRows(self._keeper.read(piece.kept), piece.now_us, piece.columns_count, own_us)

    def _close(self, number: int) -> None:
        opened = self._open.pop(number, None)
        if opened is not None:
            for piece in (*opened.pieces, *opened.joins):
                self._keeper.forget(piece.kept)

    def _check_committed(self, record: Record) -> None:
        if record.transaction in self._refused:
            raise SqlError(
                DAMAGED,
                f"the log says that transaction {record.transaction} is committed, but the file of the tables does not have it",
                hint="The file of the tables is older than the log. Put back files of the same time.",
            )


def place_of(piece: Piece) -> tuple[int, int]:
    """Return the stream and the statement that a record's rows belong to."""
    return piece.stream_oid, piece.statement


def side_of(piece: Piece) -> tuple[int, int]:
    """Return the state and the probe whose build side a record is a piece of."""
    return piece.stream_oid, piece.columns_count


def read_rows_head(record: Record) -> tuple[int, int, int, int]:
    """Return the stream's oid, the rows' form, the number of columns and now() of a ROWS record. Raises SqlError XX001."""
    if len(record.payload) < ROWS_HEAD.size:
        raise SqlError(DAMAGED, f"record {record.sequence} of the log is too short for rows")
    stream_oid, form, columns_count, now_us = ROWS_HEAD.unpack_from(record.payload)
    return stream_oid, form, columns_count, now_us


def read_records_count(record: Record) -> int | None:
    """Return how many records of rows the transaction of a COMMIT record has, None when it does not say so."""
    if len(record.payload) < RECORDS_COUNT.size:
        return None
    (count,) = RECORDS_COUNT.unpack_from(record.payload)
    return int(count)


def read_prepared(record: Record) -> Prepared:
    """Return what a PREPARE record says. Raises SqlError XX001."""
    try:
        told = json.loads(bytes(record.payload))
        return Prepared(
            tuple(int(oid) for oid in told.get("created", ())),
            tuple(int(oid) for oid in told.get("dropped", ())),
            tuple(tuple(int(oid) for oid in oids) for oids in told.get("views", ())),
            told.get("records"),
            tuple((int(oid), int(count)) for oid, count in told.get("kept", ())),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise SqlError(
            DAMAGED, f"record {record.sequence} of the log prepares something unreadable: {error}"
        ) from error
