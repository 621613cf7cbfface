"""Giving up a damaged part of the log, and the loss that this means: the last resort of
`antumbra recover`.

Enters: an inspection, and the name of a file of the log. Leaves: the loss, for a person to decide;
then a file that says which records were given up, so that the start goes on after them. Records
before the damage stay. Must not print, nor decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

from engine.log.inspection import Content, FileReport, Inspection, Trace
from engine.log.segments import GIVEN_UP, SKIPPED_SUFFIX, SUFFIX, Gap, gap_bytes
from engine.storage.storage import Storage, replacing

DAMAGED_SUFFIX = ".damaged"


class NoSuchSegmentError(Exception):
    """The log has no such file to be given up; the text says which files there are."""


@dataclass
class LostTransactions:
    """Transactions with several records, and their rows by stream."""

    numbers: list[int] = field(default_factory=list)
    rows: Counter[int] = field(default_factory=Counter)

    def add(self, number: int, trace: Trace) -> None:
        """Add a transaction."""
        self.numbers.append(number)
        for _, stream_oid, count in trace.pieces:
            self.rows[stream_oid] += count


@dataclass
class Loss:
    """The price of giving up a part of the log.

    Attributes:
        file: the file with that part.
        is_last: true if no file comes after it.
        content: what can be read of the part.
        unreadable_count: records that can't be read, None when their number is not known.
        whole: transactions with all of their records in the part.
        torn: transactions that also have records elsewhere; they are left out as a whole.
        unknown: transactions of which it is not known whether they were committed.
        undecided: transactions that were open there; they are left out if any of their rows is
            lost.
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
        """True when the file itself is put aside, since nothing of it is to be read."""
        is_segment = self.file.path.suffix == SUFFIX and not self.file.is_missing
        return is_segment and self.gap.first == self.file.first


def loss_of(inspection: Inspection, name: str, decided: Container[int]) -> Loss:
    """Return the price of giving up the damaged part of the file `name`.

    A whole file if it is undamaged.

    decided: prepared transactions that the tables have committed. Raises NoSuchSegmentError.
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
    content = file.content if file.damage is None else file.damage.after
    unreadable_count = None if is_last and file.damage is not None else gap.next_first - first - content.records_count
    if is_last and file.damage is None:
        unreadable_count = 0
    loss = Loss(file, gap, is_last, content, unreadable_count)
    for number, trace in sorted(inspection.traces.items()):
        sort_out(loss, number, trace, decided)
    return loss


def sort_out(loss: Loss, number: int, trace: Trace, decided: Container[int]) -> None:
    """Add a transaction with several records to the part of the loss that is its own."""
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
    """Give up the part, durably, and return the file that says so. Raises OSError."""
    folder = loss.file.path.parent
    path = folder / f"{loss.gap.first:016x}{SKIPPED_SUFFIX}"
    with replacing(storage, path) as file:
        file.write(0, gap_bytes(loss.gap))
    # From here on the segment is not read any more, whether it still has its name or not.
    if loss.renames:
        storage.rename(loss.file.path, loss.file.path.with_suffix(DAMAGED_SUFFIX))
    storage.sync_folder(folder)
    return path
