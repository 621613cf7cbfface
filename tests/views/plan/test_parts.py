"""The parts of a view over several streams: which groupings they are, and what reads them."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation, Scan
from sql.tree.walks import all_relations
from tests.plans.snapshot import SETTINGS, Relations
from views.model.properties import scans
from views.plan.parts import cut_parts, part_schema, without_parts

SOLD = "SELECT shop, sum(n) AS n FROM sales GROUP BY shop"
FLOWN = "SELECT carrier AS shop, count(*) AS n, count(delay) FROM flights GROUP BY carrier"


def tree(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(), SETTINGS).root


@pytest.mark.parametrize(
    ("query", "streams"),
    [
        (f"SELECT * FROM ({SOLD}) s JOIN ({FLOWN}) f USING (shop) JOIN shops USING (shop)", ["sales", "flights"]),
        (f"WITH s AS ({SOLD}) SELECT * FROM s a JOIN s b ON a.n < b.n", ["sales"]),
        (f"SELECT max(n) FROM ({SOLD} UNION ALL SELECT shop, count(*) FROM sales GROUP BY 1) m", ["sales", "sales"]),
        ("SELECT DISTINCT shop FROM sales EXCEPT SELECT carrier FROM flights GROUP BY 1", ["sales", "flights"]),
        (f"{SOLD} HAVING sum(n) > (SELECT count(*) FROM flights)", ["sales", "flights"]),
        ("SELECT shop FROM shops WHERE region > (SELECT count(*) FROM sales)", ["sales"]),
        ("SELECT shop, age(max(sold), min(sold)) FROM sales GROUP BY shop", ["sales"]),
        (f"SELECT * FROM ({FLOWN}) f, LATERAL (SELECT count(*) FROM sales) s", ["flights", "sales"]),
    ],
)
def test_first_groupings_are_parts(query: str, streams: list[str]) -> None:
    root = tree(query)
    parts = cut_parts(root)
    assert [scans(part, "stream") for part in parts] == [(stream,) for stream in streams]
    names = [f"part {number}" for number in range(len(parts))]
    rest = without_parts(root, parts, names)
    assert set(scans(rest, "view")) == set(names)
    assert scans(rest, "stream") == ()
    assert rest.schema == root.schema
    for scan in all_relations(rest):
        if isinstance(scan, Scan) and scan.kind == "view":
            assert scan.schema == part_schema(parts[names.index(scan.name)])


@pytest.mark.parametrize(
    "query",
    [
        # One plan is enough.
        f"SELECT * FROM ({SOLD}) s JOIN shops USING (shop)",
        "SELECT * FROM shops JOIN regions ON region = id",
        # Some stream is not grouped, or not by itself.
        f"SELECT * FROM ({SOLD}) s JOIN flights ON shop = carrier",
        "SELECT count(*) FROM sales JOIN flights ON shop = carrier",
        f"SELECT * FROM ({SOLD}) s, LATERAL (SELECT count(*) FROM flights WHERE carrier = s.shop) f",
    ],
)
def test_views_without_parts(query: str) -> None:
    assert cut_parts(tree(query)) == ()


def test_the_columns_of_a_part_have_names_that_differ() -> None:
    (_, part) = cut_parts(tree(f"SELECT * FROM ({SOLD}) s JOIN ({FLOWN}) f USING (shop)"))
    assert [column.name for column in part.schema] == ["shop", "count", "count"]
    assert [column.name for column in part_schema(part)] == ["shop", "count", "count_2"]
