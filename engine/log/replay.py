"""The meaning of the records of a log: which rows and changes of the catalog count, in order of
decision.

Enters: records in the order of the log. Leaves: calls of a `ReplayTarget`. A transaction counts at
its COMMIT, at its only record, or at its PREPARE if the file of the tables holds its number; a
transaction that is never decided is never applied. The checkpoint has what was decided before its
position; transactions that were undecided there are collected from before it. Must not know files,
views or rings.
"""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, Protocol

from engine.log.batches import Batch, Batches
from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, Record
from engine.log.undecided_rows import UndecidedRows, UndecidedRowsStore
from ringbuffer.pages.log_rows import ARRIVED_FORMS, GROUPS_FORM, JOINED_FORM, ROW_FORM, ROW_FORMS, ROWS_HEAD
from sql.errors import SqlError

log = logging.getLogger(__name__)

DAMAGED = "XX001"
# The payload of a COMMIT: how many records of rows the transaction has; its batch, if it has one.
RECORDS_COUNT = struct.Struct("<I")


class LoggedRows(NamedTuple):
    """The rows of one record, in the form of ringbuffer/pages/log_rows.

    Attributes:
        now_us: now() of the transaction.
        columns_count: how many columns the rows have.
        arrival_us: when the transaction was decided; None: the last column of the rows, which is
            not counted, is their arrival.
    """

    rows: memoryview
    now_us: int
    columns_count: int
    arrival_us: int | None


class ReplayTarget(Protocol):
    """The streams and views on which a replay has its effects."""

    def apply_rows(self, stream_oid: int, rows: Iterable[LoggedRows], views: Collection[int] | None) -> None:
        """Apply the rows of one statement to the views with these oids; None: to all attached
        views.

        The stream or some of the views may have been dropped since. rows: iterated once; each is
        valid until the next.
        """

    def attach(self, oids: Sequence[int]) -> None:
        """Attach streams and views that were created."""

    def detach(self, oids: Sequence[int]) -> None:
        """Detach streams and views that were dropped."""

    def join(self, state_oid: int, probe: int, rows: bytes) -> None:
        """Let the view with this state join its stream with these rows from here on.

        rows: from `views.upkeep.join_tables.rows_to_bytes`.
        """

    def begin(self, state_oid: int, groups: Iterable[memoryview]) -> None:
        """Let a state that was created begin with groups, in the pieces of
        `engine.commit.begun_states`.
        """

    def keep_newest(self, stream_oid: int, count: int) -> None:
        """Forget all but the newest `count` tuples of a stream, whose ring was made anew."""

    def finish(self) -> None:
        """Do what was put off: the log has ended."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows of one record of an undecided transaction."""

    stream_oid: int
    statement: int
    now_us: int
    columns_count: int
    has_arrival: bool
    kept: UndecidedRows


@dataclass(slots=True)
class OpenTransaction:
    """A transaction that is not decided yet.

    Attributes:
        position, sequence: of its first record.
        damaged: true if records of it may be lost.
        joins: pieces of the rows that views join with; in these the oid of a state and the number
            of a probe stand in the places of stream and number of columns.
        groups: pieces of what states begin with, with the oid of the state.
    """

    position: int
    sequence: int
    damaged: bool = False
    pieces: list[Piece] = field(default_factory=list)
    joins: list[Piece] = field(default_factory=list)
    groups: list[Piece] = field(default_factory=list)

    @property
    def all_pieces(self) -> list[Piece]:
        """The records of all kinds."""
        return [*self.pieces, *self.joins, *self.groups]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The contents of a PREPARE record.

    Attributes:
        created, dropped: streams and views.
        views: the views that each statement met.
        records_count: how many records of rows the transaction has.
        kept: (oid, tuples) of the streams whose rings were made anew: how many of their newest
            tuples stay.
        batch: of the transaction, as digits.
    """

    created: tuple[int, ...]
    dropped: tuple[int, ...]
    views: tuple[tuple[int, ...], ...]
    records_count: int | None
    kept: tuple[tuple[int, int], ...] = ()
    batch: str = ""


class Replay:
    """The state machine of a replay, which `take` gives one record after the other.

    The first record is that of the oldest transaction that was undecided at the checkpoint.

    Arguments:
        position: what was decided before it is ignored.
        sequence: number of the first record that is due.
        committed_numbers: the transactions that the file of the tables holds.
        batches: those of the checkpoint; the replay adds what it applies.
    """

    def __init__(
        self,
        target: ReplayTarget,
        committed_numbers: Container[int],
        position: int,
        sequence: int,
        keeper: UndecidedRowsStore,
        batches: Batches,
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
        self._batches = batches
        self._open: dict[int, OpenTransaction] = {}
        self._refused: set[int] = set()
        self._has_gap = False

    @property
    def open_count(self) -> int:
        """How many transactions are not decided yet."""
        return len(self._open)

    @property
    def oldest_open(self) -> tuple[int, int] | None:
        """Position and number of the first record of an undecided transaction, None without any."""
        return min(((one.position, one.sequence) for one in self._open.values()), default=None)

    def take(self, record: Record) -> None:
        """Take the next record.

        Raises SqlError XX001 when log and tables contradict each other, and OSError.
        """
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
        """Forget the undecided transactions, which will never be decided: the log has ended."""
        for number in list(self._open):
            self._close(number)
        self._target.finish()
        self._keeper.close()

    def _begin_after_gap(self, record: Record) -> None:
        """Go on after records that were given up: undecided transactions may have lost some of
        them.
        """
        log.warning("the log has no records from %d to %d", self.highest_sequence + 1, record.sequence - 1)
        self._has_gap = True
        for opened in self._open.values():
            opened.damaged = True

    def _take_rows(self, record: Record, counts: bool) -> None:
        stream_oid, form, columns_count, now_us = read_rows_head(record)
        if form not in (*ROW_FORMS, *ARRIVED_FORMS, JOINED_FORM, GROUPS_FORM):
            raise SqlError(
                DAMAGED,
                f"record {record.sequence} of the log has rows of form {form}; this server reads {ROW_FORM} to {GROUPS_FORM}",
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
        {JOINED_FORM: opened.joins, GROUPS_FORM: opened.groups}.get(form, opened.pieces).append(piece)

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
        """Tell whether all rows of a transaction were read, in spite of gaps in the log."""
        opened = self._open.get(record.transaction)
        read_count = 0 if opened is None else len(opened.all_pieces)
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
        """Apply a transaction that counts, decided by `record`: all of its rows, or none if some
        are lost.
        """
        number = record.transaction
        if prepared is not None and prepared.created:
            self._target.attach(prepared.created)
        if whole:
            opened = self._open.get(number)
            for state_oid, groups in groupby(() if opened is None else opened.groups, lambda piece: piece.stream_oid):
                self._target.begin(state_oid, (self._keeper.read(piece.kept) for piece in groups))
            for (state_oid, probe), joins in groupby(() if opened is None else opened.joins, side_of):
                kept = b"".join(bytes(self._keeper.read(piece.kept)) for piece in joins)
                self._target.join(state_oid, probe, kept)
            for (stream_oid, statement), pieces in groupby(() if opened is None else opened.pieces, place_of):
                views = None
                if prepared is not None and statement < len(prepared.views):
                    views = prepared.views[statement]
                self._target.apply_rows(stream_oid, self._read(pieces, record.time_us), views)
            batch = read_batch(record, prepared)
            if batch is not None:
                self._batches.note(batch, record.time_us)
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
            for piece in opened.all_pieces:
                self._keeper.forget(piece.kept)

    def _check_committed(self, record: Record) -> None:
        if record.transaction in self._refused:
            raise SqlError(
                DAMAGED,
                f"the log says that transaction {record.transaction} is committed, but the file of the tables does not have it",
                hint="The file of the tables is older than the log. Put back files of the same time.",
            )


def place_of(piece: Piece) -> tuple[int, int]:
    """Return the stream and the statement of a record of rows."""
    return piece.stream_oid, piece.statement


def side_of(piece: Piece) -> tuple[int, int]:
    """Return the state and the probe of a record with rows of a build side."""
    return piece.stream_oid, piece.columns_count


def read_rows_head(record: Record) -> tuple[int, int, int, int]:
    """Return the stream's oid, the rows' form, the number of columns and now() of a ROWS record.

    Raises SqlError XX001.
    """
    if len(record.payload) < ROWS_HEAD.size:
        raise SqlError(DAMAGED, f"record {record.sequence} of the log is too short for rows")
    stream_oid, form, columns_count, now_us = ROWS_HEAD.unpack_from(record.payload)
    return stream_oid, form, columns_count, now_us


def read_records_count(record: Record) -> int | None:
    """Return how many records of rows the transaction of a COMMIT record has.

    None if it does not say.
    """
    if len(record.payload) < RECORDS_COUNT.size:
        return None
    (count,) = RECORDS_COUNT.unpack_from(record.payload)
    return int(count)


def read_batch(record: Record, prepared: Prepared | None) -> Batch | None:
    """Return the batch that a record decides, None without one. Raises SqlError XX001."""
    try:
        told = bytes(record.payload[RECORDS_COUNT.size :]) if prepared is None else bytes.fromhex(prepared.batch)
        return Batch.from_bytes(told) if told else None
    except ValueError as error:
        raise SqlError(DAMAGED, f"record {record.sequence} of the log has an unreadable batch: {error}") from error


def read_prepared(record: Record) -> Prepared:
    """Return the contents of a PREPARE record. Raises SqlError XX001."""
    try:
        told = json.loads(bytes(record.payload))
        return Prepared(
            tuple(int(oid) for oid in told.get("created", ())),
            tuple(int(oid) for oid in told.get("dropped", ())),
            tuple(tuple(int(oid) for oid in oids) for oids in told.get("views", ())),
            told.get("records"),
            tuple((int(oid), int(count)) for oid, count in told.get("kept", ())),
            str(told.get("batch", "")),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise SqlError(
            DAMAGED, f"record {record.sequence} of the log prepares something unreadable: {error}"
        ) from error
