"""Tables that change under views WITH (stream_join = arrival), which join rows with the tables of
their arrival.

Enters: a transaction that commits. Leaves: the new join tables of such views, and their records for
the log, so that a replay joins each commit of the stream with the very rows that it has met. Must
not commit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.tables.table_transaction import TableTransaction
from ringbuffer.groups.join_table import JoinTable
from ringbuffer.pages.log_rows import JOINED_FORM, ROWS_HEAD
from views.upkeep.chain import Chain
from views.upkeep.join_tables import joined, rows_to_bytes

# The rows of a build side go into the log in pieces of this size.
PIECE_BYTES = 1 << 20


@dataclass
class JoinChange:
    """The join tables with which views that take rows together join their stream from a commit
    on.
    """

    chains: list[Chain]
    tables: tuple[JoinTable, ...]
    rows: tuple[pa.Table, ...]

    def exchange(self) -> None:
        """Exchange the join tables of the views and those here.

        No thread may apply rows meanwhile.
        """
        joins = self.chains[0].state.program.joins
        tables, rows = joins.tables, joins.rows
        joins.set(self.tables, self.rows)
        self.tables, self.rows = tables, rows


def changed_joins(image: CatalogImage, tables: TableTransaction) -> list[JoinChange]:
    """Return the new join tables of the views of `image` for the changes of tables by a
    transaction.

    Raises SqlError for what fails on the rows of the tables, as at CREATE VIEW.
    """
    changes: list[JoinChange] = []
    for chain in followers(image):
        same = next((one for one in changes if one.chains[0].state.program.joins is chain.state.program.joins), None)
        if same is not None:
            same.chains.append(chain)
        elif chain.stream_tables & frozenset(tables.written):
            pipeline = chain.plan.maintained
            rows = tuple(tables.query(probe.build, {}) for probe in pipeline.probes)
            changes.append(JoinChange([chain], joined(pipeline, rows), rows))
    return changes


def begun_joins(image: CatalogImage | None, oids: Collection[int]) -> list[Chain]:
    """Return the views that join with tables at arrival, of those whose states begin to take rows.

    oids: of the states.
    """
    return [] if image is None else [chain for chain in followers(image) if chain.state_oid in oids]


def followers(image: CatalogImage) -> list[Chain]:
    """Return the views whose join tables follow their tables."""
    return [chain for chain in image.chains if chain.joins_at_arrival]


def join_payloads(chains: Iterable[Chain]) -> Iterator[list[bytes]]:
    """Yield the payloads of the records with the rows that views join with.

    In such a payload the oid of the state and the number of the probe stand in the places of stream
    and number of columns.
    """
    for chain in chains:
        for number, rows in enumerate(chain.state.program.joins.rows):
            kept = rows_to_bytes(rows)
            for start in range(0, len(kept), PIECE_BYTES):
                head = ROWS_HEAD.pack(chain.state_oid, JOINED_FORM, number, 0)
                yield [head, kept[start : start + PIECE_BYTES]]
