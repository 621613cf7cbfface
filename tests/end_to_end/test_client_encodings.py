"""Clients that speak other encodings than UTF8: what they send and get, beside PostgreSQL, by
psycopg and by bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.end_to_end.raw_client import SYNC, RawClient, execute, frame
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[Any]
ENCODINGS = ("latin1", "latin9", "win1252", "euc_cn", "euc_jp", "gb18030", "sql_ascii", "utf8")
FORMATS = ("s", "t", "b")


def text_parameters(connection: Connection) -> object:
    query = "SELECT ascii(%{0}), %{0}::text, %{0} || chr(233), %{0}::varchar(2)"
    return [connection.execute(query.format(form), ("ü", "é", "ü", "éüx")).fetchall() for form in FORMATS]


def a_parameter_that_latin1_does_not_have(connection: Connection) -> object:
    return [connection.execute(f"SELECT ascii(%{form})", ("€",)).fetchall() for form in FORMATS]


def arrays_and_json(connection: Connection) -> object:
    query = """SELECT %b::text[], '{"ü": "é"}'::json, '{"ü": "é"}'::jsonb, array[chr(252), NULL, 'x'],
        'é'::name, 'é'::char(3), '\\xe9'::bytea"""
    rows = []
    for binary in (False, True):
        result = connection.execute(query, (["ü", None, ""],), binary=binary).pgresult
        assert result is not None
        rows.append([result.get_value(0, column) for column in range(result.nfields)])
    return rows


def results(connection: Connection) -> object:
    return [connection.execute("SELECT chr(8364), 1", binary=binary).fetchall() for binary in (False, True)]


def names_of_columns(connection: Connection) -> object:
    description = connection.execute('SELECT 1 AS "é", 2 AS b').description
    assert description is not None
    return [column.name for column in description]


def an_error(connection: Connection) -> object:
    return connection.execute('SELECT * FROM "é"')


def an_error_that_latin1_does_not_have(connection: Connection) -> object:
    return connection.execute("SELECT ('x' || chr(8364))::int")


def a_cursor(connection: Connection) -> object:
    with connection.cursor("é", binary=True) as cursor:
        cursor.execute('SELECT chr(252) || g AS "ü" FROM generate_series(1, 3) g')
        return cursor.fetchmany(2), cursor.fetchall()


def copies_to(connection: Connection) -> object:
    found = []
    for form in ("text", "csv, header", "binary", "csv, encoding 'latin2'"):
        query = f'COPY (SELECT chr(252) AS "é", 1, NULL::text, array[chr(233)]) TO STDOUT (format {form})'
        with connection.cursor().copy(query) as copy:
            found.append([bytes(piece) for piece in copy])
    return found


def a_copy_that_latin1_does_not_have(connection: Connection) -> object:
    with connection.cursor().copy("COPY (SELECT chr(8364)) TO STDOUT (format binary)") as copy:
        return [bytes(piece) for piece in copy]


def settings(connection: Connection) -> object:
    said: list[object] = [connection.info.encoding]
    before = connection.info.encoding
    connection.commit()
    connection.execute("SET LOCAL client_encoding TO latin2")
    said += [connection.info.encoding, connection.execute("SELECT 'á', chr(225)").fetchone()]
    connection.rollback()
    assert connection.info.encoding == before
    connection.execute("SELECT set_config('client_encoding', 'windows-1251', false)")
    said += [
        connection.execute("SHOW client_encoding").fetchone(),
        connection.execute("SELECT 'ж', chr(1078)").fetchone(),
    ]
    connection.execute("RESET client_encoding")
    return [*said, connection.info.encoding]


WORKS = [
    text_parameters, a_parameter_that_latin1_does_not_have, arrays_and_json, results, names_of_columns, an_error,
    an_error_that_latin1_does_not_have, a_cursor, copies_to, a_copy_that_latin1_does_not_have, settings,
]  # fmt: skip


@pytest.mark.turns(2)
@pytest.mark.parametrize("work", WORKS)
def test_a_client_gets_what_postgresql_gives(
    server: AntumbraServer, postgres: PostgresCluster, work: Callable[[Connection], object]
) -> None:
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    for encoding in ENCODINGS:
        assert answered(dsn, encoding, work) == answered(postgres.dsn, encoding, work), encoding


def answered(dsn: str, encoding: str, work: Callable[[Connection], object]) -> object:
    """Return what `work` gives, or how it fails."""
    with psycopg.connect(dsn, client_encoding=encoding) as connection:
        try:
            found = work(connection)
        except psycopg.Error as error:
            found = (error.sqlstate, error.diag.message_primary, error.diag.statement_position)
        except UnicodeEncodeError as error:
            found = str(error)
        connection.rollback()
        return found


COPIED = [
    (b"1\t\xfc\n2\tx\n", ""), (b"1\tx\n2\t\xa4\xa4\n", ""), (b"1\tx\n2\t\x81\n", ""), (b"1\tx\n2\t\xa4", ""), (b"x\t1\n2\t\x81\n", ""),
    (b"1\t\xa4\n", "(encoding 'latin9')"), (b"1;\xfc\n", "(format csv, delimiter ';')"), (b"1\t\xc3\xbc\n", "(encoding 'utf8')"),
    (b"", "(encoding 'wat')"),
]  # fmt: skip


@pytest.mark.turns(2)
@pytest.mark.parametrize(("data", "options"), COPIED)
def test_copies_from(server: AntumbraServer, postgres: PostgresCluster, data: bytes, options: str) -> None:
    def work(connection: Connection) -> object:
        connection.execute("CREATE TEMP TABLE copied (a int, b text)")
        with connection.cursor().copy(f"COPY copied FROM STDIN {options}") as copy:
            for start in range(0, len(data), 3):
                copy.write(data[start : start + 3])
        return connection.execute("SELECT a, b, ascii(b) FROM copied ORDER BY a").fetchall()

    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    # Not SQL_ASCII: PostgreSQL 15 takes bytes then that are no UTF-8.
    for encoding in ("latin1", "latin9", "win1252", "euc_cn", "euc_jp", "gb18030", "utf8"):
        assert answered(dsn, encoding, work) == answered(postgres.dsn, encoding, work), encoding


def test_a_stream_and_a_file(server: AntumbraServer) -> None:
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    with psycopg.connect(dsn, client_encoding="latin1", autocommit=True) as connection:
        connection.execute('CREATE FOREIGN TABLE "é" (a text, b int) SERVER stream')
        connection.execute('CREATE VIEW "ü" AS SELECT a, sum(b) AS b FROM "é" GROUP BY a')
        for _ in range(3):
            connection.execute("INSERT INTO \"é\" VALUES ('ß', 1)")
            connection.execute('INSERT INTO "é" VALUES (%s, %s)', ("ß", 10), prepare=True)
        with connection.cursor().copy('COPY "é" FROM STDIN') as copy:
            copy.write(b"\xdf\t100\n")
        for _ in range(3):
            assert connection.execute('SELECT * FROM "ü"').fetchall() == [("ß", 133)]
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="binary COPY FROM in the encoding LATIN1"):
            connection.execute('COPY "é" FROM STDIN (format binary)')
        connection.execute('DROP FOREIGN TABLE "é" CASCADE')


def test_what_stands_behind_a_change_in_one_packet(server: AntumbraServer, postgres: PostgresCluster) -> None:
    def statement(text: bytes, name: bytes = b"") -> tuple[bytes, ...]:
        """Parse to Sync."""
        parse = frame(b"P", name + b"\0" + text + b"\0\0\0")
        return parse, frame(b"B", b"\0" + name + b"\0\0\0\0\0\0\0"), execute(), SYNC

    def said(port: int, database: str) -> list[str]:
        client = RawClient(port, "postgres", database)
        return client.say_all(
            (
                *statement(b"SET client_encoding TO latin1"),
                *statement("SELECT 'é', ascii('é')".encode("latin1"), b"\xe9"),
                *statement(b"SET client_encoding TO utf8"),
                *statement("SELECT 'é', ascii('é')".encode()),
                *statement(b"SELECT '\xe9'"),
                frame(b"D", b"S\xc3\xa9\0"),
                frame(b"C", b"S\xc3\xa9\0"),
                SYNC,
                *statement(b"SELECT 1", b"\xe9"),
            )
        )

    answers = said(server.port, "antumbra")
    assert answers == said(postgres.port, "postgres")
    assert [answer for answer in answers if answer.startswith("D")] == [
        "D [b'\\xe9', b'233']",
        "D [b'\\xc3\\xa9', b'233']",
    ]


def test_a_notification_without_an_equivalent_is_no_error_of_the_sender(server: AntumbraServer) -> None:
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    told: list[str | None] = []
    with (
        psycopg.connect(dsn, client_encoding="latin1", autocommit=True) as poor,
        psycopg.connect(dsn, autocommit=True) as other,
    ):
        poor.add_notice_handler(lambda error: told.append(error.sqlstate))
        for listener in (poor, other):
            listener.execute("LISTEN equivalents")
        for payload in ("ü", "€", "ö"):
            other.execute("SELECT pg_notify('equivalents', %s)", [payload])
        assert [one.payload for one in other.notifies(timeout=30, stop_after=3)] == ["ü", "€", "ö"]
        assert [one.payload for one in poor.notifies(timeout=30, stop_after=2)] == ["ü", "ö"]
    assert told == ["22P05"]
