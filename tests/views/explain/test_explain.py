"""EXPLAIN of a SELECT over continuous views: which version of which view, and the engine's SQL."""

from __future__ import annotations

import threading

from sql.tree.relations import BoundQuery, Join, Relation, Scan
from sql.types.datatypes import INT8
from tests.views.building import col, compare
from tests.views.fakes import SCHEMA, FakeClock, FakeExecutor, make_view
from views.explain.pipelines import explain_select
from views.model.protocols import NO_SOURCE
from views.upkeep.refresh import Engines, Reader, cut


class Printer:
    def explain(self, root: Relation) -> str:
        return "SELECT *\nFROM one"


def test_versions_of_all_views_are_named() -> None:
    one, two, three = make_view("one")[0], make_view("two")[0], make_view("three", time_dependent=True)[0]
    engines = Engines(FakeExecutor(), FakeClock(), NO_SOURCE)
    cut((one, two), threading.Lock(), engines, Reader(0, lambda: None))
    two.state.groups.note_commit()
    left, right = Scan("one", "view", SCHEMA), Scan("two", "view", SCHEMA)
    both = Join(left, right, "inner", compare("eq", col(left, "sum"), col(right, "sum")))
    assert explain_select(BoundQuery(both, (), frozenset({"one", "two"}), False), (one, two, three), Printer()) == [
        "Query on stored versions, in the embedded engine (DuckDB)",
        "  Join: inner on sum = sum",
        "    Scan view one",
        "    Scan view two",
        "  DuckDB SQL:",
        "    SELECT *",
        "    FROM one",
        "All views are cut at one position per stream, between two commits",
        "View one: version 1 is used again, 1 row, nothing was committed since",
        "View two: version 1 is 1 statement old, a read makes version 2",
        "View three: refreshed at every read, since it uses now()",
    ]
    assert col(left, "sum").type == INT8


def test_a_view_never_read_has_no_version() -> None:
    view = make_view("one")[0]
    lines = explain_select(BoundQuery(Scan("one", "view", SCHEMA), (), frozenset({"one"}), False), (view,), Printer())
    assert lines[-1] == "View one: no version yet, the first read makes version 1"
