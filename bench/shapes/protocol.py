"""Texts in other messages than Query: parameters, names, lines of COPY."""

from __future__ import annotations

from collections.abc import Callable

from bench.shapes.table import ANY, MB, Connection, Table

TABLE = Table()


def with_parameter(text: str, value: Callable[[int], object]) -> Callable[[Connection, int], object]:
    """Return what binds one large parameter."""

    def done(connection: Connection, size: int) -> object:
        row = connection.execute(text.encode(), [value(size)]).fetchone()
        return None if row is None else row[0]

    return done


def many_parameters(connection: Connection, size: int) -> object:
    """Bind as many as there can be."""
    text = "SELECT " + "+".join(["%s::int"] * size)
    row = connection.execute(text.encode(), [1] * size).fetchone()
    return None if row is None else row[0]


def inserted_parameters(connection: Connection, size: int) -> object:
    """Insert rows of parameters."""
    text = "INSERT INTO shaped (a) VALUES " + ", ".join(["(%s)"] * size)
    with connection.transaction(force_rollback=True):
        return connection.execute(text.encode(), [100] * size).rowcount


def copied_line(target: str) -> Callable[[Connection, int], object]:
    """Return what copies one long line."""

    def done(connection: Connection, size: int) -> object:
        piece = b"x" * min(size, MB)
        with connection.transaction(force_rollback="k" not in target), connection.cursor() as cursor:
            with cursor.copy(f"COPY {target} FROM STDIN".encode()) as copy:
                if "k" in target:
                    copy.write(b"1\t")
                for _ in range(max(size // MB, 1)):
                    copy.write(piece)
                copy.write(b"\n")
            return cursor.rowcount

    return done


def copied_fields(connection: Connection, size: int) -> object:
    """Copy a line of too many fields."""
    with connection.cursor() as cursor, cursor.copy("COPY shaped FROM STDIN") as copy:
        copy.write(b"1\t" * size + b"1\n")
    return None


def prepared_names(connection: Connection, size: int) -> object:
    """Prepare thousands of statements of long names, and look at them."""
    for index in range(size):
        connection.pgconn.prepare(b"x" * 10_000 + str(index).encode(), b"SELECT 1")
    row = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
    connection.execute("DEALLOCATE ALL")
    return None if row is None else row[0]


def portal_name(connection: Connection, size: int) -> object:
    """Prepare under a name of megabytes."""
    connection.pgconn.prepare(b"y" * size, b"SELECT 1")
    result = connection.pgconn.exec_prepared(b"y" * size, [])
    connection.execute("DEALLOCATE ALL")
    return result.get_value(0, 0)


TABLE.act(
    "protocol: text parameter", 100 * MB, with_parameter("SELECT length(%s::text)", lambda n: "x" * n), lambda n: n
)
TABLE.act(
    "protocol: text parameter that is not ASCII",
    40 * MB,
    with_parameter("SELECT length(%s::text)", lambda n: "é" * n),
    lambda n: n,
)
TABLE.act(
    "protocol: binary parameter",
    100 * MB,
    with_parameter("SELECT length(%b::bytea)", lambda n: b"x" * n),
    lambda n: n,
)
TABLE.act(
    "protocol: text bytea parameter",
    20 * MB,
    with_parameter("SELECT length(%t::bytea)", lambda n: b"x" * n),
    lambda n: n,
)
TABLE.act(
    "protocol: array parameter",
    300_000,
    with_parameter("SELECT array_length(%t::int[], 1)", lambda n: list(range(n))),
    lambda n: n,
)
TABLE.act(
    "protocol: binary array parameter",
    300_000,
    with_parameter("SELECT array_length(%b::int[], 1)", lambda n: list(range(n))),
    lambda n: n,
)
TABLE.act(
    "protocol: array parameter of texts",
    300_000,
    with_parameter("SELECT array_length(%s::text[], 1)", lambda n: ["x"] * n),
    lambda n: n,
)
TABLE.act("protocol: numeric parameter", MB, with_parameter("SELECT %s::text::numeric", lambda n: "1" * n), ANY, True)
TABLE.act(
    "protocol: json parameter",
    4 * MB,
    with_parameter("SELECT %s::json IS NULL", lambda n: "[" + "1," * (n // 2) + "1]"),
    False,
)
TABLE.act(
    "protocol: parameter into a stream",
    20 * MB,
    with_parameter("WITH x AS (SELECT 1) SELECT length(%s::text)", lambda n: "x" * n),
    lambda n: n,
)
TABLE.act("protocol: parameters", 5_000, many_parameters, lambda n: n, True)
TABLE.act("protocol: 65,535 parameters", 65_535, inserted_parameters, lambda n: n)
TABLE.act("protocol: prepared statements of long names", 2_000, prepared_names, ANY)
TABLE.act("protocol: name of megabytes", 4 * MB, portal_name, ANY)
TABLE.act("protocol: COPY line into a table", 300 * MB, copied_line("shaped (c)"), ANY, True)
TABLE.act("protocol: COPY line into a stream", 300 * MB, copied_line("shapes (k, t)"), ANY, True)
TABLE.act("protocol: COPY of too many fields", MB, copied_fields, "22P04")
