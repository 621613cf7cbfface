"""The groups of a state that no query asks for again, since all ask for groups younger than an age.

Enters: a state, and the query above the states of its view. Leaves: the key that tells how old a
group is, and the age from which on it is in no answer. Such groups leave memory and checkpoints
(`views.upkeep.group_state`), so that a state with an age is not whole: nothing else may be read of
it. Must not know the memory of groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sql.errors import SqlError
from sql.functions.arguments import literal_integer
from sql.functions.comparisons import COMPARED_DAYS, TURNED
from sql.times.civil import DAY_US
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, Join, Project, Relation, Scan
from sql.tree.walks import children, inputs, subqueries_of
from sql.types.datatypes import BOOL
from views.model.plan import Plan
from views.model.trees import columns_of, conjuncts, meaning, substitute, uses_now

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
        time: what the key is of the rows of the stream.
        unit_us: of which the key is a number, since 1970.
        age_us: a group is in no answer once its key is so long ago, on the clock of every reader.
    """

    key: int
    time: Expression
    unit_us: int
    age_us: int

    def has_all_of(self, other: Passing | None) -> bool:
        """Tell whether no group passes before it does in another way."""
        return other is not None and other.time == self.time and other.age_us <= self.age_us

    def oldest(self, now_us: int) -> int:
        """Return a key such that no smaller ones are in an answer now or later; it moves by
        steps.
        """
        step = max(self.age_us // self.unit_us // LOOKS, 1)
        return (now_us - self.age_us) // self.unit_us // step * step


def passing(root: Relation | None, name: str, plan: Plan) -> Passing | None:
    """Return how the groups of a state pass, None: all of them are kept.

    root: the query above the states, None: there is none. name: by which it scans this one. plan:
    of it.
    """
    found: Passing | None = None
    if root is None:
        items: list[Expression] = [
            Column(place, column.name, column.type) for place, column in enumerate(plan.finish.input)
        ]
        scanned = [tuple(one for predicate in plan.finish.predicates for one in conjuncts(predicate))]
    else:
        is_plain = plan.upper is None and plan.tail is None
        items = [item for _, item in plan.finish.items] if is_plain else []
        scanned = list(_conditions(root, (), name))
    for number, conditions in enumerate(scanned):
        ages = [one for condition in conditions if (one := _passing(condition, plan, items)) is not None]
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
        case Join(kind="inner" | "cross"):
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


def _passing(condition: Expression, plan: Plan, items: Sequence[Expression]) -> Passing | None:
    """Return how groups pass that do not meet a condition on the columns of a state.

    items: these columns of the groups.
    """
    if not isinstance(condition, Call) or condition.function not in TURNED:
        return None
    time, bound = condition.arguments
    if columns_of(bound):
        time, bound = bound, time
    # A time is after the bound.
    after = condition.function if time is condition.arguments[0] else TURNED[condition.function]
    is_clock = isinstance(time, Cast) or (isinstance(time, Call) and time.function in COMPARED_DAYS.values())
    column = children(time)[0] if is_clock else time
    if after not in ORDERS or not isinstance(column, Column) or columns_of(bound):
        return None
    item = items[column.index] if column.index < len(items) else None
    age_us, unit_us = _age_us(bound), UNITS_US.get(column.type.family)
    keys = plan.stream.keys
    if not isinstance(item, Column) or item.index >= len(keys) or age_us is None or unit_us is None:
        return None
    slack_us = ZONES_SLACK_US if is_clock or column.type.family != "timestamptz" else 0
    return Passing(item.index, meaning(keys[item.index][1]), unit_us, age_us + slack_us)


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
