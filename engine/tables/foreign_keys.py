"""Foreign keys while rows are written: ON DELETE, ON UPDATE, and the checks at the end and at
COMMIT.

Enters: rows that a statement inserts, changes and deletes. Leaves: changes of the rows that refer
to them, and 23503 for a row that refers to nothing, at the end of the statement, or at COMMIT where
the key is deferred. No transaction waits here: if one refers to what another removes, the second to
commit fails with 40001. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.catalog.image import CatalogImage, Entry, TableEntry
from engine.embedded.duckdb_errors import CONFLICT
from engine.tables import write_journal
from engine.tables.deferral import Deferral, Key
from engine.tables.row_checks import check_rows
from sql.catalog.catalog import ConstraintDescription, KeyReference
from sql.errors import SqlError
from sql.tree.relations import OutputColumn
from sql.types.datatypes import INT8

if TYPE_CHECKING:
    from engine.tables.table_transaction import TableTransaction

ROWID = OutputColumn("rowid", INT8)
# What DuckDB calls the rows that a query is given.
ROWS = f'"{write_journal.ROWS}"'


@dataclass(frozen=True)
class Link:
    """A foreign key: rows of `child` refer to rows of `parent`, column by column."""

    child: TableEntry
    constraint: ConstraintDescription
    parent: TableEntry

    @property
    def reference(self) -> KeyReference:
        """The columns of the parent to which the child refers."""
        assert self.constraint.reference is not None
        return self.constraint.reference


@dataclass(frozen=True)
class Removal:
    """The keys that rows of a referenced table had before they were changed or deleted.

    Attributes:
        keys: one row each: columns k<number>, and its place among them.
        rows: their new values as v<number>, None when they are deleted.
    """

    link: Link
    keys: pa.Table
    rows: pa.Table | None = None


@dataclass(frozen=True)
class Addition:
    """Rows that were written and refer to others: the columns of the link, called v<number>."""

    link: Link
    rows: pa.Table


class References:
    """The foreign keys of one transaction.

    Attributes:
        needed: oids of tables to which its rows refer.
        removed: oids of tables from which it has removed keys.
        deferral: the checks that wait.
    """

    def __init__(self, transaction: TableTransaction) -> None:
        self.needed: set[int] = set()
        self.removed: set[int] = set()
        self.deferral: Deferral[Addition | Removal] = Deferral()
        self._transaction = transaction
        self._added: list[Addition] = []
        self._taken: list[Removal] = []

    def add(self, table: TableEntry, rows: pa.Table, columns: Collection[int] | None = None) -> None:
        """Note rows that are written.

        rows: all columns, called v<number>; columns: those that have changed, None for new rows.
        """
        for link in links_from(table, self._transaction.image):
            if columns is None or not set(columns).isdisjoint(link.constraint.columns):
                self._added.append(Addition(link, rows.select([f"v{number}" for number in link.constraint.columns])))

    def before(
        self, table: TableEntry, rowids: pa.ChunkedArray, columns: Collection[int] | None = None
    ) -> list[Removal]:
        """Return the keys of rows before they are deleted or get new values in `columns`."""
        keys = {number for one in table.description.constraints if one.is_key for number in one.columns}
        if columns is not None and keys.isdisjoint(columns):
            return []
        self.removed.add(table.description.oid)
        return [
            Removal(link, self._transaction.keys_of(table, link.reference.columns, rowids))
            for link in links_to(table, self._transaction.image)
            if columns is None or not set(columns).isdisjoint(link.reference.columns)
        ]

    def deleted(self, removals: Iterable[Removal]) -> None:
        """Note that the rows of `before` are deleted."""
        self._taken += removals

    def changed(self, removals: Iterable[Removal], rows: pa.Table) -> None:
        """Note the new values of the rows of `before`, called v<number>."""
        self._taken += [only_moved(removal, rows) for removal in removals]

    def check(self, now_us: int) -> None:
        """Do ON DELETE and ON UPDATE at the end of a statement, and check the rest.

        Raises 23503, and the errors of changed rows.
        """
        while self._added or self._taken:
            added, self._added = self._added, []
            taken, self._taken = self._taken, []
            for removal in taken:
                self._answer(removal, now_us)
            for addition in added:
                if self._waits(addition.link):
                    self.deferral = self.deferral.with_check(addition)
                else:
                    self._require_parents(addition.link, addition.rows)

    def forget(self, deferral: Deferral[Addition | Removal]) -> None:
        """Forget the checks of a failed statement, except those that waited before it."""
        self._added, self._taken = [], []
        self.deferral = deferral

    def set_mode(self, keys: Collection[Key] | None, deferred: bool) -> None:
        """Do SET CONSTRAINTS, and check what need not wait any more. Raises 23503.

        keys: None for ALL.
        """
        self.deferral = self.deferral.with_mode(keys, deferred)
        if not deferred:
            self.deferral, due = self.deferral.split(lambda check: self._waits(check.link))
            self._look_at(due)

    def check_deferred(self) -> None:
        """Check all that has waited for COMMIT. Raises 23503."""
        self.deferral, due = self.deferral.split(lambda _: False)
        self._look_at(due)

    def refuse_waiting(self, table: TableEntry, statement: str) -> None:
        """Raise 55006 if checks of rows of this table wait: the statement would change their
        meaning.
        """
        name, oid = table.description.name, table.description.oid
        for check in self.deferral.waiting:
            written = check.link.child if isinstance(check, Addition) else check.link.parent
            if written.description.oid == oid:
                raise SqlError("55006", f'cannot {statement} "{name}" because it has pending trigger events')

    def look_ahead(self, table: TableEntry, rows: pa.Table) -> None:
        """Raise 23503 for rows that `check` will refuse once they are written.

        rows: as for `add`.
        """
        for link in links_from(table, self._transaction.image):
            if not self._waits(link):
                self._require_parents(link, rows)

    def _waits(self, link: Link) -> bool:
        return self.deferral.waits(link.child.description.oid, link.constraint)

    def _look_at(self, due: Iterable[Addition | Removal]) -> None:
        """Check what has waited; of rows, those that still exist."""
        for check in due:
            link = self._link_today(check.link)
            if link is None:
                continue
            if isinstance(check, Removal):
                self._require_no_children(replace(check, link=link), strict=False)
            else:
                self._require_parents(link, check.rows, still_there=True)

    def _link_today(self, link: Link) -> Link | None:
        """Return a foreign key in its present form, None after it was dropped."""
        child = self._transaction.image.by_oid(link.child.description.oid)
        if not isinstance(child, TableEntry):
            return None
        same = (link.constraint.columns, link.reference.oid, link.reference.columns)
        for one in links_from(child, self._transaction.image):
            if (one.constraint.columns, one.reference.oid, one.reference.columns) == same:
                return one
        return None

    def _answer(self, removal: Removal, now_us: int) -> None:
        reference = removal.link.reference
        action = reference.on_delete if removal.rows is None else reference.on_update
        if removal.keys.num_rows == 0:
            return
        if action == "cascade" and removal.rows is None:
            self._delete_children(removal)
        elif action in ("cascade", "set null"):
            self._set_children(removal, now_us, to_null=action == "set null")
        elif action == "no action" and self._waits(removal.link):
            self.deferral = self.deferral.with_check(removal)
        else:
            # A key that was deleted may not be there again in another row either, where it is
            # RESTRICT.
            self._require_no_children(removal, strict=action == "restrict" and removal.rows is None)

    def require_all(self, link: Link) -> None:
        """Raise 23503 if a row of the table refers to nothing: the foreign key is new."""
        columns = ", ".join(f"c{number} AS v{number}" for number in link.constraint.columns)
        self._require_parents(link, None, f"(SELECT {columns} FROM stored.{link.child.physical})")

    def _require_parents(
        self, link: Link, rows: pa.Table | None, source: str = ROWS, still_there: bool = False
    ) -> None:
        """Raise 23503 if one of the rows refers to nothing; still_there: ignore rows that were
        deleted.
        """
        self.needed.add(link.parent.description.oid)
        numbers = link.constraint.columns
        filled = " AND ".join(f"r.v{number} IS NOT NULL" for number in numbers)
        same = " AND ".join(
            f"p.c{of} = r.v{number}" for number, of in zip(numbers, link.reference.columns, strict=True)
        )
        text = (
            f"SELECT {', '.join(f'r.v{number}' for number in numbers)} FROM {source} AS r WHERE {filled} "
            f"AND NOT EXISTS (SELECT 1 FROM stored.{link.parent.physical} AS p WHERE {same})"
        )
        if still_there:
            kept = " AND ".join(f"c.c{number} = r.v{number}" for number in numbers)
            text += f" AND EXISTS (SELECT 1 FROM stored.{link.child.physical} AS c WHERE {kept})"
        key = self._transaction.first_key(text, link.child.numbered(numbers), rows)
        if key is not None:
            child, parent = link.child.description.name, link.parent.description.name
            raise violation(
                f'insert or update on table "{child}" violates foreign key constraint "{link.constraint.name}"',
                key,
                f'is not present in table "{parent}".',
                link.child,
                link,
            )

    def _require_no_children(self, removal: Removal, strict: bool) -> None:
        link = removal.link
        numbers = link.reference.columns
        text = (
            f"SELECT {', '.join(f'r.k{number}' for number in numbers)} FROM {ROWS} AS r "
            f"WHERE EXISTS (SELECT 1 FROM stored.{link.child.physical} AS c WHERE {same_keys(link)})"
        )
        if not strict:
            again = " AND ".join(f"p.c{number} = r.k{number}" for number in numbers)
            text += f" AND NOT EXISTS (SELECT 1 FROM stored.{link.parent.physical} AS p WHERE {again})"
        key = self._transaction.first_key(f"{text} ORDER BY r.place", link.parent.numbered(numbers), removal.keys)
        if key is not None:
            child, parent, name = link.child.description.name, link.parent.description.name, link.constraint.name
            raise violation(
                f'update or delete on table "{parent}" violates foreign key constraint "{name}" on table "{child}"',
                key,
                f'is still referenced from table "{child}".',
                link.parent,
                link,
            )

    def _delete_children(self, removal: Removal) -> None:
        link = removal.link
        text = f"SELECT DISTINCT c.rowid FROM stored.{link.child.physical} AS c JOIN {ROWS} AS r ON {same_keys(link)}"
        rowids = self._transaction.fetch(text, (ROWID,), removal.keys)
        if rowids.num_rows:
            self._transaction.delete(self._today(link.child), rowids)

    def _set_children(self, removal: Removal, now_us: int, to_null: bool) -> None:
        """Give the rows that refer to the old keys the new ones, or NULL."""
        link = removal.link
        columns = link.child.description.columns
        pairs = dict(zip(link.constraint.columns, link.reference.columns, strict=True))
        given, values = removal.keys, dict.fromkeys(pairs, "NULL")
        if not to_null:
            assert removal.rows is not None
            for number, of in pairs.items():
                values[number] = f"r.k{of}"
                if f"v{of}" in removal.rows.column_names:
                    given = given.append_column(f"n{of}", removal.rows.column(f"v{of}"))
                    values[number] = f"r.n{of}"
        items = ", ".join(values.get(one.number, f"c.c{one.number}") for one in columns)
        text = f"SELECT c.rowid, {items} FROM stored.{link.child.physical} AS c JOIN {ROWS} AS r ON {same_keys(link)}"
        schema = (ROWID, *(OutputColumn(one.name, one.type) for one in columns))
        found = self._transaction.fetch(text, schema, given)
        if not found.num_rows:
            return
        whole = found.select(range(1, found.num_columns))
        check_rows(self._transaction, link.child.description, whole, now_us, self._transaction.time_zone, ())
        places = [place for place, one in enumerate(columns) if one.number in pairs]
        changed = found.select([0, *(place + 1 for place in places)])
        numbers = [columns[place].number for place in places]
        self._transaction.update(self._today(link.child), numbers, changed, whole)

    def _today(self, table: TableEntry) -> TableEntry:
        found = self._transaction.image.by_oid(table.description.oid)
        assert isinstance(found, TableEntry)
        return found


def same_keys(link: Link) -> str:
    """Return the condition that a row c of the child refers to the key r."""
    pairs = zip(link.constraint.columns, link.reference.columns, strict=True)
    return " AND ".join(f"c.c{number} = r.k{of}" for number, of in pairs)


def only_moved(removal: Removal, rows: pa.Table) -> Removal:
    """Return the keys that an update has really changed. rows: the new values, called v<number>."""
    moved = np.zeros(rows.num_rows, dtype=np.bool_)
    for number in removal.link.reference.columns:
        if f"v{number}" in rows.column_names:
            old, new = removal.keys.column(f"k{number}"), rows.column(f"v{number}")
            same = pc.fill_null(pc.equal(old, new.cast(old.type)), False)
            moved |= ~np.asarray(same)
    mask = pa.array(moved)
    return replace(removal, keys=removal.keys.filter(mask), rows=rows.filter(mask))


def links_from(table: TableEntry, image: CatalogImage) -> Iterator[Link]:
    """Yield the foreign keys of a table."""
    for constraint in table.description.constraints:
        if constraint.reference is not None:
            own = constraint.reference.oid == table.description.oid
            parent = table if own else image.by_oid(constraint.reference.oid)
            assert isinstance(parent, TableEntry), "a table goes with the keys that refer to it"
            yield Link(table, constraint, parent)


def links_to(table: TableEntry, image: CatalogImage) -> Iterator[Link]:
    """Yield the foreign keys that refer to a table."""
    for entry in image.entries.values():
        if isinstance(entry, TableEntry):
            for constraint in entry.description.constraints:
                if constraint.reference is not None and constraint.reference.oid == table.description.oid:
                    yield Link(entry, constraint, table)


def check_references(transaction: TableTransaction, seen: CatalogImage, committed: CatalogImage) -> None:
    """Raise 40001 if this transaction and a committed one contradict each other in a foreign key.

    One has removed rows to which rows of the other refer. seen: the catalog of the transaction's
    snapshot. The caller holds the store's lock.
    """
    references, snapshot = transaction.references, transaction.snapshot
    for oid in references.needed:
        parent = committed.by_oid(oid)
        if isinstance(parent, TableEntry) and parent.data.removed > snapshot:
            raise conflict(parent)
    for oid in references.removed:
        parent = committed.by_oid(oid)
        if not isinstance(parent, TableEntry):
            continue
        for link in links_to(parent, committed):
            before = seen.by_oid(link.child.description.oid)
            is_new = before is None or link.constraint not in before.description.constraints
            if is_new or link.child.data.committed > snapshot:
                raise conflict(link.child)


def conflict(entry: Entry) -> SqlError:
    """Return the 40001 for a table that a foreign key connects with a changed one."""
    return SqlError("40001", CONFLICT, detail=f'Table "{entry.description.name}" was changed in between.')


def violation(message: str, key: str, what: str, holder: TableEntry, link: Link) -> SqlError:
    """Return a 23503.

    key: the key that is missing or in use, in the table `holder`; what: the rest of the detail.
    """
    return SqlError(
        "23503",
        message,
        detail=f"Key {key} {what}",
        read_oid=holder.description.oid,
        detail_without=f"Key {what}",
        table_name=link.child.description.name,
        constraint_name=link.constraint.name,
    )
