"""The parts of a transaction that commits: statements, records, relations that are made and
dropped.

Enters: transactions. Leaves: their parts, and statements that are ready for COMMIT. Nothing here is
shared or locked; `committer` puts the parts together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.catalog.disabled_views import refuse_definitions
from engine.catalog.image import CatalogImage, StreamEntry
from engine.commit.logged_ahead import LoggedAhead
from engine.commit.staging import AT_ONCE_BYTES_MAX, AT_ONCE_ROWS_MAX, StatementStage
from engine.commit.transaction import CatalogChange, Transaction, stages_among, with_derived
from engine.log.batches import Batch, Batches
from engine.log.commit_log import statement_flags
from engine.log.records import STATEMENTS_MAX, Bytes
from engine.log.replay import RECORDS_COUNT
from engine.streams.ring_rebuild import Reshaping
from engine.streams.stream import Stream
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.pages.log_rows import ALIGNMENT, HEADER
from sql.errors import SqlError
from views.upkeep.chain import Chain
from views.upkeep.group_state import GroupState

Records = Sequence[tuple[int, Sequence[Bytes]]]


def stages_of(transaction: Transaction) -> list[StatementStage]:
    """Return the statements on streams, and what is derived from their rows."""
    return stages_among(transaction.operations)


def reshapings_of(transaction: Transaction) -> list[Reshaping]:
    """Return the changes of rings that the transaction makes, in order."""
    changes = (operation for operation in transaction.operations if isinstance(operation, CatalogChange))
    return [change.reshaping for change in changes if change.reshaping is not None]


def kept_tuples(transaction: Transaction) -> list[tuple[int, int]]:
    """Return how many tuples each rebuilt ring has after the transaction, by stream.

    The rows of the transaction are among them.
    """
    staged: Counter[int] = Counter()
    for stage in stages_of(transaction):
        staged[stage.stream.oid] += stage.rows_count
    found = []
    for reshaping in reshapings_of(transaction):
        oid, ring = reshaping.after.oid, reshaping.after.ring
        found.append((oid, min(ring.kept_count + staged[oid], ring.capacity)))
    return found


def streams_in(image: CatalogImage | None) -> list[Stream]:
    """Return all streams of a catalog, if there is one."""
    return [] if image is None else list(image.streams.values())


def ignore_cancel() -> None:
    """Check nothing: a commit is not cancelled after its beginning."""


def end(transaction: Transaction) -> None:
    """Forget the staged rows of a transaction that has been committed."""
    transaction.operations.clear()
    transaction.end_tables()


def capped(stages: Sequence[StatementStage]) -> dict[GroupState, list[GroupTable]]:
    """Return what statements would add to each state that has a cap. Raises SqlError."""
    found: dict[GroupState, list[GroupTable]] = {}
    for stage in stages:
        for state, table in stage.capped():
            found.setdefault(state, []).append(table)
    return found


def arrive(transaction: Transaction, stages: Sequence[StatementStage], arrival_us: int) -> None:
    """Set the time of arrival of the transaction's rows, before its last record is appended.

    Raises SqlError for a row that a view refuses at that time.
    """
    transaction.arrival_us = arrival_us
    for stage in stages:
        stage.arrive(arrival_us)


def prepare(transaction: Transaction, image: CatalogImage) -> list[tuple[CatalogImage, tuple[Chain, ...]]]:
    """Prepare each statement for the views that are attached at its place in the transaction.

    Returns, by statement, the views, of those that take rows together the first, and the catalog at
    that place. Raises SqlError.
    """
    attached = []
    if transaction.image is not None:
        refuse_definitions(image, transaction.image)
    for operation in with_derived(transaction.operations):
        if isinstance(operation, CatalogChange):
            image = operation.image
            continue
        entry = image.by_oid(operation.stream.oid)
        # Without a new ring nothing was altered that rows could be at odds with.
        if not isinstance(entry, StreamEntry) or entry.stream.ring is not operation.stream.ring:
            done = "dropped" if entry is None else "altered"
            raise SqlError("40001", f'stream "{operation.stream.name}" was {done} before this transaction committed')
        name = entry.description.name
        if not operation.has_transforms(image.transforms_of(name)):
            raise SqlError("40001", f'transforms of stream "{name}" were changed before this transaction committed')
        views = image.chains_of(name)
        operation.prepare(views)
        attached.append((image, views))
    return attached


def claimed(stages: Sequence[StatementStage]) -> LoggedAhead | None:
    """Return the records that hold all rows of the first statement, if the log has them already.

    All others that the log has are forgotten.
    """
    found = None
    for index, stage in enumerate(stages):
        ahead, stage.ahead = stage.ahead, None
        if ahead is not None and index == 0 and ahead.count == stage.morsels_count and ahead.claim():
            found = ahead
        elif ahead is not None:
            ahead.end()
    return found


def small_records(stages: Sequence[StatementStage]) -> Records | None:
    """Return flags and payload of the records of a transaction's rows; None if the rows are many,
    or in the log.
    """
    if any(stage.ahead is not None for stage in stages) or sum(stage.rows_count for stage in stages) > AT_ONCE_ROWS_MAX:
        return None
    records = [
        (statement_flags(min(index, STATEMENTS_MAX)), stage.payload(morsel))
        for index, stage in enumerate(stages)
        for morsel in stage.morsels()
    ]
    return records if bytes_of(records) <= AT_ONCE_BYTES_MAX else None


def bytes_of(records: Records, batch: Batch | None = None) -> int:
    """Return how much room records take in the log, with the record that decides them."""
    sizes = (sum(memoryview(piece).nbytes for piece in payload) for _, payload in records)
    named = 0 if batch is None else len(batch.to_bytes()) + ALIGNMENT
    return sum(HEADER.size + size + ALIGNMENT for size in sizes) + HEADER.size + named


def decision(transaction: Transaction, stages: Sequence[StatementStage]) -> Sequence[Bytes]:
    """Return the payload of the COMMIT record: how many records of rows, and the batch."""
    count = RECORDS_COUNT.pack(sum(stage.morsels_count for stage in stages))
    return [count] if transaction.batch is None else [count, transaction.batch.to_bytes()]


def note_batch(transaction: Transaction, batches: Batches) -> None:
    """Remember the batch of a transaction that becomes visible, under the commit lock."""
    if transaction.batch is not None:
        batches.note(transaction.batch, transaction.arrival_us)


def changed_relations(before: CatalogImage, after: CatalogImage | None) -> tuple[list[int], list[int]]:
    """Return the oids that take rows in `after` only, and those that take rows in `before` only.

    The oids are of streams and of states of views.
    """
    if after is None:
        return [], []
    old, new = _taking_rows(before), _taking_rows(after)
    return sorted(new - old), sorted(old - new)


def _taking_rows(image: CatalogImage) -> set[int]:
    return {*image.streams, *(oid for oid, state in image.states.items() if state.active)}
