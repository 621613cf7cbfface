"""Our grammar against an independent one: sqlglot reads every random query as having the same parts.

It also reads everything that the emitters print for DuckDB and Spark, so that a slip in a template shows without an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest
import sqlglot
from sqlglot import expressions as other

from sql.bind.query import bind_query
from sql.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit_duckdb import emit_duckdb
from sql.emit_spark import emit_spark
from sql.parse import parse
from sql.relations import Relation
from sql.statements.statement import CreateStream, Select
from sql.syntax import Derived, Query, SelectBody
from tests.randomized.cases import make_case
from tests.randomized.views import SOURCE

SEEDS = range(40)


def random_queries(seed: int) -> list[str]:
    case = make_case(seed)
    views = [view.query.replace(SOURCE, case.stream) for view in case.views]
    return [*views, *(select.text for select in case.selects if not select.text.startswith("COPY"))]


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_have_the_same_parts(seed: int) -> None:
    for text in random_queries(seed):
        (statement,) = parse(text)
        assert isinstance(statement, Select)
        assert our_parts(statement.query) == other_parts(sqlglot.parse_one(text, read="postgres")), text


@pytest.mark.parametrize("seed", SEEDS)
def test_printed_queries_are_read_as_the_dialect(seed: int) -> None:
    case = make_case(seed)
    (stream,) = parse(f"CREATE FOREIGN TABLE {case.stream} ({case.column_list}) SERVER stream")
    assert isinstance(stream, CreateStream)
    columns = tuple(ColumnDescription(column.name, column.type) for column in stream.columns)
    relations = {case.stream: RelationDescription(case.stream, "stream", 16384, columns)}
    for view in case.views:
        root = bound(view.query.replace(SOURCE, case.stream), relations)
        columns = tuple(ColumnDescription(column.name, column.type) for column in root.schema)
        relations[view.name] = RelationDescription(view.name, "view", 16385, columns)
        text = emit_spark(root, {case.stream: case.stream})
        assert isinstance(sqlglot.parse_one(text, read="spark"), other.Query), text
    for query in random_queries(seed)[len(case.views) :]:
        if "$" in query:
            continue  # Only what has its parameters is ever printed.
        text = emit_duckdb(bound(query, relations), {view.name: view.name for view in case.views})
        assert isinstance(sqlglot.parse_one(text, read="duckdb"), other.Query), text


@dataclass(frozen=True)
class Relations:
    """The catalog of one case."""

    by_name: Mapping[str, RelationDescription]

    def relation(self, name: str) -> RelationDescription | None:
        return self.by_name.get(name)

    def relation_names(self) -> Iterable[str]:
        return self.by_name.keys()


def bound(text: str, relations: Mapping[str, RelationDescription]) -> Relation:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(relations), SessionSettings(), ()).root


def our_parts(query: Query) -> list[tuple[int, bool, int, bool, int, bool]]:
    """Return (targets, WHERE, group keys, HAVING, sort keys, LIMIT) of a query and of the derived tables in it."""
    body = query.body
    assert isinstance(body, SelectBody)
    parts = [
        (
            len(body.targets),
            body.where is not None,
            len(body.group_by),
            body.having is not None,
            len(query.order_by),
            query.limit is not None,
        )
    ]
    for item in body.from_items:
        if isinstance(item, Derived):
            parts += our_parts(item.query)
    return parts


def other_parts(query: other.Expr) -> list[tuple[int, bool, int, bool, int, bool]]:
    assert isinstance(query, other.Select)
    group, order, source = query.args.get("group"), query.args.get("order"), query.args.get("from_")
    parts = [
        (
            len(query.expressions),
            query.args.get("where") is not None,
            len(group.expressions) if group else 0,
            query.args.get("having") is not None,
            len(order.expressions) if order else 0,
            query.args.get("limit") is not None,
        )
    ]
    if source is not None and isinstance(source.this, other.Subquery):
        parts += other_parts(source.this.this)
    return parts
