"""CREATE TABLE with LIKE: a table whose columns, and more by INCLUDING, are those of existing
relations.

Enters: a statement with likes, a `TableWork`. Leaves: the entry of the new table, in the work's
image with its comments. Columns come in the place of LIKE; checks, keys and indexes after those of
the statement itself, the last two under new names, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.image import Entry, SequenceEntry, SourceText, StreamEntry, TableEntry
from engine.ddl.dependents import owned_by
from engine.ddl.table_alterations import columns_of
from engine.ddl.table_building import build_table, stored_type
from engine.ddl.table_constraints import with_key
from engine.ddl.table_indexes import stored_numbers
from engine.ddl.table_names import free_name, joined_names, own_names, relation_names
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import bound_check, bound_defaults, index_columns, names_row, with_columns
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.parts import Constraint, LikeRelation, SequenceOptions, TableColumn


def build_table_like(statement: CreateTable, work: TableWork) -> TableEntry:
    """Create a table some of whose columns are other relations'.

    Raises 42P01, 42809, and the errors of `build_table`.
    """
    columns: list[TableColumn] = []
    defaults: dict[int, SourceText] = {}
    for place, own in enumerate((*statement.columns, None)):
        for like in statement.likes:
            if like.before == place:
                for column, default in columns_like(like, work):
                    columns.append(column)
                    if default is not None:
                        defaults[len(columns)] = default
        if own is not None:
            columns.append(own)
    entry = build_table(replace(statement, columns=tuple(columns)), work)
    copied, defaults = bound_defaults(
        [one for one in entry.description.columns if one.number in defaults], defaults, work.image
    )
    by_number = {one.number: one for one in (*entry.description.columns, *copied)}
    entry = with_columns(replace(entry, defaults={**entry.defaults, **defaults}), tuple(by_number.values()))
    work.put(entry)
    for like in statement.likes:
        entry = with_constraints_like(entry, like, work)
    return entry


def source_of(like: LikeRelation, work: TableWork) -> Entry:
    """Return the relation that LIKE names. Raises 42P01, and 42809 for a sequence."""
    entry = work.image.existing(like.name, like.position)
    if isinstance(entry, SequenceEntry):
        message = f'relation "{name_of(like.name)}" is invalid in LIKE clause'
        raise SqlError("42809", message, like.position, detail="This operation is not supported for sequences.")
    return entry


def columns_like(like: LikeRelation, work: TableWork) -> list[tuple[TableColumn, SourceText | None]]:
    """Return copies of a relation's columns, each with its default where that is copied."""
    entry = source_of(like, work)
    known = entry.defaults if isinstance(entry, TableEntry | StreamEntry) else {}
    found = []
    for column in entry.description.columns:
        copied = TableColumn(column.name, stored_type(column.type), column.not_null)
        default = known.get(column.number) if "defaults" in like.including and column.identity is None else None
        if isinstance(entry, TableEntry) and column.identity is not None and "identity" in like.including:
            options = sequence_options(entry, column, work)
            copied = replace(copied, identity=column.identity, identity_options=options)
        found.append((copied, default))
    return found


def sequence_options(entry: TableEntry, column: ColumnDescription, work: TableWork) -> SequenceOptions:
    """Return the options for a sequence like that of an identity column, but at its start."""
    (sequence,) = owned_by(work.image, entry.description.oid, column.number)
    one = sequence.definition
    return SequenceOptions(one.type, one.start, one.increment, one.minimum, one.maximum, one.cache, one.cycle)


def with_constraints_like(entry: TableEntry, like: LikeRelation, work: TableWork) -> TableEntry:
    """Return the table, in the work's image too, with the checks, keys, indexes and comments that
    LIKE copies.
    """
    source = source_of(like, work)
    before = len(entry.description.constraints)
    if isinstance(source, TableEntry):
        for constraint in source.description.constraints:
            if constraint.kind == "check" and "constraints" in like.including:
                entry = with_check_like(entry, source, constraint, like, work)
            elif constraint.is_index and "indexes" in like.including:
                entry = with_index_like(entry, source, constraint, work)
            elif constraint.is_key and "indexes" in like.including:
                names = tuple((one.name, 0) for one in source.numbered(constraint.columns))
                entry = with_key(
                    entry, Constraint(constraint.kind, None, names, parameters=constraint.parameters), work
                )
            work.put(entry)
        made = entry.description.constraints[before:]
        if any(one.stored for one in made):
            entry = work.rebuild(entry, entry, columns_of(entry))
            work.put(entry)
        else:
            work.create_indexes(entry, made)
    if "comments" in like.including:
        numbers = numbers_in(entry)
        for place, column in enumerate(source.description.columns, 1):
            text = work.image.comments.get((source.description.oid, column.number or place))
            if text is not None:
                work.image = work.image.with_comment(entry.description.oid, numbers[column.name], text)
    return entry


def with_check_like(
    entry: TableEntry, source: TableEntry, check: ConstraintDescription, like: LikeRelation, work: TableWork
) -> TableEntry:
    """Return the table with a CHECK of another one, under its name.

    Raises 42710 if it has one of that name, and 0A000 for one of a whole row, which is one of the
    other table.
    """
    description = entry.description
    if check.name in own_names(entry):
        message = f'constraint "{check.name}" for relation "{name_of(description.name)}" already exists'
        raise SqlError("42710", message)
    numbers = numbers_in(entry)
    new_numbers = {column.number: numbers[column.name] for column in source.description.columns}
    text = renumbered(source.checks[check.name], new_numbers)
    comment = check.comment if "comments" in like.including else ""
    if names_row(text):
        table = name_of(source.description.name)
        detail = f'Constraint "{check.name}" contains a whole-row reference to table "{table}".'
        raise SqlError("0A000", "cannot convert whole-row table reference", detail=detail)
    condition, text = bound_check(text, description, work.image)
    made = replace(check, condition=condition, comment=comment)
    constraints = (*description.constraints, made)
    return replace(
        entry,
        description=replace(description, constraints=constraints),
        checks={**entry.checks, check.name: text},
    )


def with_index_like(entry: TableEntry, source: TableEntry, index: ConstraintDescription, work: TableWork) -> TableEntry:
    """Return the table with an index over the same columns."""
    description = entry.description
    names = [one.name for one in index_columns(source, index)]
    name = free_name(description.name, joined_names(names), "idx", relation_names(work.image))
    numbers = numbers_in(entry)
    new_numbers = {0: 0, **{column.number: numbers[column.name] for column in source.description.columns}}
    made = replace(
        index,
        name=name,
        columns=tuple(new_numbers[number] for number in index.columns),
        included=tuple(new_numbers[number] for number in index.included),
        comment="",
    )
    checks = dict(entry.checks)
    if index.condition is not None:
        text = renumbered(source.checks[index.source_key], new_numbers)
        condition, checks[made.source_key] = bound_check(text, description, work.image, is_index=True)
        made = replace(made, condition=condition)
        if made.is_key:
            made = replace(made, stored=stored_numbers(made, entry, work))
    constraints = (*description.constraints, made)
    indexes = {**entry.indexes, name: f"i{work.take_oid()}"}
    return replace(entry, description=replace(description, constraints=constraints), indexes=indexes, checks=checks)


def renumbered(text: SourceText, numbers: Mapping[int, int]) -> SourceText:
    """Return the text of a check or an index with other numbers of the columns in it."""
    return replace(text, names=tuple((name, numbers[number]) for name, number in text.names if number in numbers))


def numbers_in(entry: TableEntry) -> dict[str, int]:
    """Return the numbers of a table's columns by their names."""
    return {column.name: column.number for column in entry.description.columns}
