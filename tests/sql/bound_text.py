"""Bound statements as text: the tree, and what else a bound statement says of
itself; or the error.
"""

from __future__ import annotations

from collections.abc import Iterable

from sql.bind import (
    BoundDelete,
    BoundInsert,
    BoundUpdate,
    bind_delete,
    bind_insert,
    bind_query,
    bind_update,
)
from sql.bind.writes.on_conflict import BoundConflict
from sql.catalog.catalog import Catalog
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.declaration import Statement
from sql.parse.statements.delete import Delete
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from sql.parse.statements.update import Update
from sql.tree.relations import BoundQuery, LockedRead, Relation, Schema
from tests.golden import error_lines
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from tests.sql.tree_text import tree_text

Bound = BoundQuery | BoundInsert | BoundUpdate | BoundDelete


def bound(statement: Statement, catalog: Catalog) -> Bound:
    """Return a query or a write bound; types of parameters are found."""
    match statement:
        case Select():
            return bind_query(statement.query, catalog, SETTINGS, (), locks=True)
        case Insert():
            return bind_insert(statement, catalog, SETTINGS, ())
        case Update():
            return bind_update(statement, catalog, SETTINGS, ())
        case Delete():
            return bind_delete(statement, catalog, SETTINGS, ())
    raise AssertionError(f"{type(statement).__name__} is not bound")


def bound_lines(sql: str) -> list[str]:
    """Return what one statement is bound to over the sample catalog."""
    try:
        (statement,) = parse(sql)
        return statement_lines(bound(statement, SampleCatalog()))
    except SqlError as error:
        return error_lines(error)


def statement_lines(one: Bound) -> list[str]:
    """Return the lines of a bound statement."""
    match one:
        case BoundQuery():
            lines = tree_lines(one.root)
        case BoundInsert():
            lines = [f"insert {one.relation.name} {list(one.targets)} given {list(one.given)}", *indented(one.source)]
            lines += [] if one.conflict is None else conflict_lines(one.conflict)
        case BoundUpdate():
            lines = [f"update {one.relation.name} {list(one.changed)}", *indented(one.source)]
        case BoundDelete():
            lines = [f"delete {one.relation.name}", *indented(one.source)]
    if not isinstance(one, BoundQuery):
        lines += [] if one.returning is None else ["returning", *(f"  {line}" for line in tree_lines(one.returning))]
        lines.append(f"needs {one.needed}")
    for read in one.locked:
        lines += locked_lines(read)
    if one.parameters:
        lines.append(f"parameters {', '.join(kind.sql_name for kind in one.parameters)}")
    lines += ["stable"] if one.stable else []
    lines += names_line("reads", one.relations)
    return lines + (names_line("names", one.named) if one.named != one.relations else [])


def tree_lines(root: Relation) -> list[str]:
    """Return a tree and the columns that it yields."""
    return [*tree_text(root), f"-> {columns(root.schema)}"]


def columns(schema: Schema) -> str:
    """Return names and types of columns, with the relation's column that one is."""
    origins = ("" if column.origin == (0, 0) else " from {}.{}".format(*column.origin) for column in schema)
    return ", ".join(
        f"{column.name} {column.type.sql_name}{origin}" for column, origin in zip(schema, origins, strict=True)
    )


def indented(root: Relation) -> list[str]:
    return tree_text(root, 1)


def conflict_lines(conflict: BoundConflict) -> list[str]:
    """Return the lines of ON CONFLICT."""
    lines = []
    for arbiter in conflict.arbiters:
        lines += [f"conflict of {list(arbiter.names)}", *indented(arbiter.matched), *indented(arbiter.repeated)]
    if conflict.updates is None:
        return [*lines, "conflict does nothing"]
    return [*lines, f"conflict updates {list(conflict.changed)}, reads {conflict.reads}", *indented(conflict.updates)]


def locked_lines(read: LockedRead) -> list[str]:
    """Return the lines of a read that locks."""
    locks = ", ".join(f"{lock.table} by #{lock.column} {lock.strength} {lock.wait}" for lock in read.locks)
    return [f"locks {locks}; shows {read.width}", *indented(read.root)]


def names_line(word: str, names: Iterable[str]) -> list[str]:
    found = sorted(names)
    return [f"{word} {', '.join(found)}"] if found else []
