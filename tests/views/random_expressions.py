"""Random typed expressions and random rows for them, from a seed: NULLs, extremes and errors
included.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sql.functions.table import result_scale
from sql.times.civil import DAY_US
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.tree.numeric_scale import common_scale
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    SqlType,
    numeric,
    scaled_numeric,
)
from tests.views.reference import EXACT
from views.model.arrow_schema import arrow_schema

SCHEMA: Schema = (
    OutputColumn("b", BOOL),
    OutputColumn("i2", INT2),
    OutputColumn("i4", INT4),
    OutputColumn("i8", INT8),
    OutputColumn("f4", FLOAT4),
    OutputColumn("f8", FLOAT8),
    OutputColumn("n2", numeric(12, 2)),
    OutputColumn("n38", numeric(38, 6)),
    OutputColumn("v", scaled_numeric(None)),
    OutputColumn("t", TEXT),
    OutputColumn("c5", SqlType("varchar", length=5)),
    OutputColumn("d", DATE),
    OutputColumn("ts", TIMESTAMP),
    OutputColumn("i4", INT4),
    OutputColumn("x y", FLOAT8),
)
TEXTS = [
    "",
    "a",
    "abc",
    "  pad ",
    "%_\\",
    "zwölf Boxkämpfer",
    "a longer text than twelve bytes",
    "aa" * 40,
    "B",
    "日本語",
]
INTEGERS = {"int2": 2**15, "int4": 2**31, "int8": 2**63}
NUMBERS = ("int2", "int4", "int8", "float4", "float8", "numeric")


def random_value(choose: random.Random, kind: SqlType, wild: float = 0.1) -> Any:
    """Return a value of a type, NULL now and then; `wild` is the share of extremes."""
    if choose.random() < 0.15:
        return None
    extreme = choose.random() < wild
    family = kind.family
    if family == "bool":
        return choose.random() < 0.5
    if family in INTEGERS:
        limit = INTEGERS[family]
        return choose.choice([-limit, limit - 1, limit // 2]) if extreme else choose.randint(-9, 9)
    if family == "float8":
        return (
            choose.choice([float("nan"), float("inf"), -0.0, 1e308, 5e-324]) if extreme else choose.randint(-64, 64) / 8
        )
    if family == "float4":
        wildest = [float("nan"), float("-inf"), -0.0, 3e38, 1e-45]
        return np.float32(choose.choice(wildest) if extreme else choose.randint(-64, 64) / 8)
    if family == "numeric":
        scale = choose.randint(0, 8) if kind.display_scale is None else kind.display_scale
        most = 10 ** (kind.precision or 20) - 1
        unscaled = choose.choice([-most, most]) if extreme else choose.randint(-999, 999) * 10 ** max(scale - 2, 0)
        return Decimal(unscaled).scaleb(-scale, EXACT)
    if family in ("text", "varchar"):
        text = choose.choice(TEXTS)
        return text if kind.length is None else text[: kind.length]
    if family == "date":
        return choose.randint(-40_000, 40_000)
    assert family == "timestamp", family
    return choose.randint(-40_000, 40_000) * 86_400_000_000 + choose.randint(0, 86_399_999_999)


def random_rows(choose: random.Random, count: int, schema: Schema = SCHEMA, wild: float = 0.1) -> list[tuple[Any, ...]]:
    """Return rows of a schema."""
    return [tuple(random_value(choose, column.type, wild) for column in schema) for _ in range(count)]


def arrow_rows(rows: list[tuple[Any, ...]], schema: Schema = SCHEMA) -> pa.Table:
    """Return rows in arrow_schema(schema)."""
    columns = []
    for index, (column, field) in enumerate(zip(schema, arrow_schema(schema), strict=True)):
        values = [row[index] for row in rows]
        if column.type.is_variable_numeric:
            values = [None if v is None else {"unscaled": unscaled(v), "scale": places(v)} for v in values]
        columns.append(pa.array(values, type=field.type))
    return pa.Table.from_arrays(columns, schema=arrow_schema(schema))


def python_rows(table: pa.Table, schema: Schema) -> list[tuple[Any, ...]]:
    """Return the rows of a table as values of the model."""
    columns = []
    for column, values in zip(schema, table.columns, strict=True):
        if column.type.is_variable_numeric:
            items = [None if v is None else v["unscaled"].scaleb(-v["scale"], EXACT) for v in values.to_pylist()]
        elif column.type.family in ("date", "timestamp", "timestamptz"):
            items = values.cast(pa.int32() if column.type.family == "date" else pa.int64()).to_pylist()
        elif column.type.family == "float4":
            items = [None if v is None else np.float32(v) for v in values.to_pylist()]
        else:
            items = values.to_pylist()
        columns.append(items)
    return list(zip(*columns, strict=True)) if columns else []


def unscaled(value: Decimal) -> Decimal:
    sign, digits, _ = value.as_tuple()
    return Decimal((sign, digits, 0))


def places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return -exponent


class ExpressionMaker:
    """Makes expressions over a schema."""

    def __init__(self, choose: random.Random, schema: Schema = SCHEMA, tame: bool = False) -> None:
        self.choose = choose
        self.schema = schema
        self.tame = tame  # without division and casts that often fail

    def any(self, depth: int) -> Expression:
        """Return an expression of any type."""
        families = ("bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "date", "timestamp")
        return self.of(self.choose.choice(families), depth)

    def of(self, family: str, depth: int) -> Expression:
        """Return an expression of a family; varchar counts as text."""
        if depth == 0 or self.choose.random() < 0.1:
            return self.leaf(family)
        if self.choose.random() < 0.2:
            return self.conditional(family, depth - 1)
        makers = {"bool": self.boolean, "text": self.text, "date": self.day, "timestamp": self.moment}
        return makers[family](depth - 1) if family in makers else self.number(family, depth - 1)

    def leaf(self, family: str) -> Expression:
        """Return a column or a constant."""
        accepted = (family, "varchar") if family == "text" else (family,)
        columns = [
            Column(index, column.name, column.type)
            for index, column in enumerate(self.schema)
            if column.type.family in accepted
        ]
        if columns and self.choose.random() < 0.75:
            return self.choose.choice(columns)
        kind = scaled_numeric(self.choose.randint(0, 4)) if family == "numeric" else SqlType(family)
        value = random_value(self.choose, kind, wild=0.05)
        return Literal(float(value) if isinstance(value, np.float32) else value, kind)

    def same_type(self, family: str, depth: int, count: int) -> tuple[SqlType, tuple[Expression, ...]]:
        """Return the common type of some expressions of a family, as bind gives it to CASE and its
        like.
        """
        values = tuple(self.of(family, depth) for _ in range(count))
        if family != "numeric":
            return SqlType(family), values
        return scaled_numeric(common_scale([value.type for value in values])), values

    def conditional(self, family: str, depth: int) -> Expression:
        """Return CASE, COALESCE, GREATEST, LEAST or NULLIF."""
        form = self.choose.choice(("case", "coalesce", "greatest", "least", "nullif"))
        kind, values = self.same_type(family, depth, self.choose.randint(2, 3))
        if form == "case":
            branches = tuple((self.boolean(depth), value) for value in values[1:])
            return Case(branches, values[0], kind)
        if form == "nullif":
            return Call("nullif", values[:2], values[0].type)
        return Call(form, values, kind)

    def boolean(self, depth: int) -> Expression:
        """Return a condition."""
        form = self.choose.choice(("compare", "compare", "logic", "not", "test", "null", "in", "like", "distinct"))
        if form == "logic":
            count = self.choose.randint(2, 3)
            operands = tuple(self.of("bool", depth) for _ in range(count))
            return Call(self.choose.choice(("and", "or")), operands, BOOL)
        if form == "not":
            return Call("not", (self.of("bool", depth),), BOOL)
        if form == "test":
            test = self.choose.choice(("is_true", "is_not_true", "is_false", "is_not_false"))
            return Call(test, (self.of("bool", depth),), BOOL)
        if form == "null":
            return Call(self.choose.choice(("is_null", "is_not_null")), (self.any(depth),), BOOL)
        if form == "like":
            pattern = "".join(self.choose.choice("ab%_ \\xö") for _ in range(self.choose.randint(0, 4))).rstrip("\\")
            return Call("like", (self.of("text", depth), Literal(pattern, TEXT), Literal("\\", TEXT)), BOOL)
        family = self.choose.choice((*NUMBERS, "text", "date", "timestamp", "bool"))
        if form == "in":
            items = tuple(self.leaf(family) for _ in range(self.choose.randint(1, 4)))
            return Call("in_list", (self.of(family, depth), *items), BOOL)
        names = ("is_distinct", "is_not_distinct") if form == "distinct" else ("eq", "ne", "lt", "le", "gt", "ge")
        return Call(self.choose.choice(names), (self.of(family, depth), self.of(family, depth)), BOOL)

    def number(self, family: str, depth: int) -> Expression:
        """Return arithmetic or a cast."""
        form = self.choose.choice(("binary", "binary", "unary", "cast", "function"))
        if form == "cast":
            return self.cast_to_number(family, depth)
        if form == "function":
            return self.number_function(family, depth)
        if form == "unary":
            operand = self.of(family, depth)
            return Call(self.choose.choice(("negate", "abs")), (operand,), operand.type.without_modifier())
        names = ["add", "subtract", "multiply"]
        if not self.tame:
            names += ["divide"] if family in ("float4", "float8") else ["divide", "modulo"]
        name = self.choose.choice(names)
        operands = (self.of(family, depth), self.of(family, depth))
        return self.numeric_call(name, operands) if family == "numeric" else Call(name, operands, SqlType(family))

    def numeric_call(self, name: str, operands: tuple[Expression, ...]) -> Expression:
        """Return a call that yields a numeric, at the scale that bind would give it."""
        scales = [operand.type.display_scale for operand in operands if operand.type.family == "numeric"]
        if name == "multiply" and None not in scales and sum(scale or 0 for scale in scales) > 38:
            name = "add"
        return Call(name, operands, scaled_numeric(result_scale(name, operands)))

    def number_function(self, family: str, depth: int) -> Expression:
        """Return a function that yields a number."""
        if family in ("int2", "int4", "int8") and self.choose.random() < 0.4:
            return self.bits(SqlType(family), depth)
        if family == "int4":
            name = self.choose.choice(("length", "octet_length", "strpos", "date_difference"))
            if name == "date_difference":
                return Call(name, (self.of("date", depth), self.of("date", depth)), INT4)
            texts = (self.of("text", depth), Literal("b", TEXT)) if name == "strpos" else (self.of("text", depth),)
            return Call(name, texts, INT4)
        if family == "float8":
            name = self.choose.choice(("round", "trunc", "ceil", "floor", "sign"))
            return Call(name, (self.of("float8", depth),), FLOAT8)
        if family != "numeric":
            return self.leaf(family)
        name = self.choose.choice(("round", "trunc", "round", "ceil", "floor", "sign", "extract"))
        if name == "extract":
            field = self.choose.choice(("year", "month", "day", "hour", "minute", "second", "epoch", "dow"))
            kind = scaled_numeric({"second": 6, "epoch": 6}.get(field, 0))
            return Call("extract", (Literal(field, TEXT), self.of("timestamp", depth)), kind)
        operand = self.of("numeric", depth)
        if name in ("round", "trunc") and self.choose.random() < 0.7:
            return self.numeric_call(name, (operand, Literal(self.choose.randint(-2, 5), INT4)))
        return self.numeric_call(name, (operand,))

    def bits(self, kind: SqlType, depth: int) -> Expression:
        """Return an operator of bits."""
        name = self.choose.choice(("bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right"))
        operand = self.of(kind.family, depth)
        if name == "bit_not":
            return Call(name, (operand,), kind)
        if name.startswith("shift"):
            return Call(name, (operand, Literal(self.choose.randint(-3, 70), INT4)), kind)
        return Call(name, (operand, self.of(kind.family, depth)), kind)

    def cast_to_number(self, family: str, depth: int) -> Expression:
        """Return a cast from another number."""
        sources = ("int2", "int4", "int8") if self.tame else NUMBERS
        operand = self.of(self.choose.choice(sources), depth)
        if family != "numeric":
            return Cast(operand, SqlType(family), explicit=True)
        if self.choose.random() < 0.5:
            return Cast(operand, numeric(20, self.choose.randint(0, 6)), explicit=True)
        scale = {"int2": 0, "int4": 0, "int8": 0}.get(operand.type.family, operand.type.display_scale)
        return Cast(operand, scaled_numeric(scale), explicit=True)

    def text(self, depth: int) -> Expression:
        """Return a string function or a cast to text."""
        name = self.choose.choice(
            (
                "concat_op",
                "lower",
                "upper",
                "substring",
                "trim_both",
                "replace",
                "left",
                "right",
                "concat",
                "split_part",
                "cast",
                "varchar",
            )
        )
        operand = self.of("text", depth)
        if name == "cast":
            return Cast(self.of(self.choose.choice(("int4", "numeric", "bool", "date")), depth), TEXT)
        if name == "varchar":
            return Cast(
                operand, SqlType("varchar", length=self.choose.randint(1, 8)), explicit=self.choose.random() < 0.8
            )
        if name in ("concat_op", "concat"):
            return Call(name, (operand, self.of("text", depth)), TEXT)
        if name == "substring":
            count = self.choose.randint(0, 20)
            return Call(name, (operand, Literal(self.choose.randint(-2, 6), INT4), Literal(count, INT4)), TEXT)
        if name in ("left", "right"):
            return Call(name, (operand, Literal(self.choose.randint(-3, 14), INT4)), TEXT)
        if name == "split_part":
            separator, field = self.choose.choice(("a", "b", "ab", " ", "")), self.choose.choice((-3, -2, -1, 1, 2, 3))
            return Call(name, (operand, Literal(separator, TEXT), Literal(field, INT4)), TEXT)
        if name == "trim_both":
            return Call(name, (operand, Literal(self.choose.choice((" ", "a", "ab ")), TEXT)), TEXT)
        if name == "replace":
            return Call(name, (operand, Literal("a", TEXT), Literal(self.choose.choice(("", "xyz")), TEXT)), TEXT)
        return Call(name, (operand,), TEXT)

    def day(self, depth: int) -> Expression:
        """Return date arithmetic or a cast to date."""
        if self.choose.random() < 0.5:
            return Cast(self.of("timestamp", depth), DATE)
        days = Literal(self.choose.randint(-1000, 1000), INT4)
        return Call(self.choose.choice(("date_add_days", "date_subtract_days")), (self.of("date", depth), days), DATE)

    def moment(self, depth: int) -> Expression:
        """Return date_trunc, date_bin or a cast to timestamp."""
        if self.choose.random() < 0.4:
            return Cast(self.of("date", depth), TIMESTAMP)
        if self.choose.random() < 0.4:
            stride = Literal((0, self.choose.randint(0, 3), self.choose.randint(1, DAY_US)), INTERVAL)
            origin = Literal(self.choose.randint(-DAY_US, 30_000 * DAY_US), TIMESTAMP)
            return Call("date_bin", (stride, self.of("timestamp", depth), origin), TIMESTAMP)
        unit = self.choose.choice(("second", "minute", "hour", "day", "week", "month", "year"))
        return Call("date_trunc", (Literal(unit, TEXT), self.of("timestamp", depth)), TIMESTAMP)
