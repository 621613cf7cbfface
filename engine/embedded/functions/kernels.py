"""The functions of the embedded engine that kernels compute: one row each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from engine.embedded import decimals
from engine.embedded.functions import special_numerics
from engine.embedded.functions.routines import physical
from engine.embedded.kernel_functions import VARIABLE_TYPE, KernelFunction
from engine.embedded.value_limits import requested_length
from ringbuffer.vectors.loops import FIELD, TEMPLATE, ZONE
from sql.errors import SqlError
from sql.functions.rows import Kernel
from sql.functions.table import ROUTINES
from sql.times.civil import TIMESTAMP_US_END, TIMESTAMP_US_MIN, date_us, is_infinite
from sql.times.datetime_input import date_value
from sql.times.templates import items_of
from sql.types.datatypes import BOOL, FLOAT4, FLOAT8, INT2, INT4, INT8, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from sql.values.literals import input_value
from sql.values.special_numbers import no_room

_TEXT, _NUMERIC = ("VARCHAR",), (VARIABLE_TYPE,)
# Where a kernel takes a number that a function has.
_NUMBER = ("number",)


def reading(kind: SqlType) -> Callable[..., Any]:
    """Return the input function of a type, for its errors and what kernels do not read."""
    return lambda text, zone="UTC": input_value(text, kind, zone)


def midnight(text: str, zone: str) -> int:
    """Return the microseconds since 1970 at which a date begins."""
    micros = date_us(date_value(text))
    if not is_infinite(micros) and not TIMESTAMP_US_MIN <= micros < TIMESTAMP_US_END:
        raise SqlError("22008", f'date out of range: "{text}"')
    return micros


def too_long_for(text: str, length: int) -> None:
    """Raise 22001."""
    raise SqlError("22001", f"value too long for type character varying({length})")


def no_room_for(value: float, precision: int, scale: int) -> None:
    """Raise the error of NaN or an infinity as numeric(precision, scale); a number has room."""
    decimal = Decimal(value)
    if not decimal.is_finite():
        raise no_room(decimal, numeric(precision, scale))


def special_at_scale(value: decimals.Numeric) -> None:
    """Raise the error of NaN or an infinity at a known scale."""
    if special_numerics.is_special(value):
        special_numerics.at_scale(value)


def out_of_epoch(seconds: float) -> None:
    """Raise 22008 for an instant out of range; NaN has an error of its own."""
    if not math.isnan(seconds):
        raise SqlError("22008", f'timestamp out of range: "{seconds:g}"')


def misread(us: int, template: str, *zone: str) -> None:
    """Raise the error of a template."""
    items_of(template)


EXPLAINS = {"float8_to_timestamp": out_of_epoch}


def _of_numerics() -> list[KernelFunction]:
    at, found = "numbers.any_numeric.any_", []
    for name, kind, bits in (("float8", "DOUBLE", 64), ("float4", "FLOAT", 32)):
        kernel = f"{at}from_float{bits}"
        found.append(KernelFunction(f"numeric_from_{name}", kernel, (kind,), VARIABLE_TYPE, ("-1",)))
        limited, arguments = f"{at}limited_float{bits}", (kind, "INTEGER", "INTEGER")
        found.append(
            KernelFunction(f"numeric_limited_from_{name}", limited, arguments, VARIABLE_TYPE, explain=no_room_for)
        )
    for scale, fixed in enumerate(decimals.FIXED):
        found.append(KernelFunction(f"numeric_pack_{scale}", at + "same", (fixed,), VARIABLE_TYPE))
        unpack = KernelFunction(
            f"numeric_to_{scale}", at + "at_scale", _NUMERIC, fixed, _NUMBER, special_at_scale, number=scale
        )
        found.append(unpack)
    return [
        *found,
        KernelFunction("numeric_text", "texts.text_output.numeric_to_text", _NUMERIC, "VARCHAR"),
        KernelFunction(
            "numeric_from_text", "texts.text_input.text_to_numeric", _TEXT, VARIABLE_TYPE, explain=decimals.from_text
        ),
    ]


def _of_floats() -> list[KernelFunction]:
    found: list[KernelFunction] = []
    for family, kind, bits in (("float8", "DOUBLE", 64), ("float4", "FLOAT", 32)):
        found.append(KernelFunction(f"{family}_text", f"texts.text_output.float{bits}_to_text", (kind,), "VARCHAR"))
    return [
        *found,
        KernelFunction("float4_from_float8", "numbers.casts.float64_to_float32", ("DOUBLE",), "FLOAT"),
    ]


def _of_texts() -> list[KernelFunction]:
    at, found = "texts.text_functions.text_", []
    inputs = (
        *(("bool", "bool", BOOL), ("int2", "int16", INT2), ("int4", "int32", INT4), ("int8", "int64", INT8)),
        *(("float4", "float32", FLOAT4), ("float8", "float64", FLOAT8)),
    )
    for name, kernel, kind in inputs:
        kernel = f"texts.text_input.text_to_{kernel}"
        found.append(KernelFunction(f"{name}_from_text", kernel, _TEXT, kind.row.duckdb, explain=reading(kind)))
    times = (
        ("date", "midnight", midnight),
        *((one.family, one.family, reading(one)) for one in (TIMESTAMP, TIMESTAMPTZ)),
    )
    for name, kernel, read in times:
        kernel = f"texts.text_input.text_to_{kernel}"
        found.append(
            KernelFunction(f"{name}_from_text", kernel, ("VARCHAR", ZONE), "BIGINT", explain=read, computes=True)
        )
    like = KernelFunction("text_like_short", "texts.text_like.text_like", _TEXT * 2, "BOOLEAN")
    found.append(like)
    limit = KernelFunction("text_limit", at + "limit", ("VARCHAR", "INTEGER"), "VARCHAR", explain=too_long_for)
    found.append(limit)
    return found


def _of_times() -> list[KernelFunction]:
    at, output, to_char = "calendars.", "texts.text_output.", "texts.format_time.format_"
    return [
        KernelFunction("timestamp_format", to_char + "timestamp", ("BIGINT", TEMPLATE), "VARCHAR", explain=misread),
        KernelFunction(
            "timestamptz_format",
            to_char + "timestamptz",
            ("BIGINT", TEMPLATE, "VARCHAR", ZONE),
            "VARCHAR",
            explain=misread,
        ),
        KernelFunction("zone_local", at + "time_zones.utc_to_local", ("BIGINT", ZONE), "BIGINT"),
        KernelFunction("zone_utc", at + "time_zones.local_to_utc", ("BIGINT", ZONE), "BIGINT"),
        KernelFunction("zone_trunc", at + "fields.date_trunc_zoned", (FIELD, "BIGINT", ZONE), "BIGINT"),
        KernelFunction("timestamp_trunc", at + "fields.date_trunc_us", (FIELD, "BIGINT"), "BIGINT"),
        KernelFunction("timestamp_part", at + "fields.day_field", (FIELD, "BIGINT"), "BIGINT"),
        KernelFunction("time_part", at + "fields.seconds_part", (FIELD, "BIGINT"), "DOUBLE"),
        KernelFunction("timestamptz_text", output + "timestamptz_to_text", ("BIGINT", ZONE), "VARCHAR"),
        KernelFunction("timestamp_text", output + "timestamp_to_text", ("BIGINT",), "VARCHAR"),
        KernelFunction("date_text", output + "midnight_to_text", ("BIGINT",), "VARCHAR"),
    ]


def _of_table() -> list[KernelFunction]:
    found: list[KernelFunction] = []
    for routine in ROUTINES:
        if isinstance(routine.implementation, Kernel):
            kernel, explain = routine.implementation, EXPLAINS.get(routine.name)
            arguments, result = tuple(map(physical, routine.arguments)), physical(routine.result)
            row = KernelFunction(routine.name, kernel.name, arguments, result, kernel.constants, explain)
            if routine.asks_length:
                row = replace(row, refusal=requested_length)
                found.append(replace(row, name=f"{row.name}_unfolded", is_volatile=True))
            found.append(row)
    return found


KERNELS = (*_of_table(), *_of_numerics(), *_of_floats(), *_of_texts(), *_of_times())
