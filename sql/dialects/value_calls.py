"""Functions of texts and numbers, and aggregates, whose meaning is not one template's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from sql.dialects.calls import (
    Call,
    Handler,
    bare,
    cast,
    filled,
    function,
    integer_of,
    literal,
    number,
    operand,
    text_of,
)
from sql.dialects.context import POSTGRES_LIKE, SPARKS
from sql.dialects.json_paths import scalar
from sql.dialects.kinds import kind_of

# Those whose CONCAT takes NULL for nothing, as PostgreSQL's does.
CONCAT_SKIPS = frozenset({"duckdb", "oracle", "tsql", *POSTGRES_LIKE})
CONCAT_WS_SKIPS = frozenset({"databricks", "duckdb", "mysql", "spark", "trino", "tsql"})
GREATEST_SKIPS = frozenset({"databricks", "duckdb", "spark", "tsql", *POSTGRES_LIKE})
# Regular expressions that all of them read alike: no look-around, no names, no \b, no classes of
# Unicode.
PLAIN_PATTERN = re.compile(
    r"(?:[^\\\[(*+?{]|\\[dDwWsS.^$*+?()\[\]{}|/\\-]|\[(?:\\[dwsDWS.\]\\/^-]|[^\]\\\[])+\]|\((?!\?)|\(\?:|[*+?](?!\+)|\{\d+(?:,\d*)?\})*"
)
# Those whose CAST to an integer cuts fractions off.
CUTS_OFF = frozenset({"clickhouse", "databricks", "spark", "tsql"})
WHOLE_MATCH = frozenset({"snowflake"})


def concat(call: Call) -> exp.Expr:
    """CONCAT, which is NULL where an argument is, or not."""
    if call.context.dialect == "oracle":
        return filled("NULLIF($1, '')", [function("CONCAT", *call.arguments)])
    if call.context.dialect in CONCAT_SKIPS:
        return function("CONCAT", *call.arguments)
    return joined(call.arguments, call)


def joined(given: Sequence[exp.Expr], call: Call) -> exp.Expr:
    """Return texts one after the other, NULL where one is."""
    if not given:
        raise call.refuse("no arguments")
    known = any(kind_of(one, call.context) == "text" or text_of(one) is not None for one in given[:2])
    found = operand(given[0]) if known and len(given) > 1 else cast(given[0], "TEXT")
    for one in given[1:]:
        found = exp.DPipe(this=found, expression=operand(one))
    return operand(found)


def concat_ws(call: Call) -> exp.Expr:
    """CONCAT_WS, which leaves NULLs out, or is NULL where one is."""
    if call.context.dialect in CONCAT_WS_SKIPS:
        return function("CONCAT_WS", *call.arguments)
    separator, *rest = call.arguments
    pieces = [piece for one in rest for piece in (separator, one)][1:]
    return joined(pieces, call)


def extreme(call: Call) -> exp.Expr:
    """GREATEST and LEAST, which are NULL where an argument is, or leave NULLs out."""
    found = function(call.name, *call.arguments)
    if call.context.dialect == "clickhouse":
        call.context.note(f"{call.name} leaves NULLs out, as ClickHouse does since 24.12")
        return found
    open_ones = [one for one in call.arguments if not isinstance(bare(one), exp.Literal)]
    if call.context.dialect in GREATEST_SKIPS or not open_ones:
        return found
    nulls = [filled("$1 IS NULL", [one]).this for one in open_ones]
    condition = nulls[0]
    for one in nulls[1:]:
        condition = exp.Or(this=condition, expression=one)
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Null())], default=found)


def rounded(call: Call) -> exp.Expr:
    """ROUND, of halves away from zero."""
    if len(call.arguments) not in (1, 2):
        if call.context.dialect == "tsql" and len(call.arguments) == 3 and integer_of(call.arguments[2]):
            return filled("TRUNC($1, $2)", [cast(call.arguments[0], "NUMERIC"), call.arguments[1]])
        raise call.refuse("its third argument")
    value = call.arguments[0]
    kind = kind_of(value, call.context)
    if call.context.dialect == "clickhouse":
        if kind == "float":
            raise call.refuse("halves of floats, which are rounded to even")
        if kind is None:
            call.context.note("ROUND takes halves away from zero; ClickHouse rounds those of floats to even")
    exact = value if kind in ("numeric", "integer") else cast(value, "NUMERIC")
    return function("ROUND", exact, *call.arguments[1:])


def truncated(call: Call) -> exp.Expr:
    """TRUNCATE and TRUNC of numbers."""
    if len(call.arguments) not in (1, 2):
        raise call.refuse()
    return function("TRUNC", cast(call.arguments[0], "NUMERIC"), *call.arguments[1:])


def decode(call: Call) -> exp.Expr:
    """DECODE(value, search, result, ..., default), which finds NULL by NULL."""
    value, *rest = call.arguments
    if len(rest) < 2:
        raise call.refuse("a text of bytes")
    ifs = []
    for search, result in zip(rest[0::2], rest[1::2], strict=False):
        constant = isinstance(bare(search), exp.Literal)
        sign = "=" if constant else "IS NOT DISTINCT FROM"
        template = "$1 IS NULL" if isinstance(bare(search), exp.Null) else f"$1 {sign} $2"
        ifs.append(exp.If(this=bare(filled(template, [value, search])), true=result.copy()))
    default = rest[-1].copy() if len(rest) % 2 else None
    return exp.Case(ifs=ifs, default=default)


def substring(call: Call) -> exp.Expr:
    """SUBSTR(text, start [, length]), whose start may count from the end."""
    if len(call.arguments) not in (2, 3):
        raise call.refuse()
    dialect, value, start = call.context.dialect, call.arguments[0], call.arguments[1]
    rest = list(call.arguments[2:])
    whole = integer_of(start)
    if dialect == "tsql" or dialect in POSTGRES_LIKE or (whole is not None and whole > 0):
        return emptied(function("SUBSTR", value, start, *rest), call)
    if whole == 0 and dialect not in ("mysql", "trino", "clickhouse"):
        return emptied(function("SUBSTR", value, number(1), *rest), call)
    if whole is not None and whole < 0 and not rest:
        tail = filled("RIGHT($1, $2)", [value, number(-whole)])
        if dialect not in ("mysql", "oracle", "trino"):
            return tail
        nothing = exp.Null() if dialect == "oracle" else literal("")
        return filled(
            "CASE WHEN LENGTH($1) >= $2 THEN $3 WHEN $1 IS NOT NULL THEN $4 END", [value, number(-whole), tail, nothing]
        )
    if whole is not None:
        raise call.refuse("a start that is not positive")
    call.context.note(f"{call.name} counts from the beginning alone: a start below 1 is not one from the end")
    return emptied(function("SUBSTR", value, start, *rest), call)


def emptied(node: exp.Expr, call: Call) -> exp.Expr:
    """Return a text, in Oracle's SQL NULL where it is empty."""
    return filled("NULLIF($1, '')", [node]) if call.context.dialect == "oracle" else node


def one_side(call: Call) -> exp.Expr:
    """LEFT and RIGHT."""
    if len(call.arguments) != 2:
        raise call.refuse()
    count = integer_of(call.arguments[1])
    if count is not None and count < 0:
        raise call.refuse("a negative length")
    if count is None:
        call.context.note(f"{call.name} with a negative length leaves that much out, as PostgreSQL's does")
    return function(call.name, *call.arguments)


def split_part(call: Call) -> exp.Expr:
    """split_part(text, delimiter, n) of Trino, which is NULL after the last part."""
    value, delimiter, place = call.arguments
    return filled(
        "CASE WHEN CARDINALITY(STRING_TO_ARRAY($1, $2)) >= $3 OR ($3 = 1 AND $1 IS NOT NULL) THEN SPLIT_PART($1, $2, $3) END",
        [value, delimiter, place],
    )


def before_delimiter(call: Call) -> exp.Expr:
    """SUBSTRING_INDEX(text, delimiter, n) for the first or the last part."""
    count = integer_of(call.arguments[2]) if len(call.arguments) == 3 else None
    if count not in (1, -1):
        raise call.refuse("a count that is neither 1 nor -1")
    return function("SPLIT_PART", *call.arguments[:2], number(count))


def at_extreme(end: str, call: Call) -> exp.Expr:
    """ARG_MAX(value, by) and its like: the value of the row with the greatest or smallest `by`."""
    if len(call.arguments) != 2:
        raise call.refuse()
    call.context.note(f"{call.name.lower()} takes any of the rows that are alike in its second argument")
    # Rows without a value are left out by these two.
    known = " FILTER (WHERE $1 IS NOT NULL)" if call.context.dialect in ("clickhouse", "duckdb") else ""
    return filled(f"ARG_{end}($1, $2){known}", list(call.arguments))


def any_value(call: Call) -> exp.Expr:
    """ANY_VALUE: the smallest."""
    if len(call.arguments) != 1:
        raise call.refuse()
    call.context.note(f"{call.name} takes the smallest value")
    is_boolean = kind_of(call.arguments[0], call.context) == "boolean"
    return function("BOOL_AND" if is_boolean else "MIN", *call.arguments)


def of_numbers(call: Call) -> exp.Expr:
    """SUM and AVG, whose argument may be a comparison."""
    if len(call.arguments) != 1:
        raise call.refuse()
    (value,) = call.arguments
    context = call.context
    if kind_of(value, context) == "boolean":
        if context.dialect not in ("mysql", "clickhouse", "duckdb"):
            raise call.refuse("the sum of comparisons")
        return function(call.name, cast(value, "INTEGER"))
    if context.dialect == "tsql" and call.name == "AVG":
        kind = kind_of(value, context)
        if kind == "integer":
            if isinstance(value, exp.Distinct):
                raise call.refuse("the average of different integers is an integer")
            return filled("CAST(TRUNC(AVG($1)) AS BIGINT)", [value])
        if kind is None and isinstance(call.node.parent, exp.Window):
            context.note("AVG of integers has its fraction here; T-SQL cuts it off")
        elif kind is None:
            # Of integers the quotient of integers, as there.
            return filled("SUM($1) / COUNT($1)", [value])
    return function(call.name, *call.arguments)


def string_aggregate(value: exp.Expr, separator: exp.Expr | None, call: Call) -> exp.Expr:
    """GROUP_CONCAT, LISTAGG, STRING_AGG, with DISTINCT and ORDER BY inside."""
    context = call.context
    if separator is None:
        separator = literal("" if context.dialect in ("snowflake", "oracle") else ",")
    order = value if isinstance(value, exp.Order) else None
    inner = order.this if order is not None else value
    if order is None and not isinstance(inner, exp.Distinct):
        context.note(f"the order of the texts that {call.name} joins is not said: it is that of arrival")
    words = isinstance(inner, exp.Distinct)
    plain = inner.expressions[0] if words else inner
    text = plain if kind_of(plain, context) == "text" or text_of(plain) is not None else cast(plain, "TEXT")
    if words and order is not None:
        # PostgreSQL orders different values by themselves alone.
        for one in order.expressions:
            if one.this == plain:
                one.set("this", text.copy())
    argument: exp.Expr = exp.Distinct(expressions=[text.copy()]) if words else text.copy()
    last: exp.Expr = separator.copy()
    if order is not None:
        last = exp.Order(this=last, expressions=[one.copy() for one in order.expressions])
    found = function("STRING_AGG", argument, last)
    if context.dialect == "snowflake":
        return filled("COALESCE($1, '')", [found])
    return found


def pattern_of(node: exp.Expr, call: Call) -> exp.Expr:
    """Return a regular expression that PostgreSQL reads alike. Raises 0A000."""
    text = text_of(node)
    if text is None:
        raise call.refuse("a regular expression that is not a constant")
    if not PLAIN_PATTERN.fullmatch(text):
        raise call.refuse(f"the regular expression '{text}'")
    return literal(text)


def matches(call: Call) -> exp.Expr:
    """REGEXP_LIKE and the like: whether a part of a text matches, or the whole."""
    if len(call.arguments) != 2:
        raise call.refuse("its third argument")
    return matched(call.arguments[0], call.arguments[1], call)


def matched(value: exp.Expr, written: exp.Expr, call: Call) -> exp.Expr:
    """Return whether a text matches as the dialect says."""
    pattern = pattern_of(written, call)
    dialect = call.context.dialect
    if dialect in WHOLE_MATCH or call.name == "REGEXP_FULL_MATCH":
        pattern = literal(f"^(?:{pattern.name})$")
    if dialect == "mysql":
        call.context.note("REGEXP is case-insensitive, as MySQL's default collation is")
    return filled("$1 ~* $2" if dialect == "mysql" else "$1 ~ $2", [value, pattern])


def regexp_replace(call: Call) -> exp.Expr:
    """REGEXP_REPLACE(text, pattern [, new]), everywhere but in DuckDB of all matches."""
    if len(call.arguments) not in (2, 3):
        if not (call.context.dialect == "duckdb" and len(call.arguments) == 4 and text_of(call.arguments[3]) == "g"):
            raise call.refuse("its fourth argument")
    value, written, *rest = call.arguments
    new = text_of(rest[0]) if rest else ""
    if new is None:
        raise call.refuse("a new text that is not a constant")
    if call.context.dialect in ("trino", "mysql", *SPARKS):
        new = re.sub(r"\$(\d)", r"\\\1", new.replace("\\", "\\\\"))
    elif "\\" in re.sub(r"\\\d", "", new):
        raise call.refuse(f"the new text '{new}'")
    is_first = call.context.dialect == "duckdb" and len(call.arguments) < 4
    flags = "i" if call.context.dialect == "mysql" else ""
    options = [literal(flags + ("" if is_first else "g"))] if flags or not is_first else []
    return emptied(function("REGEXP_REPLACE", value, pattern_of(written, call), literal(new), *options), call)


def regexp_extract(call: Call) -> exp.Expr:
    """REGEXP_EXTRACT and REGEXP_SUBSTR: the match, or one of its groups."""
    if len(call.arguments) not in (2, 3):
        raise call.refuse("its fourth argument")
    value, written = call.arguments[:2]
    pattern, dialect = pattern_of(written, call), call.context.dialect
    has_groups = bool(re.search(r"(?<!\\)\((?!\?)", pattern.name))
    if dialect == "bigquery":
        if len(call.arguments) == 3 or len(re.findall(r"(?<!\\)\((?!\?)", pattern.name)) > 1:
            raise call.refuse("more than one group")
        group = 1 if has_groups else 0
    elif call.name in ("REGEXP_SUBSTR", "EXTRACT"):
        if len(call.arguments) == 3:
            raise call.refuse("its third argument")
        group = int(has_groups and dialect == "clickhouse")
    else:
        default = 1 if dialect in SPARKS else 0
        given = integer_of(call.arguments[2]) if len(call.arguments) == 3 else default
        if given is None:
            raise call.refuse("a group that is not a constant")
        group = given
    flags = literal("i" if dialect == "mysql" else "")
    found = function("REGEXP_SUBSTR", value, pattern, number(1), number(1), flags, number(group))
    if dialect in ("duckdb", "clickhouse", *SPARKS):
        # No match is an empty text there.
        return filled("CASE WHEN $1 IS NOT NULL THEN COALESCE($2, '') END", [value, found])
    return found


def split(call: Call) -> exp.Expr:
    """SPLIT(text, delimiter), of which one item is taken."""
    if len(call.arguments) == 1 and call.context.dialect == "bigquery":
        return function("_SPLIT", call.arguments[0], literal(","))
    delimiter = text_of(call.arguments[1]) if len(call.arguments) == 2 else None
    if not delimiter:
        raise call.refuse("a delimiter that is not a constant")
    if call.context.dialect in SPARKS:
        delimiter = (
            re.sub(r"\\(\W)", r"\1", delimiter) if re.fullmatch(r"(\\\W|[^\\.^$*+?()\[\]{}|])+", delimiter) else ""
        )
        if not delimiter:
            raise call.refuse("a delimiter that is a regular expression")
    return function("_SPLIT", call.arguments[0], literal(delimiter))


def character(call: Call) -> exp.Expr:
    """CHR and CHAR."""
    if len(call.arguments) != 1:
        raise call.refuse()
    return function("CHR", *call.arguments)


def to_integer(bits: str, call: Call) -> exp.Expr:
    """toInt32(x) of ClickHouse, which cuts fractions off."""
    if len(call.arguments) != 1:
        raise call.refuse()
    return integer_cast(call.arguments[0], bits, call)


def integer_cast(value: exp.Expr, kind: str, call: Call) -> exp.Expr:
    """Return a cast to an integer, which cuts fractions off, or rounds halves away from zero."""
    known, dialect = kind_of(value, call.context), call.context.dialect
    if known in ("integer", "boolean", "text") or text_of(value) is not None or dialect in ("duckdb", *POSTGRES_LIKE):
        return cast(value, kind)
    exact = value if known == "numeric" else cast(value, "NUMERIC")
    return cast(function("TRUNC" if dialect in CUTS_OFF else "ROUND", exact), kind)


def instr(call: Call) -> exp.Expr:
    """INSTR(text, part, start) and POSITION of three arguments."""
    raise call.refuse("its third argument")


def initcap(call: Call) -> exp.Expr:
    """INITCAP, whose words end at blanks in Spark."""
    if call.context.dialect not in ("oracle", "snowflake", *POSTGRES_LIKE) or len(call.arguments) != 1:
        raise call.refuse("what its words are")
    return function("INITCAP", *call.arguments)


AT_MOST = partial(at_extreme, "MAX")
AT_LEAST = partial(at_extreme, "MIN")
VALUES: dict[str, Handler] = {
    **dict.fromkeys(("SUM", "AVG"), of_numbers),
    "CONCAT": concat,
    "CONCAT_WS": concat_ws,
    "GREATEST": extreme,
    "LEAST": extreme,
    "ROUND": rounded,
    "TRUNCATE": truncated,
    "TRUNC": truncated,
    "SUBSTR": substring,
    "SUBSTRING": substring,
    "LEFT": one_side,
    "RIGHT": one_side,
    "ANY_VALUE": any_value,
    "INITCAP": initcap,
    "CHR": character,
    "REGEXP_REPLACE": regexp_replace,
    **dict.fromkeys(("ARG_MAX", "MAX_BY", "ARGMAX"), AT_MOST),
    **dict.fromkeys(("ARG_MIN", "MIN_BY", "ARGMIN"), AT_LEAST),
}
OF_DIALECTS: dict[str, dict[str, Handler]] = {
    "snowflake": {
        "DECODE": decode,
        "REGEXP_LIKE": matches,
        "RLIKE": matches,
        "REGEXP_SUBSTR": regexp_extract,
        "MID": substring,
    },
    "bigquery": {
        "JSON_VALUE": scalar,
        "JSON_EXTRACT_SCALAR": scalar,
        "SPLIT": split,
        "REGEXP_CONTAINS": matches,
        "REGEXP_EXTRACT": regexp_extract,
        "REGEXP_SUBSTR": regexp_extract,
    },
    "spark": {
        "SPLIT": split,
        "DECODE": decode,
        "REGEXP_LIKE": matches,
        "RLIKE": matches,
        "REGEXP": matches,
        "REGEXP_EXTRACT": regexp_extract,
    },
    "mysql": {
        "SUBSTRING_INDEX": before_delimiter,
        "REGEXP_LIKE": matches,
        "MID": substring,
        "REGEXP_SUBSTR": regexp_extract,
    },
    "clickhouse": {
        "MATCH": matches,
        "EXTRACT": regexp_extract,
        "ANY": any_value,
        "REPLACEREGEXPALL": regexp_replace,
        **{
            f"TOINT{bits}": partial(to_integer, kind)
            for bits, kind in (("16", "SMALLINT"), ("32", "INTEGER"), ("64", "BIGINT"))
        },
        **{f"TOUINT{bits}": partial(to_integer, "BIGINT") for bits in ("8", "16", "32")},
    },
    "tsql": {"CHAR": character, "JSON_VALUE": scalar},
    "trino": {
        "JSON_EXTRACT_SCALAR": scalar,
        "REGEXP_LIKE": matches,
        "REGEXP_EXTRACT": regexp_extract,
        "SPLIT_PART": split_part,
    },
    "oracle": {
        "JSON_VALUE": scalar,
        "DECODE": decode,
        "REGEXP_LIKE": matches,
        "REGEXP_SUBSTR": regexp_extract,
        "INSTR": instr,
    },
    "duckdb": {
        "REGEXP_MATCHES": matches,
        "REGEXP_FULL_MATCH": matches,
        "REGEXP_EXTRACT": regexp_extract,
        "FIRST": any_value,
    },
}
OF_DIALECTS["databricks"] = OF_DIALECTS["spark"]
