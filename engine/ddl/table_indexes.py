"""Indexes with statements of their own: CREATE INDEX, DROP INDEX, ALTER INDEX RENAME.

Enters: a statement, a `TableWork`. Leaves: the work's image with the change. A unique index is a
key like that of a constraint, but for the catalog; what it computes is kept in columns of the table
that no client sees, NULL in rows that are not of its WHERE. Any other index is a name in the
catalog: tables are read column by column, without the row groups that min and max rule out, and
need no second structure to be searched. What an index computes, and its WHERE, is kept as one text,
ROW(...), like that of a check; no value of an index that is no key is kept, and those are computed
that may be errors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from engine.catalog.image import WORDS, SourceText, StreamEntry, TableEntry, source_text
from engine.catalog.kept_properties import with_index_property
from engine.catalog.system import the_system
from engine.ddl.dependents import Dependent, links_needing, refusal
from engine.ddl.dropping import skipped
from engine.ddl.table_alterations import columns_of
from engine.ddl.table_constraints import require_key_type
from engine.ddl.table_names import free_name, joined_names, relation_names
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import bound_check, index_columns, with_objects
from sql.bind.collations import COLLATABLE
from sql.bind.expressions.context import References
from sql.bind.writes.constraints import bind_index_condition, bind_indexed
from sql.catalog.catalog import ConstraintDescription
from sql.errors import SqlError
from sql.names.relation_keys import in_schema_of, name_of, schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.indexes import AlterIndex, CreateIndex, DropIndex, RenameIndex
from sql.parse.syntax import Row
from sql.tree.expressions import Column
from sql.types.datatypes import element_family

KINDS = frozenset({"index", "unique index"})
# What an index of each access method may have besides one key, in PostgreSQL's words.
METHODS: Mapping[str, Collection[str]] = {
    "btree": ("unique indexes", "included columns", "multicolumn indexes", "ASC/DESC options", "NULLS FIRST/LAST options"),
    "hash": (),
    "gist": ("included columns", "multicolumn indexes"),
    "spgist": ("included columns",),
    "gin": ("multicolumn indexes",),
    "brin": ("multicolumn indexes",),
}  # fmt: skip


def create_index(statement: CreateIndex, work: TableWork) -> None:
    """Do CREATE INDEX.

    Raises 42P07 for a name that is taken, 42703 for an unknown column, 42704 and 0A000 for what the
    access method does not have, 23505 for repeated keys.
    """
    entry = _table(statement, work)
    if statement.method not in METHODS:
        raise SqlError("42704", f'access method "{statement.method}" does not exist')
    _require(statement, "unique indexes", statement.unique)
    _require(statement, "included columns", bool(statement.included))
    _require(statement, "multicolumn indexes", len(statement.columns) > 1)
    source = _source(statement, entry, work)
    numbers = _columns(statement.columns, entry)
    for order in chain.from_iterable(statement.orders):
        _require(statement, f"{order} options", True)
    included = _columns(statement.included, entry)
    taken = relation_names(work.image)
    if statement.name is not None and in_schema_of(entry.description.name, statement.name) in taken:
        error = SqlError("42P07", f'relation "{statement.name}" already exists')
        work.skip(error, statement.if_not_exists, error.sqlstate)
        return
    made = ConstraintDescription(
        statement.name or "",
        "unique index" if statement.unique else "index",
        numbers,
        options=statement.options,
        method=statement.method,
        parameters=statement.parameters,
        included=included,
        collations=tuple("" if one == "default" else one for one in statement.collations),
    )
    checks = dict(entry.checks)
    if source is not None:
        condition, source = bound_check(source, entry.description, work.image, is_index=True)
        made = replace(made, condition=condition, text=source.text)
    if statement.name is None:
        shown = joined_names([one.name for one in index_columns(entry, made, source)])
        made = replace(made, name=free_name(entry.description.name, shown, "idx", taken))
    if source is not None:
        checks[made.source_key] = source
    made = replace(made, classes=_classes(statement, entry, made, source))
    if made.is_key and made.condition is not None:
        made = replace(made, stored=stored_numbers(made, entry, work))
    constraints = (*entry.description.constraints, made)
    indexes = {**entry.indexes, made.name: f"i{work.take_oid()}"}
    description = replace(entry.description, constraints=constraints)
    after = replace(entry, description=description, indexes=indexes, checks=checks)
    work.compute(entry, made)
    if made.is_key:
        if made.is_plain_key:
            work.require_distinct(after, made)
        # DuckDB adds no index to a table that this transaction has changed already.
        after = work.rebuild(entry, after, columns_of(entry), checked=not made.is_plain_key)
    work.put(after)


def _classes(
    statement: CreateIndex, entry: TableEntry, made: ConstraintDescription, source: SourceText | None
) -> tuple[str, ...]:
    """Return the operator classes of an index, '' for those that are the defaults.

    Raises 42704, 42804, also for a collation, and 0A000 for a unique index over values that no key
    has.
    """
    keys = index_columns(entry, made, source)[: len(made.columns)]
    for key, (_, position), collation in zip(keys, statement.columns, statement.collations, strict=True):
        if collation and element_family(key.type.family) not in COLLATABLE:
            raise SqlError("42804", f"collations are not supported by type {key.type.row.sql_name}")
        if made.is_key:
            require_key_type(key, position)
    return tuple(
        the_system().operator_class(made.method, name, key.type)
        for name, key in zip(statement.classes, keys, strict=True)
    )


def stored_numbers(made: ConstraintDescription, entry: TableEntry, work: TableWork) -> tuple[int, ...]:
    """Return the numbers under which the table keeps the values of a key that computes some."""
    columns = entry.description.columns
    values = made.values(columns)
    return tuple(columns[one.index].number if isinstance(one, Column) else work.take_oid() for one in values)


def drop_index(statement: DropIndex, work: TableWork) -> None:
    """Do DROP INDEX.

    Raises 42704 for an unknown name, 42809 for a relation that is no index, 2BP01 for the index of
    a constraint.
    """
    for name, position in statement.names:
        found = _find(name, work)
        if found is None:
            other = work.image.entries.get(name)
            if other is not None:
                word = WORDS[other.description.kind]
                hint = f"Use DROP {word.upper()} to remove a {word}."
                raise SqlError("42809", f'"{name}" is not an index', position=position or None, hint=hint)
            if not statement.if_exists:
                raise SqlError("42704", f'index "{name}" does not exist', position=position or None)
            work.notice(skipped(f'index "{name}"', name, work))
            continue
        entry, index = found
        name = index.name
        if index.kind not in KINDS:
            what = f"constraint {name} on table {entry.description.name}"
            raise SqlError(
                "2BP01",
                f"cannot drop index {name} because {what} requires it",
                hint=f"You can drop {what} instead.",
            )
        needing = links_needing(entry, [index], work.image)
        if needing:
            raise refusal(
                f"index {name}",
                [Dependent(one.child, f"index {name}", constraint=one.constraint.name) for one in needing],
            )
        if index.is_key:
            work.tables.execute_ddl(f"DROP INDEX stored.{entry.indexes[name]}")
        work.put(entry.with_constraints(one for one in entry.description.constraints if one is not index))


def rename_index(statement: RenameIndex, work: TableWork) -> None:
    """Do ALTER INDEX ... RENAME TO, also of the index of a constraint, which has the same name.

    Raises 42P01, 42809 and 42P07.
    """
    name, new_name = statement.name, statement.new_name
    found = _find(name, work)
    if found is None:
        if name in work.image.entries:
            raise SqlError("42809", f'"{name}" is not an index')
        work.skip(SqlError("42P01", f'relation "{name}" does not exist'), statement.if_exists)
        return
    if new_name in relation_names(work.image):
        raise SqlError("42P07", f'relation "{new_name}" already exists')
    entry, index = found
    name, new_name = index.name, name_of(new_name)
    constraints = tuple(replace(one, name=new_name) if one is index else one for one in entry.description.constraints)
    indexes = {new_name if one == name else one: physical for one, physical in entry.indexes.items()}
    key, new_key = index.source_key, replace(index, name=new_name).source_key
    checks = {new_key if one == key else one: source for one, source in entry.checks.items()}
    description = replace(entry.description, constraints=constraints)
    work.put(replace(entry, description=description, indexes=indexes, checks=checks))


def alter_index(statement: AlterIndex, work: TableWork) -> None:
    """Do ALTER INDEX with a property of an index, which is shown. Raises 42P01 and 42809."""
    found = _find(statement.name, work)
    if found is not None:
        work.put(with_index_property(*found, statement.change))
    elif statement.name in work.image.entries:
        raise SqlError("42809", f'"{statement.name}" is not an index')
    else:
        work.skip(SqlError("42P01", f'relation "{statement.name}" does not exist'), statement.if_exists)


def _source(statement: CreateIndex, entry: TableEntry, work: TableWork) -> SourceText | None:
    """Return the text of what an index computes, None for one of columns alone.

    Raises the errors of its expressions.
    """
    description, image, settings = entry.description, work.image, work.settings
    if statement.where is not None:
        bind_index_condition(statement.where[0], description, image, settings)
    computed = [*statement.expressions, *([] if statement.where is None else [statement.where])]
    references = References()
    bind_indexed(Row(tuple(written for written, _ in computed), 0, ""), description, image, settings, references)
    if not computed:
        return None
    text = f"ROW({', '.join(text for _, text in computed)})"
    names = tuple((column.name, column.number) for column in description.columns)
    return with_objects(replace(source_text(text, settings, names), table=description.name), references)


def _table(statement: CreateIndex, work: TableWork) -> TableEntry:
    entry = work.image.existing(statement.table, statement.table_position)
    if not isinstance(entry, TableEntry):
        raise SqlError(
            "42809",
            f'cannot create index on relation "{statement.table}"',
            detail=f"This operation is not supported for {WORDS[entry.description.kind]}s.",
            hint="A stream keeps its last rows by itself; group it in a view by what is asked for."
            if isinstance(entry, StreamEntry)
            else None,
        )
    return entry


def _require(statement: CreateIndex, what: str, is_asked: bool) -> None:
    """Raise 0A000 for what the access method does not have."""
    if is_asked and what not in METHODS[statement.method]:
        raise SqlError("0A000", f'access method "{statement.method}" does not support {what}')


def _columns(written: Sequence[tuple[str, int]], entry: TableEntry) -> tuple[int, ...]:
    """Return the numbers of columns, 0 for an expression. Raises 42703."""
    columns = {column.name: column.number for column in entry.description.columns}
    for name, _ in written:
        if name and name not in columns:
            hint = did_you_mean(name, columns, "the column")
            raise SqlError("42703", f'column "{name}" does not exist', hint=hint)
    return tuple(columns[name] if name else 0 for name, _ in written)


def _find(name: str, work: TableWork) -> tuple[TableEntry, ConstraintDescription] | None:
    for entry in work.image.entries.values():
        if isinstance(entry, TableEntry) and schema_of(entry.description.name) == schema_of(name):
            for one in entry.description.constraints:
                if one.name == name_of(name) and (one.is_key or one.is_index):
                    return entry, one
    return None
