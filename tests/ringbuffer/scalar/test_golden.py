"""The scalar kernels against PostgreSQL's own answers in golden/scalars.json, which make_golden.py
writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from ringbuffer.memory.error_codes import MESSAGES, NUMERIC_DIGITS, OK, SCRATCH_FULL
from ringbuffer.scalar.calendars import calendar, fields, shifts, time_zones, zoned_calendar
from ringbuffer.scalar.calendars.fields import FIELD_CODES, UNIT_CODES
from ringbuffer.scalar.numbers import any_numeric, arithmetic, casts, floats, numeric, numeric_floats
from ringbuffer.scalar.texts import text_functions, text_input, text_like, text_output, text_values
from sql.patterns.like import like_pattern
from tests.ringbuffer.kernel_values import (
    Texts,
    date_text,
    days,
    integer_kernel,
    numeric_text,
    text,
    timestamp,
    timestamp_text,
)
from tests.ringbuffer.kernel_values import numeric as numeric_words
from tests.ringbuffer.make_golden import DATE_FIELDS, FIELDS, GOLDEN

Answer = Callable[..., str]

DIGITS_MAX = 38
LATE_TIMESTAMP = re.compile(r"2942(4[7-9]|[5-9]\d)-\d\d-\d\d [\d:.]+")
TEXTS = Texts()
SCRATCH = text_functions.ScratchHeap(64)
WIDTHS = {"int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64"}


@cache
def golden() -> dict[str, list[tuple[list[str], str | None]]]:
    result: dict[str, list[tuple[list[str], str | None]]] = json.loads(GOLDEN.read_text())
    return result


def outcome(error: int, result: str) -> str:
    """Return the result, or '!' and the error's SQLSTATE."""
    return result if error == OK else f"!{MESSAGES[error][0]}"


def number(value: Any) -> str:
    """Return a float or int as PostgreSQL prints it, through the kernel that test_text_output and
    its own cases here hold to that.
    """
    if isinstance(value, np.float32 | float):
        render: Any = text_output.float32_to_text if isinstance(value, np.float32) else text_output.float64_to_text
        SCRATCH.clear()
        w0, w1, heap, error = render(value, SCRATCH.words)
        assert error == OK
        return text(w0, w1, heap)
    return str(int(value))


def scalar(kernel: Any, *readers: Callable[[str], Any], show: Callable[[Any], str] = number) -> Answer:
    """Adapt a kernel of scalars that returns a value, or (value, error)."""

    def run(*arguments: str) -> str:
        result = kernel(*(read(argument) for read, argument in zip(readers, arguments, strict=True)))
        if isinstance(result, tuple):
            return outcome(result[1], show(result[0]))
        return show(result)

    return run


def decimals(kernel: Any, operands: int, *more: Callable[[str], Any]) -> Answer:
    """Adapt a kernel of numerics that returns (lo, hi, scale, error)."""

    def run(*arguments: str) -> str:
        given = [word for argument in arguments[:operands] for word in numeric_words(argument)]
        given += [read(argument) for read, argument in zip(more, arguments[operands:], strict=True)]
        lo, hi, scale, error = kernel(*given)
        return outcome(error, numeric_text(lo, hi, scale))

    return run


def texts(
    kernel: Any, *readers: Callable[[str], Any], scratch: bool = False, constants: tuple[Any, ...] = ()
) -> Answer:
    """Adapt a kernel of strings (reader str) and integers (reader int) that returns (w0, w1, heap,
    error).
    """

    def run(*arguments: str) -> str:
        SCRATCH.clear()
        while True:
            given = text_arguments(readers, arguments)
            w0, w1, heap, error = kernel(*given, *constants, *([SCRATCH.words] if scratch else []))
            if error != SCRATCH_FULL:
                return outcome(error, text(w0, w1, heap) if error == OK else "")
            SCRATCH.grow()

    return run


def measures(kernel: Any, *readers: Callable[[str], Any]) -> Answer:
    """Adapt a kernel of strings that returns a number, a truth value, or (0 or 1, error)."""

    def run(*arguments: str) -> str:
        result = kernel(*text_arguments(readers, arguments))
        if isinstance(result, tuple):
            return outcome(result[1], "true" if result[0] else "false")
        return {True: "true", False: "false"}[result] if isinstance(result, bool) else str(result)

    return run


def text_arguments(readers: tuple[Callable[[str], Any], ...], arguments: tuple[str, ...]) -> list[Any]:
    given: list[Any] = []
    for read, argument in zip(readers, arguments, strict=True):
        given += TEXTS.words(argument) if read is str else [read(argument)]
    return given


def numeric_answers() -> dict[str, Answer]:
    answers = {
        f"numeric_{name}": decimals(getattr(arithmetic, f"numeric_{name}"), 2)
        for name in "add subtract multiply divide modulo".split()
    }
    answers |= {f"numeric_{name}": decimals(getattr(numeric, f"numeric_{name}"), 1, int) for name in ("round", "trunc")}
    answers["numeric_compare"] = lambda a, b: str(numeric.numeric_compare(*numeric_words(a), *numeric_words(b)))
    answers["numeric_sign"] = lambda a: str(numeric.numeric_sign(*numeric_words(a)[:2]))
    answers["numeric_abs"] = lambda a: numeric_text(
        *arithmetic.numeric_absolute(*numeric_words(a)[:2]), numeric_words(a)[2]
    )
    wholes: dict[str, Any] = {"ceil": numeric.numeric_ceil, "floor": numeric.numeric_floor}
    for name, whole in wholes.items():
        answers[f"numeric_{name}"] = lambda a, k=whole: whole_text(k, a)
    conversions = {
        "int2": casts.numeric_to_int16,
        "int4": casts.numeric_to_int32,
        "int8": numeric.numeric_to_int64,
        "float4": numeric_floats.numeric_to_float32,
    }
    for kind, kernel in conversions.items():
        answers[f"numeric_to_{kind}"] = lambda a, k=kernel: scalar(lambda _: k(*numeric_words(a)), str)(a)
    answers["numeric_to_float8"] = lambda a: number(numeric_floats.numeric_to_float64(*numeric_words(a)))
    answers["float8_to_numeric"] = decimal_of_float(any_numeric.any_from_float64, float)
    answers["float4_to_numeric"] = decimal_of_float(any_numeric.any_from_float32, np.float32)
    return answers


def any_answers() -> dict[str, Answer]:
    """The functions of numerics that may be NaN or infinite."""
    answers = {
        f"any_{name}": decimals(getattr(arithmetic, f"any_{name}"), 2)
        for name in "add subtract multiply divide modulo".split()
    }
    answers |= {f"any_{name}": decimals(getattr(any_numeric, f"any_{name}"), 1, int) for name in ("round", "trunc")}
    answers["any_compare"] = lambda a, b: str(any_numeric.any_compare(*numeric_words(a), *numeric_words(b)))
    for name in ("ceil", "floor"):
        kernel: Any = getattr(any_numeric, f"any_{name}")
        answers[f"any_{name}"] = lambda a, k=kernel: numeric_text(*k(*numeric_words(a)))
    answers["any_negate"] = lambda a: numeric_text(*arithmetic.any_negate(*numeric_words(a)), numeric_words(a)[2])
    # A rank has a size as well.
    answers["any_abs"] = numeric_answers()["numeric_abs"]
    answers["any_sign"] = any_sign
    for kind in ("int2", "int4", "int8"):
        convert: Any = getattr(any_numeric, f"any_to_{WIDTHS.get(kind, kind)}")
        answers[f"any_to_{kind}"] = lambda a, k=convert: scalar(lambda _: k(*numeric_words(a)), str)(a)
    answers["any_to_float4"] = lambda a: real_of_numeric(any_numeric.any_to_float32, a)
    answers["any_to_float8"] = lambda a: number(any_numeric.any_to_float64(*numeric_words(a)))
    return answers


def any_sign(argument: str) -> str:
    lo, scale = arithmetic.any_sign(*numeric_words(argument))
    return numeric_text(lo, lo >> 63, scale)


def whole_text(kernel: Any, argument: str) -> str:
    lo, hi = kernel(*numeric_words(argument))
    return numeric_text(lo, hi, 0)


def decimal_of_float(kernel: Any, read: Callable[[str], Any]) -> Answer:
    def run(argument: str) -> str:
        lo, hi, scale, error = kernel(read(argument), -1)
        return outcome(error, numeric_text(lo, hi, scale))

    return run


def number_answers() -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    for kind, width in WIDTHS.items():
        read: Any = int if kind.startswith("int") else np.float32 if kind == "float4" else float
        if kind.startswith("int"):
            for name in ("add", "subtract", "multiply", "divide", "modulo"):
                answers[f"{name}_{kind}"] = scalar(integer_kernel(name, int(width[3:])), int, int)
            for name in ("negate", "absolute"):
                answers[f"{name}_{kind}"] = scalar(integer_kernel(name, int(width[3:])), int)
            answers[f"float8_to_{kind}"] = scalar(getattr(casts, f"float_to_{width}"), float)
        else:
            for name in ("add", "subtract", "multiply", "divide"):
                answers[f"{name}_{kind}"] = scalar(getattr(arithmetic, f"{name}_{width}"), read, read)
            answers[f"compare_{kind}"] = scalar(floats.compare_float64, read, read)
    answers["float8_to_float4"] = scalar(casts.float64_to_float32, float, show=lambda v: number(np.float32(v)))
    for kind in ("add", "subtract", "multiply", "divide"):
        kernel = getattr(arithmetic, f"{kind}_float32")
        answers[f"{kind}_float4"] = scalar(kernel, np.float32, np.float32, show=lambda v: number(np.float32(v)))
    answers["numeric_to_float4"] = lambda a: real_of_numeric(numeric_floats.numeric_to_float32, a)
    answers["sign_float8"] = scalar(arithmetic.sign_float64, float)
    for name in ("round", "trunc"):
        answers[f"{name}_float8"] = scalar(getattr(floats, f"{name}_float64"), float)
    answers["sqrt_float8"] = scalar(floats.square_root, float)
    answers["ln_float8"] = scalar(floats.natural_logarithm, float)
    answers["exp_float8"] = scalar(floats.exponential, float)
    answers["power_float8"] = scalar(floats.power, float, float)
    return answers


def real_of_numeric(kernel: Any, argument: str) -> str:
    value, error = kernel(*numeric_words(argument))
    return outcome(error, number(np.float32(value)))


def time_answers() -> dict[str, Answer]:
    unit, field = UNIT_CODES.__getitem__, FIELD_CODES.__getitem__
    answers: dict[str, Answer] = {
        "date_trunc": scalar(fields.date_trunc_us, unit, timestamp, show=timestamp_text),
        "date_part": scalar(fields.date_part_timestamp, field, timestamp),
        "add_interval": scalar(shifts.add_interval_us, timestamp, int, int, int, show=timestamp_text),
        "date_add_days": scalar(calendar.date_add_days, days, int, show=date_text),
        "date_to_timestamp": scalar(calendar.date_to_timestamp, days, show=timestamp_text),
        "timestamp_to_date": scalar(calendar.timestamp_to_date, timestamp, show=date_text),
    }
    for name in FIELDS:
        answers[f"extract_{name}"] = lambda a, code=FIELD_CODES[name]: numeric_text(
            *fields.extract_timestamp(code, timestamp(a))
        )
    for name in DATE_FIELDS:
        answers[f"extract_date_{name}"] = lambda a, code=FIELD_CODES[name]: numeric_text(
            *fields.extract_date(code, days(a))
        )
    return answers


def zone_answers() -> dict[str, Answer]:
    answers: dict[str, Answer] = {
        "local_to_utc": zoned(time_zones.local_to_utc, timestamp),
        "utc_to_local": zoned(zoned_calendar.timestamptz_to_timestamp, timestamp),
        "date_trunc_zoned": zoned(fields.date_trunc_zoned, UNIT_CODES.__getitem__, timestamp),
        "zoned_add_interval": zoned(shifts.add_interval_zoned, timestamp, int, int, int),
        "zone_posix": lambda zone: zoned(time_zones.local_to_utc, timestamp)("2020-01-01", zone),
        "zoned_text": zoned_text,
    }
    for name in ("timezone", "timezone_hour", "timezone_minute", "hour", "doy", "epoch", "second"):
        answers[f"zoned_extract_{name}"] = lambda stamp, zone, code=FIELD_CODES[name]: numeric_text(
            *fields.extract_zoned(code, timestamp(stamp), *time_zones.zone_table(zone))
        )
    return answers


def zoned(kernel: Any, *readers: Callable[[str], Any]) -> Answer:
    """Adapt a kernel of timestamps whose last argument is a zone."""

    def run(*arguments: str) -> str:
        given = [read(argument) for read, argument in zip(readers, arguments[:-1], strict=True)]
        us, error = kernel(*given, *time_zones.zone_table(arguments[-1]))
        return outcome(error, timestamp_text(us))

    return run


def zoned_text(stamp: str, zone: str) -> str:
    SCRATCH.clear()
    w0, w1, heap, error = text_output.timestamptz_to_text(timestamp(stamp), SCRATCH.words, *time_zones.zone_table(zone))
    assert error == OK
    return text(w0, w1, heap)


def text_answers() -> dict[str, Answer]:
    functions = text_functions
    return {
        "lower": texts(functions.text_lower, str, scratch=True),
        "upper": texts(functions.text_upper, str, scratch=True),
        "reverse": texts(functions.text_reverse, str, scratch=True),
        "repeat": texts(functions.text_repeat, str, int, scratch=True),
        "concat": texts(functions.text_concat, str, str, scratch=True),
        "replace": texts(functions.text_replace, str, str, str, scratch=True),
        "left": texts(functions.text_left, str, int),
        "right": texts(functions.text_right, str, int),
        "substring": texts(functions.text_substring, str, int, int),
        "substring_from": lambda a, n: texts(functions.text_substring, str, int, int)(a, n, str(functions.INT32_MAX)),
        "btrim": texts(functions.text_trim, str, str, constants=(True, True)),
        "ltrim": texts(functions.text_trim, str, str, constants=(True, False)),
        "rtrim": texts(functions.text_trim, str, str, constants=(False, True)),
        "length": measures(text_values.text_char_length, str),
        "octet_length": measures(text_values.text_octet_length, str),
        "strpos": measures(text_values.text_position, str, str),
        "starts_with": measures(text_values.text_starts_with, str, str),
        "text_compare": measures(text_values.text_compare, str, str),
        "like": measures(text_like.text_like, str, str),
        "ilike": measures(text_like.text_ilike, str, str),
        "like_escape": lambda a, p, e: measures(text_like.text_like, str, str)(a, like_pattern(p, e)),
        "float8_to_text": scalar(lambda v: v, float),
        "float4_to_text": scalar(lambda v: v, np.float32),
        "timestamp_to_text": texts(text_output.timestamp_to_text, timestamp, scratch=True),
    }


def input_answers() -> dict[str, Answer]:
    answers: dict[str, Answer] = {
        f"text_to_{kind}": parsed(getattr(text_input, f"text_to_{width}"), number) for kind, width in WIDTHS.items()
    }
    answers["text_to_float4"] = parsed(text_input.text_to_float32, lambda v: number(np.float32(v)))
    answers["text_to_bool"] = parsed(text_input.text_to_bool, lambda v: "true" if v else "false")
    answers["text_to_date"] = parsed(text_input.text_to_date, date_text)
    answers["text_to_timestamp"] = lambda a: parsed(text_input.text_to_timestamp, timestamp_text, "UTC")(a)
    answers["zoned_text_to_timestamptz"] = lambda a, zone: parsed(text_input.text_to_timestamptz, timestamp_text, zone)(
        a
    )
    answers["text_to_numeric"] = text_to_numeric
    return answers


def parsed(kernel: Any, show: Callable[[Any], str], zone: str = "") -> Answer:
    """Adapt a kernel from a string, and a zone, to (value, error)."""
    more = time_zones.zone_table(zone) if zone else ()

    def run(argument: str) -> str:
        value, error = kernel(*TEXTS.words(argument), *more)
        return outcome(error, show(value))

    return run


def text_to_numeric(argument: str) -> str:
    lo, hi, scale, error = text_input.text_to_numeric(*TEXTS.words(argument))
    return outcome(error, numeric_text(lo, hi, scale))


ANSWERS = (
    numeric_answers()
    | any_answers()
    | number_answers()
    | time_answers()
    | zone_answers()
    | text_answers()
    | input_answers()
)


def expected(name: str, answer: str | None) -> str | None:
    """Return what Antumbra answers where PostgreSQL does: numerics end at 38 digits, timestamps end
    in 294246.
    """
    if answer is not None and LATE_TIMESTAMP.fullmatch(answer):
        return "!22008"
    if (
        answer is None
        or answer.startswith("!")
        or not (name.startswith(("numeric_", "any_")) or name.endswith("_to_numeric"))
    ):
        return answer
    if answer in {"NaN", "Infinity", "-Infinity"}:
        return answer
    whole, _, fraction = answer.lstrip("-").partition(".")
    too_long = len((whole + fraction).lstrip("0")) > DIGITS_MAX or len(fraction) > DIGITS_MAX
    return f"!{MESSAGES[NUMERIC_DIGITS][0]}" if too_long and name.split("_to_")[-1] not in WIDTHS else answer


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", sorted(golden()))
def test_answers_are_those_of_postgresql(name: str) -> None:
    wrong = []
    for arguments, answer in golden()[name]:
        # What may be NaN is mostly finite: then both functions give the same.
        for function in {name, name.replace("numeric_", "any_", 1)} & ANSWERS.keys():
            ours = ANSWERS[function](*arguments)
            if ours != expected(name, answer):
                wrong.append((arguments, ours, answer))
    assert not wrong, (
        f"{len(wrong)} of {len(golden()[name])} differ, (arguments, ours, PostgreSQL's) of the first: {wrong[:10]}"
    )
