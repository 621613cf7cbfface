"""The aggregates and window functions that a client can name: name -> signatures."""

from __future__ import annotations

from sql.functions.signatures import INTEGERS, NUMBERS, TIMES, Signature, one
from sql.tree.numeric_scale import ScaleRule, first

EXTREMES = (*NUMBERS, "text", "bpchar", *TIMES, "time", "timetz", "interval", "inet", "oid")


def statistic(canonical: str) -> tuple[Signature, ...]:
    """Return a variance or a deviation: exact for integers and numerics."""
    exact = (Signature(canonical, (family,), "numeric") for family in (*INTEGERS, "numeric"))
    return (
        *exact,
        Signature(canonical, ("float4",), "float8", ("float8",)),
        Signature(canonical, ("float8",), "float8"),
    )


def regression(canonical: str, result: str = "float8") -> tuple[Signature, ...]:
    """Return an aggregate of pairs of floats."""
    return one(canonical, "float8", "float8", result=result)


def of_integers(canonical: str) -> tuple[Signature, ...]:
    """Return an aggregate of bits."""
    return tuple(Signature(canonical, (family,), family) for family in INTEGERS)


def extreme(canonical: str) -> tuple[Signature, ...]:
    """Return min or max."""
    polymorphic = (one(canonical, kind, result=kind) for kind in ("array", "enum"))
    return (*(Signature(canonical, (family,), family) for family in EXTREMES), *(found for (found,) in polymorphic))


AGGREGATES: dict[str, tuple[Signature, ...]] = {
    "count": (Signature("count", ("any",), "int8"),),
    "sum": (
        Signature("sum", ("int2",), "int8"),
        Signature("sum", ("int4",), "int8"),
        Signature("sum", ("int8",), "numeric"),
        Signature("sum", ("numeric",), "numeric"),
        Signature("sum", ("float4",), "float4"),
        Signature("sum", ("float8",), "float8"),
        Signature("sum", ("interval",), "interval"),
    ),
    "avg": (
        *(Signature("avg", (family,), "numeric") for family in (*INTEGERS, "numeric")),
        Signature("avg", ("float4",), "float8"),
        Signature("avg", ("float8",), "float8"),
        Signature("avg", ("interval",), "interval"),
    ),
    "min": extreme("min"),
    "max": extreme("max"),
    "bool_and": (Signature("bool_and", ("bool",), "bool"),),
    "bool_or": (Signature("bool_or", ("bool",), "bool"),),
    "every": (Signature("bool_and", ("bool",), "bool"),),
    "bit_and": of_integers("bit_and"),
    "bit_or": of_integers("bit_or"),
    "bit_xor": of_integers("bit_xor"),
    "stddev": statistic("stddev_samp"),
    "stddev_samp": statistic("stddev_samp"),
    "stddev_pop": statistic("stddev_pop"),
    "variance": statistic("var_samp"),
    "var_samp": statistic("var_samp"),
    "var_pop": statistic("var_pop"),
    "corr": regression("corr"),
    "covar_pop": regression("covar_pop"),
    "covar_samp": regression("covar_samp"),
    "regr_avgx": regression("regr_avgx"),
    "regr_avgy": regression("regr_avgy"),
    "regr_count": regression("regr_count", "int8"),
    "regr_intercept": regression("regr_intercept"),
    "regr_r2": regression("regr_r2"),
    "regr_slope": regression("regr_slope"),
    "regr_sxx": regression("regr_sxx"),
    "regr_sxy": regression("regr_sxy"),
    "regr_syy": regression("regr_syy"),
    "string_agg": (
        Signature("string_agg", ("text", "text"), "text"),
        Signature("", ("bytea", "bytea"), "bytea"),
    ),
    "array_agg": one("array_agg", "element", result="array"),
    # Bound as array_agg by `sql.bind.expressions.calls`.
    **{
        name: signatures
        for family in ("json", "jsonb")
        for name, signatures in (
            (f"{family}_agg", one("array_agg", "element", result=family)),
            (f"{family}_object_agg", one("array_agg", "any", "any", result=family)),
        )
    },
}

# Their one sort key stands in WITHIN GROUP, and is the last of the arguments.
ORDERED_SET_AGGREGATES: dict[str, tuple[Signature, ...]] = {
    "percentile_cont": (
        Signature("percentile_cont", ("float8", "float8"), "float8"),
        Signature("", ("float8", "interval"), "interval"),
    ),
    "percentile_disc": one("percentile_disc", "float8", "element", result="element"),
    "mode": one("mode", "element", result="element"),
}

# Aggregates whose numeric values have one display scale.
SCALED_AGGREGATES: dict[str, ScaleRule] = dict.fromkeys(("min", "max", "sum"), first)

DEVIATIONS = frozenset({"var_pop", "var_samp", "stddev_pop", "stddev_samp"})
# Aggregates of pairs of floats that add them.
REGRESSION = frozenset(
    {
        *("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_intercept"),
        *("regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"),
    }
)


def adds_floats(canonical: str, family: str) -> bool:
    """Tell whether an aggregate adds floats of a family, so that its last digits depend on the
    order of the rows.
    """
    return canonical in REGRESSION or (canonical in DEVIATIONS | {"sum", "avg"} and family in ("float4", "float8"))


# Aggregates whose states of two parts of the input merge into the state of the whole.
MERGEABLE = frozenset(
    {
        *("count_star", "count", "sum", "avg", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"),
        *("var_samp", "var_pop", "stddev_samp", "stddev_pop"),
    }
)

# Window functions that are aggregates with WITHIN GROUP, which Antumbra does not have yet.
HYPOTHETICAL = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})

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
