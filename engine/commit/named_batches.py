"""A transaction that commits under the name of a batch: whether it is a retry.

Enters: the transaction, the name, the role. Leaves: the batch, which no other session commits
meanwhile, or the notice of a retry. The whole transaction is the batch: what it does to tables,
too, is done with its rows, or not at all. Must not know sessions.
"""

from __future__ import annotations

from zlib import crc32

from engine.commit.row_digests import digest_of
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.log.batches import Batch
from engine.log.commit_log import CommitLog
from sql.errors import SqlError, not_supported
from sql.settings.values import batch_named

# Others see the lock of a producer in pg_locks under the number of its role and a checksum.
KIND = "batch"


def named_batch(transaction: Transaction, name: str, role: int, log: CommitLog, now_us: int) -> Batch | SqlError:
    """Return the batch of a transaction, after the commits of its producer that are under way; a
    NOTICE if it is applied already.

    name: producer:number. Raises 22023 for one that was applied with other rows, 0A000 for one
    that writes to no stream, 53400, and what ends the wait: 55P03, 57014.
    """
    # Not those of rows that transforms derive from these.
    stages = [one for one in transaction.operations if isinstance(one, StatementStage)]
    if not stages:
        hint = "Write to a stream in the same transaction, or RESET antumbra.batch before it."
        raise not_supported("a batch that writes to no stream", hint=hint)
    producer, number = batch_named(name)
    assert transaction.locks is not None
    transaction.locks.take((KIND, role, crc32(producer.encode())), "EXCLUSIVE")
    digest = digest_of(stages)
    last = log.batches.last(role, producer, now_us)
    if last is None:
        log.batches.require_room(now_us)
    if last is None or last.number < number:
        return Batch(role, producer, number, digest)
    if last.number == number and last.digest != digest:
        message = f'batch {number} of producer "{producer}" was applied with other rows'
        raise SqlError("22023", message, hint="Give each batch a number of its own, greater than all before it.")
    if transaction.waits_for_log:
        # The first try may have been told of its commit before that was durable.
        log.flush(sync=True)
        log.check()
    detail = None if last.number == number else f"The last batch of this producer is {last.number}."
    message = f'batch {number} of producer "{producer}" is already applied'
    return SqlError("00000", message, detail=detail, severity="NOTICE")
