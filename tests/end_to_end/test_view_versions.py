"""version_of and changes_of against a plain-Python model: the changes since any kept version make
its rows those of today.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]
Row = tuple[str, ...]
# Each view with the number of its keys, which are its first columns; None: whole rows are counted.
VIEWS: dict[str, tuple[str, int | None]] = {
    "sums": ("SELECT k, sum(v) AS v, max(t) AS t, avg(v) AS a, array_agg(v) AS l FROM seen GROUP BY k", 1),
    "pairs": ("SELECT t, k, count(*) AS n, min(j::text)::jsonb AS j FROM seen GROUP BY k, t HAVING count(*) < 3", 2),
    "kinds": ("SELECT DISTINCT v::numeric / 2 AS v, k FROM seen", 2),
    "one": ("SELECT count(*) AS n, sum(v) AS s FROM seen", 0),
    "unkeyed": ("SELECT v FROM (SELECT k, sum(v) AS v FROM seen GROUP BY k) q", None),
    "joined": ("SELECT id, name, v, extra FROM sums JOIN named ON id = k", 1),
    "outer_joined": ("SELECT k, name, v FROM sums LEFT JOIN named ON id = k", 1),
    "united": ("SELECT k, v FROM sums UNION ALL SELECT id, id FROM named", None),
    "plain": ("SELECT id, name FROM named WHERE id > 0", 1),
}


@pytest.fixture
def ours(server: AntumbraServer) -> Iterator[Connection]:
    with server.connect() as connection:
        connection.autocommit = True
        connection.execute("CREATE FOREIGN TABLE seen (k int, v int, t text, j jsonb) SERVER stream")
        connection.execute("CREATE TABLE named (id int PRIMARY KEY, name text, extra jsonb)")
        for name, (query, _) in VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {query}".encode())
        yield connection
        connection.execute("DROP FOREIGN TABLE seen CASCADE; DROP TABLE named CASCADE")


def texts(connection: Connection, query: str) -> list[Row]:
    return [tuple(map(str, row)) for row in connection.execute(query.encode()).fetchall()]


def number(connection: Connection, view: str) -> int:
    (found,) = connection.execute(f"SELECT version_of('{view}')".encode()).fetchone() or (None,)
    assert isinstance(found, int)
    return found


def applied(rows: Counter[Row], changes: list[Row], keys: int | None) -> Counter[Row]:
    """Return rows after changes of which each fits."""
    now = Counter(rows)
    seen = set()
    for change, *row in changes:
        if keys is None:
            assert change in ("insert", "delete")
            now[tuple(row)] += 1 if change == "insert" else -1
            continue
        key = tuple(row[:keys])
        assert key not in seen, "each row is matched once"
        seen.add(key)
        old, new = tuple(row[keys::2]), tuple(row[keys + 1 :: 2])
        assert change != "update" or old != new
        assert change != "update" or now[key + old] == 1
        if change != "insert":
            now[key + old] -= 1
        if change != "delete":
            now[key + new] += 1
    assert min(now.values(), default=0) >= 0
    return +now


@pytest.mark.parametrize("seed", [1])
def test_changes_lead_from_each_version_to_now(ours: Connection, seed: int) -> None:
    rng = random.Random(seed)
    kept: dict[str, list[tuple[int, Counter[Row]]]] = {name: [] for name in VIEWS}
    for turn in range(4):
        for _ in range(rng.randrange(4)):
            k, v = rng.choice([None, 1, 2, 3]), rng.randrange(-3, 4)
            ours.execute("INSERT INTO seen VALUES (%s, %s, %s, %s)", (k, v, f"t{v}", f'{{"a": {v}.0}}'))
        if rng.random() < 0.6:
            upsert = "INSERT INTO named VALUES (%s, %s, '{\"a\": 1.0}') ON CONFLICT (id) DO UPDATE SET name = %s"
            ours.execute(upsert, (rng.randrange(4), f"name {turn}", f"again {turn}"))
        if rng.random() < 0.3:
            ours.execute("DELETE FROM named WHERE id = %s", (rng.randrange(4),))
        for view, (_, keys) in VIEWS.items():
            with ours.transaction():
                rows = Counter(texts(ours, f"TABLE {view}"))
                kept[view].append((number(ours, view), rows))
            for since, before in kept[view][-1:] + rng.sample(kept[view], 1):
                changes = texts(ours, f"SELECT * FROM changes_of('{view}', since => {since})")
                assert applied(before, changes, keys) == rows, (view, since)
    assert all(one == sorted(one) for one in ([n for n, _ in found] for found in kept.values()))


def test_one_statement_sees_one_version(server: AntumbraServer, ours: Connection) -> None:
    ours.execute("INSERT INTO seen VALUES (1, 1)")
    first = number(ours, "sums")
    with server.connect(autocommit=False) as block:
        assert number(block, "sums") == first
        ours.execute("INSERT INTO seen VALUES (1, 1)")
        assert not texts(block, f"SELECT * FROM changes_of('sums', since => {first})"), "as the block has read before"
        assert number(block, "sums") == first
        block.rollback()
        found = texts(block, f"SELECT version_of('sums'), change, old_v, new_v FROM changes_of('sums', {first})")
        assert [row[1:] for row in found] == [("update", "1", "2")]
        assert int(found[0][0]) == number(block, "sums") > first
    query = "SELECT change, old_v FROM changes_of('sums', since => (SELECT %s + 0)) c WHERE k = 1"
    for prepare in (False, True):
        assert ours.execute(query, (first,), prepare=prepare).fetchall() == [("update", 1)]
    with ours.cursor().copy(
        f"COPY (SELECT change FROM changes_of('sums', since => {first})) TO STDOUT".encode()
    ) as copy:
        assert b"".join(copy) == b"update\n"


REFUSED = {
    "SELECT * FROM changes_of('sums', since => 5)": "55000",
    "SELECT * FROM changes_of('sums', since => NULL)": "22004",
    "SELECT * FROM changes_of('named', since => 5)": "42809",
    "SELECT * FROM changes_of('none', since => 5)": "42P01",
    "SELECT * FROM changes_of('sums')": "42883",
    "SELECT * FROM changes_of('sums', until => 5)": "42883",
    "SELECT * FROM sums, changes_of('sums', since => v)": "42703",
    "SELECT version_of('seen')": "42809",
    "SELECT version_of(name) FROM named": "42883",
    "CREATE VIEW w AS SELECT * FROM changes_of('sums', since => 5)": "0A000",
    "CREATE VIEW w AS SELECT version_of('sums')": "0A000",
    "INSERT INTO named SELECT k FROM changes_of('sums', since => 5)": "55000",
    "UPDATE named SET id = version_of('sums')": "0A000",
    "CREATE TABLE w AS SELECT version_of('sums')": "0A000",
    "SUBSCRIBE TO (SELECT version_of('sums'))": "0A000",
    "SELECT version_of('of_stream')": "0A000",
    "SELECT version_of('sums') OVER ()": "42883",
}


def test_refusals_have_their_sqlstate(ours: Connection) -> None:
    ours.execute("CREATE VIEW of_stream AS SELECT relname FROM pg_class")
    for statement, sqlstate in REFUSED.items():
        with pytest.raises(psycopg.Error) as failure:
            ours.execute(statement.encode())
        assert failure.value.sqlstate == sqlstate, statement
    ours.execute("DROP VIEW of_stream")


def test_rights_are_those_of_a_select(server: AntumbraServer, ours: Connection) -> None:
    ours.execute("CREATE ROLE guest LOGIN; GRANT SELECT ON plain TO guest; INSERT INTO named VALUES (1, 'a')")
    with server.connect() as guest:
        guest.execute("SET SESSION AUTHORIZATION guest")
        for call in ("version_of('sums')", "changes_of('sums', since => 5)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                guest.execute(f"SELECT * FROM {call}".encode())
        since = number(ours, "plain")
        ours.execute("UPDATE named SET name = 'b'")
        assert texts(guest, f"SELECT * FROM changes_of('plain', since => {since})") == [("update", "1", "a", "b")]
    ours.execute("REVOKE ALL ON plain FROM guest; DROP ROLE guest")


def test_rows_that_depend_on_their_reader_are_versions_of_its_own(server: AntumbraServer, ours: Connection) -> None:
    ours.execute("CREATE TABLE times (at timestamptz); INSERT INTO times VALUES ('2020-01-01 23:00+00')")
    ours.execute("CREATE VIEW days AS SELECT at::date AS day FROM times")
    since = number(ours, "days")
    with server.connect() as other:
        other.execute("SET TimeZone = 'Asia/Tokyo'")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            other.execute("SELECT * FROM changes_of('days', since => %s)", (since,))
        since = number(other, "days")
        ours.execute("DELETE FROM times")
        assert texts(other, f"SELECT * FROM changes_of('days', since => {since})") == [("delete", "2020-01-02")]
    ours.execute("DROP VIEW days; DROP TABLE times")


def test_changes_go_into_tables_and_streams(ours: Connection) -> None:
    ours.execute("INSERT INTO seen (k, v) VALUES (1, 5), (2, 6)")
    first = number(ours, "sums")
    ours.execute("CREATE TABLE kept (version bigint, change text, k int, old bigint, new bigint)")
    ours.execute("CREATE FOREIGN TABLE told (k int, new bigint) SERVER stream")
    ours.execute("CREATE VIEW counted AS SELECT count(*) AS n, sum(new) AS s FROM told")
    ours.execute("INSERT INTO seen (k, v) VALUES (1, 5), (3, 7)")
    changes = "SELECT {} FROM changes_of('sums', since => {})"
    items = "version_of('sums'), change, k, old_v, new_v"
    ours.execute(f"INSERT INTO kept {changes.format(items, first)}".encode())
    ours.execute(f"INSERT INTO told {changes.format('k, new_v', '%s')}".encode(), (first,), prepare=True)
    assert texts(ours, "SELECT change, k, old, new FROM kept ORDER BY k") == [
        ("update", "1", "5", "10"),
        ("insert", "3", "None", "7"),
    ]
    assert texts(ours, "SELECT DISTINCT version FROM kept") == [(str(number(ours, "sums")),)]
    assert texts(ours, "SELECT n, s FROM counted") == [("2", "17")]
    ours.execute("INSERT INTO kept (version) VALUES (version_of('sums'))")
    assert texts(ours, "SELECT count(DISTINCT version), count(*) FROM kept") == [("1", "3")]
    plan = texts(ours, f"EXPLAIN {changes.format(items, first)}")
    assert any("changes of view sums" in line for (line,) in plan), plan
    assert texts(ours, f"EXPLAIN ANALYZE {changes.format(items, first)}")
    ours.execute("DROP TABLE kept; DROP FOREIGN TABLE told CASCADE")
