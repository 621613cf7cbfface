"""The versions and states of a view in a statement:

    version_of('v')                   the number of the version that the statement reads
    changes_of('v', since => n)       in FROM, what has changed since version n
    state_of('v'[, number])           in FROM, the keys and the state of each group that is kept

Enters: calls. Leaves: a scan of kind 'rows', and in the context a `VersionRead` that yields its
rows. Changes have a column `change` ('insert', 'update' or 'delete'), the columns by which the
view's rows are told apart, and each other column as old_ and new_. Where no columns tell rows
apart, equal rows are counted, and a change is an insert or a delete of a whole row.
"""

from __future__ import annotations

from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.table_calls import named_table
from sql.bind.readers import has_open_zone
from sql.bind.sharing import settled
from sql.catalog.catalog import Catalog, RelationDescription
from sql.catalog.schemas import find_relation
from sql.errors import SqlError, not_supported
from sql.functions.volatility import has_volatile
from sql.names.relation_keys import name_of
from sql.parse.grammar.cursor import read_parts, relation_of
from sql.parse.syntax import (
    Constant,
    FunctionCall,
    FunctionTable,
    NamedArgument,
    Query,
    SelectBody,
    Star,
    Table,
    Target,
    TypeCast,
    TypeName,
)
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Expression, Subquery
from sql.tree.relations import OutputColumn, Relation, Scan, Schema, StateRead, VersionRead
from sql.tree.row_keys import row_keys
from sql.tree.walks import all_relations
from sql.types.datatypes import BYTEA, INT8, TEXT

STATE = OutputColumn("state", BYTEA)
CHANGE = OutputColumn("change", TEXT)
NUMBER = OutputColumn("version_of", INT8)
VERSION = OutputColumn("version", INT8)
USAGE = {
    "version_of": "version_of('view')",
    "changes_of": "changes_of('view', since => version)",
    "state_of": "state_of('view'[, number])",
}
NAMES = tuple(USAGE)


def bind_version(node: FunctionCall, context: BindContext) -> Expression:
    """Return the number of the version of a view that the statement reads."""
    if node.over is not None or node.filter is not None or node.distinct or node.star or len(node.arguments) != 1:
        raise misused(node)
    read = version_read(node, None, context)
    return Subquery("scalar", rows_of(read), (), INT8, position=node.position, text=node.text)


def bind_changes(item: FunctionTable, context: BindContext) -> tuple[Relation, Scope]:
    """Return the changes of a view since another version, and the names of their columns."""
    (node,) = item.calls
    if item.ordinality or not 1 <= len(node.arguments) <= 2:
        raise misused(node)
    given = node.arguments[1] if len(node.arguments) == 2 else None
    if isinstance(given, NamedArgument):
        if given.name != "since":
            raise misused(node)
        given = given.value
    if given is None:
        raise misused(node)
    read = version_read(node, given, context)
    return named_table(item, item.alias or node.label, rows_of(read), False)


def rows_of(read: VersionRead) -> Scan:
    """Return the scan of what a read of a version yields: a number, or changes."""
    return Scan(read.name, "rows", (NUMBER,) if read.since is None else changes_schema(read.root.schema, read.keys))


def changes_schema(rows: Schema, keys: tuple[int, ...] | None) -> Schema:
    """Return the columns of changes of rows with these columns and keys."""
    if keys is None:
        return (CHANGE, *rows)
    others = [column for place, column in enumerate(rows) if place not in keys]
    pairs = (OutputColumn(f"{when}_{column.name}", column.type) for column in others for when in ("old", "new"))
    return (CHANGE, *(rows[key] for key in keys), *pairs)


def version_read(node: FunctionCall, since: Syntax | None, context: BindContext) -> VersionRead:
    """Return the read of the view that a call names, which the context has then.

    Raises the errors of `named_view`, and 0A000 for what is scanned anew each time.
    """
    found, root = named_view(node, context)
    assert context.versions is not None
    value, first = None, node.arguments[0]
    if since is not None:
        with context.inside(None, {}):
            cast = TypeCast(since, TypeName("int8", (), node.position, "int8"), node.position, "since")
            value = settled(context.queries.relation(select(cast, ()), context))
    if any(isinstance(part, Scan) and part.kind not in ("view", "table") for part in all_relations(root)):
        hint = "A view has versions if it reads continuous views and tables alone."
        raise not_supported(f"{node.name} of a view that reads other relations", first.position, hint)
    name = f"?version{len(context.versions)}?"
    read = VersionRead(name, found.name, found.oid, root, value, keys_of(root, context.catalog), is_own(found))
    context.versions.append(read)
    return read


def named_view(node: FunctionCall, context: BindContext) -> tuple[RelationDescription, Relation]:
    """Return the view that the first argument of a call names, and its rows.

    Raises 42P01 and 42809, and 0A000 in definitions and in statements that only write.
    """
    if context.settings.is_shared:
        raise not_supported(f"{node.name} in a definition", node.position)
    if context.versions is None:
        hint = "A SELECT by itself reads versions and states of views."
        raise not_supported(f"{node.name} in this statement", node.position, hint)
    first = node.arguments[0]
    if not isinstance(first, Constant) or first.kind != "string":
        raise misused(node)
    parts = read_parts(first.value)
    table = Table(parts, None, (), first.position)
    with context.inside(None, {}):
        root = settled(context.queries.relation(select(Star((), first.position), (table,)), context))
    found = find_relation(relation_of(parts, first.position), context.catalog, context.settings, first.position)
    if found is None or found.kind not in ("view", "query"):
        raise SqlError("42809", f'"{parts[-1]}" is not a view', first.position)
    return found, root


def bind_states(item: FunctionTable, context: BindContext) -> tuple[Relation, Scope]:
    """Return what a view keeps of each group, and the names of the columns."""
    (node,) = item.calls
    if item.ordinality or not 1 <= len(node.arguments) <= 2:
        raise misused(node)
    found, root = named_view(node, context)
    scanned = {part.name for part in all_relations(root) if isinstance(part, Scan)}
    kept = [one for name in scanned if (one := context.catalog.relation(name)) is not None]
    states = sorted((one for one in kept if one.kind == "view" and one.oid == found.oid), key=lambda one: one.number)
    if not states:
        raise SqlError("42809", f'"{name_of(found.name)}" is not a continuous view', node.arguments[0].position)
    number = 1
    if len(node.arguments) == 2:
        second = node.arguments[1]
        if not isinstance(second, Constant) or second.kind != "integer":
            raise misused(node)
        number = int(second.value)
    numbers = [one.number + 1 for one in states]
    if number not in numbers or (len(states) > 1 and len(node.arguments) == 1):
        shown = ", ".join(map(str, numbers))
        hint = f"Write {USAGE[node.name]} with one of the numbers {shown}, as EXPLAIN shows them."
        raise SqlError("22023", f'view "{name_of(found.name)}" has {len(states)} states', node.position, hint=hint)
    state = states[numbers.index(number)]
    read = StateRead(f"?state{len(context.states)}?", found.name, state.name)
    context.states.append(read)
    relation = Scan(read.name, "rows", (*state.group_keys, STATE))
    return named_table(item, item.alias or node.label, relation, False)


def select(item: Syntax, tables: tuple[Table, ...]) -> Query:
    """Return the query SELECT item FROM tables."""
    position = item.position
    body = SelectBody((Target(item, None, position),), False, tables, None, (), None, (), position)
    return Query((), body, (), None, None, position)


def output_schema(view: RelationDescription, catalog: Catalog) -> Schema:
    """Return the columns of the output of a view: those of its changes, and the version that has
    them.
    """
    return (
        *changes_schema(tuple(OutputColumn(one.name, one.type) for one in view.columns), view_keys(view, catalog)),
        VERSION,
    )


def view_keys(view: RelationDescription, catalog: Catalog) -> tuple[int, ...] | None:
    """Return the places of the columns by which the rows of a view are told apart, in order."""
    return view.row_keys if view.query is None else keys_of(view.query.root, catalog)


def keys_of(root: Relation, catalog: Catalog) -> tuple[int, ...] | None:
    """Return the places of the columns by which the rows of a view's tree are told apart, in
    order.
    """

    def of_scan(scan: Scan) -> tuple[int, ...] | None:
        found = catalog.relation(scan.name)
        if found is None:
            return None
        key = next((item.columns for item in found.constraints if item.kind == "primary key"), None)
        if found.kind != "table" or key is None:
            return found.row_keys
        places = {column.number: place for place, column in enumerate(found.columns)}
        return tuple(places[number] for number in key)

    found = row_keys(root, of_scan)
    return None if found is None else tuple(sorted(found))


def is_own(view: RelationDescription) -> bool:
    """Tell whether the rows of a view depend on who reads them, and when."""
    query = view.query
    return query is not None and (query.stable or has_volatile(query.root) or has_open_zone(query.root))


def misused(node: FunctionCall) -> SqlError:
    """Return the error of a call with other arguments."""
    hint = f"Write {USAGE[node.name]}, with the name of the view as a constant."
    return SqlError("42883", f"{node.name} takes other arguments", node.position, hint=hint)
