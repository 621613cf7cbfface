"""Runs of Bind and Execute of one INSERT: executemany, pipelines, batches.

Enters: received bytes, then runs. Leaves: rows of a stream, staged as those of one INSERT and
decoded in one kernel call for each choice of types and formats of the parameters; or rows of a
table, written as those of one INSERT; and the replies to all messages in one piece. A row that
needs more (a value that no kernel reads, an error) is handled message by message, and so are runs
of other statements. All errors are those of the single messages. Must not know sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.catalog.image import CatalogImage
from engine.commit.transaction import Step
from engine.execution.outcome import expand
from engine.execution.parameter_rows import ParameterRow, parameter_row
from engine.execution.prepared import Portal, Prepared, make_portal
from engine.ingest.field_readers import ColumnError, FieldReader
from engine.ingest.insert import InsertTarget
from engine.sessions import long_texts
from engine.sessions.again import run as run_again
from engine.sessions.staged_inserts import INSERTED
from engine.statements.insert_run import InsertRun, Part, takes_runs
from ringbuffer.decode.bind_runs import HEAD, MESSAGE, VALUES, find_binds
from ringbuffer.memory.arrow import concat_morsels
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from sql.wire import writer
from sql.wire.messages import Bind, BindRun
from sql.wire.reader import read_run

if TYPE_CHECKING:
    from engine.sessions.session import Session

# Rows that are tried together after one that went the general way; twice as many if all of them can
# be staged.
FEW_ROWS = 16
# Rows of a run that may be done again.
AGAIN_ROWS_MAX = 10_000
CANCELLED = "57014"
# Rows that a table gets together, and below which a statement_timeout is one for single rows.
TABLE_ROWS_MAX, SHORT_MS = 1000, 1000


def bind_run(data: bytes, offset: int) -> BindRun | None:
    """Return the run of which the Bind at data[offset] is the first."""
    found = find_binds(data, offset)
    if found is None:
        return None
    places: Any = found.places
    return BindRun(data, offset, offset + found.bytes_count, places, found.heads.tolist(), found.is_described)


class Alike(NamedTuple):
    """The rows of a run whose parameters have the same types and formats.

    Attributes:
        heads: the numbers of their heads.
    """

    shape: ParameterRow
    formats: Sequence[int]
    heads: list[int]


class BindRuns:
    """The runs of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._server = session.server

    async def do(self, run: BindRun) -> None:
        """Do all messages of a run."""
        connection = self._session.connection
        turn_began_s = monotonic()
        done, tried_max = 0, run.rows_count
        while done < run.rows_count:
            first = next(read_run(run, done))
            if not connection.conversation.admit(first):
                return
            stop = min(run.rows_count, done + tried_max)
            count = await self._together(run, done, stop, first) if isinstance(first, Bind) else 0
            if count is None:
                # A view or table refuses one of the rows, or one may be slow: those before it are
                # found by halves.
                tried_max = (stop - done) // 2
                continue
            # The row after those that are decoded goes the general way.
            tried_max = 2 * tried_max if done + count == stop else 0
            done += count
            if not count:
                await self._one_by_one(run, done)
                done += 1
                tried_max = FEW_ROWS
            if monotonic() - turn_began_s > long_texts.TURN_S:
                await connection.drain()
                turn_began_s = monotonic()

    async def _one_by_one(self, run: BindRun, row: int) -> None:
        """Handle the messages of one row."""
        session = self._session
        for message in read_run(run, row, row + 1):
            if session.connection.conversation.admit(message):
                work = session.handle(message)
                if work is not None:
                    await work

    async def _together(self, run: BindRun, row: int, stop: int, first: Bind) -> int | None:
        """Do the rows [row, stop), or the first of them, together; see `_staged`."""
        prepared, image = self._session.names.statements.get(first.statement), self._session.runner.image()
        if prepared is None or not takes_runs(prepared.bound, image):
            return await self._staged(run, row, stop, first)
        done = row
        while done < stop:
            count = await self._written(run, done, min(stop, done + TABLE_ROWS_MAX), image)
            if not count:
                return count if done == row else done - row
            done += count
        return done - row

    async def _written(self, run: BindRun, row: int, stop: int, image: CatalogImage) -> int | None:
        """Write rows into a table together, as far as their parameters are read; returns as
        `_staged` does.
        """
        session = self._session
        timeout_ms = session.settings.statement_timeout_ms
        if stop - row < 2 or session.settings.read_only or session.block.status == "E" or 0 < timeout_ms < SHORT_MS:
            return 0
        binds = [message for message in read_run(run, row, stop) if isinstance(message, Bind)]
        parts = await session.in_worker(self._executions, binds, image)
        count = sum(len(part.places) for part in parts)
        if count < 2:
            return 0
        prepared = parts[0].prepared
        session.begin_message(simple=False)
        session.doing.begin(prepared.shown_text)
        try:
            outcome = await session.run(InsertRun(prepared.text, image, parts), ())
        except SqlError as error:
            session.fail_pipeline(error)
            return count
        finally:
            session.timeout.stop()
        if not outcome.tag:
            return None
        self._tell(run, binds[count - 1], count)
        return count

    def _executions(self, binds: Sequence[Bind], image: CatalogImage) -> list[Part]:
        """Return the first of the executions whose statements have one text, and whose parameters
        are read without an error, by statement.
        """
        session, statements = self._session, self._session.names.statements
        found: dict[str, Part] = {}
        text = statements[binds[0].statement].text
        for place, bind in enumerate(binds):
            prepared = statements.get(bind.statement)
            if prepared is None or prepared.text != text or not takes_runs(prepared.bound, image):
                break
            if not prepared.is_bound_to(image, session.settings):
                break
            try:
                portal = make_portal(prepared, bind)
                portal.decode_parameters(session.settings)
            except SqlError:
                break
            part = found.setdefault(bind.statement, Part(prepared, [], []))
            part.places.append(place)
            part.values.append(portal.values)
        return list(found.values())

    def _tell(self, run: BindRun, last: Bind, count: int) -> None:
        """Answer the messages of rows that are inserted. last: the Bind of the last one."""
        described = writer.NO_DATA if run.is_described else b""
        self._session.connection.write((writer.BIND_COMPLETE + described + INSERTED) * count)
        names = self._session.names
        names.keep_portal("", Portal(names.statement(last.statement), last, is_spent=True))

    async def _staged(self, run: BindRun, row: int, stop: int, first: Bind) -> int | None:
        """Stage the rows [row, stop) as far as a kernel decodes them; return their number, which is
        0 where the first row goes the general way.

        None: a view refuses one of them, or together they take longer than one statement may;
        nothing was done.
        """
        session = self._session
        image = session.runner.image()
        parts, stop = self._parts(run, row, stop, image)
        if not parts:
            return 0
        target, prepared = parts[0].shape.target, session.names.statement(first.statement)
        is_short = stop - row <= long_texts.ROWS_AT_ONCE_MAX
        session.begin_message(simple=False)
        session.doing.begin(prepared.shown_text)
        session.timeout.start()
        try:
            decode = partial(self._decoded, parts, run, row, stop)
            given = decode() if is_short else await session.in_worker(decode)
            if given is None:
                return 0
            stop = row + given.rows_count
            step = "INSERT 0 1", partial(self._again, dict(session.names.statements), run, row, stop)
            if not await self._added(target, given, image, step, is_short):
                return None
        except SqlError as error:
            # A cancel, or the timeout: of a single statement, or of many that were in time.
            if session.timeout.is_over and stop - row > 1:
                return None
            session.fail_pipeline(session.timeout.error_or(error))
            return stop - row
        finally:
            session.timeout.stop()
        last = next(read_run(run, stop - 1))
        assert isinstance(last, Bind)
        self._tell(run, last, given.rows_count)
        return given.rows_count

    def _parts(self, run: BindRun, row: int, stop: int, image: CatalogImage) -> tuple[list[Alike], int]:
        """Return the rows [row, stop) by types and formats, and the end of those that may be staged
        together: with one text of their statements.
        """
        statements = self._session.names.statements
        numbers = self._places(run, row, stop)[:, HEAD].tolist()
        found: dict[tuple[Any, ...], Alike] = {}
        text = None
        for number in dict.fromkeys(numbers):
            place = row + numbers.index(number)
            bind = next(read_run(run, place))
            prepared = statements.get(bind.statement) if isinstance(bind, Bind) else None
            shape = None
            if isinstance(bind, Bind) and prepared is not None and text in (None, prepared.text):
                shape = self._shape(prepared, bind, image)
            if shape is None or prepared is None or not isinstance(bind, Bind):
                return list(found.values()), place
            text = prepared.text
            alike = prepared.declared, prepared.parameter_types, bind.parameter_formats
            formats = expand(bind.parameter_formats, len(shape.layout))
            found.setdefault(alike, Alike(shape, formats, [])).heads.append(number)
        return list(found.values()), stop

    def _places(self, run: BindRun, row: int, stop: int) -> npt.NDArray[np.int64]:
        return np.asarray(run.places)[row:stop]

    def _shape(self, prepared: Prepared, first: Bind, image: CatalogImage) -> ParameterRow | None:
        """Return the shape of the rows of a statement, None if they go the general way now."""
        session, block = self._session, self._session.block
        is_ready = prepared.is_bound_to(image, session.settings) and not (block.open is not None and block.open.failed)
        if not is_ready or session.settings.read_only or session.connection.encoding.converts:
            return None
        shape = parameter_row(prepared, image, self._server.engines.tables)
        if not isinstance(shape, ParameterRow) or first.parameters_count != len(shape.layout):
            return None
        return shape if session.identity.may_insert(shape.target.entry.description.name, image) else None

    def _decoded(self, parts: Sequence[Alike], run: BindRun, row: int, stop: int) -> Morsel | None:
        """Return the rows [row, stop), or those before the first that needs more than decoding,
        None if that is the first of all.
        """
        settings = self._session.settings
        reader = FieldReader(settings.time_zone, settings.input_styles)
        payload = memoryview(run.payload)[run.message_start(row) : run.message_start(stop)]
        places = self._places(run, row, stop)
        starts, numbers = places[:, VALUES] - places[0, MESSAGE], places[:, HEAD]
        owners = np.empty(len(run.heads), np.int64)
        for number, part in enumerate(parts):
            owners[part.heads] = number
        owners, count, mine = owners[numbers], stop - row, places[:0, HEAD]
        while count:
            found: list[tuple[npt.NDArray[np.int64], Morsel]] = []
            try:
                for number, part in enumerate(parts):
                    mine = np.flatnonzero(owners[:count] == number)
                    if len(mine):
                        found.append((mine, part.shape.decode(payload, starts[mine], part.formats, reader)))
                return in_order(found, parts[0].shape.target.layout)
            except (RowError, ColumnError) as error:
                count = int(mine[error.row])
        return None

    async def _added(
        self, target: InsertTarget, given: Morsel, image: CatalogImage, step: Step, is_short: bool
    ) -> bool:
        """Add decoded rows to the transaction as one stage; False where a row may not be, and
        nothing was done.

        Raises 57014.
        """
        session = self._session
        transaction = session.block.current()
        is_first = transaction.is_untouched
        try:
            stage = self._server.transactions.stage(target.entry, image, transaction.now_us)
        except SqlError:
            return False
        transaction.operations.append(stage)
        try:
            rows = target.rows(given, transaction.now_us, session.settings.time_zone)
            if is_short:
                stage.add(rows)
            else:
                await session.in_worker(stage.add, rows)
                session.check_cancelled()
        except SqlError as error:
            transaction.operations.remove(stage)
            stage.close()
            if error.sqlstate == CANCELLED:
                raise
            return False
        transaction.note_again(step if stage.rows_count <= AGAIN_ROWS_MAX else None, is_first)
        return True

    async def _again(self, statements: dict[str, Prepared], run: BindRun, row: int, stop: int) -> str:
        """Insert the rows [row, stop) again, in a transaction that the first of all statements
        begins.

        statements: of the session, by name, as they were.
        """
        session, tag = self._session, ""
        for message in read_run(run, row, stop):
            if isinstance(message, Bind):
                prepared = statements[message.statement]
                portal = make_portal(prepared, message)
                portal.decode_parameters(session.settings)
                tag = await run_again(session, prepared.statement, portal.values, prepared)
        return tag


def in_order(parts: Sequence[tuple[npt.NDArray[np.int64], Morsel]], layout: Layout) -> Morsel:
    """Return rows that were decoded in parts as one morsel, given the places of each part's rows
    in it.
    """
    if len(parts) == 1:
        return parts[0][1]
    joined = concat_morsels([morsel for _, morsel in parts], layout)
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    data, nulls = tuple(one[order] for one in joined.data), tuple(one[order] for one in joined.nulls)
    return replace(joined, data=data, nulls=nulls)
