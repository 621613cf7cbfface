"""A dump of pg_dump 15 restores: the database that psql makes of it has the same definitions, and
gives the same answers.

Rows of streams are not in a dump, as rows of foreign tables are not in one of PostgreSQL.
"""

from __future__ import annotations

import re
import subprocess

import psycopg
import pytest

from tests.engine.system_catalog.test_view_texts import QUERIES, TABLES
from tests.golden import texts
from tests.oracle.antumbra import AntumbraServer

SCHEMAS = ("shop", "Other Schema")
DEFINITIONS = """
CREATE SCHEMA shop; CREATE SCHEMA "Other Schema"; SET search_path = shop;
CREATE TABLE city (
    id int PRIMARY KEY, name text NOT NULL, "Odd" int DEFAULT -1, at timestamptz DEFAULT now(), CHECK (id > 0 AND name <> '')
);
CREATE TABLE "Other Schema".visit (
    id serial PRIMARY KEY, city int REFERENCES city (id) ON DELETE CASCADE, price numeric(10,2) DEFAULT 0,
    n bigint GENERATED ALWAYS AS IDENTITY, paid bool DEFAULT false, UNIQUE (city, price)
);
CREATE INDEX by_city ON "Other Schema".visit (city, price);
CREATE INDEX ON "Other Schema".visit (abs(city), (price * 2) DESC) WHERE price > 0;
CREATE FOREIGN TABLE trips (city int, fare numeric(10,2), note text DEFAULT 'none') SERVER stream OPTIONS (capacity '1024');
CREATE VIEW fares WITH (on_error = skip) AS SELECT city, count(*) AS n, sum(fare) AS total FROM trips GROUP BY city;
CREATE VIEW named AS SELECT c.name, f.n, f.total FROM fares f JOIN city c ON c.id = f.city;
CREATE VIEW "Other Schema"."Large" AS SELECT * FROM city JOIN "Other Schema".visit USING (id) WHERE price > 1;
CREATE FOREIGN TABLE "Other Schema"."Dear" (city int, fare numeric, note text DEFAULT 'dear') SERVER stream;
CREATE VIEW dear WITH (action = transform, outputstream = '"Other Schema"."Dear"') AS
    SELECT city, fare * 2 AS twice FROM trips WHERE fare > 2.5;
CREATE VIEW dears AS SELECT note, count(*) AS n, sum(fare) AS total FROM "Other Schema"."Dear" GROUP BY note;
ALTER VIEW fares SET (refresh_every = '1 h', output = on);
CREATE VIEW told AS SELECT change, count(*) AS n, max(new_total) AS most FROM output_of('fares') GROUP BY change;
COMMENT ON VIEW fares IS 'Fares by city';
INSERT INTO city VALUES (1, 'Ulm'), (2, 'Bonn');
INSERT INTO "Other Schema".visit (city, price) VALUES (1, 5), (2, 0.5);
ALTER TABLE city RENAME COLUMN name TO title;
ALTER FOREIGN TABLE trips RENAME COLUMN city TO place;
"""
ROWS = "INSERT INTO shop.trips (place, fare) VALUES (1, 2.5), (1, 3), (2, 4)"
QUESTIONS = (
    'SELECT title, n, total FROM shop.named JOIN shop.city ON title = name ORDER BY 1',
    'SELECT id, name, price, n FROM "Other Schema"."Large" ORDER BY id',
    'SELECT * FROM "Other Schema".visit ORDER BY id',
    'SELECT * FROM shop.dears',
    "SELECT count(*) FROM shop.told",
    'INSERT INTO "Other Schema".visit (city) VALUES (1) RETURNING id, n, price, paid',
)  # fmt: skip


@pytest.mark.turns(2, 1)
def test_a_dump_restores(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute(DEFINITIONS)
        for text in TABLES.read_text().splitlines():
            connection.execute(text.encode())
        for number, text in enumerate(texts(QUERIES)[::6]):
            connection.execute(f"CREATE VIEW v{number} AS {text}".encode())
        before = dumped(server)
        connection.execute(ROWS)
        answers = [connection.execute(question).fetchall() for question in QUESTIONS]
        drop(connection)
        restored = run("psql", server, "-v", "ON_ERROR_STOP=1", given=before)
        assert "ERROR" not in restored, restored
        # PostgreSQL, too, shows a list of rows that is written in FROM with one blank more.
        assert dumped(server).replace("FROM ( VALUES", "FROM (VALUES") == before.replace(
            "FROM ( VALUES", "FROM (VALUES"
        )
        connection.execute(ROWS)
        assert [connection.execute(question).fetchall() for question in QUESTIONS] == answers
        drop(connection)


def test_a_whole_dump_has_nothing_that_every_database_has(server: AntumbraServer) -> None:
    text = run("pg_dump", server, "--schema-only")
    assert "CREATE SERVER" not in text and "CREATE EXTENSION" not in text and "GRANT" not in text


def drop(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute('DROP SCHEMA shop, "Other Schema" CASCADE')


def dumped(server: AntumbraServer) -> str:
    """Return a dump without the words that are others each time."""
    schemas = (f'--schema="{name}"' for name in SCHEMAS)
    return re.sub(r"^\\(un)?restrict .*$", "", run("pg_dump", server, *schemas), flags=re.MULTILINE)


def run(program: str, server: AntumbraServer, *arguments: str, given: str | None = None) -> str:
    """Return what a program of PostgreSQL's prints, errors too."""
    where = ("-h", "127.0.0.1", "-p", str(server.port), "-U", "antumbra", *arguments, "antumbra")
    quiet = ("-X", "-q") if program == "psql" else ()
    found = subprocess.run(
        [program, *quiet, *where], input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-2000:]
    return found.stdout
