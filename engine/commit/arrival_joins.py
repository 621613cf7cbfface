"""Tables that change under views whose streams join them as they are when rows arrive (WITH (stream_join = arrival)).

Enters: a transaction that commits. Leaves: the new join tables of such views, and the records that the log has of them, so that a replay
joins each commit of the stream with the very rows that it has met. Must not commit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from engine.catalog.image import CatalogImage, ViewEntry
from engine.tables.table_transaction import TableTransaction
from ringbuffer.groups.join_table import JoinTable
from ringbuffer.pages.log_rows import JOINED_FORM, ROWS_HEAD
from views.upkeep.join_tables import joined, rows_to_bytes
from views.upkeep.view import ContinuousView

# The rows of a build side go into the log in pieces of this size.
PIECE_BYTES = 1 << 20


@dataclass
class JoinChange:
    """What views that take rows together join their stream with from a commit on."""

    views: list[ContinuousView]
    tables: tuple[JoinTable, ...]
    rows: tuple[pa.Table, ...]

    def exchange(self) -> None:
        """Put it in the place of what the view has now, or that back. Nobody may apply rows meanwhile."""
        joins = self.views[0].state.joins
        tables, rows = joins.tables, joins.rows
        joins.set(self.tables, self.rows)
        self.tables, self.rows = tables, rows


def changed_joins(image: CatalogImage, tables: TableTransaction) -> list[JoinChange]:
    """Return what the views of `image` have to join with once a transaction's changes of tables are committed.

    Raises SqlError for what fails on the tables' rows, as at CREATE VIEW.
    """
    changes: list[JoinChange] = []
    for view in followers(image):
        same = next((one for one in changes if one.views[0].state.joins is view.state.joins), None)
        if same is not None:
            same.views.append(view)
        elif view.stream_tables & frozenset(tables.written):
            pipeline = view.plan.maintained
            rows = tuple(tables.query(probe.build, {}) for probe in pipeline.probes)
            changes.append(JoinChange([view], joined(pipeline, rows), rows))
    return changes


def begun_joins(image: CatalogImage | None, oids: Collection[int]) -> list[ContinuousView]:
    """Return the views that join with tables at arrival among those whose states, by oid, begin to take rows."""
    return [] if image is None else [view for view in followers(image) if view.definition.state_oid in oids]


def followers(image: CatalogImage) -> list[ContinuousView]:
    """Return the views whose join tables follow their tables."""
    views = (entry.view for entry in image.entries.values() if isinstance(entry, ViewEntry))
    return [view for view in views if view.joins_at_arrival]


def join_payloads(views: Iterable[ContinuousView]) -> Iterator[list[bytes]]:
    """Yield the payloads of the records that say what views join with: state and number of the probe instead of stream and columns."""
    for view in views:
        for number, rows in enumerate(view.state.joins.rows):
            kept = rows_to_bytes(rows)
            for start in range(0, len(kept), PIECE_BYTES):
                head = ROWS_HEAD.pack(view.definition.state_oid, JOINED_FORM, number, 0)
                yield [head, kept[start : start + PIECE_BYTES]]
