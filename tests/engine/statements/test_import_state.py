"""state_of() and import_state(): states of groups as values, from one server into another.

The oracle is PostgreSQL over all rows, and for what PostgreSQL has not, a server that has got all
rows itself.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from zlib import crc32

import pytest

from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.session_client import SessionClient
from tests.oracle.postgres import PostgresCluster
from views.upkeep.export.state_values import HEAD_BYTES

COLUMNS = """k int, n text, w numeric, x bigint, h smallint, f float8, g real, m numeric, d numeric(9,2), t text,
b bool, day date, ts timestamptz, clock time, iv interval, i inet, y bytea, a int[], e mood, bits int"""
MOOD = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')"
STREAM = f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream"
# By the keys of their groups; what keeps lists has an order inside, since rows come in two halves.
IN_POSTGRES = {
    "sums": """k, n, count(*), count(x), sum(x), sum(h), sum(f), sum(g), sum(m), sum(d), sum(iv), avg(x), avg(f), avg(m),
        avg(d), count(*) FILTER (WHERE b), sum(x) FILTER (WHERE x > 3)""",
    "extremes": """w, k, min(x), max(h), min(f), max(g), min(m), max(m), max(d), min(t), max(t), min(day), max(ts), min(clock),
        max(iv), min(iv), min(i), max(i), max(a), min(e), max(e)""",
    "bits": "b, day, bool_and(b), bool_or(b), every(x > 2), bit_and(bits), bit_or(bits), bit_xor(bits)",
    "spread": """k, round(stddev(x), 6), var_pop(d), round(variance(h), 6), round(stddev(f)::numeric, 8),
        round(corr(f, g)::numeric, 8), round(covar_pop(f, x)::numeric, 8), round(regr_slope(f, g)::numeric, 8), regr_count(f, g)""",
    "lists": """n, array_agg(x ORDER BY x, t), string_agg(t, ';' ORDER BY t), json_agg(m ORDER BY m, t), array_agg(day ORDER BY day),
        percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_disc(0.7) WITHIN GROUP (ORDER BY t),
        mode() WITHIN GROUP (ORDER BY h), array_agg(y ORDER BY y), array_agg(iv ORDER BY iv, iv::text), array_agg(e ORDER BY e)""",
    "keys": "f, g, day, ts, clock, e, count(*)",
    "more_keys": "iv, i, y, a, count(*), max(x)",
    "all": "sum(x), count(*), min(t)",
}
OURS = {
    "first": "k, first(t ORDER BY x, t, m), last(m ORDER BY x, m, t), arg_min(m, x * 1000 + h), arg_max(t, f * 100 + h)",
    "sketches": """k, approx_count_distinct(t), approx_count_distinct(x), approx_percentile(x, 0.5), approx_frequency(x, 3),
        approx_top_k(x, 100), hll_agg(x), bloom_contains(bloom_agg(t), 'a')""",
    "slices": "k, set_agg(x)",
}


def groups_of(items: str) -> str:
    """Return a GROUP BY over the items before the first aggregate."""
    keys = next(number for number, item in enumerate(split(items)) if "(" in item)
    return f" GROUP BY {', '.join(map(str, range(1, keys + 1)))}" if keys else ""


def split(items: str) -> list[str]:
    """Return items that commas of the outermost level part."""
    found, depth = [""], 0
    for letter in items:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def value_rows(rng: random.Random, count: int) -> list[str]:
    """Return rows of the stream as SQL."""

    def maybe(text: str) -> str:
        return "NULL" if rng.random() < 0.15 else text

    texts = ["''", "'a'", "'twelve bytes'", "'a text of more than twelve bytes'", "'ein längerer Text, ÄÖÜ €'"]
    rows = []
    for _ in range(count):
        x, scale = rng.randrange(-5, 9), rng.randrange(4)
        number = f"{rng.randrange(-999, 999)}e-{scale}"
        rows.append(
            ", ".join(
                [
                    maybe(str(rng.randrange(3))),
                    maybe(rng.choice(texts)),
                    maybe(rng.choice(["1", "2.50", "2.5", "'NaN'"])),
                    maybe(str(x)),
                    maybe(str(rng.randrange(-9, 9))),
                    maybe(str(rng.randrange(-9, 9) / 4)),
                    maybe(str(rng.randrange(-9, 9) / 4)),
                    maybe(f"{number}::numeric"),
                    maybe(f"{x}.25"),
                    maybe(rng.choice(texts)),
                    maybe(rng.choice(["true", "false"])),
                    maybe(f"date '2020-01-0{rng.randrange(1, 4)}'"),
                    maybe(f"timestamptz '2020-01-0{rng.randrange(1, 4)} 10:00:00+00'"),
                    maybe(f"time '0{rng.randrange(1, 4)}:00'"),
                    maybe(rng.choice(["interval '1 mon'", "interval '30 days'", "interval '-1 day 2 hours'"])),
                    maybe(rng.choice(["inet '10.0.0.1'", "inet '10.0.0.0/8'", "inet '::1'"])),
                    maybe(
                        rng.choice(["'\\x00ff'::bytea", "'\\x'::bytea", "'\\x000102030405060708090a0b0c0d0e0f'::bytea"])
                    ),
                    maybe(rng.choice(["'{1,2}'::int[]", "'{}'::int[]", "'{NULL,3,4,5,6,7,8}'::int[]"])),
                    maybe(rng.choice(["'sad'::mood", "'happy'::mood"])),
                    maybe(str(rng.randrange(256))),
                ]
            )
        )
    return rows


def insert(client: SessionClient, rows: list[str]) -> None:
    client.run("INSERT INTO s VALUES " + ", ".join(f"({row})" for row in rows))


def copied(client: SessionClient, text: str) -> bytes:
    """Return what COPY ... TO STDOUT gives."""
    client._runner.run(client._handle(query(text)))
    taken = client._taken()
    assert not any(kind == "E" for kind, _ in taken), taken
    return b"".join(body for kind, body in taken if kind == "d")


def load(client: SessionClient, states: bytes) -> None:
    """Bring states in as a client does: by COPY into a table."""
    client.run("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (state bytea)")
    answer = client.ask(query("COPY loaded FROM STDIN"), copy_data(states), COPY_DONE)
    assert not any(line.startswith("E ") for line in answer), answer


def shown(client: SessionClient, view: str = "v") -> list[str]:
    return sorted(line[2:] for line in client.rows(f"SELECT * FROM {view}"))


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", IN_POSTGRES)
def test_two_halves_are_the_whole(tmp_path: Path, postgres: PostgresCluster, name: str) -> None:
    rng = random.Random(name)
    one, two = Server(tmp_path / "one"), Server(tmp_path / "two")
    items = IN_POSTGRES[name]
    text = f"SELECT {items} FROM s{groups_of(items)}"
    named = ", ".join(f"c{number}" for number in range(len(split(items))))
    halves = [value_rows(rng, 60), value_rows(rng, 60)]
    for server, rows in zip((one, two), halves, strict=True):
        server.client.run(MOOD, STREAM, f"CREATE VIEW v ({named}) AS {text}")
        insert(server.client, rows)
    load(two.client, copied(one.client, "COPY (SELECT state FROM state_of('v')) TO STDOUT"))
    two.client.run("SELECT import_state('v', 'loaded')")
    two.crash(checkpoint=rng.random() < 0.5)
    with postgres.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS states CASCADE; CREATE SCHEMA states; SET search_path TO states")
        connection.execute(MOOD)
        connection.execute(f"CREATE TABLE s ({COLUMNS})")
        connection.execute("INSERT INTO s VALUES " + ", ".join(f"({row})" for row in halves[1] + halves[0]))
        result = connection.execute(text).pgresult
        assert result is not None
        expected = [
            str([result.get_value(row, column) for column in range(result.nfields)]) for row in range(result.ntuples)
        ]
        connection.execute("DROP SCHEMA states CASCADE")
    for _ in range(2):
        assert shown(two.client) == sorted(expected), name
        two.crash(checkpoint=True)
    one.world.close()
    two.world.close()


@pytest.mark.parametrize("name", ["first", "sketches", "slices"])
def test_what_postgres_has_not(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    servers = [Server(tmp_path / name) for name in ("one", "two", "all")]
    items = OURS[name]
    halves = [value_rows(rng, 80), value_rows(rng, 80)]
    for server, rows in zip(servers, [*halves, halves[1] + halves[0]], strict=True):
        named = ", ".join(f"c{number}" for number in range(len(split(items))))
        server.client.run(MOOD, STREAM, f"CREATE VIEW v ({named}) AS SELECT {items} FROM s{groups_of(items)}")
        insert(server.client, rows)
    load(servers[1].client, copied(servers[0].client, "COPY (SELECT state FROM state_of('v')) TO STDOUT"))
    servers[1].client.run("SELECT import_state('v', 'loaded')")
    servers[1].crash()
    assert shown(servers[1].client) == shown(servers[2].client)
    for server in servers:
        server.world.close()


SMALL = "CREATE FOREIGN TABLE s (k int, x int, t text) SERVER stream"
GROUPED = "SELECT k, count(*) AS n, sum(x) AS t, max(t) AS m FROM s GROUP BY k"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(
        SMALL, f"CREATE VIEW v AS {GROUPED}", "INSERT INTO s VALUES (1, 2, 'a long text of many letters'), (2, 3, 'b')"
    )
    return made


def test_keys_are_columns(server: Server) -> None:
    client = server.client
    assert client.rows("SELECT k FROM state_of('v') ORDER BY k") == ["D [b'1']", "D [b'2']"]
    assert client.rows("SELECT count(*), min(length(state)) > 20 FROM state_of('v') AS s WHERE k = 2") == [
        "D [b'1', b't']"
    ]
    load(client, copied(client, "COPY (SELECT state FROM state_of('v') WHERE k = 1) TO STDOUT"))
    assert client.rows("SELECT import_state('v', 'SELECT state FROM loaded')") == ["D [b'1']"]
    assert server.rows("SELECT * FROM v ORDER BY k") == [
        "[b'1', b'2', b'4', b'a long text of many letters']",
        "[b'2', b'1', b'3', b'b']",
    ]
    server.world.close()


def test_in_a_transaction(server: Server) -> None:
    client = server.client
    load(client, copied(client, "COPY (SELECT state FROM state_of('v')) TO STDOUT"))
    before = server.rows("SELECT * FROM v ORDER BY k")
    client.run("BEGIN", "SELECT import_state('v', 'loaded')", "SELECT import_state('v', 'loaded')")
    assert server.rows("SELECT k, n FROM v ORDER BY k") == ["[b'1', b'3']", "[b'2', b'3']"]
    client.run("ROLLBACK")
    assert server.rows("SELECT * FROM v ORDER BY k") == before
    other = server.world.client()
    client.run("BEGIN", "SELECT import_state('v', 'loaded')", "INSERT INTO s VALUES (1, 5, 'c')")
    other.run("INSERT INTO s VALUES (9, 9, 'z')")
    assert other.rows("SELECT sum(n) FROM v") == ["D [b'3']"]
    client.run("COMMIT")
    for checkpoint in (False, True):
        assert server.rows("SELECT k, n, t FROM v ORDER BY k") == [
            "[b'1', b'3', b'9']", "[b'2', b'2', b'6']", "[b'9', b'1', b'9']",
        ]  # fmt: skip
        server.crash(checkpoint=checkpoint)
    client = server.client
    client.run("BEGIN", "INSERT INTO s VALUES (1, 5, 'c')")
    assert client.ask("SELECT import_state('v', 'loaded')")[0].startswith("E ERROR 0A000")
    client.run("ROLLBACK", "BEGIN", "INSERT INTO s VALUES (1, 5, 'c')")
    assert client.ask("SELECT * FROM state_of('v')")[0].startswith("E ERROR 0A000")
    client.run("ROLLBACK")
    server.world.close()


def test_views_that_take_rows_together(server: Server) -> None:
    """An import is of one of them."""
    client = server.client
    client.run(f"CREATE VIEW twin AS {GROUPED}", "INSERT INTO s VALUES (2, 4, 'd')")
    load(client, copied(client, "COPY (SELECT state FROM state_of('twin')) TO STDOUT"))
    client.run("SELECT import_state('v', 'loaded')", "INSERT INTO s VALUES (2, 1, 'a')")
    for checkpoint in (False, True):
        assert server.rows("SELECT k, n, t FROM twin ORDER BY k") == ["[b'2', b'2', b'5']"]
        assert server.rows("SELECT k, n, t FROM v ORDER BY k") == ["[b'1', b'1', b'2']", "[b'2', b'4', b'12']"]
        server.crash(checkpoint=checkpoint)
    server.world.close()


def test_sliding_windows_and_several_groupings(server: Server) -> None:
    client = server.client
    client.run(
        """CREATE VIEW recent AS SELECT k, count(*) AS n FROM s
        WHERE arrival_timestamp > now() - interval '1 hour' GROUP BY k""",
        "CREATE VIEW several AS SELECT k, stddev(x) AS d, count(DISTINCT t) AS c FROM s GROUP BY k",
        "INSERT INTO s VALUES (1, 2, 'a'), (1, 4, 'b')",
    )
    load(client, copied(client, "COPY (SELECT state FROM state_of('recent')) TO STDOUT"))
    client.run("SELECT import_state('recent', 'loaded')")
    assert server.rows("SELECT * FROM recent") == ["[b'1', b'4']"]
    (answer, fields), *_ = client.ask_in_full("SELECT * FROM state_of('several')")
    assert answer == 'E 22023: view "several" has 2 states' and "1, 2" in fields["hint"]
    parts = [copied(client, f"COPY (SELECT state FROM state_of('several', {number})) TO STDOUT") for number in (1, 2)]
    client.run("SELECT truncate_continuous_view('several')")
    load(client, b"".join(parts))
    client.run("SELECT import_state('several', 'loaded')")
    server.crash()
    assert server.rows("SELECT k, round(d, 3), c FROM several") == ["[b'1', b'1.414', b'2']"]
    server.world.close()


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("SELECT set_byte(state, 50, 77) FROM loaded", "22023"),
        ("SELECT substr(state, 1, length(state) - 9) FROM loaded", "22023"),
        ("SELECT state || state FROM loaded", "22023"),
        ("SELECT '\\x'::bytea", "22023"),
        ("SELECT '\\x41535431'::bytea", "22023"),
        ("SELECT set_byte(state, 7, 77) FROM loaded", "55000"),
        ("SELECT state FROM state_of('other')", "0A000"),
        ("SELECT state::text FROM loaded", "42804"),
        ("SELECT state, state FROM loaded", "42804"),
        ("SELECT NULL::bytea", "22004"),
        ("DELETE FROM loaded", "42601"),
        ("loaded; DROP TABLE loaded", "22023"),
        ("nothing", "42P01"),
    ],
)
def test_what_is_refused(server: Server, change: str, state: str) -> None:
    client = server.client
    load(client, copied(client, "COPY (SELECT state FROM state_of('v')) TO STDOUT"))
    before = server.rows("SELECT * FROM v ORDER BY k")
    text = change.replace("'", "''")
    assert client.ask(f"SELECT import_state('v', '{text}')")[0].startswith(f"E ERROR {state}")
    assert server.rows("SELECT * FROM v ORDER BY k") == before
    server.world.close()


def test_states_of_other_views(server: Server) -> None:
    client = server.client
    client.run("CREATE VIEW other AS SELECT k, count(*) AS n, sum(x) AS t, min(t) AS m FROM s GROUP BY k")
    client.run("CREATE VIEW plain AS SELECT 1 AS one", "INSERT INTO s VALUES (1, 1, 'a')")
    load(client, copied(client, "COPY (SELECT state FROM state_of('other')) TO STDOUT"))
    assert client.ask("SELECT import_state('v', 'loaded')")[0].startswith("E ERROR 55000")
    assert client.ask("SELECT import_state('plain', 'loaded')")[0].startswith("E ERROR 42809")
    assert client.ask("SELECT * FROM state_of('plain')")[0].startswith("E ERROR 42809")
    assert client.ask("SELECT * FROM state_of('s')")[0].startswith("E ERROR 42809")
    assert client.ask("SELECT * FROM state_of('v', 2)")[0].startswith("E ERROR 22023")
    assert client.ask("SELECT k FROM loaded WHERE import_state('v', 'loaded') > 0")[0].startswith("E ERROR")
    client.run("CREATE VIEW few WITH (max_groups = 1) AS SELECT k, count(*) FROM s GROUP BY k")
    client.run("CREATE VIEW many AS SELECT k, count(*) FROM s GROUP BY k", "INSERT INTO s VALUES (2, 1, 'a')")
    load(client, copied(client, "COPY (SELECT state FROM state_of('many')) TO STDOUT"))
    client.run("SELECT truncate_continuous_view('few')", "INSERT INTO s VALUES (1, 1, 'a')")
    assert client.ask("SELECT import_state('few', 'loaded')")[0].startswith("E ERROR 53200")
    server.world.close()


def test_rights(server: Server) -> None:
    client = server.client
    load(client, copied(client, "COPY (SELECT state FROM state_of('v')) TO STDOUT"))
    client.run("CREATE ROLE ann", "SET ROLE ann")
    assert client.ask("SELECT * FROM state_of('v')")[0] == "E ERROR 42501: permission denied for view v"
    assert client.ask("SELECT import_state('v', 'loaded')")[0] == "E ERROR 42501: must be owner of view v"
    client.run("RESET ROLE", "GRANT SELECT ON v TO ann", "GRANT INSERT ON s TO ann", "SET ROLE ann")
    client.run("SELECT * FROM state_of('v')")
    assert client.ask("SELECT import_state('v', 'loaded')")[0] == "E ERROR 42501: permission denied for table loaded"
    client.run("RESET ROLE", "GRANT SELECT ON loaded TO ann", "SET ROLE ann", "SELECT import_state('v', 'loaded')")
    client.run("RESET ROLE")
    assert server.rows("SELECT sum(n) FROM v") == ["[b'4']"]
    server.world.close()


def signed(state: bytes) -> bytes:
    """Return a changed state with the checksum that it should have."""
    return state[:-4] + struct.pack("<I", crc32(state[:-4]))


def test_a_list_that_says_to_be_too_long_is_not_read(server: Server) -> None:
    client = server.client
    client.run("CREATE VIEW lists AS SELECT k, array_agg(x) AS xs FROM s GROUP BY k", "CREATE TABLE bad (state bytea)")
    client.run("INSERT INTO s VALUES (1, 1, 'a'), (1, 2, 'a'), (1, 3, 'a')")
    (line,) = copied(client, "COPY (SELECT state FROM state_of('lists')) TO STDOUT").splitlines()
    changed = bytearray(bytes.fromhex(line.decode().removeprefix("\\\\x")))
    # Null mask, key, count, the two words of the string, the bytes of its place; then the string.
    at = HEAD_BYTES + 8 * 5
    changed[at : at + 8] = b"\xff" * 8
    changed[at + 8 : -4] = bytes(len(changed) - at - 12)
    client.run(f"INSERT INTO bad VALUES ('\\x{signed(bytes(changed)).hex()}')", "SELECT import_state('lists', 'bad')")
    (answer,) = (line for line in client.ask("SELECT * FROM lists") if line.startswith("E "))
    assert "XX000" not in answer
    server.world.close()


def test_hostile_bytes_are_refused_or_are_values(tmp_path: Path) -> None:
    """Words changed at random, under a right checksum: the server refuses them by name, or can be
    read.
    """
    rng = random.Random(7)
    server = Server(tmp_path)
    client = server.client
    client.run(MOOD, STREAM, "CREATE TABLE bad (state bytea)")
    every = [*IN_POSTGRES.values(), *OURS.values()]
    for number, items in enumerate(every):
        named = ", ".join(f"c{place}" for place in range(len(split(items))))
        client.run(f"CREATE VIEW v{number} ({named}) AS SELECT {items} FROM s{groups_of(items)}")
    insert(client, value_rows(rng, 12))
    counts = {"refused": 0, "taken": 0}
    for number in range(len(every)):
        lines = copied(client, f"COPY (SELECT state FROM state_of('v{number}')) TO STDOUT").splitlines()
        states = [bytes.fromhex(line.decode().removeprefix("\\\\x")) for line in lines]
        for _ in range(40):
            changed = bytearray(rng.choice(states))
            for _ in range(rng.choice([1, 1, 3])):
                at = (
                    rng.randrange(HEAD_BYTES, len(changed) - 4)
                    if rng.random() < 0.3
                    else HEAD_BYTES + 8 * rng.randrange(max(1, min(40, (len(changed) - HEAD_BYTES - 4) // 8)))
                )
                value = rng.choice(
                    [0, 1, -1, 2, 13, 77, 255, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63), rng.getrandbits(60)]
                )
                size = rng.choice([1, 8])
                changed[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")[
                    : len(changed) - 4 - at
                ]
            hexed = signed(bytes(changed)).hex()
            client.run("DELETE FROM bad", f"INSERT INTO bad VALUES ('\\x{hexed}')", "BEGIN")
            answer = client.ask(f"SELECT import_state('v{number}', 'bad')")[0]
            if answer.startswith("E "):
                assert answer.startswith("E ERROR 22023"), answer
                counts["refused"] += 1
            else:
                read = client.ask(f"SELECT * FROM v{number}")
                assert not any("XX000" in line for line in read), (items, read, hexed)
                counts["taken"] += 1
            client.run("ROLLBACK")
    assert min(counts.values()) > 40, counts
    server.world.close()
