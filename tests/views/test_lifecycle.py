"""Lives of views by build_view: from SQL text to a view that takes rows and gives versions, with
the real kernels and a Python executor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from ringbuffer.memory.arrow import morsel_from_arrow
from sql.bind import bind_query
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import Relation
from tests.plans.snapshot import RELATIONS, SETTINGS, Relations
from tests.views.fakes import FakeClock, FakeExecutor
from views.codegen.state_size import kernel_file_name
from views.model.arrow_schema import arrow_type, stream_layout
from views.model.definition import define_view, only_state
from views.model.protocols import NO_SOURCE, TableExport, VersionExecutor
from views.upkeep.chain import Chain, ViewPhase
from views.upkeep.lifecycle import Oracles, build_view
from views.upkeep.refresh import Engines, Reader, cut

ROWS = [("a", 1, "1.00"), ("b", 2, "2.50"), ("a", 3, None), ("a", 4, "0.25")]


def build(text: str, folder: Path, executor: VersionExecutor) -> Chain:
    (statement,) = parse(text)
    assert isinstance(statement, CreateView)
    bound = bind_query(statement.query, Relations(), SETTINGS)
    return build_view(only_state(define_view(statement, 16385, SETTINGS)), bound, Oracles(folder, executor))


def insert(view: Chain) -> None:
    """Commit `ROWS` as (shop, n, price) of sales; the other columns are NULL."""
    given = {"shop": [row[0] for row in ROWS], "n": [row[1] for row in ROWS], "price": [row[2] for row in ROWS]}
    arrays = []
    for column in RELATIONS["sales"]:
        kind = arrow_type(column.type)
        values = pa.array(given.get(column.name, [None] * len(ROWS)))
        arrays.append(values.cast(kind) if column.name in given else pa.nulls(len(ROWS), kind))
    table = pa.table(arrays, names=[column.name for column in RELATIONS["sales"]])
    morsel = morsel_from_arrow(table, stream_layout(RELATIONS["sales"]))
    view.state.program.check(morsel, 0)
    view.state.apply(morsel, 0)
    view.state.groups.note_commit()


def rows(view: Chain, executor: VersionExecutor) -> list[dict[str, object]]:
    engines = Engines(executor, FakeClock(), NO_SOURCE)
    version = cut((view,), threading.Lock(), engines, Reader(0, lambda: None))[view.definition.name]
    return sorted(version.table.to_pylist(), key=str)


def test_a_view_is_built_and_read(tmp_path: Path) -> None:
    executor = FakeExecutor()
    view = build(
        "CREATE VIEW v (s, total) AS SELECT shop, sum(n) FROM sales GROUP BY shop HAVING sum(n) > 2", tmp_path, executor
    )
    assert view.lifecycle.phase == ViewPhase.BUILDING
    assert view.description.columns[0].name == "s"
    assert view.stream_name == "sales"
    assert view.state.kernel_paths[0] == tmp_path / kernel_file_name(view.plan.stream), "EXPLAIN names the file"
    assert view.state.kernel_paths[0].is_file()
    assert rows(view, executor) == []
    insert(view)
    assert rows(view, executor) == [{"s": "a", "total": 8}]
    insert(view)
    assert rows(view, executor) == [{"s": "a", "total": 16}, {"s": "b", "total": 4}]
    assert executor.runs == [], "nothing stands above the first breaker"


def test_the_upper_pipeline_is_warmed_up_and_its_tail_finishes(tmp_path: Path) -> None:
    class Averaging(FakeExecutor):
        """Groups everything: sum and count of the one column."""

        def run(
            self,
            token: Hashable,
            relation: Relation,
            inputs: Mapping[str, pa.Table],
            tables: Mapping[str, TableExport],
            told: Callable[[str], None] = lambda how: None,
        ) -> pa.Table:
            self.runs.append(relation)
            (column,) = inputs["groups"].columns
            values = [value for value in column.to_pylist() if value is not None]
            kinds = [arrow_type(output.type) for output in relation.schema]
            answers = (sum(values) if values else None, len(values))
            arrays = [pa.array([answer], type=kind) for answer, kind in zip(answers, kinds, strict=True)]
            return pa.table(arrays, names=["total", "count"])

    executor = Averaging()
    view = build(
        "CREATE VIEW v AS SELECT avg(t) FROM (SELECT sum(n) AS t FROM sales GROUP BY shop) g", tmp_path, executor
    )
    assert (len(executor.checked), executor.runs) == (1, []), "CREATE VIEW runs no upper pipeline"
    assert rows(view, executor) == [{"avg": None}]
    insert(view)
    (row,) = rows(view, executor)
    assert row["avg"] == {"unscaled": 50000000000000000, "scale": 16}


def test_an_error_of_the_empty_run_is_left_to_the_reader_and_a_refusal_is_not(tmp_path: Path) -> None:
    text = "CREATE VIEW v AS SELECT count(*) FROM (SELECT shop FROM sales GROUP BY shop) g"

    def failing(sqlstate: str) -> FakeExecutor:
        def fail() -> None:
            raise SqlError(sqlstate, "as Spark says")

        return FakeExecutor(fail)

    assert build(text, tmp_path, failing("22012")).lifecycle.phase == ViewPhase.BUILDING
    with pytest.raises(SqlError, match="0A000"):
        build(text, tmp_path, failing("0A000"))


def test_what_neither_engine_can_do_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SqlError) as failure:
        build("CREATE VIEW v AS SELECT count(*) FROM sales WHERE initcap(shop) = 'A'", tmp_path, FakeExecutor())
    assert failure.value.sqlstate == "0A000"
    assert "initcap" in failure.value.message
