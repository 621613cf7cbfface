"""Groups that have lost all of their rows are in no answer.

    sum(y) by k  ->  sum(y), count(*) by k, of which the count is above 0

A grouping without keys has its one row, whatever is removed.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall, Call, Column, Literal
from sql.tree.relations import Aggregate, Filter, Project, Relation
from sql.types.datatypes import BOOL, INT8
from views.model.properties import is_first_grouping
from views.model.steps import unique_names
from views.model.trees import columns_of_schema

ROWS = "rows"


def keep_live_groups(relation: Relation) -> Relation:
    """Return an operator as it is, or the groups of rows that have some."""
    if not isinstance(relation, Aggregate) or not is_first_grouping(relation) or not relation.keys:
        return relation
    name = unique_names([*(column.name for column in relation.schema), ROWS])[-1]
    counted = replace(relation, aggregates=(*relation.aggregates, (name, AggregateCall("count_star", (), INT8))))
    place = Column(len(relation.schema), name, INT8)
    live = Filter(counted, Call("gt", (place, Literal(0, INT8)), BOOL))
    return Project(live, columns_of_schema(relation))
