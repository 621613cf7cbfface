"""A subquery over tables in an expression over a stream's rows becomes a join, so that it is
evaluated once and probed by each row.

    WHERE EXISTS (SELECT FROM t WHERE k = s.k), s.k IN (SELECT k FROM t)   ->  JOIN the distinct k of t
    NOT EXISTS, or either one inside of an expression                      ->  LEFT JOIN them with a mark, and ask for the mark
    s.v > (SELECT avg(x) FROM t WHERE k = s.k)                             ->  LEFT JOIN the groups of t by k
    s.v > (SELECT max(x) FROM t), s.v > ANY (SELECT x FROM t)              ->  CROSS JOIN one row

The outer row is asked for by equality only, as in `views.plan.rules.subquery_grouping`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.functions.comparisons import NEGATED, TURNED
from sql.tree.expressions import AggregateCall, Call, Case, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import Aggregate, Distinct, Filter, Join, OutputColumn, Project, Relation, Values
from sql.tree.walks import children, map_parts, open_columns, subqueries_of
from sql.types.datatypes import BOOL, INT8
from views.model.properties import is_ungrouped, scans
from views.model.trees import columns_of_schema, conjuncts, rewrite, substitute, substitute_call, walk
from views.plan.joins.join_graph import conjunction
from views.plan.rules.subquery_grouping import COUNTS, ORDERED, Flat, flat_relation

TRUE = Literal(True, BOOL)
FALSE = Literal(False, BOOL)
UNKNOWN = Literal(None, BOOL)
EXTREMES = {"lt": "max", "le": "max", "gt": "min", "ge": "min"}


def join_subqueries(relation: Relation) -> Relation:
    """Return an operator over a stream's rows with the subqueries over tables in its expressions as
    joins.
    """
    if not any(_is_of_tables(part) for item in children(relation) for part in subqueries_of(item)):
        return relation
    if isinstance(relation, Join) and relation.kind == "inner" and relation.lateral is None and is_ungrouped(relation):
        assert relation.condition is not None
        return join_subqueries(Filter(replace(relation, kind="cross", condition=None), relation.condition))
    if not isinstance(relation, Filter | Project | Aggregate) or not is_ungrouped(relation.input):
        return relation
    below = Joins(relation.input)
    if isinstance(relation, Filter):
        conditions = [below.condition(part) for part in conjuncts(relation.predicate)]
        kept = [condition for condition in conditions if condition is not None]
        filtered = Filter(below.relation, conjunction(kept)) if kept else below.relation
        return Project(filtered, columns_of_schema(relation))
    changed = map_parts(relation, below.change)
    assert isinstance(changed, Project | Aggregate)
    return replace(changed, input=below.relation)


class Joins:
    """A relation with more and more build sides after its columns."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation

    def condition(self, condition: Expression) -> Expression | None:
        """Return a condition over the longer row.

        None if it became an inner join that lets only such rows through.
        """
        if isinstance(condition, Subquery) and _is_of_tables(condition):
            matches = self._matches(condition)
            if matches is not None:
                self._join("inner", *matches)
                return None
        return rewrite(condition, self.change)

    def change(self, part: Expression) -> Expression | None:
        """Return the value of a subquery over tables, over the longer row; None for anything
        else.
        """
        if not isinstance(part, Subquery) or not _is_of_tables(part):
            return None
        is_open = any(True for _ in open_columns(part.relation))
        if part.kind in ("any", "all"):
            return self._compared(part)
        if not is_open:
            one = Project(Values(((),), ()), (("value", replace(part, arguments=())),))
            return self._join("cross", one, None)[0]
        if part.kind == "exists":
            matches = self._matches(part)
            if matches is None:
                compared = _as_comparison(part)
                found = None if compared is None else self._compared(compared)
                return None if found is None else Call("is_true", (found,), BOOL)
            return Call("is_not_null", (self._join("left", *matches)[-1],), BOOL)
        return self._aggregated(part) if part.kind == "scalar" else None

    def _matches(self, part: Subquery) -> tuple[Relation, Expression | None] | None:
        """Return the rows, each once and with a mark at the end, of which one at most fits a row,
        and the condition of the join.
        """
        flat = _flat(part)
        if flat is None or part.kind not in ("exists", "any") or (part.kind == "any" and part.comparison != "eq"):
            return None
        items = flat.items if part.kind == "any" else []
        values = tuple((f"v{index}", item) for index, item in enumerate(items))
        rows: Relation = Project(flat.source, (*flat.named_keys, *values))
        there: list[Expression] = [
            Call("is_not_null", (Column(len(flat.keys) + index, name, item.type),), BOOL)
            for index, (name, item) in enumerate(values)
        ]
        if there:
            rows = Filter(rows, conjunction(there))
        if not rows.schema:
            return None
        marked = Distinct(Project(rows, (*columns_of_schema(rows), ("mark", TRUE))))
        start = len(self.relation.schema)
        conditions = self._equalities(flat, part)
        for index, (operand, (name, item)) in enumerate(zip(part.operands, values, strict=part.kind == "any")):
            place = Column(start + len(flat.keys) + index, name, item.type)
            conditions.append(Call("eq", (operand, place), BOOL))
        return marked, conjunction(conditions)

    def _compared(self, part: Subquery) -> Expression | None:
        """Return the truth of a comparison with ANY or ALL rows of one column."""
        if len(part.operands) != 1:
            return None
        if part.kind == "all":
            found = self._compared(replace(part, kind="any", comparison=NEGATED.get(part.comparison, "")))
            return None if found is None else Call("not", (found,), BOOL)
        flat = _flat(part)
        (operand,) = part.operands
        if flat is None or part.comparison not in ("eq", *EXTREMES):
            return None
        (value,) = flat.items
        calls = [AggregateCall("count_star", (), INT8), AggregateCall("count", (value,), INT8)]
        if part.comparison != "eq":
            if value.type.family not in ORDERED:
                return None
            calls.append(AggregateCall(EXTREMES[part.comparison], (value,), value.type))
        rows_count, known_count, *extreme = self._grouped(flat, part, calls)
        if extreme:
            fits: Expression = Call(part.comparison, (operand, extreme[0]), BOOL)
        else:
            matches = self._matches(part)
            assert matches is not None
            fits = Call("is_not_null", (self._join("left", *matches)[-1],), BOOL)
        empty = Call("eq", (Call("coalesce", (rows_count, Literal(0, INT8)), INT8), Literal(0, INT8)), BOOL)
        unknown = Call("or", (Call("is_null", (operand,), BOOL), Call("lt", (known_count, rows_count), BOOL)), BOOL)
        return Case(((fits, TRUE), (empty, FALSE), (unknown, UNKNOWN)), FALSE, BOOL)

    def _aggregated(self, part: Subquery) -> Expression | None:
        """Return the value of a scalar subquery that aggregates what equals the outer row."""
        above: list[Filter | Project] = []
        relation = part.relation
        while isinstance(relation, Filter | Project):
            above.append(relation)
            relation = relation.input
        if not isinstance(relation, Aggregate) or relation.keys or relation.sets is not None:
            return None
        flat = flat_relation(relation.input)
        if flat is None or not flat.keys:
            return None
        given = [substitute_call(call, flat.items) for _, call in relation.aggregates]
        if any(isinstance(node, OuterColumn) for call in given for item in call.arguments for node in walk(item)):
            return None
        found = self._grouped(flat, part, given)
        values: list[Expression] = [
            Call("coalesce", (column, Literal(0, INT8)), INT8) if call.function in COUNTS else column
            for call, column in zip(given, found, strict=True)
        ]
        conditions: list[Expression] = []
        for operator in reversed(above):
            if isinstance(operator, Filter):
                conditions.append(self._outer(substitute(operator.predicate, values), part))
            else:
                values = [self._outer(substitute(item, values), part) for _, item in operator.items]
        (value,) = values
        if conditions:
            return Case(((conjunction(conditions), value),), Literal(None, value.type), value.type)
        return value

    def _grouped(self, flat: Flat, part: Subquery, calls: Sequence[AggregateCall]) -> list[Column]:
        """Join the aggregates of the rows that fit a row; NULL, or those of no rows, where none
        do.
        """
        named = tuple((f"a{index}", call) for index, call in enumerate(calls))
        groups = Aggregate(flat.source, flat.named_keys, named)
        equalities = self._equalities(flat, part)
        if not equalities:
            return self._join("cross", groups, None)
        return self._join("left", groups, conjunction(equalities))[len(flat.keys) :]

    def _equalities(self, flat: Flat, part: Subquery) -> list[Expression]:
        """Return what the next build side's first columns, the keys, are equal to."""
        start = len(self.relation.schema)

        def place(node: Expression) -> Expression | None:
            return replace(node, index=node.index + start) if isinstance(node, Column) else None

        return [self._outer(rewrite(condition, place), part) for condition in flat.equalities]

    def _outer(self, expression: Expression, part: Subquery) -> Expression:
        """Return an expression of a subquery's inside with the outer row's values in it."""
        return rewrite(expression, lambda node: part.arguments[node.index] if isinstance(node, OuterColumn) else None)

    def _join(self, kind: str, side: Relation, condition: Expression | None) -> list[Column]:
        """Add a build side and return its columns."""
        start = len(self.relation.schema)
        self.relation = Join(self.relation, side, kind, condition)
        schema: tuple[OutputColumn, ...] = side.schema
        return [Column(start + index, column.name, column.type) for index, column in enumerate(schema)]


def _flat(part: Subquery) -> Flat | None:
    """Return a subquery's rows with the equalities that ask for them.

    None if it is of another kind.
    """
    flat = flat_relation(part.relation)
    if flat is None or any(isinstance(node, OuterColumn) for item in flat.items for node in walk(item)):
        return None
    return flat


def _as_comparison(part: Subquery) -> Subquery | None:
    """Return EXISTS (...

    WHERE a < outer) as outer > ANY (SELECT a ...), if that is its only condition of the kind.
    """
    relation = part.relation
    while isinstance(relation, Project):
        relation = relation.input
    if not isinstance(relation, Filter):
        return None
    conditions = conjuncts(relation.predicate)
    for condition in conditions:
        sides = _comparison(condition)
        if sides is None:
            continue
        comparison, ours, theirs = sides
        operand = rewrite(theirs, lambda node: part.arguments[node.index] if isinstance(node, OuterColumn) else None)
        rest = [other for other in conditions if other is not condition]
        below = Filter(relation.input, conjunction(rest)) if rest else relation.input
        values = Project(below, (("value", ours),))
        return replace(part, kind="any", relation=values, operands=(operand,), comparison=comparison)
    return None


def _comparison(condition: Expression) -> tuple[str, Expression, Expression] | None:
    """Return a comparison of the outer row with an inner one: how, seen from the outer side, the
    inner and the outer value.
    """
    if not isinstance(condition, Call) or condition.function not in TURNED:
        return None
    left, right = condition.arguments
    kinds = [{type(node) for node in walk(side)} & {Column, OuterColumn, Subquery} for side in (left, right)]
    if kinds == [{Column}, {OuterColumn}]:
        return TURNED[condition.function], left, right
    if kinds == [{OuterColumn}, {Column}]:
        return condition.function, right, left
    return None


def _is_of_tables(part: Subquery) -> bool:
    return not scans(part.relation, "stream") and not scans(part.relation, "view")
