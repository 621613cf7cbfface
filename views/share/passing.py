"""The groups of a state that no query asks for again, since all ask for groups younger than an age.

Enters: the query above the states of a view, and one of them. Leaves: the key that tells how old a
group is, and the age from which on it is in no answer. Such groups leave memory and checkpoints
(`views.upkeep.group_state`), so that a state with an age is not whole: nothing else may be read of
it. Must not know the memory of groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sql.errors import SqlError
from sql.functions.arguments import literal_integer
from sql.functions.comparisons import TURNED
from sql.times.civil import DAY_US
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, Join, Project, Relation, Scan
from sql.tree.walks import children, inputs, subqueries_of
from sql.types.datatypes import BOOL
from views.model.plan import Plan
from views.model.trees import columns_of, conjuncts, substitute, uses_now

TRUE = Literal(True, BOOL)
ORDERS = frozenset({"gt", "ge"})
# No month has more days.
MONTH_DAYS_MAX = 31
# A day on a clock is not longer than two, where clocks are changed; and clocks differ by a week.
DAYS_SLACK_US, ZONES_SLACK_US = DAY_US, 8 * DAY_US
# The functions of which bounds are made, with the number of constants that they take.
BOUNDS = {"now": 0, "date_subtract_days": 1, "add_interval": 3}
# So often groups are looked at while as much time passes as they are kept.
LOOKS = 64
# Words count microseconds since 1970, those of dates days.
UNITS_US = {"timestamp": 1, "timestamptz": 1, "date": DAY_US}


@dataclass(frozen=True)
class Passing:
    """How groups pass.

    Attributes:
        key: the number of the key among those of the pipeline whose groups are read.
        unit_us: of which the key is a number, since 1970.
        age_us: a group is in no answer once its key is so long ago, on the clock of every reader.
    """

    key: int
    unit_us: int
    age_us: int

    def oldest(self, now_us: int) -> int:
        """Return a key such that no smaller ones are in an answer now or later; it moves by
        steps.
        """
        step = max(self.age_us // self.unit_us // LOOKS, 1)
        return (now_us - self.age_us) // self.unit_us // step * step


def passing(root: Relation, name: str, plan: Plan) -> Passing | None:
    """Return how the groups of a state pass, None: all of them are kept.

    root: the query above the states. name: by which it scans this one. plan: of it.
    """
    found: Passing | None = None
    for number, conditions in enumerate(_conditions(root, (), name)):
        ages = [one for condition in conditions if (one := _passing(condition, plan)) is not None]
        if not ages or (number and ages[0] != found):
            return None
        found = ages[0]
    return found


def _conditions(relation: Relation, above: tuple[Expression, ...], name: str) -> Iterator[tuple[Expression, ...]]:
    """Yield for each scan of a state the conditions with now() that its rows meet where they count.

    above: on the rows of `relation`.
    """
    for item in children(relation):
        for subquery in subqueries_of(item):
            yield from _conditions(subquery.relation, (), name)
    match relation:
        case Scan():
            if relation.name == name:
                yield above
        case Filter():
            own = (one for one in conjuncts(relation.predicate) if uses_now(one))
            yield from _conditions(relation.input, (*above, *own), name)
        case Project():
            values = [item for _, item in relation.items]
            yield from _conditions(relation.input, tuple(substitute(one, values) for one in above), name)
        case Join(kind="inner" | "cross", lateral=None):
            width = len(relation.left.schema)
            own = (one for one in conjuncts(relation.condition or TRUE) if uses_now(one))
            known = [(columns_of(one), one) for one in (*above, *own)]
            left = tuple(one for columns, one in known if max(columns, default=width) < width)
            right = (one for columns, one in known if min(columns, default=0) >= width)
            places = [Column(max(place - width, 0), "", one.type) for place, one in enumerate(relation.schema)]
            yield from _conditions(relation.left, left, name)
            yield from _conditions(relation.right, tuple(substitute(one, places) for one in right), name)
        case _:
            for part in inputs(relation):
                yield from _conditions(part, (), name)


def _passing(condition: Expression, plan: Plan) -> Passing | None:
    """Return how groups pass that do not meet a condition on the columns of a state."""
    if not isinstance(condition, Call) or condition.function not in TURNED:
        return None
    time, bound = condition.arguments
    if columns_of(bound):
        time, bound = bound, time
    # A time is after the bound.
    after = condition.function if time is condition.arguments[0] else TURNED[condition.function]
    column = time.operand if isinstance(time, Cast) else time
    if after not in ORDERS or not isinstance(column, Column) or columns_of(bound):
        return None
    key, age_us = _key(column.index, plan), _age_us(bound)
    unit_us = UNITS_US.get(column.type.family)
    if key is None or age_us is None or unit_us is None:
        return None
    slack_us = ZONES_SLACK_US if isinstance(time, Cast) or column.type.family != "timestamptz" else 0
    return Passing(key, unit_us, age_us + slack_us)


def _key(column: int, plan: Plan) -> int | None:
    """Return the number of the key that a column of the rows above a state is, None: it is none."""
    if plan.upper is not None or plan.tail is not None:
        return None
    _, item = plan.finish.items[column]
    is_key = isinstance(item, Column) and item.index < len(plan.stream.keys)
    return item.index if is_key and isinstance(item, Column) else None


def _age_us(bound: Expression) -> int | None:
    """Return how long before now() a bound is at most, but for zones; None: nobody knows."""
    if isinstance(bound, Cast):
        # A date is a day or less before the time.
        below = _age_us(bound.operand)
        return None if below is None else below + DAY_US
    if not isinstance(bound, Call) or bound.function not in BOUNDS:
        return None
    if bound.function == "now":
        return 0
    below = _age_us(bound.arguments[0])
    counts = [count for part in bound.arguments[1:4] if (count := _integer(part)) is not None]
    if below is None or len(counts) != BOUNDS[bound.function]:
        return None
    if bound.function == "date_subtract_days":
        return below + counts[0] * DAY_US
    months, days, micros = counts
    slack_us = DAYS_SLACK_US if months or days else 0
    return below + slack_us - (min(months, 0) * MONTH_DAYS_MAX + days) * DAY_US - micros


def _integer(expression: Expression) -> int | None:
    try:
        return literal_integer(expression, "an interval")
    except SqlError:
        return None
