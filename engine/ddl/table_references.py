"""Foreign keys in DDL: REFERENCES in CREATE TABLE and ADD CONSTRAINT, and the dependents of a key
that is to be dropped.

Enters: a constraint as written, a table entry. Leaves: the entry with the constraint, or
PostgreSQL's refusal. `engine.tables.foreign_keys` checks the rows that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.catalog.image import TableEntry
from engine.ddl.dependents import Dependent, without_constraint
from engine.ddl.table_names import constraint_names, own_names, reference_name
from engine.ddl.table_work import TableWork
from sql.catalog.catalog import ColumnDescription, ConstraintDescription, KeyReference
from sql.catalog.schemas import found_key, meant_schema
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import in_schema_of, in_temporary_schema, written_schema
from sql.names.suggestions import did_you_mean
from sql.parse.statements.parts import Constraint, Reference
from sql.types.datatypes import SqlType

MISSING = "referenced in foreign key constraint does not exist"
# Families whose values compare with each other without a conversion that could fail or round.
ALIKE = (frozenset({"int2", "int4", "int8"}), frozenset({"text", "varchar"}))
NUMBERS = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric"})


def with_reference(entry: TableEntry, constraint: Constraint, work: TableWork) -> TableEntry:
    """Return the entry with one more foreign key.

    Raises 42P01, 42703, 42704, 42710, 42804 and 42830.
    """
    description = entry.description
    reference = constraint.reference
    assert reference is not None
    parent = _parent(entry, reference, work)
    _require_same_life(entry, parent)
    child_columns = _columns(description.columns, constraint.columns, MISSING)
    parent_columns = _parent_columns(parent, reference)
    if len(child_columns) != len(parent_columns):
        raise SqlError("42830", "number of referencing and referenced columns for foreign key disagree")
    own = own_names(entry)
    name = constraint.name
    if name is None:
        taken = constraint_names(work.image) | {in_schema_of(description.name, one) for one in own}
        name = reference_name(description.name, [one.name for one in child_columns], taken)
    elif name in own:
        raise SqlError("42710", f'constraint "{name}" for relation "{description.name}" already exists')
    for child, of in zip(child_columns, parent_columns, strict=True):
        _require_alike(name, child, of)
    numbers = tuple(one.number for one in parent_columns)
    made = ConstraintDescription(
        name,
        "foreign key",
        tuple(one.number for one in child_columns),
        reference=KeyReference(
            parent.description.oid,
            numbers,
            reference.on_delete,
            reference.on_update,
            reference.deferrable,
            reference.deferred,
        ),
    )
    return replace(entry, description=replace(description, constraints=(*description.constraints, made)))


def drop_constraint(one: Dependent, work: TableWork) -> None:
    """Drop the foreign key or check of a dependent, if it is one and its table stays."""
    table = work.image.by_oid(one.oid)
    if one.constraint is not None and isinstance(table, TableEntry):
        work.put(without_constraint(table, one.constraint))


def _require_same_life(child: TableEntry, parent: TableEntry) -> None:
    """Raise 42P16 unless both tables last, or neither."""
    lasts, parent_lasts = (not in_temporary_schema(one.description.name) for one in (child, parent))
    if lasts != parent_lasts:
        kind = "permanent" if lasts else "temporary"
        raise SqlError("42P16", f"constraints on {kind} tables may reference only {kind} tables")


def _parent(entry: TableEntry, reference: Reference, work: TableWork) -> TableEntry:
    known = {*work.image.entries, entry.description.name}
    key = found_key(reference.table, work.settings, known.__contains__)
    if key == entry.description.name:
        return entry
    found = work.image.entries.get(key)
    if found is None:
        schema = written_schema(reference.table)
        if schema is not None and meant_schema(schema, work.settings) not in work.image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist')
        hint = did_you_mean(reference.table, work.image.relation_names())
        raise SqlError("42P01", f'relation "{key}" does not exist', hint=hint)
    if not isinstance(found, TableEntry):
        hint = "Rows of streams and views come and go by themselves."
        raise SqlError("42809", f'referenced relation "{key}" is not a table', hint=hint)
    return found


def _columns(
    columns: Sequence[ColumnDescription], names: Sequence[tuple[str, int]], missing: str
) -> list[ColumnDescription]:
    by_name = {column.name: column for column in columns}
    found: list[ColumnDescription] = []
    for name, _ in names:
        if name not in by_name:
            raise SqlError("42703", f'column "{name}" {missing}', hint=did_you_mean(name, by_name, "the column"))
        found.append(by_name[name])
    return found


def _parent_columns(parent: TableEntry, reference: Reference) -> list[ColumnDescription]:
    description = parent.description
    if not reference.columns:
        for constraint in description.constraints:
            if constraint.kind == "primary key":
                return parent.numbered(constraint.columns)
        raise SqlError("42704", f'there is no primary key for referenced table "{description.name}"')
    columns = _columns(description.columns, reference.columns, MISSING)
    numbers = {column.number for column in columns}
    if len(numbers) != len(columns):
        raise SqlError("42830", "foreign key referenced-columns list must not contain duplicates")
    if not any(one.is_plain_key and set(one.columns) == numbers for one in description.constraints):
        message = f'there is no unique constraint matching given keys for referenced table "{description.name}"'
        raise SqlError("42830", message)
    return columns


def _require_alike(name: str, child: ColumnDescription, parent: ColumnDescription) -> None:
    given, wanted = child.type, parent.type
    alike = given.family == wanted.family and (given.family != "bpchar" or given.length == wanted.length)
    if (alike and not given.is_variable_numeric) or any({given.family, wanted.family} <= group for group in ALIKE):
        return
    if given.family == wanted.family or {given.family, wanted.family} <= NUMBERS:
        raise not_supported(f"a foreign key from {shown(given)} to {shown(wanted)}", hint="Give both columns one type.")
    raise SqlError(
        "42804",
        f'foreign key constraint "{name}" cannot be implemented',
        detail=f'Key columns "{child.name}" and "{parent.name}" are of incompatible types: {shown(given)} and {shown(wanted)}.',
    )


def shown(kind: SqlType) -> str:
    """Return a type as messages have it."""
    return kind.without_modifier().sql_name
