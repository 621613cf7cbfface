"""DuckDB's SQL of a bound relation: constants, types and names.

The functions are in `sql/functions/table.py`.

Enters: a relation tree. Leaves: text for DuckDB 2 with the functions of
`engine/embedded/functions/registration.py` and the session zone UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sql.emit.blocks.block import NEGATIVE_COUNTS
from sql.emit.blocks.select import SelectPrinter, alias_letter
from sql.emit.duckdb_optimizer import chosen_value, conjunct, few_conditions
from sql.emit.expressions import ExpressionPrinter, SubqueryRule
from sql.emit.names import StoredTable
from sql.emit.open_values import mark_of
from sql.emit.rules.added_floats import duckdb_added_text, duckdb_one_of_each
from sql.emit.rules.casts import DUCKDB_CASTS
from sql.emit.table_functions import duckdb_table_function
from sql.emit.wide_texts import Constants, is_of_several, is_wide, makes_many, measured, measured_rows, quoted_names
from sql.errors import not_supported
from sql.functions.comparisons import COMPARISONS, EQUAL
from sql.functions.constants import civil_date, civil_text, decimal_text, unscaled_value
from sql.functions.long_constants import LONG_ITEMS, constant_columns, each, long_array
from sql.functions.printing import form_of, raising
from sql.functions.records import field_text
from sql.functions.sums import HALF_OF_WHOLE
from sql.functions.table import DUCKDB_AGGREGATES, DUCKDB_RULES
from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY
from sql.tree.expressions import Call, Expression, Literal, Parameter, WindowCall, WindowFrame
from sql.tree.relations import Relation, Schema, TableFunction
from sql.types.datatypes import FAMILIES, NUMERIC_DIGITS_MAX, VECTORS, SqlType, scaled_numeric
from sql.types.enums import EnumFamily
from sql.types.records import RecordType
from sql.values.bytes import hexadecimal
from sql.values.literal_output import infinite_text

DAYS_SHIFT_MAX = 2_000_000_000

SEVERAL_ROWS = raising("21000", "more than one row returned by a subquery used as an expression")
# Sums of numbers with at most so many digits fit 38 digits, however many they are; others are
# summed in two halves of the whole part.
SUMMED_DIGITS_MAX = 28
INTERVAL_TYPE = FAMILIES["interval"].duckdb
VARIABLE_NUMERIC = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"


def emit_duckdb(root: Relation, sources: Mapping[str, str | StoredTable]) -> str:
    """Return the text that yields the rows of `root`.

    sources: the name of each scan -> the name of a registered table, or a table of the file.
    """
    is_measured = makes_many(root)
    text = SelectPrinter(DuckDbDialect(is_measured), sources, alias_letter(root)).whole(root)
    return measured_rows(text, root.schema, quoted_names(root.schema)) if is_measured else text


@dataclass(frozen=True)
class DuckDbDialect:
    """The form of DuckDB's SELECT.

    Attributes:
        is_measured: the texts from which longer texts are made are measured before
            (`sql/emit/wide_texts.py`).
    """

    is_measured: bool = False
    is_limited = False
    keeps_keys = True

    def printer(
        self, columns: Sequence[str], outer: Sequence[str] = (), nested: SubqueryRule | None = None
    ) -> ExpressionPrinter:
        printer = DuckDbExpressions(columns, outer, nested)
        printer.constants = Constants() if self.is_measured else None
        return printer

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def constant_columns(self, rows: Sequence[Sequence[Expression]], schema: Schema) -> tuple[str, ...] | None:
        return constant_columns(DuckDbExpressions(()), rows, schema)

    def first_value(self, text: str, rank: str | None) -> str:
        return f"any_value({text})" if rank is None else f"arg_min({text}, {rank})"

    def checked_scalar(self, query: str, column: str) -> str:
        # DuckDB checks its own scalar subqueries for all rows, also where a CASE leaves them out,
        # but not inside a lambda.
        check = f"lambda s: CASE WHEN len(s) > 1 THEN {SEVERAL_ROWS} ELSE s[1] END"
        return f"list_transform([(SELECT list(q.{column}) FROM ({query}) AS q)], {check})[1]"

    def array_query(self, query: str) -> str:
        return f"ARRAY({query})"

    def any_query(self, operand: str, comparison: str, query: str) -> str:
        return (
            f"({operand} {COMPARISONS[comparison]} ANY ({query}))"
            if comparison != EQUAL
            else f"({operand} IN ({query}))"
        )

    def computed_count(self, text: str, word: str) -> str:
        return checked_count(text, word)

    def recursive_word(self) -> str:
        return "WITH RECURSIVE"

    def table_function(
        self, printer: ExpressionPrinter, node: TableFunction, alias: str
    ) -> tuple[str, tuple[str, ...]]:
        return duckdb_table_function(printer, node, alias)


class DuckDbExpressions(ExpressionPrinter):
    """The printer of expressions for DuckDB."""

    rules = DUCKDB_RULES
    casts = DUCKDB_CASTS
    aggregates = DUCKDB_AGGREGATES
    # Set where long texts are measured before longer ones are made of them.
    constants: Constants | None = None

    def measured(self, node: Call, texts: list[str]) -> list[str]:
        constants = self.constants
        if constants is None:
            return texts
        constants.note(node)
        if not is_wide(node.type) or constants.has(node) or node.function == "field":
            return texts
        may_join = self.in_condition and not is_of_several(node, self.columns)
        pairs = zip(texts, node.arguments, strict=True)
        return [measured(text, argument, constants, may_join) for text, argument in pairs]

    def type_name(self, kind: SqlType) -> str:
        if kind.record is not None:
            fields = [f"f{number} {self.type_name(field)}" for number, field in enumerate(kind.record.types, 1)]
            return f"STRUCT({', '.join(fields) or 'f1 BOOLEAN'}){'[]' if kind.is_array else ''}"
        if kind.family != "numeric":
            return kind.row.duckdb
        return VARIABLE_NUMERIC if kind.display_scale is None else f"DECIMAL(38,{kind.display_scale})"

    def chosen(self, text: str, kind: SqlType) -> str:
        return chosen_value(text, kind)

    def conjunct(self, text: str, node: Expression) -> str:
        return conjunct(text, node, self.columns)

    def few_conditions(self, texts: Sequence[str], word: str) -> Sequence[str]:
        return few_conditions(texts, word)

    def quoted(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def pack(self, text: str, scale: int) -> str:
        return f"numeric_pack_{scale}({text})"

    def unpack(self, text: str, scale: int) -> str:
        return f"numeric_to_{scale}({text})"

    def finite(self, text: str, kind: SqlType) -> str:
        return f"isfinite({text})"

    def shifted(self, text: str, unit: str, amount: int) -> str:
        if unit == "days":
            # A move that is out of range anyway has to overflow as a timestamp, not as a number of
            # days.
            amount = max(-DAYS_SHIFT_MAX, min(amount, DAYS_SHIFT_MAX))
        return f"({text} + to_{unit}({amount}))"

    def date_epoch(self, text: str) -> str:
        return f"(CAST({text} - DATE '1970-01-01' AS BIGINT) * 86400)"

    def in_range(self, text: str, kind: SqlType) -> str:
        return f"{kind.family}_checked({text})"

    def truncated(self, unit: str, text: str, kind: SqlType) -> str:
        return f"date_trunc({self.quoted(unit)}, {text})"

    def field(self, name: str, text: str, kind: SqlType) -> str:
        # Of a constant NULL it would be a DOUBLE.
        return f"CAST(date_part({self.quoted(name)}, {text}) AS BIGINT)"

    def interval(self, months: str, days: str, micros: str, is_null: str) -> str:
        parts = f"'months': {months}, 'days': {days}, 'micros': {micros}"
        return f"CASE WHEN {is_null} THEN NULL ELSE CAST({{{parts}}} AS {INTERVAL_TYPE}) END"

    def interval_total(self, sums: Sequence[str]) -> str:
        return f"interval_total({whole_sums(sums)})"

    def civil(self, text: str, source: str, target: str) -> str:
        # DuckDB takes its own cast for one that cannot fail: it leaves it out, or casts what a date
        # is compared with.
        return f"date_midnight({text})" if source == "date" else super().civil(text, source, target)

    def exact_average(self, wrap: Callable[[str], str], text: str, kind: SqlType, count: str) -> str | None:
        scale, wide = kind.display_scale, self.type_name(scaled_numeric(0))
        whole = f"numeric_part({text}).whole" if scale is None else f"trunc({text})"
        upper, lower = (
            f"CAST({wrap(f'sum(CAST({whole} AS HUGEINT) {sign} {HALF_OF_WHOLE})')} AS {wide})" for sign in ("//", "%")
        )
        if scale is None:
            high, low = (f"CAST({wrap(f'sum(numeric_part({text}).{part})')} AS {wide})" for part in ("high", "low"))
            marks = wrap(f"bit_or(numeric_marks({text}))")
            return f"numeric_variable_average({upper}, {lower}, {high}, {low}, {marks}, {count})"
        if (kind.precision or NUMERIC_DIGITS_MAX) <= SUMMED_DIGITS_MAX or scale > SUMMED_DIGITS_MAX:
            return None
        behind = f"CAST({wrap(f'sum({text} - {whole})')} AS {self.type_name(kind)})"
        return f"numeric_average({upper}, {lower}, {self.pack(behind, scale)}, {count})"

    def added_text(self, aggregate: Any) -> str:
        return duckdb_added_text(aggregate)

    def one_of_each(self, aggregate: Any) -> str:
        return duckdb_one_of_each(aggregate)

    def interval_average(self, sums: Sequence[str], count: str) -> str:
        return f"interval_average({whole_sums(sums)}, {count})"

    def blank_trimmed(self, text: str) -> str:
        return f"rtrim({text}, ' ')"

    def looked_up(self, text: str, pairs: Sequence[tuple[int, str]]) -> str:
        numbers = ", ".join(str(number) for number, _ in pairs)
        texts = ", ".join(self.quoted(value) for _, value in pairs)
        return f"CAST([{texts}] AS VARCHAR[])[list_position(CAST([{numbers}] AS BIGINT[]), {text})]"

    def mapped(self, text: str, change: Callable[[str], str]) -> str:
        return f"list_transform({text}, lambda item: {change('item')})"

    def with_fields(self, text: str, record: RecordType, change: Callable[[str, SqlType], str]) -> str:
        fields = [change(field_text(text, place), kind) for place, kind in enumerate(record.types)]
        return f"CASE WHEN {text} IS NOT NULL THEN row({', '.join(fields)}) END"

    def picked(self, text: str, kind: SqlType, pick: Callable[[str], str]) -> str:
        # DuckDB hands lists and structs through sort keys, in which -0 is 0.
        if kind.is_array and kind.element.family in ("float4", "float8"):
            return f"CAST({pick(f'CAST({text} AS VARCHAR)')} AS {self.type_name(kind)})"
        if kind.record is None or kind.is_array:
            return pick(text)
        fields = [self.picked(field_text(text, place), one, pick) for place, one in enumerate(kind.record.types)]
        return (
            f"CASE WHEN bool_or({text} IS NOT NULL) THEN CAST(row({', '.join(fields)}) AS {self.type_name(kind)}) END"
        )

    def check_frame(self, frame: WindowFrame, call: WindowCall) -> None:
        offsets = [bound[1] for bound in (frame.start, frame.end) if isinstance(bound[1], Literal)]
        kind = call.order_by[0].expression.type if call.order_by else None
        if offsets and kind is not None and (kind.has_own_order or kind.family in ("time", "timestamptz")):
            raise not_supported(f"RANGE with an offset over {kind.sql_name}", call.position)

    def parameter(self, node: Parameter) -> str:
        return mark_of(node)

    def computed_offset(self, offset: Expression) -> str:
        return self.text(offset)

    def frame_offset(self, value: Literal) -> str:
        match value.value:
            case (int(months), int(days), int(micros)):
                return f"(to_months({months}) + to_days({days}) + to_microseconds({micros}))"
        return f"CAST({self.literal(value)} AS DECIMAL(38,0))" if isinstance(value.value, int) else self.literal(value)

    def literal(self, value: Literal) -> str:
        kind, constant = value.type, value.value
        if constant is None:
            return f"CAST(NULL AS {self.type_name(kind)})"
        match kind.family:
            case "bool":
                return "TRUE" if constant else "FALSE"
            case "int4" if isinstance(constant, int) and abs(constant) < 2**31:
                return str(constant) if constant >= 0 else f"({constant})"
            case "int2" | "int4" | "int8" | "time" if isinstance(constant, int):
                return f"CAST({constant} AS {self.type_name(kind)})"
            case EnumFamily() if isinstance(constant, int):
                return f"CAST({constant} AS {self.type_name(kind)})"
            case "float4" | "float8":
                return f"CAST('{constant!r}' AS {self.type_name(kind)})"
            case "numeric":
                unscaled, scale = unscaled_value(constant, kind)
                if kind.display_scale is None:
                    return f"{{'unscaled': CAST('{unscaled}' AS DECIMAL(38,0)), 'scale': CAST({scale} AS SMALLINT)}}"
                return f"CAST('{decimal_text(unscaled, scale)}' AS DECIMAL(38,{scale}))"
            case "date" | "timestamp" | "timestamptz":
                assert isinstance(constant, int)
                return time_literal(constant, kind.family)
        if form_of(kind) == "oid" and isinstance(constant, int):
            return f"CAST({constant!s} AS {self.type_name(kind)})"
        if kind.family in VECTORS and isinstance(constant, tuple):
            return f"CAST([{', '.join(map(str, constant))}] AS {self.type_name(kind)})"
        match constant:
            case bytes():
                return f"from_hex('{hexadecimal(constant)}')"
            case tuple() if kind.is_array:
                element = kind.element
                items = long_array(self, constant, element) if len(constant) >= LONG_ITEMS else None
                if items is None:
                    items = f"[{', '.join(self.literal(Literal(item, element)) for item in each(constant))}]"
                return f"CAST({items} AS {self.type_name(kind)})"
            case (int(micros), int(west)):
                return f"CAST({{'micros': {micros}, 'west': {west}}} AS {self.type_name(kind)})"
            case (int(months), int(days), int(micros)):
                parts = f"'months': {months}, 'days': {days}, 'micros': {micros}"
                return f"CAST({{{parts}}} AS {INTERVAL_TYPE})"
        return self.quoted(str(constant))


def whole_sums(sums: Sequence[str]) -> str:
    """Return the sums of the parts of intervals: those of months and days are far from 64 bits."""
    return ", ".join((*(f"CAST({text} AS BIGINT)" for text in sums[:2]), sums[2]))


def time_literal(value: int, family: str) -> str:
    """Return a date (days) or a time stamp (microseconds)."""
    if abs(value) == (DATE_INFINITY if family == "date" else TIMESTAMP_INFINITY):
        return f"CAST('{infinite_text(value)}' AS {family})"
    if family == "date":
        day = civil_date(value)
        return f"DATE '{day}'" if day is not None else f"(DATE '1970-01-01' + ({value}))"
    text = civil_text(value)
    if family == "timestamp":
        return f"TIMESTAMP '{text}'" if text is not None else f"make_timestamp(CAST({value} AS BIGINT))"
    return f"TIMESTAMPTZ '{text}+00'" if text is not None else f"make_timestamptz(CAST({value} AS BIGINT))"


def checked_count(text: str, word: str) -> str:
    """Return the number of LIMIT or OFFSET, which fails where it is negative."""
    problem = raising(NEGATIVE_COUNTS[word], f"{word} must not be negative")
    return f"(SELECT CASE WHEN n < 0 THEN {problem} ELSE n END FROM (SELECT {text} AS n))"
