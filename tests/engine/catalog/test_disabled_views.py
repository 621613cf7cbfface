"""Views that can't be built at a start: the server runs, readers get an error, nothing is lost, and
nothing is answered wrongly later.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import views.upkeep.kernels
from engine.catalog.image import CatalogImage, DisabledViewEntry
from engine.system_catalog.deparse.definitions import STORED, view_text
from engine.system_catalog.rows.constraints import depend_rows
from engine.system_catalog.rows.relations import class_rows
from ringbuffer.compile.kernel_text import KernelTextError
from ringbuffer.compile.loader import Compile, KernelFileError, load_kernel
from sql.errors import SqlError
from tests.engine.session_client import SessionClient, World

DEFINITIONS = (
    "CREATE TABLE shops (shop text PRIMARY KEY, city text)",
    "INSERT INTO shops VALUES ('a', 'A'), ('b', 'B')",
    "CREATE FOREIGN TABLE sales (shop text, n int) SERVER stream",
    "CREATE FOREIGN TABLE other (n int) SERVER stream",
    "CREATE VIEW totals AS SELECT city, sum(n) AS total FROM sales JOIN shops USING (shop) GROUP BY city",
    "CREATE VIEW above AS SELECT city FROM totals WHERE total > 1",
    "CREATE VIEW others AS SELECT count(*) AS n FROM other",
    "INSERT INTO sales VALUES ('a', 1), ('b', 2)",
    "INSERT INTO other VALUES (1)",
)
ROWS = ["D [b'A', b'11']", "D [b'B', b'2']"]


def fails_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kernel be loaded that joins."""

    def load(folder: Path, name: str, text: str, function: str, types: list[str], compile_text: Compile) -> object:
        if "join0" in text:
            raise error
        return load_kernel(folder, name, text, function, types, compile_text)

    monkeypatch.setattr(views.upkeep.kernels, "load_kernel", load)


def started(folder: Path) -> World:
    world = World(folder)
    world.database.definitions.follow()
    return world


def shown_in_catalog(image: CatalogImage) -> None:
    names = {row["relname"] for row in class_rows(image) if row["relkind"] == "v"}
    assert names >= {"totals", "above"}
    entry = image.entries["totals"]
    assert isinstance(entry, DisabledViewEntry)
    assert view_text(entry, image, STORED, "UTC").startswith(" SELECT city, sum(n)")
    assert entry.description.oid in {row["refobjid"] for row in depend_rows(image)}


def refused(client: SessionClient, text: str) -> str:
    first, *_ = client.ask(text)
    assert first.startswith("E ERROR 55000"), first
    return first


@pytest.mark.parametrize(
    "error",
    [
        KernelFileError(Path("kernels/x.py"), OSError(13, "Permission denied")),
        KernelTextError("a generated kernel is no program"),
        AssertionError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_view_without_a_kernel(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = started(tmp_path)
    client = world.client()
    client.run(*DEFINITIONS)
    world.database.checkpoints.make()
    client.run("INSERT INTO sales VALUES ('a', 10)")
    world.abandon()
    with monkeypatch.context() as patch:
        fails_with(error, patch)
        world = started(tmp_path)
        client = world.client()
    assert "view totals is disabled" in caplog.text and "view above is disabled" in caplog.text
    assert 'view "totals" is disabled' in refused(client, "SELECT * FROM totals")
    refused(client, "SELECT * FROM above")
    assert "its rows" not in refused(client, "INSERT INTO sales VALUES ('a', 100)")
    refused(client, "ALTER VIEW totals RENAME TO t")
    refused(
        client,
        "CREATE OR REPLACE VIEW totals AS SELECT city, sum(n) AS total FROM sales JOIN shops USING (shop) GROUP BY city",
    )
    refused(client, "SELECT deactivate('totals')")
    refused(client, "INSERT INTO shops VALUES ('c', 'C')")
    refused(client, "DELETE FROM shops")
    refused(client, "ALTER TABLE shops ADD COLUMN x int")
    refused(client, "ALTER FOREIGN TABLE sales ADD COLUMN x int")
    refused(client, "ALTER SCHEMA public RENAME TO p")
    assert client.ask("DROP FOREIGN TABLE sales")[0].startswith("E ERROR 2BP01")
    assert client.ask("DROP TABLE shops")[0].startswith("E ERROR 2BP01")
    # All else goes on.
    client.run("INSERT INTO other VALUES (2)", "CREATE TABLE t (a int)", "CREATE VIEW more AS SELECT max(n) FROM other")
    assert client.rows("SELECT n FROM others") == ["D [b'2']"]
    shown_in_catalog(world.database.catalog.image)
    with pytest.raises(SqlError, match="cannot make a checkpoint because view"):
        world.database.checkpoints.make()
    # The cause is gone.
    world.abandon()
    world = started(tmp_path)
    client = world.client()
    assert client.rows("SELECT * FROM totals ORDER BY city") == ROWS
    client.run("INSERT INTO sales VALUES ('b', 100)")
    assert client.rows("SELECT * FROM above WHERE city = 'B'") == ["D [b'B']"]
    assert client.rows("SELECT n FROM others") == ["D [b'2']"]
    world.database.checkpoints.make()
    world.close()


def test_one_that_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = started(tmp_path)
    world.client().run(*DEFINITIONS)
    world.abandon()
    with monkeypatch.context() as patch:
        fails_with(AssertionError("a bug"), patch)
        world = started(tmp_path)
    client = world.client()
    assert client.ask("DROP VIEW totals")[0].startswith("E ERROR 2BP01")
    client.run("DROP VIEW totals CASCADE", "INSERT INTO sales VALUES ('a', 100)", "INSERT INTO shops VALUES ('c', 'C')")
    world.database.checkpoints.make()
    client.run(DEFINITIONS[4], "INSERT INTO sales VALUES ('c', 5)")
    world.abandon()
    world = started(tmp_path)
    assert world.client().rows("SELECT * FROM totals") == ["D [b'C', b'5']"]
    world.close()


def test_a_view_over_two_streams_of_which_a_part_is_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = started(tmp_path)
    client = world.client()
    text = "(SELECT count(*) AS c FROM sales JOIN shops USING (shop)) x, (SELECT count(*) AS d FROM other) y"
    client.run(*DEFINITIONS[:4], f"CREATE VIEW pair AS SELECT c, d FROM {text}")
    client.run("INSERT INTO sales VALUES ('a', 1)", "INSERT INTO other VALUES (1)")
    world.abandon()
    with monkeypatch.context() as patch:
        fails_with(AssertionError("a bug"), patch)
        world = started(tmp_path)
    client = world.client()
    assert 'view "pair" is disabled' in refused(client, "SELECT * FROM pair")
    assert 'because view "pair" is disabled' in refused(client, "INSERT INTO sales VALUES ('a', 1)")
    refused(client, "INSERT INTO other VALUES (2)")
    world.abandon()
    world = started(tmp_path)
    client = world.client()
    assert client.rows("SELECT * FROM pair") == ["D [b'1', b'1']"]
    world.abandon()
    with monkeypatch.context() as patch:
        fails_with(AssertionError("a bug"), patch)
        world = started(tmp_path)
    client = world.client()
    client.run("DROP VIEW pair", "INSERT INTO sales VALUES ('a', 1)")
    assert not world.database.catalog.image.disabled and not world.database.catalog.image.chains
    world.close()
