"""COPY of durable tables both ways, with the same bytes here and in PostgreSQL: rows, tags, errors
with DETAIL and CONTEXT.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.copy import CopyFrom
from tests.end_to_end.raw_client import COPY_DONE, RawClient, copy_data, copy_fail, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

POSITION = re.compile(r"(?<=E ERROR .....) at \d+")
TABLES = (
    ("CREATE TABLE kernel (id int PRIMARY KEY, name varchar(8) NOT NULL, price numeric(6,2) CHECK (price >= 0), at timestamp, "
    "note text DEFAULT 'none')"),
    "CREATE TABLE other (n numeric, c char(3), i interval, u uuid, y bytea, j json, k jsonb, a int[], s text[], t time)",
    "CREATE TABLE counted (id serial, t text)",
)  # fmt: skip
CONTENTS = (
    "SELECT * FROM kernel ORDER BY 1",
    "SELECT * FROM other ORDER BY n, c, u",
    "SELECT * FROM counted ORDER BY 1",
)
GOOD = (
    ("COPY kernel FROM STDIN", b"1\tAnn\t1.5\t2020-01-01 12:00:00\tx\n2\tBob\t\\N\t\\N\t\\N\n"),
    ("COPY kernel (name, id) FROM STDIN", b"Cyd\t3\nDan\t4"),
    ("COPY kernel FROM STDIN (FORMAT csv, HEADER)", b'id,name,price,at,note\n5,"a ""b""",2.345,2020-02-29,"x\ny"\n'),
    ("COPY kernel FROM STDIN CSV", b"6,six,,,\n"),
    ("COPY kernel (id, name, note) FROM STDIN (FORMAT csv, DELIMITER ';', QUOTE '''', NULL 'nil')", b"7;'s;v';nil\n"),
    ("COPY kernel (id, name, note) FROM STDIN (FORMAT csv, FORCE_NOT_NULL (note))", b"8,eight,\n"),
    ("COPY kernel (id, name, note) FROM STDIN (FORMAT csv, FORCE_NULL (note))", b'9,nine,""\n'),
    ("COPY kernel (id, name, note) FROM STDIN (DELIMITER '|', NULL 'zip')", b"10|ten|zip\n11|a\\|b|\\\\\n\\.\n"),
    ("COPY kernel (id, name, at) FROM STDIN", b"12\ttwelve\t12 March 2021 5pm\n"),
    ("COPY kernel FROM STDIN", b""),
    ("COPY kernel (id, name) FROM STDIN (HEADER MATCH)", b"id\tname\n20\ttwenty\n"),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, HEADER MATCH)", b'id,"name"\r\n21,more\r\n'),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, HEADER MATCH)", b"id,name"),
    ("COPY counted (t) FROM STDIN", b"one\ntwo\n\n"),
    ("COPY counted FROM STDIN", b"100\thundred\n"),
    ("COPY counted (t) FROM STDIN", b"three\n"),
    ("COPY counted (t) FROM STDIN WHERE t <> 'five' AND id > 0", b"four\nfive\n\\N\nsix\n"),
    ("COPY kernel FROM STDIN (FORMAT csv) WHERE note = 'x'", b"30,thirty,-1,,y\n31,,1,,\n32,more,1,,x\n"),
    ("COPY counted FROM STDIN WHERE NULL", b"1\tno\n"),
    (
        "COPY other FROM STDIN",
        (
            b"1.500\tab\t1 day 02:03:04\tA0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\t\\\\xdeadbeef\t"
            b'{"a": [1, 2]}\t{"b":1,  "a":2}\t{1,NULL,3}\t{x,"y,z"}\t12:34:56\n'
            b"\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n"
        ),
    ),
)
BAD = (
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\n2\tBob\tabc\t\\N\tx\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\n2\ttoo long a name\t1\t\\N\tx\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t12345.6\t\\N\tx\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t2020-13-01\tx\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\ty\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\n2\t\\N\t1\t\\N\tx\n"),
    ("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\n2\tBob\t-1\t\\N\tx\n3\tCyd\t1\t\\N\tx\n"),
    ("COPY kernel FROM STDIN", b"1\t%s\t-1\t\\N\t%s\n" % (b"n" * 8, b"long " * 30)),
    ("COPY kernel (id, name, note) FROM STDIN CSV HEADER", b'a,b,c\n1,x,"two\nlines"\n2,,z\n'),
    ("COPY kernel (id) FROM STDIN", b"1\n"),
    ("COPY kernel (id, name) FROM STDIN (HEADER MATCH)", b"id\tnome\n20\ttwenty\n"),
    ("COPY kernel (id, name) FROM STDIN (HEADER MATCH)", b"id\n20\ttwenty\n"),
    ("COPY kernel (id, name) FROM STDIN (HEADER MATCH)", b"id\t\\N\n20\ttwenty\n"),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, HEADER MATCH)", b"name,id\n20,twenty\n"),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, HEADER MATCH)", b"id,\n20,twenty\n"),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, HEADER MATCH)", b"id,name,more\n20,twenty\n"),
    ("COPY kernel (id, nothing) FROM STDIN", b""),
    ("COPY kernel (id, id) FROM STDIN", b""),
    ("COPY nowhere FROM STDIN", b""),
    ("COPY other (c) FROM STDIN", b"abc\nabcd\n"),
    ("COPY other (u) FROM STDIN", b"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\nnonsense\n"),
    ("COPY other (a) FROM STDIN", b"{1,2}\n{1,x}\n"),
    ("COPY other (n, i) FROM STDIN (FORMAT csv)", b'1,1 day\n"2\n",1 day\n3,1 fortnight\n'),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, FORCE_NULL (note))", b""),
    ("COPY kernel (id, name) FROM STDIN WHERE id > 1 AND name <> 'x'", b"1\t\\N\n2\tx\n3\tok\n1\tx\n1\tx\n3\tother\n"),
    ("COPY kernel (id, price) FROM STDIN WHERE id > 1", b"1\t-1\n2\t-1\n"),
    ("COPY counted FROM STDIN WHERE id", b""),
    ("COPY counted FROM STDIN WHERE nothing > 1", b""),
    ("COPY counted FROM STDIN WHERE max(id) > 1", b""),
    ("COPY counted FROM STDIN WHERE id IN (SELECT 1)", b""),
    ("COPY counted TO STDOUT WHERE id > 1", b""),
    ("COPY kernel (id, name) FROM STDIN (FORMAT csv, FORCE_NOT_NULL (nothing))", b""),
)
OUT = (
    "COPY kernel TO STDOUT",
    "COPY kernel (note, id) TO STDOUT",
    "COPY kernel TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)",
    "COPY kernel (id, name) TO STDOUT (FORMAT csv, DELIMITER ';', NULL 'nil', FORCE_QUOTE (name))",
    "COPY (SELECT id, price * 2 AS twice FROM kernel ORDER BY id) TO STDOUT (FORMAT csv, HEADER)",
    "COPY (SELECT count(*) FROM kernel k JOIN kernel l ON k.id <= l.id) TO STDOUT",
    "COPY other TO STDOUT",
    "COPY kernel (nothing) TO STDOUT",
    "COPY kernel (id, id) TO STDOUT",
    "COPY nowhere TO STDOUT",
)


@dataclass
class Pair:
    """A session here and one in PostgreSQL, with the same tables."""

    ours: SessionClient
    theirs: RawClient

    def copy(self, text: str, data: bytes) -> tuple[list[str], list[str]]:
        """Return both answers to a COPY FROM STDIN."""
        found = self.ours.ask(query(text), copy_data(data), COPY_DONE)
        self.theirs.send(query(text))
        wanted = self.theirs.read_until("GZ")
        if wanted[-1].startswith("G"):
            wanted += self.theirs.ask(copy_data(data), COPY_DONE)
        return found, wanted

    def ask(self, text: str) -> tuple[list[str], list[str]]:
        return self.ours.ask(text), self.theirs.ask(query(text))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    folder = tmp_path / "copies"
    (folder / "sub").mkdir(parents=True)
    running = World(tmp_path / "data", copy_directory=folder)
    yield running
    running.close()


@pytest.fixture
def pair(world: World, postgres: PostgresCluster) -> Iterator[Pair]:
    theirs = RawClient(postgres.port, "postgres", "postgres")
    theirs.ask(query("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
    made = Pair(world.client(), theirs)
    for text in TABLES:
        found, wanted = made.ask(text)
        assert found == wanted
    yield made
    theirs.hang_up()


def unplaced(lines: list[str]) -> list[str]:
    """Return the lines without the positions of errors, which PostgreSQL does not tell in COPY."""
    return [POSITION.sub("", line) for line in lines]


def test_good_lines(pair: Pair) -> None:
    for text, data in GOOD:
        found, wanted = pair.copy(text, data)
        assert found == wanted, text
    for text in CONTENTS:
        found, wanted = pair.ask(text)
        assert found == wanted, text
    for text in OUT:
        found, wanted = pair.ask(text)
        assert unplaced(found) == unplaced(wanted), text


def test_bad_lines(pair: Pair) -> None:
    for text, data in BAD:
        found, wanted = pair.copy(text, data)
        assert unplaced(found) == unplaced(wanted), (text, data)
    for text in CONTENTS:
        found, wanted = pair.ask(text)
        assert found == wanted, text


@pytest.mark.parametrize(
    "data",
    [
        b"1\tAnn\t1\t\\N\tx\n2\t\\N\t1\t\\N\tx\n",
        b"1\tAnn\t1\t\\N\tx\n2\tBob\t-1\t\\N\tx\n3\tCyd\t1\t\\N\tx\n",
        b"1\tAnn\t1\t\\N\tx\n2\tBob\tabc\t\\N\tx\n",
        b"1\t%s\t-1\t\\N\t%s\n" % (b"n" * 8, b"long " * 30),
        b"1\tAnn\t1\n",
    ],
)
def test_detail_and_context(pair: Pair, postgres: PostgresCluster, data: bytes) -> None:
    with postgres.connect() as connection, pytest.raises(psycopg.Error) as caught, connection.cursor().copy(
        "COPY kernel FROM STDIN"
    ) as copy:  # fmt: skip
        copy.write(data)
    wanted = caught.value.diag
    copying = asyncio.run(
        pair.ours.session.runner.open_copy(copy_statement(), pair.ours.session.block.current(), False)
    )
    copying.take(data)
    with pytest.raises(SqlError) as failed:
        copying.finish()
    pair.ours.session.block.roll_back()
    ours = failed.value
    assert (ours.sqlstate, ours.message, ours.detail, ours.context) == (
        wanted.sqlstate,
        wanted.message_primary,
        wanted.message_detail,
        wanted.context,
    )


def copy_statement() -> CopyFrom:
    (statement,) = parse("COPY kernel FROM STDIN")
    assert isinstance(statement, CopyFrom)
    return statement


def test_all_or_nothing_in_pieces_of_any_size(pair: Pair) -> None:
    lines = [
        b"%d\tname %d\t%d.25\t2020-01-01 00:00:%02d\t\\N\n" % (n, n % 100, n % 900, n % 60) for n in range(150_000)
    ]
    data = b"".join(lines)
    pieces = [copy_data(data[start : start + 77_777]) for start in range(0, len(data), 77_777)]
    assert pair.ours.ask(query("COPY kernel FROM STDIN"), *pieces, COPY_DONE)[-2:] == ["C COPY 150000", "Z I"]
    assert pair.ours.rows("SELECT count(*), sum(price), max(name) FROM kernel") == [
        f"D [b'150000', b'{sum(n % 900 for n in range(150_000)) + 37_500}.00', b'name 99']"
    ]
    answer = pair.ours.ask(query("COPY kernel FROM STDIN"), copy_data(b"-1\tx\t1\t\\N\t\\N\n"), *pieces, COPY_DONE)
    assert "23505" in answer[-2]
    assert pair.ours.rows("SELECT count(*) FROM kernel") == ["D [b'150000']"]
    pair.ours.ask(query("BEGIN"))
    pair.ours.ask(query("COPY kernel (id, name) FROM STDIN"), copy_data(b"-1\tx\n"), COPY_DONE)
    assert pair.ours.rows("SELECT count(*) FROM kernel") == ["D [b'150001']"]
    pair.ours.ask(query("ROLLBACK"))
    answer = pair.ours.ask(query("COPY kernel (id, name) FROM STDIN"), copy_data(b"-1\tx\n"), copy_fail("no more"))
    assert answer[-2] == "E ERROR 57014: COPY from stdin failed: no more"
    assert pair.ours.rows("SELECT count(*) FROM kernel") == ["D [b'150000']"]


def test_a_key_that_is_there(pair: Pair) -> None:
    found, wanted = pair.copy("COPY kernel FROM STDIN", b"1\tAnn\t1\t\\N\tx\n1\tBob\t1\t\\N\tx\n")
    assert found == wanted


def test_files_of_the_server(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    (tmp_path / "secret").write_text("1\tx\n")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "away").symlink_to(tmp_path)
    client = world.client()
    client.run("CREATE TABLE f (a int, t text)", "INSERT INTO f VALUES (1, 'one'), (2, NULL)")
    assert client.ask("COPY f TO 'rows.txt'") == ["C COPY 2", "Z I"]
    assert (folder / "rows.txt").read_text() == "1\tone\n2\t\\N\n"
    assert client.ask(f"COPY f TO '{folder}/sub/rows.csv' CSV HEADER") == ["C COPY 2", "Z I"]
    assert (folder / "sub" / "rows.csv").read_text() == "a,t\n1,one\n2,\n"
    assert client.ask("COPY f FROM 'sub/rows.csv' CSV HEADER") == ["C COPY 2", "Z I"]
    assert client.rows("SELECT count(*) FROM f") == ["D [b'4']"]
    for name, sqlstate in (
        ("../secret", "42501"),
        (f"{tmp_path}/secret", "42501"),
        (f"{folder}/../secret", "42501"),
        ("link", "42501"),
        ("away/secret", "42501"),
        ("nothing", "58P01"),
        ("sub", "42809"),
    ):
        assert f" {sqlstate}: " in client.ask(f"COPY f FROM '{name}'")[0], name
    for name in ("../new", "link", "away/new", f"{tmp_path}/new"):
        assert " 42501: " in client.ask(f"COPY f TO '{name}'")[0], name
    assert (tmp_path / "secret").read_text() == "1\tx\n"
    assert not (tmp_path / "new").exists()


def test_a_file_may_fill_a_stream_bit_by_bit(world: World, tmp_path: Path) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int, t text) SERVER stream OPTIONS (capacity '1048576')")
    client.run("CREATE VIEW v AS SELECT count(*) AS n, sum(a) AS total FROM s")
    rows = "".join(f"{row}\t{'x' * 40}\n" for row in range(100_000))
    (tmp_path / "copies" / "rows").write_text(rows)
    (tmp_path / "copies" / "bad").write_text(rows + "x\ty\n")
    assert client.ask("COPY s FROM 'rows' WITH (publish '1ms')")[0] == "C COPY 100000"
    assert client.ask("SELECT n FROM v WHERE n = 100000")[-2] == "C SELECT 1"
    found = str(client.ask_in_full("COPY s FROM 'bad' WITH (publish '1ms')"))
    assert "22P02" in found and "lines of this COPY are already committed" in found
    assert client.ask("SELECT n FROM v WHERE n > 100000")[-2] == "C SELECT 1", "those lines are"
    assert " 25001: " in client.ask("COPY s FROM 'rows' WITH (publish '1ms'); SELECT 1")[0]
    (_, fields), *_ = client.ask_in_full("COPY s FROM 'nowhere' WITH (publish '1ms')")
    assert "detail" not in fields, "nothing is committed"
    client.run("BEGIN")
    assert " 25001: " in client.ask("COPY s FROM 'rows' WITH (publish '1ms')")[0]


def test_without_a_copy_directory(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run("CREATE TABLE f (a int)")
    for text in ("COPY f FROM '/etc/passwd'", f"COPY f TO '{tmp_path}/new'", "COPY (SELECT 1) TO 'new'"):
        assert " 42501: " in client.ask(text)[0], text
    world.close()
