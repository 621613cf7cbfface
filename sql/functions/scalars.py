"""The table of signatures of all functions that a client can name.

Operators and aggregates have tables beside it.

A `Signature` has PostgreSQL's argument families, the canonical function that bind puts into the
tree, and the families that its operands are cast to. Result scales of numerics are in
`sql.tree.numeric_scale`. Must not know expressions or scopes.
"""

from __future__ import annotations

from sql.functions import table
from sql.functions.missing import with_missing
from sql.functions.signatures import INTEGERS, NUMBERS, TIMES, Signature, one, text_function, unary
from sql.functions.table import with_rows


def rounding(canonical: str) -> tuple[Signature, ...]:
    return (Signature(canonical, ("numeric",), "numeric"), Signature(canonical, ("float8",), "float8"))


def with_digits(canonical: str) -> tuple[Signature, ...]:
    return (*rounding(canonical), Signature(canonical, ("numeric", "int4"), "numeric"))


def of_floats(canonical: str) -> tuple[Signature, ...]:
    """Return a function of a float or of a numeric."""
    return (Signature(canonical, ("float8",), "float8"), Signature(canonical, ("numeric",), "numeric"))


def float_function(canonical: str) -> tuple[Signature, ...]:
    return one(canonical, "float8", result="float8")


def same(canonical: str, families: tuple[str, ...]) -> tuple[Signature, ...]:
    """Return a function of two values of one family."""
    return tuple(Signature(canonical, (family, family), family) for family in families)


def padding(canonical: str) -> tuple[Signature, ...]:
    return (*text_function(canonical, "int4"), *text_function(canonical, "int4", "text"))


def trimming(canonical: str) -> tuple[Signature, ...]:
    return (*text_function(canonical), *text_function(canonical, "text"))


# Calls that change a continuous view, in a SELECT of nothing else.
VIEW_CHANGES = ("activate", "deactivate", "truncate_continuous_view")

POWER = (Signature("power", ("float8", "float8"), "float8"), Signature("power", ("numeric", "numeric"), "numeric"))
CEILING = rounding("ceil")
BYTES_PART = (
    *one("bytea_part", "bytea", "int4", result="bytea"),
    *one("bytea_part", "bytea", "int4", "int4", result="bytea"),
)
SUBSTRING = (
    *text_function("substring", "int4"),
    *text_function("substring", "int4", "int4"),
    *text_function("regexp_part", "text"),
    *text_function("similar_part", "text", "text"),
    *BYTES_PART,
)
CHARACTERS = text_function("length", result="int4")
OCTETS = (*text_function("octet_length", result="int4"), *one("bytea_length", "bytea", result="int4"))


def advisory(name: str, result: str) -> tuple[Signature, ...]:
    """Return a function of one advisory lock, which one number names or two."""
    return (*one(name, "int8", result=result), *one(f"{name}_pair", "int4", "int4", result=result))


ADVISORY: dict[str, tuple[Signature, ...]] = {
    **{
        f"pg_{verb}advisory_{scope}lock{form}": advisory(f"pg_{verb}advisory_{scope}lock{form}", result)
        for verb, result in (("", "void"), ("try_", "bool"))
        for scope in ("", "xact_")
        for form in ("", "_shared")
    },
    **{name: advisory(name, "bool") for name in ("pg_advisory_unlock", "pg_advisory_unlock_shared")},
    "pg_advisory_unlock_all": one("pg_advisory_unlock_all", result="void"),
}
# Each of these calls as it is in a tree.
ADVISORY_CALLS = frozenset(item.canonical for signatures in ADVISORY.values() for item in signatures)

MATH: dict[str, tuple[Signature, ...]] = {
    "abs": tuple(unary("abs", NUMBERS)),
    "ceil": CEILING,
    "ceiling": CEILING,
    "floor": rounding("floor"),
    "round": with_digits("round"),
    "trunc": with_digits("trunc"),
    "sign": rounding("sign"),
    "sqrt": of_floats("sqrt"),
    "cbrt": float_function("cbrt"),
    "exp": of_floats("exp"),
    "ln": of_floats("ln"),
    "log": (*of_floats("log10"), Signature("log", ("numeric", "numeric"), "numeric")),
    "log10": of_floats("log10"),
    "power": POWER,
    "pow": POWER,
    "mod": same("modulo", (*INTEGERS, "numeric")),
    "div": same("quotient", ("numeric",)),
    "gcd": same("gcd", ("int4", "int8", "numeric")),
    "lcm": same("lcm", ("int4", "int8", "numeric")),
    "factorial": one("factorial", "int8", result="numeric"),
    "scale": one("scale", "numeric", result="int4"),
    "min_scale": one("min_scale", "numeric", result="int4"),
    "trim_scale": one("trim_scale", "numeric", result="numeric"),
    "pi": one("pi", result="float8"),
    "random": one("random", result="float8"),
    **{name: float_function(name) for name in "degrees radians sin cos tan cot asin acos atan sinh cosh tanh".split()},
    "atan2": one("atan2", "float8", "float8", result="float8"),
    "width_bucket": (
        Signature("width_bucket", ("float8", "float8", "float8", "int4"), "int4"),
        Signature("width_bucket", ("numeric", "numeric", "numeric", "int4"), "int4"),
    ),
}

TEXTS: dict[str, tuple[Signature, ...]] = {
    "lower": text_function("lower"),
    "upper": text_function("upper"),
    "initcap": text_function("initcap"),
    "length": (
        *CHARACTERS,
        *one("bpchar_length", "bpchar", result="int4"),
        *one("bytea_length", "bytea", result="int4"),
    ),
    "char_length": (*CHARACTERS, *one("bpchar_length", "bpchar", result="int4")),
    "character_length": (*CHARACTERS, *one("bpchar_length", "bpchar", result="int4")),
    "octet_length": OCTETS,
    "bit_length": (*text_function("bit_length", result="int4"), *one("bytea_bits", "bytea", result="int4")),
    "get_byte": one("get_byte", "bytea", "int4", result="int4"),
    "set_byte": one("set_byte", "bytea", "int4", "int4", result="bytea"),
    **{f"sha{bits}": one(f"sha{bits}", "bytea", result="bytea") for bits in (224, 256, 384, 512)},
    "substring": SUBSTRING,
    "substr": (*SUBSTRING[:2], *BYTES_PART),
    "overlay": (*text_function("overlay", "text", "int4"), *text_function("overlay", "text", "int4", "int4")),
    "btrim": trimming("trim_both"),
    "ltrim": trimming("trim_left"),
    "rtrim": trimming("trim_right"),
    "replace": text_function("replace", "text", "text"),
    "translate": text_function("translate", "text", "text"),
    "left": text_function("left", "int4"),
    "right": text_function("right", "int4"),
    "strpos": text_function("strpos", "text", result="int4"),
    "position": (
        *text_function("strpos", "text", result="int4"),
        *one("bytea_position", "bytea", "bytea", result="int4"),
    ),
    "starts_with": text_function("starts_with", "text", result="bool"),
    "repeat": text_function("repeat", "int4"),
    "lpad": padding("lpad"),
    "rpad": padding("rpad"),
    "reverse": text_function("reverse"),
    "split_part": text_function("split_part", "text", "int4"),
    "concat": one("concat", "any", result="text", variadic=True),
    "concat_ws": one("concat_ws", "text", "any", result="text", variadic=True),
    "format": (*text_function("format"), *one("format", "text", "any", result="text", variadic=True)),
    "ascii": text_function("ascii", result="int4"),
    "chr": one("chr", "int4", result="text"),
    "md5": (*text_function("md5"), *one("bytea_md5", "bytea", result="text")),
    "to_hex": (*one("to_hex", "int4", result="text"), *one("to_hex", "int8", result="text")),
    "quote_ident": text_function("quote_ident"),
    "quote_literal": text_function("quote_literal"),
    "quote_nullable": text_function("quote_nullable"),
    "encode": one("encode", "bytea", "text", result="text"),
    "decode": text_function("decode", "text", result="bytea"),
    "like": text_function("like", "text", result="bool"),
    "notlike": text_function("not_like", "text", result="bool"),
    "similar_to_escape": (*text_function("similar_to_escape"), *text_function("similar_to_escape", "text")),
    "textcat": text_function("concat_op", "text"),
    "regexp_like": (
        *text_function("regexp_like", "text", result="bool"),
        *text_function("regexp_like", "text", "text", result="bool"),
    ),
    "regexp_replace": (
        *text_function("regexp_replace", "text", "text"),
        *text_function("regexp_replace", "text", "text", "text"),
    ),
    "regexp_match": (
        *text_function("regexp_match", "text", result="text[]"),
        *text_function("regexp_match", "text", "text", result="text[]"),
    ),
    "regexp_split_to_array": (
        *text_function("regexp_split", "text", result="text[]"),
        *text_function("regexp_split", "text", "text", result="text[]"),
    ),
    "regexp_count": (
        *text_function("regexp_count", "text", result="int4"),
        *text_function("regexp_count", "text", "int4", result="int4"),
        *text_function("regexp_count", "text", "int4", "text", result="int4"),
    ),
    "regexp_instr": text_function("regexp_instr", "text", result="int4"),
    "regexp_substr": text_function("regexp_substr", "text"),
    "string_to_array": (
        *text_function("string_to_array", "text", result="text[]"),
        *text_function("string_to_array", "text", "text", result="text[]"),
    ),
}

DATES: dict[str, tuple[Signature, ...]] = {
    "date_trunc": (
        Signature("date_trunc", ("text", "timestamp"), "timestamp"),
        Signature("date_trunc", ("text", "timestamptz"), "timestamptz"),
        Signature("date_trunc", ("text", "timestamptz", "text"), "timestamptz"),
        Signature("date_trunc", ("text", "interval"), "interval"),
    ),
    "extract": (*(Signature("extract", ("text", family), "numeric") for family in (*TIMES, "interval", "time")),),
    "date_part": (
        Signature("date_part", ("text", "date"), "float8", ("text", "timestamp")),
        Signature("date_part", ("text", "timestamp"), "float8"),
        Signature("date_part", ("text", "timestamptz"), "float8"),
        Signature("date_part", ("text", "interval"), "float8"),
        Signature("date_part", ("text", "time"), "float8"),
    ),
    "timezone": (
        Signature("to_zone", ("text", "timestamptz"), "timestamp"),
        Signature("from_zone", ("text", "timestamp"), "timestamptz"),
    ),
    "age": (
        Signature("age", ("timestamp", "timestamp"), "interval"),
        Signature("age", ("timestamptz", "timestamptz"), "interval"),
        Signature("age_today", ("timestamp",), "interval"),
        Signature("age_today", ("timestamptz",), "interval"),
    ),
    "date_bin": (
        Signature("date_bin", ("interval", "timestamp", "timestamp"), "timestamp"),
        Signature("date_bin", ("interval", "timestamptz", "timestamptz"), "timestamptz"),
    ),
    "isfinite": tuple(Signature("isfinite", (family,), "bool") for family in (*TIMES, "interval")),
    "justify_days": one("justify_days", "interval", result="interval"),
    "justify_hours": one("justify_hours", "interval", result="interval"),
    "justify_interval": one("justify_interval", "interval", result="interval"),
    "make_date": one("make_date", "int4", "int4", "int4", result="date"),
    "make_time": one("make_time", "int4", "int4", "float8", result="time"),
    "make_timestamp": one("make_timestamp", "int4", "int4", "int4", "int4", "int4", "float8", result="timestamp"),
    "make_timestamptz": (
        *one("make_timestamptz", "int4", "int4", "int4", "int4", "int4", "float8", result="timestamptz"),
        *one("make_timestamptz", "int4", "int4", "int4", "int4", "int4", "float8", "text", result="timestamptz"),
    ),
    "make_interval": tuple(
        Signature("make_interval", ("int4",) * count if count < 7 else (*("int4",) * 6, "float8"), "interval")
        for count in range(1, 8)
    ),
    "to_timestamp": (
        *one("to_timestamp", "float8", result="timestamptz"),
        *one("read_timestamp", "text", "text", result="timestamptz"),
    ),
    "to_date": one("read_date", "text", "text", result="date"),
    "to_number": one("read_number", "text", "text", result="numeric"),
    "to_char": (
        *(Signature("format_time", (family, "text"), "text", ("timestamp", "text")) for family in ("timestamp",)),
        Signature("format_time", ("timestamptz", "text"), "text"),
        *(
            Signature("format_number", (family, "text"), "text", ("numeric", "text"))
            for family in ("int4", "int8", "numeric")
        ),
        Signature("", ("float4", "text"), "text"),
        Signature("format_float", ("float8", "text"), "text"),
        Signature("", ("interval", "text"), "text"),
    ),
    "clock_timestamp": one("clock_timestamp", result="timestamptz"),
}

ARRAYS: dict[str, tuple[Signature, ...]] = {
    "cardinality": one("cardinality", "array", result="int4"),
    "array_length": one("array_length", "array", "int4", result="int4"),
    "array_lower": one("array_lower", "array", "int4", result="int4"),
    "array_upper": one("array_length", "array", "int4", result="int4"),
    "array_ndims": one("array_ndims", "array", result="int4"),
    "array_dims": one("array_dims", "array", result="text"),
    "trim_array": one("trim_array", "array", "int4", result="array"),
    "array_append": one("array_append", "array", "element", result="array"),
    "array_prepend": one("array_prepend", "element", "array", result="array"),
    "array_cat": one("array_cat", "array", "array", result="array"),
    "array_position": one("array_position", "array", "element", result="int4"),
    "array_positions": one("array_positions", "array", "element", result="int4[]"),
    "array_remove": one("array_remove", "array", "element", result="array"),
    "array_replace": one("array_replace", "array", "element", "element", result="array"),
    "array_to_string": (
        *one("array_to_string", "array", "text", result="text"),
        *one("array_to_string", "array", "text", "text", result="text"),
    ),
}

ENUMS: dict[str, tuple[Signature, ...]] = {
    "enum_first": one("enum_first", "enum", result="enum"),
    "enum_last": one("enum_last", "enum", result="enum"),
    "enum_range": (*one("enum_range", "enum", result="array"), *one("enum_range", "enum", "enum", result="array")),
}

# Arguments of any types, but not unknown ones: `sql.bind.expressions.calls` binds the calls.
JSON_MAKERS: dict[str, tuple[Signature, ...]] = {
    "to_json": one("json_of_value", "element", result="json"),
    "to_jsonb": one("json_of_value", "element", result="jsonb"),
    **{
        name: (*one("json_of_value", kind, result="json"), *one("json_of_value", kind, "bool", result="json"))
        for name, kind in (("row_to_json", "record"), ("array_to_json", "array"))
    },
    **{
        f"{family}_build_{what}": (
            *one(canonical, "any", result=family, variadic=True),
            *one(canonical, result=family),
        )
        for family in ("json", "jsonb")
        for what, canonical in (("array", "json_of_values"), ("object", "json_of_pairs"))
    },
}

OTHERS: dict[str, tuple[Signature, ...]] = {
    "gen_random_uuid": one("gen_random_uuid", result="uuid"),
    "num_nulls": one("num_nulls", "any", result="int4", variadic=True),
    "num_nonnulls": one("num_nonnulls", "any", result="int4", variadic=True),
    **{name: one(name, "text", result="void") for name in VIEW_CHANGES},
    "nextval": one("nextval", "text", result="int8"),
    "currval": one("currval", "text", result="int8"),
    "lastval": one("lastval", result="int8"),
    "set_config": one("set_config", "text", "text", "bool", result="text"),
    "pg_notify": one("pg_notify", "text", "text", result="void"),
    **ADVISORY,
    "setval": (*one("setval", "text", "int8", result="int8"), *one("setval", "text", "int8", "bool", result="int8")),
    "pg_sleep": one("pg_sleep", "float8", result="void"),
    "pg_cancel_backend": one("pg_cancel_backend", "int4", result="bool"),
    "pg_terminate_backend": (
        *one("pg_terminate_backend", "int4", result="bool"),
        *one("", "int4", "int8", result="bool"),
    ),
}

FUNCTIONS: dict[str, tuple[Signature, ...]] = with_missing(
    with_rows({**MATH, **TEXTS, **DATES, **ARRAYS, **ENUMS, **JSON_MAKERS, **OTHERS}, table.FUNCTIONS)
)

# Functions of two columns, with the call that makes each column. A client can't write the names
# with a blank.
JSON_MEMBERS: dict[str, dict[str, tuple[Signature, ...]]] = {
    f"{family}_each{form}": {
        f"{family}_each{form} key": one(f"{family}_each{form} key", family, result="text"),
        f"{family}_each{form} value": one(f"{family}_each{form} value", family, result="text" if form else family),
    }
    for family in ("json", "jsonb")
    for form in ("", "_text")
}
# Set-returning functions: where they stand in FROM or in a select list, bind makes a
# `TableFunction` of them.
TABLE_FUNCTIONS: dict[str, tuple[Signature, ...]] = {
    **{
        name: one(name, family, result=result)
        for family in ("json", "jsonb")
        for name, result in (
            (f"{family}_array_elements", family),
            (f"{family}_array_elements_text", "text"),
            (f"{family}_object_keys", "text"),
        )
    },
    # In a select list the results would be rows.
    **{name: one("", name.split("_")[0], result="text") for name in JSON_MEMBERS},
    "generate_series": (
        *(
            Signature("generate_series", (family,) * count, family)
            for family in ("int4", "int8", "numeric")
            for count in (2, 3)
        ),
        Signature("generate_series", ("timestamp", "timestamp", "interval"), "timestamp"),
        Signature("generate_series", ("timestamptz", "timestamptz", "interval"), "timestamptz"),
    ),
    "unnest": one("unnest", "array", result="element"),
    "generate_subscripts": (
        *one("generate_subscripts", "array", "int4", result="int4"),
        *one("", "array", "int4", "bool", result="int4"),
    ),
    "string_to_table": (
        *text_function("string_to_table", "text"),
        *text_function("string_to_table", "text", "text"),
    ),
    "regexp_split_to_table": (
        *text_function("regexp_split_to_table", "text"),
        *text_function("regexp_split_to_table", "text", "text"),
    ),
    "regexp_matches": (
        *text_function("regexp_matches", "text", result="text[]"),
        *text_function("regexp_matches", "text", "text", result="text[]"),
    ),
}

# Functions whose value is another one at each call: an answer with such a call is not kept, and the
# call is no constant.
VOLATILE = (
    frozenset(
        """
    random clock_timestamp gen_random_uuid nextval currval lastval setval pg_sleep pg_cancel_backend pg_terminate_backend
    set_config pg_notify
    """.split()
    )
    | frozenset(VIEW_CHANGES)
    | ADVISORY_CALLS
)

# The session answers these calls: the engine puts the session's number before their arguments.
OF_SESSION = (
    frozenset(
        "nextval currval lastval setval pg_sleep pg_cancel_backend pg_terminate_backend set_config pg_notify".split()
    )
    | ADVISORY_CALLS
)

# The value at the start of the transaction, under its names.
NOW_FUNCTIONS = frozenset({"now", "transaction_timestamp", "statement_timestamp"})
