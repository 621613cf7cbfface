"""GROUP BY: its keys by expression, output name or number, and GROUPING SETS, ROLLUP and CUBE as
sets of keys.

Keys and aggregates become columns of the Aggregate; other columns are 42803. A column of a table
whose primary key is grouped by is determined by it, and becomes a key of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.placeholder_columns import FIRST_AGGREGATE, FIRST_SET, FIRST_WINDOW, PlaceholderColumns
from sql.bind.expressions.scope import Output, Scope
from sql.bind.queries.outputs import bare_name, ordinal_place, output_name, output_named
from sql.errors import SqlError, not_supported
from sql.functions.volatility import is_constant
from sql.parse.syntax import Constant, GroupingSets, GroupItem, SelectBody
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import AggregateCall, Column, Expression, Literal, Subquery
from sql.tree.walks import children, map_all, map_expression, walk
from sql.types.casts import has_equality, plain_name
from sql.types.datatypes import INT4


def check_key(expression: Expression, position: int) -> None:
    """Raise when a key (through an ordinal or an alias) holds an aggregate or a window call."""
    for node in walk(expression):
        if isinstance(node, Column) and node.index >= FIRST_SET:
            raise not_supported("a set-returning function in GROUP BY", node.position)
        if isinstance(node, Column) and node.index >= FIRST_WINDOW:
            raise SqlError("42P20", "window functions are not allowed in GROUP BY", node.position)
        if isinstance(node, Column) and node.index >= FIRST_AGGREGATE:
            raise SqlError("42803", "aggregate functions are not allowed in GROUP BY", node.position)
    if not has_equality(expression.type.family):
        message = f"could not identify an equality operator for type {plain_name(expression.type)}"
        raise SqlError("42883", message, position)


def checked(call: AggregateCall, keys: Keys) -> AggregateCall:
    """Return an aggregate of the query; the arguments of GROUPING must be keys."""
    if call.function != "grouping":
        return call
    for argument in call.arguments:
        if keys.place(argument) is None:
            message = "arguments to GROUPING must be grouping expressions of the associated query level"
            position = argument.position if isinstance(argument, Column) else call.position
            raise SqlError("42803", message, position)
    return call


def with_dependent(keys: Keys, expressions: Sequence[Expression], virtual: PlaceholderColumns, scope: Scope) -> Keys:
    """Return the keys and, after them, the columns in use that a grouped primary key determines."""
    known = {key: index for index, (_, key) in enumerate(keys.items)}
    common = set(range(len(keys.items))) if keys.sets is None else set.intersection(*map(set, keys.sets))
    determined: dict[Expression, str] = {}
    for table in scope.tables:
        primary = [known.get(table.columns[place].expression) for place in table.key]
        if primary and all(place in common for place in primary):
            determined |= {column.expression: column.name for column in table.columns}
    if not determined:
        return keys
    found: dict[Expression, str] = {}

    def collect(node: Expression) -> Expression | None:
        if node in known:
            return node
        if node in determined:
            found[node] = determined[node]
        return None

    calls = [part for _, call in virtual.windows for part in children(call)]
    for item in (*expressions, *calls, *(part for _, call in virtual.sets for part in call.arguments)):
        map_expression(item, collect)
    added = tuple(range(len(keys.items), len(keys.items) + len(found)))
    items = (*keys.items, *((name, column) for column, name in found.items()))
    return replace(keys, items=items, sets=None if keys.sets is None else tuple((*one, *added) for one in keys.sets))


class Regrouping:
    """The map of expressions over the FROM clause's row (and virtual columns) to the Aggregate's
    output row.
    """

    def __init__(self, keys: Keys, virtual: PlaceholderColumns, scope: Scope) -> None:
        self.keys = {key: (index, name) for index, (name, key) in enumerate(keys.items)}
        self.has_sets = keys.sets is not None
        self.scope = scope
        calls = [(name, checked(call, keys)) for name, call in virtual.aggregates]
        # With one set of all keys GROUPING is 0, and not computed.
        kept = [index for index, (_, call) in enumerate(calls) if keys.sets is not None or call.function != "grouping"]
        self.places = {index: len(keys.items) + place for place, index in enumerate(kept)}
        self.calls = tuple(calls[index] for index in kept)

    def item(self, expression: Expression) -> Expression:
        """Return an item of the select list or of ORDER BY over the Aggregate's output.

        An item that is a constant and a key is NULL in the sets without that key; inside of an
        expression it keeps its value.
        """
        key = self.keys.get(expression) if self.has_sets and is_constant(expression) else None
        return self.expression(expression) if key is None else Column(key[0], key[1], expression.type)

    def expression(self, expression: Expression) -> Expression:
        """Return `expression` over the Aggregate's output."""
        return map_expression(expression, self.change)

    def change(self, node: Expression) -> Expression | None:
        """Return the output column for a key or an aggregate, None for what is computed above."""
        if isinstance(node, Literal) or (self.has_sets and is_constant(node)):
            return None
        key = self.keys.get(node)
        if key is not None:
            position = node.position if isinstance(node, Column) else None
            return Column(key[0], key[1], node.type, position)
        if isinstance(node, Subquery):
            operands = map_all(node.operands, self.change)
            return replace(node, operands=operands, arguments=map_all(node.arguments, self.change_inside))
        return self.change_column(node, inside=False)

    def change_inside(self, node: Expression) -> Expression | None:
        """Return the change of a value that a subquery takes of the row outside."""
        key = self.keys.get(node)
        if key is not None:
            return Column(key[0], key[1], node.type)
        return self.change_column(node, inside=True)

    def change_column(self, node: Expression, inside: bool) -> Expression | None:
        if not isinstance(node, Column) or node.index >= FIRST_WINDOW:
            return None
        if node.index >= FIRST_AGGREGATE:
            place = self.places.get(node.index - FIRST_AGGREGATE)
            return Literal(0, INT4) if place is None else Column(place, node.name, node.type, node.position)
        name = self.qualified(node)
        if inside:
            message = f'subquery uses ungrouped column "{name}" from outer query'
        else:
            message = f'column "{name}" must appear in the GROUP BY clause or be used in an aggregate function'
        raise SqlError("42803", message, node.position)

    def qualified(self, column: Column) -> str:
        """Return table.column as PostgreSQL names it."""
        for table in self.scope.tables:
            for known in table.columns:
                if known.expression == column:
                    return f"{table.alias}.{known.name}"
        return column.name


GROUPING_SETS_MAX = 4096
CUBE_ITEMS_MAX = 12

Sets = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a GROUP BY.

    Attributes:
        sets: as `sql.tree.relations.Aggregate` has them.
        written: there is a GROUP BY, though it may have no keys.
    """

    items: tuple[tuple[str, Expression], ...]
    sets: tuple[tuple[int, ...], ...] | None
    written: bool

    def place(self, expression: Expression) -> int | None:
        """Return the index of a key, None for what is no key."""
        return next((index for index, (_, known) in enumerate(self.items) if known == expression), None)


@dataclass
class KeyList:
    """The keys that were found so far, each once."""

    outputs: list[Output]
    binder: Binder
    items: list[tuple[str, Expression]] = field(default_factory=list)

    def place(self, item: Syntax) -> int:
        """Return the index of an item of GROUP BY among the keys."""
        expression = group_item(item, self.outputs, self.binder)
        check_key(expression, item.position)
        for index, (_, known) in enumerate(self.items):
            if known == expression:
                return index
        named = next((output.name for output in self.outputs if output.expression == expression), output_name(item))
        self.items.append((named, expression))
        return len(self.items) - 1


def bind_group_by(body: SelectBody, outputs: list[Output], binder: Binder) -> Keys:
    """Return the grouping keys; each combination of the items' sets is a set."""
    plain = Binder(binder.scope, binder.context, "GROUP BY", binder.virtual)
    keys = KeyList(outputs, plain)
    each = [item_sets(item, keys) for item in body.group_by]
    count = 1
    for sets in each:
        count *= len(sets)
        if count > GROUPING_SETS_MAX:
            message = f"too many grouping sets present (maximum {GROUPING_SETS_MAX})"
            raise SqlError("54001", message, body.group_by[0].position)
    found: Sets = [tuple(dict.fromkeys(place for chosen in choice for place in chosen)) for choice in product(*each)]
    if body.group_distinct:
        found = list({frozenset(chosen): chosen for chosen in found}.values())
    items = tuple(keys.items)
    if len(found) == 1 and set(found[0]) == set(range(len(items))):
        return Keys(items, None, bool(body.group_by))
    return Keys(items, tuple(tuple(sorted(chosen)) for chosen in found), True)


def item_sets(item: GroupItem, keys: KeyList) -> Sets:
    """Return the sets that an item stands for."""
    if not isinstance(item, GroupingSets):
        return [(keys.place(item),)]
    match item.kind:
        case "list":
            return [list_places(item, keys)]
        case "rollup":
            parts = [list_places(part, keys) for part in item.items]
            return [joined(parts[:count]) for count in range(len(parts), -1, -1)]
        case "cube":
            parts = [list_places(part, keys) for part in item.items]
            if len(parts) > CUBE_ITEMS_MAX:
                message = f"CUBE is limited to {CUBE_ITEMS_MAX} elements"
                raise SqlError("54011", message, item.position)
            return [joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]
    return [chosen for part in item.items for chosen in item_sets(part, keys)]


def list_places(item: GroupItem, keys: KeyList) -> tuple[int, ...]:
    """Return the keys of one expression, or of a list in parentheses."""
    if not isinstance(item, GroupingSets):
        return (keys.place(item),)
    return joined([list_places(part, keys) for part in item.items])


def joined(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for part in parts for place in part))


def group_item(item: Syntax, outputs: list[Output], binder: Binder) -> Expression:
    """Return a key; an input column wins over an output column of the same name."""
    wanted = bare_name(item)
    if wanted is not None:
        column = binder.scope.bare(wanted, item.position)
        if column is not None:
            return column
        found = output_named(wanted, item.position, outputs, "GROUP BY")
        if found is not None:
            return found
    if isinstance(item, Constant):
        return outputs[ordinal_place(item, len(outputs), "GROUP BY")].expression
    return binder.bind_value(item)
