"""The parts that DDL statements on tables and sequences share: the image that grows, the DuckDB
transaction, the tables in it.

Enters: descriptions. Leaves: physical tables `stored.r<oid>` with columns c<number> in the forms
that `sql.emit.duckdb` computes in, and one unique index per key. Must not decide what a statement
means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.catalog.image import CatalogImage, Entry, TableEntry
from engine.streams.ring_rebuild import Reshaping
from engine.tables.physical_tables import TOUCHED, physical_type
from engine.tables.row_checks import risky_values
from engine.tables.table_expressions import hidden_keys
from engine.tables.table_transaction import TableTransaction
from sql.bind.substitute import substitute_now
from sql.catalog.catalog import ConstraintDescription, SessionSettings
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Column, Expression
from sql.tree.relations import Aggregate, OutputColumn, Project, Relation, Scan, Schema
from sql.types.datatypes import INT8

# Types whose values DuckDB can't index, or would compare otherwise than PostgreSQL.
NO_KEY_FAMILIES = frozenset({"interval", "jsonb"})


@dataclass
class TableWork:
    """One DDL statement that is being done.

    Attributes:
        now_us: microseconds since 1970, what now() is.
        notices: (sqlstate, text, detail).
        reshaping: of a stream whose ring is made anew.
    """

    settings: SessionSettings
    tables: TableTransaction
    now_us: int
    notices: list[tuple[str, str, str | None]] = field(default_factory=list)
    reshaping: Reshaping | None = None

    @property
    def image(self) -> CatalogImage:
        """The catalog as the statement has changed it so far, which its queries have, too."""
        return self.tables.image

    @image.setter
    def image(self, image: CatalogImage) -> None:
        self.tables.image = image

    def put(self, entry: Entry, before: str | None = None) -> None:
        """Put a changed relation into the image. before: the name that it had, if it is renamed."""
        self.image = self.image.with_replaced(before or entry.description.name, entry)

    def take_oid(self) -> int:
        """Return a number that nothing else has."""
        oid = self.image.next_oid
        self.image = replace(self.image, next_oid=oid + 1)
        return oid

    def notice(self, text: str, sqlstate: str = "00000", detail: str | None = None) -> None:
        """Give the client a notice when the statement has succeeded."""
        self.notices.append((sqlstate, text, detail))

    def skip(self, error: SqlError, allowed: bool, sqlstate: str = "00000") -> None:
        """Give the client the notice that something is skipped, since IF EXISTS or IF NOT EXISTS
        allows what is an error else. Raises `error`.
        """
        if not allowed:
            raise error
        self.notice(f"{error.message}, skipping", sqlstate)

    def create(self, entry: TableEntry) -> None:
        """Create the physical table with its keys."""
        self.create_rows(entry)
        self.create_indexes(entry, entry.description.constraints)

    def create_rows(self, entry: TableEntry) -> None:
        """Create the physical table without keys."""
        hidden = [column for column, _ in hidden_keys(entry)]
        columns = [f"c{one.number} {physical_type(one.type)}" for one in (*entry.description.columns, *hidden)]
        columns.append(f"{TOUCHED} BIGINT NOT NULL DEFAULT 0")
        self.tables.execute_ddl(f"CREATE TABLE stored.{entry.physical} ({', '.join(columns)})")

    def create_indexes(self, entry: TableEntry, constraints: Sequence[ConstraintDescription]) -> None:
        """Create the unique indexes of those constraints that are keys."""
        self.tables.unguarded.add(entry.physical)
        for constraint in constraints:
            if constraint.is_key:
                columns = ", ".join(f"c{number}" for number in constraint.stored or constraint.columns)
                index = entry.indexes[constraint.name]
                self.tables.execute_ddl(f"CREATE UNIQUE INDEX {index} ON stored.{entry.physical} ({columns})")

    def rebuild(
        self, before: TableEntry, after: TableEntry, items: Sequence[Expression], checked: bool = False
    ) -> TableEntry:
        """Make the physical table anew as `after`, whose columns get `items`, expressions over the
        rows of `before`.

        checked: values of keys may have become equal. Return `after` with the new physical names.
        Raises the errors of the expressions.
        """
        indexes = {name: f"i{self.take_oid()}" for name in after.indexes}
        physical = f"r{after.description.oid}_{self.take_oid()}"
        built = replace(after, physical=physical, indexes=indexes)
        self.create_rows(built)
        columns = after.description.columns
        root = Project(
            table_scan(before), tuple((column.name, item) for column, item in zip(columns, items, strict=True))
        )
        if hidden := hidden_keys(built):
            own = [Column(place, one.name, one.type) for place, one in enumerate(columns)]
            kept = ((f"c{column.number}", value) for column, value in hidden)
            root = Project(root, (*((one.name, one) for one in own), *kept))
        self.tables.insert_from(built, substitute_now(root, self.now_us), before)
        self.tables.execute_ddl(f"DROP TABLE stored.{before.physical}")
        for constraint in built.description.constraints:
            if checked and constraint.is_key:
                self.require_distinct(built, constraint)
        self.create_indexes(built, built.description.constraints)
        return built

    def drop(self, entry: TableEntry) -> None:
        """Drop the physical table."""
        self.tables.execute_ddl(f"DROP TABLE stored.{entry.physical}")

    def require_distinct(self, entry: TableEntry, constraint: ConstraintDescription) -> None:
        """Raise 23505 when existing rows have the same key."""
        key = self.tables.repeated_key(entry, constraint)
        if key is not None:
            raise SqlError(
                "23505",
                f'could not create unique index "{constraint.name}"',
                detail=f"Key {key} is duplicated.",
                read_oid=entry.description.oid,
                detail_without="Duplicate keys exist.",
                table_name=entry.description.name,
                constraint_name=constraint.name,
            )

    def compute(self, entry: TableEntry, index: ConstraintDescription) -> None:
        """Compute what an index that is no key computes of the rows that are there, where that may
        fail. Raises its errors.
        """
        risky = risky_values(index, entry.description.columns)
        counts = tuple((f"n{place}", AggregateCall("count", (item,), INT8)) for place, item in enumerate(risky))
        if counts:
            self.tables.query(Aggregate(table_scan(entry), (), counts), {})

    def any_row(self, root: Relation) -> bool:
        """Tell whether a relation has rows."""
        return bool(self.tables.query(root, {}).num_rows)


def table_scan(entry: TableEntry) -> Scan:
    """Return the scan of a table's rows."""
    schema: Schema = tuple(OutputColumn(column.name, column.type) for column in entry.description.columns)
    return Scan(entry.description.name, "table", schema)
