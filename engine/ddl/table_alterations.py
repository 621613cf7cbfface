"""ALTER TABLE: each action from an entry to the next, with the changes of the physical table and of
its rows.

Enters: actions as written, a `TableWork`. Leaves: the changed entry in the work's image. Raises
PostgreSQL's errors; the transaction is then rolled back as a whole, physical tables included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.catalog.image import SequenceEntry, SourceText, TableEntry
from engine.catalog.kept_properties import with_property
from engine.catalog.sequences import LIMITS
from engine.ddl.alterations import Alteration
from engine.ddl.definitions import require_free
from engine.ddl.dependents import (
    Dependent,
    links_needing,
    owned_by,
    refuse_in_use,
    shown,
    views_using,
)
from engine.ddl.dropping import without_column
from engine.ddl.query_views import carried_over
from engine.ddl.table_building import next_value, own_sequence, with_column
from engine.ddl.table_constraints import require_key_type, with_check, with_key
from engine.ddl.table_names import relation_names
from engine.ddl.table_references import with_reference
from engine.ddl.table_work import TableWork, table_scan
from engine.tables.foreign_keys import links_from, links_to
from engine.tables.physical_tables import physical_type
from engine.tables.table_expressions import bound_default, bound_description
from sql.bind.collations import COLLATABLE
from sql.bind.readers import value_as_written, with_zone
from sql.bind.substitute import substitute_now
from sql.bind.writes.constraints import bind_conversion
from sql.bind.writes.write_target import stored
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import in_schema_of, name_of
from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.parts import TableChange
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import Filter, Limit, Project
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import BOOL, INT8, SqlType, element_family


def alter_table(statement: AlterTable, entry: TableEntry, work: TableWork) -> None:
    """Do all actions of the statement."""
    refuse_in_use(work.image, entry)
    work.tables.references.refuse_waiting(entry, "ALTER TABLE")
    before = work.image
    TableAlteration(entry, work).do(statement.changes)
    work.image = carried_over(before, work.image, [entry.description.oid])


class TableAlteration(Alteration[TableEntry]):
    """A table under change."""

    def __init__(self, entry: TableEntry, work: TableWork) -> None:
        actions: dict[str, Callable[[TableChange], None]] = {
            "add column": self._add_column,
            "drop column": self._drop_column,
            "rename": self._rename,
            "set type": self._set_type,
            "set not null": self._set_not_null,
            "drop not null": self._drop_not_null,
            "add identity": self._add_identity,
            "add constraint": self._add_constraint,
            "alter constraint": self._alter_constraint,
            "drop constraint": self._drop_constraint,
            "rename constraint": self._rename_constraint,
            "validate constraint": self._validate_constraint,
            "options": self._refuse_options,
            "keep": self._keep,
        }
        super().__init__(entry, work, actions)

    # Columns

    def _add_column(self, change: TableChange) -> None:
        column = change.column
        assert column is not None
        if self.has_column(column.name, change.if_exists):
            return
        before = self.entry
        after = with_column(before, column, self.work)
        made = after.description.columns[-1]
        if made.default is None:
            self.work.tables.execute_ddl(
                f"ALTER TABLE stored.{before.physical} ADD COLUMN c{made.number} {physical_type(made.type)}"
            )
            self._put(after)
        else:
            default = value_as_written(made.default, self.work.settings)
            self._put(self.work.rebuild(before, after, [*columns_of(before), stored(default, made)]))
        if made.not_null:
            self._require_filled(made)
        for constraint in column.constraints:
            self._add_constraint(TableChange("add constraint", constraint=constraint))

    def _drop_column(self, change: TableChange) -> None:
        column = self.column(change)
        if column is None:
            return
        self.drop_users(column, change.cascade)
        self._put(without_column(self.entry, column.number, self.work))

    def _set_type(self, change: TableChange) -> None:
        column = self.present_column(change)
        assert change.type is not None
        for view in views_using(self.work.image, self.entry, column.number):
            raise SqlError(
                "0A000",
                "cannot alter type of a column used by a view or rule",
                detail=f'rule _RETURN on {shown(view)} depends on column "{column.name}"',
            )
        for link in (*links_from(self.entry, self.work.image), *links_to(self.entry, self.work.image)):
            if column.number in (link.constraint.columns if link.child is self.entry else link.reference.columns):
                hint = f'Drop the constraint "{link.constraint.name}" first, and add it again afterwards.'
                raise not_supported("a change of the type of a column of a foreign key", change.position, hint)
        keys = (
            pair
            for one in self.entry.description.constraints
            for pair in zip(one.columns, one.collations, strict=False)
        )
        if element_family(change.type.family) not in COLLATABLE and any(
            number == column.number and collation for number, collation in keys
        ):
            raise SqlError("42804", f"collations are not supported by type {change.type.row.sql_name}")
        target = replace(column, type=change.type, default=None)
        self._check_default(column, change.type)
        before = self.entry
        description = before.description
        image, settings = self.work.image, self.work.settings
        value = bind_conversion(change.using, column, target, description, image, settings)
        items = [
            stored(value, target) if known is column else item
            for known, item in zip(description.columns, columns_of(before), strict=True)
        ]
        self._change_sequence_type(column, change.type)
        columns = tuple(target if known is column else known for known in description.columns)
        after = bound_description(replace(before, description=replace(description, columns=columns)), self.work.image)
        if any(one.is_key and column.number in one.columns for one in description.constraints):
            require_key_type(target, None)
        self._put(self.work.rebuild(before, after, items, checked=True))
        for constraint in after.description.constraints:
            if constraint.kind == "check":
                self._check_rows(constraint)

    def _check_default(self, column: ColumnDescription, kind: SqlType) -> None:
        source = self.entry.defaults.get(column.number)
        if source is None or column.default is None or column.identity is not None:
            return
        if not can_cast(column.default.type.family, kind.family, "assignment"):
            message = f'default for column "{column.name}" cannot be cast automatically to type {plain_name(kind)}'
            raise SqlError("42804", message)

    def _change_sequence_type(self, column: ColumnDescription, kind: SqlType) -> None:
        for sequence in owned_by(self.work.image, self.entry.description.oid, column.number):
            if sequence.identity:
                if kind.family not in LIMITS:
                    raise SqlError("22023", "identity column type must be smallint, integer, or bigint")
                definition = replace(sequence.definition, type=kind, maximum=maximum_for(sequence, kind))
                self.work.put(replace(sequence, definition=definition))

    # Defaults and NOT NULL

    def _add_identity(self, change: TableChange) -> None:
        """Make a column an identity column, as pg_dump does it after CREATE TABLE."""
        column, definition = self.present_column(change), change.column
        assert definition is not None
        shown = f'column "{column.name}" of relation "{self.name}"'
        if not column.not_null:
            raise SqlError("55000", f"{shown} must be declared NOT NULL before identity can be added")
        if column.identity is not None:
            raise SqlError("55000", f"{shown} is already an identity column")
        if column.number in self.entry.defaults:
            raise SqlError("55000", f"{shown} already has a default value")
        if column.type.family not in LIMITS:
            raise SqlError("22023", "identity column type must be smallint, integer, or bigint")
        sequence = own_sequence(self.entry.description, replace(definition, type=column.type), column.number, self.work)
        source = next_value(sequence, self.work.settings.time_zone)
        described = replace(column, identity=definition.identity)
        default, source = bound_default(described, source, self.work.image)
        self.put_column(replace(described, default=default), {**self.entry.defaults, column.number: source})

    def _set_not_null(self, change: TableChange) -> None:
        column = self.column(change)
        if column is not None and not column.not_null:
            self._require_filled(column)
            self.put_column(replace(column, not_null=True))

    def _drop_not_null(self, change: TableChange) -> None:
        column = self.plain_column(change)
        if any(
            one.kind == "primary key" and column.number in one.columns for one in self.entry.description.constraints
        ):
            raise SqlError("42P16", f'column "{column.name}" is in a primary key')
        super()._drop_not_null(change)

    # Constraints

    def _add_constraint(self, change: TableChange) -> None:
        constraint = change.constraint
        assert constraint is not None
        if constraint.kind == "check":
            self._put(with_check(self.entry, constraint, self.work))
            self._check_rows(self.entry.description.constraints[-1])
            return
        if constraint.reference is not None:
            self._put(with_reference(self.entry, constraint, self.work))
            *_, link = links_from(self.entry, self.work.image)
            self.work.tables.references.require_all(link)
            return
        before = self.entry
        after = with_key(before, constraint, self.work)
        made = after.description.constraints[-1]
        for column in after.description.columns:
            if column.number in made.columns and made.kind == "primary key":
                self._require_filled(column)
        self.work.require_distinct(after, made)
        # DuckDB adds no index to a table that this transaction has changed already.
        self._put(self.work.rebuild(before, after, columns_of(before)))

    def _alter_constraint(self, change: TableChange) -> None:
        description = self.entry.description
        found = next((one for one in description.constraints if one.name == change.name and not one.is_index), None)
        if found is None:
            self.no_constraint(change)
            return
        if found.reference is None:
            message = f'constraint "{change.name}" of relation "{self.name}" is not a foreign key constraint'
            raise SqlError("42809", message)
        reference = replace(found.reference, deferrable=change.deferrable, deferred=change.deferred)
        constraints = tuple(
            replace(one, reference=reference) if one is found else one for one in description.constraints
        )
        self._put(replace(self.entry, description=replace(description, constraints=constraints)))

    def _drop_constraint(self, change: TableChange) -> None:
        description = self.entry.description
        lost = [one for one in description.constraints if one.name == change.name and not one.is_index]
        if not lost:
            self.no_constraint(change)
            return
        self._drop_references(f"constraint {change.name} on table {self.name}", lost, f"index {change.name}", change)
        lost = [one for one in self.entry.description.constraints if one.name == change.name and not one.is_index]
        self._drop_indexes(lost)
        kept = (one for one in self.entry.description.constraints if one not in lost)
        self._put(self.entry.with_constraints(kept))

    def _drop_references(self, what: str, lost: Sequence[ConstraintDescription], on: str, change: TableChange) -> None:
        """Drop the foreign keys that refer to dropped keys, or raise 2BP01."""
        needing = links_needing(self.entry, lost, self.work.image)
        self.drop_dependents(
            what, [Dependent(one.child, on, constraint=one.constraint.name) for one in needing], change.cascade
        )

    def _rename_constraint(self, change: TableChange) -> None:
        description = self.entry.description
        found = next((one for one in description.constraints if one.name == change.name and not one.is_index), None)
        if found is None:
            self.no_constraint(change)
            return
        if found.is_key and in_schema_of(self.name, change.new_name) in relation_names(self.work.image):
            raise SqlError("42P07", f'relation "{change.new_name}" already exists')
        if any(one.name == change.new_name and not one.is_index for one in description.constraints):
            raise SqlError("42710", f'constraint "{change.new_name}" for relation "{self.name}" already exists')
        renamed = tuple(replace(one, name=change.new_name) if one is found else one for one in description.constraints)
        entry = replace(self.entry, description=replace(description, constraints=renamed))
        names = {change.name: change.new_name}
        if found.kind == "check":
            entry = replace(entry, checks={names.get(name, name): one for name, one in entry.checks.items()})
        elif found.is_key:
            entry = replace(entry, indexes={names.get(name, name): one for name, one in entry.indexes.items()})
        self._put(entry)

    def _validate_constraint(self, change: TableChange) -> None:
        """Look the constraint up: every one holds for all rows. Raises 42704 and 42809."""
        found = next((one for one in self.entry.description.constraints if one.name == change.name), None)
        if found is None or found.is_index:
            self.no_constraint(change)
        elif found.kind not in ("check", "foreign key"):
            message = f'constraint "{change.name}" of relation "{self.name}" is not a foreign key or check constraint'
            raise SqlError("42809", message)

    def _keep(self, change: TableChange) -> None:
        if change.kept == "triggers" and change.new_name == "all":
            if any(one.reference for one in self.entry.description.constraints):
                self.work.notice(f'foreign keys of "{name_of(self.name)}" are checked all the same')
        self._put(with_property(self.entry, change))

    def _rename(self, change: TableChange) -> None:
        require_free(self.work.image, change.new_name)
        before = self.name
        self.entry = replace(self.entry, description=replace(self.entry.description, name=change.new_name))
        self.work.put(self.entry, before)

    def _refuse_options(self, _: TableChange) -> None:
        message = f'ALTER action OPTIONS cannot be performed on relation "{self.name}"'
        raise SqlError("42809", message, detail="This operation is not supported for tables.")

    # Inside

    def _put(self, entry: TableEntry) -> None:
        self.entry = entry
        self.work.put(entry)

    def put_column(self, column: ColumnDescription, defaults: dict[int, SourceText] | None = None) -> None:
        """See Alteration."""
        columns = tuple(column if one.number == column.number else one for one in self.entry.description.columns)
        description = replace(self.entry.description, columns=columns)
        kept = self.entry.defaults if defaults is None else defaults
        self._put(replace(self.entry, description=description, defaults=kept))

    def _drop_indexes(self, constraints: Sequence[ConstraintDescription]) -> None:
        for constraint in constraints:
            if constraint.is_key:
                self.work.tables.execute_ddl(f"DROP INDEX stored.{self.entry.indexes[constraint.name]}")

    def _require_filled(self, column: ColumnDescription) -> None:
        """Raise 23502 when a row has NULL in a column."""
        index = next(place for place, one in enumerate(self.entry.description.columns) if one.number == column.number)
        empty = Call("is_null", (Column(index, column.name, column.type),), BOOL)
        if self.work.any_row(Limit(Filter(table_scan(self.entry), empty), Literal(1, INT8), None)):
            raise SqlError(
                "23502",
                f'column "{column.name}" of relation "{self.name}" contains null values',
                table_name=self.name,
                column_name=column.name,
            )

    def _check_rows(self, constraint: ConstraintDescription) -> None:
        """Raise 23514 when a row fails a check."""
        assert constraint.condition is not None
        condition = Call("is_false", (constraint.condition,), BOOL)
        root = substitute_now(Project(table_scan(self.entry), (("failed", condition),)), self.work.now_us)
        root = with_zone(root, self.work.settings.time_zone)
        failed = Filter(root, Column(0, "failed", BOOL))
        if self.work.any_row(Limit(failed, Literal(1, INT8), None)):
            raise SqlError(
                "23514",
                f'check constraint "{constraint.name}" of relation "{self.name}" is violated by some row',
                table_name=self.name,
                constraint_name=constraint.name,
            )


def columns_of(entry: TableEntry) -> list[Expression]:
    """Return the columns of a table as expressions over its rows."""
    return [Column(index, column.name, column.type) for index, column in enumerate(entry.description.columns)]


def maximum_for(sequence: SequenceEntry, kind: SqlType) -> int:
    """Return the maximum of an identity's sequence after its column has another type: the type's,
    where it was the type's.
    """
    definition = sequence.definition
    if definition.maximum == LIMITS[definition.type.family] - 1:
        return LIMITS[kind.family] - 1
    return min(definition.maximum, LIMITS[kind.family] - 1)
