"""The first groupings of a view over several streams: which they are, and what reads them."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation, Scan
from sql.tree.walks import all_relations
from tests.plans.snapshot import SETTINGS, Relations
from views.model.properties import scans
from views.plan.first_groupings import first_groupings, scanned_schema, with_scans

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
def test_first_groupings_are_scanned(query: str, streams: list[str]) -> None:
    root = tree(query)
    found = first_groupings(root)
    assert [scans(grouping, "stream") for grouping in found] == [(stream,) for stream in streams]
    names = [f"state {number}" for number in range(len(found))]
    rest = with_scans(root, found, names)
    assert set(scans(rest, "view")) == set(names)
    assert scans(rest, "stream") == ()
    assert rest.schema == root.schema
    for scan in all_relations(rest):
        if isinstance(scan, Scan) and scan.kind == "view":
            assert scan.schema == scanned_schema(found[names.index(scan.name)])


@pytest.mark.parametrize(
    "query",
    [
        # A chain is enough.
        f"SELECT * FROM ({SOLD}) s JOIN shops USING (shop)",
        "SELECT * FROM shops JOIN regions ON region = id",
        # Some stream is not grouped, or not by itself.
        f"SELECT * FROM ({SOLD}) s JOIN flights ON shop = carrier",
        "SELECT count(*) FROM sales JOIN flights ON shop = carrier",
        f"SELECT * FROM ({SOLD}) s, LATERAL (SELECT count(*) FROM flights WHERE carrier = s.shop) f",
    ],
)
def test_views_without_a_query_above_their_states(query: str) -> None:
    assert first_groupings(tree(query)) == ()


def test_the_columns_of_a_scan_have_names_that_differ() -> None:
    (_, grouping) = first_groupings(tree(f"SELECT * FROM ({SOLD}) s JOIN ({FLOWN}) f USING (shop)"))
    assert [column.name for column in grouping.schema] == ["shop", "count", "count"]
    assert [column.name for column in scanned_schema(grouping)] == ["shop", "count", "count_2"]
