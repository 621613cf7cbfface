"""'now', 'today', 'tomorrow' and 'yesterday' as constants of dates and times: the start of the transaction, as now() has it."""

from __future__ import annotations

from sql.bind.context import BindContext
from sql.errors import not_supported
from sql.times.datetime_input import CLOCK_WORDS
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.types.datatypes import DATE, INT4, TIMESTAMPTZ, SqlType

DAYS = {"today": 0, "tomorrow": 1, "yesterday": -1}
FAMILIES = frozenset({"date", "time", "timestamp", "timestamptz"})


def clock_value(text: str, target: SqlType, context: BindContext, position: int | None) -> Expression | None:
    """Return what a constant text means that is nothing but such a word, None for every other one. Raises 0A000 in definitions."""
    word = text.strip().lower()
    if target.family not in FAMILIES or word not in CLOCK_WORDS or (target.family == "time" and word != "now"):
        return None
    if context.settings.is_shared:
        # PostgreSQL keeps the time of the definition for ever, which nobody wants.
        raise not_supported(f"'{word}' in a definition", position, hint="Write now(), or the time itself.")
    context.stable = True
    now = Call("now", (), TIMESTAMPTZ, position, "now()")
    zone = context.settings.clock_zone
    if word == "now":
        return now if target == TIMESTAMPTZ else Cast(now, target, False, zone, position)
    day: Expression = Cast(now, DATE, False, zone, position)
    if DAYS[word]:
        day = Call("date_add_days", (day, Literal(DAYS[word], INT4)), DATE, position, word)
    return day if target == DATE else Cast(day, target, False, zone if target.family == "timestamptz" else "", position)
