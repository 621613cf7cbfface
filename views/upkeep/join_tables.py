"""Static pipelines: the build sides of a view's joins, run once and kept as join tables.

Enters: the probes of a stream pipeline, and the tables of one consistent read. Leaves: a
`JoinTable` per probe, in the form that the generated kernel expects, in `Joins`, which change where
the tables may. A static pipeline runs in the embedded engine, unless it is columns of one
table. Must not know kernels, nor how tables are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.groups.join_table import COLUMNS_MAX, ROWS_MAX, BuildColumn, JoinTable, build_join_table, keyed_column
from ringbuffer.pages.pages import Page
from sql.errors import SqlError, not_supported
from views.codegen.probes import key_forms
from views.codegen.values import compared_form, is_keyed
from views.model.nodes import Probe, StreamPipeline
from views.model.protocols import TableExport, UpperExecutor
from views.upkeep.export.to_arrow import from_arrow, morsel_places
from views.upkeep.older_states import padded

JOINED = "joined/"  # of pages with the rows of a probe's build side


class Joins:
    """The join tables of a state, one for each probe; several states may share them.

    Attributes:
        arrays: the arrays of the join tables, as kernels take them.
        rows: the rows that the join tables were made of, where tables may change under the view.
        version: how often the join tables have changed.
    """

    def __init__(self, tables: Sequence[JoinTable], rows: Sequence[pa.Table] = ()) -> None:
        self.version = 0
        self.tables: tuple[JoinTable, ...] = ()
        self.rows: tuple[pa.Table, ...] = ()
        self.arrays: tuple[npt.NDArray[Any], ...] = ()
        self.set(tables, rows)

    def set(self, tables: Sequence[JoinTable], rows: Sequence[pa.Table]) -> None:
        """Exchange the join tables.

        A thread that is folding goes on with the tables that it has taken.
        """
        self.tables, self.rows = tuple(tables), tuple(rows)
        self.arrays = tuple(array for table in tables for array in (table.index, table.rows))
        self.version += 1


def rows_to_bytes(rows: pa.Table) -> bytes:
    """Return the rows of a build side as the log and checkpoints keep them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue().to_pybytes())


def rows_from_bytes(kept: bytes, probe: Probe) -> pa.Table:
    """Return the rows of a probe's build side that `rows_to_bytes` was given.

    Raises ValueError for other bytes.
    """
    try:
        rows = pa.ipc.open_stream(kept).read_all()
    except pa.ArrowException as error:
        raise ValueError(f"the rows of a joined table can't be read: {error}") from None
    if rows.num_columns != len(probe.build.schema):
        raise ValueError(f"the rows of a joined table have {rows.num_columns} columns")
    return padded(rows, probe.build.schema)


def join_table(probe: Probe, rows: pa.Table) -> JoinTable:
    """Return the join table of a probe's build side.

    Raises SqlError 0A000 for too many columns, and 54000 for too many rows.
    """
    if probe.kept > COLUMNS_MAX:
        raise not_supported(f"a continuous view that needs more than {COLUMNS_MAX} columns of {probe.name}")
    if rows.num_rows > ROWS_MAX:
        raise SqlError("54000", f"the tables {probe.name} have {rows.num_rows} rows for a join, more than {ROWS_MAX}")
    schema = probe.build.schema
    # A column that nothing reads may be of a type that kernels have no form for.
    used = sorted({*range(probe.kept), *(place for _, place in probe.keys)})
    read = tuple(schema[place] for place in used)
    morsel = from_arrow(rows.select(used), read)
    places = morsel_places(read)
    columns = {}
    for number, place in enumerate(used):
        at = places[number]
        scales = morsel.data[at + 1] if schema[place].type.is_variable_numeric else None
        columns[place] = BuildColumn(morsel.data[at], morsel.nulls[at], schema[place].type.display_scale or 0, scales)
    keys, heap = [], morsel.heap
    for (_, place), form in zip(probe.keys, key_forms(probe), strict=True):
        column = columns[place]
        if is_keyed(schema[place].type):
            column, heap = keyed_column(column, compared_form(schema[place].type) or 0, heap)
        keys.append((column, form))
    return build_join_table(rows.num_rows, [columns[place] for place in range(probe.kept)], keys, heap)


def run_static_pipelines(
    view: str,
    stream: StreamPipeline,
    tables: Mapping[str, TableExport],
    executor: UpperExecutor,
    keeps_rows: bool = False,
) -> Joins:
    """Return the join tables of a stream pipeline.

    keeps_rows: the tables may change, so that the rows are kept. Raises SqlError for what fails on
    the rows of the tables.
    """
    rows = [_build_rows(view, probe, tables, executor) for probe in stream.probes]
    return Joins(joined(stream, rows), rows if keeps_rows else ())


def _build_rows(view: str, probe: Probe, tables: Mapping[str, TableExport], executor: UpperExecutor) -> pa.Table:
    """Return the rows of a build side.

    The rows of a table as it is stored need no engine: to start a JVM for them would take seconds.
    """
    if probe.stored is None:
        return executor.run(view, probe.build, {}, tables)
    name, places = probe.stored
    return tables[name].table.select(list(places))


def joined(stream: StreamPipeline, rows: Sequence[pa.Table]) -> tuple[JoinTable, ...]:
    """Return the join tables for the rows of the build sides. Raises SqlError as `join_table`."""
    return tuple(join_table(probe, side) for probe, side in zip(stream.probes, rows, strict=True))


def join_pages(rows: Iterable[pa.Table]) -> list[Page]:
    """Return the build sides of a state's probes as pages, for `ViewState.load`."""
    return [
        Page(f"{JOINED}{number}", np.frombuffer(rows_to_bytes(side), dtype=np.uint8))
        for number, side in enumerate(rows)
    ]


def without_joins(pages: Iterable[Page], kept: dict[int, bytes]) -> Iterator[Page]:
    """Yield the pages of the groups of a state.

    The pages of joins, which come last, go into `kept`.

    The keys of `kept` are the numbers of the probes.
    """
    for page in pages:
        if page.name.startswith(JOINED):
            kept[int(page.name.removeprefix(JOINED))] = page.array.tobytes()
        else:
            yield page
