"""Calls of functions in PostgreSQL's SQL: by the dialect's own rule, or that of all, or 0A000 with
the function's name.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp

from sql.dialects import tables
from sql.dialects.calls import VARIADIC, Call, Rule, by_rule, function, table
from sql.dialects.context import POSTGRES_LIKE, Context
from sql.dialects.time_calls import COMMON as FIELDS
from sql.dialects.time_calls import TIMES
from sql.dialects.value_calls import OF_DIALECTS, VALUES
from sql.functions.table import AGGREGATES, FUNCTIONS, TABLE_FUNCTIONS, WINDOW_FUNCTIONS
from sql.names.suggestions import did_you_mean

# Calls that PostgreSQL's grammar spells in its own way.
SPELLED = frozenset(
    "COALESCE NULLIF GREATEST LEAST GROUPING EXTRACT CURRENT_DATE CURRENT_TIMESTAMP NOW TRIM BTRIM".split()
)

# What SPLIT is until one item of it is taken.
SPLIT = "_SPLIT"


@cache
def known_names() -> frozenset[str]:
    """Return the names of all functions that Antumbra has, in capitals."""
    names = (*FUNCTIONS, *AGGREGATES, *WINDOW_FUNCTIONS, *TABLE_FUNCTIONS)
    return frozenset(name.upper() for name in names) | SPELLED


def is_window(node: exp.Expr) -> bool:
    """Tell whether a call is Antumbra's hop(TABLE name, ...) in FROM."""
    return isinstance(node.parent, exp.Table) and str(node.name).upper() == "HOP"


def translated(node: exp.Expr, context: Context) -> exp.Expr:
    """Return what a call is in PostgreSQL's SQL. Raises 0A000."""
    if is_window(node):
        return node
    name = node.this.name if isinstance(node.this, exp.Expr) else str(node.this)
    call = Call(name.upper(), tuple(node.expressions), node, context)
    found = translated_call(call)
    require_known(found, call)
    return found


def translated_call(call: Call) -> exp.Expr:
    """As `translated`, by the tables."""
    dialect, count = call.context.dialect, len(call.arguments)
    if dialect in POSTGRES_LIKE:
        return function(call.name, *call.arguments)
    for text in tables.TABLES[dialect]:
        rule = table(text).get((call.name, count))
        if rule is not None:
            return by_rule(rule, call)
    for handlers in (TIMES.get(dialect, {}), OF_DIALECTS.get(dialect, {})):
        handler = handlers.get(call.name)
        if handler is not None:
            return handler(call)
    for text in (*tables.TABLES[dialect], tables.COMMON):
        general = rule_of(text, call)
        if text is tables.COMMON and call.name in (VALUES | FIELDS):
            return (VALUES | FIELDS)[call.name](call)
        if general is not None:
            return by_rule(general, call)
    raise call.refuse(hint=hint_for(call.name.lower()))


def rule_of(text: str, call: Call) -> Rule | None:
    """Return the rule of a table for a call."""
    rules = table(text)
    return rules.get((call.name, len(call.arguments))) or rules.get((call.name, VARIADIC))


def hint_for(name: str) -> str:
    """Return what to do about a function that is in no table."""
    names = [one.lower() for one in known_names() if one.lower() != name]
    meant = did_you_mean(name, names, "the function")
    return " ".join(
        filter(None, ["Write it with functions of PostgreSQL: SET antumbra.sql_dialect = 'postgres'.", meant])
    )


def require_known(found: exp.Expr, call: Call) -> None:
    """Raise 0A000 for a function that Antumbra does not have."""
    for one in found.find_all(exp.Anonymous):
        name = str(one.this).upper()
        if name not in known_names() and name != SPLIT:
            raise call.context.refusal(
                f"the function {name.lower()}", call.node, "Antumbra has no function of this name."
            )
