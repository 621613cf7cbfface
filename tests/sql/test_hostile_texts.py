"""Texts for DuckDB and Spark have names and constants in quotes only: hostile ones change
nothing else of it.

The proof for both: without what is in quotes, by the engine's own rules, the text is that of
harmless names. For DuckDB also: its parser makes the same tree.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping

import duckdb
import pytest

from engine.embedded.query_engine import source_name
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit.duckdb import emit_duckdb
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from sql.tree.walks import scans
from sql.types.datatypes import INT4, TEXT, TIMESTAMPTZ, SqlType, enum_type, numeric
from sql.types.enums import EnumLabel, EnumType
from tests.hostile_texts import MARK, hostile

NAMES = ("view", "table", "key", "number", "price", "at", "state", "match", "out1", "out2", "alias", "other", "cte")
TEXTS = ("one", "two", "three")
# {name} is an identifier, [text] a constant.
STATEMENTS = (
    "SELECT {key} AS {out1}, count(*) AS {out2} FROM {view} WHERE {key} = [one] GROUP BY {key} HAVING max({key}) <> [two]",
    "SELECT {key} AS {out1} FROM {view} ORDER BY {key} || [three], {number} DESC",
    "SELECT {alias}.{key} || [one] AS {out1}, {other}.{match} FROM {view} {alias} LEFT JOIN {table} {other} ON {key} = {match}",
    "SELECT CASE WHEN {key} LIKE [one] THEN [two] ELSE replace({key}, [one], [three]) END AS {out1} FROM {view}",
    "SELECT {state}::text AS {out1}, {at}::text || [one] FROM {view} WHERE {key} IN ([one], [two], [three]) OR {key} > [two]",
    "WITH {cte} AS (SELECT {key} AS {out1}, sum({price}) AS {out2} FROM {view} GROUP BY 1) SELECT * FROM {cte} WHERE {out1} <> [one]",
    "SELECT {key} AS {out1}, rank() OVER (PARTITION BY {key} || [one] ORDER BY {number}) AS {out2} FROM {view} LIMIT 3",
    "SELECT {match} AS {out1} FROM {table} WHERE EXISTS (SELECT 1 FROM {view} WHERE {key} = {match} AND {key} <> [one])",
    "SELECT {out1} FROM (VALUES ([one], 1), ([two], 2)) AS {alias} ({out1}, {out2}) WHERE {out1} <> [three]",
    "SELECT string_agg({key}, [one]) AS {out1}, strpos(max({key}), [two]), starts_with(min({key}), [three]) FROM {view}",
    "SELECT {out1} FROM unnest(ARRAY[[one], [two]]) AS {alias} ({out1}) UNION SELECT {key} FROM {view}",
    "SELECT coalesce({key}, [one]) AS {out1}, nullif({key}, [two]), greatest({key}, [three]), position([one] in {key}) FROM {view}",
)  # fmt: skip
DUCKDB_QUOTES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
SPARK_QUOTES = re.compile(r"""'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`""", re.DOTALL)


class Relations:
    """A catalog of a view and a table, with these names."""

    def __init__(self, names: Mapping[str, str], labels: tuple[str, str]) -> None:
        own = tuple(EnumLabel(17000 + number, number, text) for number, text in enumerate(labels))
        kinds: dict[str, SqlType] = {"key": TEXT, "number": INT4, "price": numeric(10, 2), "at": TIMESTAMPTZ}
        kinds["state"] = enum_type(EnumType(names["state"], 16390, 16391, own))
        columns = tuple(ColumnDescription(names[column], kind) for column, kind in kinds.items())
        match = ColumnDescription(names["match"], TEXT)
        self._relations = {
            names["view"]: RelationDescription(names["view"], "view", 16384, columns),
            names["table"]: RelationDescription(names["table"], "view", 16385, (match,)),
        }

    def relation(self, name: str) -> RelationDescription | None:
        return self._relations.get(name)

    def relation_names(self) -> Iterable[str]:
        return self._relations


def bound(statement: str, names: Mapping[str, str], texts: Mapping[str, str], labels: tuple[str, str]) -> Relation:
    written = {f"{{{name}}}": '"' + text.replace('"', '""') + '"' for name, text in names.items()}
    written |= {f"[{name}]": "'" + text.replace("'", "''") + "'" for name, text in texts.items()}
    (parsed,) = parse(re.sub("|".join(map(re.escape, written)), lambda found: written[found[0]], statement))
    assert isinstance(parsed, Select)
    return bind_query(parsed.query, Relations(names, labels), SessionSettings()).root


def duckdb_text(root: Relation) -> str:
    return emit_duckdb(root, {scan.name: source_name(scan.name) for scan in scans(root)})


def spark_text(root: Relation) -> str:
    """Return Spark's text, '' where it has none."""
    try:
        return emit_spark(root, {scan.name: scan.name for scan in scans(root)})
    except SqlError as error:
        assert error.sqlstate == "0A000", error
        return ""


def masked(tree: object) -> object:
    """Return DuckDB's tree without places in the text, with all strings alike that are ours to
    quote.
    """
    if isinstance(tree, dict):
        return {key: masked(value) for key, value in tree.items() if not key.startswith("query_location")}
    if isinstance(tree, list):
        return [masked(value) for value in tree]
    return "X" if isinstance(tree, str) and MARK in tree else tree


def tree_of(connection: duckdb.DuckDBPyConnection, text: str) -> object:
    ((found,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()
    tree = json.loads(found)
    assert not tree["error"], tree
    return masked(tree)


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_names_and_constants_are_in_quotes_only(number: int, request: pytest.FixtureRequest) -> None:
    statement = STATEMENTS[number]
    connection = duckdb.connect()
    # Lower case, so that DuckDB gets them as they are; longer than what fits into a few bytes.
    plain = {name: f"{MARK} harmless {name}" for name in (*NAMES, *TEXTS)}
    labels = (f"{MARK} label", f"{MARK} other label")
    harmless = bound(statement, {name: plain[name] for name in NAMES}, {name: plain[name] for name in TEXTS}, labels)
    # Lengths decide which of two functions replaces; one of them is ours, which is bounded.
    duck, spark = duckdb_text(harmless).replace(" text_replaced(", " replace("), spark_text(harmless)
    tree = tree_of(connection, duck)
    seed = request.config.getoption("--seed")
    for case in range(seed, seed + max(request.config.getoption("--cases") // 35, 20)):
        randomness = random.Random(f"{case} {number}")
        names = {name: hostile(randomness, 60) + str(place) for place, name in enumerate(NAMES)}
        texts = {name: hostile(randomness, 200) for name in TEXTS}
        found = bound(statement, names, texts, (hostile(randomness, 60) + "1", hostile(randomness, 60) + "2"))
        where = f"--seed {case}"
        text = duckdb_text(found).replace(" text_replaced(", " replace(")
        assert DUCKDB_QUOTES.sub("X", text) == DUCKDB_QUOTES.sub("X", duck), where
        assert tree_of(connection, text) == tree, where
        # What is in the quotes is what was written, each line break of it; what scans read has
        # names of ours.
        for name, written in names.items():
            if f'AS "{plain[name]}"' in duck:
                assert 'AS "' + written.replace('"', '""') + '"' in text, where
        assert SPARK_QUOTES.sub("X", spark_text(found)) == SPARK_QUOTES.sub("X", spark), where
