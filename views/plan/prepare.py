"""A query over streams in the form that is cut into pipelines: each stream under a first grouping.

One state can answer such a grouping. Enters: a bound tree, before it is known whether its plan is a
chain or has several states. Leaves: an equal tree, in which set operations, DISTINCT ON, grouping
sets, DISTINCT in aggregates, UNION ALL and subqueries over streams are first groupings of one
stream each, with the rest above them, and subqueries over tables are joins. An operator that no
step knows stays as it is, and is refused later. The same tree yields the same form, since a view's
states are found again in it by their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.bind.sharing import written_out
from sql.errors import SqlError
from sql.tree.relations import Aggregate, Relation
from sql.tree.walks import rewrite_everywhere, walk_relation
from views.codegen.grouping import has_room
from views.model.definition import JoinChoice
from views.model.properties import is_ungrouped, scans
from views.model.trees import relation_uses_now
from views.plan.collected_lists import collected_lists
from views.plan.eager.grouping import EagerGrouping
from views.plan.eager.sessions import SessionGroups
from views.plan.first_groupings import first_groupings, scanned_rows, with_scans
from views.plan.kept_rows import KeptRows
from views.plan.packed_keys import packed_keys
from views.plan.reduce_groups import reduce_groups
from views.plan.rules.anti_joins import anti_joins
from views.plan.rules.combine_groupings import combine_groupings, split_unions
from views.plan.rules.distinct_to_grouping import grouped
from views.plan.rules.drop_order_by import drop_order_by
from views.plan.rules.first_rows import first_rows
from views.plan.rules.group_set_operations import group_set_operations
from views.plan.rules.interval_totals import interval_totals
from views.plan.rules.join_subqueries import join_subqueries
from views.plan.rules.separate_groupings import separate_distinct, separate_sets
from views.plan.rules.subquery_grouping import group_subqueries
from views.plan.rules.unnest_laterals import unnest_laterals

# Of one operator each, whose inputs have been through all of them.
BEFORE = (unnest_laterals, join_subqueries, first_rows, grouped, group_set_operations, split_unions)
# Each sees the groupings that those before it have made. Eager grouping comes first: what it groups
# may be a UNION ALL again.
AFTER = (separate_sets, collected_lists, separate_distinct, split_unions, combine_groupings, packed_keys)


@dataclass(frozen=True)
class Prepared:
    """A prepared query.

    Attributes:
        groupings: whose states the plan keeps below the rest of the query, none: it is a chain.
        notices: for people, the columns by which streams are grouped besides those of the query,
            and the groups that are not kept.
        is_eager: eager grouping has made its groupings.
    """

    root: Relation
    groupings: tuple[Relation, ...]
    notices: tuple[str, ...]
    is_eager: bool

    @property
    def rows(self) -> tuple[Relation, ...]:
        """The groupings with the columns that the query above them scans."""
        return tuple(map(scanned_rows, self.groupings))

    def above(self, names: Sequence[str]) -> Relation:
        """Return the query above the groupings, which scans a view of each name in their places.

        It has no order: who reads the view gives one.
        """
        return with_scans(drop_order_by(self.root), self.groupings, names)


def prepared(root: Relation, freeze_tables: bool = False) -> Relation:
    """Return a prepared query whose streams are grouped where the query groups them."""
    return _prepared(root, EagerGrouping(JoinChoice(eager_grouping=False, freeze_tables=freeze_tables)))


def prepared_view(root: Relation, joins: JoinChoice, is_above: bool = False) -> Prepared:
    """Return a prepared query, with eager grouping. Raises 0A000 where that is refused.

    is_above: the view is stored with a query above its states, also where a chain would be enough
    now.
    """
    eager = EagerGrouping(joins)
    form = _prepared(root, eager)
    groupings = first_groupings(form, eager.is_made or is_above)
    return Prepared(form, groupings, tuple(dict.fromkeys(eager.notices)), eager.is_made)


def _prepared(root: Relation, eager: EagerGrouping) -> Relation:
    streams = frozenset(scans(root, "stream"))
    if not streams:
        return root
    root = rewrite_everywhere(written_out(root), interval_totals)

    sessions = SessionGroups()

    def before(relation: Relation) -> Relation:
        for step in (*BEFORE, sessions.step):
            made = step(relation)
            if step is first_rows and made is not relation and not _keeps_first_rows(made, relation, eager.choice):
                continue
            relation = made
        return relation

    root = group_subqueries(rewrite_everywhere(root, anti_joins), streams)
    rows = KeptRows(eager.choice.stream_join == "arrival")
    root = rows.of(rewrite_everywhere(root, before))
    eager.notices += [*sessions.notices, *rows.notices]
    for step in (eager.step, *AFTER):
        root = rewrite_everywhere(root, step)
    if eager.choice.freeze_tables:
        root, reductions = reduce_groups(root)
        eager.notices += reductions
    return root


def _keeps_first_rows(made: Relation, relation: Relation, choice: JoinChoice) -> bool:
    """Tell whether the groupings with first rows that an operator has become are those of stream
    pipelines; otherwise all rows are kept.
    """
    before = set(map(id, walk_relation(relation)))
    for part in walk_relation(made):
        if id(part) in before or not isinstance(part, Aggregate) or not is_ungrouped(part.input):
            continue
        if relation_uses_now(part) or not has_room(tuple(call for _, call in part.aggregates)):
            return False
        try:
            if EagerGrouping(replace(choice, eager_grouping=True)).step(part) is not part:
                return False
        except SqlError:
            return False
    return True
