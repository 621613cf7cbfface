"""The parts that the actions of ALTER TABLE and of ALTER FOREIGN TABLE share: their order, columns
and constraints that are there or not, defaults, dependents.

Enters: actions as written, a `TableWork`. Leaves: columns, defaults, PostgreSQL's errors and
notices. Must not know how rows are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from engine.catalog.image import SourceText, StreamEntry, TableEntry
from engine.ddl.dependents import Dependent, column_dependents, shown, with_dependents
from engine.ddl.dropping import drop_with, tell_dropped
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import new_default
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.names.suggestions import did_you_mean
from sql.parse.statements.parts import TableChange, TableColumn
from sql.tree.expressions import Expression

AlteredEntry = TypeVar("AlteredEntry", TableEntry, StreamEntry)

# PostgreSQL does the actions of one statement in this order.
PASSES = {
    "drop column": 0,
    "drop constraint": 0,
    "set type": 1,
    "add column": 2,
    "add constraint": 4,
}
OTHER_PASS = 3


class Alteration(ABC, Generic[AlteredEntry]):
    """A table or stream under change.

    Attributes:
        entry: the entry after the actions done so far; the work's image always has it, too.

    Arguments:
        actions: what does an action, by its name.
    """

    def __init__(
        self, entry: AlteredEntry, work: TableWork, actions: Mapping[str, Callable[[TableChange], None]]
    ) -> None:
        self.entry: AlteredEntry = entry
        self.work = work
        self._actions = {
            "rename column": self._rename_column,
            "set default": self._set_default,
            "drop default": self._drop_default,
            "drop not null": self._drop_not_null,
            **actions,
        }

    @property
    def name(self) -> str:
        """The name of the relation now."""
        return self.entry.description.name

    def do(self, changes: Sequence[TableChange]) -> None:
        """Do all actions of a statement."""
        for change in sorted(changes, key=lambda change: PASSES.get(change.action, OTHER_PASS)):
            self._actions[change.action](change)

    def column(self, change: TableChange, message: str | None = None) -> ColumnDescription | None:
        """Return the column that an action names.

        None: it is not there, and need not be. Raises 42703.
        """
        columns = {column.name: column for column in self.entry.description.columns}
        if change.name not in columns:
            message = message or f'column "{change.name}" of relation "{self.name}" does not exist'
            hint = did_you_mean(change.name, columns, "the column")
            self.work.skip(SqlError("42703", message, hint=hint), change.if_exists)
        return columns.get(change.name)

    def present_column(self, change: TableChange) -> ColumnDescription:
        """Return the column that an action without IF EXISTS names. Raises 42703."""
        column = self.column(change)
        assert column is not None
        return column

    def has_column(self, name: str, if_not_exists: bool) -> bool:
        """Tell whether a column that is to be added is there already.

        Raises 42701 where it may not be.
        """
        if all(known.name != name for known in self.entry.description.columns):
            return False
        error = SqlError("42701", f'column "{name}" of relation "{self.name}" already exists')
        self.work.skip(error, if_not_exists, error.sqlstate)
        return True

    def plain_column(self, change: TableChange) -> ColumnDescription:
        """Return a column whose default and NOT NULL are its own. Raises 42601 for an identity."""
        column = self.present_column(change)
        if column.identity is not None:
            message = f'column "{column.name}" of relation "{self.name}" is an identity column'
            hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."
            raise SqlError("42601", message, hint=hint if change.action == "drop default" else None)
        return column

    @abstractmethod
    def put_column(self, column: ColumnDescription, defaults: dict[int, SourceText] | None = None) -> None:
        """Put a changed column into the entry. defaults: of all columns, None: as they are."""

    def _rename_column(self, change: TableChange) -> None:
        column = self.column(change, f'column "{change.name}" does not exist')
        assert column is not None
        self.has_column(change.new_name, if_not_exists=False)
        self.put_column(replace(column, name=change.new_name))

    def _set_default(self, change: TableChange) -> None:
        column = self.plain_column(change)
        assert change.default is not None
        definition = TableColumn(column.name, column.type, default=change.default, default_text=change.default_text)
        default, source = self.new_default(definition)
        self.put_column(replace(column, default=default), {**self.entry.defaults, column.number: source})

    def new_default(self, definition: TableColumn) -> tuple[Expression, SourceText]:
        """Return a default, bound and as it is stored; see `table_expressions`."""
        return new_default(definition, self.work.image, self.work.settings)

    def _drop_default(self, change: TableChange) -> None:
        column = self.plain_column(change)
        self.put_column(replace(column, default=None), self.defaults_without(column))

    def _drop_not_null(self, change: TableChange) -> None:
        self.put_column(replace(self.plain_column(change), not_null=False))

    def defaults_without(self, column: ColumnDescription) -> dict[int, SourceText]:
        """Return the stored defaults of all other columns."""
        return {number: source for number, source in self.entry.defaults.items() if number != column.number}

    def no_constraint(self, change: TableChange) -> None:
        """Say that there is no constraint of the name. Raises 42704 unless it need not be there."""
        if change.action == "rename constraint":
            raise SqlError("42704", f'constraint "{change.name}" for table "{self.name}" does not exist')
        message = f'constraint "{change.name}" of relation "{self.name}" does not exist'
        self.work.skip(SqlError("42704", message), change.if_exists)

    def drop_users(self, column: ColumnDescription, cascade: bool) -> None:
        """Drop the dependents of a column but its own default. Raises 2BP01."""
        image, oid = self.work.image, self.entry.description.oid
        found = with_dependents(image, column_dependents(image, self.entry, column.number))
        found = [one for one in found if (one.oid, one.column) != (oid, column.number)]
        self.drop_dependents(f"column {column.name} of {shown(self.entry)}", found, cascade)

    def drop_dependents(self, what: str, found: Sequence[Dependent], cascade: bool) -> None:
        """Drop dependents, and tell the client of them. Raises 2BP01 without CASCADE."""
        if not found:
            return
        tell_dropped(what, found, cascade, self.work)
        drop_with([], found, self.work)
        # Defaults and constraints of the relation itself may have been among them.
        entry = self.work.image.by_oid(self.entry.description.oid)
        assert isinstance(entry, type(self.entry)), entry
        self.entry = entry
