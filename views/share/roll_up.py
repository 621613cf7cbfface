"""A first grouping over the finer groups of a state, for CREATE OR REPLACE VIEW with coarser
groups.

    kept: GROUP BY day, shop     new: GROUP BY shop                             ->  the groups by day and shop, added up by shop
                                 new: GROUP BY date_trunc('month', day)         ->  the same, by an expression of a key
                                 new: max(day), count(*) FILTER (WHERE day > x) ->  of keys, and of how many rows each stands for

Enters: a tree after the rules, and the pipeline by which a state is kept. Leaves: the tree, whose
first grouping has the keys of that pipeline; `views.share.reuse` says whether the state has its
aggregates. Must not know states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sql.tree.expressions import AggregateCall, Column, Expression
from sql.tree.relations import Aggregate, Project, Relation
from sql.tree.walks import children, map_parts
from sql.types.datatypes import INT8
from views.model.nodes import StreamPipeline
from views.model.properties import is_first_grouping
from views.model.text import aggregate_text, expression_text
from views.model.trees import meaning, rewrite_bottom_up, substitute
from views.share.reuse import Keys, NotCoveredError, over_keys
from views.share.reweighting import (
    REPEATED,
    Weighted,
    can_reweight,
    counts_rows,
    from_partials,
    from_rows,
    partial_calls,
)

ROWS = AggregateCall("count_star", (), INT8)


def roll_up(root: Relation, kept: StreamPipeline) -> Relation:
    """Return the tree with its first grouping over a grouping by the keys of `kept`.

    Raises NotCoveredError.
    """

    def over(relation: Relation) -> Relation:
        if not isinstance(relation, Aggregate) or not is_first_grouping(relation):
            return relation
        if [column.type for column in relation.input.schema] != [column.type for column in kept.row]:
            raise NotCoveredError("The new query joins the stream with other tables, or in another way.")
        return RollUp(relation, kept).relation()

    return rewrite_bottom_up(root, over)


@dataclass
class RollUp:
    """The parts of a grouping over finer groups, in the order in which they are found.

    Attributes:
        calls: the aggregates of the finer groups.
    """

    grouping: Aggregate
    kept: StreamPipeline
    calls: list[tuple[str, AggregateCall]] = field(default_factory=list)

    @property
    def keys(self) -> Keys:
        """The keys of the finer groups."""
        return self.kept.keys

    def relation(self) -> Relation:
        """Return the grouping over the finer groups. Raises NotCoveredError."""
        keys = tuple((name, self._key(key)) for name, key in self.grouping.keys)
        wanted = [self._weighted(call) for _, call in self.grouping.aggregates]
        groups = Aggregate(self.grouping.input, self.kept.keys, tuple(self.calls))
        upper = [call for weighted in wanted for call in weighted.calls]
        whole = Aggregate(groups, keys, tuple((f"rolled_up{n}", call) for n, call in enumerate(upper)))
        items: list[tuple[str, Expression]] = [
            (name, Column(place, name, key.type)) for place, (name, key) in enumerate(keys)
        ]
        place = len(keys)
        for (name, _), weighted in zip(self.grouping.aggregates, wanted, strict=True):
            found = [Column(place + n, name, call.type) for n, call in enumerate(weighted.calls)]
            items.append((name, substitute(weighted.value, found)))
            place += len(found)
        return Project(whole, tuple(items))

    def _key(self, key: Expression) -> Expression:
        over = over_keys(key, self.keys)
        if over is None:
            told = ", ".join(expression_text(one) for _, one in self.keys) or "nothing"
            raise NotCoveredError(f"The new query groups the stream in another way; it is grouped by {told}.")
        return over

    def _weighted(self, call: AggregateCall) -> Weighted:
        """Return an aggregate over the finer groups. Raises NotCoveredError."""
        if not can_reweight(call):
            raise self._refused(call)
        condition = None if call.filter is None else over_keys(call.filter, self.keys)
        if call.arguments and all(over_keys(part, self.keys) is not None for part in children(call)):
            weight = self._part(ROWS) if counts_rows(call) else None
            return from_rows(map_parts(call, lambda part: over_keys(part, self.keys)), weight)
        if call.distinct and call.function not in REPEATED:
            raise self._refused(call)
        plain = call if condition is None else replace(call, filter=None)
        weighted = from_partials(call, self._parts(partial_calls(plain)), None)
        if condition is None:
            return weighted
        return replace(weighted, calls=tuple(replace(one, filter=condition) for one in weighted.calls))

    def _parts(self, calls: Sequence[AggregateCall]) -> list[Column]:
        return [self._part(call) for call in calls]

    def _part(self, call: AggregateCall) -> Column:
        """Return the column of an aggregate of the finer groups, which is added to them if it is
        missing.
        """
        known = [_meaning(one) for _, one in self.calls]
        if _meaning(call) not in known:
            self.calls.append((f"part{len(self.calls)}", call))
            known.append(_meaning(call))
        place = known.index(_meaning(call))
        return Column(len(self.keys) + place, self.calls[place][0], call.type)

    def _refused(self, call: AggregateCall) -> NotCoveredError:
        return NotCoveredError(f"The new query needs {aggregate_text(call)}, which can't be told from what is kept.")


def _meaning(call: AggregateCall) -> AggregateCall:
    return map_parts(call, meaning)
