"""Casts between all types. A cast that a kernel can't do is 0A000 and names both types."""

from __future__ import annotations

from collections.abc import Callable

from sql.functions.signatures import TIMES
from sql.tree.expressions import Call, Case, Cast, Literal
from sql.types.datatypes import TEXT, SqlType
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.functions.times import zone_arrays
from views.codegen.literals import literal_value
from views.codegen.values import FLOATS, INTEGERS, TEXTS, Value, numeric_function
from views.model.refusals import not_in_kernels

WIDTHS = {"int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64"}
SIZES = {"int2": 2, "int4": 4, "int8": 8}

CastWriter = Callable[[ExpressionWriter, Cast, Value], Value]


def write_cast(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """CAST(operand AS type)."""
    assert isinstance(node, Cast)
    if node.type.family in ("timestamp", "timestamptz") and node.type.precision not in (None, 6):
        raise not_in_kernels(f"a cast to {node.type.sql_name}", node.position)
    value = writer.evaluate(node.operand)
    source, target = group_of(node.operand.type), group_of(node.type)
    write = CASTS.get((source, target))
    if write is None:
        raise not_in_kernels(f"a cast from {node.operand.type.sql_name} to {node.type.sql_name}", node.position)
    return write(writer, node, value)


def group_of(kind: SqlType) -> str:
    """Return the family, or the group of families that are cast alike."""
    if kind.family in INTEGERS:
        return "integer"
    if kind.family in FLOATS:
        return "float"
    if kind.is_enum:
        return "enum"
    return "text" if kind.family in TEXTS else kind.family


def keep(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """The same words mean the same value."""
    return value


def integer_to_integer(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """A wider integer needs nothing, a narrower one a check."""
    if SIZES[node.type.family] >= SIZES[node.operand.type.family]:
        return value
    call = f"{writer.writer.use('scalar.numbers.narrow', 'limit_' + WIDTHS[node.type.family])}({value.word})"
    return writer.strict(node, call, (value,), node.type.family, fallible=True)


def integer_to_float(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """To the nearest float."""
    call = f"float({value.word})" if node.type.family == "float8" else f"real({value.word})"
    return writer.strict(node, call, (value,), node.type.family, fallible=False)


def float_to_integer(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Rounded half to even."""
    call = (
        f"{writer.writer.use('scalar.numbers.casts', 'float_to_' + WIDTHS[node.type.family])}(np.float64({value.word}))"
    )
    return writer.strict(node, call, (value,), node.type.family, fallible=True)


def float_to_float(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Widened, or rounded with a check."""
    if node.type.family == node.operand.type.family:
        return value
    if node.type.family == "float8":
        return writer.strict(node, f"np.float64({value.word})", (value,), "float8", fallible=False)
    call = f"{writer.writer.use('scalar.numbers.casts', 'float64_to_float32')}({value.word})"
    return writer.strict(node, call, (value,), "float4", fallible=True)


def integer_to_numeric(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """At scale 0, or as numeric(p,s)."""
    exact = Value((value.word, f"({value.word} >> 63)", "0"), value.null)
    return limited(writer, node, exact)


def numeric_to_numeric(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Unchanged, or as numeric(p,s)."""
    return limited(writer, node, value)


def limited(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Write the rounding to the scale of numeric(p,s) and the check of its digits, if the type has
    them.
    """
    if node.type.precision is None:
        return value
    words = ", ".join(value.words)
    function = writer.writer.use(*numeric_function("limit", value))
    call = f"{function}({words}, {node.type.precision}, {node.type.scale or 0})"
    return writer.strict(node, call, (value,), "numeric", fallible=True, scale_returned=False)


def numeric_to_integer(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Rounded half away from zero."""
    module = "scalar.numbers.numeric" if node.type.family == "int8" else "scalar.numbers.casts"
    call = f"{writer.writer.use(*numeric_function('to_' + WIDTHS[node.type.family], value, module=module))}({', '.join(value.words)})"
    return writer.strict(node, call, (value,), node.type.family, fallible=True)


def numeric_to_float(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """To the nearest float."""
    function = writer.writer.use(
        *numeric_function("to_" + WIDTHS[node.type.family], value, module="scalar.numbers.numeric_floats")
    )
    call = f"{function}({', '.join(value.words)})"
    return writer.strict(node, call, (value,), node.type.family, fallible=node.type.family == "float4")


def float_to_numeric(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """At 15 or 6 significant digits."""
    function = writer.writer.use("scalar.numbers.any_numeric", "any_from_" + WIDTHS[node.operand.type.family])
    plain = Cast(node.operand, SqlType("numeric"), node.explicit, node.zone, node.position)
    target_scale = -1 if node.type.precision is None else node.type.scale or 0
    call = f"{function}({value.word}, {target_scale})"
    return limited(writer, node, writer.strict(plain, call, (value,), "numeric", fallible=True))


def bool_to_integer(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """1 or 0."""
    return writer.strict(node, f"1 if {value.word} else 0", (value,), "int4", fallible=False)


def integer_to_bool(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """False for 0."""
    return Value((f"({value.word} != 0)",), value.null)


def time_to_time(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Between date, timestamp and timestamptz; the zone decides where one of them is zoned."""
    source, target = node.operand.type.family, node.type.family
    if source == target:
        return value
    out = writer.writer
    stem = "day" if target == "date" else "moment"
    if "timestamptz" not in (source, target):
        function = out.use("scalar.calendars.calendar", f"{source}_to_{target}")
        return writer.strict(node, f"{function}({value.word})", (value,), stem, fallible=source == "date")
    arrays = zone_arrays(out, node.zone)
    if (source, target) == ("timestamp", "timestamptz"):
        call = f"{out.use('scalar.calendars.time_zones', 'local_to_utc')}({value.word}, {arrays})"
    else:
        call = f"{out.use('scalar.calendars.zoned_calendar', f'{source}_to_{target}')}({value.word}, {arrays})"
    return writer.strict(node, call, (value,), stem, fallible=True)


def text_to_text(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """To varchar(n): an explicit cast cuts, an assignment fails unless only spaces are lost."""
    if node.type.length is None:
        return value
    function = writer.writer.use("scalar.texts.text_functions", "text_left" if node.explicit else "text_limit")
    call = f"{function}({', '.join(value.words)}, {node.type.length})"
    return writer.strict(node, call, (value,), "varchar", fallible=True)


def bpchar_to_text(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Without the blanks at its end."""
    call = f"{writer.writer.use('scalar.texts.compared_bytes', 'blank_trimmed')}({', '.join(value.words)})"
    plain = Cast(node.operand, TEXT, node.explicit, node.zone, node.position)
    return text_to_text(writer, node, writer.strict(plain, call, (value,), "trimmed", fallible=False))


def enum_to_text(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """The label whose number it is."""
    enum = node.operand.type.enum
    assert enum is not None, node
    result = writer.declare("label", TEXT)
    for label in enum.labels:
        with writer.writer.block(f"if {Value((f'{value.word} == {label.number}',), value.null).truth}:"):
            writer.store(result, literal_value(Literal(label.text, TEXT), writer.long_texts))
    return text_to_text(writer, node, result)


def integer_to_oid(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """The same 32 bits, without a sign. A bigint may be no oid."""
    if node.operand.type.family == "int8":
        raise not_in_kernels("a cast from bigint to oid", node.position)
    return Value((f"({value.word} & 0xFFFFFFFF)",), value.null)


def oid_to_integer(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """Every oid is a bigint; as an integer it is its 32 bits."""
    if node.type.family != "int8":
        raise not_in_kernels(f"a cast from oid to {node.type.sql_name}", node.position)
    return value


def to_text(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """PostgreSQL's output of a value."""
    out = writer.writer
    family = node.operand.type.family
    words = [*value.words]
    if family in INTEGERS:
        function = "int64_to_text"
    elif family in FLOATS:
        function = WIDTHS[family] + "_to_text"
    else:
        function = family + "_to_text"
    if family == "bool":
        words = [f"1 if {value.word} else 0"]
    else:
        words.append(out.scratch())
    if family == "timestamptz":
        words.append(zone_arrays(out, node.zone))
    plain = Cast(node.operand, SqlType("text"), node.explicit, node.zone, node.position)
    call = f"{out.use('scalar.texts.text_output', function)}({', '.join(words)})"
    return text_to_text(writer, node, writer.strict(plain, call, (value,), "text", fallible=True))


def from_text(writer: ExpressionWriter, node: Cast, value: Value) -> Value:
    """PostgreSQL's input of a value."""
    out = writer.writer
    family = node.type.family
    words = ", ".join(value.words)
    if family in ("timestamp", "timestamptz"):
        words += ", " + zone_arrays(out, node.zone or "UTC")
    if family == "bool":
        parsed = Cast(node.operand, SqlType("int4"), node.explicit, node.zone, node.position)
        call = f"{out.use('scalar.texts.text_input', 'text_to_bool')}({words})"
        result = writer.strict(parsed, call, (value,), "bool", fallible=True)
        return Value((f"({result.word} != 0)",), result.null)
    function = "text_to_" + WIDTHS.get(family, family)
    call = f"{out.use('scalar.texts.text_input', function)}({words})"
    if family != "numeric":
        return writer.strict(node, call, (value,), family, fallible=True)
    plain = Cast(node.operand, SqlType("numeric"), node.explicit, node.zone, node.position)
    return limited(writer, node, writer.strict(plain, call, (value,), "numeric", fallible=True))


CASTS: dict[tuple[str, str], CastWriter] = {
    ("bool", "bool"): keep,
    ("integer", "integer"): integer_to_integer,
    ("integer", "float"): integer_to_float,
    ("integer", "numeric"): integer_to_numeric,
    ("integer", "bool"): integer_to_bool,
    ("bool", "integer"): bool_to_integer,
    ("float", "integer"): float_to_integer,
    ("float", "float"): float_to_float,
    ("float", "numeric"): float_to_numeric,
    ("numeric", "integer"): numeric_to_integer,
    ("numeric", "float"): numeric_to_float,
    ("numeric", "numeric"): numeric_to_numeric,
    ("text", "text"): text_to_text,
    ("enum", "text"): enum_to_text,
    ("bpchar", "text"): bpchar_to_text,
    ("integer", "oid"): integer_to_oid,
    ("oid", "integer"): oid_to_integer,
    # Kept as the text that is their output.
    **{(source, "text"): text_to_text for source in ("uuid", "name", "json", "jsonb")},
    **{(same, same): keep for same in ("uuid", "name", "json", "jsonb", "bytea", "oid")},
    **{(source, target): time_to_time for source in TIMES for target in TIMES},
    **{(source, "text"): to_text for source in ("bool", "integer", "float", "numeric", *TIMES)},
    **{("text", target): from_text for target in ("bool", "integer", "float", "numeric", *TIMES)},
}

FUNCTIONS: dict[str, FunctionWriter] = {"cast": write_cast}
