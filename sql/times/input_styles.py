"""The styles in which a session reads texts as values: the order of its DateStyle, and its
IntervalStyle.

The time zone is not among the styles.
"""

from __future__ import annotations

from typing import NamedTuple

DATES = frozenset({"date", "timestamp", "timestamptz", "time", "timetz"})


class InputStyles(NamedTuple):
    """The styles in which a session reads texts as values.

    Attributes:
        date_order: MDY, DMY or YMD, the meaning of 1/2/3.
        interval_style: with sql_standard a minus in front holds for a whole interval.
    """

    date_order: str = "MDY"
    interval_style: str = "postgres"

    def reads_otherwise(self, family: str) -> bool:
        """Tell whether some texts mean another value of a type than in a session that has set
        nothing.
        """
        if family == "interval":
            return self.interval_style == "sql_standard"
        return family in DATES and self.date_order != "MDY"


USUAL = InputStyles()


def input_styles(date_style: str, interval_style: str) -> InputStyles:
    """Return the styles of a session with these settings, as SHOW prints them."""
    return InputStyles(date_style.split(", ")[1], interval_style)
