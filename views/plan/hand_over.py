"""The rows that Spark gets: what stands below its first breaker is computed before, by the embedded
engine, so that Spark reads plain columns and has no function but its own.

Enters: an upper pipeline. Leaves: the relation that Spark runs, and the relations that are computed
for it. A pipeline that has an expression between two breakers which Spark can't evaluate as
PostgreSQL does, and a pipeline of tables alone, is for the embedded engine as a whole. Must not run
anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sql.bind.readers import open_expressions
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.functions.catalog import OF_CATALOG
from sql.functions.volatility import is_fixed
from sql.tree.expressions import Cast, Column, Expression, Subquery
from sql.tree.relations import Aggregate, Filter, Join, Project, Recursive, Relation, Scan, TableFunction
from sql.tree.walks import all_relations, children, map_parts, open_columns, scans
from sql.types.datatypes import OIDS_OF_NAMES
from views.model.steps import unique_names
from views.model.trees import columns_of_schema, inputs, walk, with_inputs

# The kind of the scans of what is computed before.
COMPUTED = "computed"
ROWS_READ = frozenset({"groups", "rows", "view", "table"})


@dataclass(frozen=True)
class HandOver:
    """The work of Spark and of the embedded engine on one pipeline.

    Attributes:
        relation: what Spark runs.
        computed: what the embedded engine computes before, by the names of the scans of it.
    """

    relation: Relation
    computed: Mapping[str, Relation]


@lru_cache(maxsize=256)
def hand_over(root: Relation) -> HandOver | None:
    """Return what Spark does of a pipeline in which the time is known; None: nothing."""
    if reads_tables_alone(root):
        return None
    taken = [scan.name for scan in scans(root)]
    computed: dict[str, Relation] = {}

    def plain(node: Relation) -> Relation:
        if isinstance(node, Scan) or not _is_computed_before(node):
            if isinstance(node, Recursive):
                return node
            node = map_parts(with_joined_values(node), lambda part: None, plain)
            return with_inputs(node, [plain(part) for part in inputs(node)])
        name = unique_names([*taken, *computed, COMPUTED])[-1]
        computed[name] = node
        return Scan(name, COMPUTED, node.schema)

    relation = plain(root)
    if isinstance(relation, Scan):
        return None
    try:
        emit_spark(relation, {scan.name: scan.name for scan in scans(relation)})
    except SqlError as error:
        if error.sqlstate != "0A000":
            raise
        return None
    return HandOver(relation, computed)


def with_joined_values(node: Relation) -> Relation:
    """Return an operator with the totals of groups that its expressions ask for, which no row has a
    part in, joined to its input.

    Spark keeps the value of a subquery, and would plan a query with one anew for each run.
    """
    if not isinstance(node, Filter | Project):
        return node
    below, values = node.input, dict[Expression, Expression]()
    for part in dict.fromkeys(part for item in children(node) for part in walk(item)):
        if isinstance(part, Subquery) and part.kind == "scalar" and not part.arguments and _is_total(part.relation):
            (column,) = part.relation.schema
            values[part] = Column(len(below.schema), column.name, column.type)
            below = Join(below, part.relation, "cross", None)
    if not values:
        return node
    return Project(map_parts(replace(node, input=below), values.get), columns_of_schema(node))


def _is_total(relation: Relation) -> bool:
    """Tell whether a relation has one row, made of groups."""
    below = relation
    while isinstance(below, Project):
        below = below.input
    is_one = isinstance(below, Aggregate) and not below.keys and below.sets is None
    return is_one and not reads_tables_alone(relation) and not any(True for _ in open_columns(relation))


def reads_tables_alone(relation: Relation) -> bool:
    """Tell whether a relation reads no groups."""
    return all(scan.kind == "table" for scan in scans(relation))


def is_same_for_all(relation: Relation) -> bool:
    """Tell whether the rows of a relation in which the time is known are the same for all
    readers.
    """
    return not any(True for _ in of_readers(relation))


def of_readers(relation: Relation) -> Iterator[Expression | TableFunction]:
    """Yield what asks for a setting, the session or the catalog of the reader of a relation."""
    yield from open_expressions(relation)
    for part in all_relations(relation):
        if isinstance(part, TableFunction) and any(name in OF_CATALOG for name, _ in part.calls):
            yield part
        yield from (node for item in children(part) for node in walk(item) if not _is_plain(node))


def _is_plain(node: Expression) -> bool:
    if isinstance(node, Cast) and not OIDS_OF_NAMES.keys().isdisjoint({node.type.family, node.operand.type.family}):
        return False
    return is_fixed(node, and_stable=False)


def _is_computed_before(node: Relation) -> bool:
    """Tell whether a part stands below Spark's first breaker: it has no more rows than what it
    reads, or than its tables have groups.
    """
    if not is_same_for_all(node) or any(True for _ in open_columns(node)):
        return False
    below = node
    while isinstance(below, Filter | Project):
        below = below.input
    if isinstance(below, Scan):
        return below.kind in ROWS_READ and all(scan.kind in ROWS_READ for scan in scans(node))
    return not isinstance(below, Join) and reads_tables_alone(node)
