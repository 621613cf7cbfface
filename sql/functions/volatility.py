"""Constants and volatile functions: which trees are the one, and which call the other.

The value of a volatile function is another one at each call, so a column that shows it is computed
in one place only. Enters: bound trees. Must not know engines.
"""

from __future__ import annotations

from sql.functions.rows import IMMUTABLE, VOLATILE
from sql.functions.table import ROWS, volatility
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.tree.relations import Relation
from sql.tree.walks import all_relations, children, subqueries_of, walk
from sql.types.casts import needs_zone
from sql.types.datatypes import OIDS_OF_NAMES, SqlType

# The value at the start of the transaction, under its names.
NOW_FUNCTIONS = frozenset({"now", "transaction_timestamp", "statement_timestamp"})
TEXTS = frozenset({"text", "varchar", "bpchar"})
TIMES = frozenset({"date", "timestamp", "timestamptz", "time", "timetz", "interval"})
# Of these families the text forms are immutable in PostgreSQL (pg_proc.provolatile), though they
# cannot be read without the clock.
SHOWN_FOREVER = frozenset({"time", "timetz"})


def is_constant(node: Expression, and_stable: bool = False) -> bool:
    """Tell whether an expression has one value in every query: it is made of literals and immutable
    functions alone.

    and_stable: in this query, so that stable functions may be in the expression.
    """
    match node:
        case Literal():
            return True
        case Call() | Cast() if not (is_fixed(node, and_stable) and (and_stable or not _is_printed_late(node))):
            return False
        case Call():
            return all(is_constant(argument, and_stable) for argument in node.arguments)
        case Cast():
            return is_constant(node.operand, and_stable)
        case Case():
            parts = (*(part for branch in node.branches for part in branch), node.default)
            return all(is_constant(part, and_stable) for part in parts)
        case Column() | OuterColumn() | Parameter() | Subquery():
            return False


def is_fixed(node: Expression, and_stable: bool) -> bool:
    """Tell whether a call or a cast by itself has one value for the same operands.

    True for all other nodes.
    """
    match node:
        case Call():
            # A function whose value depends on settings is stable: a text that it can't read is an
            # error of the row that asks for it.
            found = volatility(node.function)
            return node.function != "now" and found != VOLATILE and (and_stable or found == IMMUTABLE)
        case Cast():
            return and_stable or not (node.operand.type.family in TEXTS and node.type.family in TIMES)
    return True


def _is_printed_late(node: Call | Cast) -> bool:
    """Tell whether PostgreSQL takes a call or a cast for stable, although it has one value here
    whatever the settings.
    """
    if isinstance(node, Call):
        row = ROWS.get(node.function)
        # It calls the function that prints whatever value it is given.
        return row is not None and (row.takes_output or row.prints)
    source, target = node.operand.type, node.type
    if needs_zone(source.family, target.family):
        return source.family != target.family
    if target.family in TEXTS:
        return _is_stable_text(source) and source.family not in SHOWN_FOREVER
    return source.family in TEXTS and _is_stable_text(target)


def _is_stable_text(kind: SqlType) -> bool:
    """Tell whether a setting or the catalog has a part in the text form of a type."""
    return kind.family in TIMES or kind.is_array or kind.is_record or kind.is_enum or kind.family in OIDS_OF_NAMES


def is_volatile(expression: Expression) -> bool:
    """Tell whether an expression calls a volatile function, also inside of a subquery."""
    return _calls_volatile(expression) or any(has_volatile(subquery.relation) for subquery in subqueries_of(expression))


def has_volatile(relation: Relation) -> bool:
    """Tell whether an operator of the tree calls a volatile function."""
    # Expressions inside of subqueries are among the relations: nothing is looked at twice.
    return any(_calls_volatile(item) for part in all_relations(relation) for item in children(part))


def _calls_volatile(expression: Expression) -> bool:
    return any(isinstance(node, Call) and volatility(node.function) == VOLATILE for node in walk(expression))
