"""The changes of durable tables that a transaction may not commit, although each statement was
right.

Enters: the transaction and the catalog that is committed now. Raises 40001 when another transaction
came first, and 55006 when a table changes under a continuous view that has built its rows in. Must
not write.
"""

from __future__ import annotations

from engine.catalog.image import CatalogImage, Entry, SequenceEntry, TableEntry, ViewEntry, in_states, states_of
from engine.catalog.joined_tables import refuse_joined
from engine.commit.transaction import Transaction
from engine.embedded.duckdb_errors import CONFLICT
from engine.tables.foreign_keys import check_references
from sql.errors import SqlError


def check_changes(transaction: Transaction, committed: CatalogImage) -> None:
    """Raise 40001 or 55006 if the transaction can't commit now.

    The caller holds the store's lock.
    """
    tables, snapshot = transaction.tables, transaction.snapshot
    assert tables is not None and snapshot is not None
    final = transaction.image or committed
    check_references(tables, snapshot, committed)
    for name in tables.written:
        if committed.entries.get(name) is not snapshot.entries.get(name):
            raise SqlError("40001", CONFLICT, detail=f'Table "{name}" was altered or dropped in between.')
        # A view that this transaction has made has read what was written before it.
        kept = [left for entry in committed.entries.values() if (left := _what_goes_on(entry, final)) is not None]
        refuse_joined(name, kept, is_altered=final.entries.get(name) is not snapshot.entries.get(name))
    if transaction.image is not None:
        _check_definitions(transaction, committed, transaction.image)


def _what_goes_on(entry: Entry, final: CatalogImage) -> Entry | None:
    """Return what is the same of a relation after a change of the catalog, None: nothing.

    A state is the same if its join tables are there, perhaps under another name.
    """
    if final.by_oid(entry.description.oid) is entry:
        return entry
    joins = {id(state.chain.state.program.joins) for state in final.states.values()}
    states = tuple(state for state in states_of(entry) if id(state.chain.state.program.joins) in joins)
    return in_states(entry, states) if isinstance(entry, ViewEntry) and states else None


def new_sequences(image: CatalogImage) -> list[SequenceEntry]:
    """Return the sequences of `image` whose creation has not been committed."""
    return [entry for entry in image.entries.values() if isinstance(entry, SequenceEntry) and entry.counter.log is None]


def _check_definitions(transaction: Transaction, committed: CatalogImage, image: CatalogImage) -> None:
    """Raise 40001 if the rows or the definition of a table have changed that must not have.

    These are tables whose definition the transaction changes, or that a view of the transaction has
    built in: another transaction has written rows that this one does not see, or another
    definition.
    """
    assert transaction.tables is not None
    unseen, seen = transaction.tables.unseen, transaction.tables.snapshot
    for name, before in committed.entries.items():
        if not isinstance(before, TableEntry) or image.by_oid(before.description.oid) is before:
            continue
        if before.data.committed > seen or before.description.oid in unseen:
            raise SqlError("40001", CONFLICT, detail=f'Table "{name}" was changed in between.')
    for view in transaction.built:
        for name in view.stream_tables:
            table = image.entries.get(name)
            if isinstance(table, TableEntry) and table.data.committed > transaction.tables.snapshot:
                raise SqlError("40001", CONFLICT, detail=f'Table "{name}" was changed in between.')
