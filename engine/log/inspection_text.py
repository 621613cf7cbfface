"""The report of `antumbra recover` on a log, as lines for a person.

Enters: an inspection, the loss, the names of relations by oid as far as they are known. Leaves:
text. Must not read files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.log.checkpoint import Checkpoint
from engine.log.inspection import Content, FileReport, Inspection
from engine.log.log_repair import DAMAGED_SUFFIX, Loss, LostTransactions

NUMBERS_SHOWN_MAX = 20

Names = Mapping[int, str]
Newest = tuple[Path, Checkpoint] | None


def inspection_lines(inspection: Inspection, newest: Newest, names: Names) -> Iterator[str]:
    """Yield the contents of the log, file by file, and whether a start can read each file."""
    if newest is None:
        yield "no checkpoint: a start reads the log from its beginning"
    else:
        path, checkpoint = newest
        yield f"{path.name}: checkpoint at position {checkpoint.position}; a start reads the log from record {checkpoint.read_sequence} on"
    for file in inspection.files:
        yield from file_lines(file, names)
    damaged = inspection.damaged
    if damaged is not None:
        yield f"The log is damaged; a start stops at {damaged.path.name}. Restore that file, or see what it costs to go on without:"
        yield f"  antumbra recover --data-dir {damaged.path.parent.parent} --skip-segment {damaged.path.name}"
    elif inspection.files and inspection.files[-1].torn is not None:
        yield "The log ends with a record that was never answered, as after a power loss; the next start cuts it off."
    elif any(file.gap is not None for file in inspection.files):
        yield "The log is whole but for what was given up."
    else:
        yield "The log is whole."


def file_lines(file: FileReport, names: Names) -> Iterator[str]:
    """Yield the contents of one file."""
    name = file.path.name
    if file.is_missing:
        yield f"{name}: MISSING, records {file.first} to {file.next_first - 1}"
        return
    if file.gap is not None:
        yield f"{name}: records {file.gap.first} to {file.gap.next_first - 1} were given up"
        return
    content = file.content
    if file.is_readable:
        records = (
            f"records {file.first} to {file.first + content.records_count - 1}"
            if content.records_count
            else "no records"
        )
        yield f"{name}: positions {file.position} to {file.end}, {records}{transactions_text(content)}"
        yield from row_lines(content.rows, names)
    if file.damage is not None:
        place = name if not file.is_readable else "  "
        yield f"{place}{': ' if not file.is_readable else ''}DAMAGED at offset {file.damage.offset}: {file.damage.reason}"
        if file.damage.after.records_count:
            yield f"  after it {counted(file.damage.after.records_count, 'record')} can be read"
    if file.unneeded is not None:
        yield f"  damaged at offset {file.unneeded}, before what a start reads"
    if file.torn is not None:
        yield f"  a record at offset {file.torn} is not whole"


def loss_lines(loss: Loss, newest: Newest, names: Names) -> Iterator[str]:
    """Yield the price of giving up a part of the log."""
    gap, content = loss.gap, loss.content
    upto = "on, to the end of the log" if loss.is_last else f"to {gap.next_first - 1}"
    yield f"To give up of {loss.file.path.name}: records {gap.first} {upto}"
    if newest is not None and newest[1].read_sequence >= gap.next_first:
        yield f"  nothing is lost: all of it is in the checkpoint {newest[0].name}"
    if loss.unreadable_count is None:
        yield "  an unknown number of records can't be read: nobody knows which transactions and streams they belong to"
    elif loss.unreadable_count:
        yield f"  {counted(loss.unreadable_count, 'record')} can't be read: nobody knows which transactions and streams they belong to"
    if content.singles_count:
        numbers = f"numbers between {content.lowest} and {content.highest}"
        yield f"  lost: {counted(content.singles_count, 'transaction')} of one record, {numbers}"
        yield from row_lines(content.single_rows, names)
    yield from lost_lines("lost: ", loss.whole, names)
    yield from lost_lines("left out as a whole, though some of their records lie elsewhere: ", loss.torn, names)
    yield from lost_lines("not known whether they were committed: ", loss.unknown, names)
    if loss.undecided:
        yield f"  left out if any of their rows is lost: {numbers_text(loss.undecided)}"
    if content.created:
        oids = ", ".join(named(oid, names) for oid in content.created)
        yield f"  created in it: {oids}; continuous views among them count only what comes after the next start"
    if newest is not None and gap.first < newest[1].sequence < gap.next_first:
        yield f"  not lost is what was decided before record {newest[1].sequence}: it is in the checkpoint {newest[0].name}"
    yield "  Tables stay as they are, also where a transaction has changed them together with streams."
    if loss.renames:
        yield f"  The file is kept as {loss.file.path.stem}{DAMAGED_SUFFIX}."


def lost_lines(head: str, lost: LostTransactions, names: Names) -> Iterator[str]:
    """Yield transactions and their rows, if there are any."""
    if lost.numbers:
        yield f"  {head}{counted(len(lost.numbers), 'transaction')} of several records: {numbers_text(lost.numbers)}"
        yield from row_lines(lost.rows, names)


def row_lines(rows: Mapping[int, int], names: Names) -> Iterator[str]:
    """Yield the rows of each stream."""
    for oid, count in sorted(rows.items()):
        yield f"    {named(oid, names)}: {counted(count, 'row')}"


def named(oid: int, names: Names) -> str:
    """Return the name of a relation for a person."""
    return f'"{names[oid]}"' if oid in names else f"oid {oid}"


def transactions_text(content: Content) -> str:
    """Return how many transactions have records there."""
    if not content.transactions_count:
        return ""
    return f", {counted(content.transactions_count, 'transaction')} ({content.lowest} to {content.highest})"


def numbers_text(numbers: list[int]) -> str:
    """Return a text that lists numbers, or the first of them."""
    shown = ", ".join(str(number) for number in numbers[:NUMBERS_SHOWN_MAX])
    more = len(numbers) - NUMBERS_SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown


def counted(count: int, noun: str) -> str:
    """Return '1 row', '2 rows'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
