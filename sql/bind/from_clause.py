"""The FROM clause: relations by name, derived tables, common tables and joins, each with the scope of its columns."""

from __future__ import annotations

from sql.bind import query as queries
from sql.bind.common_type import unify
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.operators import binary
from sql.bind.scope import Scope, ScopeColumn, ScopeTable, table_scope
from sql.datatypes import BOOL
from sql.errors import SqlError
from sql.expressions import Call, Column, Expression, Literal
from sql.grammar.cursor import relation_of
from sql.names import did_you_mean
from sql.relations import Join, OutputColumn, Relation, Scan, Schema, Values
from sql.syntax import Derived, FromItem, JoinClause, Table, ValuesBody
from sql.trees import map_expression

# One row of no columns: the input of a SELECT without FROM.
ONE_ROW = Values(((),), ())


def bind_from(items: tuple[FromItem, ...], context: BindContext) -> tuple[Relation, Scope]:
    """Return the joined relation of a FROM clause and the names in it."""
    if not items:
        return ONE_ROW, Scope()
    relation, scope = bind_item(items[0], context)
    for item in items[1:]:
        right, right_scope = bind_item(item, context)
        check_aliases(scope, right_scope, item.position)
        scope = side_by_side(scope, right_scope)
        relation = Join(relation, right, "cross", None)
    return relation, scope


def bind_item(item: FromItem, context: BindContext) -> tuple[Relation, Scope]:
    match item:
        case Table():
            return bind_table(item, context)
        case Derived():
            if item.alias is None:
                hint = "For example, FROM (SELECT ...) [AS] foo."
                message = (
                    "VALUES in FROM must have an alias" if is_values(item) else "subquery in FROM must have an alias"
                )
                raise SqlError(
                    "42601", message, item.position, hint=hint.replace("SELECT", "VALUES") if is_values(item) else hint
                )
            relation = queries.bind_relation(item.query, context)
            return aliased(relation, item.alias, item.column_aliases, item.position)
        case JoinClause():
            return bind_join(item, context)


def is_values(item: Derived) -> bool:
    return isinstance(item.query.body, ValuesBody)


def bind_table(item: Table, context: BindContext) -> tuple[Relation, Scope]:
    """Return the scan of a relation, or the query of a common table."""
    if len(item.name) == 1 and item.name[0] in context.common_tables:
        common, visible = context.common_tables[item.name[0]]
        # A common table sees those before it, not itself.
        outer, context.common_tables = context.common_tables, visible
        relation = queries.bind_relation(common.query, context)
        context.common_tables = outer
        columns = renamed(relation.schema, common.name, common.column_aliases, common.position)
        return aliased(relation, item.alias or common.name, item.column_aliases, item.position, columns)
    name = relation_of(item.name, item.position)
    found = context.catalog.relation(name)
    if found is None:
        hint = did_you_mean(name, context.catalog.relation_names())
        raise SqlError("42P01", f'relation "{".".join(item.name)}" does not exist', item.position, hint=hint)
    context.relations.add(found.name)
    schema = tuple(OutputColumn(column.name, column.type) for column in found.columns)
    scan = Scan(found.name, found.kind, schema)
    relation_scope = aliased(scan, item.alias or found.name, item.column_aliases, item.position)
    scope = relation_scope[1]
    tables = [ScopeTable(table.alias, table.columns, found.name) for table in scope.tables]
    return scan, Scope(tables, scope.visible, scope.width)


def aliased(
    relation: Relation, alias: str, column_aliases: tuple[str, ...], position: int, schema: Schema | None = None
) -> tuple[Relation, Scope]:
    """Return the relation with the scope that its alias and column aliases give."""
    columns = renamed(schema or relation.schema, alias, column_aliases, position)
    return relation, table_scope(alias, [(column.name, column.type) for column in columns])


def renamed(schema: Schema, alias: str, names: tuple[str, ...], position: int) -> Schema:
    """Return the schema with the first columns renamed."""
    if len(names) > len(schema):
        message = f'table "{alias}" has {len(schema)} columns available but {len(names)} columns specified'
        raise SqlError("42P10", message, position)
    head = tuple(OutputColumn(name, column.type) for name, column in zip(names, schema, strict=False))
    return (*head, *schema[len(names) :])


def check_aliases(left: Scope, right: Scope, position: int) -> None:
    known = {table.alias for table in left.tables}
    for table in right.tables:
        if table.alias in known:
            raise SqlError("42712", f'table name "{table.alias}" specified more than once', position)


def shift_column(column: ScopeColumn, width: int) -> ScopeColumn:
    """Return the column as it is addressed when `width` columns come before it."""

    def moved(node: Expression) -> Expression | None:
        return Column(node.index + width, node.name, node.type, node.position) if isinstance(node, Column) else None

    return ScopeColumn(column.name, map_expression(column.expression, moved), column.table)


def side_by_side(left: Scope, right: Scope) -> Scope:
    """Return the scope of two relations joined, left columns first."""
    tables = [
        ScopeTable(table.alias, tuple(shift_column(column, left.width) for column in table.columns), table.relation)
        for table in right.tables
    ]
    visible = [shift_column(column, left.width) for column in right.visible]
    return Scope([*left.tables, *tables], [*left.visible, *visible], left.width + right.width)


def bind_join(item: JoinClause, context: BindContext) -> tuple[Relation, Scope]:
    """Return a join; USING and NATURAL merge columns."""
    left, left_scope = bind_item(item.left, context)
    right, right_scope = bind_item(item.right, context)
    check_aliases(left_scope, right_scope, item.position)
    scope = side_by_side(left_scope, right_scope)
    if item.kind == "cross":
        return Join(left, right, "cross", None), scope
    using = item.using
    if item.natural:
        right_names = [column.name for column in right_scope.visible]
        common = [column.name for column in left_scope.visible if column.name in right_names]
        using = tuple((name, item.position) for name in dict.fromkeys(common))
    if not using and item.condition is None:
        # NATURAL JOIN without a common column is a cross join.
        kind = "cross" if item.kind == "inner" else item.kind
        condition = None if kind == "cross" else Literal(True, BOOL)
        return Join(left, right, kind, condition), scope
    if not using:
        assert item.condition is not None
        binder = Binder(scope, context, "JOIN conditions")
        return Join(left, right, item.kind, binder.bind_boolean(item.condition, "JOIN/ON")), scope
    return merge_columns(item, using, left, right, left_scope, right_scope, scope, context)


def merge_columns(
    item: JoinClause,
    using: tuple[tuple[str, int], ...],
    left: Relation,
    right: Relation,
    left_scope: Scope,
    right_scope: Scope,
    scope: Scope,
    context: BindContext,
) -> tuple[Relation, Scope]:
    """Return the join over equal columns, which are visible once and come first."""
    binder = Binder(scope, context, "JOIN conditions")
    equalities: list[Expression] = []
    merged: list[ScopeColumn] = []
    for index, (name, position) in enumerate(using):
        if any(name == other for other, _ in using[:index]):
            raise SqlError("42701", f'column name "{name}" appears more than once in USING clause', position)
        one = using_column(left_scope, name, "left", position)
        two = shift_column(using_column(right_scope, name, "right", position), left_scope.width)
        equalities.append(binary(binder, "=", one.expression, two.expression, position, item_text(name)))
        kind, (first, second) = unify([one.expression, two.expression], "JOIN/USING", context)
        value = {"right": second, "full": Call("coalesce", (first, second), kind, position)}.get(item.kind, first)
        merged.append(ScopeColumn(name, value, ""))
    condition = equalities[0] if len(equalities) == 1 else Call("and", tuple(equalities), BOOL, item.position)
    names = {name for name, _ in using}
    rest = [column for column in scope.visible if column.name not in names]
    return Join(left, right, item.kind, condition), Scope(scope.tables, [*merged, *rest], scope.width)


def item_text(name: str) -> str:
    return f"USING ({name})"


def using_column(scope: Scope, name: str, side: str, position: int) -> ScopeColumn:
    found = [column for column in scope.visible if column.name == name]
    if not found:
        raise SqlError("42703", f'column "{name}" specified in USING clause does not exist in {side} table', position)
    if len(found) > 1:
        raise SqlError("42702", f'common column name "{name}" appears more than once in {side} table', position)
    return found[0]
