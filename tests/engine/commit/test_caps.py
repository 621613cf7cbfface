"""The caps of continuous views: max_groups, max_bytes, and view_bytes_max of a server.

The oracle is a set of keys in Python: a statement passes where the set with its keys keeps to the
cap, and leaves everything as it was where it does not.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine.catalog.image import StreamEntry
from ringbuffer.memory.arrow import morsel_from_arrow
from sql.errors import SqlError
from tests.end_to_end.raw_client import query
from tests.engine.session_client import SessionClient, World

SETUP = (
    "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
    "CREATE VIEW v WITH (max_groups = 5) AS SELECT k, count(*) AS n FROM s GROUP BY k",
)


def error(client: SessionClient, *statements: str) -> str:
    """Return the error of the last statement, without hint and detail; the others succeed.

    The row of a single INSERT goes the shortest way where the session takes it.
    """
    *before, last = statements
    client.run(*before)
    if last.startswith("INSERT") and client.at_once(query(last)) is not None:
        return ""
    return "".join(line[8:] for line in client.ask(last) if line.startswith("E "))


def numbers(client: SessionClient, text: str) -> list[list[int | None]]:
    return [[None if n == "None" else int(n) for n in re.findall(r"-?\d+|None", row)] for row in client.rows(text)]


def statements(random_: random.Random) -> tuple[str, list[int]]:
    """Return a statement that inserts rows, by one of the ways there are, and their keys."""
    keys = [random_.randrange(9) for _ in range(random_.choice([1, 1, 2, 3, 40]))]
    rows = ", ".join(f"({key})" for key in keys)
    way = random_.randrange(3)
    if way == 0:
        return f"INSERT INTO s (k) VALUES {rows}", keys
    if way == 1:
        return f"INSERT INTO s (k) SELECT g FROM (VALUES {rows}) given (g)", keys
    return f"BEGIN; INSERT INTO s (k) VALUES {rows}; INSERT INTO s (k) VALUES {rows}; COMMIT", keys * 2


@pytest.mark.turns(4)
@pytest.mark.parametrize("seed", range(4))
def test_what_would_pass_a_cap_changes_nothing(world: World, seed: int) -> None:
    random_ = random.Random(seed)
    client = world.client()
    client.run(*SETUP, "CREATE VIEW all_rows AS SELECT count(*) AS n FROM s")
    model: Counter[int] = Counter()
    refused = 0
    for _ in range(60):
        text, keys = statements(random_)
        told = error(client, text)
        after = model | Counter(keys)
        if len(after) > 5:
            assert told == f'53200: view "v" would have {len(after)} groups, more than its max_groups of 5', (
                seed,
                text,
            )
            refused += 1
            client.ask("ROLLBACK")
        else:
            assert told == "", (seed, text)
            model += Counter(keys)
        if random_.random() < 0.3:
            assert numbers(client, "SELECT k, n FROM v ORDER BY k") == [[k, model[k]] for k in sorted(model)]
            assert numbers(client, "SELECT n FROM all_rows") == [[model.total()]]
    assert refused, f"seed {seed} refuses nothing"
    assert numbers(client, "SELECT count(*) FROM s") == [[model.total()]]


def test_a_copy_is_refused_while_it_goes_on(world: World) -> None:
    client = world.client()
    client.run(*SETUP)
    client.run("CREATE TABLE many AS SELECT g AS k FROM generate_series(1, 100000) g")
    told = error(client, "INSERT INTO s (k) SELECT k FROM many")
    assert re.fullmatch(r'53200: view "v" would have [\d,]+ groups, more than its max_groups of 5', told)
    assert numbers(client, "SELECT count(*) FROM s") == [[0]]
    client.run("INSERT INTO s (k) SELECT k % 5 FROM many")
    assert numbers(client, "SELECT sum(n), count(*) FROM v") == [[100_000, 5]]


def test_bytes_are_those_of_different_groups_and_their_texts(world: World) -> None:
    client = world.client()
    client.run(SETUP[0], "CREATE VIEW b WITH (max_bytes = '2kB') AS SELECT t, count(*) AS n FROM s GROUP BY t")
    sizes = "SELECT state_bytes, group_bytes, max_bytes FROM pg_stat_continuous_views"
    ((_, per_group, cap),) = numbers(client, sizes)
    assert per_group and cap == 2048
    client.run("INSERT INTO s (t) VALUES (repeat('x', 1000))")
    for _ in range(5):
        client.run("INSERT INTO s (t) VALUES (repeat('x', 1000))")
    left = 2048 - 2 * per_group - 1000
    assert error(client, f"INSERT INTO s (t) VALUES (repeat('y', {left + 1}))") == (
        '53200: view "b" would have 2,049 bytes, more than its max_bytes of 2,048'
    )
    client.run(f"INSERT INTO s (t) VALUES (repeat('y', {left}))", "INSERT INTO s (t) VALUES (repeat('x', 1000))")
    assert error(client, "INSERT INTO s (t) VALUES ('')").startswith("53200")
    client.run("SELECT * FROM b")
    assert numbers(client, sizes) == [[2048, per_group, 2048]]


def test_explain_and_statistics_have_one_number(world: World) -> None:
    client = world.client()
    text = "SELECT k, t, count(*) AS n, sum(k) AS total FROM s GROUP BY k, t"
    client.run(SETUP[0], f"CREATE VIEW w AS {text}", "INSERT INTO s SELECT g, 'a' FROM generate_series(1, 10) g")
    client.run("SELECT * FROM w")
    ((bytes_count, groups, per_group),) = numbers(
        client, "SELECT state_bytes, groups, group_bytes FROM pg_stat_continuous_views"
    )
    explained = "\n".join(client.rows(f"EXPLAIN CREATE VIEW again AS {text}"))
    shown = int(re.findall(r"Kept per group: (\d+) bytes", explained)[0])
    columns = [int(size) for size in re.findall(r", (\d+) bytes'", explained)]
    assert shown == per_group == sum(columns)
    assert (groups, bytes_count) == (10, 10 * (per_group or 0))
    (line,) = (row for row in client.rows("EXPLAIN SELECT * FROM w") if "groups are kept" in row)
    assert f"{per_group} bytes each" in line


def test_views_that_share_a_pipeline_have_caps_of_their_own(world: World) -> None:
    client = world.client()
    client.run(*SETUP, "INSERT INTO s (k) VALUES (1), (2), (3)")
    client.run(
        "CREATE VIEW twin WITH (max_groups = 2) AS SELECT k, count(*) AS n FROM s GROUP BY k HAVING count(*) > 0"
    )
    client.run("INSERT INTO s (k) VALUES (4), (5)")
    assert (
        error(client, "INSERT INTO s (k) VALUES (1)")
        == '53200: view "twin" would have 3 groups, more than its max_groups of 2'
    )
    client.run("ALTER VIEW twin SET (max_groups = 100)")
    assert (
        error(client, "INSERT INTO s (k) VALUES (6)")
        == '53200: view "v" would have 6 groups, more than its max_groups of 5'
    )
    client.run("DROP VIEW v", "INSERT INTO s (k) VALUES (6)")
    assert numbers(client, "SELECT count(*) FROM twin") == [[3]]


def test_the_caps_of_a_view_of_several_streams_are_for_all_its_groups(world: World) -> None:
    client = world.client()
    client.run(SETUP[0], "CREATE FOREIGN TABLE r (k int) SERVER stream")
    client.run(
        "CREATE VIEW j WITH (max_groups = 4) AS SELECT a.k, n, m FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a "
        "JOIN (SELECT k, count(*) AS m FROM r GROUP BY k) b ON a.k = b.k"
    )
    client.run("INSERT INTO s (k) VALUES (1), (2)", "INSERT INTO r VALUES (1), (2)", "INSERT INTO r VALUES (2)")
    for stream in ("s (k)", "r"):
        told = error(client, f"INSERT INTO {stream} VALUES (3)")
        assert told == '53200: view "j" would have 5 groups, more than its max_groups of 4'
    assert numbers(client, "SELECT * FROM j ORDER BY k") == [[1, 1, 1], [2, 1, 2]]
    assert numbers(client, "SELECT max_groups FROM pg_stat_continuous_views WHERE relname = 'j'") == [[4]]


def test_a_table_that_is_joined_at_arrival_keeps_to_the_cap(world: World) -> None:
    client = world.client()
    client.run(SETUP[0], "CREATE TABLE names (k int PRIMARY KEY, name text)", "INSERT INTO names VALUES (1, 'a')")
    client.run(
        "CREATE VIEW named WITH (max_bytes = '20kB', stream_join = arrival) AS "
        "SELECT name, count(*) AS n FROM s JOIN names ON names.k = s.k GROUP BY name"
    )
    client.run("INSERT INTO s (k) VALUES (1)")
    told = error(client, "INSERT INTO names SELECT g, repeat('x', 1000) || g FROM generate_series(2, 60) g")
    assert re.fullmatch(r'53200: view "named" would have [\d,]+ bytes, more than its max_bytes of 20,480', told)
    assert numbers(client, "SELECT count(*) FROM names") == [[1]]
    client.run("INSERT INTO names VALUES (2, 'b')", "INSERT INTO s (k) VALUES (1), (2)")
    assert numbers(client, "SELECT n FROM named ORDER BY n") == [[1], [2]]


def test_tables_that_are_joined_at_arrival_and_groups_of_one_transaction(world: World) -> None:
    client = world.client()
    client.run(SETUP[0], "CREATE TABLE names (k int PRIMARY KEY, name text)", "INSERT INTO names VALUES (0, 'a')")
    client.run(
        "CREATE VIEW named WITH (max_bytes = '20kB', stream_join = arrival) AS "
        "SELECT name, count(*) AS n FROM s JOIN names ON names.k = s.k GROUP BY name"
    )
    names = "INSERT INTO names SELECT g, repeat('x', 1000) || g FROM generate_series(1, 12) g"
    groups = "INSERT INTO s (k) SELECT g FROM generate_series(1, 12) g"
    told = error(client, "BEGIN", names, groups, "COMMIT")
    assert re.fullmatch(r'53200: view "named" would have [\d,]+ bytes, more than its max_bytes of 20,480', told)
    assert numbers(client, "SELECT (SELECT count(*) FROM names), (SELECT count(*) FROM s)") == [[1, 0]]
    # Of the caps that there will be.
    client.run("BEGIN", "ALTER VIEW named SET (max_bytes = '40kB')", names, groups, "COMMIT")
    assert numbers(client, "SELECT count(*) FROM named") == [[12]]
    (account,) = world.database.caps._accounts.values()
    sizes = account.groups.sizes

    def exchanged(*given: Any) -> Any:
        found = sizes(*given)
        account.joins.set(account.joins.tables * 2, account.joins.rows)
        world.database.caps.forget(account.groups)
        return found

    account.groups.sizes = exchanged  # type: ignore[assignment, method-assign]
    before = account.counted
    world.database.caps._count(account, ())
    assert before and account.counted and account.counted.bytes > before.bytes, "join tables that came while it counted"
    world.close()


def test_tables_of_two_views_keep_to_the_cap_of_all_views(tmp_path: Path) -> None:
    world = World(tmp_path, view_bytes_max=40_000)
    client = world.client()
    client.run(SETUP[0])
    for table in ("one", "two"):
        client.run(
            f"CREATE TABLE {table} (k int PRIMARY KEY, name text)",
            f"CREATE VIEW of_{table} WITH (stream_join = arrival) AS "
            f"SELECT name, count(*) AS n FROM s JOIN {table} ON {table}.k = s.k GROUP BY name",
        )
    more = [
        f"INSERT INTO {table} SELECT g, repeat('x', 1000) || g FROM generate_series(1, 22) g"
        for table in ("one", "two")
    ]
    assert error(client, "BEGIN", *more, "COMMIT").startswith("53200: the continuous views would have")
    client.run("INSERT INTO s (k) VALUES (1)", more[0])
    assert error(client, more[1]).startswith("53200: the continuous views would have")
    client.run("INSERT INTO s (k) VALUES (1)")
    assert numbers(client, "SELECT (SELECT sum(n) FROM of_one), (SELECT count(*) FROM of_two)") == [[1, 0]]
    world.close()


def test_a_transaction_that_fails_leaves_the_caps_of_others(world: World) -> None:
    client, other = world.client(), world.client()
    client.run(*SETUP, "CREATE FOREIGN TABLE r (k int) SERVER stream")
    client.run("CREATE VIEW w WITH (max_groups = 1) AS SELECT k, count(*) AS n FROM r GROUP BY k")
    told = [error(other, f"INSERT INTO s (k) VALUES ({key})") for key in (1, 2)]
    changes = ("BEGIN", "ALTER VIEW v RESET (max_groups)", "INSERT INTO r VALUES (1), (2)")
    assert error(client, *changes, "COMMIT") == '53200: view "w" would have 2 groups, more than its max_groups of 1'
    told += [error(other, f"INSERT INTO s (k) VALUES ({key})") for key in (3, 4, 5, 6, 7)]
    assert told[:5] == [""] * 5
    assert told[5:] == ['53200: view "v" would have 6 groups, more than its max_groups of 5'] * 2
    world.close()


def test_tables_that_a_new_view_joins_keep_to_its_cap(world: World) -> None:
    client = world.client()
    client.run(
        SETUP[0], "CREATE TABLE big AS SELECT g AS k, repeat('x', 100) || g AS name FROM generate_series(1, 1000) g"
    )
    text = "SELECT name, count(*) AS n FROM s JOIN big USING (k) GROUP BY name"
    told = error(client, f"CREATE VIEW named WITH (max_bytes = '10kB') AS {text}")
    assert re.fullmatch(r'53200: view "named" would have 1[\d,]+ bytes, more than its max_bytes of 10,240', told)
    client.run(f"CREATE VIEW named WITH (max_bytes = '1MB') AS {text}", "INSERT INTO s (k) VALUES (1)")


def test_a_restart_neither_refuses_nor_forgets(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(*SETUP, "INSERT INTO s (k) SELECT g FROM generate_series(1, 5) g", "CHECKPOINT")
    # A cap below what the view has keeps new groups out, and nothing else.
    client.run("ALTER VIEW v SET (max_groups = 2)", "INSERT INTO s (k) VALUES (4)")
    world.close()
    world = World(tmp_path)
    client = world.client()
    assert numbers(client, "SELECT sum(n), count(*) FROM v") == [[6, 5]]
    client.run("INSERT INTO s (k) VALUES (3)")
    assert (
        error(client, "INSERT INTO s (k) VALUES (6)")
        == '53200: view "v" would have 6 groups, more than its max_groups of 2'
    )
    client.run("SELECT truncate_continuous_view('v')", "INSERT INTO s (k) VALUES (6), (7)")
    assert error(client, "INSERT INTO s (k) VALUES (8)").startswith("53200")
    client.run("CREATE OR REPLACE VIEW v WITH (max_groups = 3) AS SELECT k, count(*) AS n FROM s GROUP BY k")
    client.run("INSERT INTO s (k) VALUES (8)")
    assert error(client, "INSERT INTO s (k) VALUES (9)").startswith("53200")
    client.run("ALTER VIEW v RESET (max_groups)", "INSERT INTO s (k) VALUES (9)")
    world.close()


def test_a_view_and_its_rows_in_one_transaction(world: World) -> None:
    client = world.client()
    client.run(SETUP[0])
    client.run("BEGIN", SETUP[1], "INSERT INTO s (k) SELECT g FROM generate_series(1, 6) g")
    assert error(client, "COMMIT") == '53200: view "v" would have 6 groups, more than its max_groups of 5'
    assert numbers(client, "SELECT count(*) FROM pg_stat_continuous_views") == [[0]]
    client.run("BEGIN", SETUP[1], "INSERT INTO s (k) SELECT g FROM generate_series(1, 5) g", "COMMIT")
    client.run("BEGIN", "INSERT INTO s (k) VALUES (6)", "ALTER VIEW v SET (max_groups = 6)", "COMMIT")
    assert numbers(client, "SELECT count(*) FROM v") == [[6]]


def test_a_definition_that_fails_leaves_the_caps_to_all_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client, other = world.client(), world.client()
    client.run(*SETUP, "INSERT INTO s (k) VALUES (1)")
    # From here on the session knows how much such a row adds to what cap.
    assert client.at_once(query("INSERT INTO s (k) VALUES (1)")) is not None

    def fail(*_: object) -> None:
        raise SqlError("40001", "not now")

    with monkeypatch.context() as patch:
        patch.setattr(world.database.store, "commit", fail)
        assert error(other, "DROP VIEW v") == "40001: not now"
    other.run("INSERT INTO s (k) VALUES (2), (3), (4), (5)")
    assert (
        error(client, "INSERT INTO s (k) VALUES (6)")
        == '53200: view "v" would have 6 groups, more than its max_groups of 5'
    )
    assert numbers(client, "SELECT count(*) FROM v") == [[5]]
    world.close()


def test_all_views_together(tmp_path: Path) -> None:
    world = World(tmp_path, view_bytes_max=4096)
    client = world.client()
    client.run(SETUP[0], "CREATE VIEW a AS SELECT k, count(*) AS n FROM s GROUP BY k")
    client.run("CREATE VIEW b AS SELECT t, max(k) AS m FROM s GROUP BY t")
    done = 0
    told = ""
    while not told:
        told = error(client, f"INSERT INTO s VALUES ({done}, '{done}')")
        done += not told
    match = re.fullmatch(
        r"53200: the continuous views would have ([\d,]+) bytes, more than view_bytes_max of 4,096", told
    )
    assert match and 4096 < int(match[1].replace(",", "")) < 4300
    assert numbers(client, "SELECT count(*) FROM a") == numbers(client, "SELECT count(*) FROM b") == [[done]]
    ((bytes_count,),) = numbers(client, "SELECT sum(state_bytes) FROM pg_stat_continuous_views")
    assert bytes_count and 3900 < bytes_count <= 4096
    client.run("INSERT INTO s VALUES (0, '0')", "DROP VIEW b", f"INSERT INTO s VALUES ({done}, '0')")
    world.close()


def test_commits_at_one_time_do_not_pass_a_cap_together(world: World) -> None:
    client, database = world.client(), world.database
    client.run(SETUP[0], "CREATE VIEW v WITH (max_groups = 40) AS SELECT k, count(*) AS n FROM s GROUP BY k")
    entry = database.catalog.image.entries["s"]
    assert isinstance(entry, StreamEntry)
    taken: Counter[int] = Counter()
    refused: Counter[str] = Counter()
    lock = threading.Lock()

    def insert(number: int) -> None:
        random_ = random.Random(number)
        for _ in range(50):
            keys = [random_.randrange(60) for _ in range(random_.choice([1, 3]))]
            rows = pa.table({"k": pa.array(keys, pa.int32()), "t": pa.nulls(len(keys), pa.string())})
            transaction = database.transactions.begin()
            stage = database.transactions.stage(entry, database.catalog.image, transaction.now_us)
            stage.add(morsel_from_arrow(rows, entry.stream.layout))
            transaction.operations.append(stage)
            try:
                database.committer.commit(transaction)
            except SqlError as error:
                with lock:
                    refused[error.sqlstate] += 1
            else:
                with lock:
                    taken.update(keys)

    threads = [threading.Thread(target=insert, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 40 and set(refused) == {"53200"}
    assert numbers(client, "SELECT k, n FROM v ORDER BY k") == [[k, taken[k]] for k in sorted(taken)]
    account = next(iter(database.caps._accounts.values()))
    assert account.reserved == (0, 0)


@pytest.mark.parametrize(
    ("options", "state"),
    [
        ("max_groups = 0", "22023"),
        ("max_groups = -1", "22023"),
        ("max_groups = 1.5", "22023"),
        ("max_groups = 'many'", "22023"),
        ("max_groups = '²'", "22023"),
        (f"max_groups = '{'9' * 5000}'", "22023"),
        ("max_bytes = 0", "22023"),
        ("max_bytes = '12 parsecs'", "22023"),
        ("max_bytes = 1e30", "22023"),
        ("max_bytes = '1.5 GB', max_groups = 7", ""),
    ],
)
def test_values_of_options(world: World, options: str, state: str) -> None:
    client = world.client()
    client.run(SETUP[0])
    assert error(client, f"CREATE VIEW q WITH ({options}) AS SELECT k FROM s GROUP BY k").startswith(state)
    if not state:
        assert client.rows("SELECT reloptions FROM pg_class WHERE relname = 'q'") == [
            "D [b'{max_groups=7,max_bytes=1610612736}']"
        ]


def test_a_table_that_two_views_share_keeps_to_the_cap_of_all_views(tmp_path: Path) -> None:
    world = World(tmp_path, view_bytes_max=40_000)
    client = world.client()
    client.run(SETUP[0], "CREATE TABLE names (k int PRIMARY KEY, name text)")
    for view in ("one", "two"):
        client.run(
            f"CREATE VIEW {view} WITH (stream_join = arrival) AS "
            "SELECT name, count(*) AS n FROM s JOIN names ON names.k = s.k GROUP BY name"
        )
    one, two = world.database.catalog.image.chains
    assert one.state.program.joins is two.state.program.joins
    names = "INSERT INTO names SELECT g, repeat('x', 1000) || g FROM generate_series({}, {}) g"
    assert error(client, names.format(1, 22)).startswith("53200: the continuous views would have")
    # Some of that has room, and so do rows that meet it.
    client.run(names.format(1, 10), "INSERT INTO s (k) VALUES (1)")
    assert numbers(client, "SELECT n FROM one UNION ALL SELECT n FROM two") == [[1], [1]]
    world.close()
