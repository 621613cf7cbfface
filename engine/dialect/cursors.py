"""SQL's cursors: DECLARE, FETCH, MOVE, CLOSE, on the session's portals.

Enters: statements with their transaction. Leaves: outcomes with the rows asked for. A cursor's rows
are those of the moment of DECLARE. They are collected then, so that every direction is free, but
for the scan of a stream: its rows are made as they are fetched, and its cursor only goes forward.
What reads no relation and depends on the moment (currval, nextval) is computed at the first FETCH.
The cursor is before the first row (0), on a row, or after the last one.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from engine.embedded.columnless import concatenated
from engine.embedded.result_rows import ResultLimits, in_file
from engine.execution.names import Names
from engine.execution.outcome import Outcome
from engine.execution.prepared import Portal, Prepared
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.scheduler.threads import Threads
from engine.statements.select import select
from engine.statements.subscribe import subscribed
from engine.tables.sequence_functions import in_session
from sql.errors import SqlError
from sql.parse.statements.cursors import CloseCursor, Declare, Fetch
from sql.tree.relations import BoundQuery
from sql.wire.messages import Bind

BINARY = (1,)


@handles(Declare)
async def declare(statement: Declare, work: Work) -> None:
    """Make a cursor. Raises 25P01 for a cursor that would end at once, and 42P03."""
    declared = work.prepared
    made = Prepared(statement.select, None) if declared is None else replace(declared, statement=statement.select)
    await work.threads.with_text(statement.text, made.refresh, work.image, work.settings)
    if not work.in_block and not statement.hold:
        raise SqlError("25P01", "DECLARE CURSOR can only be used in transaction blocks")
    work.names.require_free_portal(statement.name)
    bound, outcome = made.bound, None
    assert isinstance(bound, BoundQuery)
    made.schema = bound.told
    if statement.subscribe is not None:
        outcome = await subscribed(statement.subscribe, work)
        made.schema = outcome.schema
    elif statement.hold or bound.relations or not bound.stable:
        outcome = await select(statement.select, replace(work, prepared=made))
        if outcome.goes_on and (statement.hold or statement.scroll):
            await collect(outcome, None)
    else:
        work.sequences.image = work.image
        in_session(bound.root, work.sequences)
    formats = BINARY if statement.binary else ()
    made.shown_text, made.made_us = statement.text, work.transaction.now_us
    message = Bind(statement.name, "", (), b"", 0, 0, formats)
    portal = Portal(made, message, work.parameters, outcome=outcome, scroll=statement.scroll, holds=statement.hold)
    work.names.keep_portal(statement.name, portal)
    await keep_rows(portal, work.names, work.server.result_limits, work.threads)


@handles(Fetch)
async def fetch(statement: Fetch, work: Work) -> Outcome:
    """Do FETCH or MOVE. Raises 34000, and 55000 for a way back that the cursor does not have."""
    portal = work.names.portal(statement.name, "cursor")
    if portal.outcome is None and not portal.is_broken:
        # What fails is not tried again.
        portal.is_broken = True
        # A cursor over no relation, or a portal of the extended protocol that no Execute has run.
        await work.threads.with_text(portal.prepared.text, portal.prepared.read, work.image, work.settings)
        portal.outcome = await work.run(portal.prepared.statement, work.transaction, portal.values, portal.prepared)
        portal.is_broken = False
    outcome = portal.outcome
    if outcome is None or outcome.schema is None or portal.is_broken:
        raise SqlError("55000", f'portal "{statement.name}" cannot be run')
    try:
        if outcome.within is not None:
            await next_rows(outcome, statement)
        elif statement.timeout_s is not None:
            raise SqlError("22023", "only a cursor over a subscription has a timeout")
        rows = await Movement(portal, outcome).run(statement)
        await keep_rows(portal, work.names, work.server.result_limits, work.threads)
    except SqlError:
        portal.is_broken = True
        raise
    if statement.moves:
        return Outcome(f"MOVE {rows.num_rows}")
    return Outcome("FETCH #", outcome.schema, rows, formats=portal.result_formats)


@handles(CloseCursor)
def close(statement: CloseCursor, work: Work) -> None:
    """Close a cursor, or all. Raises 34000."""
    work.names.close_portal(statement.name)


class Movement:
    """One FETCH on a portal: its place before and after.

    The `sent` of the outcome is the row that the cursor is on.
    """

    def __init__(self, portal: Portal, outcome: Outcome) -> None:
        self._portal = portal
        self._outcome = outcome

    async def run(self, statement: Fetch) -> pa.Table:
        """Move, and return the rows on the way."""
        count = statement.count
        if count is None:
            backward = statement.direction == "backward"
            return self._backward(None) if backward else await self._forward(None)
        match statement.direction:
            case "absolute":
                return await self._absolute(count)
            case "relative":
                return await self._relative(count)
        if count == 0:
            return self._again()
        if (count > 0) == (statement.direction == "forward"):
            return await self._forward(abs(count))
        return self._backward(abs(count))

    async def _forward(self, count: int | None) -> pa.Table:
        portal, outcome = self._portal, self._outcome
        if portal.is_at_end:
            return self._rows(0, 0)
        start = outcome.sent
        if outcome.within is None:
            await collect(outcome, None if count is None else start + count)
        assert outcome.table is not None
        found = outcome.table.num_rows - start if count is None else min(count, outcome.table.num_rows - start)
        rows = self._rows(start, found)
        outcome.sent = start + found
        portal.is_at_end = outcome.within is None and (count is None or found < count)
        if not outcome.is_whole:
            outcome.let_go()
        return rows

    def _backward(self, count: int | None) -> pa.Table:
        self._require_scroll()
        portal, outcome = self._portal, self._outcome
        # The row that the next step back leads to.
        last = outcome.sent if portal.is_at_end else outcome.sent - 1
        portal.is_at_end = False
        found = max(last, 0) if count is None else min(count, max(last, 0))
        rows = self._rows(last - found, found)
        outcome.sent = last - found + 1 if count is not None and found == count else 0
        # Rows without columns are alike.
        return rows.take(pa.array(range(found - 1, -1, -1), pa.int64())) if found > 1 and rows.num_columns else rows

    def _again(self) -> pa.Table:
        """Return the row that the cursor is on, if it is on one."""
        if self._portal.is_at_end or not self._outcome.position:
            return self._rows(0, 0)
        self._require_scroll()
        return self._rows(self._outcome.sent - 1, 1)

    async def _absolute(self, count: int) -> pa.Table:
        outcome = self._outcome
        if count > 0:
            if count <= outcome.position or self._portal.is_at_end:
                self._rewind()
            if count - 1 > outcome.position:
                await self._forward(count - 1 - outcome.position)
            return await self._forward(1)
        if count == 0:
            self._rewind()
            return self._rows(0, 0)
        self._require_scroll()
        await self._forward(None)
        if count < -1:
            self._backward(-count - 1)
        return self._backward(1)

    async def _relative(self, count: int) -> pa.Table:
        if count == 0:
            return self._again()
        if count > 0:
            if count > 1:
                await self._forward(count - 1)
            return await self._forward(1)
        if count < -1:
            self._backward(-count - 1)
        return self._backward(1)

    def _rewind(self) -> None:
        if self._outcome.position or self._portal.is_at_end:
            self._require_scroll()
        self._outcome.sent, self._portal.is_at_end = 0, False

    def _require_scroll(self) -> None:
        if self._portal.scroll is False or not self._outcome.is_whole:
            hint = "Declare it with SCROLL option to enable backward scan."
            raise SqlError("55000", "cursor can only scan forward", hint=hint)

    def _rows(self, start: int, count: int) -> pa.Table:
        assert self._outcome.table is not None
        return self._outcome.table.slice(max(start, 0), count)


async def keep_rows(portal: Portal, names: Names, limits: ResultLimits, threads: Threads) -> None:
    """Keep the remaining rows of a portal in memory, or in a file where the session would keep too
    much.
    """
    outcome = portal.outcome
    if not portal.message.portal or outcome is None or outcome.table is None or outcome.is_in_file:
        return
    bytes_count = outcome.table.nbytes
    # Larger answers are in a file already.
    outcome.is_in_file = bytes_count > limits.memory_bytes_max and limits.folder is not None
    if not outcome.is_in_file and not names.note_rows(portal, bytes_count):
        outcome.table = await threads.in_thread(in_file, outcome.table, limits)
        outcome.is_in_file = True
    if outcome.is_in_file:
        names.note_rows(portal, 0)


async def next_rows(outcome: Outcome, statement: Fetch) -> None:
    """Wait for the rows of a subscription, unless some are there."""
    assert outcome.within is not None and outcome.table is not None
    if statement.direction != "forward" or (statement.count or 1) < 0:
        raise SqlError("55000", "cursor can only scan forward")
    if outcome.sent == outcome.table.num_rows and statement.count != 0:
        outcome.table = concatenated([outcome.table, await outcome.within(statement.timeout_s)])


async def collect(outcome: Outcome, rows_count: int | None) -> None:
    """Make rows until `table` has `rows_count`, or all."""
    while outcome.more is not None:
        assert outcome.table is not None
        if rows_count is not None and outcome.table.num_rows >= rows_count:
            return
        piece = await outcome.more()
        if piece is None:
            outcome.more = None
            return
        outcome.table, outcome.is_in_file = concatenated([outcome.table, piece]), False
