"""Statements that are said to Antumbra and to PostgreSQL: same rows in text and in binary, same
column types, same errors.

side_by_side/*.sql hold them, one or several lines each; data of a COPY FROM STDIN follow it and end
with \\. alone. A stream is a table in PostgreSQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from _pytest.mark import ParameterSet
from psycopg.pq import ExecStatus

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

FOLDER = Path(__file__).parent / "side_by_side"
# Those that take ten to fifty seconds of a processor, most of them for their views: one each turn,
# in turn 0 the one that says most for its time.
COSTLY = (
    "stream_formats",
    "functions",
    "numeric_specials",
    "stream_type_views",
    "distinct_sums",
    "stream_functions",
    "fixed_zones",
    "date_bins",
    "stream_type_orders",
    "first_rows",
)
FIRST_OWN_OID = 16_384
RECORD_OID = 2_249
STREAM = re.compile(r"(CREATE|DROP) FOREIGN TABLE (.*?)( SERVER stream)?", re.DOTALL)


def in_turn(path: Path) -> ParameterSet:
    """Return a file as a parameter, a costly one with its turn."""
    turns = [pytest.mark.turns(len(COSTLY), COSTLY.index(path.stem))] if path.stem in COSTLY else []
    return pytest.param(path, marks=turns, id=path.stem)


def statements(text: str) -> Iterator[tuple[str, str]]:
    """Return each statement, and the data after it."""
    lines = iter(text.splitlines(keepends=True))
    said: list[str] = []
    for line in lines:
        if line.startswith("--") or not (said or line.strip()):
            continue
        said.append(line)
        if line.rstrip().endswith(";"):
            statement = "".join(said).strip().rstrip(";")
            said = []
            data: list[str] = []
            if statement.startswith("COPY") and " FROM STDIN" in statement:
                for following in lines:
                    if following == "\\.\n":
                        break
                    data.append(following)
            yield statement, "".join(data)


def said_to_postgres(statement: str) -> str:
    stream = STREAM.fullmatch(statement)
    return statement if stream is None else f"{stream[1]} TABLE {stream[2]}"


def answer(connection: psycopg.Connection[Any], statement: str, data: str, binary: bool) -> object:
    """Return what a statement yields: column types and rows, a COPY's bytes, or an error."""
    try:
        with connection.cursor(binary=binary) as cursor:
            if statement.startswith("COPY"):
                with cursor.copy(statement.encode()) as copy:
                    if data:
                        copy.write(data)
                        return "copied"
                    return b"".join(bytes(block) for block in copy)
            cursor.execute(statement.encode())
            result = cursor.pgresult
            assert result is not None
            if result.status != ExecStatus.TUPLES_OK:
                return "done"
            names = own_types(connection)
            types = [names.get(result.ftype(column), result.ftype(column)) for column in range(result.nfields)]
            rows = [
                [named(result.get_value(row, column), types[column], names) for column in range(result.nfields)]
                for row in range(result.ntuples)
            ]
            return types, rows
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary, error.diag.message_detail


def own_types(connection: psycopg.Connection[Any]) -> dict[int, str]:
    """Return the names of the database's own types, whose OIDs are others in each server."""
    found = connection.execute(
        f"SELECT oid, typname FROM pg_type WHERE oid >= {FIRST_OWN_OID} AND typcategory IN ('A', 'C', 'E')"
    )
    return dict(found.fetchall())


def named(value: bytes | None, of_type: int | str, names: dict[int, str]) -> bytes | None:
    """Return a value with names in the place of OIDs, which arrays and rows of own types have in
    binary form.

    Only there: the bytes of a number may be those of an OID.
    """
    if of_type != RECORD_OID and not isinstance(of_type, str):
        return value
    for oid, name in names.items():
        value = None if value is None else value.replace(oid.to_bytes(4, "big"), name.encode())
    return value


@pytest.mark.turns(9)
@pytest.mark.parametrize("path", [in_turn(path) for path in sorted(FOLDER.glob("*.sql"))])
def test_answers(path: Path, server: AntumbraServer, postgres: PostgresCluster) -> None:
    wrong = []
    with server.connect() as ours, postgres.connect() as theirs:
        ours.autocommit = theirs.autocommit = True
        for connection in (ours, theirs):
            connection.execute("SET TimeZone = 'Europe/Berlin'")
        for statement, data in statements(path.read_text()):
            for binary in (False, True) if statement.startswith(("SELECT", "VALUES")) else (False,):
                mine = answer(ours, statement, data, binary)
                expected = answer(theirs, said_to_postgres(statement), data, binary)
                if mine != expected:
                    wrong.append(f"{statement}\n  ours: {mine}\n  PostgreSQL: {expected}")
    assert not wrong, "\n".join(wrong)
