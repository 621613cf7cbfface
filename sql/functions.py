"""The functions, operators, aggregates and window functions that a client can name: one table of signatures.

A `Signature` has PostgreSQL's argument families, the canonical function that bind puts into the tree, and the families that its
operands are cast to. Result scales of numerics are in `sql.numeric_scale`. Must not know expressions or scopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload.

    arguments: families, or 'any', or 'element' (all equal to each other). result: a family, or 'element'. operands: what the
    arguments are cast to when that differs. canonical '' means that PostgreSQL has the overload and Antumbra does not yet.
    """

    canonical: str
    arguments: tuple[str, ...]
    result: str
    operands: tuple[str, ...] = ()
    variadic: bool = False

    @property
    def cast_to(self) -> tuple[str, ...]:
        """The families that the operands have after binding."""
        return self.operands or self.arguments


INTEGERS = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")
NUMBERS = ("int2", "int4", "int8", "numeric", "float4", "float8")
TIMES = ("date", "timestamp", "timestamptz")
COMPARED = (*NUMBERS, "text", "bool", *TIMES)


def wider(left: str, right: str, order: tuple[str, ...]) -> str:
    """Return the later one of two families in `order`."""
    return order[max(order.index(left), order.index(right))]


def arithmetic(canonical: str, families: tuple[str, ...]) -> list[Signature]:
    """Return the overloads of a binary arithmetic operator, with PostgreSQL's ones across integer and across float sizes."""
    found = [Signature(canonical, (family, family), family) for family in families]
    for group in (INTEGERS, FLOATS):
        for left, right in product(group, group):
            if left != right and left in families and right in families:
                result = wider(left, right, group)
                found.append(Signature(canonical, (left, right), result, (result, result)))
    return found


def comparison(canonical: str) -> tuple[Signature, ...]:
    found = [Signature(canonical, (family, family), "bool") for family in COMPARED]
    for group in (INTEGERS, FLOATS, TIMES):
        for left, right in product(group, group):
            if left != right:
                result = wider(left, right, group)
                found.append(Signature(canonical, (left, right), "bool", (result, result)))
    return tuple(found)


def unary(canonical: str, families: tuple[str, ...]) -> list[Signature]:
    return [Signature(canonical, (family,), family) for family in families]


def times_with_interval(sign: str) -> list[Signature]:
    results = {"date": "timestamp", "timestamp": "timestamp", "timestamptz": "timestamptz"}
    return [
        Signature(f"{sign}_interval", (family, "interval"), result, (result, "interval"))
        for family, result in results.items()
    ]


PLUS = [
    *arithmetic("add", NUMBERS),
    Signature("date_add_days", ("date", "int4"), "date"),
    Signature("days_add_date", ("int4", "date"), "date"),
    *times_with_interval("add"),
    *(Signature("interval_add", ("interval", family), "", ()) for family in TIMES),
    Signature("", ("interval", "interval"), "interval"),
]
MINUS = [
    *arithmetic("subtract", NUMBERS),
    Signature("date_subtract_days", ("date", "int4"), "date"),
    Signature("date_difference", ("date", "date"), "int4"),
    *times_with_interval("subtract"),
    Signature("", ("timestamp", "timestamp"), "interval"),
    Signature("", ("timestamptz", "timestamptz"), "interval"),
    Signature("", ("interval", "interval"), "interval"),
]
BITS = [Signature("", (left, right), left) for left, right in product(INTEGERS, INTEGERS)]

BINARY_OPERATORS: dict[str, tuple[Signature, ...]] = {
    "+": tuple(PLUS),
    "-": tuple(MINUS),
    "*": (
        *arithmetic("multiply", NUMBERS),
        Signature("", ("interval", "float8"), "interval"),
        Signature("", ("float8", "interval"), ""),
    ),
    "/": (*arithmetic("divide", NUMBERS), Signature("", ("interval", "float8"), "interval")),
    "%": tuple(arithmetic("modulo", (*INTEGERS, "numeric"))),
    "^": (Signature("power", ("float8", "float8"), "float8"), Signature("", ("numeric", "numeric"), "numeric")),
    "=": comparison("eq"),
    "<>": comparison("ne"),
    "<": comparison("lt"),
    "<=": comparison("le"),
    ">": comparison("gt"),
    ">=": comparison("ge"),
    "||": (Signature("concat_op", ("text", "text"), "text"),),
    "~~": (Signature("like", ("text", "text"), "bool"),),
    "!~~": (Signature("not_like", ("text", "text"), "bool"),),
    "~~*": (Signature("ilike", ("text", "text"), "bool"),),
    "!~~*": (Signature("not_ilike", ("text", "text"), "bool"),),
    **{operator: (Signature("", ("text", "text"), "bool"),) for operator in ("~", "~*", "!~", "!~*", "^@")},
    **{operator: tuple(BITS) for operator in ("&", "|", "#", "<<", ">>")},
}

PREFIX_OPERATORS: dict[str, tuple[Signature, ...]] = {
    "-": (*unary("negate", NUMBERS), Signature("", ("interval",), "interval")),
    "+": tuple(unary("plus", NUMBERS)),
    "@": tuple(unary("abs", NUMBERS)),
    "|/": (Signature("sqrt", ("float8",), "float8"),),
    "||/": (Signature("", ("float8",), "float8"),),
    "~": tuple(unary("", INTEGERS)),
}


def rounding(canonical: str) -> tuple[Signature, ...]:
    return (Signature(canonical, ("numeric",), "numeric"), Signature(canonical, ("float8",), "float8"))


def with_digits(canonical: str) -> tuple[Signature, ...]:
    return (*rounding(canonical), Signature(canonical, ("numeric", "int4"), "numeric"))


def float_only(canonical: str) -> tuple[Signature, ...]:
    """The numeric overload exists in PostgreSQL, with digits that only its own arithmetic gives."""
    return (Signature(canonical, ("float8",), "float8"), Signature("", ("numeric",), "numeric"))


def text_function(canonical: str, *arguments: str, result: str = "text") -> tuple[Signature, ...]:
    return (Signature(canonical, ("text", *arguments), result),)


POWER = (Signature("power", ("float8", "float8"), "float8"), Signature("", ("numeric", "numeric"), "numeric"))
CEILING = rounding("ceil")
SUBSTRING = (
    *text_function("substring", "int4"),
    *text_function("substring", "int4", "int4"),
    *text_function("", "text"),
)
CHARACTERS = text_function("length", result="int4")


def padding(canonical: str) -> tuple[Signature, ...]:
    return (*text_function(canonical, "int4"), *text_function(canonical, "int4", "text"))


def trimming(canonical: str) -> tuple[Signature, ...]:
    return (*text_function(canonical), *text_function(canonical, "text"))


FUNCTIONS: dict[str, tuple[Signature, ...]] = {
    "abs": tuple(unary("abs", NUMBERS)),
    "ceil": CEILING,
    "ceiling": CEILING,
    "floor": rounding("floor"),
    "round": with_digits("round"),
    "trunc": with_digits("trunc"),
    "sign": rounding("sign"),
    "sqrt": float_only("sqrt"),
    "exp": float_only("exp"),
    "ln": float_only("ln"),
    "power": POWER,
    "pow": POWER,
    "mod": tuple(Signature("modulo", (family, family), family) for family in (*INTEGERS, "numeric")),
    "lower": text_function("lower"),
    "upper": text_function("upper"),
    "length": CHARACTERS,
    "char_length": CHARACTERS,
    "character_length": CHARACTERS,
    "octet_length": text_function("octet_length", result="int4"),
    "substring": SUBSTRING,
    "substr": SUBSTRING[:2],
    "btrim": trimming("trim_both"),
    "ltrim": trimming("trim_left"),
    "rtrim": trimming("trim_right"),
    "replace": text_function("replace", "text", "text"),
    "left": text_function("left", "int4"),
    "right": text_function("right", "int4"),
    "strpos": text_function("strpos", "text", result="int4"),
    "position": text_function("strpos", "text", result="int4"),
    "starts_with": text_function("starts_with", "text", result="bool"),
    "repeat": text_function("repeat", "int4"),
    "lpad": padding("lpad"),
    "rpad": padding("rpad"),
    "reverse": text_function("reverse"),
    "split_part": text_function("split_part", "text", "int4"),
    "concat": (Signature("concat", ("any",), "text", variadic=True),),
    "date_trunc": (
        Signature("date_trunc", ("text", "timestamp"), "timestamp"),
        Signature("date_trunc", ("text", "timestamptz"), "timestamptz"),
        Signature("date_trunc", ("text", "timestamptz", "text"), "timestamptz"),
        Signature("", ("text", "interval"), "interval"),
    ),
    "extract": (
        *(Signature("extract", ("text", family), "numeric") for family in TIMES),
        Signature("", ("text", "interval"), "numeric"),
    ),
    "date_part": (
        Signature("date_part", ("text", "date"), "float8", ("text", "timestamp")),
        Signature("date_part", ("text", "timestamp"), "float8"),
        Signature("date_part", ("text", "timestamptz"), "float8"),
        Signature("", ("text", "interval"), "float8"),
    ),
    "timezone": (
        Signature("to_zone", ("text", "timestamptz"), "timestamp"),
        Signature("from_zone", ("text", "timestamp"), "timestamptz"),
    ),
    "like": text_function("like", "text", result="bool"),
    "notlike": text_function("not_like", "text", result="bool"),
    "textcat": text_function("concat_op", "text"),
}

# The value at the start of the transaction, under its names.
NOW_FUNCTIONS = frozenset({"now", "transaction_timestamp", "statement_timestamp"})

AGGREGATES: dict[str, tuple[Signature, ...]] = {
    "count": (Signature("count", ("any",), "int8"),),
    "sum": (
        Signature("sum", ("int2",), "int8"),
        Signature("sum", ("int4",), "int8"),
        Signature("sum", ("int8",), "numeric"),
        Signature("sum", ("numeric",), "numeric"),
        Signature("sum", ("float4",), "float4"),
        Signature("sum", ("float8",), "float8"),
        Signature("", ("interval",), "interval"),
    ),
    "avg": (
        *(Signature("avg", (family,), "numeric") for family in (*INTEGERS, "numeric")),
        Signature("avg", ("float4",), "float8"),
        Signature("avg", ("float8",), "float8"),
        Signature("", ("interval",), "interval"),
    ),
    "min": tuple(Signature("min", (family,), family) for family in (*NUMBERS, "text", *TIMES)),
    "max": tuple(Signature("max", (family,), family) for family in (*NUMBERS, "text", *TIMES)),
    "bool_and": (Signature("bool_and", ("bool",), "bool"),),
    "bool_or": (Signature("bool_or", ("bool",), "bool"),),
    "every": (Signature("bool_and", ("bool",), "bool"),),
}

# Aggregates whose states of two parts of the input merge into the state of the whole.
MERGEABLE = frozenset({"count_star", "count", "sum", "avg", "min", "max", "bool_and", "bool_or"})

WINDOW_FUNCTIONS: dict[str, tuple[Signature, ...]] = {
    "row_number": (Signature("row_number", (), "int8"),),
    "rank": (Signature("rank", (), "int8"),),
    "dense_rank": (Signature("dense_rank", (), "int8"),),
    "percent_rank": (Signature("percent_rank", (), "float8"),),
    "cume_dist": (Signature("cume_dist", (), "float8"),),
    "ntile": (Signature("ntile", ("int4",), "int4"),),
    **{
        name: (
            Signature(name, ("element",), "element"),
            Signature(name, ("element", "int4"), "element"),
            Signature(name, ("element", "int4", "element"), "element"),
        )
        for name in ("lag", "lead")
    },
    "first_value": (Signature("first_value", ("element",), "element"),),
    "last_value": (Signature("last_value", ("element",), "element"),),
    "nth_value": (Signature("nth_value", ("element", "int4"), "element"),),
}

# Names that PostgreSQL knows and Antumbra does not yet; anything else does not exist.
NOT_YET = frozenset(
    """
    acos acosd age array_agg array_append array_length array_position array_remove array_to_string ascii asin asind atan atan2 atand
    bit_and bit_length bit_or bit_xor btrim cardinality cbrt chr clock_timestamp col_description concat_ws convert convert_from
    convert_to corr cos cosd cosh cot covar_pop covar_samp currval date_bin decode degrees div encode erf factorial format
    format_type gcd gen_random_uuid generate_series generate_subscripts has_table_privilege inet_client_addr initcap isfinite
    json_agg json_build_object json_object_agg jsonb_agg jsonb_build_object justify_days justify_hours justify_interval lastval lcm
    localtime log log10 make_date make_interval make_time make_timestamp make_timestamptz md5 min_scale mode nextval num_nonnulls
    num_nulls obj_description parse_ident percentile_cont percentile_disc pg_advisory_lock pg_advisory_unlock
    pg_advisory_xact_lock pg_cancel_backend pg_column_size pg_get_constraintdef pg_get_expr
    pg_get_indexdef pg_get_userbyid pg_get_viewdef pg_is_in_recovery pg_notify pg_relation_size pg_size_pretty pg_sleep
    pg_table_is_visible pg_terminate_backend pg_total_relation_size pi quote_ident quote_literal quote_nullable radians random
    regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_to_json scale
    set_config setseed setval sha224 sha256 sha384 sha512 shobj_description sin sind sinh stddev stddev_pop stddev_samp string_agg
    string_to_array string_to_table tan tand tanh timeofday to_ascii to_char to_date to_hex to_json to_jsonb to_number
    to_timestamp to_tsquery to_tsvector translate trim_scale txid_current unistr unnest upper_inc var_pop var_samp variance
    width_bucket xmlagg
    """.split()
)
AGGREGATES_NOT_YET = frozenset(
    """
    array_agg bit_and bit_or bit_xor corr covar_pop covar_samp json_agg json_object_agg jsonb_agg mode percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop
    stddev_samp string_agg var_pop var_samp variance xmlagg
    """.split()
)
