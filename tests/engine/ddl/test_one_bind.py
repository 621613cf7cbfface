"""How often a statement binds texts: once each text that it brings, and no text that is bound
already. Definitions mean the same afterwards, and when the folder is opened again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sql.bind.expressions.context import References
from tests.engine.session_client import World

# Statements, with how many texts each binds. A view over a stream is bound once more where its
# kernel has to be compiled, with the catalog of that time: so both are made, and made again.
COUNTED = "CREATE VIEW counted AS SELECT a, m, count(*) AS n FROM s GROUP BY a, m"
BOTH = (
    "CREATE VIEW both_streams AS SELECT a, sum(n) AS n FROM (SELECT a, count(*) AS n FROM s GROUP BY a"
    " UNION ALL SELECT a, sum(n) FROM s2 GROUP BY a) AS x GROUP BY a"
)
STATEMENTS = (
    ("CREATE TYPE mood AS ENUM ('sad', 'ok')", 0),
    ("CREATE TABLE t (id serial, k int DEFAULT 1 + 1, m mood DEFAULT 'sad', x int, CHECK (k > 0))", 4),
    ("CREATE FOREIGN TABLE s (a int, m mood, b int DEFAULT 7, c int) SERVER stream", 1),
    ("CREATE FOREIGN TABLE s2 (a int, n int) SERVER stream", 0),
    (COUNTED, 1),
    (BOTH, 1),
    ("CREATE VIEW plain AS SELECT k, m, 'sad'::mood AS low FROM t", 1),
    ("CREATE VIEW above AS SELECT low, a FROM plain JOIN counted ON k = a", 1),
    ("INSERT INTO t (k) VALUES (3)", 1),
    ("INSERT INTO s (a, m) VALUES (3, 'ok')", 0),
    ("ALTER TABLE t ADD COLUMN y int DEFAULT 4", 1),
    ("ALTER TABLE t RENAME COLUMN k TO key", 0),
    ("ALTER TABLE t DROP COLUMN x", 0),
    ("ALTER TABLE t ALTER COLUMN y SET DEFAULT 5", 1),
    ("ALTER TABLE t ALTER COLUMN y DROP DEFAULT", 0),
    ("ALTER TABLE t RENAME TO t2", 0),
    ("ALTER FOREIGN TABLE s RENAME COLUMN a TO aa", 0),
    ("ALTER FOREIGN TABLE s DROP COLUMN c", 0),
    ("ALTER FOREIGN TABLE s ADD COLUMN d int", 0),
    ("ALTER FOREIGN TABLE s RENAME TO s1", 0),
    ("ALTER TYPE mood ADD VALUE 'happy'", 0),
    ("ALTER TYPE mood RENAME VALUE 'happy' TO 'glad'", 0),
    ("ALTER TYPE mood RENAME TO feeling", 0),
    ("CREATE SCHEMA q", 0),
    ("ALTER TYPE feeling SET SCHEMA q", 0),
    ("ALTER TABLE t2 SET SCHEMA q", 0),
    ("ALTER SCHEMA q RENAME TO q2", 0),
    ("ALTER VIEW plain RENAME COLUMN low TO lowest", 0),
    ("ALTER VIEW plain RENAME TO simple", 0),
    ("ALTER VIEW counted RENAME TO counts", 0),
    ("INSERT INTO q2.t2 (key) VALUES (4)", 1),
    ("INSERT INTO s1 (aa, m) VALUES (4, 'glad')", 0),
)  # fmt: skip
ANSWERS = {
    "SELECT * FROM q2.t2 ORDER BY id": ["D [b'1', b'3', b'sad', b'4']", "D [b'2', b'4', b'sad', None]"],
    "SELECT * FROM counts ORDER BY a": ["D [b'3', b'ok', b'1']", "D [b'4', b'glad', b'1']"],
    "SELECT * FROM both_streams ORDER BY a": ["D [b'3', b'1']", "D [b'4', b'1']"],
    "SELECT * FROM above ORDER BY a": ["D [b'sad', b'3']", "D [b'sad', b'4']"],
}
DROPS = (
    ("DROP TYPE q2.feeling", 0, "E 2BP01"),
    ("ALTER FOREIGN TABLE s1 DROP COLUMN aa", 0, "E 2BP01"),
    ("ALTER FOREIGN TABLE s1 DROP COLUMN b", 0, "C ALTER"),
    ("DROP FOREIGN TABLE s2 CASCADE", 0, "C DROP"),
    ("ALTER TABLE q2.t2 DROP COLUMN m CASCADE", 0, "C ALTER"),
    ("DROP SCHEMA q2", 0, "E 2BP01"),
    ("DROP VIEW counts", 0, "C DROP"),
)


@pytest.fixture
def binds(monkeypatch: pytest.MonkeyPatch) -> list[References]:
    """All texts that are bound, by the references that are found in each."""
    found: list[References] = []
    made = References.__init__

    def counted(self: References, *given: Any, **named: Any) -> None:
        found.append(self)
        made(self, *given, **named)

    monkeypatch.setattr(References, "__init__", counted)
    return found


def test_no_text_is_bound_twice(tmp_path: Path, binds: list[References]) -> None:
    world = World(tmp_path)
    client = world.client()
    wrong = []

    def ask(statement: str, count: int, begins: str) -> None:
        binds.clear()
        *_, (answer, _) = client.ask_in_full(statement)
        if not answer.startswith(begins) or len(binds) != count:
            wrong.append(f"{statement}: {len(binds)} binds, {answer}")

    for statement, count in STATEMENTS:
        if statement in (COUNTED, BOTH):
            client.run(statement, f"DROP VIEW {statement.split()[2]}")
        ask(statement, count, "C ")
    assert not wrong, "\n".join(wrong)
    assert {query: client.rows(query) for query in ANSWERS} == ANSWERS
    world.close()
    binds.clear()
    world = World(tmp_path)
    # One for each default (of id, k, m; and of b), the check, and each view.
    assert len(binds) == 4 + 1 + 4, [one.columns for one in binds]
    client = world.client()
    assert {query: client.rows(query) for query in ANSWERS} == ANSWERS
    for statement, count, begins in DROPS:
        ask(statement, count, begins)
    assert not wrong, "\n".join(wrong)
    world.close()


def test_a_replaced_view_goes_on_over_the_columns_of_its_time(tmp_path: Path, binds: list[References]) -> None:
    both = "SELECT a, sum({}) AS n FROM {} GROUP BY a UNION ALL SELECT a, sum(n) AS n FROM s2 GROUP BY a"
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (a int, b int, c int) SERVER stream",
        "CREATE FOREIGN TABLE s2 (a int, n int) SERVER stream",
        f"CREATE VIEW v AS {both.format('c', 's')}",
        "INSERT INTO s VALUES (1, 2, 3)",
        "INSERT INTO s2 VALUES (2, 10)",
        "ALTER TABLE s DROP COLUMN b",
        "ALTER TABLE s ADD COLUMN e int DEFAULT 9",
        "ALTER TABLE s RENAME COLUMN c TO z",
        "ALTER TABLE s RENAME TO t",
    )
    binds.clear()
    client.run(f"CREATE OR REPLACE VIEW v AS SELECT a, n, n * 2 AS m FROM ({both.format('z', 't')}) AS x")
    assert len(binds) == 1, binds
    *_, (answer, told) = client.ask_in_full(
        f"CREATE OR REPLACE VIEW v AS SELECT a, n, n AS m FROM ({both.format('e', 't')}) x"
    )
    assert answer.startswith("E 55000") and 'column "e" does not exist' in told["detail"]
    client.run("INSERT INTO t (a, z) VALUES (1, 100)")
    rows = ["D [b'1', b'103', b'206']", "D [b'2', b'10', b'20']"]
    assert client.rows("SELECT * FROM v ORDER BY a") == rows
    world.close()
    binds.clear()
    world = World(tmp_path)
    assert [one.columns for one in binds if one.columns] == [binds[-1].columns] and len(binds) == 2, binds
    client = world.client()
    assert client.rows("SELECT * FROM v ORDER BY a") == rows
    client.run("INSERT INTO t (a, z) VALUES (1, 1000)")
    assert client.rows("SELECT n FROM v ORDER BY a") == ["D [b'1103']", "D [b'10']"]
    world.close()


def test_a_view_over_a_changed_table_computes_once_a_row(world: World) -> None:
    client = world.client()
    client.run(
        "CREATE TABLE t (a int)",
        "CREATE SEQUENCE q",
        "CREATE VIEW v AS SELECT n, n AS same, a FROM (SELECT nextval('q') AS n, a FROM t) AS x",
        "INSERT INTO t VALUES (5)",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ALTER TABLE t ADD COLUMN c int",
    )
    assert [client.rows("SELECT * FROM v") for _ in range(2)] == [["D [b'1', b'1', b'5']"], ["D [b'2', b'2', b'5']"]]
