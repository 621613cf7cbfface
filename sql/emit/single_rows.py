"""Relations of at most one row, by their form or by a key of the system catalog.

Enters: relations. Leaves: whether a scalar subquery needs no check of its own. Must not know an
engine.
"""

from __future__ import annotations

from dataclasses import replace

from sql.functions.comparisons import EQUAL
from sql.functions.rows import VOLATILE
from sql.functions.table import volatility
from sql.names.relation_keys import name_of, schema_of
from sql.tree.expressions import Call, Cast, Column, Expression, Literal, Subquery
from sql.tree.relations import Aggregate, Distinct, Filter, Join, Limit, Project, Relation, Scan, Sort, Values, Window
from sql.tree.walks import conjuncts, walk
from sql.types.datatypes import BOOL

# Places of columns.
Places = frozenset[int]
NO_PLACES: Places = frozenset()
# Relations of pg_catalog whose keys are not an oid alone -> columns that two rows never have in
# common.
KEYS: dict[str, tuple[frozenset[str], ...]] = {
    "pg_attrdef": (frozenset({"oid"}), frozenset({"adrelid", "adnum"})),
    "pg_attribute": (frozenset({"attrelid", "attnum"}), frozenset({"attrelid", "attname"})),
    "pg_description": (frozenset({"objoid", "classoid", "objsubid"}),),
    "pg_shdescription": (frozenset({"objoid", "classoid"}),),
    "pg_foreign_table": (frozenset({"ftrelid"}),),
    "pg_index": (frozenset({"indexrelid"}),),
    "pg_range": (frozenset({"rngtypid"}),),
    "pg_sequence": (frozenset({"seqrelid"}),),
}
INTEGERS = frozenset({"int2", "int4", "int8", "oid"})
BY_OID = (frozenset({"oid"}),)


def is_single_row(node: Relation, fixed: Places = NO_PLACES) -> bool:
    """Tell whether `node` can't have more than one row where these columns have one value."""
    match node:
        case Scan(kind="catalog"):
            names = {node.schema[place].name for place in fixed}
            return schema_of(node.name) == "pg_catalog" and any(
                key <= names for key in KEYS.get(name_of(node.name), BY_OID)
            )
        case Aggregate():
            return not node.keys and node.sets is None
        case Filter(input=Join(kind="inner" | "cross") as join):
            both = [node.predicate] if join.condition is None else [join.condition, node.predicate]
            return _is_single_pair(replace(join, kind="inner", condition=Call("and", tuple(both), BOOL)), fixed)
        case Filter():
            return is_single_row(node.input, fixed_by(node.predicate, fixed))
        case Project():
            items = [item for _, item in node.items]
            return is_single_row(
                node.input, frozenset(item.index for place in fixed if isinstance(item := items[place], Column))
            )
        case Sort() | Distinct():
            return is_single_row(node.input, fixed)
        case Window():
            return is_single_row(node.input, frozenset(place for place in fixed if place < len(node.input.schema)))
        case Limit():
            one = isinstance(node.limit, Literal) and node.limit.value in (0, 1)
            return one or is_single_row(node.input, fixed)
        case Values():
            return len(node.rows) <= 1
        case Join(kind="inner" | "left" | "cross"):
            return _is_single_pair(node, fixed)
    return False


def _is_single_pair(node: Join, fixed: Places) -> bool:
    """Tell whether a join can't have more than one row: one side has one, and each of its rows
    meets one of the other side.
    """
    width = len(node.left.schema)
    left, right = frozenset(range(width)), frozenset(range(width, len(node.schema)))
    met = fixed if node.condition is None else fixed_by(node.condition, fixed)
    # A left join's condition says nothing of the left side.
    kept = fixed if node.kind == "left" else met
    if is_single_row(node.left, kept & left):
        met = left | (fixed if node.condition is None else fixed_by(node.condition, fixed | left))
        return is_single_row(node.right, frozenset(place - width for place in met & right))
    # The rows of a lateral side depend on those of the other.
    if (
        node.kind == "left"
        or node.lateral is not None
        or not is_single_row(node.right, frozenset(place - width for place in kept & right))
    ):
        return False
    met = fixed | right if node.condition is None else fixed_by(node.condition, fixed | right)
    return is_single_row(node.left, met & left)


def fixed_by(predicate: Expression, fixed: Places) -> Places:
    """Return the columns that have one value in all rows of which a predicate is true: `fixed`, and
    those that it makes equal to them or to constants.
    """
    pairs = [part.arguments for part in conjuncts(predicate) if isinstance(part, Call) and part.function == EQUAL]
    pairs += [(right, left) for left, right in pairs]
    sides = [(column_of(one), other) for one, other in pairs]
    while True:
        more = {one.index for one, other in sides if one is not None and has_one_value(other, fixed)} - fixed
        if not more:
            return fixed
        fixed |= more


def column_of(node: Expression) -> Column | None:
    """Return the column of which an expression is the value, as it is or as a wider integer."""
    if isinstance(node, Cast) and node.type.family in INTEGERS and node.operand.type.family in INTEGERS:
        return column_of(node.operand)
    return node if isinstance(node, Column) else None


def has_one_value(node: Expression, fixed: Places) -> bool:
    """Tell whether an expression has the same value in all rows in which the fixed columns have
    theirs.
    """
    return not any(
        (isinstance(part, Column) and part.index not in fixed)
        or isinstance(part, Subquery)
        or (isinstance(part, Call) and volatility(part.function) == VOLATILE)
        for part in walk(node)
    )
