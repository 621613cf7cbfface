"""Answers of EXPLAIN to each statement of the `.txt` files beside this one: notices and plan, or
the error.

Fingerprints are masked, since they change with every generated line; Spark's SQL is left out:
tests/sql/emit has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import Relation
from sql.types.datatypes import BOOL, DATE, FLOAT8, INT4, INT8, TEXT, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric
from views.codegen.state_size import kernel_file_name
from views.explain.pipelines import Strand, plan_lines
from views.model.definition import define_view, only_state
from views.model.protocols import TableExport
from views.plan.hand_over import hand_over
from views.plan.planner import plan_view

FOLDER = Path(__file__).parent
SETTINGS = SessionSettings()


def columns(**types: SqlType) -> tuple[ColumnDescription, ...]:
    return tuple(ColumnDescription(name, kind) for name, kind in types.items())


RELATIONS = {
    "sales": columns(shop=TEXT, item=SqlType("varchar", 20), n=INT4, price=numeric(10, 2), sold=TIMESTAMP, paid=BOOL),
    "lineitem": columns(l_orderkey=INT8, l_extendedprice=numeric(15, 2), l_discount=numeric(15, 2), l_shipdate=DATE),
    "flights": columns(carrier=TEXT, origin=TEXT, dest=TEXT, day=DATE, time_hour=TIMESTAMPTZ, delay=FLOAT8, miles=INT8),
}


TABLES = {
    "shops": columns(shop=TEXT, city=TEXT, region=INT4, opened=DATE),
    "regions": columns(id=INT4, name=TEXT, area=numeric(8, 1)),
    "carriers": columns(code=TEXT, name=TEXT),
    "customer": columns(c_custkey=INT4, c_mktsegment=SqlType("varchar", 10)),
    "orders": columns(o_orderkey=INT8, o_custkey=INT4, o_orderdate=DATE, o_shippriority=INT4),
}


class Relations:
    """The catalog of the snapshots."""

    def relation(self, name: str) -> RelationDescription | None:
        found = RELATIONS.get(name)
        if found is not None:
            return RelationDescription(name, "stream", 16384, found)
        return RelationDescription(name, "table", 16385, TABLES[name]) if name in TABLES else None

    def relation_names(self) -> Iterable[str]:
        return (*RELATIONS, *TABLES)


class NoSpark:
    """An executor that only explains."""

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        raise AssertionError("EXPLAIN runs nothing")

    def check(self, token: Hashable, relation: Relation) -> None:
        raise AssertionError("EXPLAIN runs nothing")

    def explain(self, relation: Relation) -> Mapping[str, str]:
        handed = hand_over(relation)
        if handed is None:
            return {"DuckDB SQL": "..."}
        return {**{f"DuckDB SQL of {name}": "..." for name in handed.computed}, "Spark SQL": "..."}


def answer(text: str) -> list[str]:
    """Return what EXPLAIN says of a CREATE VIEW statement."""
    try:
        (statement,) = parse(text)
        assert isinstance(statement, CreateView)
        definition = define_view(statement, 16385, SETTINGS)
        planned = plan_view(definition, bind_query(statement.query, Relations(), SETTINGS))
        kernel = Path("kernels") / kernel_file_name(planned.plan.maintained)
        strand = Strand(only_state(definition), kernel, planned.time_dependent)
        lines = plan_lines(planned.plan, [strand], NoSpark())
    except SqlError as error:
        extra = [f"{word}:  {value}" for word, value in (("DETAIL", error.detail), ("HINT", error.hint)) if value]
        return [f"ERROR:  {error.sqlstate}: {error.message}", *extra]
    masked = [re.sub(r"_[0-9a-f]{32}\.py$", "_<fingerprint>.py", line) for line in lines]
    return [*(f"NOTICE:  {notice}" for notice in planned.notices), *masked]
