"""Spark's SQL of a bound relation: constants, types and names.

The functions are in `sql/functions/table.py`.

Enters: a relation tree. Leaves: text for Spark 4 in ANSI mode with the session zone UTC,
TIMESTAMP_NTZ for timestamps, exact decimals (allowPrecisionLoss=false) and the functions of
`engine/spark/spark_functions.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sql.emit.blocks.select import SelectPrinter, alias_letter
from sql.emit.expressions import ExpressionPrinter, SubqueryRule
from sql.emit.rules.casts import SPARK_CASTS
from sql.errors import not_supported
from sql.functions.comparisons import EQUAL
from sql.functions.constants import civil_date, civil_text, decimal_text, unscaled_value
from sql.functions.table import SPARK_AGGREGATES, SPARK_RULES
from sql.times.civil import DAY_US, TIMESTAMP_INFINITY
from sql.tree.expressions import Expression, Literal, WindowCall, WindowFrame
from sql.tree.relations import Relation, Schema, TableFunction
from sql.types.datatypes import FAMILIES, SqlType, scaled_numeric
from sql.types.enums import EnumFamily
from sql.values.special_numbers import SPECIAL_SCALE

INTERVAL_TYPE = FAMILIES["interval"].spark
VARIABLE_NUMERIC = "STRUCT<unscaled: DECIMAL(38,0), scale: SMALLINT>"
UPPER_PART = "in the upper part of a continuous view"
INTEGER_SUFFIXES = {"int2": "S", "int4": "", "int8": "L", "time": "L", "oid": "L"}


def emit_spark(root: Relation, sources: Mapping[str, str]) -> str:
    """Return the text that yields the rows of `root`.

    `sources` maps the names of its scans to registered views.
    """
    return SelectPrinter(SparkDialect(), sources, alias_letter(root)).statement(root)


@dataclass(frozen=True)
class SparkDialect:
    """The form of Spark's SELECT."""

    is_limited = True
    keeps_keys = False

    def printer(
        self, columns: Sequence[str], outer: Sequence[str] = (), nested: SubqueryRule | None = None
    ) -> ExpressionPrinter:
        return SparkExpressions(columns, outer, nested)

    def identifier(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def constant_columns(self, rows: Sequence[Sequence[Expression]], schema: Schema) -> tuple[str, ...] | None:
        return None

    def first_value(self, text: str, rank: str | None) -> str:
        return f"first({text}, true)" if rank is None else f"min_by({text}, {rank})"

    def checked_scalar(self, query: str, column: str) -> str:
        # Spark computes a scalar subquery, and checks its rows, before any CASE.
        raise not_supported(f"a subquery of several rows behind a condition {UPPER_PART}")

    def array_query(self, query: str) -> str:
        raise not_supported(f"ARRAY(SELECT ...) {UPPER_PART}")

    def any_query(self, operand: str, comparison: str, query: str) -> str:
        if comparison != EQUAL:
            raise not_supported(f"ANY and ALL with another operator than = {UPPER_PART}")
        return f"({operand} IN ({query}))"

    def computed_count(self, text: str, word: str) -> str:
        raise not_supported(f"a {word} that is not a constant integer")

    def recursive_word(self) -> str:
        raise not_supported(f"WITH RECURSIVE {UPPER_PART}")

    def table_function(
        self, printer: ExpressionPrinter, node: TableFunction, alias: str
    ) -> tuple[str, tuple[str, ...]]:
        raise not_supported(f"functions in FROM {UPPER_PART}")


class SparkExpressions(ExpressionPrinter):
    """The printer of expressions for Spark."""

    rules = SPARK_RULES
    casts = SPARK_CASTS
    aggregates = SPARK_AGGREGATES

    def type_name(self, kind: SqlType) -> str:
        if kind.family != "numeric":
            return kind.row.spark
        return VARIABLE_NUMERIC if kind.display_scale is None else f"DECIMAL(38,{kind.display_scale})"

    def quoted(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def pack(self, text: str, scale: int) -> str:
        return f"numeric_pack({text}, {scale})"

    def bigint_sum(self, wrap: Callable[[str], str], text: str, word: str) -> str:
        # Spark adds decimals as objects, so the halves of each value are added as integers.
        if word:
            return super().bigint_sum(wrap, text, word)
        upper, lower = wrap(f"sum(shiftright({text}, 32))"), wrap(f"sum({text} & {(1 << 32) - 1}L)")
        return f"(CAST({upper} AS {self.type_name(scaled_numeric(0))}) * {1 << 32}L + {lower})"

    def moment(self, micros: str, family: str) -> str:
        text = f"timestamp_micros({micros})"
        return text if family == "timestamptz" else f"CAST({text} AS TIMESTAMP_NTZ)"

    def comparable_text(self, text: str, kind: SqlType) -> str:
        if kind.family == "interval":
            days = f"CAST(({text}).months AS DECIMAL(38,0)) * 30 + ({text}).days"
            return f"CAST(({days}) * {DAY_US} + ({text}).micros AS DECIMAL(38,0))"
        if kind.is_array:
            # Spark has no subqueries inside of transform(); a constant with this word in it is
            # refused as well.
            if "SELECT" in text:
                raise not_supported("a comparison of an array from a subquery in Spark")
            # NULL elements come last in PostgreSQL, first in Spark.
            return self.mapped(text, lambda item: f"struct({item} IS NULL, {self.comparable_text(item, kind.element)})")
        if kind.family in ("jsonb", "timetz", "inet", "cidr"):
            raise not_supported(
                f"a comparison of {kind.sql_name} in Spark", hint="Compare in the SELECT that reads the view."
            )
        return super().comparable_text(text, kind)

    def blank_trimmed(self, text: str) -> str:
        return f"trim(TRAILING ' ' FROM {text})"

    def mapped(self, text: str, change: Callable[[str], str]) -> str:
        return f"transform({text}, item -> {change('item')})"

    def check_frame(self, frame: WindowFrame, call: WindowCall) -> None:
        if frame.unit == "groups" or frame.exclusion:
            raise not_supported(
                "GROUPS or EXCLUDE in a window frame in the upper part of a continuous view", call.position
            )
        if any(isinstance(bound[1], Literal) for bound in (frame.start, frame.end)):
            raise not_supported("RANGE with an offset in the upper part of a continuous view", call.position)

    def frame_offset(self, value: Literal) -> str:
        return self.literal(value)

    def literal(self, value: Literal) -> str:
        kind, constant = value.type, value.value
        if constant is None:
            return f"CAST(NULL AS {self.type_name(kind)})"
        match kind.family:
            case "bool":
                return "TRUE" if constant else "FALSE"
            case "int2" | "int4" | "int8" | "time" | "oid":
                assert isinstance(constant, int)
                text = f"{constant}{INTEGER_SUFFIXES[kind.family]}"
                return text if constant >= 0 else f"({text})"
            case EnumFamily() if isinstance(constant, int):
                return f"({constant}L)"
            case "float4" | "float8":
                return f"CAST('{constant!r}' AS {self.type_name(kind)})"
            case "numeric":
                unscaled, scale = unscaled_value(constant, kind)
                if scale == SPECIAL_SCALE:
                    return f"named_struct('unscaled', CAST({unscaled} AS DECIMAL(38,0)), 'scale', {SPECIAL_SCALE}S)"
                text = f"CAST('{decimal_text(unscaled, scale)}' AS DECIMAL(38,{scale}))"
                return self.pack(text, scale) if kind.display_scale is None else text
            case "date" | "timestamp" | "timestamptz":
                assert isinstance(constant, int)
                return self.time_literal(constant, kind.family)
        match constant:
            case bytes():
                return f"X'{constant.hex()}'"
            case tuple() if kind.is_array:
                items = ", ".join(self.literal(Literal(item, kind.element)) for item in constant)
                return f"CAST(array({items}) AS {self.type_name(kind)})"
            case (int(micros), int(west)):
                parts = f"'micros', CAST('{micros}' AS BIGINT), 'west', {west}"
                return f"CAST(named_struct({parts}) AS {self.type_name(kind)})"
            case (int(months), int(days), int(micros)):
                parts = f"'months', {months}, 'days', {days}, 'micros', CAST('{micros}' AS BIGINT)"
                return f"CAST(named_struct({parts}) AS {INTERVAL_TYPE})"
        return self.quoted(str(constant))

    def time_literal(self, value: int, family: str) -> str:
        """Return a date (days) or a time stamp (microseconds)."""
        if abs(value) == TIMESTAMP_INFINITY:
            return self.moment(f"{value}L", family)
        if family == "date":
            day = civil_date(value)
            return f"DATE'{day}'" if day is not None else f"date_from_unix_date({value})"
        text = civil_text(value)
        if text is None:
            return self.moment(f"{value}L", family)
        return f"TIMESTAMP_NTZ'{text}'" if family == "timestamp" else f"TIMESTAMP'{text}Z'"
