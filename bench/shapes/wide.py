"""Many columns, many rows, many messages."""

from __future__ import annotations

from collections.abc import Callable

from bench.shapes.table import ANY, Connection, Table, listed

TABLE = Table()
KINDS = {"table": "TABLE", "stream": "FOREIGN TABLE"}


def wide(kind: str, act: Callable[[Connection, int], object]) -> Callable[[Connection, int], object]:
    """Return what makes a relation of so many columns, does something with it, and drops it."""
    end = " SERVER stream OPTIONS (capacity '64')" if kind == "stream" else ""

    def done(connection: Connection, size: int) -> object:
        columns = listed(lambda i: f"c{i} {('integer', 'text', 'numeric(10,2)')[i % 3]}", size)
        connection.execute(f"CREATE {KINDS[kind]} wide ({columns}){end}".encode())
        try:
            return act(connection, size)
        finally:
            connection.execute(f"DROP {KINDS[kind]} wide".encode())

    return done


def inserted(connection: Connection, size: int) -> object:
    """Insert a row of constants, and read its last column."""
    connection.execute(f"INSERT INTO wide VALUES ({listed(str, size)})".encode())
    row = connection.execute("SELECT * FROM wide").fetchone()
    return None if row is None else int(str(row[-1])) + 1


def inserted_parameters(connection: Connection, size: int) -> object:
    """Insert ten rows of parameters."""
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO wide VALUES ({', '.join(['%s'] * size)})".encode(), [[1] * size] * 10)
        return cursor.rowcount


def copied(connection: Connection, size: int) -> object:
    """Copy 1,000 rows."""
    with connection.cursor() as cursor:
        with cursor.copy("COPY wide FROM STDIN") as copy:
            for _ in range(1_000):
                copy.write(b"1\t" * (size - 1) + b"1\n")
        return cursor.rowcount


def copied_out(connection: Connection, size: int) -> object:
    """Copy rows in and out."""
    copied(connection, size)
    with connection.cursor() as cursor, cursor.copy("COPY (SELECT * FROM wide) TO STDOUT") as copy:
        return sum(bytes(piece).count(b"\n") for piece in copy)


def grouped(connection: Connection, size: int) -> object:
    """Make a view that counts by all columns and one that adds up all numbers."""
    numbers = listed(lambda i: f"sum(c{i}) AS c{i}", 1, "") + "".join(f", sum(c{i}) AS c{i}" for i in range(3, size, 3))
    connection.execute(f"CREATE VIEW sums AS SELECT {numbers} FROM wide".encode())
    try:
        connection.execute(f"INSERT INTO wide VALUES ({listed(str, size)})".encode())
        row = connection.execute("SELECT c3 FROM sums").fetchone()
        return None if row is None else row[0]
    finally:
        connection.execute("DROP VIEW sums")


def bound(text: bytes) -> Callable[[Connection, int], object]:
    """Return what sends so many Binds and Executes before one Sync."""

    def done(connection: Connection, size: int) -> object:
        with connection.pipeline():
            last = None
            for index in range(size):
                last = connection.execute(text, [index], prepare=True)
        assert last is not None
        row = last.fetchone()
        return None if row is None else row[0]

    return done


def bound_inserts(target: str) -> Callable[[Connection, int], object]:
    """Return what sends so many INSERTs before one Sync, and takes them back."""

    def done(connection: Connection, size: int) -> object:
        with connection.transaction(force_rollback=True), connection.pipeline():
            for index in range(size):
                connection.execute(f"INSERT INTO {target} VALUES (%s)".encode(), [index + 100], prepare=True)
        return size

    return done


for kind in KINDS:
    for name, act, answer in (
        ("INSERT", inserted, lambda n: n),
        ("INSERT of parameters", inserted_parameters, 10),
        ("COPY", copied, 1_000),
        ("COPY TO", copied_out, ANY),
    ):
        TABLE.act(f"wide: {name} of a {kind}", 1_600, wide(kind, act), answer, True)
TABLE.act("wide: sums of a stream", 600, wide("stream", grouped), ANY, True)
TABLE.act("wide: Binds", 5_000, bound(b"SELECT %s::int"), lambda n: n - 1)
TABLE.act("wide: Binds of a table", 2_000, bound(b"SELECT %s::int + a FROM shaped WHERE a = 1"), lambda n: n)
TABLE.act(
    "wide: Binds of the catalog", 300, bound(b"SELECT %s::int + count(*) FROM pg_class WHERE oid = 0"), lambda n: n - 1
)
TABLE.act("wide: Binds of an INSERT into a table", 2_000, bound_inserts("shaped"), lambda n: n)
TABLE.act("wide: Binds of an INSERT into a stream", 5_000, bound_inserts("shapes"), lambda n: n)
TABLE.text("wide: statements", 10_000, lambda n: "SELECT a FROM shaped WHERE a = 1; " * n, 1)
TABLE.text("wide: different statements", 10_000, lambda n: "; ".join(f"SELECT {i}" for i in range(n)) + "; SELECT 1", 1)
TABLE.text("wide: statements of the catalog", 300, lambda n: "SELECT oid FROM pg_class WHERE oid = 1259; " * n, 1259)
TABLE.text(
    "wide: INSERTs into a stream",
    10_000,
    lambda n: "BEGIN; " + "INSERT INTO shapes VALUES (50); " * n + "ROLLBACK; SELECT 1",
    1,
)
TABLE.text("wide: SET and SHOW", 10_000, lambda n: "SET work_mem = '4MB'; SHOW work_mem; " * (n // 2), "4MB")
TABLE.text(
    "wide: rows of VALUES into a table",
    30_000,
    lambda n: (
        f"BEGIN; INSERT INTO shaped VALUES {listed(lambda i: f'({i}, {i} + 1, $$x$$, {i}.5, {i}.25)', n)}; ROLLBACK; SELECT 1"
    ),
    1,
)
TABLE.text(
    "wide: rows of VALUES into a stream",
    30_000,
    lambda n: (
        f"BEGIN; INSERT INTO shapes VALUES {listed(lambda i: f'({i} + 1, {chr(39)}x{i}{chr(39)})', n)}; ROLLBACK; SELECT 1"
    ),
    1,
)
TABLE.text(
    "wide: rows of VALUES in FROM",
    30_000,
    lambda n: (
        f"SELECT count(*) FROM shaped JOIN (VALUES {listed(lambda i: f'({i}, {chr(39)}x{chr(39)})', n)}) v (x, y) ON a = x"
    ),
    ANY,
)
TABLE.text(
    "wide: rows of VALUES beside a stream",
    30_000,
    lambda n: (
        f"SELECT count(*) FROM shapes JOIN (VALUES {listed(lambda i: f'({i}, {chr(39)}x{chr(39)})', n)}) v (x, y) ON k = x"
    ),
    ANY,
)
TABLE.text(
    "wide: rows of VALUES beside the catalog",
    30_000,
    lambda n: (
        "SELECT sum(x) + count(y) FROM (SELECT oid FROM pg_class LIMIT 1) c, "
        f"(VALUES {listed(lambda i: f'({i}, $$x$$)', n)}) v (x, y)"
    ),
    lambda n: n * (n - 1) // 2 + n,
)
TABLE.text(
    "wide: UPDATE from VALUES",
    10_000,
    lambda n: (
        f"BEGIN; UPDATE shaped SET b = y FROM (VALUES {listed(lambda i: f'({i}, {i})', n)}) v (x, y) WHERE a = x; ROLLBACK; SELECT 1"
    ),
    1,
)
TABLE.text(
    "wide: UPDATE of CASE",
    1_000,
    lambda n: (
        f"BEGIN; UPDATE shaped SET b = CASE {listed(lambda i: f'WHEN a = {i} THEN {i}', n, ' ')} END; ROLLBACK; SELECT 1"
    ),
    1,
    True,
)
TABLE.text(
    "wide: DELETE of IN",
    30_000,
    lambda n: f"BEGIN; DELETE FROM shaped WHERE a IN ({listed(str, n)}); ROLLBACK; SELECT 1",
    1,
)
TABLE.text(
    "wide: DELETE of OR",
    5_000,
    lambda n: f"BEGIN; DELETE FROM shaped WHERE {listed(lambda i: f'a = {i}', n, ' OR ')}; ROLLBACK; SELECT 1",
    1,
    True,
)
