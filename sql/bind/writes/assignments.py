"""Values that are stored into columns: PostgreSQL's assignment casts, DEFAULT, and the SET lists of
UPDATE and ON CONFLICT DO UPDATE.

Enters: `Assignment`s and a binder over the row that their expressions see. Leaves: one expression
of the column's type per assigned column.
"""

from __future__ import annotations

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.source_positions import start_of
from sql.bind.expressions.subqueries import bind_inside
from sql.bind.readers import value_as_written
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.names.suggestions import did_you_mean
from sql.parse.statements.parts import Assignment
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Subquery
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.expressions import Subquery as BoundSubquery
from sql.tree.relations import Project
from sql.tree.walks import walk
from sql.types.casts import can_cast, plain_name

WRONG_COUNT = "number of columns does not match number of values"

# A value as it was written, its place, and what it is; the last is None for DEFAULT.
Written = tuple[int | None, Expression | None]


def assign(value: Expression, column: ColumnDescription, context: BindContext, position: int | None) -> Expression:
    """Return `value` as the column's type, by assignment."""
    family = value.type.family
    if not can_cast(family, column.type.family, "assignment"):
        source, target = plain_name(value.type), plain_name(column.type)
        message = f'column "{column.name}" is of type {target} but expression is of type {source}'
        raise SqlError("42804", message, position, hint="You will need to rewrite or cast the expression.")
    return coerce(value, column.type, context, position=position)


def default_value(column: ColumnDescription, context: BindContext) -> Expression:
    """Return what DEFAULT means for a column."""
    if column.default is None:
        return Literal(None, column.type)
    context.stable |= any(isinstance(node, Call) and node.function == "now" for node in walk(column.default))
    return value_as_written(column.default, context.settings)


def bind_assignments(
    assignments: tuple[Assignment, ...], relation: RelationDescription, binder: Binder
) -> dict[int, Expression]:
    """Return the new value of each assigned column by its index.

    Errors come in PostgreSQL's order: values, columns, conversions.
    """
    written = [
        (name, position, value)
        for assignment in assignments
        for (name, position), value in zip(assignment.columns, _values(assignment, binder), strict=True)
    ]
    indexes = {column.name: index for index, column in enumerate(relation.columns)}
    found: dict[int, Expression] = {}
    repeated: str | None = None
    identities: list[ColumnDescription] = []
    for name, position, (place, value) in written:
        index = indexes.get(name)
        if index is None:
            hint = did_you_mean(name, indexes, "the column")
            message = f'column "{name}" of relation "{relation.name}" does not exist'
            raise SqlError("42703", message, position, hint=hint)
        column = relation.columns[index]
        if value is not None and column.identity == "always":
            identities.append(column)
        if index in found:
            repeated = repeated or name
        found[index] = (
            default_value(column, binder.context) if value is None else assign(value, column, binder.context, place)
        )
    if repeated is not None:
        raise SqlError("42601", f'multiple assignments to same column "{repeated}"')
    for column in identities:
        message = f'column "{column.name}" can only be updated to DEFAULT'
        raise SqlError("428C9", message, detail=identity_detail(column))
    return found


def identity_detail(column: ColumnDescription) -> str:
    """Return the DETAIL of an error about a column that is GENERATED ALWAYS."""
    return f'Column "{column.name}" is an identity column defined as GENERATED ALWAYS.'


def _values(assignment: Assignment, binder: Binder) -> list[Written]:
    """Return the bound values of one assignment, one per column."""
    count = len(assignment.columns)
    if assignment.row is not None:
        if len(assignment.row) != count:
            raise SqlError("42601", WRONG_COUNT, assignment.position)
        return [_value(item, binder) for item in assignment.row]
    if count == 1:
        return [_value(assignment.value, binder)]
    if isinstance(assignment.value, Subquery):
        return _query_values(assignment, assignment.value, binder)
    message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"
    place = assignment.position if assignment.value is None else start_of(assignment.value)
    raise SqlError("0A000", message, place)


def _value(item: Syntax | None, binder: Binder) -> Written:
    return (None, None) if item is None else (start_of(item), binder.bind(item))


def _query_values(assignment: Assignment, node: Subquery, binder: Binder) -> list[Written]:
    """Return the columns of a query that yields one row at most: each is a scalar subquery of its
    own.
    """
    relation, closure = bind_inside(binder, node)
    if len(relation.schema) != len(assignment.columns):
        raise SqlError("42601", WRONG_COUNT, node.position)
    arguments = tuple(closure.arguments)
    found: list[Written] = []
    for index, column in enumerate(relation.schema):
        one = Project(relation, ((column.name, Column(index, column.name, column.type)),))
        value = BoundSubquery("scalar", one, arguments, column.type, position=node.position, text=node.text)
        found.append((node.position, value))
    return found
