"""Constraints of a table in CREATE TABLE and ADD CONSTRAINT, with PostgreSQL's names and refusals.

Enters: constraints as written, a table entry. Leaves: the entry with the constraints.
`engine.ddl.table_alterations` checks the rows that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.catalog.image import TableEntry, source_text
from engine.catalog.system import the_system
from engine.ddl.table_names import check_name, constraint_names, key_name, own_names, relation_names
from engine.ddl.table_work import NO_KEY_FAMILIES, TableWork
from engine.tables.table_expressions import with_objects
from sql.bind.expressions.context import References
from sql.bind.writes.constraints import bind_check
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import in_schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.parts import Constraint
from sql.tree.walks import columns_of


def with_check(entry: TableEntry, constraint: Constraint, work: TableWork) -> TableEntry:
    """Return the entry with one more CHECK.

    Raises 42710 for a name that the table has, and the errors of the condition.
    """
    description = entry.description
    assert constraint.condition is not None
    references = References()
    condition = bind_check(constraint.condition, description, work.image, work.settings, references)
    known = own_names(entry)
    if constraint.name is None:
        indexes = sorted({column.index for column in columns_of(condition)})
        names = [description.columns[index].name for index in indexes]
        keys = {in_schema_of(description.name, name) for name in known}
        name = check_name(description.name, names, constraint_names(work.image) | keys)
    elif constraint.name in known:
        if work.image.by_oid(description.oid) is None:
            raise SqlError("42710", f'check constraint "{constraint.name}" already exists')
        raise SqlError("42710", f'constraint "{constraint.name}" for relation "{description.name}" already exists')
    else:
        name = constraint.name
    names_now = tuple((column.name, column.number) for column in description.columns)
    source = with_objects(source_text(constraint.text, work.settings, names_now), references)
    source = replace(source, table=description.name)
    made = ConstraintDescription(name, "check", (), condition, constraint.text)
    return replace(
        entry,
        description=replace(description, constraints=(*description.constraints, made)),
        checks={**entry.checks, name: source},
    )


def with_key(entry: TableEntry, constraint: Constraint, work: TableWork) -> TableEntry:
    """Return the entry with one more primary key or unique constraint.

    A primary key's columns are NOT NULL from then on.
    """
    description = entry.description
    numbers = _key_columns(entry, constraint)
    if constraint.kind == "primary key" and any(one.kind == "primary key" for one in description.constraints):
        raise SqlError(
            "42P16", f'multiple primary keys for table "{description.name}" are not allowed', constraint.position
        )
    own = {in_schema_of(description.name, one.name) for one in description.constraints}
    if constraint.name is None:
        taken = relation_names(work.image) | constraint_names(work.image) | own | {description.name}
        name = key_name(description.name, [name for name, _ in constraint.columns], constraint.kind, taken)
    else:
        name = constraint.name
        if in_schema_of(description.name, name) in own | relation_names(work.image) | {description.name}:
            raise SqlError("42P07", f'relation "{name}" already exists')
    columns = description.columns
    if constraint.kind == "primary key":
        columns = tuple(replace(one, not_null=one.not_null or one.number in numbers) for one in columns)
    made = ConstraintDescription(name, constraint.kind, numbers, parameters=constraint.parameters)
    constraints = (*description.constraints, made)
    return replace(
        entry,
        description=replace(description, columns=columns, constraints=constraints),
        indexes={**entry.indexes, name: f"i{work.take_oid()}"},
    )


def without_repeated(keys: Sequence[Constraint]) -> list[Constraint]:
    """Return the keys of CREATE TABLE, the primary one first, without those over the same columns
    as another; a name is kept.
    """
    kept: list[Constraint] = []
    for key in sorted(keys, key=lambda key: key.kind != "primary key"):
        names = [name for name, _ in key.columns]
        same = next((index for index, one in enumerate(kept) if [name for name, _ in one.columns] == names), None)
        if same is None or key.kind == "primary key":
            kept.append(key)
        elif kept[same].name is None:
            kept[same] = replace(kept[same], name=key.name)
        elif key.name is not None and key.name != kept[same].name:
            kept.append(key)
    return kept


def _key_columns(entry: TableEntry, constraint: Constraint) -> tuple[int, ...]:
    columns = {column.name: column for column in entry.description.columns}
    numbers: list[int] = []
    for name, position in constraint.columns:
        column = columns.get(name)
        if column is None:
            hint = did_you_mean(name, columns, "the column")
            raise SqlError("42703", f'column "{name}" named in key does not exist', constraint.position, hint=hint)
        if column.number in numbers:
            word = "primary key" if constraint.kind == "primary key" else "unique"
            raise SqlError("42701", f'column "{name}" appears twice in {word} constraint', constraint.position)
        require_key_type(column, position)
        numbers.append(column.number)
    return tuple(numbers)


def require_key_type(column: ColumnDescription, position: int | None) -> None:
    """Raise an error for a column whose values no index takes."""
    kind = column.type
    the_system().operator_class("btree", "", kind)
    # Values of char(n) are all filled up to n; without a length blanks at the end would tell equal
    # values apart.
    unpadded = kind.family == "bpchar" and kind.length is None
    if kind.is_array or kind.is_variable_numeric or unpadded or kind.family in NO_KEY_FAMILIES:
        hint = "Give it a precision, as in numeric(20,4)." if kind.is_variable_numeric else None
        raise not_supported(f"a key over a column of type {kind.sql_name}", position, hint=hint)
