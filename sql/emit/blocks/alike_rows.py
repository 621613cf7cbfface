"""Rows of VALUES that compute the same of other constants, as one projection over the constants.

An engine plans such a projection once, not per row. Enters: `Values` whose rows are expressions.
Leaves: a `Project` over `Values` of literals alone, or None where rows are few or not alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sql.functions.long_constants import LONG_ITEMS, each
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, Subquery
from sql.tree.relations import OutputColumn, Project, Relation, Values
from sql.tree.walks import children, map_expression, walk
from sql.types.datatypes import BOOL, SqlType

# Constants of these types may be columns, where nothing reads them as a pattern, a format, a field
# or a length.
PLAIN = frozenset("int2 int4 int8 float4 float8 date timestamp timestamptz bool text varchar".split())
TAKES_COLUMNS = frozenset(
    "add subtract multiply divide modulo negate abs sign floor ceil eq ne lt le gt ge is_distinct is_not_distinct and or not "
    "coalesce nullif greatest least concat_op concat lower upper length octet_length add_days subtract_days".split()
)
# Rows that are computed by one statement, where each may have to be planned by itself.
ROWS_AT_ONCE = 1000
# More columns than a relation may have are not worth the search.
COLUMNS_MAX = 1600


def alike_rows(node: Values) -> Relation | None:
    """Return the relation that yields the same rows in the same order."""
    if len(node.rows) < LONG_ITEMS:
        return None
    columns: list[Sequence[Literal]] = []
    items = []
    for index, wanted in enumerate(node.schema):
        found = alike([row[index] for row in each(node.rows)], wanted.type, columns)
        if found is None or len(columns) > COLUMNS_MAX:
            return None
        items.append((wanted.name, found))
    if all(isinstance(item, Column) for _, item in items):
        return None
    if not columns:
        # Equal rows, which are counted by a column that nothing reads.
        columns.append([Literal(True, BOOL)] * len(node.rows))
    schema = tuple(OutputColumn(f"constant {index}", column[0].type) for index, column in enumerate(columns))
    return Project(Values(tuple(zip(*columns, strict=True)), schema), tuple(items)) if columns else None


def by_kind(expressions: Sequence[Expression]) -> Iterator[Values]:
    """Yield constants as rows of one column; neighbours that differ in literals alone are
    together.
    """
    kinds: dict[tuple[object, ...], list[Expression]] = {}
    for item in each(expressions):
        nodes = ((type(node), node.type, node.function if isinstance(node, Call) else "") for node in walk(item))
        kinds.setdefault(tuple(nodes), []).append(item)
    for alike_items in kinds.values():
        for first in range(0, len(alike_items), ROWS_AT_ONCE):
            items = alike_items[first : first + ROWS_AT_ONCE]
            yield Values(tuple((item,) for item in items), (OutputColumn("value", items[0].type),))


def alike(items: Sequence[Expression], wanted: SqlType, columns: list[Sequence[Literal]]) -> Expression | None:
    """Return the one expression that yields `items` of constants, which are appended to `columns`,
    one for each item.

    None where there is no such expression.
    """
    literals = [item for item in each(items) if isinstance(item, Literal)]
    if len(literals) == len(items):
        fits = all(item.value is None or item.type.family == wanted.family for item in literals)
        return appended([Literal(item.value, wanted) for item in literals], wanted, columns) if fits else None
    first = list(walk(items[0]))
    rows = [list(walk(item)) for item in each(items)]
    is_odd = items[0].type != wanted or any(isinstance(node, Subquery) for node in first)
    if is_odd or any(len(row) != len(first) for row in rows):
        return None
    changed: dict[int, Expression] = {}
    parents = {id(child): node for node in first for child in children(node)}
    for place, node in enumerate(first):
        nodes = [row[place] for row in rows]
        if not isinstance(node, Literal):
            if not all(is_like(node, other) for other in each(nodes)):
                return None
        elif any(other != node for other in each(nodes)):
            literals = [other for other in nodes if isinstance(other, Literal) and other.type == node.type]
            if len(literals) < len(nodes) or not may_vary(node, parents.get(id(node))):
                return None
            changed[id(node)] = appended(literals, node.type, columns)
    return map_expression(items[0], lambda node: changed.get(id(node)))


def appended(literals: Sequence[Literal], kind: SqlType, columns: list[Sequence[Literal]]) -> Column:
    """Return the column that constants are appended as."""
    columns.append(literals)
    return Column(len(columns) - 1, f"constant {len(columns) - 1}", kind)


def is_like(node: Expression, other: Expression) -> bool:
    """Tell whether two nodes compute the same of their parts, which are compared by themselves."""
    if node.type != other.type or len(children(node)) != len(children(other)):
        return False
    match node, other:
        case Call(), Call():
            return node.function == other.function
        case Cast(), Cast():
            return (node.explicit, node.zone) == (other.explicit, other.zone)
        case Case(), Case():
            return True
    return node == other


def may_vary(node: Literal, parent: Expression | None) -> bool:
    """Tell whether a constant may be a column instead."""
    if node.type.family not in PLAIN and (node.type.family != "numeric" or node.type.display_scale is None):
        return False
    return isinstance(parent, Cast | Case) or (isinstance(parent, Call) and parent.function in TAKES_COLUMNS)
