"""Properties of tables, columns and indexes that tools set and dumps carry, and that change nothing
here: how PostgreSQL would keep a table, gather statistics of it or copy it elsewhere.

Enters: a table, a change of ALTER TABLE or ALTER INDEX. Leaves: the table with the property, as
rows of the catalog show it. Raises what PostgreSQL raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.catalog.image import TableEntry
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.statements.parts import TableChange
from sql.types.casts import plain_name

# Families whose values have one length, which nothing compresses or moves elsewhere.
PLAIN_FAMILIES = frozenset(
    """
    bool int2 int4 int8 float4 float8 date time timetz timestamp timestamptz interval uuid oid name char xid
    """.split()
)
CLUSTERABLE = frozenset({"btree", "gist"})


def with_property(entry: TableEntry, change: TableChange) -> TableEntry:
    """Return a table with a property of it, of a column or of an index. Raises 42703, 42704, 42809
    and 0A000.
    """
    match change.kept:
        case "clustered" | "replica identity":
            return _marked(entry, change)
        case "parameters" if not change.name:
            key = "parameters"
        case "parameters" | "statistics" | "storage" | "compression":
            key = f"{change.kept} {_column(entry, change).number}"
        case "trigger" | "rule":
            known = "table" if change.kept == "trigger" else "relation"
            name = name_of(entry.description.name)
            raise SqlError("42704", f'{change.kept} "{change.name}" for {known} "{name}" does not exist')
        case _:
            return entry
    value = change.new_name
    if change.kept == "parameters":
        value = "\n".join(changed_parameters(entry.properties.get(key, "").splitlines(), change))
    return replace(entry, properties={**entry.properties, key: value})


def with_parameters(entry: TableEntry, parameters: Iterable[str]) -> TableEntry:
    """Return a table with the parameters of CREATE TABLE ... WITH."""
    found = "\n".join(one for one in parameters if "." not in one.partition("=")[0])
    return replace(entry, properties={**entry.properties, "parameters": found}) if found else entry


def with_index_property(entry: TableEntry, index: ConstraintDescription, change: TableChange) -> TableEntry:
    """Return a table with other parameters of an index."""
    if change.kept != "parameters":
        return entry
    found = tuple(changed_parameters(index.parameters, change))
    return _with_index(entry, {index.name: replace(index, parameters=found)})


def changed_parameters(before: Iterable[str], change: TableChange) -> list[str]:
    """Return texts name=value after SET or RESET."""
    given = {one.partition("=")[0]: one for one in change.parameters}
    kept = [one for one in before if one.partition("=")[0] not in given]
    return kept if change.new_name == "reset" else [*kept, *(one for name, one in given.items() if "." not in name)]


def parameters_of(properties: Mapping[str, str], number: int | None = None) -> list[str] | None:
    """Return the parameters of a table, or of a column, None where there are none."""
    return properties.get("parameters" if number is None else f"parameters {number}", "").splitlines() or None


def _column(entry: TableEntry, change: TableChange) -> ColumnDescription:
    description = entry.description
    found = next((one for one in description.columns if one.name == change.name), None)
    if found is None:
        message = f'column "{change.name}" of relation "{name_of(description.name)}" does not exist'
        raise SqlError("42703", message)
    is_plain = found.type.family in PLAIN_FAMILIES and not found.type.is_array
    if is_plain and change.kept == "storage" and change.new_name != "p":
        raise SqlError("0A000", f"column data type {plain_name(found.type)} can only have storage PLAIN")
    if is_plain and change.kept == "compression" and change.new_name:
        raise SqlError("0A000", f"column data type {plain_name(found.type)} does not support compression")
    return found


def _marked(entry: TableEntry, change: TableChange) -> TableEntry:
    """Return a table one of whose indexes, or none, has a mark that only one can have."""
    indexes = {one.name: one for one in entry.description.constraints if one.is_key or one.is_index}
    if change.name and change.name not in indexes:
        table = name_of(entry.description.name)
        raise SqlError("42704", f'index "{change.name}" for table "{table}" does not exist')
    if change.name:
        check = _require_clusterable if change.kept == "clustered" else _require_identity
        check(indexes[change.name], entry)
    changed = {
        name: replace(one, marks=one.marks - {change.kept} | ({change.kept} if name == change.name else frozenset()))
        for name, one in indexes.items()
    }
    after = _with_index(entry, changed)
    if change.kept == "clustered":
        return after
    return replace(after, properties={**after.properties, change.kept: "i" if change.name else change.new_name})


def _require_clusterable(index: ConstraintDescription, _: TableEntry) -> None:
    """Raise 0A000 for an index by whose order no table can be kept."""
    if index.where is not None:
        raise SqlError("0A000", f'cannot cluster on partial index "{index.name}"')
    if index.method not in CLUSTERABLE:
        why = "because access method does not support clustering"
        raise SqlError("0A000", f'cannot cluster on index "{index.name}" {why}')


def _require_identity(index: ConstraintDescription, entry: TableEntry) -> None:
    """Raise 42809 or 0A000 for an index that does not tell all rows apart."""
    if not index.is_key:
        raise SqlError("42809", f'cannot use non-unique index "{index.name}" as replica identity')
    if 0 in index.columns:
        raise SqlError("0A000", f'cannot use expression index "{index.name}" as replica identity')
    if index.where is not None:
        raise SqlError("0A000", f'cannot use partial index "{index.name}" as replica identity')
    for column in entry.numbered(index.columns):
        if not column.not_null:
            why = f'because column "{column.name}" is nullable'
            raise SqlError("42809", f'index "{index.name}" cannot be used as replica identity {why}')


def _with_index(entry: TableEntry, changed: Mapping[str, ConstraintDescription]) -> TableEntry:
    """Return a table with changed descriptions of keys and indexes, by their names."""
    constraints = tuple(
        changed.get(one.name, one) if one.is_key or one.is_index else one for one in entry.description.constraints
    )
    return replace(entry, description=replace(entry.description, constraints=constraints))
