"""The list of passes says which of them need an order: in every other order the plans are the same,
and each pair that is named is needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

import views.plan.planner as planner
from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import BoundQuery
from sql.tree.walks import relation_names
from sql.types.datatypes import INT4, INT8, TEXT, SqlType, numeric
from tests.end_to_end.view_shapes import SHAPES
from tests.plans.snapshot import FOLDER, SETTINGS, Relations
from views.model.definition import ViewDefinition, define_view
from views.plan.planner import ORDER, RULES, Rule, plan_view
from views.plan.prepare import prepared_view

Query = tuple[ViewDefinition, BoundQuery]

STREAM = {"k": INT4, "v": INT4, "t": TEXT, "d": numeric(10, 2)}
TABLES = {"a": {"id": INT4, "name": TEXT, "g": INT4}, "b": {"k": INT4, "x": INT4}}
STREAMS: dict[str, dict[str, SqlType]] = {"s": STREAM, "r": STREAM, "o": {"k": INT4, "w": INT8, "c": TEXT}}
# What the shapes and the snapshots have not.
MORE = """
SELECT k, lpad(NULL, 1 / v) AS x, count(*) FROM s GROUP BY 1, 2;
SELECT k, n FROM (SELECT k, n + 1 AS n FROM (SELECT k, count(*) AS n FROM (SELECT k + 1 AS k, v FROM
(SELECT v AS k, k AS v FROM s) AS x) AS y GROUP BY k) AS z WHERE k > 2) AS w WHERE n > 3 AND k < 9;
SELECT x, count(*) FROM (SELECT v + k AS x, t FROM s WHERE v > 1) AS q JOIN a ON a.id = q.x AND a.g = 2
WHERE q.t <> 'a' GROUP BY x HAVING x > 3;
SELECT DISTINCT x FROM (SELECT k + 1 AS x FROM (SELECT k FROM s WHERE v > 0) AS p) AS q WHERE x > 2 ORDER BY x
""".split(";")
ORDERS_TRIED = 12


class Shapes:
    """The catalog of the shapes."""

    def relation(self, name: str) -> RelationDescription | None:
        found = STREAMS.get(name) or TABLES.get(name)
        if found is None:
            return None
        columns = tuple(ColumnDescription(column, kind, number=n) for n, (column, kind) in enumerate(found.items(), 1))
        return RelationDescription(name, "stream" if name in STREAMS else "table", 16384, columns)

    def relation_names(self) -> Iterable[str]:
        return (*STREAMS, *TABLES)


def of(text: str, catalog: Shapes | Relations) -> list[Query]:
    """Return the queries of which a view is made, without those that can't be."""
    try:
        (statement,) = parse(text)
        assert isinstance(statement, CreateView)
        definition = define_view(statement, 16385, SETTINGS)
        bound = bind_query(statement.query, catalog, SETTINGS)
        roots = prepared_view(bound.root, definition.joins).groupings or (bound.root,)
    except SqlError:
        return []
    return [(definition, replace(bound, root=root, relations=relation_names(root))) for root in roots]


@pytest.fixture(scope="module")
def queries() -> list[Query]:
    found = [one for text in (*SHAPES.values(), *MORE) for one in of(f"CREATE VIEW x AS {text}", Shapes())]
    for path in FOLDER.glob("*.txt"):
        for block in path.read_text().split("\n\n"):
            text = "\n".join(line for line in block.splitlines() if not line.startswith("|"))
            found += of(text, Relations())
    assert len(found) > 150
    return found


def plan(query: Query) -> object:
    try:
        found = plan_view(*query)
    except SqlError as error:
        return error.sqlstate, error.message
    except AssertionError:
        return "no plan"
    return found.plan, found.schema, found.notices


def differs(queries: Sequence[Query], plans: Sequence[object], order: Sequence[Rule]) -> str | None:
    """Return the text of a view whose plan is another one when the passes run in this order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner, "RULES", tuple(order))
        pairs = zip(queries, plans, strict=True)
        return next((query[0].text for query, wanted in pairs if plan(query) != wanted), None)


def an_order(choose: random.Random, needed: Callable[[Rule, Rule], bool]) -> list[Rule]:
    left, order = list(RULES), list[Rule]()
    while left:
        free = [rule for rule in left if not any(needed(other, rule) for other in left)]
        order.append(choose.choice(free))
        left.remove(order[-1])
    return order


@pytest.mark.turns(2, 1)
def test_no_other_order_matters(queries: list[Query]) -> None:
    assert len(set(RULES)) == len(RULES), "each pass runs once"
    assert all(RULES.index(first) < RULES.index(second) for first, second in ORDER)
    plans = [plan(query) for query in queries]
    for seed in range(ORDERS_TRIED):
        order = an_order(random.Random(seed), lambda first, second: (first, second) in ORDER)
        names = [rule.__name__ for rule in order]
        assert differs(queries, plans, order) is None, f"in the order {names} (seed {seed})"


@pytest.mark.parametrize("pair", ORDER, ids=lambda pair: "-".join(rule.__name__ for rule in pair))
def test_an_order_that_is_named_is_needed(pair: tuple[Rule, Rule], queries: list[Query]) -> None:
    plans = [plan(query) for query in queries]
    changed = {known for known in ORDER if known != pair} | {(pair[1], pair[0])}
    orders = (an_order(random.Random(seed), lambda *known: known in changed) for seed in range(ORDERS_TRIED))
    assert any(differs(queries, plans, order) is not None for order in orders)
