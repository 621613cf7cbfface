"""A view whose state is a plain list of integers and whose upper executor is Python: what a refresh
needs, and nothing slow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

import numpy as np
import pyarrow as pa

from ringbuffer.groups.join_table import JoinTable
from ringbuffer.pages.pages import Page
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Column
from sql.tree.relations import OutputColumn, Relation, Scan
from sql.types.datatypes import INT8
from views.model.arrow_schema import arrow_schema
from views.model.definition import ViewDefinition, only_state
from views.model.nodes import FinishStep, StreamPipeline, UpperPipeline
from views.model.plan import Plan, chain
from views.model.protocols import TableExport
from views.upkeep.chain import Chain
from views.upkeep.cuts import Upkeep
from views.upkeep.join_tables import Joins
from views.upkeep.state import ViewState

SCHEMA = (OutputColumn("sum", INT8), OutputColumn("count", INT8))


class FakeState:
    """Local and global integers; exporting yields their sum and count. `failures` are raised by the
    next exports, first one first.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.local: list[int] = []
        self.merged: list[int] = []
        self.failures: list[Exception] = []
        self.swaps_count = 0
        self.join_tables: tuple[JoinTable, ...] = ()
        self.joins = Joins(())
        # It is its own program, and its own group tables.
        self.program = self.groups = self
        self.exports: list[int] = []
        self.upper = None
        self.bytes_count = self.committed = self.swapped = self.passed_us = 0
        self.upkeep = Upkeep()

    def note_commit(self) -> None:
        self.committed += 1

    def apply_rows(self, rows: list[int]) -> None:
        self.local += rows

    def drain(self) -> None:
        """Nothing waits."""

    def stored_form(self, fingerprint: str) -> str | None:
        """No state is stored in the form of an earlier version."""
        return "today's" if fingerprint == self.fingerprint else None

    def swap(self) -> list[int]:
        self.swaps_count += 1
        table, self.local = self.local, []
        return table

    def merge(self, table: Sequence[int]) -> None:
        self.merged += table

    @property
    def fingerprint(self) -> str:
        return "a sum and a count"

    @contextmanager
    def pages(self) -> Iterator[Iterator[Page]]:
        yield iter([Page("rows", np.array(self.merged, dtype=np.int64))])

    def load(self, pages: Iterable[Page], form: str = "today's") -> None:
        (page,) = pages
        if page.name != "rows":
            raise ValueError(f"no page {page.name}")
        self.local, self.merged = [], page.array.tolist()

    def reset(self) -> None:
        self.local, self.merged = [], []
        self.committed = self.swapped = self.upkeep.versions_count = 0

    def export(self, now_us: int) -> pa.Table:
        self.exports.append(now_us)
        if self.failures:
            raise self.failures.pop(0)
        return pa.table({"sum": [sum(self.merged)], "count": [len(self.merged)]}, schema=arrow_schema(SCHEMA))


class FakeClock:
    def now_us(self) -> int:
        return 5

    def monotonic_s(self) -> float:
        return 0.0


class FakeExecutor:
    """Hands its input back after calling `before`, and counts its runs and checks."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.before = before
        self.runs: list[Relation] = []
        self.checked: list[Relation] = []
        self.tokens: list[Hashable] = []

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        self.runs.append(relation)
        self.tokens.append(token)
        self.before()
        return inputs["groups"]

    def run_embedded(
        self, token: Hashable, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        return self.run(token, relation, inputs, tables)

    def check(self, token: Hashable, relation: Relation) -> None:
        self.checked.append(relation)
        self.before()

    def explain(self, relation: Relation) -> Mapping[str, str]:
        return {"Spark SQL": "SELECT *\nFROM groups"}


def make_view(name: str = "v", *, upper: bool = False, time_dependent: bool = False) -> tuple[Chain, FakeState]:
    """Return a view over stream `numbers(n bigint)` with sum and count, and its state."""
    calls = (
        ("sum", AggregateCall("sum", (Column(0, "n", INT8),), INT8)),
        ("count", AggregateCall("count_star", (), INT8)),
    )
    stream = StreamPipeline("numbers", (OutputColumn("n", INT8),), (), (), calls, SCHEMA)
    items = tuple((column.name, Column(index, column.name, INT8)) for index, column in enumerate(SCHEMA))
    finish = FinishStep(SCHEMA, (), items, SCHEMA)
    plan = chain(stream, finish, UpperPipeline(Scan("groups", "groups", SCHEMA)) if upper else None, None)
    identity = only_state(ViewDefinition(name, 16385, "CREATE VIEW ...", "...", 0, (), SessionSettings()))
    state = FakeState(plan)
    view = Chain(identity, SCHEMA, cast(ViewState, state), time_dependent, ())
    return view, state


def cancelled() -> SqlError:
    return SqlError("57014", "canceling statement due to user request")
