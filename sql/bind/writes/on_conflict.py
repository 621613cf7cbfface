"""ON CONFLICT: which unique constraints decide, and the relations that find and change the rows
already there.

Enters: an `OnConflict` and its target. Leaves: a `BoundConflict`. The rows to insert arrive as the
scan `EXCLUDED`, numbered in their order; the caller that runs the
INSERT evaluates its relations one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope
from sql.bind.queries.from_clause import side_by_side
from sql.bind.writes.assignments import bind_assignments
from sql.bind.writes.constraints import indexed, row_binder
from sql.bind.writes.write_target import (
    columns_schema,
    condition_of,
    filtered,
    identity_of,
    stored,
    target_scan,
    target_scope,
)
from sql.catalog.catalog import ConstraintDescription, RelationDescription
from sql.errors import SqlError
from sql.parse.statements.parts import OnConflict
from sql.tree.expressions import Call, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Filter, Join, OutputColumn, Project, Relation, Scan, Sort, Window
from sql.tree.walks import columns_of, map_expression
from sql.types.datatypes import BOOL, INT8

EXCLUDED = "?excluded?"
ORDINAL = OutputColumn("?ordinal?", INT8)
NO_MATCH = "there is no unique or exclusion constraint matching the ON CONFLICT specification"


@dataclass(frozen=True, slots=True)
class Arbiter:
    """A unique constraint that decides.

    Attributes:
        names: of the constraint, and of those over the same values.
        matched: (ordinal, identity) of each row to insert that has a counterpart in the table.
        repeated: (ordinal, the first such ordinal) of each row to insert whose key occurs several
            times among them.
    """

    names: tuple[str, ...]
    matched: Relation
    repeated: Relation


@dataclass(frozen=True, slots=True)
class BoundConflict:
    """ON CONFLICT. updates None: DO NOTHING.

    Else (ordinal, identity, all columns as they will be) of each row to change.

    Attributes:
        changed: indexes of the columns that SET names.
        reads: columns of the rows that are there, or of `excluded`, are named.
    """

    arbiters: tuple[Arbiter, ...]
    updates: Relation | None
    changed: tuple[int, ...]
    reads: bool


def bind_conflict(
    clause: OnConflict, relation: RelationDescription, alias: str | None, context: BindContext
) -> BoundConflict:
    """Return the clause in terms of relations.

    Raises 42P10 for columns without a unique constraint, as all those of a stream are.
    """
    if clause.assignments is not None and clause.columns is None and clause.constraint is None:
        message = "ON CONFLICT DO UPDATE requires inference specification or constraint name"
        hint = "For example, ON CONFLICT (column_name)."
        raise SqlError("42601", message, clause.position, hint=hint)
    keys = decisive_keys(clause, relation, context)
    arbiters = tuple(make_arbiter(relation, key) for key in keys)
    reads = bool(clause.columns or clause.expressions) or clause.constraint is not None
    if clause.assignments is None:
        return BoundConflict(arbiters, None, (), reads)
    joined = with_counterpart(relation, keys[0].values(relation.columns))
    scope = conflict_scope(relation, alias)
    changes = bind_assignments(clause.assignments, relation, Binder(scope, context, "UPDATE"))
    found = filtered(joined, scope, clause.where, context)
    new = tuple(
        (column.name, stored(changes.get(index, Column(index, column.name, column.type)), column))
        for index, column in enumerate(relation.columns)
    )
    updates = Project(found, (ordinal_of(relation), identity_of(relation), *new))
    reads |= any(True for value in (*changes.values(), *condition_of(found)) for _ in columns_of(value))
    return BoundConflict(arbiters, updates, tuple(sorted(changes)), reads)


def conflict_scope(relation: RelationDescription, alias: str | None) -> Scope:
    """Return the names in SET and WHERE: the row that is there, and `excluded`, the one that was to
    be inserted.
    """
    width = len(relation.columns) + 1
    return side_by_side(target_scope(relation, alias, width), target_scope(relation, "excluded", width))


def decisive_keys(
    clause: OnConflict, relation: RelationDescription, context: BindContext
) -> list[ConstraintDescription]:
    """Return the constraints that decide: all unique ones if the clause names none."""
    unique = [constraint for constraint in relation.constraints if constraint.is_key]
    if clause.constraint is not None:
        return [named_constraint(clause.constraint, relation)]
    if clause.columns is None:
        return unique
    by_name = {column.name: column.number for column in relation.columns}
    wanted = set()
    for name, position in clause.columns:
        if name not in by_name:
            raise SqlError("42703", f'column "{name}" does not exist', position)
        wanted.add(by_name[name])
    binder = row_binder(relation, context.catalog, context.settings, "index expressions", context.references)
    computed = [nameless(indexed(binder, one)) for one in clause.expressions]
    binder = row_binder(relation, context.catalog, context.settings, "index predicates", context.references)
    given = [] if clause.condition is None else conjuncts(nameless(indexed(binder, clause.condition)))
    keys = [key for key in unique if set(key.columns) - {0} == wanted and _has_parts(key, computed, given)]
    if not keys:
        raise SqlError("42P10", NO_MATCH)
    # One of all rows decides for those of a part of them.
    return [key for key in keys if key.where is None][:1] or keys


def _has_parts(key: ConstraintDescription, computed: Sequence[Expression], given: Sequence[Expression]) -> bool:
    """Tell whether a key computes these expressions and no others, in the rows of a condition at
    least. given: what the condition asks for.
    """
    own = [nameless(one) for one in key.expressions[: key.columns.count(0)]]
    asked = [] if key.where is None else conjuncts(nameless(key.where))
    alike = all(one in computed for one in own) and all(one in own for one in computed)
    return alike and all(one in given for one in asked)


def nameless(expression: Expression) -> Expression:
    """Return an expression whose columns have no names, by which equal ones could differ."""
    return map_expression(expression, lambda node: replace(node, name="") if isinstance(node, Column) else None)


def conjuncts(condition: Expression) -> list[Expression]:
    """Return the parts of a condition that AND joins."""
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in conjuncts(argument)]
    return [condition]


def named_constraint(name: str, relation: RelationDescription) -> ConstraintDescription:
    """Return the unique constraint that ON CONSTRAINT means."""
    for constraint in relation.constraints:
        if constraint.name == name and not constraint.is_index:
            if not constraint.is_key:
                raise SqlError("42809", "constraint in ON CONFLICT clause has no associated index")
            return constraint
    raise SqlError("42704", f'constraint "{name}" for table "{relation.name}" does not exist')


def make_arbiter(relation: RelationDescription, key: ConstraintDescription) -> Arbiter:
    """Return the relations that a unique key needs."""
    values = key.values(relation.columns)
    same = [one.name for one in relation.constraints if one.is_key and one.values(relation.columns) == values]
    matched = Project(with_counterpart(relation, values), (ordinal_of(relation), identity_of(relation)))
    return Arbiter(tuple(same), matched, repeated_rows(relation, values))


def excluded_scan(relation: RelationDescription) -> Scan:
    """Return the rows to insert, with their numbers in the last column."""
    return Scan(EXCLUDED, "rows", (*columns_schema(relation), ORDINAL))


def ordinal_of(relation: RelationDescription) -> tuple[str, Expression]:
    """Return the item that yields the number of the row to insert in a row of
    `with_counterpart`.
    """
    return (ORDINAL.name, Column(2 * len(relation.columns) + 1, ORDINAL.name, ORDINAL.type))


def with_counterpart(relation: RelationDescription, key: Sequence[Expression]) -> Relation:
    """Return each row of the table, with its identity, beside the row to insert that has the same
    key. key: its values over a row of the table.
    """
    width = len(relation.columns) + 1

    def beside(node: Expression) -> Expression | None:
        return replace(node, index=node.index + width) if isinstance(node, Column) else None

    equal = tuple(Call("eq", (value, map_expression(value, beside)), BOOL) for value in key)
    condition = equal[0] if len(equal) == 1 else Call("and", equal, BOOL)
    return Join(target_scan(relation), excluded_scan(relation), "inner", condition)


def repeated_rows(relation: RelationDescription, columns: tuple[Expression, ...]) -> Relation:
    """Return (ordinal, first ordinal with the same key) of rows to insert whose key, without a NULL
    in it, occurs several times.
    """
    present = tuple(Call("is_not_null", (column,), BOOL) for column in columns)
    condition: Expression = present[0] if len(present) == 1 else Call("and", present, BOOL)
    rows = Filter(excluded_scan(relation), condition)
    width = len(relation.columns)
    ordinal = Column(width, ORDINAL.name, INT8)
    first = WindowCall("min", (ordinal,), INT8, partition_by=columns)
    count = WindowCall("count_star", (), INT8, partition_by=columns)
    windowed = Window(rows, (("first", first), ("count", count)))
    several = Filter(windowed, Call("gt", (Column(width + 2, "count", INT8), Literal(1, INT8)), BOOL))
    items: tuple[tuple[str, Expression], ...] = (("ordinal", ordinal), ("first", Column(width + 1, "first", INT8)))
    return Sort(Project(several, items), (SortKey(Column(0, "ordinal", INT8)),))
