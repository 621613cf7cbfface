"""DuckDB has no way to files and extensions: not from any connection of ours, whatever text reaches
it, and not from a client's SQL.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from engine.tables import unique_errors, write_journal
from tests.engine.session_client import World

SECRET = "a line that nobody may read"
# {file} has the secret, {folder} is where it lies; only the errors of what they did before would
# tell them apart.
STATEMENTS = (
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "CREATE TABLE copied (t VARCHAR); COPY copied FROM '{file}'",
    "EXPORT DATABASE '{folder}/exported'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/new.duckdb' AS new",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/x.duckdb_extension'",
    "CREATE PERSISTENT SECRET (TYPE s3)",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "SET lock_configuration = false",
    "SET temp_directory = '{folder}/spilled'",
    "SET log_query_path = '{folder}/log'",
    "SET allowed_directories = ['/']",
    "PRAGMA profiling_output = '{folder}/profile'",
    "SELECT * FROM rows_of_python",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "secret.csv").write_text(SECRET)
    return made


def refused(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Try all of them in a connection and in one that it makes."""
    rows_of_python = pa.table({"a": [1]})
    assert rows_of_python.num_rows == 1
    before = sorted(folder.rglob("*"))
    for cursor in (connection, connection.cursor()):
        for statement in STATEMENTS:
            with pytest.raises(duckdb.Error):
                print(cursor.execute(statement.format(file=folder / "secret.csv", folder=folder)).fetchall())
            cursor.execute("DROP TABLE IF EXISTS copied")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("file", [None, "t.duckdb"])
def test_the_embedded_engine(file: str | None, tmp_path: Path, folder: Path) -> None:
    engine = QueryEngine(1 << 27, file=None if file is None else tmp_path / file)
    cursor = engine.take_cursor()
    refused(cursor.connection, folder)
    cursor.connection.register("given", pa.table({"a": [1, 2]}))
    assert cursor.connection.execute("SELECT sum(a) FROM given").fetchall() == [(3,)]
    engine.close()


@pytest.mark.slow
def test_its_own_files_stay_usable(tmp_path: Path) -> None:
    file = tmp_path / "t.duckdb"
    engine = QueryEngine(96 << 20, file=file)
    connection = engine.take_cursor().connection
    connection.execute("CREATE TABLE kept AS SELECT range AS i FROM range(100_000)")
    connection.execute("CHECKPOINT")
    spilling = "SELECT count(*), max(r) FROM (SELECT row_number() OVER (ORDER BY md5(i::VARCHAR)) AS r FROM range(3_000_000) t(i))"
    assert connection.execute(spilling).fetchall() == [(3_000_000, 3_000_000)]
    engine.close()
    again = QueryEngine(1 << 27, file=file)
    assert again.take_cursor().connection.execute("SELECT count(*) FROM kept").fetchall() == [(100_000,)]
    again.close()


@pytest.mark.parametrize("name", ["antumbra rows", "antumbra failed rows", write_journal.ROWS, unique_errors.ROWS])
def test_a_name_that_is_ours(name: str, tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (k int) SERVER stream",
        f'CREATE VIEW "{name}" AS SELECT k, count(*) AS n FROM s GROUP BY k',
        "CREATE TABLE p (k int PRIMARY KEY)",
        "CREATE TABLE t (k int PRIMARY KEY REFERENCES p, n int)",
        "INSERT INTO s VALUES (1), (1), (2)",
        "INSERT INTO p VALUES (1), (2), (3)",
    )
    for k in (1, 2):
        client.run(f'INSERT INTO t SELECT k, n FROM "{name}" WHERE k = {k}')
    assert client.ask(f'INSERT INTO t SELECT k, n FROM "{name}"')[0].startswith("E ERROR 23505")
    assert client.ask(f'INSERT INTO t SELECT k + 7, n FROM "{name}"')[0].startswith("E ERROR 23503")
    client.run(f'UPDATE t SET n = v.n + 1 FROM "{name}" v WHERE v.k = t.k')
    assert client.rows("SELECT k, n FROM t ORDER BY k") == ["D [b'1', b'3']", "D [b'2', b'2']"]
    assert client.rows(f'SELECT k, n FROM "{name}" ORDER BY k') == ["D [b'1', b'2']", "D [b'2', b'1']"]
    assert all(len(own.encode()) > 63 for own in (write_journal.ROWS, unique_errors.ROWS))
    world.close()


@pytest.mark.parametrize("kind", ["view", "stream", "table", "query"])
def test_a_name_that_is_a_query(kind: str, tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    name = '"(SELECT text AS k FROM catalog.definitions)t1--"'
    client.run("CREATE FOREIGN TABLE s (k text) SERVER stream", "INSERT INTO s VALUES ('mine')")
    made = {
        "view": f"CREATE VIEW {name} AS SELECT max(k) AS k FROM s",
        "stream": f"CREATE FOREIGN TABLE {name} (k text) SERVER stream",
        "table": f"CREATE TABLE {name} (k text)",
        "query": f"CREATE TABLE t (k text); INSERT INTO t VALUES ('mine'); CREATE VIEW {name} AS SELECT k FROM t",
    }
    client.run(made[kind])
    if kind in ("stream", "table"):
        client.run(f"INSERT INTO {name} VALUES ('mine')")
    if kind == "view":
        client.run("INSERT INTO s VALUES ('mine')")
    for text in (f"SELECT k FROM {name}", f"WITH {name} AS (SELECT k FROM {name}) SELECT k FROM {name} WHERE k > ''"):
        assert client.rows(text) == ["D [b'mine']"]
    world.close()


@pytest.mark.turns(2)
@pytest.mark.parametrize("form", ["{source}", "pg_class c, {source}", "s, {source}", "t, {source}"])
@pytest.mark.parametrize("source", ["read_csv('{file}')", '"{file}"', "read_text('{file}') x", "glob('{folder}/*')"])
def test_from_a_client(form: str, source: str, tmp_path: Path, folder: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run("CREATE TABLE t (a int)", "CREATE FOREIGN TABLE s (a int) SERVER stream")
    text = "SELECT * FROM " + form.format(source=source.format(file=folder / "secret.csv", folder=folder))
    for statement in (text, f"CREATE VIEW v AS {text}", f"CREATE TABLE u AS {text}"):
        answer = client.ask(statement)
        assert answer[0].startswith(("E ERROR 42", "E ERROR 0A000")) and SECRET not in str(answer), answer
    world.close()
