"""DuckDB's rule tables: (function, operand form) and (form, target family) -> text with PostgreSQL's meaning.

Each rule was tried against PostgreSQL 15 (tests/engine/test_tables.py). A missing entry is 0A000. Where a function of DuckDB means
something else, a function of `engine/functions.py` stands in: LPAD with an empty fill, SUBSTRING before the text, float overflow.
"""

from __future__ import annotations

from dataclasses import replace

from sql.datatypes import SqlType, scaled_numeric
from sql.emit.expressions import CastRule, ExpressionPrinter, Rule, cast_table, form_of, rule_table
from sql.emit.like import like_pattern
from sql.emit.shared_rules import INTEGERS, SHARED_RULES, divisor_guarded, literal_integer, literal_text
from sql.emit.time_fields import FIELD_DIGITS, TRUNCATION_UNITS, full_name
from sql.errors import not_supported
from sql.expressions import Call, Cast, Literal

UTC_ZONES = frozenset({"", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "UCT", "Zulu", "Universal"})
LOWER, UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def quote_text(value: str) -> str:
    """Return a string constant."""
    return "'" + value.replace("'", "''") + "'"


def _divide_integer(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    return f"({texts[0]} // {texts[1]})"


def _modulo_integer(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    return f"({texts[0]} % {divisor_guarded(texts, node)})"


def _round_numeric(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    """ROUND of a fixed scale: DuckDB's decimal cast rounds half away from zero, as PostgreSQL does."""
    digits = literal_integer(node.arguments[1], "a number of digits") if len(node.arguments) > 1 else 0
    kind = node.arguments[0].type
    assert kind.display_scale is not None
    if digits < 0:
        return f"numeric_to_0(numeric_round({printer.pack(texts[0], kind.display_scale)}, {digits}))"
    return f"CAST({texts[0]} AS {printer.type_name(node.type)})"


def _trunc_numeric(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    digits = literal_integer(node.arguments[1], "a number of digits") if len(node.arguments) > 1 else 0
    scale = node.arguments[0].type.display_scale
    assert scale is not None
    if digits >= scale:
        return printer.fit_text(texts[0], node.arguments[0].type, node.type)
    return f"numeric_to_{node.type.display_scale}(numeric_trunc({printer.pack(texts[0], scale)}, {digits}))"


def _variable_digits(name: str) -> Rule:
    """ROUND and TRUNC of a variable numeric; the result's scale may be known all the same."""

    def rule(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
        digits = texts[1] if len(texts) > 1 else "0"
        operand = printer.fit(node.arguments[0], scaled_numeric(None))
        return unpacked(f"{name}({operand}, {digits})", node.type)

    return rule


def _variable_whole(name: str) -> Rule:
    """CEIL, FLOOR and SIGN of a variable numeric."""

    def rule(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
        return unpacked(f"{name}({printer.fit(node.arguments[0], scaled_numeric(None))})", node.type)

    return rule


def unpacked(text: str, kind: SqlType) -> str:
    """Return a variable numeric in the form of `kind`, whose scale its values have."""
    return text if kind.display_scale is None else f"numeric_to_{kind.display_scale}({text})"


def _ascii_case(source: str, target: str) -> Rule:
    """LOWER and UPPER in the C locale change ASCII letters alone."""
    return f"translate({{0}}, '{source}', '{target}')"


def _like(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    text, pattern = texts[0], node.arguments[1]
    escape = literal_text(node.arguments[2], "an escape character") if len(node.arguments) > 2 else "\\"
    printed = texts[1]
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        printed, escape = quote_text(like_pattern(pattern.value, escape)), "\\"
    if node.function == "ilike":
        text, printed = (f"translate({part}, '{UPPER}', '{LOWER}')" for part in (text, printed))
    return f"({text} LIKE {printed} ESCAPE {quote_text(escape)})"


def local_time(text: str, zone: str) -> str:
    """Return a TIMESTAMPTZ as the TIMESTAMP that clocks in `zone` show."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS TIMESTAMP)"
    return f"make_timestamp(zone_local(epoch_us({text}), {quote_text(zone)}))"


def instant(text: str, zone: str) -> str:
    """Return the TIMESTAMPTZ at which clocks in `zone` show a TIMESTAMP."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS TIMESTAMPTZ)"
    return f"make_timestamptz(zone_utc(epoch_us({text}), {quote_text(zone)}))"


def _zone(node: Call, index: int) -> str:
    return literal_text(node.arguments[index], "a time zone") if len(node.arguments) > index else ""


def _date_trunc(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    kind = node.arguments[1].type
    unit = full_name(literal_text(node.arguments[0], "a unit"), TRUNCATION_UNITS, kind.sql_name)
    zone = _zone(node, 2)
    back = "make_timestamptz" if kind.family == "timestamptz" else "make_timestamp"
    if kind.family == "timestamptz" and zone not in UTC_ZONES:
        return f"make_timestamptz(zone_trunc('{unit}', epoch_us({texts[1]}), {quote_text(zone)}))"
    if unit in ("decade", "century", "millennium"):
        return f"{back}(timestamp_trunc('{unit}', epoch_us({texts[1]})))"
    return f"date_trunc('{unit}', {texts[1]})"


def _field(printer: ExpressionPrinter, node: Call, texts: list[str]) -> tuple[str, int]:
    """Return EXTRACT's value as a BIGINT counted in 10^-digits, and the digits."""
    kind = node.arguments[1].type
    field = full_name(literal_text(node.arguments[0], "a field"), FIELD_DIGITS, kind.sql_name)
    moment = texts[1]
    if field == "epoch":
        return (f"(epoch_us({moment}) // 1000000)", 0) if kind.family == "date" else (f"epoch_us({moment})", 6)
    if field.startswith("timezone"):
        if kind.family != "timestamptz":
            raise not_supported(f"field {field} of {kind.sql_name}", node.position)
        return f"zone_part('{field}', epoch_us({moment}), {quote_text(_zone(node, 2) or 'UTC')})", 0
    if kind.family == "timestamptz":
        moment = local_time(moment, _zone(node, 2))
    if field in ("second", "milliseconds", "microseconds"):
        return f"date_part('microseconds', {moment})", FIELD_DIGITS[field]
    if field in ("year", "isoyear"):
        year = f"date_part('{field}', {moment})"
        return f"CASE WHEN {year} > 0 THEN {year} ELSE {year} - 1 END", 0
    if field == "julian" and kind.family != "date":
        raise not_supported(f"field julian of {kind.sql_name}", node.position)
    if field in ("decade", "century", "millennium", "julian"):
        return f"timestamp_part('{field}', epoch_us({moment}))", 0
    return f"date_part('{field}', {moment})", 0


def _extract(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    value, digits = _field(printer, node, texts)
    if digits == 0:
        return printer.fit_text(f"CAST({value} AS DECIMAL(38,0))", scaled_numeric(0), node.type)
    unit = f"CAST('{10.0**-digits:.{digits}f}' AS DECIMAL({digits},{digits}))"
    text = f"CAST(CAST({value} AS DECIMAL({38 - digits},0)) * {unit} AS DECIMAL(38,{digits}))"
    return printer.fit_text(text, scaled_numeric(digits), node.type)


def _date_part(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    value, digits = _field(printer, node, texts)
    if digits == 0:
        return f"CAST({value} AS DOUBLE)"
    return f"time_part({value}, {digits})"


def _add_interval(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    """Months first, with the day clamped, then days, both on the zone's clock; then the exact time."""
    months, days, micros = (literal_integer(argument, "an interval") for argument in node.arguments[1:4])
    zone = _zone(node, 4)
    text, zoned = texts[0], node.type.family == "timestamptz"
    if months or days:
        civil = local_time(text, zone) if zoned else text
        for amount, unit in ((months, "to_months"), (days, "to_days")):
            civil = f"({civil} + {unit}({amount}))" if amount else civil
        text = instant(civil, zone) if zoned else civil
    return f"({text} + to_microseconds({micros}))" if micros else text


RULES = rule_table(SHARED_RULES) | rule_table(
    {
        "divide": {INTEGERS: _divide_integer},
        "modulo": {INTEGERS: _modulo_integer},
        "is_distinct": {
            "any": "({0} IS DISTINCT FROM {1})",
            "variable": "(numeric_key({0}) IS DISTINCT FROM numeric_key({1}))",
        },
        "is_not_distinct": {
            "any": "({0} IS NOT DISTINCT FROM {1})",
            "variable": "(numeric_key({0}) IS NOT DISTINCT FROM numeric_key({1}))",
        },
        "round": {
            "numeric": _round_numeric,
            "variable": _variable_digits("numeric_round"),
            "float8": "round_even({0}, 0)",
        },
        "trunc": {"numeric": _trunc_numeric, "variable": _variable_digits("numeric_trunc"), "float8": "trunc({0})"},
        "ceil": {"numeric": "ceil({0})", "variable": _variable_whole("numeric_ceil"), "float8": "ceil({0})"},
        "floor": {"numeric": "floor({0})", "variable": _variable_whole("numeric_floor"), "float8": "floor({0})"},
        "sign": {
            "numeric": "CAST(sign({0}) AS DECIMAL(38,0))",
            "variable": _variable_whole("numeric_sign"),
            "float8": "CAST(sign({0}) AS DOUBLE)",
        },
        "lower": {"text": _ascii_case(UPPER, LOWER)},
        "upper": {"text": _ascii_case(LOWER, UPPER)},
        "length": {"text": "CAST(length({0}) AS INTEGER)"},
        "octet_length": {"text": "CAST(strlen({0}) AS INTEGER)"},
        "trim_both": {"text": "trim({0}, {1})"},
        "trim_left": {"text": "ltrim({0}, {1})"},
        "trim_right": {"text": "rtrim({0}, {1})"},
        "starts_with": {"text": "starts_with({0}, {1})"},
        "like": {"text": _like},
        "ilike": {"text": _like},
        "date_add_days": {"date": "({0} + {1})"},
        "date_subtract_days": {"date": "({0} - {1})"},
        "date_difference": {"date": "CAST({0} - {1} AS INTEGER)"},
        "add_interval": {"timestamp timestamptz": _add_interval},
        "date_trunc": {"text": _date_trunc},
        "extract": {"text": _extract, "numeric": _extract},
        "date_part": {"text": _date_part},
    }
)


def _plain(printer: ExpressionPrinter, node: Cast, text: str) -> str:
    return f"CAST({text} AS {printer.type_name(node.type)})"


def _to_text(template: str) -> CastRule:
    """A text form, cut or checked at the length of a varchar(n)."""

    def rule(printer: ExpressionPrinter, node: Cast, text: str) -> str:
        return limited(template.format(text, quote_text(node.zone or "UTC")), node)

    return rule


def limited(text: str, node: Cast) -> str:
    """Return a text within varchar(n): cut by an explicit cast, 22001 by an assignment."""
    length = node.type.length
    if length is None or node.type.family != "varchar":
        return text
    source = node.operand.type
    if source.family == "varchar" and source.length is not None and source.length <= length:
        return text
    return f"text_left({text}, {length})" if node.explicit else f"text_limit({text}, {length})"


def _to_numeric(printer: ExpressionPrinter, node: Cast, text: str) -> str:
    """To numeric, or to numeric(p,s): rounded half away from zero, then 22003 when p digits do not hold it."""
    source, target = node.operand.type, node.type
    form = form_of(source)
    if form in ("float4", "float8", "text"):
        text, form = f"numeric_from_{form}({text})", "variable"
    if target.precision is None:
        fixed = scaled_numeric(0) if form != "numeric" else replace(source, precision=None)
        if form == "variable":
            return unpacked(text, target)
        return printer.fit_text(f"CAST({text} AS DECIMAL(38,0))" if form != "numeric" else text, fixed, target)
    scale = target.display_scale
    assert scale is not None
    if target.precision < scale or scale < 0:
        raise not_supported(f"type {target.sql_name}", node.position)
    if form == "variable":
        text = f"numeric_to_{scale}({text})"
    if form == "numeric" and source.precision is not None:
        whole = source.precision - (source.scale or 0)
        if source.display_scale == scale and whole <= target.precision - scale:
            return text
    narrow = f"CAST({text} AS DECIMAL({target.precision},{scale}))"
    return narrow if target.precision == 38 else f"CAST({narrow} AS DECIMAL(38,{scale}))"


def _from_variable(printer: ExpressionPrinter, node: Cast, text: str) -> str:
    return f"CAST(numeric_to_0({text}) AS {printer.type_name(node.type)})"


def _from_text(printer: ExpressionPrinter, node: Cast, text: str) -> str:
    family = node.type.family
    zone = f", {quote_text(node.zone or 'UTC')}" if family in ("date", "timestamp", "timestamptz") else ""
    read = f"{family}_from_text({text}{zone})"
    makers = {"timestamp": "make_timestamp", "timestamptz": "make_timestamptz"}
    return f"{makers[family]}({read})" if family in makers else read


def _zoned(printer: ExpressionPrinter, node: Cast, text: str) -> str:
    """Between timestamptz and the civil types, on the clock of the session's zone."""
    if node.type.family == "timestamptz":
        return instant(f"CAST({text} AS TIMESTAMP)" if node.operand.type.family == "date" else text, node.zone)
    local = local_time(text, node.zone)
    return f"CAST({local} AS DATE)" if node.type.family == "date" else local


CASTS = cast_table(
    {
        "bool > bool": "{0}",
        "date > date": "{0}",
        "timestamp > timestamp": "{0}",
        "timestamptz > timestamptz": "{0}",
        "int2 int4 int8 > int2 int4 int8 float4 float8": _plain,
        "float4 float8 > int2 int4 int8": _plain,
        "float4 > float4 float8": _plain,
        "float8 > float8": "{0}",
        "float8 > float4": "float4_from_float8({0})",
        "int2 int4 int8 numeric variable float4 float8 text > numeric": _to_numeric,
        "numeric > int2 int4 int8": _plain,
        "variable > int2 int4 int8": _from_variable,
        "numeric > float8": "CAST(CAST({0} AS VARCHAR) AS DOUBLE)",
        "numeric > float4": "CAST(CAST({0} AS VARCHAR) AS FLOAT)",
        "variable > float8": "CAST(numeric_text({0}) AS DOUBLE)",
        "variable > float4": "CAST(numeric_text({0}) AS FLOAT)",
        "bool > int4": _plain,
        "int4 > bool": "({0} <> 0)",
        "date > timestamp": _plain,
        "timestamp > date": _plain,
        "date timestamp > timestamptz": _zoned,
        "timestamptz > date timestamp": _zoned,
        "text > text": _to_text("{0}"),
        "bool int2 int4 int8 numeric > text": _to_text("CAST({0} AS VARCHAR)"),
        "variable > text": _to_text("numeric_text({0})"),
        "float4 > text": _to_text("float4_text({0})"),
        "float8 > text": _to_text("float8_text({0})"),
        "date > text": _to_text("date_text({0})"),
        "timestamp > text": _to_text("timestamp_text(epoch_us({0}))"),
        "timestamptz > text": _to_text("timestamptz_text(epoch_us({0}), {1})"),
        "text > bool int2 int4 int8 float4 float8 date timestamp timestamptz": _from_text,
    }
)
