"""The columns by which rows are told apart, of trees as they are bound."""

from __future__ import annotations

import pytest

from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Scan
from sql.tree.row_keys import row_keys
from sql.types.datatypes import INT4, TEXT


class Catalog:
    """Two tables of three columns; the first one of t, and the first two of u, tell rows apart."""

    def relation(self, name: str) -> RelationDescription | None:
        columns = (ColumnDescription("a", INT4), ColumnDescription("b", INT4), ColumnDescription("c", TEXT))
        return RelationDescription(name, "table", 20_000, columns) if name in KEYS else None

    def relation_names(self) -> list[str]:
        return list(KEYS)


KEYS: dict[str, tuple[int, ...] | None] = {"t": (0,), "u": (0, 1), "n": None}
QUERIES: dict[str, tuple[int, ...] | None] = {
    "SELECT * FROM t": (0,),
    "SELECT b, a FROM t WHERE b > 1": (1,),
    "SELECT b FROM t": None,
    "SELECT a + 1 FROM t": None,
    "SELECT b FROM t WHERE a = 3": (),
    "SELECT a FROM u WHERE 5 = b": (0,),
    "SELECT a FROM u WHERE b = 5 OR b = 6": None,
    "SELECT * FROM n": None,
    "SELECT DISTINCT b, c FROM t": (0, 1),
    "SELECT DISTINCT c, a FROM t": (1,),
    "SELECT c, count(*), b FROM n GROUP BY b, c": (2, 0),
    "SELECT count(*), b + 1 AS b FROM n GROUP BY b + 1": (1,),
    "SELECT count(*) FROM n GROUP BY b": None,
    "SELECT count(*) FROM n": (),
    "SELECT count(*), b FROM n GROUP BY ROLLUP (b)": None,
    "SELECT b, count(*) FROM n GROUP BY b HAVING count(*) > 1 ORDER BY 2 LIMIT 3": (0,),
    "SELECT a, row_number() OVER (ORDER BY b) FROM t": (0,),
    "SELECT t.c, u.a, u.b FROM t JOIN u ON t.a = u.a": (1, 2),
    "SELECT t.a, u.b FROM t, u WHERE t.a = u.a": (0, 1),
    "SELECT t.a, u.b FROM t, u": None,
    "SELECT t.a, u.a, u.b FROM t, u": (0, 1, 2),
    "SELECT x.b, y.a FROM t x JOIN t y ON x.a = y.a": (1,),
    "SELECT u.*, t.c FROM u LEFT JOIN t ON t.a = u.c::int": None,
    "SELECT u.a, u.b, t.c FROM u LEFT JOIN t ON t.a = u.a": (0, 1),
    "SELECT t.a, u.b FROM u LEFT JOIN t ON t.a = u.a": None,
    "SELECT t.a, u.a FROM t LEFT JOIN u ON t.a = u.a": None,
    "SELECT t.a, u.a, u.b FROM t FULL JOIN u ON t.a = u.a": (0, 1, 2),
    "SELECT a FROM t UNION SELECT b FROM t": (0,),
    "SELECT a FROM t UNION ALL SELECT b FROM t": None,
    "SELECT a, unnest(ARRAY[1, 2]) FROM t": None,
    "WITH x AS (SELECT a, b FROM t) SELECT b, a FROM x": (1,),
}


@pytest.mark.parametrize("query", QUERIES)
def test_keys_of_queries(query: str) -> None:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    root = bind_query(statement.query, Catalog(), SessionSettings()).root
    assert row_keys(root, lambda scan: KEYS[scan.name]) == QUERIES[query]


def test_a_scan_has_the_keys_that_are_told() -> None:
    assert row_keys(Scan("t", "table", ()), lambda scan: (4,)) == (4,)
