"""Groupings over streams that are cut out of a SELECT for kernels, and what is left of it."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation, Scan
from sql.tree.walks import all_relations
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from views.plan.stream_grouping import StreamGrouping, cut_groupings

STREAMS = frozenset({"s"})


def cut(query: str, streams: frozenset[str] = STREAMS) -> tuple[Relation, list[StreamGrouping]]:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    (rest,), groupings = cut_groupings([root], streams)
    assert rest.schema == root.schema
    return rest, groupings


def scanned(root: Relation) -> list[str]:
    return sorted(node.name for node in all_relations(root) if isinstance(node, Scan))


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("SELECT count(*) FROM s", ["groups 0"]),
        ("SELECT a, sum(c) FROM s WHERE b LIKE 'x%' GROUP BY a HAVING max(e) > 1 ORDER BY 2 LIMIT 3", ["groups 0"]),
        ("SELECT DISTINCT a, b FROM s", ["groups 0"]),
        (
            "SELECT name, n FROM items JOIN (SELECT a, count(*) AS n FROM s GROUP BY a) q ON a = id",
            ["groups 0", "items"],
        ),
        ("WITH q AS (SELECT a, count(*) AS n FROM s GROUP BY a) SELECT x.n FROM q x, q y", ["groups 0", "groups 0"]),
        ("SELECT a FROM s GROUP BY a HAVING count(*) > (SELECT avg(i) FROM s)", ["groups 0", "groups 1"]),
        ("SELECT (SELECT max(a) FROM s) FROM s", ["groups 0", "s"]),
        ("SELECT max(n) FROM (SELECT a, count(*) AS n FROM s GROUP BY a) q", ["groups 0"]),
        ("SELECT a, rank() OVER (ORDER BY count(*)) FROM s GROUP BY a", ["groups 0"]),
        ("SELECT count(*) FROM s UNION ALL SELECT count(*) FROM s WHERE f", ["groups 0", "groups 1"]),
        ("SELECT count(*) FROM s JOIN items ON a = id", ["groups 0"]),
        (
            "SELECT name, sum(c) FROM items RIGHT JOIN s ON a = id AND name <> 'x' GROUP BY name ORDER BY 2",
            ["groups 0"],
        ),
        ("SELECT DISTINCT name FROM s, items WHERE a = id AND b < name", ["groups 0"]),
        ("SELECT count(*) FROM s WHERE a IN (SELECT id FROM items)", ["groups 0"]),
        (
            "SELECT i.name, n FROM items i, (SELECT id, count(*) AS n FROM s JOIN items ON a = id GROUP BY id) q",
            ["groups 0", "items"],
        ),
    ],
)
def test_what_kernels_can_do_is_cut(query: str, left: list[str]) -> None:
    rest, groupings = cut(query)
    assert scanned(rest) == left
    assert [grouping.name for grouping in groupings] == sorted({name for name in left if name.startswith("groups")})
    for grouping in groupings:
        assert set(scanned(grouping.relation)) <= {"s", "items"}
        assert all(not scanned(probe.build)[0].startswith("groups") for probe in grouping.plan.stream.probes)
        assert grouping.plan.upper is None and grouping.plan.stream.stream == "s"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, b FROM s",
        "SELECT count(DISTINCT a) FROM s",
        "SELECT string_agg(a::text, ',') FROM s",
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY e) FROM s",
        "SELECT a, count(*) FROM s GROUP BY ROLLUP (a)",
        "SELECT count(*) FROM s x, s y",
        "SELECT count(*) FROM s RIGHT JOIN items ON a = id",
        "SELECT count(*) FROM s JOIN v ON s.i = n",
        "SELECT id, (SELECT count(*) FROM s WHERE a < id) FROM items",
        "SELECT id, (SELECT sum(1 / a) FROM s WHERE a = id) FROM items",
        "SELECT id FROM items WHERE EXISTS (SELECT * FROM s WHERE a = id AND b < name)",
        "SELECT id, (SELECT array_agg(a) FROM s WHERE a = id) FROM items",
        "SELECT count(*) FROM (SELECT a FROM s LIMIT 3) q",
        "SELECT name, count(*) FROM items GROUP BY name",
        "SELECT sum(n) FROM v",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT DISTINCT n + a FROM r, s WHERE n < 9) SELECT * FROM r",
    ],
)
def test_what_they_can_not_do_stays(query: str) -> None:
    rest, groupings = cut(query)
    assert not groupings
    assert all(not name.startswith("groups") for name in scanned(rest))


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("SELECT id, (SELECT count(*) FROM s WHERE a = id) FROM items", 1),
        ("SELECT id FROM items WHERE id > (SELECT 2 * max(c) + id FROM s WHERE id = a AND b = name AND a > 3)", 2),
        ("SELECT id FROM items WHERE EXISTS (SELECT * FROM s WHERE a = id AND b < 'x')", 1),
        ("SELECT id FROM items WHERE NOT EXISTS (SELECT FROM (SELECT a AS x FROM s WHERE b = 'x') q WHERE x = id)", 1),
        ("SELECT id FROM items WHERE EXISTS (SELECT FROM s)", 1),
        ("SELECT id FROM items WHERE id NOT IN (SELECT a FROM s)", 1),
        ("SELECT id FROM items WHERE id IN (SELECT a FROM s WHERE b = name)", 2),
        ("SELECT id FROM items WHERE id IN (SELECT a FROM s JOIN items ON id = a WHERE b = 'x')", 1),
    ],
)
def test_a_subquery_by_equality_is_a_grouping(query: str, keys: int) -> None:
    rest, (grouping,) = cut(query)
    assert scanned(rest) == ["groups 0", "items"]
    assert len(grouping.plan.stream.keys) == keys


def test_a_stream_is_not_joined_with_groups_that_another_scan_has_yet_to_make() -> None:
    rest, groupings = cut(
        "SELECT count(*) FROM s JOIN (SELECT a, max(c) AS m FROM s GROUP BY a) q ON s.a = q.a AND c = m"
    )
    assert [scanned(grouping.relation) for grouping in groupings] == [["s"]]
    assert scanned(rest) == ["groups 0", "s"]


def test_a_grouping_that_is_not_taken_stays() -> None:
    (statement,) = parse("SELECT count(*) FROM s JOIN items ON a = id UNION ALL SELECT count(*) FROM s")
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    (rest,), groupings = cut_groupings([root], STREAMS, lambda grouping: not grouping.plan.stream.probes)
    assert scanned(rest) == ["groups 0", "items", "s"]
    assert [scanned(grouping.relation) for grouping in groupings] == [["s"]]


def test_kernels_do_not_depend_on_what_the_tables_are_asked_for() -> None:
    query = "SELECT count(*) FROM s JOIN items ON a = id WHERE name = '{}'"
    (one,), (other,) = (cut(query.format(name))[1] for name in ("x", "y"))
    assert one.plan != other.plan
    assert one.for_kernels() == other.for_kernels()


def test_kernels_do_not_depend_on_constants_that_columns_are_compared_with() -> None:
    query = "SELECT a % 5, count(*) FILTER (WHERE a > {}) FROM s WHERE a IN ({}, 7) AND a + 1 <> 3 GROUP BY 1"
    (one,), (other,) = (cut(query.format(*numbers))[1] for numbers in ((1, 2), (30, 4)))
    (one_plan, one_constants), (other_plan, other_constants) = one.for_kernels(), other.for_kernels()
    assert one_plan == other_plan
    # In the order in which the pipeline has them; what is no comparison stays in the code.
    assert [constant.value for constant in one_constants] == [2, 7, 3, 1]
    assert [constant.value for constant in other_constants] == [4, 7, 3, 30]
    (longer,) = cut(query.format(1, "2, 3"))[1]
    assert longer.for_kernels()[0] != one_plan


def test_only_the_streams_asked_for_are_cut() -> None:
    assert not cut("SELECT count(*) FROM s", frozenset())[1]
