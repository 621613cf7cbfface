"""The FROM clause: relations by name, views, common tables, derived tables, functions and joins,
each with the scope of its columns.

An item that may see those to its left (LATERAL, and every function) is bound in a closure; the join
is lateral when that has taken something from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import unify
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.correlation import Closure, Outer, Passage, closures_between
from sql.bind.expressions.operators import binary
from sql.bind.expressions.scope import Origin, Scope, ScopeColumn, ScopeTable, noted_scope, table_scope
from sql.bind.expressions.table_calls import bind_function_table
from sql.bind.expressions.user_overloads import candidates
from sql.bind.notes import Key, NotedPair, NotedPlace
from sql.bind.queries.common_tables import column_names, common_relation
from sql.bind.queries.session_windows import in_sessions
from sql.bind.queries.time_windows import windowed
from sql.bind.queries.view_versions import bind_changes, bind_states
from sql.bind.readers import as_read
from sql.bind.sharing import shared
from sql.catalog.catalog import Catalog, ColumnDescription, KnowsSystem, RelationDescription
from sql.catalog.schemas import SYSTEM_SCHEMAS, find_relation
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import as_written, described, name_of, output_key
from sql.names.suggestions import did_you_mean
from sql.parse.grammar.cursor import relation_of
from sql.parse.syntax import Derived, FromItem, FunctionCall, FunctionTable, JoinClause, Table, WindowedTable
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import ROW_ID, Join, OutputColumn, Recursive, Relation, Scan, Schema, Values
from sql.tree.walks import map_expression, rewrite_everywhere
from sql.types.datatypes import BOOL

# One row of no columns: the input of a SELECT without FROM.
ONE_ROW = Values(((),), ())


def bind_from(items: tuple[FromItem, ...], context: BindContext) -> tuple[Relation, Scope]:
    """Return the joined relation of a FROM clause and the names in it."""
    base = context.outer
    if not items:
        return ONE_ROW, Scope(outer=base)
    relation, scope = bind_item(items[0], context, base, None)
    for item in items[1:]:
        right, right_scope, lateral = bind_beside(item, scope, context, base)
        check_aliases(scope, right_scope, item.position)
        scope = side_by_side(scope, right_scope)
        relation = Join(relation, right, "cross", None, lateral)
    return relation, surrounded(scope, base)


def surrounded(scope: Scope, outer: Outer | None, same_level: bool = False) -> Scope:
    """Return the scope of a part of a FROM clause with what is around it."""
    return Scope(scope.tables, scope.visible, scope.width, outer, same_level)


def sees_neighbours(item: FromItem) -> bool:
    """Tell whether a FROM item may use the columns of those to its left."""
    match item:
        case Table() | WindowedTable():
            return False
        case Derived():
            return item.lateral
        case FunctionTable():
            return True
        case JoinClause():
            return sees_neighbours(item.left) or sees_neighbours(item.right)


def bind_beside(
    item: FromItem, left: Scope, context: BindContext, base: Outer | None, refused: bool = False
) -> tuple[Relation, Scope, tuple[Expression, ...] | None]:
    """Return an item to the right of others, and the arguments of a lateral join.

    base: the surroundings of the whole query. refused: a RIGHT or FULL join, which can't be
    lateral.
    """
    if not sees_neighbours(item):
        return *bind_item(item, context, base, left), None
    functions = isinstance(item, FunctionTable)
    clause = "functions in FROM" if functions else "FROM clause of their own query level"
    scope = surrounded(left, context.outer, same_level=context.outer is not base)
    closure = Closure(Binder(scope, context, clause), refused)
    with context.inside(closure):
        right, right_scope = bind_item(item, context, base, left)
    return right, right_scope, tuple(closure.arguments) or None


def blind(context: BindContext, base: Outer | None, hidden: Scope | None) -> Outer | None:
    """Return the surroundings of a part of the FROM clause that may not see the items beside it."""
    closures = closures_between(context.outer, base)
    return base if not closures and hidden is None else Passage(base, closures, hidden)


def bind_item(item: FromItem, context: BindContext, base: Outer | None, hidden: Scope | None) -> tuple[Relation, Scope]:
    """Return one item of a FROM clause, noted. hidden: the items to its left."""
    relation, scope = bind_one(item, context, base, hidden)
    is_join = isinstance(item, JoinClause)
    return relation, scope if is_join else noted_scope(scope, id(item), context.references.text_notes)


def bind_one(item: FromItem, context: BindContext, base: Outer | None, hidden: Scope | None) -> tuple[Relation, Scope]:
    """Return one item of a FROM clause. hidden: the items to its left."""
    match item:
        case Table():
            return bind_table(item, context)
        case Derived():
            with context.inside(context.outer if item.lateral else blind(context, base, hidden)):
                relation = context.queries.relation(item.query, context)
            return aliased(relation, item.alias, item.column_aliases)
        case FunctionTable(calls=(FunctionCall(name="changes_of" | "state_of", schema=None) as node,)) if (
            not candidates(context.catalog, context.settings, node)
        ):
            return (bind_changes if node.name == "changes_of" else bind_states)(item, context)
        case FunctionTable():
            scope = Scope(outer=context.outer, same_level=context.outer is not base)
            return bind_function_table(item, Binder(scope, context, "functions in FROM", in_from=True))
        case WindowedTable():
            of_kind = in_sessions if item.kind == "session" else windowed
            return of_kind(item, *bind_item(item.source, context, base, hidden), context)
        case JoinClause():
            return bind_join(item, context, base, hidden)


def bind_table(item: Table, context: BindContext) -> tuple[Relation, Scope]:
    """Return the scan of a relation, the query of a view, or that of a common table."""
    known = None if item.bare_name is None else context.common_tables.get(item.bare_name)
    if known is not None:
        relation = common_relation(known, context)
        columns = relation.schema if known.rows is not None else column_names(relation.schema, known.common)
        return aliased(relation, item.alias or known.common.name, item.column_aliases, columns)
    found = system_relation(item, context)
    if found is None:
        written = as_written(item.name) if is_of_system(item.name) else relation_of(item.name, item.position)
        found = find_relation(written, context.catalog, context.settings, item.position)
    if found is None:
        raise missing(item, context)
    if item.is_output:
        context.named.add(found.scanned)
        found = output_of(found, context.catalog, item.position)
    if found.kind in ("statistics", "sequence") and context.settings.is_shared:
        what = "a sequence" if found.kind == "sequence" else found.name
        raise not_supported(f"{what} in a definition", item.position)
    if found.kind == "catalog":
        return catalog_table(found, item, context)
    if found.disabled:
        raise disabled(found, item.position)
    context.named.add(found.scanned)
    schema = schema_of(found.columns)
    if found.query is not None:
        context.stable = context.stable or found.query.stable
        context.references.below |= found.query.functions | found.query.functions_below
        if found.scanned not in context.views:
            read = as_read(renewed(found.query.root, context), context.settings)
            context.views[found.scanned] = shared(found.scanned, read)
        relation = context.views[found.scanned]
    else:
        context.relations.add(found.scanned)
        identified = item.position in context.identified and found.kind == "table"
        relation = Scan(found.scanned, found.kind, (*schema_of(found.row), *((ROW_ID,) if identified else ())))
    alias = item.alias or ("output_of" if item.is_output else name_of(found.name))
    _, scope = aliased(relation, alias, item.column_aliases, schema)
    references = context.references
    noted = references.columns if references.is_text or not references.in_body else set()
    scope.visible = [
        # Columns of views are not counted.
        replace(column, origin=Origin(noted, found.oid, found.columns[place].number or place + 1))
        for place, column in enumerate(scope.visible)
    ]
    hidden = [
        ScopeColumn(column.name, Column(index, column.name, column.type), alias, hidden=True)
        for index, column in enumerate(found.hidden, len(schema))
        if all(known.name != column.name for known in scope.visible)
    ]
    if len(relation.schema) > len(found.row):
        place = Column(len(found.row), ROW_ID.name, ROW_ID.type)
        hidden.append(ScopeColumn(ROW_ID.name, place, alias, hidden=True))
    oid = 0 if found.kind == "statistics" else found.oid
    table = ScopeTable(
        alias, (*scope.visible, *hidden), found.name, key_of(found), item.alias is not None, relation_oid=oid
    )
    return relation, Scope([table], scope.visible, len(relation.schema))


def output_of(view: RelationDescription, catalog: Catalog, position: int) -> RelationDescription:
    """Return the stream of the changes of a view. Raises 42809 and 55000."""
    name = described(view.name)
    if view.kind not in ("view", "query"):
        raise SqlError("42809", f'"{name_of(view.name)}" is not a view', position)
    if view.disabled:
        raise disabled(view, position)
    found = catalog.relation(output_key(view.oid))
    if found is None:
        hint = f"ALTER VIEW {name} SET (output = on, refresh_every = '1 s') lets a continuous view have one."
        raise SqlError("55000", f'view "{name_of(view.name)}" has no output', position, hint=hint)
    return found


def catalog_table(found: RelationDescription, item: Table, context: BindContext) -> tuple[Relation, Scope]:
    """Return the scan of a relation of the catalog, or the query of a view of it."""
    assert isinstance(context.catalog, KnowsSystem), found
    context.named.add(found.name)
    context.stable = True
    alias, columns = item.alias or name_of(found.name), schema_of(found.columns)
    query = context.catalog.system_view(found.name, context.settings)
    if query is None:
        relation: Relation = Scan(found.name, found.kind, schema_of(found.row))
    else:
        if found.name not in context.views:
            context.views[found.name] = shared(found.name, renewed(query.root, context))
        relation = context.views[found.name]
    _, scope = aliased(relation, alias, item.column_aliases, columns)
    hidden = [
        ScopeColumn(column.name, Column(index, column.name, column.type), alias, hidden=True)
        for index, column in enumerate(found.hidden, len(columns))
        if query is None
    ]
    table = ScopeTable(alias, (*scope.visible, *hidden), found.name, (), item.alias is not None, relation_oid=found.oid)
    return relation, Scope([table], scope.visible, len(relation.schema))


def schema_of(columns: Iterable[ColumnDescription]) -> Schema:
    """Return described columns as a schema."""
    return tuple(OutputColumn(column.name, column.type) for column in columns)


def system_relation(item: Table, context: BindContext) -> RelationDescription | None:
    """Return the relation of schema pg_catalog that is named with its schema, if it is one of
    ours.
    """
    found = context.catalog.relation(item.name[-1]) if item.name[:-1] == ("pg_catalog",) else None
    return found if found is not None and found.schema_name == "pg_catalog" else None


def is_of_system(name: tuple[str, ...]) -> bool:
    """Tell whether a name was written with the schema of a relation of the catalog."""
    return name[-2:-1] != () and name[-2] in SYSTEM_SCHEMAS


def missing(item: Table, context: BindContext) -> SqlError:
    """Return the error about a relation that does not exist, or is an item of WITH that comes
    later.
    """
    name = as_written(item.name)
    message = f'relation "{".".join(item.name)}" does not exist'
    if item.bare_name in context.later_tables:
        detail = f'There is a WITH item named "{name}", but it cannot be referenced from this part of the query.'
        hint = "Use WITH RECURSIVE, or re-order the WITH items to remove forward references."
        return SqlError("42P01", message, item.position, detail, hint)
    return SqlError("42P01", message, item.position, hint=did_you_mean(name, context.catalog.relation_names()))


def disabled(found: RelationDescription, position: int | None) -> SqlError:
    """Return the error about a view that could not be built when the server started."""
    name = described(found.name)
    hint = f"Restart the server when the cause is gone, or DROP VIEW {name} and make it again from the rows that come then."
    detail = f"It could not be built when the server started: {found.disabled}."
    return SqlError("55000", f'view "{name}" is disabled', position, detail, hint)


def renewed(root: Relation, context: BindContext) -> Relation:
    """Return a view's tree for this statement: its recursive relations get names that no other here
    has.
    """
    names: dict[str, str] = {}

    def step(relation: Relation) -> Relation:
        if isinstance(relation, Recursive) or (isinstance(relation, Scan) and relation.kind == "recursive"):
            if relation.name not in names:
                names[relation.name] = context.recursive_name(relation.name.rpartition(" ")[0])
            return replace(relation, name=names[relation.name])
        return relation

    return rewrite_everywhere(root, step)


def key_of(relation: RelationDescription) -> tuple[int, ...]:
    """Return the places of the columns of a table's primary key."""
    numbers = next((item.columns for item in relation.constraints if item.kind == "primary key"), ())
    places = {column.number: index for index, column in enumerate(relation.columns)}
    return tuple(places[number] for number in numbers if number in places)


def aliased(
    relation: Relation, alias: str, column_aliases: tuple[str, ...], schema: Schema | None = None
) -> tuple[Relation, Scope]:
    """Return the relation with the scope that its alias and column aliases give."""
    columns = renamed(schema or relation.schema, alias, column_aliases)
    return relation, table_scope(alias, [(column.name, column.type) for column in columns])


def renamed(schema: Schema, alias: str, names: tuple[str, ...]) -> Schema:
    """Return the schema with the first columns renamed."""
    if len(names) > len(schema):
        message = f'table "{alias}" has {len(schema)} columns available but {len(names)} columns specified'
        raise SqlError("42P10", message)
    head = tuple(OutputColumn(name, column.type) for name, column in zip(names, schema, strict=False))
    return (*head, *schema[len(names) :])


def check_aliases(left: Scope, right: Scope, position: int) -> None:
    for table in right.tables:
        # Tables of two schemas may have one name, as long as neither has an alias.
        alike = [known for known in left.tables if known.alias == table.alias]
        if any(
            not (table.goes_by_schema and known.goes_by_schema and known.relation != table.relation) for known in alike
        ):
            raise SqlError("42712", f'table name "{table.alias}" specified more than once', position)


def shift_column(column: ScopeColumn, width: int, first: int = 0) -> ScopeColumn:
    """Return the column as it is addressed when those of the row from the `first` on stand `width`
    places further on.
    """

    def moved(node: Expression) -> Expression | None:
        if not isinstance(node, Column) or node.index < first:
            return None
        return Column(node.index + width, node.name, node.type, node.position)

    return replace(column, expression=map_expression(column.expression, moved))


def shifted(scope: Scope, width: int, first: int = 0) -> Scope:
    """Return a scope whose columns are addressed as `shift_column` says."""
    tables = [
        replace(table, columns=tuple(shift_column(column, width, first) for column in table.columns), key=())
        for table in scope.tables
    ]
    visible = [shift_column(column, width, first) for column in scope.visible]
    return Scope(tables, visible, scope.width + width)


def side_by_side(left: Scope, right: Scope) -> Scope:
    """Return the scope of two relations joined, left columns first."""
    moved = shifted(right, left.width)
    return Scope([*left.tables, *moved.tables], [*left.visible, *moved.visible], moved.width, left.outer)


def missing_where(scope: Scope, is_filled: bool) -> Scope:
    """Return the scope of one side of a join. is_filled: with NULLs where no row of it is found."""
    if not is_filled:
        return scope
    return replace(scope, tables=[replace(table, may_be_missing=True) for table in scope.tables])


def bind_join(
    item: JoinClause, context: BindContext, base: Outer | None, hidden: Scope | None
) -> tuple[Relation, Scope]:
    """Return a join; USING and NATURAL merge columns."""
    left, left_scope = bind_item(item.left, context, base, hidden)
    refused = item.kind in ("right", "full")
    right, right_scope, lateral = bind_beside(item.right, left_scope, context, base, refused)
    check_aliases(left_scope, right_scope, item.position)
    both = side_by_side(
        missing_where(left_scope, item.kind in ("right", "full")),
        missing_where(right_scope, item.kind in ("left", "full")),
    )
    scope = surrounded(both, blind(context, base, hidden))
    if item.kind == "cross":
        return Join(left, right, "cross", None, lateral), scope
    using = item.using
    if item.natural:
        right_names = [column.name for column in right_scope.visible]
        common = [column.name for column in left_scope.visible if column.name in right_names]
        using = tuple((name, item.position) for name in dict.fromkeys(common))
    if using:
        condition, scope = merge_columns(item, using, left_scope, right_scope, scope, context)
        return Join(left, right, item.kind, condition, lateral), scope
    if item.condition is None:
        # NATURAL JOIN without a common column is a cross join.
        kind = "cross" if item.kind == "inner" else item.kind
        return Join(left, right, kind, None if kind == "cross" else Literal(True, BOOL), lateral), scope
    binder = Binder(scope, context, "JOIN conditions")
    return Join(left, right, item.kind, binder.bind_boolean(item.condition, "JOIN/ON"), lateral), scope


def merge_columns(
    item: JoinClause,
    using: tuple[tuple[str, int], ...],
    left_scope: Scope,
    right_scope: Scope,
    scope: Scope,
    context: BindContext,
) -> tuple[Expression, Scope]:
    """Return the equality of the columns of USING, and the scope where they are visible once and
    come first.
    """
    binder = Binder(scope, context, "JOIN conditions")
    equalities: list[Expression] = []
    merged: list[ScopeColumn] = []
    noted: list[NotedPair] = []
    for index, (name, position) in enumerate(using):
        if any(name == other for other, _ in using[:index]):
            raise SqlError("42701", f'column name "{name}" appears more than once in USING clause', position)
        sides = using_column(left_scope, name, "left", position), using_column(right_scope, name, "right", position)
        one, two = sides[0].named(), shift_column(sides[1], left_scope.width).named()
        equalities.append(binary(binder, "=", one, two, position, item_text(name)))
        kind, (first, second) = unify([one, two], "JOIN/USING", context)
        value = {"right": second, "full": Call("coalesce", (first, second), kind, position)}.get(item.kind, first)
        column = ScopeColumn(name, value, "")
        if sides[0].place is not None and sides[1].place is not None:
            left, right = (side.place.key for side in sides if side.place is not None)
            meant: Key = (id(item), index)
            if item.kind in ("inner", "left") and one.type.oid == kind.oid:
                meant = left
            elif item.kind in ("inner", "right") and two.type.oid == kind.oid:
                meant = right
            noted.append(NotedPair(name, left, right, meant))
            column = replace(column, place=NotedPlace(sides[0].place.notes, meant))
        merged.append(column)
    condition = equalities[0] if len(equalities) == 1 else Call("and", tuple(equalities), BOOL, item.position)
    if noted and context.references.notes is not None:
        context.references.notes.using[id(item)] = tuple(noted)
    names = {name for name, _ in using}
    rest = [column for column in scope.visible if column.name not in names]
    return condition, Scope(scope.tables, [*merged, *rest], scope.width, scope.outer)


def item_text(name: str) -> str:
    return f"USING ({name})"


def using_column(scope: Scope, name: str, side: str, position: int) -> ScopeColumn:
    found = [column for column in scope.visible if column.name == name]
    if not found:
        raise SqlError("42703", f'column "{name}" specified in USING clause does not exist in {side} table', position)
    if len(found) > 1:
        raise SqlError("42702", f'common column name "{name}" appears more than once in {side} table', position)
    return found[0]
