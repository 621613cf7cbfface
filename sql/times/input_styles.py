"""How a session reads texts as values, beside its time zone: the order in its DateStyle, and its IntervalStyle."""

from __future__ import annotations

from typing import NamedTuple

DATES = frozenset({"date", "timestamp", "timestamptz", "time", "timetz"})


class InputStyles(NamedTuple):
    """date_order: MDY, DMY or YMD, what 1/2/3 is; with interval_style sql_standard a minus in front holds for a whole interval."""

    date_order: str = "MDY"
    interval_style: str = "postgres"

    def reads_otherwise(self, family: str) -> bool:
        """Tell whether some texts mean another value of this type than they do in a session that has set nothing."""
        if family == "interval":
            return self.interval_style == "sql_standard"
        return family in DATES and self.date_order != "MDY"


USUAL = InputStyles()


def input_styles(date_style: str, interval_style: str) -> InputStyles:
    """Return how a session reads texts that has these settings, as SHOW prints them."""
    return InputStyles(date_style.split(", ")[1], interval_style)
