"""Kinds of values, as far as a tree tells them without a catalog: 'integer', 'numeric', 'float',
'text', 'date', 'timestamp', 'timestamptz', 'boolean', 'interval', or None.

Enters: expressions of PostgreSQL's. Types of columns are known where the session or the file tells
them.
"""

from __future__ import annotations

from sqlglot import exp

from sql.dialects.calls import bare
from sql.dialects.context import Context

INTEGERS = frozenset("SMALLINT INT BIGINT".split())
OF_TYPE = {
    **dict.fromkeys(INTEGERS, "integer"),
    "DECIMAL": "numeric",
    "DOUBLE": "float",
    "FLOAT": "float",
    "TEXT": "text",
    "VARCHAR": "text",
    "CHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamptz",
    "BOOLEAN": "boolean",
    "TIMESTAMPNTZ": "timestamp",
    "DATETIME": "timestamp",
    "INTERVAL": "interval",
    "BIGDECIMAL": "numeric",
}
OF_FUNCTION = {
    **dict.fromkeys(
        "CONCAT UPPER LOWER TRIM BTRIM LTRIM RTRIM SUBSTR SUBSTRING REPLACE TO_CHAR LEFT RIGHT".split(), "text"
    ),
    **dict.fromkeys(
        "SPLIT_PART STRING_AGG INITCAP LPAD RPAD REVERSE REPEAT MD5 CONCAT_WS REGEXP_REPLACE".split(), "text"
    ),
    **dict.fromkeys(
        "COUNT LENGTH STRPOS ROW_NUMBER RANK DENSE_RANK NTILE OCTET_LENGTH ASCII CARDINALITY".split(), "integer"
    ),
    "DATE_TRUNC": "timestamp",
    "TO_DATE": "date",
    "NOW": "timestamptz",
    "MAKE_DATE": "date",
    "DATE_BIN": "timestamp",
    **dict.fromkeys("SQRT LN EXP PERCENT_RANK CUME_DIST".split(), "float"),
}
# Of columns, by the families of their types.
OF_FAMILY = {
    **dict.fromkeys(("int2", "int4", "int8"), "integer"),
    **dict.fromkeys(("text", "varchar", "bpchar"), "text"),
    **dict.fromkeys(("float4", "float8"), "float"),
    **{name: name for name in ("numeric", "date", "timestamp", "timestamptz", "interval")},
    "bool": "boolean",
}
# Their value is of the kind of their first argument.
ALIKE = frozenset("MIN MAX COALESCE NULLIF GREATEST LEAST ABS LAG LEAD FIRST_VALUE LAST_VALUE".split())
COMPARISONS = (exp.Predicate, exp.And, exp.Or, exp.Not, exp.Boolean)
DECIMALS = ("numeric", "float")


def kind_of(node: exp.Expr | None, context: Context) -> str | None:
    """Return the kind of a value."""
    node = bare(node)
    match node:
        case exp.Cast():
            return OF_TYPE.get(node.to.this.name if isinstance(node.to.this, exp.DType) else "")
        case exp.Literal():
            return None if node.is_string else "integer" if node.name.isdigit() else "numeric"
        case exp.Column():
            return context.columns.get(node.name.lower())
        case exp.CurrentDate():
            return "date"
        case exp.CurrentTimestamp():
            return "timestamptz"
        case exp.Localtimestamp():
            return "timestamp"
        case exp.DPipe():
            return "text"
        case exp.Interval():
            return "interval"
        case exp.Case():
            found = {kind_of(one.args["true"], context) for one in node.args["ifs"]} | {
                kind_of(node.args.get("default"), context)
            }
            found.discard(None)
            return found.pop() if len(found) == 1 else None
        case exp.Anonymous():
            return of_call(node, context)
        case exp.Window() | exp.Filter() | exp.Neg() | exp.Distinct():
            inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
            return kind_of(inner, context)
        case exp.Extract():
            return "numeric"
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return of_arithmetic(node, context)
    return "boolean" if isinstance(node, COMPARISONS) else None


def of_call(node: exp.Anonymous, context: Context) -> str | None:
    """Return the kind of a call's value."""
    name = str(node.this).upper()
    first = kind_of(node.expressions[0], context) if node.expressions else None
    if name in ("SUM", "ARG_MAX", "ARG_MIN"):
        return first
    if name in ("AVG", "ROUND", "TRUNC", "CEIL", "FLOOR", "POWER", "MOD"):
        return "float" if first == "float" else "integer" if name == "MOD" and first == "integer" else "numeric"
    if name in ALIKE:
        kinds = {kind_of(one, context) for one in node.expressions if not isinstance(bare(one), exp.Null)}
        return first or (kinds.pop() if len(kinds) == 1 else None)
    return OF_FUNCTION.get(name)


def of_arithmetic(node: exp.Expr, context: Context) -> str | None:
    """Return the kind of a sum, difference, product or quotient."""
    left, right = kind_of(node.this, context), kind_of(node.expression, context)
    times = {"date", "timestamp", "timestamptz"}
    if left in times or right in times:
        if left in times and right in times:
            return "integer" if left == right == "date" else "interval"
        other, time = (right, left) if left in times else (left, right)
        return time if time != "date" or other == "integer" else "timestamp" if other == "interval" else None
    if "interval" in (left, right):
        return "interval"
    if "float" in (left, right):
        return "float"
    if "numeric" in (left, right):
        return "numeric"
    return left if left == right else None
