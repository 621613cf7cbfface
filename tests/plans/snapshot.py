"""From the text of a snapshot file to what it should hold now: every statement followed by its notices and plan, or its error.

A file is statements that end in a semicolon, each with its answer in lines that begin with '| '. Fingerprints are masked, since they change
with every generated line; Spark's SQL is shown as the executor's business, which has snapshots of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from sql.bind import bind_query
from sql.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.datatypes import BOOL, DATE, FLOAT8, INT4, INT8, TEXT, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from sql.errors import SqlError
from sql.parse import parse
from sql.relations import Relation
from sql.statements.statement import CreateView
from views.definition import define_view
from views.plan.explain import explain_plan
from views.plan.planner import plan_view
from views.protocols import TableExport

FOLDER = Path(__file__).parent
SETTINGS = SessionSettings()


def columns(**types: SqlType) -> tuple[ColumnDescription, ...]:
    return tuple(ColumnDescription(name, kind) for name, kind in types.items())


RELATIONS = {
    "sales": columns(shop=TEXT, item=SqlType("varchar", 20), n=INT4, price=numeric(10, 2), sold=TIMESTAMP, paid=BOOL),
    "flights": columns(carrier=TEXT, origin=TEXT, dest=TEXT, day=DATE, time_hour=TIMESTAMPTZ, delay=FLOAT8, miles=INT8),
}


class Relations:
    """The catalog of the snapshots."""

    def relation(self, name: str) -> RelationDescription | None:
        found = RELATIONS.get(name)
        return None if found is None else RelationDescription(name, "stream", 16384, found)

    def relation_names(self) -> Iterable[str]:
        return RELATIONS


class NoSpark:
    """An executor that only explains."""

    def run(
        self, view: str, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        raise AssertionError("EXPLAIN runs nothing")

    def explain(self, relation: Relation) -> str:
        return "..."


def rewritten(text: str) -> str:
    """Return a snapshot's text with the answers of today."""
    statements = [part.strip() for part in re.sub(r"(?m)^\|.*\n?", "", text).split(";")]
    blocks = []
    for statement in filter(None, statements):
        answers = "".join(f"| {line}".rstrip() + "\n" for line in answer(statement))
        blocks.append(f"{statement};\n{answers}")
    return "\n".join(blocks)


def answer(text: str) -> list[str]:
    """Return what EXPLAIN says of a CREATE VIEW statement."""
    try:
        (statement,) = parse(text)
        assert isinstance(statement, CreateView)
        definition = define_view(statement, 16385, SETTINGS)
        planned = plan_view(definition, bind_query(statement.query, Relations(), SETTINGS))
    except SqlError as error:
        extra = [f"{word}:  {value}" for word, value in (("DETAIL", error.detail), ("HINT", error.hint)) if value]
        return [f"ERROR:  {error.sqlstate}: {error.message}", *extra]
    lines = explain_plan(planned, definition, Path("kernels"), NoSpark())
    masked = [re.sub(r"_[0-9a-f]{12}\.py$", "_<fingerprint>.py", line) for line in lines]
    return [*(f"NOTICE:  {notice}" for notice in planned.notices), *masked]
