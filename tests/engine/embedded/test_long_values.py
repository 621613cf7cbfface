"""Long constants are no text of the embedded engine's SQL, and mean what they mean as such."""

from __future__ import annotations

from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.long_values import LONG_VALUE_MIN
from engine.embedded.query_engine import QueryEngine
from tests.engine.answers import bound_root, difference, engine_answer, oracle_answer

LONG = f"'{'x' * LONG_VALUE_MIN}'"
QUOTES = f"'{chr(39) * 2 * LONG_VALUE_MIN}'"
BYTES = f"'\\x{'00ff' * LONG_VALUE_MIN}'::bytea"
QUERIES = [
    f"SELECT {LONG}",
    f"SELECT length({LONG}), md5({QUOTES}), length({BYTES}), md5({BYTES})",
    f"SELECT id, length(x || {LONG}) FROM (SELECT id, i::text AS x FROM t) q ORDER BY id",
    f"SELECT id FROM t WHERE i::text <> {LONG} OR {LONG} = {LONG} ORDER BY id",
    f"SELECT id, CASE WHEN i > 0 THEN {LONG} ELSE i::text END = {LONG} FROM t ORDER BY id",
    f"SELECT {LONG} LIKE '%x', {LONG} LIKE {LONG}, 'x' LIKE {LONG}, {LONG} ~ '^x+$'",
    f"SELECT count(*), length(max({LONG})), length(string_agg({LONG}, ',')) FROM (SELECT FROM t LIMIT 3) q",
    f"SELECT length(a), count(*) FROM (VALUES ({LONG}), ({LONG}), ('x')) v (a) GROUP BY a ORDER BY 1",
    f"SELECT t.id FROM t LEFT JOIN t u ON t.id = u.id AND u.i::text <> {LONG} ORDER BY 1",
    f"SELECT t.id FROM t LEFT JOIN LATERAL (SELECT t.id::text = {LONG} AS same) u ON u.same ORDER BY 1",
    f"SELECT id, row_number() OVER (PARTITION BY {LONG} ORDER BY id) FROM t ORDER BY {LONG}, id",
    f"SELECT length({LONG}::varchar(10))",
    f"SELECT array_length(ARRAY[{LONG}, {LONG}], 1), coalesce(NULL, {LONG}) = {LONG}, nullif({LONG}, {LONG})",
    f"SELECT length(a) FROM (SELECT {LONG} AS a UNION SELECT {LONG} UNION ALL SELECT 'y') q ORDER BY 1",
    f"SELECT EXISTS (SELECT FROM t WHERE {LONG} = x) FROM (VALUES ({LONG}), ('y')) v (x)",
]


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_answers(
    number: int, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    query = QUERIES[number]
    found = engine_answer(engine.run, query, inputs)
    assert difference(oracle_answer(oracle, query), found, ordered=True) is None


@pytest.mark.parametrize("constant", [LONG, QUOTES, BYTES])
def test_they_are_not_in_the_text(constant: str, engine: QueryEngine) -> None:
    assert len(engine.explain(bound_root(f"SELECT length({constant}) FROM t WHERE i > length({constant})"))) < 1_000
