"""Functions of dates and timestamps in plain Python: microseconds and days since
1970, no NULLs.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sql.tree.expressions import Call

DAY_US = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local(us: int, zone: str) -> int:
    moment = (EPOCH + timedelta(microseconds=us)).astimezone(ZoneInfo(zone))
    offset = moment.utcoffset()
    assert offset is not None
    return us + offset // timedelta(microseconds=1)


def date_bin(node: Call, values: list[Any]) -> int:
    (_, days, micros), us, origin = values
    return int(us - (us - origin) % (days * DAY_US + micros))


def date_trunc(node: Call, values: list[Any]) -> int:
    unit, us, *zone = values
    assert not zone, "zoned truncation is tested with its kernels"
    sizes = {"day": DAY_US, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
    if unit in sizes:
        return int(us // sizes[unit] * sizes[unit])
    day = date(1970, 1, 1) + timedelta(days=us // DAY_US)
    if unit == "week":
        day -= timedelta(days=day.weekday())
    else:
        day = day.replace(day=1, month=1 if unit == "year" else day.month)
    return (day - date(1970, 1, 1)).days * DAY_US


def extract(node: Call, values: list[Any]) -> Decimal:
    field, value, *_ = values
    us = value * DAY_US if node.arguments[1].type.family == "date" else value
    if field == "epoch":
        return Decimal(us).scaleb(-6) if node.type.display_scale == 6 else Decimal(us // 1_000_000)
    moment = EPOCH + timedelta(microseconds=us)
    if field == "second":
        return Decimal(us % 60_000_000).scaleb(-6)
    return Decimal((moment.weekday() + 1) % 7 if field == "dow" else int(getattr(moment, field)))
