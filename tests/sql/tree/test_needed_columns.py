"""Columns of its scans that a query looks at."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.catalog.catalog import ARRIVAL
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.needed_columns import needed_columns
from tests.sql.sample_catalog import SETTINGS, STREAM_COLUMNS, SampleCatalog

EVERY = "abcdefghiz"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM s", EVERY),
        ("SELECT count(*) FROM s", ""),
        ("SELECT a FROM s WHERE s.arrival_timestamp < z", "aarrival_timestampz"),
        ("SELECT * FROM s AS x NATURAL JOIN s AS y", EVERY),
        ("SELECT 1 FROM s", ""),
        ("SELECT b FROM s WHERE a > 1 ORDER BY c", "abc"),
        ("SELECT a + 1, b FROM s", "ab"),
        ("SELECT count(*) FILTER (WHERE f), array_agg(c ORDER BY i) FROM s GROUP BY h HAVING max(e) > 1", "cefhi"),
        ("SELECT sum(a) OVER (PARTITION BY b ORDER BY d) FROM s", "abd"),
        ("SELECT DISTINCT b FROM s", "b"),
        ("SELECT DISTINCT ON (a) b FROM s ORDER BY a, c", "abc"),
        ("SELECT x.b FROM s AS x JOIN s AS y ON x.a = y.i", "abi"),
        ("SELECT items.name, s.b FROM items LEFT JOIN s ON s.a = items.id", "ab"),
        ("SELECT name FROM items, LATERAL (SELECT c FROM s WHERE s.a = items.id) AS q", "ac"),
        ("SELECT id FROM items WHERE EXISTS (SELECT 1 FROM s WHERE s.i = items.id)", "i"),
        ("SELECT id, (SELECT max(e) FROM s WHERE s.a < items.id) FROM items", "ae"),
        ("SELECT id FROM items WHERE id IN (SELECT a FROM s)", "a"),
        ("SELECT a FROM s UNION ALL SELECT i FROM s WHERE f", "afi"),
        ("WITH q AS (SELECT a, b, c FROM s) SELECT b FROM q", "abc"),
        ("WITH RECURSIVE r(n) AS (SELECT a FROM s UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT 1 FROM r", "a"),
        ("SELECT b FROM s LIMIT (SELECT max(a) FROM s)", "ab"),
        ("SELECT g FROM s, generate_series(1, s.a) AS n", "ag"),
        ("VALUES ((SELECT min(z) FROM s))", "z"),
    ],
)
def test_needed_columns(query: str, names: str) -> None:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    found = needed_columns(root)["s"]
    columns = [*(name for name, _ in STREAM_COLUMNS), ARRIVAL.name]
    assert "".join(sorted(columns[index] for index in found)) == names
