"""pgjdbc in a JVM of its own, driven through py4j: metadata, values, batches into a stream,
cursors, CopyManager.

The driver is Debian's package libpostgresql-jdbc-java. A machine that has it not says so and skips
the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import py4j.java_gateway
import py4j.protocol
import pyspark
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from engine.spark.java import find_java
from tests.oracle.antumbra import AntumbraServer

JAR = Path("/usr/share/java/postgresql.jar")
BRIDGE = next(Path(pyspark.__file__).parent.glob("jars/py4j-*.jar"))

pytestmark = pytest.mark.skipif(not JAR.exists(), reason="libpostgresql-jdbc-java is not installed")


@pytest.fixture(scope="module")
def jvm() -> Iterator[Any]:
    """A JVM that has the driver alone. Spark, once used by the process, explains the errors of any
    JVM by classes of its own, which this one lacks.
    """
    port = launch_gateway(
        jarpath=str(BRIDGE), classpath=str(JAR), die_on_exit=True, java_path=str(find_java() / "bin" / "java")
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(py4j.java_gateway, "get_return_value", py4j.protocol.get_return_value)
        yield gateway.jvm
        gateway.shutdown()


@pytest.fixture
def connection(jvm: Any, server: AntumbraServer) -> Iterator[Any]:
    with server.connect() as ours:
        ours.execute("CREATE TABLE jdbc_rooms (id integer PRIMARY KEY, name text NOT NULL, price numeric(8,2))")
        ours.execute("CREATE FOREIGN TABLE jdbc_events (k integer, t text, x double precision) SERVER stream")
        ours.execute("CREATE VIEW jdbc_sums AS SELECT k, count(*) AS n, sum(x) AS total FROM jdbc_events GROUP BY k")
        opened = jvm.org.postgresql.Driver().connect(
            f"jdbc:postgresql://127.0.0.1:{server.port}/antumbra?user=antumbra", jvm.java.util.Properties()
        )
        yield opened
        opened.close()
        ours.execute("DROP FOREIGN TABLE jdbc_events CASCADE")
        ours.execute("DROP TABLE jdbc_rooms")


def rows(found: Any, *names: str | int) -> list[tuple[str | None, ...]]:
    """Return columns of a ResultSet as strings."""
    result = []
    while found.next():
        result.append(tuple(found.getString(name) for name in names))
    return result


def asked(connection: Any, text: str, columns_count: int) -> list[tuple[str | None, ...]]:
    return rows(connection.createStatement().executeQuery(text), *range(1, columns_count + 1))


def test_metadata(connection: Any) -> None:
    data = connection.getMetaData()
    assert (data.getDatabaseProductName(), data.getDatabaseMajorVersion()) == ("PostgreSQL", 15)
    tables = rows(data.getTables(None, "public", "jdbc_%", None), "TABLE_NAME", "TABLE_TYPE")
    assert {("jdbc_events", "FOREIGN TABLE"), ("jdbc_rooms", "TABLE"), ("jdbc_sums", "VIEW")} <= set(tables)
    assert rows(data.getColumns(None, "public", "jdbc_rooms", None), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE") == [
        ("id", "int4", "NO"),
        ("name", "text", "NO"),
        ("price", "numeric", "YES"),
    ]
    assert ("public",) in rows(data.getSchemas(), 1)
    assert ("TABLE",) in rows(data.getTableTypes(), 1)


def test_values_and_errors(connection: Any, jvm: Any) -> None:
    for use in range(7):
        statement = connection.prepareStatement("SELECT ?::integer, ?::text, ?::numeric, ?::boolean, ?::bytea, ?::date")
        statement.setInt(1, use)
        statement.setString(2, "é☃")
        statement.setBigDecimal(3, jvm.java.math.BigDecimal("1.50"))
        statement.setBoolean(4, True)
        statement.setBytes(5, b"\0\xff")
        statement.setNull(6, jvm.java.sql.Types.DATE)
        row = statement.executeQuery()
        assert row.next()
        assert (row.getInt(1), row.getString(2), str(row.getBigDecimal(3)), row.getBoolean(4)) == (
            use,
            "é☃",
            "1.50",
            True,
        )
        assert bytes(row.getBytes(5)) == b"\0\xff" and row.getDate(6) is None
    with pytest.raises(Py4JJavaError) as raised:
        connection.createStatement().executeQuery("SELECT nothing")
    assert raised.value.java_exception.getSQLState() == "42703"


def test_batches(connection: Any, jvm: Any) -> None:
    connection.setAutoCommit(False)
    statement = connection.prepareStatement("INSERT INTO jdbc_events VALUES (?, ?, ?)")
    for row in range(300):
        statement.setInt(1, row % 3)
        statement.setString(2, None if row % 2 else f"t{row}")
        statement.setDouble(3, row / 2)
        statement.addBatch()
    assert list(statement.executeBatch()) == [1] * 300
    connection.commit()
    dropped = connection.prepareStatement("INSERT INTO jdbc_rooms VALUES (?, ?, ?)")
    for row in range(50):
        dropped.setInt(1, row)
        dropped.setString(2, "room")
        dropped.setBigDecimal(3, jvm.java.math.BigDecimal(row))
        dropped.addBatch()
    assert sum(dropped.executeBatch()) == 50
    connection.rollback()
    connection.setAutoCommit(True)
    expected = [(str(k), "100", str(sum(row / 2 for row in range(k, 300, 3))).removesuffix(".0")) for k in range(3)]
    assert asked(connection, "SELECT k, n, total FROM jdbc_sums ORDER BY k", 3) == expected
    assert asked(connection, "SELECT count(*) FROM jdbc_rooms", 1) == [("0",)]


def test_cursor(connection: Any) -> None:
    connection.setAutoCommit(False)
    statement = connection.createStatement()
    statement.setFetchSize(7)
    found = rows(statement.executeQuery("SELECT i FROM generate_series(1, 100) AS g(i) ORDER BY i"), 1)
    connection.commit()
    assert found == [(str(number),) for number in range(1, 101)]


def test_copy_manager(connection: Any, jvm: Any) -> None:
    manager = jvm.org.postgresql.copy.CopyManager(connection)
    reader = jvm.java.io.StringReader
    assert manager.copyIn("COPY jdbc_rooms FROM STDIN (FORMAT csv)", reader('1,hall,2.50\n2,"a,b",\n')) == 2
    out = jvm.java.io.StringWriter()
    assert manager.copyOut("COPY (SELECT * FROM jdbc_rooms ORDER BY id) TO STDOUT (FORMAT csv)", out) == 2
    assert out.toString() == '1,hall,2.50\n2,"a,b",\n'
    assert manager.copyIn("COPY jdbc_events FROM STDIN", reader("7\tx\t1.5\n7\t\\N\t2\n")) == 2
    assert asked(connection, "SELECT n, total FROM jdbc_sums WHERE k = 7", 2) == [("2", "3.5")]
    with pytest.raises(Py4JJavaError):
        manager.copyIn("COPY jdbc_rooms FROM STDIN", reader("x\ty\t1\n"))
    assert asked(connection, "SELECT count(*) FROM jdbc_rooms", 1) == [("2",)]
