"""What is lost when a damaged part of the log is given up, and giving it up: the last resort of `antumbra recover`.

Enters: an inspection, and the name of a file of the log. Leaves: what a person has to know before; then a file that says which records were
given up, so that the start goes on behind them. Records before the damage stay. Must not print, nor decide by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engine.log.inspection import Content, FileReport, Inspection, Trace
from engine.log.segments import GIVEN_UP, SKIPPED_SUFFIX, SUFFIX, Gap, gap_bytes
from engine.storage.storage import Storage

DAMAGED_SUFFIX = ".damaged"
TEMPORARY_SUFFIX = ".tmp"


class NoSuchSegmentError(Exception):
    """There is nothing of that name to be given up; the text says what there is."""


@dataclass
class LostTransactions:
    """Transactions with several records, and their rows by stream."""

    numbers: list[int] = field(default_factory=list)
    rows: Counter[int] = field(default_factory=Counter)

    def add(self, number: int, trace: Trace) -> None:
        """Take one in."""
        self.numbers.append(number)
        for _, stream_oid, count in trace.pieces:
            self.rows[stream_oid] += count


@dataclass
class Loss:
    """What giving up a part of the log costs. file: where that part is; is_last: nothing comes behind it.

    content: what of it can be read; unreadable_count: records that can't, None when nobody knows how many there were. whole: transactions
    that have all of their records in it; torn: those that also have records elsewhere, and are left out as a whole; unknown: those of
    which nobody can say whether they were committed; undecided: those that were open there, left out if any of their rows is lost.
    """

    file: FileReport
    gap: Gap
    is_last: bool
    content: Content
    unreadable_count: int | None
    whole: LostTransactions = field(default_factory=LostTransactions)
    torn: LostTransactions = field(default_factory=LostTransactions)
    unknown: LostTransactions = field(default_factory=LostTransactions)
    undecided: list[int] = field(default_factory=list)

    @property
    def renames(self) -> bool:
        """True when the file itself has to be put aside, since nothing of it is to be read any more."""
        is_segment = self.file.path.suffix == SUFFIX and not self.file.is_missing
        return is_segment and self.gap.first == self.file.first


def loss_of(inspection: Inspection, name: str, decided: Container[int]) -> Loss:
    """Return what giving up the damaged part of the file `name` costs. decided: prepared transactions that the tables have committed.

    A file without damage is given up whole. Raises NoSuchSegmentError.
    """
    wanted = name.removesuffix(SUFFIX)
    found = [index for index, file in enumerate(inspection.files) if wanted in (file.path.stem, file.path.name)]
    if not found:
        names = ", ".join(file.path.name for file in inspection.files) or "none"
        raise NoSuchSegmentError(f"the log has no segment {name}; there are {names}")
    index = found[-1] if name.endswith(SKIPPED_SUFFIX) else found[0]
    file = inspection.files[index]
    if file.gap is not None:
        raise NoSuchSegmentError(f"what {file.path.name} stands for has been given up already")
    is_last = index == len(inspection.files) - 1
    first = file.first if file.damage is None else file.damage.first
    gap = Gap(first, first + GIVEN_UP if is_last else file.next_first)
    content = file.content if file.damage is None else file.damage.behind
    unreadable_count = None if is_last and file.damage is not None else gap.next_first - first - content.records_count
    if is_last and file.damage is None:
        unreadable_count = 0
    loss = Loss(file, gap, is_last, content, unreadable_count)
    for number, trace in sorted(inspection.traces.items()):
        sort_out(loss, number, trace, decided)
    return loss


def sort_out(loss: Loss, number: int, trace: Trace, decided: Container[int]) -> None:
    """Note what becomes of a transaction with several records."""
    records = [record for record, _, _ in trace.pieces] + ([] if trace.decided is None else [trace.decided])
    if trace.decided is not None and trace.prepared and not (trace.confirmed or number in decided):
        return
    inside = [record for record in records if loss.gap.first <= record < loss.gap.next_first]
    if not inside:
        before = any(record < loss.gap.first for record in records)
        ended_before = trace.decided is not None and trace.decided < loss.gap.first
        if before and not ended_before:
            loss.undecided.append(number)
    elif trace.decided is None:
        loss.unknown.add(number, trace)
    elif len(inside) == len(records):
        loss.whole.add(number, trace)
    else:
        loss.torn.add(number, trace)


def give_up(storage: Storage, loss: Loss) -> Path:
    """Give it up, durably, and return the file that says so. Raises OSError."""
    folder = loss.file.path.parent
    path = folder / f"{loss.gap.first:016x}{SKIPPED_SUFFIX}"
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    file = storage.create(temporary)
    try:
        file.write(0, gap_bytes(loss.gap))
        file.sync()
        file.close()
        # From here on the segment is not read any more, whether it still has its name or not.
        storage.rename(temporary, path)
        if loss.renames:
            storage.rename(loss.file.path, loss.file.path.with_suffix(DAMAGED_SUFFIX))
    except OSError:
        with suppress(OSError):
            file.close()
            storage.remove(temporary)
        raise
    storage.sync_folder(folder)
    return path
