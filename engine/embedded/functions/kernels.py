"""The functions of the embedded engine that kernels compute: one row each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
from sql.times.civil import DATE_DAYS_END, DATE_DAYS_MIN, DAY_US, MINUTE_US, days_from_civil, days_in_month, is_infinite
from sql.times.interval_values import Interval, bin_width_us
from sql.times.templates import items_of
from sql.types.datatypes import BOOL, DATE, FLOAT4, FLOAT8, INT2, INT4, INT8, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from sql.values.literals import input_value
from sql.values.special_numbers import no_room

_TEXT, _NUMERIC = ("VARCHAR",), (VARIABLE_TYPE,)
# Where a kernel takes a number that a function has.
_NUMBER = ("number",)


def reading(kind: SqlType) -> Callable[..., Any]:
    """Return the input function of a type, for its errors and what kernels do not read."""
    return lambda text, zone="UTC": input_value(text, kind, zone)


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


def no_date(year: int, month: int, day: int, *clock: float) -> None:
    """Raise the error of make_date, whose years are astronomical, or of make_timestamp."""
    lowest = -(1 << 31)
    astronomical = year + 1 if year < 0 else year
    text = f"{year if clock or year == lowest else astronomical}-{month:02d}-{day:02d}"
    if year in (0, lowest) or not 1 <= month <= 12 or not 1 <= day <= days_in_month(astronomical, month):
        raise SqlError("22008", f"date field value out of range: {text}")
    if not DATE_DAYS_MIN <= days_from_civil(astronomical, month, day) < DATE_DAYS_END:
        raise SqlError("22008", f"date out of range: {text}")


def no_time(hour: int, minute: int, second: float) -> None:
    """Raise the error of make_time."""
    raise SqlError("22008", f"time field value out of range: {clock_text(hour, minute, second)}")


def clock_text(hour: int, minute: int, second: float) -> str:
    """Return PostgreSQL's %d:%02d:%02g."""
    shown = f"{second:g}".replace("nan", "NaN").replace("inf", "Infinity")
    return f"{hour}:{minute:02d}:{shown.rjust(2, '0')}"


def no_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: float) -> None:
    """Raise the error of make_timestamp."""
    no_date(year, month, day, hour)
    is_clock = hour >= 0 and 0 <= minute <= 59 and 0 <= second <= 60
    if not is_clock or (hour * 60 + minute) * MINUTE_US + round(second * 1e6) > DAY_US:
        no_time(hour, minute, second)
    text = f"{year}-{month:02d}-{day:02d} {clock_text(hour, minute, second)}"
    raise SqlError("22008", f"timestamp out of range: {text}")


def no_bin(stride: Interval, us: int, origin: int) -> None:
    """Raise the error of a width of bins."""
    if not is_infinite(origin):
        bin_width_us(stride)


def no_span(later: int, earlier: int) -> None:
    """Raise the error of the difference of times of which one is infinite."""
    if is_infinite(later) or is_infinite(earlier):
        raise SqlError("22008", "cannot subtract infinite timestamps")


EXPLAINS: Mapping[str, Callable[..., Any]] = {
    "float8_to_timestamp": out_of_epoch,
    "int4_make_date": no_date,
    "int4_make_time": no_time,
    "int4_make_timestamp": no_timestamp,
    **dict.fromkeys(("timestamp_bin", "timestamptz_bin"), no_bin),
    **dict.fromkeys(("timestamp_span", "timestamptz_span"), no_span),
}


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
    for kind, zone in ((DATE, ()), (TIMESTAMP, (ZONE,)), (TIMESTAMPTZ, (ZONE,))):
        kernel = f"texts.text_input.text_to_{kind.family}"
        row = KernelFunction(f"{kind.family}_from_text", kernel, ("VARCHAR", *zone), kind.row.duckdb)
        found.append(replace(row, explain=reading(kind), computes=True))
    like = KernelFunction("text_like_short", "texts.text_like.text_like", _TEXT * 2, "BOOLEAN")
    found.append(like)
    limit = KernelFunction("text_limit", at + "limit", ("VARCHAR", "INTEGER"), "VARCHAR", explain=too_long_for)
    found.append(limit)
    return found


def _of_times() -> list[KernelFunction]:
    at, made, output, to_char = "calendars.", "calendars.made_times.", "texts.text_output.", "texts.format_time.format_"
    found: list[KernelFunction] = []
    for name, zone in (("TIMESTAMP", ()), ("TIMESTAMPTZ", (ZONE,))):
        family = name.lower()
        words = (name, TEMPLATE, *(("VARCHAR",) if zone else ()), *zone)
        found += [
            KernelFunction(f"{family}_format", to_char + family, words, "VARCHAR", explain=misread),
            KernelFunction(f"{family}_text", f"{output}{family}_to_text", (name, *zone), "VARCHAR"),
            KernelFunction(f"{family}_us", made + "same_moment", (name,), "BIGINT"),
            KernelFunction(f"{family}_moment", made + "checked_moment", ("BIGINT",), name),
            KernelFunction(f"{family}_checked", made + "checked_moment", (name,), name),
            KernelFunction(f"{family}_trunc", at + "fields.date_trunc_us", (FIELD, name), name),
        ]
    return [
        *found,
        KernelFunction("date_text", output + "date_to_text", ("DATE",), "VARCHAR"),
        KernelFunction("date_midnight", at + "calendar.date_to_timestamp", ("DATE",), "TIMESTAMP"),
        KernelFunction("date_us", at + "calendar.date_to_timestamp", ("DATE",), "BIGINT"),
        KernelFunction("date_field", at + "fields.date_field", (FIELD, "DATE"), "BIGINT"),
        KernelFunction("timestamp_field", at + "fields.day_field", (FIELD, "TIMESTAMP"), "BIGINT"),
        KernelFunction(
            "zone_local", at + "zoned_calendar.timestamptz_to_timestamp", ("TIMESTAMPTZ", ZONE), "TIMESTAMP"
        ),
        KernelFunction("zone_utc", at + "time_zones.local_to_utc", ("TIMESTAMP", ZONE), "TIMESTAMPTZ"),
        KernelFunction("zone_trunc", at + "fields.date_trunc_zoned", (FIELD, "TIMESTAMPTZ", ZONE), "TIMESTAMPTZ"),
        KernelFunction("time_of_day", made + "time_of_day", ("TIMESTAMP",), "BIGINT"),
        KernelFunction("micros_round", made + "rounded_moment", ("BIGINT", "BIGINT", "INTEGER"), "BIGINT"),
        KernelFunction("time_part", at + "fields.seconds_part", (FIELD, "BIGINT"), "DOUBLE"),
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
