"""Casts of char(n), time, interval, uuid, bytea, json, jsonb and arrays, and to the digits of
time(p) and timestamp(p).

Conversions that PostgreSQL makes through text are made through text here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sql.errors import not_supported
from sql.functions.casts import limited, with_digits
from sql.functions.printing import CastRule, Printer, form_of, target_form
from sql.times.zoned_time import fixed_west_s
from sql.tree.expressions import Cast, Column
from sql.types.datatypes import NUMERIC, OIDS_OF_NAMES, TEXT, VECTORS, SqlType, scaled_numeric

SCALARS = (
    "bool int2 int4 int8 numeric variable float4 float8 date timestamp timestamptz time timetz interval uuid bytea json jsonb inet "
    "cidr"
)
CAST_FIRST = "Cast it to text."
NUMBERS = "int2 int4 int8 float4 float8 numeric"


def converted(printer: Printer, text: str, source: SqlType, target: SqlType, node: Cast) -> str:
    """Return a printed value of `source` as `target`, by the rule of such a cast."""
    rule = printer.casts.get((form_of(source), target_form(target)))
    if rule is None:
        raise not_supported(f"cast from {source.sql_name} to {target.sql_name}", node.position)
    inner = replace(node, operand=Column(0, "", source), type=target)
    return rule.format(text) if isinstance(rule, str) else rule(printer, inner, text)


def to_padded(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast to char(n): through text, then cut (22001 by an assignment) and filled with
    blanks.
    """
    source, length = node.operand.type, node.type.length
    if form_of(source) not in ("text", "bpchar"):
        text = converted(printer, text, source, TEXT, node)
    if length is None or (source.family == "bpchar" and source.length == length):
        return text
    return f"text_rpad({text if node.explicit else f'bpchar_limit({text}, {length})'}, {length}, ' ')"


def from_padded(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast from char(n) to a type that is read from text, blanks included."""
    return converted(printer, text, TEXT, node.type, node)


def to_short(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast to name or "char": through text, then cut."""
    source, family = node.operand.type, node.type.family
    if source.family == family:
        return text
    if source.family == "bpchar" and family == "name":
        text = printer.blank_trimmed(text)
    return f"{family}_from_text({output_text(printer, text, source, node)})"


def unpadded(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast from char(n) to text: the blanks at its end mean nothing."""
    return limited(printer.blank_trimmed(text), node)


def _time_of_timestamp(printer: Printer, node: Cast, text: str) -> str:
    if node.operand.type.family == "timestamptz":
        local = replace(node, type=SqlType("timestamp"))
        rule = printer.casts["timestamptz", "timestamp"]
        text = rule.format(text) if isinstance(rule, str) else rule(printer, local, text)
    return f"CASE WHEN isfinite({text}) THEN time_of_day({text}) END"


def _zone(printer: Printer, node: Cast) -> str:
    return printer.quoted(node.zone or "UTC")


def _zoned_time(printer: Printer, node: Cast, text: str) -> str:
    """Return a time with time zone with the digits of the target."""
    source, digits = node.operand.type, node.type.precision
    known = source.precision if source.family == "timetz" and source.precision is not None else 6
    return text if digits is None or known <= digits else f"timetz_rounded({text}, {digits})"


def _time_in_zone(printer: Printer, node: Cast, text: str) -> str:
    west_s = fixed_west_s(node.zone or "UTC", node.position)
    return f"CASE WHEN {text} IS NOT NULL THEN {{'micros': {text}, 'west': CAST({west_s} AS INTEGER)}} END"


def _within(printer: Printer, node: Cast, text: str) -> str:
    """Return an interval cut to the fields and digits of the target."""
    kind = node.type
    if not kind.fields and kind.precision is None:
        return text
    return f"interval_within({text}, {printer.quoted(kind.fields)}, {6 if kind.precision is None else kind.precision})"


def _interval_from_text(printer: Printer, node: Cast, text: str) -> str:
    # The fields of the target give a meaning to a number without a unit only where PostgreSQL reads
    # a constant.
    return _within(printer, node, f"interval_from_text({text}, '')")


def _jsonb_number(printer: Printer, node: Cast, text: str) -> str:
    """Return a jsonb number as numeric first, then as the number type."""
    name = printer.quoted(node.type.without_modifier().sql_name)
    return converted(printer, f"jsonb_number({text}, {name})", NUMERIC, node.type, replace(node, explicit=True))


def output_text(printer: Printer, text: str, kind: SqlType, node: Cast) -> str:
    """Return the text that the output function of `kind` prints, which for some types is not the
    text of a cast.
    """
    if kind.family == "bool":
        return printer.chosen(f"CASE WHEN {text} THEN 't' WHEN NOT {text} THEN 'f' END", TEXT)
    return text if form_of(kind) in ("text", "bpchar", "inet") else converted(printer, text, kind, TEXT, node)


def _array_to_text(printer: Printer, node: Cast, text: str) -> str:
    element = node.operand.type.element
    texts = printer.mapped(text, lambda item: output_text(printer, item, element, node))
    return limited(f"array_text({texts})", node)


def _array_from_text(printer: Printer, node: Cast, text: str) -> str:
    items = f"array_elements({text})"
    return printer.mapped(items, lambda item: element_cast(printer, item, TEXT, node.type.element, node))


def _oid_text(printer: Printer, node: Cast, text: str) -> str:
    kind = node.operand.type
    if kind.family in OIDS_OF_NAMES:
        # The binder makes a call of all other such casts.
        raise not_supported(f"a value of type {kind.sql_name} as a part of this text", node.position, hint=CAST_FIRST)
    return limited(f"CAST({text} AS VARCHAR)", node)


def _array_to_array(printer: Printer, node: Cast, text: str) -> str:
    kind, target = node.operand.type, node.type.element
    source = SqlType(VECTORS[kind.family]) if kind.family in VECTORS else kind.element
    if source == target or (source.family == target.family and target == target.without_modifier()):
        return text
    return printer.mapped(text, lambda item: element_cast(printer, item, source, target, node))


def element_cast(printer: Printer, text: str, source: SqlType, target: SqlType, node: Cast) -> str:
    """Return an element as an element of an array of `target`.

    Numerics are variable there, also those of (p,s).
    """
    if target.family != "numeric" or target.precision is None:
        return converted(printer, text, source, target, node)
    fixed = replace(target, display_scale=target.scale)
    scale = target.scale or 0
    return printer.fit_text(converted(printer, text, source, fixed, node), scaled_numeric(scale), NUMERIC)


TYPE_CASTS: Mapping[str, CastRule] = {
    "bpchar > text": unpadded,
    "text bpchar > bpchar": to_padded,
    f"bpchar > {NUMBERS} bool date timestamp timestamptz": from_padded,
    "bool int2 int4 int8 numeric variable float4 float8 date timestamp timestamptz > bpchar": to_padded,
    "uuid json jsonb void > text": lambda printer, node, text: limited(text, node),
    "uuid > uuid": "{0}",
    "bytea > bytea": "{0}",
    "json > json": "{0}",
    "jsonb > jsonb json": "{0}",
    f"{SCALARS} oid char array > bpchar": to_padded,
    "bpchar > time timetz interval uuid bytea json jsonb inet cidr oid array": from_padded,
    "time > text": lambda printer, node, text: limited(f"time_text({text})", node),
    "text > time": with_digits("time_from_text({0})"),
    "time > time": with_digits("{0}"),
    "timetz > text": lambda printer, node, text: limited(f"timetz_text({text})", node),
    "text > timetz": lambda printer, node, text: _zoned_time(
        printer, node, f"timetz_from_text({text}, {_zone(printer, node)})"
    ),
    "timetz > timetz": lambda printer, node, text: _zoned_time(printer, node, text),
    "timetz > time": with_digits("({0}).micros"),
    "time > timetz": lambda printer, node, text: _zoned_time(printer, node, _time_in_zone(printer, node, text)),
    "timestamptz > timetz": lambda printer, node, text: _zoned_time(
        printer, node, f"timetz_of({text}, {_zone(printer, node)})"
    ),
    "timestamp timestamptz > time": with_digits(_time_of_timestamp),
    "time > interval": lambda printer, node, text: _within(
        printer, node, printer.interval("0", "0", text, f"{text} IS NULL")
    ),
    "interval > time": with_digits("((({0}).micros % 86400000000 + 86400000000) % 86400000000)"),
    "interval > text": lambda printer, node, text: limited(f"interval_text({text})", node),
    "text > interval": _interval_from_text,
    "interval > interval": _within,
    "bytea > text": lambda printer, node, text: limited(f"bytea_text({text})", node),
    "text > uuid": "uuid_from_text({0})",
    "text > bytea": "bytea_from_text({0})",
    "text > json": "json_from_text({0})",
    "text json > jsonb": "jsonb_from_text({0})",
    "jsonb > bool": "jsonb_bool({0})",
    f"jsonb > {NUMBERS}": _jsonb_number,
    "inet > text": lambda printer, node, text: limited(f"inet_show({text})", node),
    "cidr > text": lambda printer, node, text: limited(text, node),
    "text > inet": "inet_from_text({0})",
    "text > cidr": "cidr_from_text({0})",
    "inet > cidr": "cidr_of({0})",
    "cidr > inet": "inet_of({0})",
    "inet > inet": "{0}",
    "cidr > cidr": "{0}",
    "oid > oid": "{0}",
    "int2 int4 > oid": "(CAST({0} AS BIGINT) & 4294967295)",
    "int8 > oid": "oid_from_int8({0})",
    "oid > int8": "{0}",
    "oid > int4": "CAST((({0} + 2147483648) & 4294967295) - 2147483648 AS INTEGER)",
    "oid > text": _oid_text,
    "vector > text": lambda printer, node, text: limited(f"array_to_string({text}, ' ')", node),
    "vector > array": _array_to_array,
    "text > oid": "oid_from_text({0})",
    f"{SCALARS} oid char text bpchar array > name": to_short,
    "text bpchar > char": to_short,
    "int4 > char": "char_from_int4({0})",
    "char > int4": "char_to_int4({0})",
    "char > char": "{0}",
    "char > text": lambda printer, node, text: limited(f"char_text({text})", node),
    "array > text": _array_to_text,
    "text > array": _array_from_text,
    "array > array": _array_to_array,
}
