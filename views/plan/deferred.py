"""The part of a plan that readers of a version evaluate, since some row of it can't be evaluated.

Enters: a plan. Leaves: a relation over one scan of the rows that could be made. A reader's query
takes the relation in the place of the view, as PostgreSQL takes an ordinary view: so a group that
divides by zero fails only queries that ask for its quotient. Must not run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, OutputColumn, Project, Relation, Scan, Schema
from sql.tree.row_keys import row_keys
from sql.tree.walks import rewrite_everywhere
from sql.types.datatypes import BOOL, INT8, scaled_numeric
from views.model.nodes import FinishStep
from views.model.plan import Plan
from views.model.steps import unique_names

LEAF = ("", "groups")  # name and kind of the scan
HUGE = Decimal(10**37)


def unmade_schema(groups: Schema, unmade: Sequence[int]) -> Schema:
    """Return the columns of groups, and an int8 for each aggregate that some groups can't
    represent.

    The int8 is 1 for these groups. unmade: the places of these aggregates.
    """
    names = unique_names([*(column.name for column in groups), *("out_of_range" for _ in unmade)])
    return (*groups, *(OutputColumn(name, INT8) for name in names[len(groups) :]))


def above_groups(plan: Plan, unmade: Sequence[int]) -> Relation:
    """Return the plan above the groups, over a scan of them in `unmade_schema`.

    unmade: places of aggregates among the columns of the groups.
    """
    groups = plan.finish.input
    schema = unmade_schema(groups, unmade)
    columns: list[Expression] = [Column(place, column.name, column.type) for place, column in enumerate(schema)]
    for flag, place in enumerate(unmade, len(groups)):
        columns[place] = _guarded(columns[place], columns[flag])
    items = tuple((column.name, item) for column, item in zip(groups, columns, strict=False))
    return _above_finished(plan, _stepped(Project(Scan(*LEAF, schema), items), plan.finish))


def above_finished(plan: Plan) -> Relation:
    """Return the upper pipeline and the tail, over a scan of the rows of the finish step."""
    return _above_finished(plan, Scan(*LEAF, plan.finish.output))


def view_keys(plan: Plan) -> tuple[int, ...] | None:
    """Return the places of the columns by which the rows of a view of one state are told apart,
    None where none are known.
    """
    groups = tuple(range(len(plan.stream.keys)))
    return row_keys(above_groups(plan, ()), lambda scan: groups if (scan.name, scan.kind) == LEAF else None)


def in_place_of(view: str, above: Relation, root: Relation) -> Relation:
    """Return a reader's query with `above`, over the rows that could be made, where it scans the
    view.
    """

    def leaf(part: Relation) -> Relation:
        return Scan(view, "view", part.schema) if isinstance(part, Scan) and (part.name, part.kind) == LEAF else part

    rows = rewrite_everywhere(above, leaf)

    def scanned(part: Relation) -> Relation:
        if not isinstance(part, Scan) or (part.name, part.kind) != (view, "view"):
            return part
        assert [column.type for column in part.schema] == [column.type for column in rows.schema], (part, rows.schema)
        columns = enumerate(part.schema)
        return Project(rows, tuple((column.name, Column(place, column.name, column.type)) for place, column in columns))

    return rewrite_everywhere(root, scanned)


def _above_finished(plan: Plan, rows: Relation) -> Relation:
    if plan.upper is not None:
        name = plan.upper.groups

        def leaf(part: Relation) -> Relation:
            return rows if isinstance(part, Scan) and (part.name, part.kind) == (name, "groups") else part

        rows = rewrite_everywhere(plan.upper.relation, leaf)
    return rows if plan.tail is None else _stepped(rows, plan.tail)


def _stepped(rows: Relation, step: FinishStep) -> Relation:
    for predicate in step.predicates:
        rows = Filter(rows, predicate)
    return Project(rows, step.items)


def _guarded(column: Expression, flag: Expression) -> Expression:
    """Return the column, or, for groups with the flag, an expression of its type that is out of
    range.
    """
    return Case(((Call("eq", (flag, Literal(1, INT8)), BOOL), _out_of_range(column, flag)),), column, column.type)


def _out_of_range(column: Expression, flag: Expression) -> Expression:
    """Return an expression that fails for a flag of 1 as the aggregate does.

    It is not made of constants alone, which would fail every reader.
    """
    kind = column.type
    if kind.family == "int8":
        return Call("add", (flag, Literal(2**63 - 1, INT8)), INT8)
    if kind.family in ("float4", "float8"):
        largest = Literal(1.7e308, kind) if kind.family == "float8" else Literal(3.4e38, kind)
        return Call("multiply", (Cast(Call("add", (flag, flag), INT8), kind), largest), kind)
    plain = scaled_numeric(0)
    huge = Call("multiply", (Cast(flag, plain), Literal(HUGE, plain)), plain)
    return Cast(Call("multiply", (huge, Literal(HUGE, plain)), plain), kind)
