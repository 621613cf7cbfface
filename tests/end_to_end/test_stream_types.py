"""Streams with a column of every type, through a driver: parameters in text and binary, COPY in
three formats, a kill, and the same rows after it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json, Jsonb

from tests.oracle.antumbra import AntumbraServer

COLUMNS = (
    "n int, num numeric, j json, jb jsonb, u uuid, c char(5), ta text[], ia int[], na numeric[], iv interval, t time, b bytea, o oid, "
    'nm name, q "char", t3 timestamp(3), i inet, tz timetz'
)
VALUES: tuple[Any, ...] = (
    1, Decimal("1.50"), Json({"a": [1, 2]}), Jsonb({"b": 1, "a": "x"}), uuid.UUID(int=2**127 + 5), "ab", ["a", None, 'x "y"'], [1, None],
    [Decimal("1.0"), Decimal("NaN")], timedelta(days=3, seconds=5), time(12, 30, 5, 17), b"\0\xff", 4_000_000_000, "name", "q",
    "2020-01-01 00:00:00.1236", "10.0.0.1/8", "12:00+02",
)  # fmt: skip
CASTS = {"o": "::oid", "nm": "::name", "q": '::"char"', "t3": "::timestamp", "i": "::inet", "tz": "::timetz"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AntumbraServer]:
    server = AntumbraServer(tmp_path / "data").start()
    yield server
    server.stop()


def test_rows_of_all_types(server: AntumbraServer) -> None:
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    listed = ", ".join(
        f"%b{CASTS.get(name, '')}" if name not in ("t3", "i", "tz") else f"%t{CASTS[name]}" for name in names
    )
    with server.connect() as connection:
        connection.autocommit = True
        connection.execute(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream")
        connection.execute("CREATE VIEW v AS SELECT num, count(*) AS n FROM s GROUP BY num")
        texts = ", ".join(f"%t{CASTS.get(name, '')}" for name in names)
        for form in (listed, texts, texts):
            connection.execute(f"INSERT INTO s VALUES ({form})", VALUES, prepare=True)
        connection.execute("INSERT INTO s VALUES (2)")
        for form in ("binary", "text", "csv"):
            with connection.cursor().copy(f"COPY (SELECT * FROM s WHERE n <= 2) TO STDOUT (FORMAT {form})") as copy:
                data = b"".join(copy)
            with connection.cursor().copy(f"COPY s FROM STDIN (FORMAT {form})") as copy:
                copy.write(data)
        rows = connection.execute("SELECT * FROM s ORDER BY n").fetchall()
        assert len(rows) == 32
        assert len({repr(row) for row in rows}) == 2
        first = rows[0]
        assert first[1:5] == (Decimal("1.50"), {"a": [1, 2]}, {"a": "x", "b": 1}, VALUES[4])
        assert first[5:12] == ("ab   ", ["a", None, 'x "y"'], [1, None], first[8], VALUES[9], VALUES[10], VALUES[11])
        assert str(first[8]) == str(VALUES[8])
        assert rows[-1] == (2, *(None,) * (len(names) - 1))
        groups = connection.execute("SELECT * FROM v ORDER BY num").fetchall()
        assert groups == [(Decimal("1.50"), 24), (None, 8)]
    server.kill()
    server.start()
    with server.connect() as connection:
        assert repr(connection.execute("SELECT * FROM s ORDER BY n").fetchall()) == repr(rows)
        connection.execute("CHECKPOINT")
        connection.execute("INSERT INTO s VALUES (3, 'NaN')")
        connection.commit()
    server.kill()
    server.start()
    with server.connect() as connection:
        assert connection.execute("SELECT * FROM v ORDER BY num").fetchall()[0::2] == [groups[0], groups[1]]
        assert len(connection.execute("SELECT * FROM s").fetchall()) == 33


def test_a_bad_parameter(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE s (n int, jb jsonb, c char(2)) SERVER stream")
        connection.commit()
        for value, kind in (("{", "jb"), ("abc", "c")):
            with pytest.raises(psycopg.DataError):
                connection.execute(f"INSERT INTO s (n, {kind}) VALUES (1, %s)", (value,))
            connection.rollback()
        assert connection.execute("SELECT count(*) FROM s").fetchone() == (0,)
