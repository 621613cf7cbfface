"""Views that join a stream with durable tables, through a socket: read, changed tables, a table
that must not change, a restart.
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

CREATE = (
    "CREATE TABLE shops (id integer PRIMARY KEY, city text NOT NULL)",
    "CREATE TABLE cities (name text PRIMARY KEY, people bigint)",
    "INSERT INTO shops VALUES (1, 'Ulm'), (2, 'a city with quite a long name'), (3, 'Ulm')",
    "INSERT INTO cities VALUES ('Ulm', 126000)",
    "CREATE FOREIGN TABLE sales (shop bigint, amount numeric(8,2)) SERVER stream",
    "CREATE VIEW per_city AS SELECT city, count(*) AS sales, sum(amount) AS total FROM sales JOIN shops ON shops.id = shop GROUP BY city",
    (
        "CREATE VIEW per_head AS SELECT c.name, c.people, g.sales FROM cities c LEFT JOIN "
        "(SELECT city, count(*) AS sales FROM sales, shops WHERE shop = id GROUP BY city) g ON g.city = c.name"
    ),
)
INSERT = "INSERT INTO sales VALUES (1, 2.50), (2, 1.00), (3, 4.00), (4, 9.99), (NULL, 1.00)"


def rows(connection: psycopg.Connection[tuple[object, ...]], query: str) -> list[tuple[str, ...]]:
    return sorted(tuple(str(value) for value in row) for row in connection.execute(query.encode()))


@pytest.mark.turns(3, 2)
@pytest.mark.slow
def test_joined_views_live_with_their_tables(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as connection:
        for statement in CREATE:
            connection.execute(statement.encode())
        connection.execute(INSERT)
        assert rows(connection, "SELECT * FROM per_city") == [
            ("Ulm", "2", "6.50"),
            ("a city with quite a long name", "1", "1.00"),
        ]
        assert rows(connection, "SELECT * FROM per_head") == [("Ulm", "126000", "2")]
        connection.execute("INSERT INTO cities VALUES ('a city with quite a long name', 9)")
        connection.execute("UPDATE cities SET people = people + 1 WHERE name = 'Ulm'")
        assert rows(connection, "SELECT * FROM per_head") == [
            ("Ulm", "126001", "2"),
            ("a city with quite a long name", "9", "1"),
        ]
        with pytest.raises(psycopg.errors.ObjectInUse, match="per_city"):
            connection.execute("DELETE FROM shops WHERE id = 3")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            connection.execute("DROP TABLE cities")
        shown = "\n".join(line for (line,) in rows(connection, "EXPLAIN SELECT * FROM per_city"))
        assert "Join table shops: 3 rows, 3 keys (addresses)" in shown
    assert server.stop() == 0
    server.start()
    with server.connect() as connection:
        connection.execute(INSERT)
        assert ("Ulm", "4", "13.00") in rows(connection, "SELECT * FROM per_city")
        assert ("Ulm", "126001", "4") in rows(connection, "SELECT * FROM per_head")
    assert server.stop() == 0
