"""The contents of the files of a log, as far as they can be read, for `antumbra recover`.

Enters: the folder of a log that no server has open. Leaves: a report per file, in order, and the
traces of transactions with several records, which may lie in several files. The inspection goes on
after damage, where the start of a server stops. Must not change or repair anything.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, Record, later_records, record_at
from engine.log.replay import read_prepared, read_rows_head
from engine.log.segments import (
    FIRST_SEQUENCE,
    SKIPPED_SUFFIX,
    SUFFIX,
    CorruptLogError,
    Gap,
    Segment,
    is_blank,
    load_segment,
    number_of,
    parts_of,
    read_gap,
)
from engine.storage.storage import Storage
from ringbuffer.pages.log_rows import ARRIVED_FORMS, COUNTS, ROW_FORMS, ROWS_HEAD, rows_count_of
from sql.errors import SqlError


@dataclass
class Content:
    """A set of records.

    Attributes:
        records_count: how many they are.
        singles_count: transactions with one record.
        several: the numbers of the other transactions.
        lowest, highest: the lowest and highest number of all transactions.
        rows: rows of each stream by oid, committed or not.
        single_rows: rows of the transactions with one record.
        created: oids of streams and views.
    """

    records_count: int = 0
    singles_count: int = 0
    several: set[int] = field(default_factory=set)
    lowest: int = 0
    highest: int = 0
    rows: Counter[int] = field(default_factory=Counter)
    single_rows: Counter[int] = field(default_factory=Counter)
    created: list[int] = field(default_factory=list)

    @property
    def transactions_count(self) -> int:
        """How many transactions have a record in the set."""
        return self.singles_count + len(self.several)


@dataclass
class Trace:
    """A transaction with several records.

    Attributes:
        pieces: (record, stream, rows).
        decided: the record that decides it, None when no such record can be read.
        prepared: true if the tables decide whether it was committed.
        confirmed: true if the log says that the tables have committed it.
    """

    pieces: list[tuple[int, int, int]] = field(default_factory=list)
    decided: int | None = None
    prepared: bool = False
    confirmed: bool = False


@dataclass(frozen=True)
class Damage:
    """A place where a file can't be read.

    Attributes:
        first: the record that should be there.
        after: the records after it that verify all the same.
    """

    offset: int
    first: int
    reason: str
    after: Content


@dataclass
class FileReport:
    """A file of the log, or one that is missing.

    Attributes:
        first: number of its first record.
        next_first: number of the first record after it.
        position, end: of its records in the log.
        gap: true if the file says that records were given up.
        is_readable: true if its first page is whole.
        torn: the offset of a last record that is not whole, from which the next start cuts the file
            off.
        unneeded: the offset of damage before what a start reads.
    """

    path: Path
    first: int
    next_first: int
    position: int = 0
    end: int = 0
    content: Content = field(default_factory=Content)
    gap: Gap | None = None
    is_missing: bool = False
    is_readable: bool = True
    damage: Damage | None = None
    torn: int | None = None
    unneeded: int | None = None


@dataclass
class Inspection:
    """All files of a log. traces: by the number of the transaction."""

    files: list[FileReport]
    traces: dict[int, Trace]

    @property
    def damaged(self) -> FileReport | None:
        """The first file at which a start would stop, None if there is no such file."""
        return next((file for file in self.files if file.damage is not None or file.is_missing), None)


def inspect(storage: Storage, folder: Path, place: tuple[int, int] = (0, FIRST_SEQUENCE)) -> Inspection:
    """Return the contents of the files of a log. Raises OSError.

    place: position and number of the first record that a start reads.
    """
    found = parts_of(storage.list(folder))
    files: list[FileReport] = []
    traces: dict[int, Trace] = {}
    due: int | None = None
    for index, (first, name) in enumerate(found):
        following = found[index + 1][0] if index + 1 < len(found) else None
        if due is not None and first > max(due, place[1]):
            files.append(FileReport(folder / f"{due:016x}{SUFFIX}", due, first, is_missing=True))
        if name.endswith(SKIPPED_SUFFIX):
            report = inspect_gap(storage, folder / name, following)
        else:
            report = inspect_segment(storage, folder / name, following, place, traces)
        if report.damage is not None and following is not None and following <= place[1]:
            report.unneeded, report.damage = report.damage.offset, None
        files.append(report)
        due = report.next_first
    return Inspection(files, traces)


def inspect_gap(storage: Storage, path: Path, following: int | None) -> FileReport:
    """Return the report of a file that gives up records. following: as in inspect_segment."""
    first = number_of(path.name)
    try:
        gap = read_gap(storage, path)
    except CorruptLogError as error:
        damage = Damage(0, first, error.reason, Content())
        return FileReport(path, first, first if following is None else following, is_readable=False, damage=damage)
    return FileReport(path, first, gap.next_first, gap=gap)


def inspect_segment(
    storage: Storage, path: Path, following: int | None, place: tuple[int, int], traces: dict[int, Trace]
) -> FileReport:
    """Return the report of a segment.

    following: number of the record with which the next file begins, None at the end.
    """
    first = number_of(path.name)
    report = FileReport(path, first, first)
    try:
        segment, data = load_segment(storage, path)
    except CorruptLogError as error:
        report.is_readable = False
        report.damage = Damage(error.offset, first, error.reason, Content())
        report.next_first = first if following is None else following
        return report
    report.position = report.end = segment.position
    offset = read_on(report, segment, data, traces)
    position, sequence = place
    if report.next_first < sequence and (following is None or sequence < following):
        report.unneeded = offset
        report.next_first, report.end = sequence, position
        offset = read_on(report, segment, data, traces)
    if following == report.next_first or (following is not None and is_blank(data, offset)):
        return report
    later = [one for one in later_records(data, offset, report.end) if one.sequence > report.next_first]
    if following is not None or any(one.durable > report.end for one in later):
        noted = Content()
        for record in later:
            note(record, noted, traces)
        reason = f"record {report.next_first} does not verify"
        report.damage = Damage(offset, report.next_first, reason, noted)
        report.next_first = report.next_first if following is None else following
    elif not is_blank(data, offset):
        report.torn = offset
    return report


def read_on(report: FileReport, segment: Segment, data: memoryview, traces: dict[int, Trace]) -> int:
    """Note the records from the end of the report on; return the offset of the first damaged
    one.
    """
    offset = segment.offset(report.end)
    while (record := record_at(data, offset, report.end)) is not None and record.sequence == report.next_first:
        note(record, report.content, traces)
        report.next_first, report.end = record.sequence + 1, record.end
        offset = segment.offset(report.end)
    return offset


def note(record: Record, content: Content, traces: dict[int, Trace]) -> None:
    """Add what a record holds to a content and to the traces."""
    number = record.transaction
    content.records_count += 1
    content.lowest = min(content.lowest, number) if content.lowest else number
    content.highest = max(content.highest, number)
    if record.kind == ROWS:
        stream_oid, rows_count = rows_of(record)
        content.rows[stream_oid] += rows_count
        if record.commits:
            content.singles_count += 1
            content.single_rows[stream_oid] += rows_count
            return
        traces.setdefault(number, Trace()).pieces.append((record.sequence, stream_oid, rows_count))
    elif record.kind == COMMITTED:
        traces.setdefault(number, Trace()).confirmed = True
    else:
        assert record.kind in (COMMIT, PREPARE), record.kind
        trace = traces.setdefault(number, Trace())
        trace.decided = record.sequence
        if record.kind == PREPARE:
            trace.prepared = True
            # What can't be read is the start's to say; here it is only not known what was created.
            with suppress(SqlError):
                content.created += read_prepared(record).created
    content.several.add(number)


def rows_of(record: Record) -> tuple[int, int]:
    """Return the oid of the stream and the number of rows of a ROWS record, 0 for an unreadable
    value.
    """
    try:
        stream_oid, form, _, _ = read_rows_head(record)
    except SqlError:
        return 0, 0
    if form not in (*ROW_FORMS, *ARRIVED_FORMS) or len(record.payload) < ROWS_HEAD.size + COUNTS.size:
        return stream_oid, 0
    return stream_oid, rows_count_of(record.payload[ROWS_HEAD.size :])
