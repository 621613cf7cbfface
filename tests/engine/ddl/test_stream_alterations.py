"""ALTER FOREIGN TABLE: PostgreSQL's errors, and the rows and views of a PostgreSQL table under the
same changes, also after a crash.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import SYNC, Answer, RawClient, bind, execute, parse
from tests.engine.ddl.test_definitions import comparable
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

ERRORS = (
    "CREATE FOREIGN TABLE s (a int, b text NOT NULL, c numeric(8,2) DEFAULT 1.5) SERVER stream",
    "ALTER FOREIGN TABLE nosuch ADD x int",
    "ALTER FOREIGN TABLE IF EXISTS nosuch ADD x int",
    "ALTER FOREIGN TABLE s ADD a int",
    "ALTER FOREIGN TABLE s ADD COLUMN IF NOT EXISTS a int",
    "ALTER FOREIGN TABLE s ADD x int DEFAULT 'y'",
    "ALTER FOREIGN TABLE s ADD x int DEFAULT a",
    "ALTER FOREIGN TABLE s ADD x nosuch",
    "ALTER FOREIGN TABLE s DROP x",
    "ALTER FOREIGN TABLE s DROP COLUMN IF EXISTS x",
    "ALTER FOREIGN TABLE s RENAME x TO y",
    "ALTER FOREIGN TABLE s RENAME a TO b",
    "ALTER FOREIGN TABLE s RENAME TO s",
    "ALTER FOREIGN TABLE s ALTER x SET DEFAULT 1",
    "ALTER FOREIGN TABLE s ALTER a SET DEFAULT 'x'",
    "ALTER FOREIGN TABLE s ALTER x DROP DEFAULT",
    "ALTER FOREIGN TABLE s ALTER x SET NOT NULL",
    "ALTER FOREIGN TABLE s DROP CONSTRAINT x",
    "ALTER FOREIGN TABLE s DROP CONSTRAINT IF EXISTS x",
    "ALTER FOREIGN TABLE s ALTER CONSTRAINT x DEFERRABLE",
    "ALTER TABLE s RENAME CONSTRAINT x TO y",
    "ALTER FOREIGN TABLE s OPTIONS (SET capacity '10')",
    "ALTER FOREIGN TABLE s OPTIONS (DROP capacity)",
    "ALTER FOREIGN TABLE s OPTIONS (capacity '10', timeout '1s')",
    "ALTER FOREIGN TABLE s OPTIONS (ADD capacity '10')",
    "ALTER FOREIGN TABLE s OPTIONS (SET capacity '20', DROP timeout, DROP timeout)",
    "ALTER FOREIGN TABLE s OPTIONS (SET capacity '20', DROP timeout), ADD d int, RENAME e TO f",
    "ALTER FOREIGN TABLE s OPTIONS (SET capacity '20', DROP timeout), ADD d int, DROP a",
    "ALTER TABLE s ADD a int, ALTER d SET NOT NULL, ALTER b DROP NOT NULL",
    "CREATE TABLE t (a int)",
    "ALTER FOREIGN TABLE t ADD x int",
    "ALTER TABLE t OPTIONS (ADD x '1')",
    "ALTER FOREIGN TABLE s RENAME TO t",
    "ALTER TABLE s RENAME TO u",
    "ALTER FOREIGN TABLE s ADD x int",
    "DROP FOREIGN TABLE u",
    "DROP TABLE t",
)

REFUSED = (
    ("ADD x serial", "serial in a stream"),
    ("ADD x int CHECK (x > 0)", "CHECK in a stream"),
    ("ADD x int GENERATED ALWAYS AS IDENTITY", "GENERATED in a stream"),
    ("ADD UNIQUE (a)", "UNIQUE in a stream"),
    ("ADD x float8 DEFAULT random()", "a volatile default of a column added to a stream"),
    ("ALTER a TYPE bigint", "ALTER COLUMN ... TYPE of a stream"),
    ("DROP a", "a stream without columns"),
)

TYPES = (
    ("int", "7"),
    ("bigint", None),
    ("text", "'a default that does not lie in its slot'"),
    ("varchar(20)", "'short'"),
    ("numeric(8,2)", "1.25"),
    ("boolean", "true"),
    ("float8", "0.5"),
    ("date", "date '2026-01-02'"),
    ("numeric", "'1.250'"),
    ("interval", "interval '1 mon 2 days'"),
    ("int[]", None),
)
VALUES = {
    "int": "{}", "bigint": "{}", "text": "repeat('text ', {} % 7)", "varchar(20)": "'v' || {}", "numeric(8,2)": "{} / 4.0",
    "boolean": "{} % 2 = 0", "float8": "{}", "date": "date '2026-01-01' + {}",
    "numeric": "{} / 4.0", "interval": "{} * interval '1 day'", "int[]": "array[{}, 1]",
}  # fmt: skip


def test_errors_are_those_of_postgres(world: World, postgres: PostgresCluster) -> None:
    oracle = RawClient(postgres.port, "postgres", "postgres")
    oracle.ask_in_full("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    oracle.ask_in_full("CREATE FOREIGN DATA WRAPPER antumbra; CREATE SERVER stream FOREIGN DATA WRAPPER antumbra")
    client = world.client()
    wrong = []
    for statement in ERRORS:
        expected, found = oracle.ask_in_full(statement), client.ask_in_full(statement)
        if comparable(expected, expected) != comparable(found, expected):
            wrong.append(f"{statement}\n  expected {expected}\n  found    {found}")
    oracle.ask_in_full("DROP FOREIGN DATA WRAPPER antumbra CASCADE")
    oracle.hang_up()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("action", "what"), REFUSED)
def test_refused(world: World, action: str, what: str) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream")
    for statement in ("ALTER TABLE", "ALTER FOREIGN TABLE"):
        (answer, _) = client.ask(f"{statement} s {action}")
        assert answer.startswith("E ERROR 0A000") and f": {what} is not supported yet" in answer, answer
    client.run("INSERT INTO s VALUES (1)")
    assert client.rows("SELECT * FROM s") == ["D [b'1']"]


def test_unknown_option(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream OPTIONS (timeout '1s')")
    answers = client.ask_in_full("ALTER FOREIGN TABLE s OPTIONS (nosuch '1')")
    assert answers[0][0] == 'E HV00D: invalid option "nosuch"' and "capacity" in answers[0][1]["hint"]
    for value in ("x", "0", "-1", "1073741825"):
        answers = client.ask_in_full(f"ALTER FOREIGN TABLE s OPTIONS (capacity '{value}')")
        assert answers[0][0] == f'E 22023: invalid value for option "capacity": "{value}"'


def test_null_values(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream", "INSERT INTO s VALUES (1), (NULL)")
    for action, column in (("ALTER a SET NOT NULL", "a"), ("ADD b int NOT NULL", "b")):
        (answer, _) = client.ask(f"ALTER FOREIGN TABLE s {action}")
        assert answer == f'E ERROR 23502: column "{column}" of relation "s" contains null values'
    client.run("ALTER FOREIGN TABLE s ADD b int NOT NULL DEFAULT 5", "INSERT INTO s VALUES (2)")
    assert client.rows("SELECT * FROM s") == ["D [b'1', b'5']", "D [None, b'5']", "D [b'2', b'5']"]
    # What the transaction has staged counts as well.
    client.run("BEGIN", "INSERT INTO s VALUES (NULL, 6)", "ALTER TABLE s OPTIONS (capacity '1')")
    assert client.ask("ALTER TABLE s ALTER a SET NOT NULL")[0].startswith("E ERROR 23502")
    client.run("ROLLBACK")


def test_null_values_of_others(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream", "INSERT INTO s VALUES (1)")
    client.run("BEGIN", "ALTER FOREIGN TABLE s ALTER a SET NOT NULL")
    other.run("INSERT INTO s VALUES (NULL)")
    assert client.ask("COMMIT")[0] == 'E ERROR 23502: column "a" of relation "s" contains null values'
    assert client.rows("SELECT * FROM s") == ["D [b'1']", "D [None]"]


def test_transactions(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream", "INSERT INTO s VALUES (1)")
    client.run("BEGIN", "INSERT INTO s VALUES (2)", "ALTER TABLE s ADD b int DEFAULT 5, OPTIONS (capacity '4')")
    client.run("INSERT INTO s VALUES (3, 6)")
    other.run("INSERT INTO s VALUES (10)")
    assert other.rows("SELECT * FROM s") == ["D [b'1']", "D [b'10']"]
    assert client.rows("SELECT * FROM s") == ["D [b'1', b'5']"]
    client.run("ROLLBACK")
    assert client.rows("SELECT * FROM s") == ["D [b'1']", "D [b'10']"]
    client.run("BEGIN", "INSERT INTO s VALUES (2)", "ALTER TABLE s ADD b int DEFAULT 5, OPTIONS (capacity '4')")
    client.run("INSERT INTO s VALUES (3, 6)")
    other.run("INSERT INTO s VALUES (11)")
    client.run("COMMIT")
    rows = ["D [b'10', b'5']", "D [b'11', b'5']", "D [b'2', b'5']", "D [b'3', b'6']"]
    assert other.rows("SELECT * FROM s") == rows


def test_rows_that_wait_for_commit(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (a int, b int) SERVER stream")
    client.run("BEGIN", "INSERT INTO s VALUES (1, 2)")
    # What changes no ring disturbs nobody.
    other.run("ALTER TABLE s RENAME a TO x", "ALTER TABLE s RENAME TO t", "ALTER TABLE t DROP b")
    client.run("COMMIT", "BEGIN", "INSERT INTO t VALUES (2)")
    other.run("ALTER FOREIGN TABLE t ADD c int")
    assert client.ask("COMMIT")[0] == 'E ERROR 40001: stream "t" was altered before this transaction committed'
    assert client.rows("SELECT * FROM t") == ["D [b'1', None]"]


def test_prepared_statements_of_others(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (a int, b text) SERVER stream")
    other.ask(parse("INSERT INTO s VALUES ($1, $2)", "i"), parse("SELECT * FROM s", "q"), SYNC)
    packet = bind((b"1", b"x"), "i") + execute() + SYNC
    assert other.ask(packet)[1] == "C INSERT 0 1"
    client.run("ALTER FOREIGN TABLE s ADD c int DEFAULT 7")
    assert other.ask(packet)[1] == "C INSERT 0 1" and other.at_once(packet) is not None
    answer = other.ask(bind(statement="q"), execute(), SYNC)
    assert answer[0] == "E ERROR 0A000: cached plan must not change result type"
    client.run("ALTER FOREIGN TABLE s DROP b")
    # The second value is for c now; the text of it is no parameter of that type.
    other.ask(parse("INSERT INTO s VALUES ($1, $2)", "j"), SYNC)
    packet = bind((b"2", b"8"), "j") + execute() + SYNC
    assert other.at_once(packet) is not None and other.at_once(packet) is not None
    found = ["D [b'1', b'7']"] * 3 + ["D [b'2', b'8']"] * 2
    assert client.rows("SELECT * FROM s") == found


def test_columns_that_views_use(world: World) -> None:
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (a int, b int, c int, d int) SERVER stream",
        "CREATE VIEW v AS SELECT a, sum(x.b) FROM (SELECT a, b, c FROM s) AS x WHERE x.b > 0 GROUP BY a",
        "CREATE VIEW w AS SELECT DISTINCT * FROM (SELECT * FROM s) AS x",
        "CREATE VIEW above AS SELECT * FROM v",
    )
    answers = client.ask_in_full("ALTER FOREIGN TABLE s DROP c")
    assert answers[0][0] == "E 2BP01: cannot drop column c of foreign table s because other objects depend on it"
    assert answers[0][1]["detail"] == (
        "view v depends on column c of foreign table s\nview above depends on view v\nview w depends on column c of foreign table s"
    )
    client.run(
        "DROP VIEW w", "INSERT INTO s VALUES (1, 2, 3, 4)", "ALTER FOREIGN TABLE s DROP d, ADD e text DEFAULT 'x'"
    )
    client.run("INSERT INTO s (b, a) VALUES (5, 1)", "ALTER TABLE s RENAME a TO z", "ALTER TABLE s RENAME b TO a")
    client.run("INSERT INTO s (a, z) VALUES (7, 1)")
    assert client.rows("SELECT * FROM above") == ["D [b'1', b'14']"]
    answers = client.ask_in_full("ALTER FOREIGN TABLE s DROP a CASCADE")
    assert [answer[0] for answer in answers[1:3]] == [
        'N 00000: continuous view "v" had counted 3 tuples, which are gone with it',
        "C ALTER FOREIGN TABLE",
    ]
    assert answers[0][0].startswith("N 00000: drop cascades to 2 other objects")
    assert client.ask("SELECT * FROM v")[0].startswith("E ERROR 42P01")
    client.run("INSERT INTO s VALUES (9)")
    assert client.rows("SELECT * FROM s")[-1] == "D [b'9', None, b'x']"


def test_a_view_over_two_streams(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE came (part int, n int, note text, other int) SERVER stream",
        "CREATE FOREIGN TABLE went (part int, n int) SERVER stream",
        "CREATE VIEW stock AS SELECT part, c.n - w.n AS n FROM (SELECT part, sum(n) AS n FROM came GROUP BY part) AS c"
        " JOIN (SELECT part, sum(n) AS n FROM went GROUP BY part) AS w USING (part)",
        "CREATE VIEW above AS SELECT max(n) FROM stock",
        "INSERT INTO came VALUES (1, 10)",
        "INSERT INTO went VALUES (1, 3)",
        "ALTER FOREIGN TABLE came RENAME n TO number",
        "ALTER FOREIGN TABLE came DROP note",
        "ALTER FOREIGN TABLE came RENAME TO arrived",
        "ALTER FOREIGN TABLE went ADD note text DEFAULT 'x'",
        "INSERT INTO arrived (number, part) VALUES (5, 1)",
        "CREATE TABLE came (n int)",
    )
    for starts in (False, True):
        if starts:
            world.abandon()
            world = World(tmp_path)
            client = world.client()
        assert client.rows("SELECT * FROM stock") == ["D [b'1', b'12']"]
        answers = client.ask_in_full("ALTER FOREIGN TABLE arrived DROP number")
        assert (
            answers[0][0]
            == "E 2BP01: cannot drop column number of foreign table arrived because other objects depend on it"
        )
        detail = "view stock depends on column number of foreign table arrived\nview above depends on view stock"
        assert answers[0][1]["detail"] == detail
        # What the view's table is called is nobody's business.
        client.run("DROP TABLE came", "CREATE TABLE came (n int)")
        client.run("ALTER TABLE arrived ADD extra int", "ALTER TABLE arrived DROP extra")
    client.run(
        "ALTER FOREIGN TABLE arrived DROP number CASCADE",
        "ALTER FOREIGN TABLE went DROP n",
        "INSERT INTO arrived VALUES (1, 2)",
    )
    assert client.rows("SELECT relname FROM pg_stat_streams") == ["D [b'arrived']", "D [b'went']"]
    assert client.ask("SELECT * FROM stock")[0].startswith("E ERROR 42P01")
    world.close()


def test_a_view_with_a_stream_below_a_subquery_goes_on(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int, b int) SERVER stream", "CREATE VIEW v AS SELECT (SELECT sum(b) FROM s)")
    client.run("INSERT INTO s VALUES (1, 2)", "ALTER FOREIGN TABLE s DROP a", "INSERT INTO s VALUES (40)")
    assert client.rows("SELECT * FROM v") == ["D [b'42']"]


def test_what_a_smaller_ring_has_lost_stays_lost(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (a int) SERVER stream OPTIONS (capacity '8')")
    client.run("INSERT INTO s SELECT g FROM generate_series(1, 7) AS g")
    client.run(
        "BEGIN",
        "INSERT INTO s VALUES (8)",
        "ALTER TABLE s OPTIONS (SET capacity '4')",
        "INSERT INTO s VALUES (9)",
        "COMMIT",
    )
    client.run("BEGIN", "ALTER TABLE s OPTIONS (SET capacity '16')", "INSERT INTO s VALUES (10)", "COMMIT")
    client.run("INSERT INTO s VALUES (11), (12)", "ALTER TABLE s ADD b int", "ALTER TABLE s DROP b")
    rows = [f"D [b'{number}']" for number in range(6, 13)]
    for checkpoint in (False, True, False):
        assert client.rows("SELECT a FROM s") == rows
        if checkpoint:
            client.run("CHECKPOINT")
        world.abandon()
        world = World(tmp_path)
        client = world.client()
    assert client.rows("SELECT a FROM s") == rows
    client.run("ALTER TABLE s OPTIONS (SET capacity '2')")
    assert client.rows("SELECT a FROM s") == rows[-2:]
    world.abandon()
    world = World(tmp_path)
    client = world.client()
    assert client.rows("SELECT a FROM s") == rows[-2:]
    assert client.rows("SELECT oldest_tid, newest_tid FROM pg_stat_streams") == ["D [b'10', b'11']"]
    world.close()


class Changes:
    """A stream with a view over it, and PostgreSQL's table under the same changes. folder: of the
    data.
    """

    def __init__(self, folder: Path, oracle: RawClient, seed: int) -> None:
        self.random = random.Random(seed)
        self.oracle = oracle
        self.folder = folder
        self.world = World(folder)
        self.client: SessionClient = self.world.client()
        self.name = "s"
        self.key = "k"
        self.columns: dict[str, str] = {"k": "int", "v": "int"}
        self.made = 0
        oracle.ask_in_full("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        oracle.ask_in_full("CREATE TABLE s (k int, v int)")
        self.client.run("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '1024')")
        self.both("CREATE VIEW total AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k")

    def both(self, text: str) -> None:
        """Run a statement on both; they must agree."""
        expected, found = self.oracle.ask_in_full(text), self.client.ask_in_full(text)
        assert outline(expected) == outline(found), f"{text}\n  expected {expected}\n  found    {found}"

    def look(self) -> None:
        """Compare all rows and the view."""
        for text in (f"SELECT * FROM {self.name}", "SELECT * FROM total"):
            expected = [line for line, _ in self.oracle.ask_in_full(text) if line.startswith("D ")]
            assert sorted(self.client.rows(text)) == sorted(expected), text

    def step(self) -> None:
        """Do something."""
        other = [name for name in self.columns if name not in (self.key, "v")]
        match self.random.choice("iiiiaadrnxtcpu"):
            case "i":
                names = self.random.sample([*self.columns], self.random.randint(1, len(self.columns)))
                for _ in range(self.random.randint(1, 3)):
                    values = [VALUES[self.columns[name]].format(self.random.randint(0, 9)) for name in names]
                    self.both(f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join(values)})")
            case "a":
                kind, default = self.random.choice(TYPES)
                self.made += 1
                name = f"c{self.made}"
                self.columns[name] = kind
                text = "" if default is None or self.random.random() < 0.3 else f" DEFAULT {default}"
                self.both(f"ALTER TABLE {self.name} ADD {name} {kind}{text}")
            case "d" if other:
                name = self.random.choice(other)
                self.both(f"ALTER TABLE {self.name} DROP {name}")
                del self.columns[name]
            case "r":
                name = self.random.choice([name for name in self.columns if name != "v"])
                self.made += 1
                after = f"c{self.made}"
                self.both(f"ALTER TABLE {self.name} RENAME {name} TO {after}")
                self.key = after if name == self.key else self.key
                self.columns = {after if one == name else one: kind for one, kind in self.columns.items()}
            case "n":
                self.made += 1
                self.both(f"ALTER TABLE {self.name} RENAME TO s{self.made}")
                self.name = f"s{self.made}"
            case "x":
                self.both("BEGIN")
                self.both(f"ALTER TABLE {self.name} DROP COLUMN v CASCADE, ADD other int DEFAULT 8, ADD v int")
                self.both(f"INSERT INTO {self.name} (v) VALUES (1)")
                self.both("ROLLBACK")
            case "t":
                self.both("BEGIN")
                self.both(f"INSERT INTO {self.name} (v, {self.key}) VALUES (100, 3)")
                self.made += 1
                name = f"c{self.made}"
                self.both(f"ALTER TABLE {self.name} ADD {name} int DEFAULT 4")
                self.columns[name] = "int"
                self.both(f"INSERT INTO {self.name} (v, {name}) VALUES (1000, 5)")
                self.both("COMMIT")
            case "c":
                # A dead process starts again.
                self.world.abandon()
                self.world = World(self.folder)
                self.client = self.world.client()
            case "p":
                self.client.run("CHECKPOINT")
            case "u":
                capacity = self.random.choice((512, 1024, 4096))
                self.client.run(f"ALTER FOREIGN TABLE {self.name} OPTIONS (SET capacity '{capacity}')")


def outline(answers: list[Answer]) -> list[str]:
    """Return what the servers must agree on: tags, and SQLSTATEs."""
    return [text if text[0] != "E" else text[:7] for text, _ in answers if text[0] in "CE"]


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(3))
def test_random_changes(seed: int, tmp_path: Path, postgres: PostgresCluster) -> None:
    oracle = RawClient(postgres.port, "postgres", "postgres")
    changes = Changes(tmp_path, oracle, seed)
    try:
        for _ in range(60):
            changes.step()
            changes.look()
        assert changes.made, "columns were added"
    finally:
        changes.world.close()
        oracle.hang_up()
