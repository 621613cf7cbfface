"""Gaps between buckets of time, filled as TimescaleDB does it: a SELECT that is grouped by
time_bucket_gapfill has a row for each bucket from start to finish for all other keys that there
are.

    SELECT time_bucket_gapfill('1 min', t) AS b, k, locf(avg(x)) ... GROUP BY b, k
      ->  the groups by date_bin and k, each joined with the buckets up to the next one of its k

Enters: the groups and the expressions over them. Leaves: plain operators. In the row of a gap an
aggregate is NULL; locf has the value of the last bucket before it, interpolate lies between that
and the next one. Buckets that begin outside of start and finish are there as well where they have
rows; rows without a time are in no bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.operators import binary
from sql.bind.expressions.placeholder_columns import FIRST_WINDOW
from sql.bind.expressions.time_functions import CARRIED, GAPFILL, INTERPOLATED
from sql.errors import SqlError, not_supported
from sql.tree.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    SortKey,
    WindowCall,
)
from sql.tree.relations import Aggregate, Filter, Join, OutputColumn, Project, Relation, TableFunction, Window
from sql.tree.walks import map_all, map_expression, map_parts, walk
from sql.types.datatypes import BOOL, FLOAT8, INT4, INT8, TEXT, SqlType, scaled_numeric

FILLING = frozenset({GAPFILL, CARRIED, INTERPOLATED})
MISSING_HINT = "Give start and finish as arguments, or bounds of the time in WHERE."


def with_gaps_filled(
    relation: Relation, expressions: list[Expression], binder: Binder
) -> tuple[Relation, list[Expression]]:
    """Return the groups of a SELECT with its gaps filled, if it is grouped by buckets with gaps,
    and the expressions over them.

    Raises 22023 without a start or a finish, 42803 for calls that have no gaps to fill.
    """
    groups = relation.input if isinstance(relation, Filter) else relation
    keys = groups.keys if isinstance(groups, Aggregate) else ()
    places = [place for place, (_, key) in enumerate(keys) if isinstance(key, Call) and key.function == GAPFILL]
    if not places:
        for call in _filling(expressions):
            message = f"{call.function} is only allowed in a query that is grouped by time_bucket_gapfill"
            raise SqlError("42803", message, call.position)
        return relation, expressions
    assert isinstance(groups, Aggregate) and binder.virtual is not None
    gap = keys[places[0]][1]
    assert isinstance(gap, Call)
    if len(places) > 1 or groups.sets is not None:
        raise not_supported("time_bucket_gapfill twice, or beside grouping sets", gap.position)
    filler = _Filler(binder, groups, places[0], gap, expressions)
    filled = filler.relation(relation.predicate if isinstance(relation, Filter) else None)
    virtual = binder.virtual
    virtual.windows = [(name, map_parts(call, filler.change)) for name, call in virtual.windows]
    virtual.sets = [
        (name, replace(call, arguments=map_all(call.arguments, filler.change))) for name, call in virtual.sets
    ]
    return filled, [map_expression(item, filler.change) for item in expressions]


def _filling(expressions: Sequence[Expression]) -> Iterator[Call]:
    for item in expressions:
        for part in walk(item):
            if isinstance(part, Call) and part.function in FILLING:
                yield part


@dataclass
class _Value:
    """The value that one call fills in.

    Attributes:
        place: the column of its value in a group.
        other: for locf that passes NULLs over, that of the value up to here; for interpolate that
            of the next bucket.
    """

    call: Call
    place: int
    other: int = 0


class _Filler:
    """The filling of one grouping."""

    def __init__(
        self, binder: Binder, groups: Aggregate, place: int, gap: Call, expressions: Sequence[Expression]
    ) -> None:
        bucket, *_ = gap.arguments
        assert isinstance(bucket, Call)
        self.binder, self.place, self.gap, self.bucket = binder, place, gap, bucket
        keys = list(groups.keys)
        keys[place] = (keys[place][0], bucket)
        self.groups = replace(groups, keys=tuple(keys))
        self.width = len(groups.schema)
        self.keys_count = len(keys)
        calls = [call for call in _filling(expressions) if call.function != GAPFILL]
        self.values = [_Value(call, self.width + number) for number, call in enumerate(dict.fromkeys(calls))]
        # The number of a bucket among those of its keys, the next one, then what values need.
        self.number = self.width + len(self.values)
        self.element = 0

    def relation(self, having: Expression | None) -> Relation:
        """Return the groups joined with the buckets that each of them stands for."""
        rows: Relation = self.groups if having is None else Filter(self.groups, having)
        schema = rows.schema
        kept = [(column.name, Column(at, column.name, column.type)) for at, column in enumerate(schema)]
        added = [("value", one.call.arguments[0]) for one in self.values]
        rows = Project(rows, (*kept, *added))
        bucket = Column(self.place, "bucket", self.bucket.type)
        rows = Filter(rows, Call("is_not_null", (bucket,), BOOL))
        partition = tuple(column for at, (_, column) in enumerate(kept[: self.keys_count]) if at != self.place)
        order = (SortKey(bucket),)
        calls = [
            ("number", WindowCall("row_number", (), INT8, partition, order)),
            ("next", WindowCall("lead", (bucket,), bucket.type, partition, order)),
        ]
        passing: list[_Value] = []
        for one in self.values:
            value = self._value(one)
            if one.call.function == INTERPOLATED:
                one.other = self.number + len(calls)
                calls.append(("next value", WindowCall("lead", (value,), value.type, partition, order)))
            elif isinstance(skips := one.call.arguments[2], Literal) and skips.value:
                one.other = self.number + len(calls)
                calls.append(("known", WindowCall("count", (value,), INT8, partition, order)))
                passing.append(one)
        rows = Window(rows, tuple(calls))
        if passing:
            start, firsts = len(rows.schema), []
            for at, one in enumerate(passing):
                value, known = self._value(one), Column(one.other, "known", INT8)
                firsts.append(
                    ("last value", WindowCall("first_value", (value,), value.type, (*partition, known), order))
                )
                one.other = start + at
            rows = Window(rows, tuple(firsts))
        self.element = len(rows.schema)
        joined = Join(rows, self._series(), "cross", None, self._bounds(bucket))
        # Nor before start.
        element = Column(self.element, "bucket", bucket.type)
        begun = Call("ge", (element, self._first()), BOOL)
        return Filter(joined, Call("or", (Call("eq", (element, bucket), BOOL), begun), BOOL))

    def _value(self, one: _Value) -> Column:
        return Column(one.place, "value", one.call.type)

    def _series(self) -> TableFunction:
        kind = self.bucket.type
        ends = (OuterColumn(0, "from", kind), OuterColumn(1, "to", kind), self.bucket.arguments[0])
        zone = (Literal("UTC", TEXT),) if kind.family == "timestamptz" else ()
        return TableFunction((("generate_series", (*ends, *zone)),), False, (OutputColumn("bucket", kind),))

    def _first(self) -> Expression:
        """Return the bucket of start."""
        width, _, origin = self.bucket.arguments
        return replace(self.bucket, arguments=(width, self._ends()[0], origin))

    def _bounds(self, bucket: Expression) -> tuple[Expression, Expression]:
        """Return the first bucket that a group stands for, and the last moment."""
        kind = self.bucket.type
        first, finish = self._first(), self._ends()[1]
        number, after = Column(self.number, "number", INT8), Column(self.number + 1, "next", kind)
        is_first = Call("eq", (number, Literal(1, INT8)), BOOL)
        begin = Case(((is_first, Call("least", (bucket, first), kind)),), bucket, kind)
        # No gap begins at finish or later.
        last = Call("least", (_moved(after, -1), _moved(finish, -1)), kind)
        return begin, Call("greatest", (bucket, last), kind)

    def _ends(self) -> tuple[Expression, Expression]:
        """Return start and finish, by the arguments or by the conditions on the time."""
        _, start, finish = self.gap.arguments
        found = dict[str, Expression]()
        below = self.groups.input
        time = self.bucket.arguments[1]
        for condition in _conjuncts(below.predicate) if isinstance(below, Filter) else ():
            if isinstance(condition, Call) and condition.function in ("gt", "ge", "lt", "le"):
                left, right = condition.arguments
                turned = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}[condition.function]
                for one, other, order in ((left, right, condition.function), (right, left, turned)):
                    bound = _as_time(one, other, time)
                    if bound is not None:
                        # The first moment within start, and the first one after finish.
                        moved = _moved(bound, 1) if order in ("gt", "le") else bound
                        found.setdefault("start" if order in ("gt", "ge") else "finish", moved)
        ends = []
        for name, given in (("start", start), ("finish", finish)):
            known = found.get(name) if isinstance(given, Literal) and given.value is None else given
            if known is None:
                message = f"missing time_bucket_gapfill argument: could not infer {name} from WHERE clause"
                raise SqlError("22023", message, self.gap.position, hint=MISSING_HINT)
            if any(isinstance(part, Column) for part in walk(known)):
                raise not_supported(f"the {name} of time_bucket_gapfill with columns", self.gap.position)
            ends.append(known)
        return ends[0], ends[1]

    def change(self, part: Expression) -> Expression | None:
        """Return what stands for a column or a call over groups in the row of a bucket."""
        kind = self.bucket.type
        bucket, element = Column(self.place, "bucket", kind), Column(self.element, "bucket", kind)
        is_there = Call("eq", (element, bucket), BOOL)
        match part:
            case Column() if part.index >= FIRST_WINDOW:
                return part
            case Column() if part.index == self.place:
                return element
            case Column() if part.index >= self.keys_count:
                return Case(((is_there, part),), Literal(None, part.type), part.type)
            case Call(function="locf"):
                one = next(one for one in self.values if one.call == part)
                is_after = Call("ge", (element, bucket), BOOL)
                known: Expression = Column(one.other, "last value", part.type) if one.other else self._value(one)
                before = map_expression(part.arguments[1], self.change)
                if one.other:
                    return Case(((is_after, Call("coalesce", (known, before), part.type)),), before, part.type)
                return Case(((is_after, known),), before, part.type)
            case Call(function="interpolate"):
                one = next(one for one in self.values if one.call == part)
                is_after = Call("gt", (element, bucket), BOOL)
                between = ((is_there, self._value(one)), (is_after, self._between(one)))
                return Case(between, Literal(None, part.type), part.type)
        return None

    def _between(self, one: _Value) -> Expression:
        """Return the value on the line between two buckets, NULL where one of them has none; that
        of integers is cut off, as TimescaleDB's is.
        """
        kind = one.call.type
        wide = FLOAT8 if kind.family in ("float4", "float8") else scaled_numeric(6)
        bucket, after, element = (self._epoch(at, wide) for at in (self.place, self.number + 1, self.element))
        first, last = (Cast(Column(at, "value", kind), _wide(kind)) for at in (one.place, one.other))

        def of(operator: str, left: Expression, right: Expression) -> Expression:
            return binary(self.binder, operator, left, right, self.gap.position or 0, "")

        left = of("*", first, of("-", after, element))
        right = of("*", last, of("-", element, bucket))
        found = of("/", of("+", left, right), of("-", after, bucket))
        if kind.family in ("int2", "int4", "int8"):
            found = Call("trunc", (found,), scaled_numeric(0))
        return found if found.type == kind else Cast(found, kind)

    def _epoch(self, at: int, wide: SqlType) -> Expression:
        """Return the time in a column in seconds."""
        kind = self.bucket.type
        zone = (Literal("UTC", TEXT),) if kind.family == "timestamptz" else ()
        found = Call("extract", (Literal("epoch", TEXT), Column(at, "bucket", kind), *zone), scaled_numeric(6))
        return Cast(found, FLOAT8) if wide == FLOAT8 else found


def _wide(kind: SqlType) -> SqlType:
    if kind.family in ("float4", "float8"):
        return FLOAT8
    return kind if kind.family == "numeric" else scaled_numeric(0)


def _moved(time: Expression, micros: int) -> Expression:
    zone = (Literal("UTC", TEXT),) if time.type.family == "timestamptz" else ()
    return Call("add_interval", (time, Literal(0, INT4), Literal(0, INT4), Literal(micros, INT8), *zone), time.type)


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from _conjuncts(part)
    else:
        yield condition


def _as_time(one: Expression, other: Expression, time: Expression) -> Expression | None:
    """Return the bound of a time of rows that a comparison has, None: it compares something
    else.
    """
    if any(isinstance(part, Column | AggregateCall) for part in walk(other)):
        return None
    if one == time and other.type == time.type:
        return other
    if isinstance(time, Cast) and one == time.operand and other.type == one.type:
        return Cast(other, time.type)
    return None
