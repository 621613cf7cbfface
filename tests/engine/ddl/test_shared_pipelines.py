"""Views whose stream pipelines are equal take rows together: what each holds is as if it were
alone, whatever happens to the others.

The oracle of what views hold is a list of rows per view in Python, from its creation on.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.session_client import World

STREAM = "CREATE FOREIGN TABLE s (k int, x int) SERVER stream"
# Equal pipelines, written differently; what is above them differs.
QUERIES = (
    "SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k",
    "SELECT k, sum(x) AS t, count(*) AS n FROM s GROUP BY k HAVING count(*) > 0",
    "WITH c AS (SELECT * FROM s) SELECT n, k, t FROM (SELECT c.k, sum(c.x) AS t, count(*) AS n FROM c GROUP BY 1) d",
)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(STREAM)
    return made


def shared(server: Server) -> dict[str, str]:
    """Return with which others each view takes rows."""
    rows = server.rows("SELECT relname, shares_with FROM pg_stat_continuous_views")
    found = (row[3:-2].split("', b'") for row in rows if "None" not in row)
    return {name: others for name, others in found if name != others}


def sums(model: list[tuple[int, int]]) -> list[str]:
    """Return what a view over these rows holds."""
    counts = Counter(k for k, _ in model)
    return [f"[b'{k}', b'{counts[k]}', b'{sum(x for key, x in model if key == k)}']" for k in sorted(counts)]


def held(server: Server, name: str) -> list[str]:
    return server.rows(f"SELECT k, n, t FROM {name} ORDER BY k")


def test_equal_pipelines_are_one(server: Server) -> None:
    client = server.client
    client.run(*(f"CREATE VIEW v{number} AS {query}" for number, query in enumerate(QUERIES)))
    client.run(
        "CREATE VIEW filtered AS SELECT k, count(*) AS n, sum(x) AS t FROM s WHERE x > 0 GROUP BY k",
        "CREATE VIEW more AS SELECT k, count(*) AS n, sum(x) AS t, max(x) FROM s GROUP BY k",
        "CREATE VIEW skips WITH (on_error = skip) AS SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k",
    )
    assert shared(server) == {"v0": "v1, v2", "v1": "v0, v2", "v2": "v0, v1"}
    image = server.world.database.catalog.image
    assert len(image.chains_of("s")) == 4, "each row is folded once for the three"
    assert len({view.state.kernels[0] for view in image.chains}) == 4
    client.run("INSERT INTO s VALUES (1, 10), (2, 5)")
    assert held(server, "v0") == held(server, "v1") == held(server, "v2") == sums([(1, 10), (2, 5)])
    (shown,) = (line for line in server.rows("EXPLAIN VERBOSE SELECT * FROM v1") if "shared with" in line)
    assert "shared with v0, v2" in shown
    server.world.close()


def test_explain_tells_what_a_new_view_would_share(server: Server) -> None:
    explained = f"EXPLAIN CREATE VIEW new AS {QUERIES[2]}"
    assert not any("pipeline is that of" in line for line in server.rows(explained))
    server.client.run(*(f"CREATE VIEW v{number} AS {query}" for number, query in enumerate(QUERIES[:2])))
    lines = server.rows(explained)
    assert any(
        "Its stream pipeline is that of view v0, v1: a row is folded once for all of them" in line for line in lines
    )
    assert any("Kernel: kernels/stream_pipeline_" in line for line in lines)
    (plan,) = server.rows(explained.replace("EXPLAIN", "EXPLAIN (FORMAT JSON)"))
    assert '"Shared With": "v0, v1"' in plan
    server.client.run("SELECT deactivate('v0')")
    assert any("is that of view v1:" in line for line in server.rows(explained)), "v0 takes no rows"
    server.world.close()


def test_a_transaction_that_makes_views_between_its_rows(server: Server) -> None:
    client = server.client
    client.run(f"CREATE VIEW v0 AS {QUERIES[0]}", "INSERT INTO s VALUES (1, 1)")
    client.run(
        "BEGIN",
        "INSERT INTO s VALUES (1, 2)",
        f"CREATE VIEW v1 AS {QUERIES[1]}",
        "INSERT INTO s VALUES (1, 4)",
        f"CREATE VIEW v2 AS {QUERIES[2]}",
        "INSERT INTO s VALUES (1, 8)",
        "DROP VIEW v0",
        "INSERT INTO s VALUES (1, 16)",
        "COMMIT",
    )
    for again in range(3):
        assert held(server, "v1") == ["[b'1', b'3', b'28']"], again
        assert held(server, "v2") == ["[b'1', b'2', b'24']"], again
        assert shared(server) == {"v1": "v2", "v2": "v1"}
        server.crash(checkpoint=again > 0)
    server.world.close()


def test_the_first_rows_come_in_the_order_of_commits(server: Server) -> None:
    client = server.client
    client.run(*(f"CREATE VIEW v{n} AS SELECT DISTINCT ON (k) k, x FROM s ORDER BY k, x % 2 DESC" for n in range(2)))
    assert shared(server) == {"v0": "v1", "v1": "v0"}
    client.run("INSERT INTO s SELECT g % 5000, 2 * g FROM generate_series(0, 9999) g")
    assert server.rows("SELECT count(*), sum(x) FROM v0") == [f"[b'5000', b'{sum(range(0, 10000, 2))}']"]
    client.run(
        "INSERT INTO s VALUES (0, 3), (1, 7)", "INSERT INTO s SELECT g % 5000, 1 FROM generate_series(2, 9999) g"
    )
    expected = ["[b'5000', b'5008']"]
    for name in ("v1", "v0"):
        assert server.rows(f"SELECT count(*), sum(x) FROM {name}") == expected
    server.world.close()


def test_what_waits_for_a_view_that_nobody_reads_is_bounded(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.client.run(STREAM, *(f"CREATE VIEW v{n} AS {query}" for n, query in enumerate(QUERIES)))
    for number in range(40):
        server.client.run(f"INSERT INTO s VALUES (1, {number})")
        assert held(server, "v0") == sums([(1, known) for known in range(number + 1)])
    (waiting,) = server.rows(
        "SELECT queue <= queue_max, queue_most <= queue_max FROM pg_stat_continuous_views WHERE relname = 'v1'"
    )
    assert waiting == "[b't', b't']"
    assert held(server, "v1") == held(server, "v2") == held(server, "v0")
    server.world.close()


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(6))
def test_random_lives(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    server = Server(tmp_path)
    server.client.run(STREAM)
    models: dict[str, list[tuple[int, int]]] = {}
    active: set[str] = set()
    numbers = iter(range(1000))
    for step in range(60):
        action = chance.choice(("create", "rows", "rows", "rows", "many", "drop", "life", "read", "read", "crash"))
        name = chance.choice(sorted(models)) if models else None
        if action == "create" and len(models) < 6:
            name = f"v{next(numbers)}"
            server.client.run(f"CREATE VIEW {name} AS {chance.choice(QUERIES)}")
            models[name] = []
            active.add(name)
        elif action in ("rows", "many"):
            count = chance.randint(1, 3) if action == "rows" else 1500
            rows = [(chance.randrange(5), chance.randrange(100)) for _ in range(count)]
            server.client.run(f"INSERT INTO s VALUES {', '.join(map(str, rows))}")
            for known in active:
                models[known] += rows
        elif action == "crash" and chance.random() < 0.5:
            server.crash(checkpoint=chance.random() < 0.5)
        elif name is not None and action == "drop":
            server.client.run(f"DROP VIEW {name}")
            del models[name]
            active.discard(name)
        elif name is not None and action == "life":
            end_one(chance, server, name, models, active)
        elif name is not None and action == "read":
            assert held(server, name) == sums(models[name]), (seed, step, name)
    for name, model in models.items():
        assert held(server, name) == sums(model), (seed, name)
    others = len(active) - 1
    assert all(shared(server)[name].count(",") == others - 1 for name in active if others), seed
    server.world.close()


def end_one(
    chance: random.Random, server: Server, name: str, models: dict[str, list[tuple[int, int]]], active: set[str]
) -> None:
    """Do something to one of the views that others must not notice."""
    match chance.choice(("truncate", "deactivate", "activate", "replace", "reset", "rename")):
        case "truncate":
            server.client.run(f"SELECT truncate_continuous_view('{name}')")
            models[name] = []
        case "deactivate":
            server.client.run(f"SELECT deactivate('{name}')")
            active.discard(name)
        case "activate":
            server.client.run(f"SELECT activate('{name}')")
            active.add(name)
        case "replace":
            query = f"SELECT {', '.join(columns_of(server.world, name))} FROM ({QUERIES[0]}) q WHERE n >= 0"
            server.client.run(f"CREATE OR REPLACE VIEW {name} AS {query}")
        case "reset":
            query = f"SELECT {', '.join(columns_of(server.world, name))} FROM ({QUERIES[0]}) q"
            server.client.run(f"CREATE OR REPLACE VIEW {name} WITH (reset = true) AS {query}")
            models[name] = []
            active.add(name)
        case "rename":
            server.client.run(f"ALTER VIEW {name} RENAME TO {name}x")
            models[f"{name}x"] = models.pop(name)
            if name in active:
                active.remove(name)
                active.add(f"{name}x")


def columns_of(world: World, name: str) -> list[str]:
    return [column.name for column in world.database.catalog.image.entries[name].description.columns]
