"""The parts of a pipeline that Spark runs, and those that the embedded engine computes."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation, Scan
from sql.tree.walks import scans, walk_relation
from sql.types.datatypes import INT4, INTERVAL, TEXT, numeric
from views.plan.hand_over import COMPUTED, hand_over, is_same_for_all

COLUMNS = (
    ColumnDescription("k", INT4),
    ColumnDescription("t", TEXT),
    ColumnDescription("x", numeric(10, 2)),
    ColumnDescription("span", INTERVAL),
)
SETTINGS = SessionSettings(time_zone="Europe/Berlin")


class Relations:
    """Groups of a finish step, and two tables."""

    def relation(self, name: str) -> RelationDescription | None:
        kind = {"g": "view", "a": "table", "b": "table"}.get(name)
        return None if kind is None else RelationDescription(name, kind, 20_000, COLUMNS)

    def relation_names(self) -> tuple[str, ...]:
        return ("g", "a", "b")


def tree(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(), SETTINGS).root


@pytest.mark.parametrize(
    ("query", "computed"),
    [
        ("SELECT k, count(*) FROM g GROUP BY k", []),
        ("SELECT u, count(*) FROM (SELECT upper(t) AS u FROM g WHERE t LIKE 'a%') i GROUP BY u", [{"g"}]),
        ("SELECT g.k FROM g JOIN a ON g.k = a.k ORDER BY 1 LIMIT 3", []),
        ("SELECT g.k FROM g JOIN (SELECT k FROM a WHERE lower(t) = 'x') a ON g.k = a.k", [{"a"}]),
        ("SELECT g.k FROM g JOIN (SELECT lower(t) AS l, max(k) AS k FROM a GROUP BY 1) a ON g.k = a.k", [{"a"}]),
        ("SELECT g.k FROM g JOIN (SELECT k FROM a UNION SELECT k + 1 FROM b) u ON g.k = u.k", [{"a", "b"}]),
        ("SELECT g.k FROM g JOIN (VALUES (1), (2)) v(k) ON g.k = v.k", [set()]),
        ("SELECT g.k FROM g JOIN generate_series(1, 9) s(k) ON g.k = s.k", [set()]),
        # A join of tables may have more rows than they have: Spark does it.
        ("SELECT g.k FROM g JOIN (a JOIN (SELECT k FROM b WHERE k > 1) b ON true) ON g.k = b.k", [{"b"}]),
    ],
)
def test_what_stands_below_the_first_breaker_is_computed_before(query: str, computed: list[set[str]]) -> None:
    handed = hand_over(tree(query))
    assert handed is not None
    assert [{scan.name for scan in scans(one)} for one in handed.computed.values()] == computed
    read = {node.name for node in walk_relation(handed.relation) if isinstance(node, Scan) and node.kind == COMPUTED}
    assert read == handed.computed.keys()
    assert [column.type for column in handed.relation.schema] == [column.type for column in tree(query).schema]


@pytest.mark.parametrize(
    "query",
    [
        # Of tables alone, or with nothing for Spark to do.
        "SELECT k, count(*) FROM a GROUP BY k",
        "SELECT upper(t) FROM g WHERE k > 3",
        # Between two breakers, or over both sides of a join.
        "SELECT m, count(*) FROM (SELECT upper(max(t)) AS m FROM g GROUP BY k) i GROUP BY m",
        "SELECT count(*) FROM g JOIN a ON upper(g.t || a.t) = 'AB'",
        "SELECT k, sum(span) FROM g GROUP BY k",
        # Of each reader, or of each row again.
        "SELECT count(*) FROM (SELECT random() < 0.5 AS r FROM g) i GROUP BY r",
        "SELECT g.k FROM g, LATERAL (SELECT k FROM a WHERE lower(a.t) = g.t) i",
    ],
)
def test_all_else_is_for_the_embedded_engine(query: str) -> None:
    assert hand_over(tree(query)) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT upper(t), t::date FROM g", False),
        ("SELECT upper(t), k::text FROM g", True),
        ("SELECT random() FROM g", False),
        ("SELECT t::regclass FROM g", False),
        ("SELECT k FROM g WHERE t IN (SELECT to_char(x, '99') FROM a)", False),
        ("SELECT k FROM g WHERE t IN (SELECT t FROM a)", True),
    ],
)
def test_what_is_the_same_for_all_readers(query: str, expected: bool) -> None:
    assert is_same_for_all(tree(query)) is expected
