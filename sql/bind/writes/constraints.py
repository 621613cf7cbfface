"""CHECK constraints and other expressions over one row of a table.

Enters: an expression as written, the table's description. Leaves: a boolean expression over the
table's columns by index, or a value of a column's type. Raises what PostgreSQL raises for queries,
aggregates and wrong types in them.
"""

from __future__ import annotations

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import BindContext, ParameterTypes, References
from sql.bind.expressions.scope import Scope, ScopeColumn, ScopeTable
from sql.bind.expressions.source_positions import start_of
from sql.bind.queries.query import QUERIES
from sql.bind.readers import is_open
from sql.catalog.catalog import Catalog, ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.functions.volatility import is_fixed
from sql.names.relation_keys import name_of
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Row
from sql.tree.expressions import Call, Cast, Column, Expression, Subquery
from sql.tree.walks import walk
from sql.types.casts import STRINGS, can_cast, plain_name
from sql.types.datatypes import BOOL, TEXT, record_type
from sql.types.records import RecordType


def bind_check(
    condition: Syntax,
    relation: RelationDescription,
    catalog: Catalog,
    settings: SessionSettings,
    references: References | None = None,
) -> Expression:
    """Return the condition of a CHECK as a boolean over the table's row.

    references: notes what it names. Raises 42804 for another type.
    """
    binder = row_binder(relation, catalog, settings.shared(), "check constraints", references)
    return _condition(binder, condition, "CHECK")


def bind_indexed(
    written: Syntax,
    relation: RelationDescription,
    catalog: Catalog,
    settings: SessionSettings,
    references: References | None = None,
) -> Expression:
    """Return a row of what an index computes: expressions, then the condition of its rows.

    references: notes what it names. Raises 42P17 for what has other values at another time.
    """
    assert isinstance(written, Row), written
    found = []
    for item in written.items:
        binder = row_binder(relation, catalog, settings.shared(), "index expressions", references)
        found.append(indexed(binder, item))
    return Call("row", tuple(found), record_type(RecordType(tuple(("", one.type) for one in found))))


def indexed(binder: Binder, item: Syntax) -> Expression:
    """Return one expression of an index, or its condition. Raises 0A000 and 42P17."""
    bound = binder.bind(item)
    for node in walk(bound):
        if isinstance(node, Subquery):
            raise SqlError("0A000", f"cannot use subquery in {binder.clause.removesuffix('s')}", node.position)
    if not all(is_fixed(node, False) and not is_open(node) and not _is_shown_time(node) for node in walk(bound)):
        raise SqlError("42P17", f"functions in {binder.clause.removesuffix('s')} must be marked IMMUTABLE")
    return coerce(bound, TEXT, binder.context) if bound.type.family == "unknown" else bound


def _is_shown_time(node: Expression) -> bool:
    return isinstance(node, Cast) and node.type.family in STRINGS and node.operand.type.row.category in ("D", "T")


def bind_copied(
    where: Syntax, relation: RelationDescription, catalog: Catalog, settings: SessionSettings
) -> Expression:
    """Return the WHERE of COPY FROM as a boolean over the table's row.

    Raises 42804 for another type.
    """
    return _condition(row_binder(relation, catalog, settings, "COPY FROM WHERE conditions"), where, "WHERE")


def bind_index_condition(
    where: Syntax, relation: RelationDescription, catalog: Catalog, settings: SessionSettings
) -> None:
    """Check the WHERE of an index. Raises 42804, 0A000 and 42P17."""
    binder = row_binder(relation, catalog, settings.shared(), "index predicates")
    _condition(binder, where, "WHERE")
    indexed(binder, where)


def _condition(binder: Binder, condition: Syntax, clause: str) -> Expression:
    bound = binder.bind(condition)
    for node in walk(bound):
        if isinstance(node, Subquery):
            raise SqlError("0A000", f"cannot use subquery in {binder.clause.removesuffix('s')}", node.position)
    if bound.type.family not in ("bool", "unknown"):
        message = f"argument of {clause} must be type boolean, not type {plain_name(bound.type)}"
        raise SqlError("42804", message, start_of(condition))
    return assign_to(bound, ColumnDescription("?column?", BOOL), binder.context)


def bind_conversion(
    using: Syntax | None,
    column: ColumnDescription,
    target: ColumnDescription,
    relation: RelationDescription,
    catalog: Catalog,
    settings: SessionSettings,
) -> Expression:
    """Return what ALTER COLUMN TYPE makes of a row: USING's expression or the column, as the new
    type.

    Raises 42804.
    """
    binder = row_binder(relation, catalog, settings, "transform expressions")
    index = next(place for place, known in enumerate(relation.columns) if known.number == column.number)
    value = Column(index, column.name, column.type) if using is None else binder.bind(using)
    if not can_cast(value.type.family, target.type.family, "assignment"):
        name = plain_name(target.type)
        if using is None:
            hint = f'You might need to specify "USING {column.name}::{target.type.sql_name}".'
            raise SqlError("42804", f'column "{column.name}" cannot be cast automatically to type {name}', hint=hint)
        message = f'result of USING clause for column "{column.name}" cannot be cast automatically to type {name}'
        raise SqlError("42804", message, hint="You might need to add an explicit cast.")
    return assign_to(value, target, binder.context)


def row_binder(
    relation: RelationDescription,
    catalog: Catalog,
    settings: SessionSettings,
    place: str,
    references: References | None = None,
) -> Binder:
    """Return a binder of expressions over one row of the table."""
    context = BindContext(catalog, settings, ParameterTypes(), QUERIES, references=references or References())
    known_as = name_of(relation.name)
    columns = [
        ScopeColumn(column.name, Column(index, column.name, column.type), known_as)
        for index, column in enumerate(relation.columns)
    ]
    scope = Scope([ScopeTable(known_as, tuple(columns), relation.name)], columns, len(columns))
    return Binder(scope, context, place)


def assign_to(value: Expression, column: ColumnDescription, context: BindContext) -> Expression:
    """Return the value as the column's type."""
    return coerce(value, column.type, context)
