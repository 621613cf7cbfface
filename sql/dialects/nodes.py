"""Operators, literals and calls that are spelled with words, each by the class of its node.

Enters: nodes whose children are rewritten already. Leaves: nodes of PostgreSQL's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from sql import interrupts
from sql.dialects.calls import Call, bare, cast, filled, function, integer_of, literal, number, operand, text_of
from sql.dialects.context import POSTGRES_LIKE, Context
from sql.dialects.dates import written_interval
from sql.dialects.functions import translated
from sql.dialects.json_paths import at_path, is_path, path
from sql.dialects.kinds import DECIMALS, kind_of
from sql.dialects.time_calls import extract
from sql.dialects.types import written_type
from sql.dialects.value_calls import integer_cast, matched, string_aggregate

# Those whose / of integers has a fraction.
EXACT_DIVISION = frozenset("bigquery clickhouse databricks duckdb mysql oracle snowflake spark".split())
# Those whose LIKE has no escape character unless one is said.
NO_ESCAPE = frozenset({"duckdb", "oracle", "snowflake", "trino", "tsql"})
CASELESS = frozenset({"mysql", "tsql"})
COLLATED = (
    "texts are compared exactly here; the default collation of {} is case-insensitive and leaves trailing blanks out"
)
TIMES = ("date", "timestamp", "timestamptz")
STYLES = {
    23: "YYYY-MM-DD",
    101: "MM/DD/YYYY",
    102: "YYYY.MM.DD",
    103: "DD/MM/YYYY",
    104: "DD.MM.YYYY",
    105: "DD-MM-YYYY",
    108: "HH24:MI:SS",
    110: "MM-DD-YYYY",
    111: "YYYY/MM/DD",
    112: "YYYYMMDD",
    120: "YYYY-MM-DD HH24:MI:SS",
    121: "YYYY-MM-DD HH24:MI:SS.MS",
    126: 'YYYY-MM-DD"T"HH24:MI:SS.MS',
}


def division(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a quotient that has its fraction where the dialect's has."""
    left, right = node.this, node.expression
    if context.dialect not in EXACT_DIVISION:
        return node
    kinds = kind_of(left, context), kind_of(right, context)
    divisor = right
    if context.dialect == "mysql" and not is_nonzero(right):
        divisor = filled("NULLIF($1, 0)", [right])
    if context.dialect in ("clickhouse", "duckdb") and not is_nonzero(right):
        context.note("a division by zero is an error here")
    if kinds[0] == "interval" or any(kind in DECIMALS for kind in kinds):
        return filled("$1 / $2", [left, divisor])
    return filled("$1 * 1.0 / $2", [left, divisor])


def is_nonzero(node: exp.Expr) -> bool:
    """Tell whether a divisor can't be 0."""
    inner = bare(node)
    if isinstance(inner, exp.Anonymous) and str(inner.this).upper() == "NULLIF":
        return integer_of(inner.expressions[1]) == 0
    return isinstance(inner, exp.Literal) and inner.name.strip("0.") != ""


def whole_division(node: exp.Expr, context: Context) -> exp.Expr:
    """Return DIV and //."""
    if context.dialect == "duckdb" and any(kind_of(one, context) in DECIMALS for one in (node.this, node.expression)):
        raise context.refusal("// of what are not integers", node)
    divisor = filled("NULLIF($1, 0)", [node.expression]) if context.dialect == "mysql" else node.expression
    return filled("CAST(DIV($1, $2) AS BIGINT)", [node.this, divisor])


def remainder(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a remainder, whose sign is the dividend's in all of them."""
    divisor = node.expression
    if context.dialect == "mysql" and not is_nonzero(divisor):
        divisor = filled("NULLIF($1, 0)", [divisor])
    return filled("$1 % $2", [node.this, divisor])


def total(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a sum or difference: of numbers, of texts in T-SQL, of dates and days in Oracle."""
    left, right = node.this, node.expression
    kinds = kind_of(left, context), kind_of(right, context)
    if context.dialect == "tsql" and isinstance(node, exp.Add):
        if "text" in kinds or any(is_text(one) and not any(kind in TIMES for kind in kinds) for one in (left, right)):
            return exp.DPipe(this=operand(left), expression=operand(right))
        if kinds == (None, None):
            context.note("+ is taken for a sum of numbers")
    if context.dialect not in ("oracle", "tsql"):
        if (
            context.dialect in ("mysql", "clickhouse")
            and any(kind in TIMES for kind in kinds)
            and "interval" not in kinds
        ):
            if not (context.dialect == "clickhouse" and "date" in kinds):
                raise context.refusal("arithmetic of dates and numbers", node)
        return node
    sign = "+" if isinstance(node, exp.Add) else "-"
    if kinds[0] in TIMES[1:] and kinds[1] in ("integer", "numeric", "float"):
        count = integer_of(right)
        days = (
            exp.Interval(this=literal(f"{count} day"))
            if count is not None
            else filled("$1 * INTERVAL '1 day'", [right])
        )
        return filled(f"$1 {sign} $2", [left, days])
    if sign == "-" and any(kind in TIMES[1:] for kind in kinds) and kinds[1] != "interval":
        if None in kinds and context.dialect == "oracle" and kinds[1] is None:
            raise context.refusal(
                "a date and what may be a number or a date", node, "Cast it: CAST(x AS DATE), or x * 1."
            )
        if context.dialect == "oracle":
            ends = [
                operand(one) if kind == "timestamp" else cast(one, "TIMESTAMP")
                for one, kind in zip((left, right), kinds, strict=True)
            ]
            return filled("EXTRACT(EPOCH FROM $1 - $2) / 86400", ends)
    if sign == "-" and kinds == (None, None) and context.dialect == "oracle":
        context.note("- is taken for a difference of numbers or days: that of timestamps is an interval here")
    return node


def is_text(node: exp.Expr) -> bool:
    """Tell whether a node is a constant text."""
    return text_of(node) is not None


def concatenation(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a || b, in Oracle's SQL with NULL for nothing."""
    if context.dialect == "oracle":
        return filled("NULLIF($1, '')", [function("CONCAT", node.this, node.expression)])
    left = node.this
    return exp.DPipe(
        this=left.copy() if isinstance(left, exp.DPipe) else operand(left), expression=operand(node.expression)
    )


def alike(node: exp.Expr, context: Context) -> exp.Expr:
    """Return LIKE, without case where the default collation has none, and with no escape character
    where none is said.
    """
    pattern = text_of(node.expression)
    if not isinstance(
        bare(node.expression), exp.Literal | exp.Column | exp.Anonymous | exp.DPipe | exp.Cast | exp.Parameter
    ):
        raise context.refusal("LIKE with ANY or ALL", node)
    kind: type[exp.Expr] = type(node)
    if context.dialect in CASELESS and kind is exp.Like:
        kind = exp.ILike
        context.note(f"LIKE is ILIKE, since the default collation of {context.shown} is case-insensitive")
    if context.dialect == "tsql" and (pattern is None or "[" in pattern):
        raise context.refusal(
            "LIKE with [ ] in its pattern" if pattern else "LIKE whose pattern is not a constant", node
        )
    found = kind(this=operand(node.this), expression=operand(node.expression), negate=node.args.get("negate"))
    if context.dialect in NO_ESCAPE and not isinstance(node.parent, exp.Escape):
        if pattern is None:
            context.note("a backslash escapes in a pattern of LIKE that is not a constant")
        elif "\\" in pattern:
            return exp.Escape(this=found, expression=literal(""))
    return found


def regular(node: exp.Expr, context: Context) -> exp.Expr:
    """Return RLIKE, REGEXP and ~."""
    if context.dialect in POSTGRES_LIKE:
        return node
    if node.args.get("flag"):
        raise context.refusal("flags of a regular expression", node)
    name = "REGEXP_FULL_MATCH" if node.args.get("full_match") or context.dialect == "duckdb" else "RLIKE"
    return matched(node.this, node.expression, Call(name, (), node, context))


def converted(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a cast, of whose failures none is NULL."""
    inner = node.this
    if isinstance(node, exp.TryCast) or node.args.get("safe"):
        found = None if is_path(inner) else tried(inner, written_type(node.args["to"], context), context)
        if found is not None:
            return found
        hint = "Cast what a CASE has found to be castable."
        name = "SAFE_CAST" if context.dialect == "bigquery" else "TRY_CAST"
        raise context.refusal(name, node, hint, "It is NULL for what can't be cast, where CAST is an error.")
    if any(node.args.get(key) for key in ("format", "action", "default")):
        raise context.refusal("CAST with FORMAT, DEFAULT or an action", node)
    target = node.args["to"]
    if target.this == exp.DType.CHARACTER_SET:
        return operand(node.this)
    kind = written_type(target, context)
    if is_path(inner):
        inner = at_path(inner)
        if kind in ("SMALLINT", "INTEGER", "BIGINT"):
            inner = cast(inner, "NUMERIC")
    if context.dialect == "oracle" and isinstance(inner, exp.Literal) and kind == "TIMESTAMP(0)":
        kind = "DATE"
    if kind in ("SMALLINT", "INTEGER", "BIGINT"):
        return integer_cast(inner, kind, Call("CAST", (), node, context))
    if kind == "TEXT" and kind_of(inner, context) in ("timestamp", "timestamptz", "float"):
        context.note("a time or a float as a text is written as PostgreSQL writes it")
    return cast(inner, kind)


# The types to which a cast never fails, by the kind of what is cast.
NEVER_FAILS = {
    "integer": ("BIGINT", "NUMERIC", "REAL", "DOUBLE PRECISION", "TEXT"),
    "numeric": ("NUMERIC", "DOUBLE PRECISION", "TEXT"),
    "float": ("DOUBLE PRECISION",),
    "text": ("TEXT",),
    "date": ("DATE", "TIMESTAMP", "TIMESTAMP(6)", "TEXT"),
    "timestamp": ("TIMESTAMP", "TIMESTAMP(6)", "DATE"),
    "boolean": ("BOOLEAN",),
}
RANGES = {"SMALLINT": 2**15, "INTEGER": 2**31}


def tried(value: exp.Expr, kind: str, context: Context) -> exp.Expr | None:
    """Return a cast that is NULL for what can't be cast, None where that is not known."""
    source = kind_of(value, context)
    if kind in NEVER_FAILS.get(source or "", ()):
        return cast(value, kind)
    if source != "integer" or kind not in RANGES:
        return None
    end = RANGES[kind]
    return filled(f"CASE WHEN $1 BETWEEN -{end} AND {end - 1} THEN CAST($1 AS {kind}) END", [value])


def by_style(node: exp.Expr, context: Context) -> exp.Expr:
    """Return CONVERT(type, value, style)."""
    if node.args.get("safe"):
        raise context.refusal("TRY_CONVERT", node, why="It is NULL for what can't be cast, where CAST is an error.")
    kind, style = written_type(node.this, context), node.args.get("style")
    value = node.expression
    if style is None:
        return converted(exp.Cast(this=value, to=node.this), context)
    pattern = STYLES.get(integer_of(style) or 0)
    if pattern is None:
        raise context.refusal(f"the style {style.sql()} of CONVERT", node)
    if kind.startswith(("VARCHAR", "CHAR", "TEXT")):
        return cast(
            function("TO_CHAR", value, literal(pattern)),
            kind.replace("CHAR(", "VARCHAR(") if kind.startswith("CHAR") else kind,
        )
    if kind in ("DATE", "TIMESTAMP"):
        return cast(function("TO_TIMESTAMP", value, literal(pattern)), kind)
    raise context.refusal("CONVERT with a style to this type", node)


def trimmed(node: exp.Expr, context: Context) -> exp.Expr:
    """Return TRIM([BOTH] characters FROM text)."""
    if node.args.get("collation"):
        raise context.refusal("TRIM with a collation", node)
    name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(node.args.get("position") or "").upper(), "BTRIM")
    characters = node.args.get("expression")
    if context.dialect == "mysql" and characters is not None and len(text_of(characters) or "") != 1:
        raise context.refusal("TRIM of more than one character", node)
    found = function(name, node.this, *([] if characters is None else [characters]))
    return filled("NULLIF($1, '')", [found]) if context.dialect == "oracle" else found


def choice(node: exp.Expr, context: Context) -> exp.Expr:
    """Return IF as CASE."""
    if isinstance(node.parent, exp.Case) and node.arg_key == "ifs":
        return node
    return exp.Case(ifs=[exp.If(this=node.this.copy(), true=node.args["true"].copy())], default=node.args.get("false"))


def constant(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a literal; '' is NULL in Oracle."""
    if node.is_string and node.name == "" and context.dialect == "oracle":
        raise context.refusal("the empty text ''", node, "Write NULL, or IS NULL.", "It is NULL there.")
    if not node.is_string and not re.fullmatch(r"\d+(\.\d*)?(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?", node.name, re.IGNORECASE):
        raise context.refusal(f"the number {node.name}", node)
    return node


def parameter(node: exp.Expr, context: Context) -> exp.Expr:
    """Return $1, which most dialects read as the name of a column, as the client's parameter."""
    found = re.fullmatch(r"\$?(\d{1,5})" if isinstance(node, exp.Placeholder) else r"\$(\d{1,5})", node.name)
    if found is None or node.args.get("table") is not None:
        return node
    return exp.Parameter(this=exp.Literal.number(int(found[1])))


def raw(node: exp.Expr, context: Context) -> exp.Expr:
    """Return r'...' and N'...' as any other text."""
    return literal(node.name)


def date_constant(node: exp.Expr, context: Context) -> exp.Expr:
    """Return DATE '...'."""
    if text_of(node.this) is None:
        raise context.refusal("this cast to a date", node)
    return cast(node.this, "DATE")


def equality(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a comparison; that of texts by the default collation of MySQL and T-SQL is told."""
    if context.dialect in CASELESS:
        sides = (node.this, *([node.expression] if node.args.get("expression") is not None else node.expressions))
        if any(is_text(one) or kind_of(one, context) == "text" for one in sides) and not any(
            kind_of(one, context) in TIMES for one in sides
        ):
            context.note(COLLATED.format(context.shown))
    return node


def moment(node: exp.Expr, context: Context) -> exp.Expr:
    """Return CURRENT_TIMESTAMP, a time without a zone in MySQL, T-SQL, and for SYSDATE."""
    if node.args.get("this") is not None and integer_of(node.this) is None:
        raise context.refusal("CURRENT_TIMESTAMP with an argument", node)
    if node.args.get("sysdate"):
        return filled("CAST(LOCALTIMESTAMP AS TIMESTAMP(0))", [])
    return exp.Localtimestamp() if context.dialect in CASELESS else exp.CurrentTimestamp()


def part(node: exp.Expr, context: Context) -> exp.Expr:
    """Return EXTRACT."""
    if context.dialect in POSTGRES_LIKE:
        return node
    unit = exp.Var(this=node.this.sql()) if not isinstance(node.this, exp.Var | exp.Literal) else node.this
    return extract(unit, node.expression, Call("EXTRACT", (), node, context))


def substring(node: exp.Expr, context: Context) -> exp.Expr:
    """Return SUBSTRING(text FROM start FOR length)."""
    arguments = [node.this, node.args.get("start") or number(1), *filter(None, [node.args.get("length")])]
    return translated(exp.Anonymous(this="SUBSTRING", expressions=arguments), context)


def place(node: exp.Expr, context: Context) -> exp.Expr:
    """Return POSITION(part IN text)."""
    if node.args.get("position") or node.args.get("occurrence"):
        raise context.refusal("POSITION with a start", node)
    return function("STRPOS", node.this, node.args["substr"])


def texts(node: exp.Expr, context: Context) -> exp.Expr:
    """Return GROUP_CONCAT, LISTAGG and STRING_AGG."""
    if node.args.get("on_overflow"):
        raise context.refusal("LISTAGG with ON OVERFLOW", node)
    return string_aggregate(node.this, node.args.get("separator"), Call("string_agg", (), node, context))


def quantile(node: exp.Expr, context: Context) -> exp.Expr:
    """Return quantile(p)(x) of ClickHouse, which is exact here."""
    if (
        str(node.name).lower() not in ("quantile", "quantileexactinclusive")
        or len(node.expressions) != 1
        or len(node.args["params"]) != 1
    ):
        raise context.refusal(f"the function {node.name}", node)
    context.note("quantile is computed exactly")
    return filled("PERCENTILE_CONT($1) WITHIN GROUP (ORDER BY $2)", [node.expressions[0], node.args["params"][0]])


def windowed(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a function of a window, whose default frame is PostgreSQL's but in Snowflake."""
    inner = node.this
    if isinstance(inner, exp.RespectNulls):
        inner = inner.this
        node.set("this", inner)
    if isinstance(inner, exp.IgnoreNulls):
        raise context.refusal("IGNORE NULLS", node)
    if not isinstance(inner, exp.Anonymous) and not (
        isinstance(inner, exp.Filter) and isinstance(inner.this, exp.Anonymous)
    ):
        raise context.refusal("a window over what becomes more than one function", node)
    name = str(inner.this).upper() if isinstance(inner, exp.Anonymous) else ""
    if (
        context.dialect == "snowflake"
        and name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")
        and not node.args.get("spec")
        and node.args.get("order")
    ):
        spec = exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING"
        )
        node.set("spec", spec)
    return node


def filtered(node: exp.Expr, context: Context) -> exp.Expr:
    """Return an aggregate with FILTER."""
    if not isinstance(node.this, exp.Anonymous | exp.WithinGroup):
        raise context.refusal("FILTER after what becomes more than one function", node)
    return node


def element(node: exp.Expr, context: Context) -> exp.Expr:
    """Return one item of a text that is split, or of an array."""
    index = integer_of(node.expressions[0]) if len(node.expressions) == 1 else None
    if index is None or index < 0:
        raise context.refusal("[ ] but of a constant", node)
    inner = bare(node.this)
    if isinstance(inner, exp.Anonymous) and str(inner.this).upper() == "_SPLIT":
        value, delimiter = inner.expressions
        found = function("SPLIT_PART", value, delimiter, number(index + 1))
        if context.dialect == "bigquery" and not node.args.get("safe"):
            return found
        parts = f"CARDINALITY(STRING_TO_ARRAY($1, $2)) > {index}" + (" OR $1 IS NOT NULL" if not index else "")
        return filled(f"CASE WHEN {parts} THEN $3 END", [value, delimiter, found])
    return exp.Bracket(this=operand(node.this), expressions=[number(index)])


Node = Callable[[Any, Context], exp.Expr]
NODES: dict[type[Any], Node] = {
    **dict.fromkeys((exp.Anonymous, exp.CombinedAggFunc, exp.AnonymousAggFunc), translated),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In), equality),
    exp.Div: division,
    exp.IntDiv: whole_division,
    exp.Mod: remainder,
    exp.Add: total,
    exp.Sub: total,
    exp.DPipe: concatenation,
    exp.Like: alike,
    exp.ILike: alike,
    exp.RegexpLike: regular,
    exp.Cast: converted,
    exp.TryCast: converted,
    exp.Convert: by_style,
    exp.Trim: trimmed,
    exp.If: choice,
    exp.Literal: constant,
    exp.CurrentTimestamp: moment,
    exp.Extract: part,
    exp.Substring: substring,
    exp.StrPosition: place,
    exp.GroupConcat: texts,
    exp.ParameterizedAgg: quantile,
    exp.Window: windowed,
    exp.Filter: filtered,
    exp.DateStrToDate: date_constant,
    **dict.fromkeys((exp.Column, exp.Placeholder), parameter),
    **dict.fromkeys((exp.RawString, exp.National), raw),
    exp.Interval: written_interval,
    exp.Bracket: element,
    exp.JSONExtract: path,
}


def rewritten(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a tree with every node rewritten, the innermost first. Raises 0A000."""
    interrupts.check()
    for key, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            new = rewritten(value, context)
            if new is not value:
                node.set(key, new)
        elif isinstance(value, list):
            node.set(key, [rewritten(one, context) if isinstance(one, exp.Expr) else one for one in value])
    rule = NODES.get(type(node))
    return node if rule is None else rule(node, context)
