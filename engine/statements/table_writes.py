"""INSERT, UPDATE, DELETE and TRUNCATE of durable tables: new rows are computed as one Arrow table,
checked, then applied.

Enters: bound statements without open parameters, inside a `TableTransaction`. Leaves: outcomes with
the rows of RETURNING. All errors of a row are raised before the table is touched, but for those of
unique keys, which the table itself guards. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from engine.catalog.image import TableEntry
from engine.execution.outcome import Outcome
from engine.tables.conflicts import Resolution, resolve
from engine.tables.literal_rows import literal_rows
from engine.tables.row_checks import check_rows
from engine.tables.table_transaction import TableTransaction
from sql.bind.queries.origins import returned
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.bind.writes.delete import BoundDelete
from sql.bind.writes.insert import BoundInsert
from sql.bind.writes.on_conflict import BoundConflict
from sql.bind.writes.update import BoundUpdate
from sql.bind.writes.write_target import ROWS
from sql.catalog.catalog import RelationDescription
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import OutputColumn, Project, Relation, Scan, Values
from sql.tree.walks import calls, walk
from sql.types.datatypes import INT4
from views.model.arrow_schema import arrow_schema

BoundWrite = BoundInsert | BoundUpdate | BoundDelete


@dataclass(frozen=True)
class TableWriter:
    """The writer of one table for one statement.

    Attributes:
        inputs: the inputs of the statement besides tables: stored versions by name.
    """

    transaction: TableTransaction
    entry: TableEntry
    inputs: Mapping[str, pa.Table]
    now_us: int
    time_zone: str

    def run(self, bound: BoundWrite) -> Outcome:
        """Do the statement. Raises SqlError; the transaction is then to be rolled back."""
        match bound:
            case BoundInsert():
                outcome = self.insert(bound)
            case BoundUpdate():
                outcome = self.update(bound)
            case BoundDelete():
                outcome = self.delete(bound)
        self.transaction.references.check(self.now_us)
        return outcome

    def insert(self, bound: BoundInsert) -> Outcome:
        """Insert the rows of the source, or do to those in conflict what ON CONFLICT says."""
        rows = self._source_rows(bound.source)
        self.check(rows, bound.given)
        if bound.conflict is None:
            outcome = self._outcome("INSERT 0", rows.num_rows, bound.returning, rows)
            self.transaction.insert(self.entry, rows)
            return outcome
        resolution = resolve(self.transaction, bound.conflict, rows, self.inputs)
        if resolution.changed is not None:
            self.check(resolution.changed, (*bound.given, *bound.conflict.changed))
        outcome = self._outcome("INSERT 0", resolution.rows_count, bound.returning, resolution.written())
        self._apply(resolution, bound.conflict)
        return outcome

    def _source_rows(self, source: Relation) -> pa.Table:
        """Return the rows that an INSERT gives."""
        if isinstance(source, Scan) and source.kind == "rows":
            return self._named(self.inputs[source.name])
        rows = literal_rows(source, self.entry.description)
        return self._named(self.transaction.query(source, self.inputs)) if rows is None else rows

    def rows_that_go_on(self, source: Relation) -> pa.Table | None:
        """Return the rows of the source of an INSERT.

        None if one fails, or may fail where an error would end the transaction.
        """
        try:
            rows = literal_rows(source, self.entry.description)
            if rows is None and isinstance(source, Project) and "nextval" in calls(source):
                return self._numbered_rows(source)
            if rows is None and not self.transaction.changed:
                return self._named(self.transaction.query(source, self.inputs))
            return rows
        except SqlError:
            if not self.transaction.goes_on():
                raise
            return None

    def _numbered_rows(self, source: Project) -> pa.Table | None:
        """Return rows of literals, where columns have numbers of sequences by default."""
        numbers = [name for name, item in source.items if any(is_number(part) for part in walk(item))]
        items = ((name, Literal(None, item.type) if name in numbers else item) for name, item in source.items)
        rows = literal_rows(replace(source, items=tuple(items)), self.entry.description)
        if rows is None:
            return None
        each = Values(((Literal(0, INT4),),) * rows.num_rows, (OutputColumn("n", INT4),))
        found = self.transaction.query(Project(each, tuple(one for one in source.items if one[0] in numbers)), {})
        columns = {name: rows.column(name) for name in rows.column_names}
        return pa.table(columns | dict(zip(numbers, found.columns, strict=True)))

    def insert_unless_refused(self, rows: pa.Table, given: Iterable[int]) -> bool:
        """Insert rows; or tell that one of them may not be, after which the transaction goes on.

        Raises the errors that the table meets only while it is written.
        """
        try:
            self.check(rows, given)
            named = self.transaction.numbered(self.entry, rows)
            self.transaction.refuse_known_keys(self.entry, named)
            self.transaction.references.look_ahead(self.entry, named)
        except SqlError:
            if not self.transaction.goes_on():
                raise
            return False
        self.transaction.insert(self.entry, rows)
        self.transaction.references.check(self.now_us)
        return True

    def update(self, bound: BoundUpdate) -> Outcome:
        """Change the rows of the source.

        Where several new rows are for one old row, the first is taken.
        """
        found = once_each(self.transaction.query(bound.source, self.inputs))
        rows = found.select(range(1, found.num_columns))
        width = len(self.entry.description.columns)
        whole = self._named(rows.select(range(width)))
        self.check(whole, bound.changed)
        outcome = self._outcome("UPDATE", rows.num_rows, bound.returning, rows)
        changed = found.select([0, *(index + 1 for index in bound.changed)])
        self.transaction.update(self.entry, self._numbers(bound.changed), changed, whole)
        return outcome

    def delete(self, bound: BoundDelete) -> Outcome:
        """Delete the rows of the source."""
        found = once_each(self.transaction.query(bound.source, self.inputs))
        rows = found.select(range(1, found.num_columns))
        outcome = self._outcome("DELETE", found.num_rows, bound.returning, rows)
        self.transaction.delete(self.entry, found.select([0]))
        return outcome

    def check(self, rows: pa.Table, given: Iterable[int]) -> None:
        """Raise 23502 or 23514 for the first row that the table can't have.

        given: indexes of the columns that the statement names.
        """
        check_rows(self.transaction, self.entry.description, rows, self.now_us, self.time_zone, given)

    def _apply(self, resolution: Resolution, conflict: BoundConflict) -> None:
        changed = conflict.changed
        # Identities hold until the next write, so the existing rows come first.
        if resolution.changed is not None and resolution.identities is not None:
            columns = [resolution.identities, *(resolution.changed.column(index) for index in changed)]
            rows = pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])
            self.transaction.update(self.entry, self._numbers(changed), rows, resolution.changed)
        self.transaction.insert_absent(self.entry, resolution.inserted, self._decisive(conflict))

    def _decisive(self, conflict: BoundConflict) -> list[str]:
        """Return the names of the unique constraints that ON CONFLICT has looked at."""
        return [name for arbiter in conflict.arbiters for name in arbiter.names]

    def _outcome(self, word: str, count: int, returning: Relation | None, rows: pa.Table) -> Outcome:
        return told(f"{word} {count}", returning, self.entry.description, rows, self.transaction, self.inputs)

    def _numbers(self, indexes: Sequence[int]) -> list[int]:
        return [self.entry.description.columns[index].number for index in indexes]

    def _named(self, rows: pa.Table) -> pa.Table:
        """Return the rows under the names that the table's columns have."""
        return rows.rename_columns([column.name for column in self.entry.description.columns])


def told(
    tag: str,
    returning: Relation | None,
    target: RelationDescription,
    rows: pa.Table,
    transaction: TableTransaction,
    inputs: Mapping[str, pa.Table],
) -> Outcome:
    """Return the outcome of a statement that has written rows of `target`, with what RETURNING
    shows of them; plain columns need no engine.
    """
    if returning is None:
        return Outcome(tag)
    items = returning.items if isinstance(returning, Project) else ()
    if items and all(isinstance(item, Column) for _, item in items):
        columns = [rows.column(item.index) for _, item in items if isinstance(item, Column)]
        shown = pa.Table.from_arrays(columns, schema=arrow_schema(returning.schema))
    else:
        shown = transaction.query(returning, {**inputs, ROWS: rows})
    return Outcome(tag, returned(returning, target), shown)


def is_number(expression: Expression) -> bool:
    """Tell whether an expression is the next number of a sequence."""
    return isinstance(expression, Call) and expression.function == "nextval"


def once_each(found: pa.Table) -> pa.Table:
    """Return the first row of each identity, which is the first column."""
    identities = found.column(0).to_numpy()
    unique, first = np.unique(identities, return_index=True)
    if len(unique) == len(identities):
        return found
    return found.take(pa.array(np.sort(first)))


def queries_of(bound: BoundWrite) -> list[Relation]:
    """Return all queries of a statement: its source, RETURNING, and the assignments of ON CONFLICT,
    as far as there are any.
    """
    updates = bound.conflict.updates if isinstance(bound, BoundInsert) and bound.conflict is not None else None
    return [
        root
        for root in (bound.source, bound.returning, updates, *(one.root for one in bound.locked))
        if root is not None
    ]


def with_queries(bound: BoundWrite, roots: Sequence[Relation]) -> BoundWrite:
    """Return a statement that reads by other queries, in the order of `queries_of`."""
    left = list(roots)
    source = left.pop(0)
    returning = None if bound.returning is None else left.pop(0)
    if isinstance(bound, BoundInsert) and bound.conflict is not None and bound.conflict.updates is not None:
        bound = replace(bound, conflict=replace(bound.conflict, updates=left.pop(0)))
    locked = tuple(replace(one, root=root) for one, root in zip(bound.locked, left, strict=True))
    return replace(bound, source=source, returning=returning, locked=locked)


def settled(bound: BoundWrite, parameters: tuple[Literal, ...], now_us: int) -> BoundWrite:
    """Return the statement with its parameters' values and now()."""

    def known(root: Relation) -> Relation:
        if parameters:
            root = substitute_parameters(root, parameters)
        return substitute_now(root, now_us) if bound.stable else root

    return with_queries(bound, [known(root) for root in queries_of(bound)])
