"""A SELECT that passes the rows of one stream on, without a breaker, while the stream is scanned.

Enters: a bound query and its stream. Leaves: its rows piece by piece, as they come. No row is kept,
so that a client may follow a stream for as long as it likes. Must not know sessions or the
protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

import pyarrow as pa

from engine.embedded.query_engine import QueryEngine
from engine.scans.scans import LOOK_AGAIN_S, ScanSettings, as_table, begin, timeout_of
from engine.streams.stream import Stream
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from sql.tree.expressions import Cast, Literal
from sql.tree.relations import Filter, Limit, Project, Relation, Scan
from sql.tree.walks import children, subqueries_of

INTEGERS = ("int2", "int4", "int8")


def passes_rows(root: Relation, stream: Stream, settings: ScanSettings) -> bool:
    """Tell whether `PassingRows` can answer a query that may have more rows than one morsel."""
    node = root.input if isinstance(root, Limit) and count_of(root) is not None else root
    while isinstance(node, Filter | Project):
        if any(True for item in children(node) for _ in subqueries_of(item)):
            return False
        node = node.input
    is_long = timeout_of(stream, settings) > 0 or stream.ring.kept_count > MORSEL_ROWS_MAX
    return is_long and isinstance(node, Scan) and node.kind == "stream"


def count_of(limit: Limit) -> int | None:
    """Return how many rows a LIMIT lets through.

    None for other than a plain number, or with OFFSET.
    """
    bound = limit.limit
    while isinstance(bound, Cast) and bound.type.family in INTEGERS:
        bound = bound.operand
    if (
        limit.offset is not None
        or not isinstance(bound, Literal)
        or not isinstance(bound.value, int)
        or bound.value < 0
    ):
        return None
    return bound.value


class PassingRows:
    """The rows of one query, from a scan that begins when the object is made.

    Arguments:
        root: a query for which `passes_rows` is true, without open parameters.
        token: by which the engine's `interrupt` stops it.
    """

    def __init__(
        self,
        engine: QueryEngine,
        stream: Stream,
        root: Relation,
        settings: ScanSettings,
        check_cancelled: Callable[[], None],
        token: Hashable,
    ) -> None:
        self._engine = engine
        self._token = token
        self._left: int | None = None
        if isinstance(root, Limit):
            self._left = count_of(root)
            root = root.input
        self._root = root
        (self._scan,) = begin([stream], [root], [], settings)
        self._scan.looked_s = time.monotonic()
        self._check_cancelled = check_cancelled

    def next(self) -> pa.Table | None:
        """Return the next rows, after waiting for them; None after the last ones.

        For one thread at a time.

        Raises SqlError: 54000 when writers have overtaken the scan, 57014, the errors of rows, and
        what check_cancelled raises.
        """
        scan = self._scan
        with scan.stream.activity.scan():
            while self._left != 0:
                self._check_cancelled()
                morsel = scan.take()
                if morsel is None:
                    if time.monotonic() - scan.looked_s >= scan.timeout_s:
                        return None
                    time.sleep(min(LOOK_AGAIN_S, scan.timeout_s / 4))
                    continue
                scan.looked_s = time.monotonic()
                rows = self._engine.run(self._root, {scan.stream.name: as_table(morsel, scan)}, self._token)
                if self._left is not None:
                    rows = rows.slice(0, min(self._left, rows.num_rows))
                    self._left -= rows.num_rows
                if rows.num_rows:
                    return rows
        return None
