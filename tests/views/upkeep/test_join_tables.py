"""Static pipelines and probes at work: stopping in the midst of a row's matches, errors there,
texts that outlive, versions of tables.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.embedded.query_engine import QueryEngine
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from tests.views.fakes import FakeClock
from tests.views.joined import EmbeddedExecutor, World, schema_of, table_of
from views.upkeep.chain import Chain
from views.upkeep.export.to_arrow import from_arrow
from views.upkeep.join_tables import rows_from_bytes
from views.upkeep.refresh import Engines, Reader, cut, is_current
from views.upkeep.snapshot import snapshot

MEMORY_BYTES = 256 * 1024 * 1024
READER = Reader(0, lambda: None)


@pytest.fixture(scope="module")
def engine() -> Iterator[QueryEngine]:
    running = QueryEngine(MEMORY_BYTES)
    yield running
    running.close()


@pytest.fixture
def world(engine: QueryEngine) -> World:
    return World(EmbeddedExecutor(engine), None, seed=1)


def insert(view: Chain, rows: list[tuple[object, ...]], folding: bool = True) -> int:
    """Commit rows of the stream; return the rows skipped."""
    morsel = from_arrow(table_of("s", rows), schema_of("s"))
    table = view.state.program.new_table()
    skipped = view.state.program.fold(morsel, table, 0)
    view.state.groups.absorb(table)
    view.state.groups.note_commit()
    return skipped


def stream_row(k: int, c: str = "c", x: int = 0) -> tuple[object, ...]:
    return (k, k, c, None, 0.0, 0, x)


def test_a_kernel_goes_on_within_a_rows_matches(world: World, tmp_path: Path) -> None:
    names = [f"a name that is longer than twelve bytes, number {number}" for number in range(700)]
    world.tables.replace("t", [(1, name, None, number % 7, True) for number, name in enumerate(names)])
    world.tables.replace("r", [(0, 9, "band one"), (0, 9, "a second band, far away"), (5, 9, "none")])
    tables = "s JOIN t USING (k) JOIN r ON s.x >= r.lo AND s.x < 5"
    query = (
        f"SELECT t.name || ' in ' || r.band AS place, s.c, count(*) AS n, sum(s.x) AS total FROM {tables} GROUP BY 1, 2"
    )
    view = world.view(query, tmp_path)
    insert(view, [stream_row(1, "first", 1), stream_row(2, "none", 1), stream_row(1, "second", 2)])
    insert(view, [stream_row(1, "first", 3)])
    found = {row[:2]: row[2:] for row in world.read(view).rows}
    assert len(found) == 700 * 2 * 2
    for name in names:
        for band in ("band one", "a second band, far away"):
            assert found[f"{name} in {band}", "first"] == ("2", "4")
            assert found[f"{name} in {band}", "second"] == ("1", "2")


def test_an_error_in_a_match_rejects_the_statement_or_skips_the_match(world: World, tmp_path: Path) -> None:
    world.tables.replace("t", [(1, "a", None, 2, True), (1, "b", None, 0, True), (1, "c", None, 4, True)])
    query = "SELECT t.name, sum(s.x / t.g) AS part FROM s JOIN t USING (k) GROUP BY t.name"
    rejecting = world.view(query, tmp_path)
    with pytest.raises(RowError) as failure:
        insert(rejecting, [stream_row(2), stream_row(1, x=8)])
    assert failure.value.sqlstate == "22012" and failure.value.row == 1
    skipping = world.view(query, tmp_path, "WITH (on_error = skip)")
    assert insert(skipping, [stream_row(2), stream_row(1, x=8)] * 50) == 50
    assert sorted(world.read(skipping).rows) == [("a", "200"), ("c", "100")]


def test_a_match_leaves_nothing_in_the_scratch_heap(world: World, tmp_path: Path) -> None:
    world.tables.replace("t", [(1, "x" * 2000, None, number, True) for number in range(300)])
    query = "SELECT max(length(repeat(t.name, 20) || upper(s.c))) AS longest FROM s JOIN t USING (k) WHERE upper(s.c) = 'ABC'"
    view = world.view(query, tmp_path)
    insert(view, [stream_row(1, "abc")] * 20)
    assert world.read(view).rows == (("40003",),)


def test_a_view_reads_the_tables_of_its_stream_pipeline_once(world: World, tmp_path: Path) -> None:
    """Tables above the grouping are read by refreshes."""
    world.view(
        "SELECT g.n FROM (SELECT t.g, count(*) AS n FROM s JOIN t USING (k) GROUP BY 1) g JOIN groups USING (g)",
        tmp_path,
    )
    assert world.tables.reads == [frozenset({"t"})]
    view = world.view("SELECT t.name, count(*) FROM s JOIN t USING (k) GROUP BY 1", tmp_path)
    assert (view.stream_tables, view.upper_tables) == (frozenset({"t"}), frozenset())
    assert view.static_versions == {"t": 1}
    (table,) = view.state.program.join_tables
    assert table.is_dense and table.rows_count < 25 and view.state.bytes_count == table.bytes_count


def test_an_error_of_a_static_pipeline_is_the_creators(world: World, tmp_path: Path) -> None:
    world.tables.replace("t", [(1, "a", None, 0, True)])
    with pytest.raises(SqlError) as failure:
        world.view(
            "SELECT d.part, count(*) FROM s JOIN (SELECT k, 1 / g AS part FROM t) d USING (k) GROUP BY 1", tmp_path
        )
    assert failure.value.sqlstate == "22012"


def test_a_changed_table_of_the_upper_part_makes_a_new_version(world: World, tmp_path: Path) -> None:
    query = "SELECT x.title, g.n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g JOIN groups x ON x.g = g.k"
    world.tables.replace("groups", [(1, "one")])
    view = world.view(query, tmp_path)
    insert(view, [stream_row(1), stream_row(2)])
    lock = threading.Lock()

    def read() -> int:
        return cut((view,), lock, Engines(world.executor, FakeClock(), world.tables), READER)["v"].number

    assert world.read(view).rows == (("one", "1"),)
    assert read() == 1
    world.tables.replace("groups", [(1, "one"), (2, "two")])
    assert view.latest is not None and not is_current(view, view.latest, world.tables)
    assert read() == 2 and read() == 2
    assert sorted(world.read(view).rows) == [("one", "1"), ("two", "1")]
    assert view.latest.table_versions == {"groups": 3}
    world.tables.replace("t", [])
    assert read() == 2, "another table"


def test_rows_meet_what_is_joined_when_they_come(world: World, tmp_path: Path) -> None:
    world.tables.replace("t", [(1, "old", None, 1, True)])
    query = "SELECT t.name, count(*) AS n FROM s JOIN t USING (k) GROUP BY t.name"
    view = world.view(query, tmp_path, "WITH (stream_join = arrival)")
    assert view.joins_at_arrival and not world.view(query, tmp_path).joins_at_arrival
    insert(view, [stream_row(1), stream_row(2)])
    (before,) = view.state.program.joins.rows
    world.tables.replace("t", [(1, "new", None, 1, True), (2, "other", None, 1, True)])
    (after,) = world.view(query, tmp_path, "WITH (stream_join = arrival)").state.program.joins.rows
    view.state.program.join_with(0, after)
    insert(view, [stream_row(1), stream_row(2)])
    assert sorted(world.read(view).rows) == [("new", "1"), ("old", "1"), ("other", "1")]
    # A checkpoint has what the rows after it meet.
    with snapshot(threading.Lock(), lambda: [view]) as taken:
        view.state.program.join_with(0, before)
        ((_, pages),) = [(found, list(pages)) for found, pages in taken.states()]
    copy = world.view(query, tmp_path, "WITH (stream_join = arrival)")
    copy.state.program.join_with(0, before)
    form = copy.state.stored_form(view.state.program.fingerprint)
    assert form is not None
    copy.state.load(pages, form)
    assert copy.state.program.joins.rows == (after,)
    insert(copy, [stream_row(2)])
    assert sorted(world.read(copy).rows) == [("new", "1"), ("old", "1"), ("other", "2")]
    with pytest.raises(ValueError, match="can't be read"):
        rows_from_bytes(b"nothing of that kind", view.state.program.pipeline.probes[0])
