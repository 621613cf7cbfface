"""Queries in the form in which Spark evaluates their expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sql.tree.expressions import Literal
from sql.tree.relations import Limit, Relation, Scan
from sql.tree.walks import rewrite_everywhere
from sql.types.datatypes import INT8
from views.plan.hand_over import hand_over


def in_spark(root: Relation) -> Relation:
    """Return a query whose inputs are groups below a breaker, since the embedded engine computes
    what stands directly above them.
    """

    def grouped(node: Relation) -> Relation:
        return Limit(replace(node, kind="groups"), Literal(10**9, INT8), None) if isinstance(node, Scan) else node

    return rewrite_everywhere(root, grouped)


def spark_takes(root: Relation) -> bool:
    """Tell whether Spark evaluates all of a query."""
    return hand_over(in_spark(root)) is not None


def over(sql: str) -> Callable[[Mapping[str, str]], str]:
    """Return the text of Spark's SQL over the names of its inputs, which it has in braces."""
    return lambda names: sql.format(**names)
