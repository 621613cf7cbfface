"""A stream and some tables in PostgreSQL and in Arrow, and views that join them: what the tests of
joined views share.

The oracle gets the rows of stream and tables and the view's query as it is written; we build the
view, put the rows through its kernels in pieces, and read it. Tables are a fake source; the
executor is given (the embedded engine, or Spark).
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa

from engine.embedded.query_engine import QueryEngine
from ringbuffer.memory.arrow import slice_morsel
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import OutputColumn, Relation, Schema
from sql.tree.walks import scans
from sql.types.datatypes import BOOL, DATE, FLOAT8, INT2, INT4, INT8, TEXT, SqlType, numeric
from tests.engine.answers import Answer, arrow_column, output_rows
from tests.views.fakes import FakeClock
from views.model.arrow_schema import arrow_schema
from views.model.definition import define_view, only_state
from views.model.protocols import TableExport, VersionExecutor
from views.upkeep.chain import Chain
from views.upkeep.export.to_arrow import from_arrow
from views.upkeep.lifecycle import Oracles, build_view
from views.upkeep.refresh import Engines, Reader, cut

SETTINGS = SessionSettings()
VARCHAR = SqlType("varchar", 40)
# name -> (kind, columns)
RELATIONS: dict[str, tuple[str, dict[str, SqlType]]] = {
    "s": ("stream", {"k": INT4, "b": INT8, "c": TEXT, "n": numeric(8, 2), "f": FLOAT8, "d": DATE, "x": INT4}),
    "t": ("table", {"k": INT8, "name": TEXT, "w": numeric(12, 4), "g": INT2, "flag": BOOL}),
    "u": ("table", {"c": VARCHAR, "d": DATE, "v": TEXT, "k": INT4}),
    "p": ("table", {"n": numeric(6, 1), "f": FLOAT8, "label": TEXT}),
    "r": ("table", {"lo": INT4, "hi": INT4, "band": TEXT}),
    "groups": ("table", {"g": INT2, "title": TEXT}),
    "empty": ("table", {"k": INT4, "name": TEXT}),
}
STREAM_ROWS_COUNT = 600
TEXTS = (
    "a",
    "b",
    "",
    "a text of more than twelve bytes",
    "another text of more than twelve bytes",
    "exactly 12 b",
    "é☃",
)


class Relations:
    """The catalog of these relations."""

    def relation(self, name: str) -> RelationDescription | None:
        if name not in RELATIONS:
            return None
        kind, columns = RELATIONS[name]
        described = tuple(ColumnDescription(column, kind_of) for column, kind_of in columns.items())
        return RelationDescription(name, kind, 20_000, described)

    def relation_names(self) -> Iterable[str]:
        return RELATIONS


def schema_of(name: str) -> Schema:
    return tuple(OutputColumn(column, kind) for column, kind in RELATIONS[name][1].items())


def random_value(kind: SqlType, choose: random.Random) -> Any:
    """Return a value as a Python object of a small domain, so that keys meet."""
    if choose.random() < 0.12:
        return None
    number = choose.randint(-3, 12)
    match kind.family:
        case "bool":
            return number % 2 == 0
        case "numeric":
            return Decimal(number) / 2 if choose.random() < 0.7 else Decimal(number) / 10
        case "float8":
            return choose.choice([number / 2, float("nan"), 0.0, -0.0])
        case "text" | "varchar":
            return choose.choice(TEXTS)
        case "date":
            return number
    return number


def random_rows(name: str, count: int, choose: random.Random) -> list[tuple[Any, ...]]:
    kinds = RELATIONS[name][1].values()
    return [tuple(random_value(kind, choose) for kind in kinds) for _ in range(count)]


def table_of(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = schema_of(name)
    columns = [arrow_column([row[at] for row in rows], column.type) for at, column in enumerate(schema)]
    return pa.table(columns, schema=arrow_schema(schema))


class FakeTables:
    """A table source whose tables are lists of rows."""

    def __init__(self, rows: Mapping[str, list[tuple[Any, ...]]]) -> None:
        self.exports = {name: TableExport(1, table_of(name, found)) for name, found in rows.items()}
        self.reads: list[frozenset[str]] = []
        self._changes = itertools.count(2)

    def versions(self, names: Iterable[str]) -> dict[str, Hashable]:
        return {name: self.exports[name].version for name in names}

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        self.reads.append(frozenset(names))
        return {name: self.exports[name] for name in names}

    def replace(self, name: str, rows: list[tuple[Any, ...]]) -> None:
        self.exports[name] = TableExport(next(self._changes), table_of(name, rows))


class EmbeddedExecutor:
    """Runs static and upper pipelines in the embedded engine, which is there at once."""

    def __init__(self, engine: QueryEngine) -> None:
        self.engine = engine

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        return self.engine.run(relation, {**inputs, **{name: export.table for name, export in tables.items()}})

    def run_embedded(
        self, token: Hashable, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        return self.run(token, relation, inputs, tables)

    def check(self, token: Hashable, relation: Relation) -> None:
        empty = {scan.name: arrow_schema(scan.schema).empty_table() for scan in scans(relation)}
        self.engine.run(relation, empty)

    def explain(self, relation: Relation) -> Mapping[str, str]:
        return {"DuckDB SQL": self.engine.explain(relation)}


class World:
    """The relations' rows here and, if there is a connection, in PostgreSQL."""

    def __init__(self, executor: VersionExecutor, oracle: psycopg.Connection[Any] | None, seed: int) -> None:
        choose = random.Random(seed)
        sizes = {"s": STREAM_ROWS_COUNT, "t": 25, "u": 15, "p": 10, "r": 4, "groups": 6, "empty": 0}
        self.rows = {name: random_rows(name, count, choose) for name, count in sizes.items()}
        self.tables = FakeTables({name: rows for name, rows in self.rows.items() if name != "s"})
        self.executor = executor
        self.oracle = oracle
        self.choose = choose
        for name in RELATIONS if oracle is not None else ():
            self.fill_oracle(name)

    def fill_oracle(self, name: str) -> None:
        """Put the rows of a relation into PostgreSQL."""
        assert self.oracle is not None
        columns = RELATIONS[name][1]
        self.oracle.execute(f"DROP TABLE IF EXISTS {name}".encode())
        described = ", ".join(f"{column} {kind.sql_name}" for column, kind in columns.items())
        self.oracle.execute(f"CREATE TABLE {name} ({described})".encode())
        places = ", ".join(
            "date '1970-01-01' + %s::int" if kind.family == "date" else f"%s::{kind.sql_name}"
            for kind in columns.values()
        )
        with self.oracle.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {name} VALUES ({places})".encode(), self.rows[name])

    def view(self, query: str, folder: Path, options: str = "") -> Chain:
        """Build a view."""
        (statement,) = parse(f"CREATE VIEW v {options} AS {query}")
        assert isinstance(statement, CreateView)
        bound = bind_query(statement.query, Relations(), SETTINGS)
        return build_view(
            only_state(define_view(statement, 16385, SETTINGS)), bound, Oracles(folder, self.executor, self.tables)
        )

    def feed(self, view: Chain) -> None:
        """Put the stream's rows through the view, in pieces, by both ways."""
        schema = schema_of("s")
        morsel = from_arrow(table_of("s", self.rows["s"]), schema)
        start = 0
        while start < morsel.rows_count:
            size = self.choose.randint(1, 200)
            piece = slice_morsel(morsel, start, min(size, morsel.rows_count - start))
            start += piece.rows_count
            if self.choose.random() < 0.5:
                view.state.program.check(piece, 0)
                view.state.apply(piece, 0)
            else:
                table = view.state.program.new_table()
                view.state.program.fold(piece, table, 0)
                view.state.groups.absorb(table)
            view.state.groups.note_commit()

    def read(self, view: Chain) -> Answer:
        """Return the view's rows as text."""
        reader = Reader(0, lambda: None)
        engines = Engines(self.executor, FakeClock(), self.tables)
        version = cut((view,), threading.Lock(), engines, reader)["v"]
        return Answer(tuple(output_rows(version.table, view.schema)))
