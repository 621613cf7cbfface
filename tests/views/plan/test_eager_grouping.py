"""Eager grouping: the rewritten query gives the same rows as the one that was written, over rows
with repetitions and NULLs.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Aggregate, OutputColumn, Relation, Scan
from sql.tree.walks import all_relations, rewrite_everywhere
from sql.types.datatypes import BOOL, FLOAT8, INT4, INT8, TEXT, SqlType, numeric
from views.model.arrow_schema import arrow_schema
from views.model.definition import JoinChoice
from views.model.properties import scans
from views.plan.eager.grouping import EagerGrouping
from views.plan.joins.stream_region import ungrouped_streams
from views.plan.prepare import prepared_view
from views.plan.rules.distinct_to_grouping import grouped

ROWS_COUNT = 60
ROUNDS = 3
# Streams s, r; tables t, u.
COLUMNS: dict[str, dict[str, SqlType]] = {
    "s": {"a": INT4, "b": INT4, "v": numeric(8, 2), "w": INT8, "name": TEXT, "good": BOOL, "f": FLOAT8, "id": INT4},
    "r": {"a": INT4, "c": INT4, "x": numeric(8, 2), "tag": TEXT, "id": INT4},
    "t": {"a": INT4, "label": TEXT, "y": numeric(8, 2)},
    "u": {"c": INT4, "z": INT4},
}
STREAMS = ("s", "r")
VALUES: dict[str, Sequence[object]] = {
    "int4": (None, 0, 1, 2, 3, 4, 5, 6),
    "int8": (None, 0, 7, -3, 2**40),
    "numeric": (None, Decimal("0.00"), Decimal("1.50"), Decimal("-2.25"), Decimal("3.10")),
    "text": (None, "", "x", "yy", "Zebra"),
    "bool": (None, True, False),
    "float8": (None, 0.5, -2.0, 4.0),
}


class Relations:
    def relation(self, name: str) -> RelationDescription | None:
        columns = tuple(ColumnDescription(column, kind) for column, kind in COLUMNS.get(name, {}).items())
        kind = "stream" if name in STREAMS else "table"
        return RelationDescription(name, kind, 16384, columns) if columns else None

    def relation_names(self) -> Iterable[str]:
        return COLUMNS


@pytest.fixture(scope="module")
def engine() -> Iterator[QueryEngine]:
    running = QueryEngine(1 << 28, 1)  # one thread: lists have an order then
    yield running
    running.close()


def tree(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(), SessionSettings()).root


def rewritten(query: str, stream_join: str = "frozen") -> tuple[Relation, list[str]]:
    eager = EagerGrouping(JoinChoice(True, stream_join))
    return rewrite_everywhere(tree(query), lambda part: eager.step(grouped(part))), eager.notices


def filled(draw: random.Random) -> dict[str, pa.Table]:
    tables = {}
    for name, columns in COLUMNS.items():
        schema = arrow_schema(tuple(OutputColumn(column, kind) for column, kind in columns.items()))
        rows_count = draw.choice([0, 3, ROWS_COUNT]) if name in STREAMS else draw.choice([0, 8])
        arrays = [
            pa.array([draw.choice(VALUES[kind.family]) for _ in range(rows_count)], field.type)
            for kind, field in zip(columns.values(), schema, strict=True)
        ]
        tables[name] = pa.Table.from_arrays(arrays, schema=schema)
    return tables


def rows(engine: QueryEngine, root: Relation, tables: dict[str, pa.Table]) -> list[str]:
    needed = {scan.name for scan in all_relations(root) if isinstance(scan, Scan)}
    answer = engine.run(root, {name: tables[name] for name in needed})
    return sorted(repr(tuple(row.values())) for row in answer.to_pylist())


STREAM_JOINS = (
    "SELECT s.b, count(*), count(x), sum(v), sum(w), sum(s.a), avg(v), avg(f), min(name), max(x) FROM s JOIN r ON s.a = r.a GROUP BY s.b",
    "SELECT count(*), sum(v), sum(f), min(tag), bool_and(good), bool_or(good) FROM s, r WHERE s.a = r.a AND s.b < r.c AND s.w > 0",
    "SELECT count(*), min(v), sum(x) FROM s, r",
    "SELECT min(v) FROM s CROSS JOIN r",
    "SELECT DISTINCT s.b, r.tag FROM s JOIN r ON s.a = r.a",
    "SELECT tag, count(DISTINCT s.b), sum(DISTINCT v), count(*) FROM s JOIN r USING (a) GROUP BY tag",
    (
        "SELECT s.b, sum(v * x), count(*) FILTER (WHERE good), sum(v) FILTER (WHERE good AND s.b > 1), sum(v) FILTER (WHERE tag = 'x') "
        "FROM s JOIN r ON s.a = r.a GROUP BY s.b"
    ),
    "SELECT s.a + r.c, count(*) FROM s JOIN r ON s.a + 1 = r.a GROUP BY 1",
    "SELECT s.b, sum(CASE WHEN good THEN v ELSE 0 END), avg(w), avg(s.a) FROM s LEFT JOIN r ON s.a = r.a AND r.c > 2 GROUP BY s.b",
    "SELECT r.c, count(*), count(v), count(s.a), sum(v), min(name), avg(v) FROM s FULL JOIN r ON s.a = r.a GROUP BY r.c",
    "SELECT p.b, q.b, count(*), sum(p.v) FROM s p JOIN s q ON p.a = q.a AND p.b <> q.b GROUP BY 1, 2",
    "SELECT label, sum(v), sum(x), count(*), sum(y) FROM s, r, t WHERE s.a = r.a AND t.a = s.b GROUP BY label",
    "SELECT r.c, sum(v * y), count(*) FROM s, r, t WHERE s.a = r.a AND t.a = s.b AND label <> 'x' GROUP BY r.c",
    "SELECT z, count(*), sum(y) FROM s, r, t, u WHERE s.a = t.a AND t.a = r.a AND u.c = r.c AND u.z > s.b GROUP BY z",
    (
        "SELECT b, count(*) FROM (SELECT a, b, v + 1 AS v FROM s WHERE good) s JOIN (SELECT a FROM r WHERE c > 1) r USING (a) "
        "GROUP BY b HAVING sum(v) > 0"
    ),
    "SELECT s.b, r.tag, count(*), grouping(s.b) FROM s JOIN r USING (a) GROUP BY ROLLUP (s.b, r.tag)",
    "SELECT count(*), sum(x) FROM r JOIN (SELECT DISTINCT a FROM s) g USING (a)",
    "SELECT label, sum(x) FROM r, t, (SELECT a, count(*) AS n FROM r GROUP BY a) g WHERE r.a = g.a AND t.a = r.c AND n > 1 GROUP BY label",
    "SELECT g.n, count(*), sum(x) FROM r JOIN (SELECT a, count(*) AS n FROM s GROUP BY a) g USING (a) GROUP BY g.n",
)
TABLE_JOINS = (
    "SELECT label, count(*), count(v), sum(v), avg(w), min(name) FROM t LEFT JOIN s ON t.a = s.a AND s.v > 1 GROUP BY label",
    "SELECT t.a, count(s.b), sum(y) FROM s RIGHT JOIN t ON s.a = t.a AND s.b < t.y GROUP BY t.a",
    "SELECT count(*), count(label), sum(v), sum(y) FROM s FULL JOIN t ON s.a = t.a",
    "SELECT label, sum(s.v), count(DISTINCT s.b) FROM t LEFT JOIN s ON t.a = s.a GROUP BY label",
    "SELECT n, count(*) FROM (SELECT t.a, count(s.b) AS n FROM t LEFT JOIN s ON t.a = s.a AND s.name LIKE '%e%' GROUP BY t.a) x GROUP BY n",
    (
        "SELECT label, count(one), sum(more), count(*) FROM t LEFT JOIN (SELECT a, 1 AS one, coalesce(b, 0) AS more FROM s WHERE good) s "
        "ON t.a = s.a GROUP BY label"
    ),
    "SELECT z, count(*), sum(v) FROM u LEFT JOIN (s JOIN t ON s.a = t.a) ON s.b = u.c GROUP BY z",
)
SUBQUERIES = (
    "SELECT * FROM (SELECT a, count(*) AS n FROM s GROUP BY a) g, LATERAL (SELECT sum(x) AS x, count(*) FROM r WHERE r.a < g.a) l",
    "SELECT label FROM t WHERE EXISTS (SELECT FROM s WHERE s.a = t.a AND s.b <> t.y)",
    "SELECT label FROM t WHERE NOT EXISTS (SELECT FROM s WHERE s.a < t.a AND good)",
    "SELECT label FROM t WHERE a NOT IN (SELECT b FROM s WHERE s.a <= t.a)",
    "SELECT label FROM t WHERE y > ALL (SELECT s.v FROM s, r WHERE s.a = r.a AND r.c < t.a)",
    "SELECT label, (SELECT count(*) FROM s WHERE s.a < t.a), (SELECT sum(v) FROM s WHERE s.b > t.a) FROM t",
    "SELECT s.b, count(*), sum(v) FROM s WHERE EXISTS (SELECT FROM r WHERE r.a = s.a AND r.c <> s.b) GROUP BY s.b",
    "SELECT name, count(*) FROM s, t WHERE s.a = t.a AND NOT EXISTS (SELECT FROM s q WHERE q.a = s.a AND q.b <> s.b) GROUP BY name",
    "SELECT sum(w) FROM s, t WHERE t.a = s.a AND label = 'x' AND v < (SELECT 2 * avg(v) FROM s q WHERE q.a = t.a)",
)
RETROACTIVE = (
    "SELECT label, count(*), sum(v), avg(v), min(name), max(w), bool_and(good), count(DISTINCT b) FROM s JOIN t USING (a) GROUP BY label",
    "SELECT label, b, count(*), count(y), sum(y), avg(y) FROM s LEFT JOIN t ON s.a = t.a AND t.y > 0 GROUP BY label, b",
    "SELECT sum(v * y), sum(DISTINCT y), every(good) FROM s, t, u WHERE s.a = t.a AND u.c = s.b AND u.z > t.y",
)
# What is not made of counts: over rows that are repeated, or over different values.
REPEATED = (
    "SELECT s.b, array_agg(w ORDER BY w), string_agg(tag, ',' ORDER BY tag, s.b), count(*), sum(v) FROM s JOIN r ON s.a = r.a GROUP BY s.b",
    "SELECT s.b, string_agg(DISTINCT tag, ','), array_agg(DISTINCT v ORDER BY v DESC), sum(v), avg(w) FROM s JOIN r USING (a) GROUP BY s.b",
    "SELECT stddev(v), var_pop(s.a), var_samp(w), regr_count(f, w), round(variance(f)::numeric, 6) FROM s, r WHERE s.a < r.a",
    (
        "SELECT tag, percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_disc(0.7) WITHIN GROUP (ORDER BY name DESC), "
        "mode() WITHIN GROUP (ORDER BY s.b), max(v) FROM s LEFT JOIN r ON s.a = r.a AND s.b < r.c GROUP BY tag"
    ),
    "SELECT label, array_agg(w ORDER BY w) FILTER (WHERE good), count(s.a), bit_xor(s.b) FROM t LEFT JOIN s ON t.a = s.a GROUP BY label",
    "SELECT r.c, array_agg(id ORDER BY id), grouping(r.c) FROM s JOIN r USING (id) GROUP BY ROLLUP (r.c)",
)
SIDES = (
    (
        "SELECT q.a, stddev(q.v), array_agg(DISTINCT x) FROM (SELECT a, v FROM s UNION ALL SELECT c, x FROM r) q JOIN r USING (a) "
        "GROUP BY q.a"
    ),
    "SELECT a, array_agg(v), string_agg(name, '-') FROM (SELECT a, v, name FROM s UNION ALL SELECT a, x, tag FROM r) q GROUP BY a",
    (
        "SELECT a, array_agg(v) FILTER (WHERE name > ''), count(*), sum(v), percentile_disc(0.5) WITHIN GROUP (ORDER BY name), stddev(v), "
        "var_pop(a), regr_slope(f, a) FROM (SELECT a, v, name, f FROM s UNION ALL SELECT a, x, tag, c FROM r UNION ALL SELECT b, 1, '', f "
        "FROM s WHERE good) q GROUP BY a"
    ),
    (
        "SELECT a, b, array_agg(w), stddev(DISTINCT a), count(DISTINCT w) FROM (SELECT a, b, w FROM s UNION ALL SELECT c, a, id FROM r) q "
        "GROUP BY ROLLUP (a, b)"
    ),
    "SELECT s.b, r.tag FROM s JOIN r ON s.a = r.a UNION SELECT b, name FROM s",
    "SELECT b FROM s WHERE EXISTS (SELECT FROM t WHERE t.a < s.a AND t.y > s.b) INTERSECT SELECT c FROM r",
    "SELECT b FROM s WHERE EXISTS (SELECT FROM r WHERE r.a = s.a AND r.c <> s.b) EXCEPT SELECT c FROM r WHERE x > 1",
    "SELECT s.b, r.c FROM s JOIN r ON s.a = r.a INTERSECT ALL SELECT a, b FROM s",
    "SELECT s.b, r.c FROM s JOIN r ON s.a = r.a EXCEPT ALL SELECT a, b FROM s",
    "SELECT t.a, s.b FROM t LEFT JOIN s ON s.a = t.a UNION SELECT a, b FROM s",
    "SELECT a, count(*), sum(v) FROM (SELECT t.a, s.v FROM t LEFT JOIN s ON s.a = t.a UNION ALL SELECT a, x FROM r) q GROUP BY a",
    (
        "SELECT c, count(DISTINCT b), avg(v) FROM (SELECT c, b, v FROM s, r WHERE s.a = r.a UNION ALL SELECT b, a, v "
        "FROM s) q GROUP BY ROLLUP (c)"
    ),
    (
        "SELECT a, count(*) FROM (SELECT a, b FROM s UNION ALL SELECT a, c FROM r) q WHERE EXISTS (SELECT FROM t WHERE "
        "t.a < b AND y > b) GROUP BY a"
    ),
    (
        "SELECT label, count(b), sum(b), count(*) FROM t LEFT JOIN (SELECT a, b FROM s UNION ALL SELECT a, c FROM r) q "
        "ON q.a = t.a GROUP BY label"
    ),
    (
        "SELECT p.b, count(*), sum(r.x) FROM (SELECT a, b + 1 AS b FROM s WHERE good UNION ALL SELECT a, c FROM r) p "
        "JOIN r USING (a) GROUP BY p.b"
    ),
    "SELECT label FROM t WHERE EXISTS (SELECT FROM (SELECT a, b FROM s UNION ALL SELECT a, c FROM r) q WHERE q.a = t.a AND q.b <> t.y)",
    (
        "SELECT q.a, count(*), min(y) FROM (SELECT a FROM s UNION ALL SELECT c FROM u UNION ALL SELECT c FROM r) q "
        "FULL JOIN t ON t.a = q.a GROUP BY q.a"
    ),
    (
        "SELECT label, count(m), sum(m) FROM t LEFT JOIN (SELECT s.a, coalesce(s.b, 0) + coalesce(z, 1) AS m FROM u RIGHT JOIN s ON c = b) "
        "q ON q.a = t.a GROUP BY label"
    ),
    (
        "SELECT q.a, count(*), sum(z) FROM r JOIN (SELECT s.a, z FROM s JOIN u ON u.c = s.b AND z > s.a UNION ALL SELECT a, c FROM r "
        "WHERE x > 0) q USING (a) GROUP BY q.a"
    ),
)


@pytest.mark.parametrize("query", SIDES)
def test_the_rows_are_the_same_where_streams_are_sides_of_a_set_operation(engine: QueryEngine, query: str) -> None:
    form = prepared_view(tree(query), JoinChoice())
    assert form.groupings
    for seed in range(ROUNDS):
        tables = filled(random.Random(seed))
        assert rows(engine, form.root, tables) == rows(engine, tree(query), tables), seed


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("(SELECT a, c, x, tag, id FROM r UNION ALL SELECT a, b, v, name, a FROM s)", "streams r, s"),
        ("r", "stream r"),
    ],
)
def test_a_stream_that_is_kept_whole_is_named(source: str, whole: str) -> None:
    query = f"SELECT count(*) FROM {source} q, s WHERE q.a < s.a AND q.c::numeric > s.v AND q.x < s.v AND q.tag > s.name AND q.id <> s.b"
    form = prepared_view(tree(query), JoinChoice())
    assert form.groupings and any(
        notice.startswith(f"eager grouping keeps every column of {whole}: ") for notice in form.notices
    )
    less = prepared_view(tree(query.replace(" AND q.id <> s.b", "")), JoinChoice())
    assert less.groupings and not any(f"every column of {whole}" in notice for notice in less.notices)


@pytest.mark.turns(2)
@pytest.mark.parametrize("query", [*STREAM_JOINS, *TABLE_JOINS, *REPEATED, *SUBQUERIES])
def test_the_rows_are_the_same(engine: QueryEngine, query: str) -> None:
    check(engine, query, "frozen")


@pytest.mark.parametrize("query", [*RETROACTIVE, *REPEATED, *STREAM_JOINS])
def test_the_rows_are_the_same_where_tables_are_joined_with_groups(engine: QueryEngine, query: str) -> None:
    root = check(engine, query, "retroactive")
    for part in all_relations(root):
        if isinstance(part, Aggregate) and ungrouped_streams(part.input):
            assert not scans(part, "table")


def check(engine: QueryEngine, query: str, stream_join: str) -> Relation:
    root, _ = rewritten(query, stream_join)
    assert root != tree(query)
    assert root.schema == tree(query).schema
    for part in all_relations(root):
        if ungrouped_streams(part):
            assert len(ungrouped_streams(part)) == 1, part
    for seed in range(ROUNDS):
        tables = filled(random.Random(seed))
        assert rows(engine, root, tables) == rows(engine, tree(query), tables), seed
    return root


@pytest.mark.parametrize(
    "query",
    [
        "SELECT b, count(*) FROM s GROUP BY b",
        "SELECT label, sum(v) FROM s JOIN t USING (a) GROUP BY label",
        "SELECT label, sum(v) FROM s LEFT JOIN t USING (a) WHERE s.b > 1 GROUP BY label",
        "SELECT * FROM (SELECT a, count(*) AS n FROM s GROUP BY a) x RIGHT JOIN t USING (a)",
    ],
)
def test_what_a_stream_pipeline_does_stays(query: str) -> None:
    assert rewritten(query)[0] == tree(query)


@pytest.mark.parametrize(
    ("condition", "groups"),
    [
        ("EXISTS (SELECT FROM t WHERE t.a = s.a)", ()),
        ("s.a > (SELECT max(t.a) FROM t)", ()),
        ("EXISTS (SELECT FROM t WHERE t.a < s.a)", ()),
        (
            "EXISTS (SELECT FROM t WHERE t.a < s.a AND t.label > s.name)",
            ("eager grouping groups stream s also by a, name",),
        ),
        ("s.v > (SELECT t.a FROM t WHERE t.a = s.a)", ("eager grouping groups stream s also by v, a",)),
    ],
)
def test_subqueries_over_tables_that_are_no_joins_are_asked_of_groups(condition: str, groups: tuple[str, ...]) -> None:
    query = tree(f"SELECT b, count(*) FROM s WHERE {condition} GROUP BY b")
    assert prepared_view(query, JoinChoice()).notices == groups


def test_tables_that_only_filter_are_probed_by_the_stream() -> None:
    root, notices = rewritten(
        "SELECT r.c, sum(v) FROM s, r, t, u WHERE s.a = r.a AND t.a = s.b AND label = 'x' AND u.c = r.c GROUP BY r.c"
    )
    parts = [part for part in all_relations(root) if isinstance(part, Aggregate) and ungrouped_streams(part.input)]
    assert [scans(part, "table") for part in parts] == [("t",), ("u",)]
    assert notices == ["eager grouping groups stream s also by a", "eager grouping groups stream r also by a"]


def test_a_stream_whose_columns_are_all_kept_is_told_with_its_bytes() -> None:
    _, notices = rewritten(
        "SELECT r.a, r.c, r.x, r.tag, r.id, count(*) FROM s JOIN r ON s.a = r.a GROUP BY 1, 2, 3, 4, 5"
    )
    assert notices[-1].startswith("eager grouping keeps every column of stream r: ")
    assert int(notices[-1].split(": ")[1].split()[0]) > 5 * 8


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT first(name) FROM s JOIN r ON s.a = r.a",
            "first over rows that are grouped before they are joined is not supported yet",
        ),
    ],
)
def test_refusals(query: str, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        rewritten(query)
    assert caught.value.message == message
    assert caught.value.sqlstate == "0A000"


def test_off_leaves_the_query_as_it_is() -> None:
    query = "SELECT count(*) FROM s JOIN r ON s.a = r.a"
    assert rewrite_everywhere(tree(query), EagerGrouping(JoinChoice(False)).step) == tree(query)
