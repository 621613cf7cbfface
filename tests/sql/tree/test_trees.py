"""Bound trees of typical queries, kept as text in data/trees.txt: a query, then its tree and result columns.

`python -m tests.sql.tree.test_trees` writes the trees anew; the diff is the review.
"""

from __future__ import annotations

from pathlib import Path

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from tests.sql.tree_text import tree_text

FILE = Path(__file__).parents[1] / "data" / "trees.txt"


def snapshot(query: str) -> str:
    """Return a query with its tree, as the file keeps it."""
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    bound = bind_query(statement.query, SampleCatalog(), SETTINGS, ())
    columns = ", ".join(f"{column.name} {column.type.sql_name}" for column in bound.root.schema)
    lines = [query, *(f"    {line}" for line in tree_text(bound.root)), f"    -> {columns}"]
    if bound.parameters:
        lines.append(f"    parameters: {', '.join(kind.sql_name for kind in bound.parameters)}")
    if bound.stable:
        lines.append("    stable")
    return "\n".join(lines)


def blocks() -> list[str]:
    return [block.strip("\n") for block in FILE.read_text().split("\n\n") if block.strip()]


def test_trees_are_the_kept_ones() -> None:
    for block in blocks():
        assert snapshot(block.splitlines()[0]) == block


if __name__ == "__main__":
    FILE.write_text("\n\n".join(snapshot(block.splitlines()[0]) for block in blocks()) + "\n")
