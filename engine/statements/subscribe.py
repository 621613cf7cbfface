"""SUBSCRIBE: the rows of a query, and then what changes of its answer, until the client ends it.

Enters: statements, and the work. Leaves: outcomes whose rows are made as they are asked for. Each
answer is read in a transaction of its own, by the same way as a SELECT, and compared with the one
before. Between two answers nothing runs but a timer, which looks whether anything was committed
that the answer rests on. Must not know messages.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import monotonic

import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.scans.answer_cache import KeptAnswer
from engine.scans.subscriptions import as_told, differences, subscribed_schema
from engine.statements.select import once, read_query
from sql.bind.queries.query import bind_query
from sql.errors import SqlError, not_supported
from sql.functions.volatility import has_volatile
from sql.parse.statements.subscribe import Subscribe
from sql.tree.relations import BoundQuery, Schema
from views.model.arrow_schema import arrow_schema

# How long until the next look at what was committed: longer and longer while nothing is.
LOOK_S_MIN = 0.01
LOOK_S_MAX = 0.16
# Answers that depend on the time are read anew so often, and so often PROGRESS tells a moment.
AGAIN_S = 1.0


@handles(Subscribe)
async def subscribe(statement: Subscribe, work: Work) -> Outcome:
    """Return the rows of a subscription, which goes on."""
    return await subscribed(statement, work)


async def subscribed(statement: Subscribe, work: Work) -> Outcome:
    """Return the outcome of a subscription that has begun.

    Raises 0A000 for what it can't follow.
    """
    if work.in_sequence:
        raise not_supported("SUBSCRIBE among several statements", hint="Send it by itself.")
    subscription = Subscription(statement, work)
    await subscription.begin()
    schema = subscribed_schema(subscription.told, statement.progress)
    empty = arrow_schema(schema).empty_table()
    return Outcome("SUBSCRIBE #", schema, empty, more=subscription.next, within=subscription.next)


class Subscription:
    """The changes of one query's answer, for one client.

    Attributes:
        told: the columns of the query.
    """

    def __init__(self, statement: Subscribe, work: Work) -> None:
        self._statement = statement
        self._work = work
        self._before: pa.Table | None = None
        # Of the last answer: what it rests on; None: it depends on more.
        self._rests_on: KeptAnswer | None = None
        self._read_s = 0.0
        self._time_ms = 0
        self._waiting: list[pa.Table] = []
        self.told: Schema = ()

    async def begin(self) -> None:
        """Read the first answer. Raises SqlError."""
        rows = await self._answer()
        (self.told, self._before) = rows
        first = [(1, self._before)] if self._statement.snapshot and self._before.num_rows else []
        self._tell(first)

    async def next(self, wait_s: float | None = None) -> pa.Table:
        """Return the next rows, after waiting for them; without any after `wait_s` seconds, if that
        is given.

        Raises 57014, and what a SELECT raises that could not be answered any more.
        """
        look_s, end_s = LOOK_S_MIN, None if wait_s is None else monotonic() + wait_s
        while not self._waiting:
            self._work.threads.check_cancelled()
            passed_s = monotonic() - self._read_s
            if not self._holds() if self._rests_on is not None else passed_s >= AGAIN_S:
                await self._read()
                look_s = LOOK_S_MIN
            elif self._statement.progress and passed_s >= AGAIN_S:
                self._read_s = monotonic()
                self._tell([])
            elif end_s is not None and monotonic() >= end_s:
                return arrow_schema(subscribed_schema(self.told, self._statement.progress)).empty_table()
            else:
                left_s = look_s if end_s is None else min(look_s, max(end_s - monotonic(), 0.0))
                await self._work.threads.cancellable(asyncio.sleep(left_s))
                look_s = min(2 * look_s, LOOK_S_MAX)
        return self._waiting.pop(0)

    def _holds(self) -> bool:
        """Tell whether the last answer is still the answer."""
        assert self._rests_on is not None
        return self._rests_on.holds(self._work.server.catalog.image)

    async def _read(self) -> None:
        """Read the next answer, and keep what has changed for the client."""
        told, after = await self._answer()
        if [(one.name, one.type) for one in told] != [(one.name, one.type) for one in self.told]:
            raise SqlError("55000", "the columns of what is subscribed to have changed")
        engine, before, client = self._work.server.engines.tables, self._before, self._work.client
        assert before is not None
        rows = await self._work.threads.in_worker(differences, engine, told, before, after, client)
        self._before = after
        if rows:
            self._tell(rows)

    async def _answer(self) -> tuple[Schema, pa.Table]:
        """Read the query in a transaction of its own."""
        work, select = self._work, self._statement.select
        transaction = work.server.transactions.begin()
        transaction.time_zone, transaction.sequences = work.transaction.time_zone, work.transaction.sequences

        @once
        def bound_to(image: CatalogImage) -> BoundQuery:
            bound = bind_query(select.query, image, work.settings.captured())
            refuse_unknown(bound, image)
            return bound

        try:
            image, _, reading = await read_query(select.text, bound_to, replace(work, transaction=transaction))
        finally:
            await work.threads.in_thread(transaction.end_tables)
        self._read_s = monotonic()
        self._rests_on = reading.rests_on(image)
        schema, table = reading.outcome.schema, reading.outcome.table
        assert schema is not None and table is not None, "a query has rows"
        return schema, table

    def _tell(self, rows: list[tuple[int, pa.Table]]) -> None:
        """Keep rows for the client, under a time after that of the last ones."""
        self._time_ms = max(self._time_ms + 1, self._work.server.clock.now_us() // 1000)
        table = as_told(rows, self._time_ms, self.told, self._statement.progress)
        if table.num_rows:
            self._waiting.append(table)


def refuse_unknown(bound: BoundQuery, image: CatalogImage) -> None:
    """Raise 0A000 for a query over something else than views and tables, whose changes nobody
    tells, and 42P02 for parameters.
    """
    for name in sorted(bound.relations):
        if image.state(name) is None and not isinstance(image.entries.get(name), TableEntry):
            hint = "SELECT ... FROM a stream follows it after SET stream_timeout = '1h'."
            raise not_supported("SUBSCRIBE to anything but views and tables", hint=hint)
    if has_volatile(bound.root):
        raise not_supported("a volatile function in SUBSCRIBE")
    if bound.parameters:
        raise SqlError("42P02", "there is no parameter $1 in SUBSCRIBE")
