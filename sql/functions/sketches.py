"""Aggregates that estimate, in states of a bounded size: the number of different values
(HyperLogLog), quantiles (KLL), how often a value came (count-min), whether it came (Bloom). What
they keep, a sketch, is a bytea that can be shown, merged by combine(), and asked later.

Kernels make words of values and read the results (`ringbuffer.scalar.texts`), over streams and over
tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sql.errors import not_supported
from sql.functions.aggregate_rows import Aggregate, AggregateText
from sql.functions.arguments import RUN
from sql.functions.rows import Function, Kernel
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.types.datatypes import FLOAT8, INT4, INT8, TEXT, SqlType, array_of

# The types whose values have words, by their kinds in hashes; others become one of these, or have
# none, since equal ones may have different texts.
KINDS = {
    "int8": "1",
    "float8": "2",
    "numeric": "3",
    "text": "4",
    "bytea": "5",
    "date": "6",
    "time": "7",
    "timestamp": "8",
    "timestamptz": "9",
}
ORDERED = ("int8", "date", "time", "timestamp", "timestamptz", "float8")
TIMES = ("date", "time", "timestamp", "timestamptz")
SOME = "FROM (VALUES (1), (1), (4), (NULL)) t(x)"


def with_words(value: Expression) -> Expression | None:
    """Return a value as one of the types that have words; None for a type that does not become
    one.
    """
    family = value.type.family
    if family == "bool":
        value = Cast(value, INT4)
    if family in ("int2", "int4", "oid", "bool"):
        return Cast(value, INT8)
    if family == "float4":
        return Cast(value, FLOAT8)
    if family in ("bpchar", "uuid"):
        return Cast(value, TEXT)
    return value if family in KINDS else None


def _word(function: str) -> Callable[[Expression], Expression]:
    return lambda value: Call(function, (value,), INT8)


def _order(value: Expression) -> Expression:
    return Call("value_order", (value if value.type.family in ORDERED else Cast(value, FLOAT8),), INT8)


@dataclass(frozen=True)
class SketchForm:
    """How bind writes one of the aggregates.

    Attributes:
        kept: the canonical name of the aggregate of words.
        word: the word of a value.
        read: what makes the result of the sketch, of the arguments after the first, and of the type
            of the values; None: the sketch is the result.
    """

    kept: str
    word: Callable[[Expression], Expression]
    read: Callable[[Expression, Sequence[Expression], SqlType], Expression] | None = None


def _or_zero(count: Call) -> Call:
    return Call("coalesce", (count, Literal(0, INT8)), INT8)


def _percentile(sketch: Expression, others: Sequence[Expression], kind: SqlType) -> Expression:
    """Return the value of a rank in the type of the values, floats for numerics."""
    shown = FLOAT8 if kind.family == "numeric" else kind.without_modifier()
    read = SqlType(shown.family if shown.family in ORDERED else "float8" if shown.family == "float4" else "int8")
    found = Call(f"{read.family}_quantile", (sketch, others[0]), read)
    return found if read == shown else Cast(found, shown)


def _frequency(sketch: Expression, others: Sequence[Expression], _: SqlType) -> Expression:
    return _or_zero(Call("freq", (sketch, Call("value_hash", (others[0],), INT8)), INT8))


def _text(value: Expression) -> Expression:
    """Return the text of a value, of a type whose equal values have one text."""
    if value.type.family in ("float8", "numeric", "bytea"):
        raise not_supported(f"the values of type {value.type.sql_name} that come most often", hint="Cast them to text.")
    return value if value.type == TEXT else Cast(value, TEXT)


def _top(sketch: Expression, others: Sequence[Expression], kind: SqlType) -> Expression:
    texts = Call("topk_values", (sketch, Cast(others[0], INT4)), array_of(TEXT))
    wanted = array_of(kind.without_modifier())
    return texts if wanted == texts.type else Cast(texts, wanted)


SKETCH_FORMS: Mapping[str, SketchForm] = {
    "approx_count_distinct": SketchForm(
        "distinct_registers", _word("value_cell"), lambda sketch, *_: _or_zero(Call("hll_cardinality", (sketch,), INT8))
    ),
    "hll_agg": SketchForm("distinct_registers", _word("value_cell")),
    "approx_percentile": SketchForm("kept_quantiles", _order, _percentile),
    "dist_agg": SketchForm("kept_quantiles", _order),
    "approx_frequency": SketchForm("kept_counters", _word("value_hash"), _frequency),
    "freq_agg": SketchForm("kept_counters", _word("value_hash")),
    "bloom_agg": SketchForm("kept_filter", _word("value_hash")),
    "approx_top_k": SketchForm("kept_top", _text, _top),
    "topk_agg": SketchForm("kept_top", _text),
}


def _kept(function: str, word: str = "") -> Callable[[AggregateText], str]:
    """Return the rule of an aggregate that makes a sketch of the list of its values."""

    def rule(aggregate: AggregateText) -> str:
        text = aggregate.texts[0]
        return f"{function}({aggregate.wrap(f'list({word}{text}) FILTER (WHERE {text} IS NOT NULL)')}, {RUN})"

    return rule


def _hashed(name: str) -> dict[str, Kernel]:
    """Return the kernels that make hashes of values."""
    words = dict.fromkeys(("int8", *TIMES), "word") | {"float8": "float", "numeric": "numeric", "variable": "numeric"}
    words |= {"text": "text", "bytea": "text"}
    return {
        form: Kernel(f"texts.counters.{word}_{name}", constants=(KINDS[form.replace("variable", "numeric")],))
        for form, word in words.items()
    }


def _quantile(family: str) -> Function:
    kernel = Kernel(f"texts.quantiles.{'float' if family == 'float8' else 'word'}_quantile", fallible=True)
    is_shown = family == "float8"
    return Function(
        f"{family}_quantile", "dist_quantile" if is_shown else "", f"bytea float8 > {family}",
        (f"dist_quantile(dist_agg(x), 0.5) {SOME}", "1") if is_shown else None,
        kernel={"bytea": kernel}, called=f"{family}_quantile",
    )  # fmt: skip


WORD_CELL, NUMERIC_CELL = Kernel("texts.sketches.word_cell"), Kernel("texts.sketches.numeric_cell")
FUNCTIONS = (
    Function(
        "value_cell", "", "; ".join(f"{family} > int8" for family in KINDS), can_fail=False,
        kernel={
            "int8 date time timestamp timestamptz": WORD_CELL,
            "float8": Kernel("texts.sketches.float_cell"),
            "numeric": NUMERIC_CELL, "variable": NUMERIC_CELL,
            "text bytea": Kernel("texts.sketches.text_cell"),
        },
    ),
    Function(
        "value_order", "", "; ".join(f"{family} > int8" for family in ORDERED), can_fail=False,
        kernel={
            "int8 date time timestamp timestamptz": Kernel("texts.quantiles.word_order"),
            "float8": Kernel("texts.quantiles.float_order"),
        },
    ),
    Function(
        "value_hash", "", "; ".join(f"{family} > int8" for family in KINDS), can_fail=False, kernel=_hashed("hash"),
    ),
    Function(
        "hll_cardinality", "hll_cardinality", "bytea > int8", (f"hll_cardinality(hll_agg(x)) {SOME}", "2"),
        kernel={"bytea": Kernel("texts.sketches.distinct_estimate", fallible=True)},
    ),
    *(_quantile(family) for family in ORDERED),
    Function(
        "dist_cdf", "dist_cdf", "bytea float8 > float8", (f"dist_cdf(dist_agg(x), 3) {SOME}", "0.6666666666666666"),
        kernel={"bytea": Kernel("texts.quantiles.share_up_to", fallible=True)},
    ),
    Function(
        "topk_values", "topk_values", "bytea int4 > text[]", (f"topk_values(topk_agg(x), 1) {SOME}", "{1}"),
        python="sums.top_values",
    ),
    Function(
        "topk_freqs", "topk_freqs", "bytea int4 > int8[]", (f"topk_freqs(topk_agg(x), 9) {SOME}", "{2,1}"),
        python="sums.top_counts",
    ),
    Function(
        "freq", "freq", "bytea any > int8 as bytea int8", (f"freq(freq_agg(x), 1) {SOME}", "2"), bound="hashed",
        kernel={"bytea": Kernel("texts.counters.counted", fallible=True)},
    ),
    Function(
        "bloom_contains", "bloom_contains", "bytea any > bool as bytea int8",
        (f"bloom_contains(bloom_agg(x), 4) {SOME}", "t"), bound="hashed",
        kernel={"bytea": Kernel("texts.counters.contained", fallible=True)},
    ),
)  # fmt: skip


def _made(name: str, signatures: str, example: tuple[str, str], state: str, constant: str = "") -> Aggregate:
    constants = {1: constant} if constant else {}
    return Aggregate(
        name, name, signatures, example, is_made=True, is_own=True, states={"any": state}, constants=constants
    )


PERCENTILES = "; ".join(
    f"{family} float8 > {result}"
    for family, result in (
        *(("int2", "int2"), ("int4", "int4"), ("int8", "int8"), ("numeric", "float8")),
        *(("float4", "float4"), ("float8", "float8"), *((family, family) for family in TIMES)),
    )
)
AGGREGATES = (
    _made(
        "approx_count_distinct", "any > int8",
        ("approx_count_distinct(x) FROM (VALUES ('a'), ('b'), ('a'), (NULL)) t(x)", "2"), "REGISTERS",
    ),
    _made("approx_percentile", PERCENTILES, (f"approx_percentile(x, 0.9) {SOME}", "4"), "QUANTILES", "0.5"),
    _made("approx_frequency", "any any > int8", (f"approx_frequency(x, 1) {SOME}", "2"), "COUNTERS", "'a'"),
    _made("approx_top_k", "element int4 > array", (f"approx_top_k(x, 1) {SOME}", "{1}"), "TOP", "3"),
    _made("topk_agg", "any > bytea", (f"topk_values(topk_agg(x), 1) {SOME}", "{1}"), "TOP"),
    _made("hll_agg", "any > bytea", (f"hll_cardinality(hll_agg(x)) {SOME}", "2"), "REGISTERS"),
    _made("dist_agg", "float8 > bytea", (f"dist_quantile(dist_agg(x), 1) {SOME}", "4"), "QUANTILES"),
    _made("freq_agg", "any > bytea", (f"freq(freq_agg(x), 1) {SOME}", "2"), "COUNTERS"),
    _made("bloom_agg", "any > bytea", (f"bloom_contains(bloom_agg(x), 1) {SOME}", "t"), "FILTER"),
    Aggregate(
        "combine", "combine", "bytea > bytea",
        ("hll_cardinality(combine(s)) FROM (SELECT hll_agg(x) AS s FROM (VALUES (1), (2)) t(x) GROUP BY x) q", "2"),
        duckdb=_kept("combined_of"), states={"bytea": "COMBINED"}, is_own=True, is_sketch=True,
    ),
    Aggregate(
        "distinct_registers", "", "int8 > bytea", duckdb=_kept("registers_of", "DISTINCT "),
        states={"int8": "REGISTERS"}, can_fail=False, is_own=True, is_sketch=True,
    ),
    Aggregate(
        "kept_top", "", "text > bytea", duckdb=_kept("top_of"), states={"text": "TOP"}, is_own=True, is_sketch=True,
    ),
    *(
        Aggregate(
            f"kept_{kind}", "", "int8 > bytea", duckdb=_kept(f"{kind}_of"), states={"int8": kind.upper()},
            can_fail=False, is_own=True, is_sketch=True,
        )
        for kind in ("quantiles", "counters", "filter")
    ),
)  # fmt: skip
