"""The parts that the actions of ALTER TABLE and of ALTER FOREIGN TABLE share: their order, columns
and constraints that are there or not, defaults, dependents.

Enters: actions as written, a `TableWork`. Leaves: columns, defaults, PostgreSQL's errors and
notices. Must not know how rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from engine.catalog.image import SequenceEntry, SourceText, StreamEntry, TableEntry
from engine.ddl.dependents import Dependent, column_dependents, dependents_of, shown, with_dependents
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


class Alteration(Generic[AlteredEntry]):
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
        self._actions = actions

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
            if not change.if_exists:
                raise SqlError("42703", message, hint=did_you_mean(change.name, columns, "the column"))
            self.work.notice(f"{message}, skipping")
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
        message = f'column "{name}" of relation "{self.name}" already exists'
        if not if_not_exists:
            raise SqlError("42701", message)
        self.work.notice(f"{message}, skipping", "42701")
        return True

    def renamed_column(self, change: TableChange) -> ColumnDescription:
        """Return the column that gets another name. Raises 42703 and 42701."""
        column = self.column(change, f'column "{change.name}" does not exist')
        assert column is not None
        self.has_column(change.new_name, if_not_exists=False)
        return column

    def new_default(self, column: ColumnDescription, change: TableChange) -> tuple[Expression, SourceText]:
        """Return the default that an action gives to a column, bound and as it is stored."""
        assert change.default is not None
        definition = TableColumn(column.name, column.type, default=change.default, default_text=change.default_text)
        return new_default(definition, self.work.image, self.work.settings)

    def defaults_without(self, column: ColumnDescription) -> dict[int, SourceText]:
        """Return the stored defaults of all other columns."""
        return {number: source for number, source in self.entry.defaults.items() if number != column.number}

    def no_constraint(self, change: TableChange) -> None:
        """Say that there is no constraint of the name. Raises 42704 unless it need not be there."""
        if change.action == "rename constraint":
            raise SqlError("42704", f'constraint "{change.name}" for table "{self.name}" does not exist')
        message = f'constraint "{change.name}" of relation "{self.name}" does not exist'
        if not change.if_exists:
            raise SqlError("42704", message)
        self.work.notice(f"{message}, skipping")

    def drop_users(self, column: ColumnDescription, cascade: bool, sequences: Sequence[SequenceEntry] = ()) -> None:
        """Drop the dependents of a column but its own default, and of its sequences. Raises
        2BP01.
        """
        image, oid = self.work.image, self.entry.description.oid
        found = with_dependents(image, column_dependents(image, self.entry, column.number))
        found += dependents_of(image, sequences)
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
