"""The windows that options of CREATE VIEW make, as PipelineDB has them: conditions of its query.

    sw = '1 hour' [, sw_column = t] [, step_factor = 5]   ->  ... WHERE ... AND t > now() - interval '1 hour'
    ttl = '1 hour', ttl_column = t                        ->  SELECT * FROM (...) v WHERE t > now() - interval '1 hour'

Enters: the options and the query as it is written. Leaves: the query with the condition. With a
step factor the condition is one on slices of that many percent of the window, with 0 on single
times. Must not know types or relations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import name_of
from sql.parse.syntax import (
    Constant,
    Derived,
    Expression,
    FunctionCall,
    Logic,
    Name,
    Operation,
    Query,
    SelectBody,
    Star,
    Target,
    TypeCast,
    TypeName,
)
from sql.times.civil import DAY_US
from sql.times.interval_input import interval_value

ARRIVAL = "arrival_timestamp"
ORIGIN = "1970-01-01 00:00:00+00"
MONTH_DAYS = 30
STEP_FACTOR_MAX = 50
# Each of the others needs the first one.
SLIDING, EXPIRING = ("sw", "sw_column", "step_factor"), ("ttl", "ttl_column")


def with_window(query: Query, options: Mapping[str, str], name: str, columns: Sequence[str]) -> Query:
    """Return the query of CREATE VIEW name (columns) with the conditions that its options make.

    Raises 22023 for options that do not go together, and 0A000 for a query without a WHERE.
    """
    given = [option for option in (*SLIDING, *EXPIRING) if option in options]
    if not given:
        return query
    for first, *others in (SLIDING, EXPIRING):
        for option in others:
            if option in options and first not in options:
                raise SqlError("22023", f'parameter "{option}" needs "{first}"')
    for other in ("ttl", "emit", "lateness", "late"):
        if "sw" in options and other in options:
            raise SqlError("22023", f'parameters "sw" and "{other}" exclude each other')
    if options.get("action") == "transform":
        raise SqlError("22023", f'parameter "{given[0]}" is none of transforms')
    position = query.position
    if "ttl" in options:
        return _expiring(query, options, name, columns)
    body = query.body
    if not isinstance(body, SelectBody):
        hint = f"Write {ARRIVAL} > now() - interval '{options['sw']}' into each WHERE."
        raise not_supported("sw of a query that is not a single SELECT", position, hint=hint)
    column = Name((options.get("sw_column", ARRIVAL),), position)
    condition = _younger(_sliced(column, options), "sw", options["sw"])
    operands = (condition,) if body.where is None else (body.where, condition)
    where = operands[0] if len(operands) == 1 else Logic("and", operands, position, "AND")
    return replace(query, body=replace(body, where=where))


def _expiring(query: Query, options: Mapping[str, str], name: str, columns: Sequence[str]) -> Query:
    """Return the query over another one that keeps the rows that are younger than `ttl`."""
    if "ttl_column" not in options:
        raise SqlError("22023", 'parameter "ttl" needs "ttl_column"')
    position = query.position
    rows = Derived(query, name_of(name), tuple(columns), position)
    where = _younger(Name((options["ttl_column"],), position), "ttl", options["ttl"])
    body = SelectBody((Target(Star((), position), None, position),), False, (rows,), where, (), None, (), position)
    return Query((), body, (), None, None, position)


def _younger(time: Expression, option: str, age: str) -> Expression:
    """Return the condition that a time is less than an age ago."""
    _size_us(option, age)
    now = FunctionCall("now", (), time.position, "now()", "now")
    bound = Operation("-", (now, _interval(age, time.position)), time.position, "-")
    return Operation(">", (time, bound), time.position, ">")


def _sliced(column: Name, options: Mapping[str, str]) -> Expression:
    """Return the start of the slice that has a time, where a step factor says how wide it is."""
    text = options.get("step_factor")
    if text is None:
        return column
    if not text.isdecimal() or int(text) > STEP_FACTOR_MAX:
        detail = f"It is the width of a step in percent of the window, up to {STEP_FACTOR_MAX}; 0 is exact."
        raise SqlError("22023", f'invalid value for option "step_factor": "{text}"', detail=detail)
    step_us = max(_size_us("sw", options["sw"]) * int(text) // 100, 1)
    position = column.position
    origin = Constant("string", ORIGIN, position)
    arguments = (_interval(f"{step_us} microseconds", position), column, origin)
    return FunctionCall("date_bin", arguments, position, "date_bin", "date_bin")


def _interval(text: str, position: int) -> TypeCast:
    target = TypeName("interval", (), position, "interval")
    return TypeCast(Constant("string", text, position), target, position, f"interval '{text}'")


def _size_us(option: str, text: str) -> int:
    """Return the microseconds of an interval, months as 30 days. Raises 22023."""
    try:
        months, days, micros = interval_value(text)
    except SqlError as error:
        message = f'invalid value for option "{option}": "{text}"'
        raise SqlError("22023", message, hint="It is an interval, such as '1 hour'.") from error
    found = (months * MONTH_DAYS + days) * DAY_US + micros
    if found <= 0:
        raise SqlError("22023", f'invalid value for option "{option}": "{text}"', detail="It is greater than zero.")
    return found
