"""INSERT into a stream: the columns that it names, and its rows as a morsel, in three ways.

Literals in the text and plain parameters go through one decoder call (no parser, no planner: the
statement's head and the parameters' types are looked up). All other rows are bound, and evaluated
by the table engine. Enters: text or Bind payloads. Leaves: whole rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry
from engine.embedded.query_engine import QueryEngine
from engine.ingest.copy_decoders import field_fallback
from engine.ingest.field_readers import arriving_layout, has_kernel
from engine.streams.stream import Stream, row_of_nulls, whole_rows
from ringbuffer.decode.literals import (
    DEFAULT_NOW,
    DEFAULT_NULL,
    LATE_BITS,
    STRINGS,
    STRINGS_AND_NUMBERS,
    LiteralDecoder,
)
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.scalar.texts.type_names import NUMBERS as TYPE_NUMBERS
from sql.bind.readers import is_open, with_zone
from sql.bind.substitute import substitute_now
from sql.bind.writes.write_target import ROWS, listed_columns, stored
from sql.catalog.catalog import ARRIVAL, ColumnDescription, SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import SqlError
from sql.functions.volatility import is_volatile
from sql.names.relation_keys import as_written
from sql.times.civil import DAY_US, utc_offset_us
from sql.times.input_styles import InputStyles
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import OutputColumn, Project, Scan, Values
from sql.tree.walks import walk
from sql.types.datatypes import DATE, INT8, TIMESTAMP, LiteralValue

NAME = r'(?:[a-z_][a-z0-9_$]*|"[a-z0-9_$ ]+")'
HEAD = re.compile(
    rf"\s*insert\s+into\s+({NAME})\s*(?:\.\s*({NAME})\s*)?"
    rf"(?:\(\s*({NAME}(?:\s*,\s*{NAME})*)\s*\))?\s*(?<![a-z0-9_$])values\s*",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, eq=False)
class InsertTarget:
    """A stream and the columns that a statement gives, in the order of the statement.

    Attributes:
        targets: the places of these columns in the ring.
        defaults: one row of all columns that the stream stores.
        now_columns: of the other columns those that have the time of the transaction; a target that
            is kept for later statements sets them anew.
        fresh: returns as many rows of defaults, where some are volatile; None where none is.
    """

    entry: StreamEntry
    targets: tuple[int, ...]
    layout: Layout
    defaults: Morsel
    now_columns: tuple[int, ...] = ()
    fresh: Callable[[int], Morsel] | None = None

    @property
    def columns(self) -> tuple[ColumnDescription, ...]:
        """The columns that the statement gives."""
        return tuple((*self.entry.stream.stored, ARRIVAL)[place] for place in self.targets)

    @property
    def arriving(self) -> Layout:
        """The layout of the columns as decoders give them (`engine.ingest.field_readers`)."""
        return tuple(
            one if has_kernel(column.type) else replace(arriving_layout(column), not_null=one.not_null)
            for one, column in zip(self.layout, self.columns, strict=True)
        )

    @cached_property
    def literals(self) -> LiteralDecoder:
        """The decoder of rows of literals, for one thread at a time."""
        return LiteralDecoder(self.arriving, takes=self.takes)

    @property
    def late(self) -> dict[int, int]:
        """The columns that no kernel reads, each with the literals that a decoder takes for it."""
        return late_literals(self.columns)

    @property
    def takes(self) -> dict[int, int]:
        """The literals that a decoder takes for a column besides those of its type, and DEFAULT."""
        late = self.late
        return {
            index: late.get(index, 0)
            | (DEFAULT_NULL if column.default is None else DEFAULT_NOW if is_now(column.default, column) else 0)
            for index, column in enumerate(self.columns)
        }

    @property
    def is_decoded(self) -> bool:
        """True if decoders give all columns as they are stored."""
        return all(has_kernel(column.type) for column in self.columns)

    def fallback(self, time_zone: str, styles: InputStyles) -> Callable[[int, str], LiteralValue]:
        """Return the function that decoders call for a field that no kernel reads.

        It takes (column, text), returns the value, and raises RowError.
        """
        return field_fallback(self.columns, time_zone, styles)

    def rows(self, given: Morsel, now_us: int, time_zone: str) -> Morsel:
        """Return the given columns as whole rows of the stream.

        now_us: now() of the transaction; time_zone: for times in error messages.
        """
        defaults = self.defaults if self.fresh is None else self.fresh(given.rows_count)
        if self.now_columns:
            data = list(defaults.data)
            for index in self.now_columns:
                data[index] = np.full(1, now_in(self.entry.stream.stored[index], now_us, time_zone), data[index].dtype)
            defaults = replace(defaults, data=tuple(data))
        return whole_rows(self.entry.stream, given, self.targets, defaults, time_zone)


def late_literals(columns: Sequence[ColumnDescription]) -> dict[int, int]:
    """Return the columns that no kernel reads, each with the literals that decoders take for it."""
    return {
        index: (STRINGS_AND_NUMBERS if column.type.family == "numeric" else STRINGS) | cast_type(column) << LATE_BITS
        for index, column in enumerate(columns)
        if not has_kernel(column.type)
    }


def cast_type(column: ColumnDescription) -> int:
    """Return the number of the type that a literal may be cast to for a column without a kernel, 0
    where a modifier of the column does more.
    """
    plain = column.type.precision is None and column.type.length is None
    return TYPE_NUMBERS.get(column.type.family, 0) if plain else 0


def make_target(
    entry: StreamEntry, names: Sequence[tuple[str, int]] | None, engine: QueryEngine, now_us: int, time_zone: str
) -> InsertTarget:
    """Return the target of a statement's column list.

    time_zone: the session's. Raises 42703 and 42701 with the position of the name.
    """
    stream = entry.stream
    targets = stream.places_of(listed_columns(entry.description, names))
    layout = tuple(stream.row_layout[place] for place in targets)
    defaults = [column.default for column in stream.stored]
    fresh = None
    if has_volatile_defaults(stream, targets):
        fresh = partial(default_rows, stream, defaults, engine, now_us, time_zone)
    return InsertTarget(entry, targets, layout, default_row(stream, defaults, engine, now_us, time_zone), fresh=fresh)


def now_columns(entry: StreamEntry, targets: Sequence[int]) -> tuple[int, ...] | None:
    """Return the places of the columns that have the time of the transaction unless given at
    `targets`, or None.

    None: another default depends on the time or zone of the statement, or is volatile, so that the
    target can't be kept for the next statement.
    """
    if has_volatile_defaults(entry.stream, targets):
        return None
    found: list[int] = []
    for index, column in enumerate(entry.stream.stored):
        if index in targets or column.default is None or not _is_stable(column.default):
            continue
        if not is_now(column.default, column):
            return None
        found.append(index)
    return tuple(found)


def is_now(expression: Expression, column: ColumnDescription) -> bool:
    """Tell whether an expression is now() as a column of times stores it, or the day or the local
    time of now().
    """
    if isinstance(expression, Cast) and expression.type == column.type and column.type in (DATE, TIMESTAMP):
        expression = expression.operand
    return isinstance(expression, Call) and expression.function == "now"


def now_in(column: ColumnDescription, now_us: int, time_zone: str) -> int:
    """Return the time of a transaction as a column of times stores it."""
    if column.type.family == "timestamptz":
        return now_us
    local_us = now_us + utc_offset_us(now_us, time_zone)
    return local_us if column.type.family == "timestamp" else local_us // DAY_US


def head_target(head: str, image: CatalogImage, settings: SessionSettings, engine: QueryEngine) -> InsertTarget | None:
    """Return the target of an INSERT's text up to its rows, a match of HEAD; None: the text needs
    the parser.
    """
    match = HEAD.match(head)
    assert match is not None, head
    names, columns = head_names(match)
    try:
        entry = image.entries.get(found_key(as_written(names), settings, image.entries.get))
        if not isinstance(entry, StreamEntry):
            return None
        found = now_columns(entry, entry.stream.places_of(listed_columns(entry.description, columns)))
        if found is None:
            return None
        return replace(make_target(entry, columns, engine, 0, "UTC"), now_columns=found)
    except SqlError:
        return None


def head_names(match: re.Match[str]) -> tuple[tuple[str, ...], list[tuple[str, int]] | None]:
    """Return the parts of the relation's name in a match of HEAD, and the columns that it lists,
    without their positions.
    """
    *names, listed = match.groups()
    columns = None if listed is None else [(_meant(name), 0) for name in listed.split(",")]
    return tuple(_meant(name) for name in names if name is not None), columns


def _meant(name: str) -> str:
    """Return the name that is meant by one as it is written."""
    name = name.strip()
    return name[1:-1] if name.startswith('"') else name.lower()


def evaluate_rows(
    engine: QueryEngine, target: InsertTarget, root: Values, now_us: int, time_zone: str, token: object
) -> Morsel:
    """Return bound VALUES rows as whole rows of the stream."""
    table = engine.run(substitute_now(root, now_us), {}, token)
    return target.rows(morsel_from_arrow(table, target.layout), now_us, time_zone)


def _is_stable(expression: Expression) -> bool:
    return any(is_open(node) or (isinstance(node, Call) and node.function == "now") for node in walk(expression))


def has_volatile_defaults(stream: Stream, targets: Sequence[int]) -> bool:
    """Tell whether a column that is not among the targets has another default in each row."""
    return any(
        column.default is not None and index not in targets and is_volatile(column.default)
        for index, column in enumerate(stream.stored)
    )


def default_row(
    stream: Stream, values: Sequence[Expression | None], engine: QueryEngine, now_us: int, time_zone: str
) -> Morsel:
    """Return one row of `values`, an expression or None, for NULL, per column that the stream
    stores.

    time_zone: the session's, in which defaults are computed.
    """
    if all(value is None for value in values):
        return row_of_nulls(stream.layout)
    return default_rows(stream, values, engine, now_us, time_zone, 1)


def default_rows(
    stream: Stream,
    values: Sequence[Expression | None],
    engine: QueryEngine,
    now_us: int,
    time_zone: str,
    rows_count: int,
) -> Morsel:
    """Return rows of `values` as `default_row` does; a volatile one is computed for each row."""
    rows = Scan(ROWS, "rows", (OutputColumn("number", INT8),))
    items = tuple(
        (column.name, Literal(None, column.type) if value is None else stored(value, column))
        for value, column in zip(values, stream.stored, strict=True)
    )
    root = with_zone(substitute_now(Project(rows, items), now_us), time_zone)
    numbers = pa.table({"number": np.arange(rows_count)})
    return morsel_from_arrow(engine.run(root, {ROWS: numbers}), stream.layout)
