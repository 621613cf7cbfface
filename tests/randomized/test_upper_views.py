"""Random views with a second grouping, by change and run whole, after each of several batches, with
restarts, checkpoints, rollbacks and changed tables in between. PostgreSQL answers over all rows.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from engine.catalog.image import ViewEntry
from tests.engine.embedded_upper import EmbeddedUpper
from tests.engine.session_client import SessionClient, World
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster
from tests.randomized.upper_views import COLUMNS, TABLE_COLUMNS, random_change, random_rows, random_view
from views.model.protocols import BY_CHANGE, MADE_ANEW

BATCHES = 6
# Of the cases of the other random suites.
SHARE = 10
# Of the views; others have second groupings as fine as their first one.
BY_CHANGE_SHARE_MIN = 0.5


@pytest.mark.slow
@pytest.mark.timeout(0)  # --seconds is its bound
def test_random_upper_views_equal_postgres(
    postgres: PostgresCluster, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.database.SparkUpperExecutor", EmbeddedUpper)
    option = request.config.getoption
    evidence = Evidence("upper_views", option("--seed"))
    cases, began_s, ways = max(1, option("--cases") // SHARE), time.monotonic(), Counter[str]()
    with postgres.connect() as oracle:
        for seed in range(evidence.seed, evidence.seed + cases):
            if time.monotonic() > began_s + option("--seconds"):
                break
            case = Case(Random(seed), tmp_path / str(seed), oracle)
            try:
                case.run()
            except AssertionError as failure:
                evidence.failures.append(f"seed {seed}: {failure}")
            finally:
                case.world.close()
            ways += case.ways
            evidence.cases += 1
            evidence.histogram += case.ways
    if option("--write-evidence"):
        evidence.write()
    print(f"{evidence.cases} cases from seed {evidence.seed}: {dict(ways)}")
    assert not evidence.failures, f"{len(evidence.failures)} of {evidence.cases} differ:\n\n" + "\n\n".join(
        evidence.failures
    )
    assert ways["views by change"] >= BY_CHANGE_SHARE_MIN * evidence.cases
    # Restarts and changed tables are often.
    assert 2 * ways[BY_CHANGE] > ways[MADE_ANEW]


class Case:
    """One view by change, and once more without, in a database of their own."""

    def __init__(self, chance: Random, folder: Path, oracle: psycopg.Connection[Any]) -> None:
        self.chance = chance
        self.folder = folder
        self.oracle = oracle
        self.world = World(folder)
        self.view = random_view(chance)
        self.ways = Counter[str]()
        self.story: list[str] = []

    def run(self) -> None:
        """Make the views, and look at them again and again."""
        client = self.world.client()
        self.oracle.execute("DROP TABLE IF EXISTS s, d")
        for text in (f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream", f"CREATE TABLE d ({TABLE_COLUMNS})"):
            client.run(text)
            self.oracle.execute(text.replace("FOREIGN ", "").replace(" SERVER stream", "").encode())
        self.both(client, "INSERT INTO d SELECT i % 6, chr(97 + i % 3), i FROM generate_series(0, 7) AS r(i)")
        for name, choice in (("v", "auto"), ("w", "spark")):
            client.run(f"CREATE VIEW {name} WITH (upper_maintenance = {choice}) AS {self.view.query}")
        chain = self.chain()
        self.ways["views by change"] += chain.state.upper is not None
        for _ in range(BATCHES):
            client = self.step(client)
            if self.chance.random() < 0.85:
                self.check(client)
        self.check(client)
        self.count_ways()

    def step(self, client: SessionClient) -> SessionClient:
        """Let something happen; return the session to go on with."""
        chance = self.chance
        rows = random_rows(chance, chance.choice((1, 3, 10, 40)))
        what = chance.choice(("insert", "insert", "insert", "insert", "rollback", "table", "restart", "kill", "pin"))
        self.story.append(what)
        match what:
            case "rollback":
                client.run("BEGIN", f"INSERT INTO s VALUES {rows}", "SAVEPOINT a", f"INSERT INTO s VALUES {rows}")
                if chance.random() < 0.5:
                    client.run("ROLLBACK TO a", "COMMIT")
                    self.oracle.execute(f"INSERT INTO s VALUES {rows}".encode())
                else:
                    client.run("ROLLBACK")
            case "table":
                self.both(client, random_change(chance))
            case "restart" | "kill":
                self.count_ways()
                if what == "restart" or chance.random() < 0.5:
                    self.world.database.checkpoints.make()
                self.world.close()
                self.world = World(self.folder)
                self.world.database.definitions.follow()
                client = self.world.client()
            case "pin":
                other = self.world.client()
                other.run("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT * FROM d")
                before = self.answer()
                self.both(client, f"INSERT INTO s VALUES {rows}")
                self.check(client)
                for name in ("v", "w"):
                    self.compare(name, sorted(other.rows(f"SELECT * FROM {name}")), before)
                other.run("COMMIT")
            case _:
                self.both(client, f"INSERT INTO s VALUES {rows}")
        return client

    def both(self, client: SessionClient, text: str) -> None:
        """Run a statement here and there."""
        client.run(text)
        self.oracle.execute(text.encode())

    def answer(self) -> list[str]:
        """Return PostgreSQL's rows, as a session renders them."""
        found = self.oracle.execute(self.view.query.encode()).pgresult
        assert found is not None
        return sorted(
            f"D [{', '.join(repr(found.get_value(row, place)) for place in range(found.nfields))}]"
            for row in range(found.ntuples)
        )

    def check(self, client: SessionClient) -> None:
        """Compare both views with PostgreSQL."""
        wanted = self.answer()
        for name in ("v", "w"):
            self.compare(name, sorted(client.rows(f"SELECT * FROM {name}")), wanted)

    def compare(self, name: str, found: list[str], wanted: list[str]) -> None:
        """Compare the rows of a view."""
        more, less = set(found) - set(wanted), set(wanted) - set(found)
        way = self.chain().upkeep.last_upper
        assert found == wanted, f"{name} {way} of {self.view.query} after {self.story}: {more} instead of {less}"

    def chain(self) -> Any:
        """Return the pipelines of the view by change."""
        entry = self.world.database.catalog.image.entries["v"]
        assert isinstance(entry, ViewEntry)
        return entry.states[0].chain

    def count_ways(self) -> None:
        """Add up the ways of the refreshes, which a restart forgets."""
        self.ways += self.chain().upkeep.upper_runs
