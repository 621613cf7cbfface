"""Answers that planners get are stored with a state; a restart or an heir is planned by them."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import BoundQuery
from tests.plans.snapshot import SETTINGS, Relations
from views.model.definition import StateDefinition, define_view, only_state
from views.model.protocols import NO_STATISTICS
from views.model.told import Told
from views.plan.planner import PlannedView
from views.upkeep.chain import Chain
from views.upkeep.lifecycle import planned_over

TWO_TABLES = (
    "SELECT s.city, r.name, count(*) FROM sales, shops s, regions r "
    "WHERE sales.shop = s.shop AND sales.n = r.id GROUP BY 1, 2"
)


class Counts:
    """The rows of some tables."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts

    def rows_count(self, name: str) -> int | None:
        return self.counts.get(name)


def view(query: str = TWO_TABLES) -> tuple[StateDefinition, BoundQuery]:
    (statement,) = parse(f"CREATE VIEW v AS {query}")
    assert isinstance(statement, CreateView)
    return only_state(define_view(statement, 16385, SETTINGS)), bind_query(statement.query, Relations(), SETTINGS)


def probed(planned: PlannedView) -> list[str]:
    return [name for pipeline in planned.plan.of_kind("static") for name in sorted(pipeline.sources)]


def test_the_smaller_table_is_probed_first_where_all_sizes_are_known() -> None:
    identity, bound = view()
    for counts, first in (({"shops": 9, "regions": 5}, "regions"), ({"shops": 5, "regions": 9}, "shops")):
        planned = planned_over(identity, bound, None, True, Counts(**counts))
        assert probed(planned)[0] == first and planned.told == (counts["shops"], counts["regions"])
    for counts in ({}, {"regions": 1}):
        assert probed(planned_over(identity, bound, None, True, Counts(**counts))) == ["shops", "regions"]


def test_a_restart_plans_by_what_the_first_planner_was_told() -> None:
    identity, bound = view()
    assert planned_over(identity, bound, None, True, NO_STATISTICS).told == ()
    assert "told" not in identity.to_dict(), "older versions read what has no statistics"
    planned = planned_over(identity, bound, None, True, Counts(shops=9, regions=5))
    stored = json.dumps(replace(identity, told=planned.told).to_dict())
    restored = StateDefinition.from_dict(json.loads(stored), identity.view)
    again = planned_over(restored, bound, None, False, Counts(shops=1, regions=5))
    assert (again.plan, again.told) == (planned.plan, planned.told)


def test_an_heir_is_planned_by_what_its_predecessor_was_told() -> None:
    identity, bound = view()
    planned = planned_over(identity, bound, None, True, Counts(shops=9, regions=5))
    identity = replace(identity, told=planned.told)
    before = cast(Chain, SimpleNamespace(identity=identity, definition=identity.view, plan=planned.plan))
    _, coarser = view(TWO_TABLES.replace("s.city, ", "").replace("1, 2", "1"))
    heir = planned_over(view()[0], coarser, before, True, Counts(shops=1, regions=5))
    assert heir.plan.maintained == planned.plan.maintained and heir.told == planned.told


def test_answers_that_are_left_come_first_and_nothing_is_kept_of_nothing() -> None:
    told = Told(Counts(a=1, b=2), [7, None])
    assert [told.rows_count(name) for name in ("a", "b", "b", "c")] == [7, None, 2, None]
    assert told.answers == (7, None, 2, None)
    told = Told(Counts())
    assert told.rows_count("a") is None and told.answers == ()
