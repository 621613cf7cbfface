"""Keys of eager grouping that fail for times at the ends of time: rows that join nothing fail
nothing, and rows that do fail the reader, as PostgreSQL says of the same rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.function_calls import answer
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

COLUMNS = "k int, at timestamp, tz timestamptz, d date, t text, p text"
QUERIES = {
    "months": "date_trunc('month', at)",
    "weeks": "date_trunc('week', tz)",
    "years": "extract(year from at)",
    "epochs": "extract(epoch from d)",
    "centuries": "extract(century from d) || ' of ' || name",
    "days": "date_trunc('day', at)",
    "matched": "t like p",
    "ended": "t like 'b\\'",
    "plain": "t like 'a%'",
}
JOINED = (
    "(1, '2024-02-29 12:34:56', '2024-02-29 12:34:56+00', '2024-02-29', 'ab', 'a%')",
    "(1, '2024-02-03', '1969-12-31 00:00+00', '1969-12-31', 'b', 'b')",
    "(2, '0001-01-01', '0001-01-01 00:00+00', '0001-01-01', 'x', '%')",
    "(2, '0044-03-15 BC', '0044-03-15 00:00+00 BC', '0044-03-15 BC', 'x', '_')",
    "(2, NULL, NULL, NULL, NULL, NULL)",
)
ALONE = (
    "(3, '4714-11-24 00:00:00 BC', '4714-11-24 00:00:00+00 BC', '5874897-12-31', 'a', 'a\\')",
    "(3, 'infinity', '-infinity', 'infinity', 'b', '\\')",
)
# Rows that join, each with the keys that fail from then on.
FAILING: dict[str, dict[str, str]] = {
    "(1, '4714-11-24 00:00:00 BC', NULL, NULL, NULL, NULL)": {"months": "22008"},
    "(1, NULL, NULL, NULL, 'b', NULL)": {},
    "(1, NULL, NULL, NULL, 'bb', 'b\\')": {"matched": "22025", "ended": "22025"},
}


@pytest.mark.turns(3, 1)
@pytest.mark.slow
def test_rows_that_join_nothing_fail_nothing(tmp_path: Path, postgres: PostgresCluster) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream",
        "CREATE TABLE a (id int, name text)",
        "INSERT INTO a VALUES (1, 'one'), (2, 'two')",
        "SET default_stream_join = 'retroactive'",
    )
    queries = {
        name: f"SELECT {key} AS key, name, count(*), max(k) FROM s JOIN a ON id = k GROUP BY 1, 2"
        for name, key in QUERIES.items()
    }
    for name, query in queries.items():
        client.run(f"CREATE VIEW {name} AS {query}")
    with postgres.connect() as connection:
        connection.execute(
            f"CREATE TEMPORARY TABLE s ({COLUMNS}); CREATE TEMPORARY TABLE a (id int, name text); "
            "INSERT INTO a VALUES (1, 'one'), (2, 'two'); SET TimeZone = 'UTC'".encode()
        )
        failing: dict[str, str] = {}
        for rows, states in (([*JOINED, *ALONE], {}), *(([row], states) for row, states in FAILING.items())):
            failing |= states
            insert = f"INSERT INTO s VALUES {', '.join(rows)}"
            client.run(insert)
            connection.execute(insert.encode())
            for name, query in queries.items():
                told = answer(connection, f"SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM ({query}) q")
                said = client.ask(f"SELECT string_agg(q::text, ' ' ORDER BY q::text) FROM {name} q")
                if isinstance(told, str):
                    assert told == failing.get(name), (name, rows, told)
                    assert said[0].startswith(f"E ERROR {told}"), (name, rows, said)
                else:
                    assert name not in failing, (name, rows)
                    assert said[1] == f"D [{told[0].encode() if told[0] else None!r}]", (name, rows, said, told)
    world.close()
