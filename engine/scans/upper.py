"""The part of a SELECT above the groups of streams, in Spark, from `min_spark_groups` groups on.

Enters: a query that reads groups, and the groups. Leaves: its rows, or None where the embedded
engine answers: nothing above the groups is real work, the query reads anything but groups and
tables, or Spark does not run or could not answer as PostgreSQL does. Must not scan streams.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

import pyarrow as pa

from engine.commit.transaction import Transaction
from engine.spark.upper import SparkUpperExecutor
from engine.tables.sequence_functions import uses_sequences
from engine.tables.table_source import TransactionTables
from sql.bind.sharing import is_shared
from sql.errors import SqlError
from sql.tree.relations import Filter, Project, Relation, Scan
from sql.tree.walks import all_relations, scans
from views.model.protocols import COLD
from views.plan.checks import check_heights
from views.plan.hand_over import hand_over

LEAVES = ("rows", "table")


def rows_above(
    upper: SparkUpperExecutor | None,
    transaction: Transaction,
    root: Relation,
    inputs: Mapping[str, pa.Table],
    groups_min: int,
    token: Hashable,
    count: Callable[[str], None] | None = None,
) -> pa.Table | None:
    """Return the rows of a query over groups, in order; None where the embedded engine answers.

    upper: None where Spark would be waited for; groups_min: with fewer groups, or with -1, the
    result is None. count: called with the way in which the work was done, as
    `views.model.protocols` has them. Raises SqlError.
    """
    if groups_min < 0 or upper is None:
        return None
    told = count or (lambda how: None)
    leaves = scans(root)
    groups = {scan.name: inputs[scan.name] for scan in leaves if scan.kind == "rows"}
    is_small = not groups or sum(rows.num_rows for rows in groups.values()) < groups_min
    if is_small or not is_for_spark(root):
        return None
    names = [scan.name for scan in leaves if scan.kind == "table"]
    try:
        if upper.is_cold(groups.values()):
            told(COLD)
            return None
        tables = {} if transaction.tables is None else TransactionTables(transaction.tables).read_all(names)
        return upper.run(token, root, groups, tables, told)
    except SqlError as error:
        if error.sqlstate != "0A000":
            raise
        return None


def is_for_spark(root: Relation) -> bool:
    """Tell whether a query over groups is real work that Spark does as PostgreSQL does."""
    if (
        is_shared(root)
        or not is_work(root)
        or uses_sequences(root)
        or any(scan.kind not in LEAVES for scan in scans(root))
    ):
        return False
    try:
        check_heights(root)
    except SqlError:
        return False
    return hand_over(root) is not None


def is_work(root: Relation) -> bool:
    """Tell whether a query does more than filter groups and compute values of each group."""
    return any(not isinstance(node, Scan | Filter | Project) for node in all_relations(root))
