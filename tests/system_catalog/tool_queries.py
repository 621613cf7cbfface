"""Questions that tools ask the catalog when they start and when they show a database: queries in
tools/, run as they are, rows to compare.

A query stands after a line `-- title`; <city> in it is the OID of relation city, <type city> that
of its row type, <database> that of the database. Those of jdbc, psycopg, asyncpg, sqlalchemy and
psql_completion were taken from what these programs send; the others ask what the tools' sources
ask, with the same relations, functions and clauses. OIDs of the schema's own objects are compared
by what they stand for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.pq import ExecStatus

FOLDER = Path(__file__).parent / "tools"
OBJECTS = """
SELECT oid::int8, 'relation ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT oid::int8, 'type ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace
UNION ALL SELECT oid::int8, 'constraint ' || conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT d.oid::int8, 'default ' || d.adrelid::regclass::text || d.adnum::text FROM pg_attrdef d
UNION ALL SELECT r.oid::int8, 'rule of ' || r.ev_class::regclass::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
  WHERE c.relnamespace = 'public'::regnamespace
UNION ALL SELECT oid::int8, 'role ' || rolname FROM pg_authid WHERE rolname IN ('reader', 'writers')
UNION ALL SELECT oid::int8, 'database ' || datname FROM pg_database WHERE datname = current_database()
UNION ALL SELECT oid::int8, 'server ' || srvname FROM pg_foreign_server
UNION ALL SELECT oid::int8, 'wrapper ' || fdwname FROM pg_foreign_data_wrapper
"""
OID_TYPES = (26, 1028)
# What clients are told of columns of PostgreSQL's own types: their text, or a number. Drivers have
# no values of their own for them.
TOLD = {22: 25, 30: 25, 194: 25, 2277: 25, 869: 25, 28: 26, 1034: 1009}
# Columns that say how PostgreSQL stores a relation, or when it last cleaned one up.
STORAGE = frozenset(
    """
    relfilenode reltoastrelid relpages reltuples relallvisible relfrozenxid relminmxid datfrozenxid datminmxid toast_reloptions
    xmin ev_action ev_qual conbin adbin
    """.split()
)


@dataclass(frozen=True)
class Answer:
    """Answer of a server: names and types (OIDs) of the columns, rows as texts; or the SQLSTATE."""

    columns: list[str]
    types: list[int]
    rows: list[list[str | None]]
    error: str = ""


def dsn(port: int) -> str:
    """Return where to connect to: user and database have one name on both servers."""
    return f"host=127.0.0.1 port={port} user=antumbra dbname=antumbra"


def tools() -> list[str]:
    """Return the names of the tools."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def queries(tool: str) -> dict[str, str]:
    """Return the queries of a tool by title."""
    found = {}
    for part in re.split(r"\n\n(?=-- )", (FOLDER / f"{tool}.sql").read_text().strip()):
        head, _, text = part.partition("\n")
        assert head.removeprefix("-- ") not in found, head
        found[head.removeprefix("-- ")] = text
    return found


class Asked:
    """A server that is asked, and the names of its objects."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection
        self._names = {str(oid): str(name) for oid, name in connection.execute(OBJECTS).fetchall()}
        self._oids = {name: oid for oid, name in self._names.items()}

    def answer(self, text: str) -> Answer:
        """Return what the server says to a query."""
        result = self._connection.pgconn.exec_(re.sub(r"<([a-z_ ]+)>", self._oid, text).encode())
        if result.status != ExecStatus.TUPLES_OK:
            code = (result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b"").decode()
            return Answer([], [], [], f"{code} {result.error_message.decode().strip()}")
        columns = [(result.fname(index) or b"").decode() for index in range(result.nfields)]
        types = [TOLD.get(result.ftype(index), result.ftype(index)) for index in range(result.nfields)]
        rows = [
            [self._shown(result.get_value(row, column), types[column]) for column in range(result.nfields)]
            for row in range(result.ntuples)
        ]
        kept = [index for index, name in enumerate(columns) if name not in STORAGE]
        rows = [[row[index] for index in kept] for row in rows]
        if "ORDER BY" not in re.split(r"\n(?=ORDER BY)|\)", text.upper())[-1]:
            rows.sort(key=lambda row: [(value is None, value or "") for value in row])
        return Answer(columns, types, rows)

    def _oid(self, match: re.Match[str]) -> str:
        word = match.group(1)
        name = f"database {self._connection.info.dbname}" if word == "database" else word
        return self._oids.get(name) or self._oids[f"relation {name}"]

    def _shown(self, value: bytes | None, kind: int) -> str | None:
        if value is None:
            return None
        text = value.decode()
        if kind in OID_TYPES:
            return re.sub(r"\d+", lambda match: self._names.get(match.group(), match.group()), text)
        # The name of a NOT NULL has the OID of its table in it.
        return re.sub(r"\b2200_\d+_", "2200_#_", text)
