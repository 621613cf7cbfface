"""Rows of streams that nothing groups are kept as groups of equal rows: which conditions and
columns are the stream's, and what tells equal values apart.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Aggregate, Filter, Relation
from sql.types.datatypes import FLOAT8, INT4, INT8, INTERVAL, JSON, JSONB, TEXT, TIMESTAMPTZ, SqlType, array_of, numeric
from views.model.definition import JoinChoice
from views.model.text import expression_text
from views.plan.prepare import prepared_view

COLUMNS: dict[str, dict[str, SqlType]] = {
    "s": {"a": INT4, "b": INT8, "t": TEXT, "at": TIMESTAMPTZ},
    "r": {"a": INT4, "c": INT4},
    "u": {
        "f": FLOAT8,
        "n": SqlType("numeric"),
        "m": numeric(8, 2),
        "i": INTERVAL,
        "j": JSONB,
        "js": JSON,
        "blank": SqlType("bpchar"),
        "padded": SqlType("bpchar", 3),
        "l": array_of(INT4),
        "ln": array_of(SqlType("numeric")),
        "lj": array_of(JSON),
    },
    "x": {"a": INT4, "y": INT4},
    "wide": {f"c{number}": INT4 for number in range(70)},
}


class Relations:
    def relation(self, name: str) -> RelationDescription | None:
        columns = tuple(ColumnDescription(column, kind) for column, kind in COLUMNS.get(name, {}).items())
        return RelationDescription(name, "table" if name == "x" else "stream", 16384, columns) if columns else None

    def relation_names(self) -> Iterable[str]:
        return COLUMNS


def tree(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(), SessionSettings()).root


def kept(query: str, stream_join: str = "frozen") -> list[tuple[str, str]]:
    """Return the keys of each grouping, and the conditions below it."""
    found = []
    for grouping in prepared_view(tree(query), JoinChoice(stream_join=stream_join)).groupings:
        assert isinstance(grouping, Aggregate), grouping
        below = grouping.input
        keys = ", ".join(expression_text(key) for _, key in grouping.keys)
        found.append((keys, expression_text(below.predicate) if isinstance(below, Filter) else ""))
    return found


@pytest.mark.parametrize(
    ("query", "groupings"),
    [
        ("SELECT * FROM s", [("a, b, t, at", "")]),
        ("SELECT b + 1, a FROM s WHERE a > 3", [("a, b", "a > 3")]),
        ("SELECT 1 FROM s", [("", "")]),
        ("SELECT a FROM s WHERE a > 3 AND at > now() - interval '1 hour'", [("a, at", "a > 3")]),
        ("SELECT a FROM s WHERE random() < 0.5", [("a", "")]),
        ("SELECT q.z FROM (SELECT a + 1 AS z, b FROM s) q WHERE z > 3", [("a", "(a + 1) > 3")]),
        ("SELECT s.t, r.c FROM s JOIN r ON s.a = r.a WHERE s.b > 1 AND r.c < 2", [("a, t", "b > 1"), ("a, c", "c < 2")]),
        ("SELECT s.t, r.c FROM s LEFT JOIN r ON s.a = r.a AND s.b = 1 AND r.c = 2", [("a, b, t", ""), ("a, c", "c = 2")]),
        ("SELECT s.t, r.c FROM s LEFT JOIN r ON s.a = r.a WHERE r.c IS NULL AND s.b = 1", [("a, t", "b = 1"), ("a, c", "")]),
        ("SELECT s.t, r.c FROM s FULL JOIN r ON s.a = r.a AND s.b = 1 WHERE s.b = 2", [("a, b, t", ""), ("a, c", "")]),
        ("SELECT s.t, x.y FROM s JOIN x ON s.a = x.a WHERE s.b / 2 > 1", [("a, b, t", "")]),
        ("SELECT rank() OVER (ORDER BY b) FROM s WHERE a = 1", [("b", "a = 1")]),
        ("SELECT q.a FROM (SELECT a, rank() OVER (ORDER BY b) n FROM s) q WHERE q.a = 1", [("a, b", "")]),
        ("SELECT q.a FROM (SELECT a FROM s ORDER BY b OFFSET 3) q WHERE q.a = 1", [("a, b", "")]),
        ("SELECT a FROM s WHERE t = 'x' UNION ALL SELECT c FROM r", [("a", "t = 'x'"), ("c", "")]),
        ("SELECT n, count(*) FROM (SELECT row_number() OVER (ORDER BY a) n FROM s) q GROUP BY n", [("a", "")]),
    ],
)  # fmt: skip
def test_the_stream_has_what_each_row_tells_by_itself(query: str, groupings: list[tuple[str, str]]) -> None:
    assert kept(query) == groupings


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("f", "f, CASE WHEN f = 0::double precision THEN f::text ELSE NULL END"),
        ("n", "n, scale(n)"),
        ("m", "m"),
        ("i", "i, interval_months(i), interval_days(i)"),
        ("j", "j, j::text"),
        ("js", "js::text"),
        ("padded", "padded"),
        ("l", "l"),
        ("ln", "ln, ln::text"),
        ("lj", "lj::text[]"),
        ("blank", "blank, octet_length(padded_text(blank))"),
    ],
)
def test_equal_values_that_are_not_the_same_are_told_apart(column: str, keys: str) -> None:
    assert kept(f"SELECT {column} FROM u") == [(keys, "")]


def test_columns_of_wide_rows_are_items_of_an_array() -> None:
    items = ", ".join(f"u.f AS c{number}" for number in range(70))
    assert len(kept(f"SELECT {items} FROM u")) == 1, "a column is kept once"
    ((keys, _),) = kept("SELECT * FROM wide")
    assert keys == f"array({', '.join(f'c{number}' for number in range(70))})"


def test_rows_that_meet_a_table_when_they_arrive_are_kept_above_the_join() -> None:
    query = "SELECT s.b, x.y FROM s JOIN x ON s.a = x.a WHERE s.a > 1"
    assert kept(query) == [("a, b", "a > 1")]
    assert kept(query, "arrival")[0][0] == "b, y"


def test_people_are_told_what_a_row_takes() -> None:
    (notice,) = prepared_view(tree("SELECT a FROM s"), JoinChoice()).notices
    assert (
        notice
        == "every row of stream s that the view asks for is kept, since nothing groups them: 48 bytes for each different one"
    )
