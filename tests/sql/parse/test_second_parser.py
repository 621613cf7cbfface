"""Our grammar against an independent one: sqlglot reads every random query as having the same
parts.

It also reads everything that the emitters print for DuckDB and Spark, so that a slip in a template
shows without an engine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import pytest
import sqlglot
from sqlglot import expressions as other

from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit.duckdb import emit_duckdb
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.parse import parse
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.select import Select
from sql.parse.syntax import Between, CaseWhen, JoinClause, Query, SelectBody, SetOperation, Subquery, Table
from sql.parse.type_names import found_type
from sql.tree.relations import Relation
from sql.types.enums import EnumType, new_enum
from tests.randomized.cases import make_case
from tests.randomized.table_columns import DOMAINS
from tests.randomized.views import SOURCE

SEEDS = range(40)
MOOD = new_enum("mood", 20_000, DOMAINS["mood"])
DATA = Path(__file__).parents[1] / "data"


# Operators of PostgreSQL that sqlglot does not know, and those that it takes for others.
UNKNOWN = re.compile(r"<<=|>>=|\?\||\?&|#-")


def random_queries(seed: int) -> list[str]:
    """Return the views' queries, and those that read views: what reads the stream itself is made of
    more than sqlglot knows.
    """
    case = make_case(seed)
    views = [view.query.replace(SOURCE, case.stream) for view in case.views]
    return [*views, *(select.text for select in case.selects if select.views and not select.text.startswith("COPY"))]


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_have_the_same_parts(seed: int) -> None:
    for text in random_queries(seed):
        if UNKNOWN.search(text):
            continue
        (statement,) = parse(text)
        assert isinstance(statement, Select)
        assert our_parts(statement.query) == other_parts(sqlglot.parse_one(text, read="postgres")), text


def test_written_queries_have_the_same_parts() -> None:
    compared = 0
    for name in ("queries.sql", "syntax_queries.sql", "syntax_trees.sql"):
        for text in (DATA / name).read_text().splitlines():
            query = our_query(text)
            # sqlglot makes a SELECT of VALUES in a set operation, and a table of the word USER.
            if query is None or "values (" in text or "from user" in text or "(select from" in text:
                continue
            try:
                theirs = sqlglot.parse_one(text, read="postgres")
            except sqlglot.ParseError:
                continue  # It knows less of PostgreSQL than we do.
            compared += 1
            assert our_parts(query) == other_parts(theirs), text
    assert compared > 400


def our_query(text: str) -> Query | None:
    """Return the query, None for other statements and for what we refuse."""
    try:
        (statement,) = parse(text)
    except (SqlError, ValueError):
        return None
    return statement.query if isinstance(statement, Select) else None


def test_printed_queries_are_read_as_the_dialect() -> None:
    read: Counter[str] = Counter()
    for seed in SEEDS:
        read += printed_and_read(seed)
    assert read["duckdb"] > 150 and read["spark"] >= 10, read


@contextmanager
def errors(*sqlstates: str) -> Iterator[None]:
    """Leave a query out that has one of these errors, and no other."""
    try:
        yield
    except SqlError as error:
        if error.sqlstate not in sqlstates:
            raise


def printed_and_read(seed: int) -> Counter[str]:
    """Return how many printed queries of a case are read, by dialect. Not printed are aggregates
    of types that PostgreSQL has none for, what reads such a view, and what Spark does not run.
    """
    case = make_case(seed)
    (stream,) = parse(f"CREATE FOREIGN TABLE {case.stream} ({case.column_list}) SERVER stream")
    assert isinstance(stream, CreateStream)
    columns = tuple(ColumnDescription(column.name, found_type(column.type, own_type)) for column in stream.columns)
    relations = {case.stream: RelationDescription(case.stream, "stream", 16384, columns)}
    read: Counter[str] = Counter()
    for view in case.views:
        with errors("42883", "0A000"):
            root = bound(view.query.replace(SOURCE, case.stream), relations)
            columns = tuple(ColumnDescription(column.name, column.type) for column in root.schema)
            relations[view.name] = RelationDescription(view.name, "view", 16385, columns)
            text = emit_spark(root, {case.stream: case.stream})
            assert isinstance(sqlglot.parse_one(text, read="spark"), other.Query), text
            read["spark"] += 1
    for query in random_queries(seed)[len(case.views) :]:
        # Only what has its parameters is ever printed.
        if "$" not in query:
            with errors("42883", "42P01"):
                text = emit_duckdb(bound(query, relations), {view.name: view.name for view in case.views})
                assert isinstance(sqlglot.parse_one(text, read="duckdb"), other.Query), text
                read["duckdb"] += 1
    return read


def own_type(written: str) -> EnumType | None:
    """Return the enum of the cases."""
    return MOOD if written == "mood" else None


@dataclass(frozen=True)
class Relations:
    """The catalog of one case."""

    by_name: Mapping[str, RelationDescription]

    def relation(self, name: str) -> RelationDescription | None:
        return self.by_name.get(name)

    def relation_names(self) -> Iterable[str]:
        return self.by_name.keys()

    def type(self, key: str) -> EnumType | None:
        return own_type(name_of(key))


def bound(text: str, relations: Mapping[str, RelationDescription]) -> Relation:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, Relations(relations), SessionSettings(), ()).root


def our_parts(query: Query) -> Counter[str]:
    """Return how often each construct stands in a query, at any depth."""
    parts: Counter[str] = Counter()
    for node in nodes(query):
        match node:
            case Query():
                parts["sort keys"] += len(node.order_by)
                parts["limits"] += node.limit is not None
                parts["common tables"] += len(node.common_tables)
                parts["tables"] += sum(len(clause.tables) for clause in node.locking)
            case SelectBody():
                parts["selects"] += 1
                parts["targets"] += len(node.targets)
                parts["wheres"] += node.where is not None
                parts["havings"] += node.having is not None
                parts["distincts"] += node.distinct or bool(node.distinct_on)
            case SetOperation():
                parts[node.operator + (" all" if node.all else "")] += 1
            case JoinClause():
                parts["joins"] += 1
            case Table():
                parts["tables"] += 1
            case CaseWhen():
                parts["cases"] += 1
            case Between():
                parts["betweens"] += 1
            case Subquery():
                parts["exists"] += node.kind == "exists"
    return +parts


def nodes(node: object) -> Iterator[object]:
    """Yield a node of the grammar and everything below it."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))


def other_parts(query: other.Expr) -> Counter[str]:
    """Return the same of sqlglot's tree."""
    parts: Counter[str] = Counter()
    for node in query.walk():
        match node:
            case other.Select():
                parts["selects"] += 1
                parts["targets"] += len(node.expressions)
                parts["wheres"] += node.args.get("where") is not None
                parts["havings"] += node.args.get("having") is not None
                parts["distincts"] += node.args.get("distinct") is not None
            case other.Join():
                # What follows a comma in FROM is a join to sqlglot, without any word.
                parts["joins"] += any(node.args.get(word) for word in ("kind", "side", "method", "on", "using"))
            case other.SetOperation():
                parts[type(node).__name__.lower() + ("" if node.args.get("distinct") else " all")] += 1
            case other.Table():
                parts["tables"] += isinstance(node.this, other.Identifier)
            case other.CTE():
                parts["common tables"] += 1
            case other.Case():
                parts["cases"] += 1
            case other.Between():
                parts["betweens"] += 1
            case other.Exists():
                parts["exists"] += 1
        if isinstance(node, other.Query):
            order = node.args.get("order")
            parts["sort keys"] += len(order.expressions) if order else 0
            parts["limits"] += node.args.get("limit") is not None
    return +parts
