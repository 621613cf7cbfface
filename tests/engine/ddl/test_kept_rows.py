"""Views of rows that nothing groups: values that are equal and not the same, tables that change,
bounds, a query in the place of another, and a start.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.commit.test_passed_groups import HOUR_US, SECOND_US, SetClock
from tests.engine.session_client import SessionClient, World

STREAM = "CREATE FOREIGN TABLE s (k int, f float8, n numeric, j jsonb, js json, i interval, l numeric[], t text) SERVER stream"
ROWS = (
    """INSERT INTO s VALUES
    (1, 0, 1.0, '{"a": 1.0}', '{"b":  1}', '1 day', '{1.0}', 'x'), (1, '-0', 1.00, '{"a": 1.00}', '{"b": 1}', '24:00', '{1.00}', 'x'),
    (2, 'NaN', 'NaN', 'null', 'null', '1 mon', '{}', NULL), (2, 'NaN', 'NaN', 'null', 'null', '30 days', '{}', NULL)"""
)  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def answers(client: SessionClient, query: str) -> list[str]:
    """Return the rows of an answer in an order of their own."""
    return sorted(line for line in client.ask(query) if line.startswith("D"))


def test_equal_values_stay_as_they_came(world: World) -> None:
    client = world.client()
    client.ask(STREAM, "CREATE VIEW v AS SELECT k, f, n, j, js, i, l FROM s", ROWS)
    assert answers(client, "SELECT f, n, j, js, i, l FROM v") == sorted(
        [
            """D [b'0', b'1.0', b'{"a": 1.0}', b'{"b":  1}', b'1 day', b'{1.0}']""",
            """D [b'-0', b'1.00', b'{"a": 1.00}', b'{"b": 1}', b'24:00:00', b'{1.00}']""",
            "D [b'NaN', b'NaN', b'null', b'null', b'1 mon', b'{}']",
            "D [b'NaN', b'NaN', b'null', b'null', b'30 days', b'{}']",
        ]
    )


def test_blanks_and_arrays_of_json_stay_as_they_came(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE b (c bpchar, l json[]) SERVER stream", "CREATE VIEW v AS SELECT c, l FROM b")
    client.run(
        """INSERT INTO b VALUES ('a', '{"{\\"k\\":  1}"}'), ('a ', '{"{\\"k\\": 1}"}'), ('a', NULL), (NULL, '{NULL}')"""
    )
    assert answers(client, "SELECT octet_length(c), l::text[] FROM v") == sorted(
        [
            """D [b'1', b'{"{\\\\"k\\\\":  1}"}']""",
            """D [b'2', b'{"{\\\\"k\\\\": 1}"}']""",
            "D [b'1', None]",
            "D [None, b'{NULL}']",
        ]
    )
    assert answers(client, "SELECT count(*) FROM v WHERE c = 'a'") == ["D [b'3']"]


def test_wide_rows_and_keys_stay_as_they_came(world: World) -> None:
    client = world.client()
    texts, numbers = [f"t{n}" for n in range(40)], [f"n{n}" for n in range(40)]
    columns = [
        *(f"{name} text" for name in texts),
        *(f"{name} int8" for name in numbers),
        "at timestamptz",
        "d numeric",
    ]
    client.run(
        f"CREATE FOREIGN TABLE w ({', '.join(columns)}) SERVER stream",
        "CREATE VIEW v AS SELECT * FROM w",
        f"CREATE VIEW g AS SELECT {', '.join(texts)}, count(*) AS n, max(n39) AS m FROM w GROUP BY {', '.join(texts)}",
    )
    rows = []
    for row in range(5):
        some = ["NULL" if (place + row) % 3 == 0 else f"'{place}, \"{row % 2}\"'" for place in range(40)]
        others = ["NULL" if (place * row) % 4 == 3 else str(place - row * 10**12) for place in range(40)]
        rows.append(f"({', '.join([*some, *others, repr('2024-01-01 00:00+00'), ('1.0', '1.00')[row % 2]])})")
    client.run(f"INSERT INTO w VALUES {', '.join(rows)}", f"INSERT INTO w VALUES {rows[0]}")
    client.run(f"CREATE TABLE kept ({', '.join(columns)})", f"INSERT INTO kept VALUES {', '.join([*rows, rows[0]])}")
    assert answers(client, "SELECT * FROM v") == answers(client, "SELECT * FROM kept")
    grouped = f"SELECT {', '.join(texts)}, count(*) AS n, max(n39) AS m FROM kept GROUP BY {', '.join(texts)}"
    assert answers(client, "SELECT * FROM g") == answers(client, grouped)
    assert answers(client, "SELECT n38 FROM v WHERE t1 = '1, \"0\"' AND n39 < 0") == answers(
        client, "SELECT n38 FROM kept WHERE t1 = '1, \"0\"' AND n39 < 0"
    )


def test_equal_rows_are_kept_once_with_their_number(world: World) -> None:
    client = world.client()
    client.ask(STREAM)
    answer = client.ask("CREATE VIEW v AS SELECT k + 1 AS next FROM s WHERE k > 0")
    assert any("every row of stream s that the view asks for is kept" in line for line in answer)
    for number in (1, 2, 2, 0, 2):
        client.ask(f"INSERT INTO s (k) VALUES ({number})")
    assert answers(client, "SELECT * FROM v") == ["D [b'2']", "D [b'3']", "D [b'3']", "D [b'3']"]
    assert answers(client, "SELECT groups, tuples_in, tuples_passed FROM pg_stat_continuous_views") == [
        "D [b'2', b'5', b'4']"
    ]


def test_a_joined_table_may_change_unless_rows_meet_it_when_they_arrive(world: World) -> None:
    client = world.client()
    client.ask(STREAM, "CREATE TABLE d (k int PRIMARY KEY, name text)", "INSERT INTO d VALUES (1, 'one')")
    client.ask("CREATE VIEW now AS SELECT k, name FROM s JOIN d USING (k)")
    client.ask("CREATE VIEW once WITH (stream_join = arrival) AS SELECT k, name FROM s JOIN d USING (k)")
    client.ask("INSERT INTO s (k) VALUES (1), (2)", "UPDATE d SET name = 'uno'", "INSERT INTO d VALUES (2, 'due')")
    client.ask("INSERT INTO s (k) VALUES (1)")
    assert answers(client, "SELECT * FROM now") == ["D [b'1', b'uno']", "D [b'1', b'uno']", "D [b'2', b'due']"]
    assert answers(client, "SELECT * FROM once") == ["D [b'1', b'one']", "D [b'1', b'uno']"]
    (refusal, *_) = client.ask(
        "CREATE VIEW r WITH (stream_join = arrival) AS SELECT a.k, name FROM s a JOIN s b ON a.k = b.k JOIN d ON d.k = a.k"
    )
    assert "0A000" in refusal


def test_a_bound_is_kept(world: World) -> None:
    client = world.client()
    client.ask(STREAM, "CREATE VIEW v WITH (max_groups = 2) AS SELECT k FROM s")
    assert client.ask("INSERT INTO s (k) VALUES (1), (1), (2)")[0] == "C INSERT 0 3"
    assert "53200" in client.ask("INSERT INTO s (k) VALUES (3)")[0]
    assert answers(client, "SELECT * FROM v") == ["D [b'1']", "D [b'1']", "D [b'2']"]


def test_a_query_over_the_same_columns_goes_on_with_the_rows(world: World) -> None:
    client = world.client()
    client.ask(
        STREAM,
        "CREATE VIEW v AS SELECT k, t FROM s WHERE k > 0",
        "INSERT INTO s (k, t) VALUES (1, 'a'), (1, 'a'), (2, 'b')",
    )
    client.ask("CREATE OR REPLACE VIEW v AS SELECT k, upper(t) AS t FROM s WHERE k > 0")
    client.ask("INSERT INTO s (k, t) VALUES (2, 'b')")
    found = ["D [b'1', b'A']", "D [b'1', b'A']", "D [b'2', b'B']", "D [b'2', b'B']"]
    assert answers(client, "SELECT * FROM v") == found


def test_rows_are_there_after_a_start(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.ask(STREAM, "CREATE VIEW v AS SELECT k, f, i, rank() OVER (ORDER BY k) AS r FROM s", ROWS)
    before = answers(client, "SELECT k, f, i, r FROM v")
    world.abandon()
    again = World(tmp_path)
    assert len(before) == 4 and answers(again.client(), "SELECT k, f, i, r FROM v") == before
    again.close()


@pytest.mark.parametrize(
    "view",
    [
        "AS SELECT k, at FROM s2 WHERE at > now() - interval '1 hour'",
        "WITH (ttl = '1 hour', ttl_column = at) AS SELECT k, at FROM s2",
    ],
)
def test_rows_that_have_passed_are_given_up(tmp_path: Path, view: str) -> None:
    clock = SetClock()
    world = World(tmp_path, clock=clock)
    client = world.client()
    client.ask("CREATE FOREIGN TABLE s2 (k int, at timestamptz) SERVER stream", f"CREATE VIEW v {view}")
    kept: list[tuple[int, int]] = []
    for number in range(8):
        clock.time_us += 20 * 60 * SECOND_US
        client.ask(
            f"INSERT INTO s2 SELECT {number} * 100 + g, now() - g * interval '1 min' FROM generate_series(0, 9) AS g"
        )
        kept += [(number * 100 + g, clock.time_us - g * 60 * SECOND_US) for g in range(10)]
        kept = [(k, at_us) for k, at_us in kept if at_us > clock.time_us - HOUR_US]
        assert answers(client, "SELECT k FROM v") == sorted(f"D [b'{k}']" for k, _ in kept)
    (groups,) = answers(client, "SELECT groups FROM pg_stat_continuous_views")
    assert len(kept) <= int(groups.split("'")[1]) < 2 * len(kept)
    world.close()
