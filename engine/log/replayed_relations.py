"""The effects of a replay on streams and views: rows of the log go into rings and states.

Enters: the calls of a `Replay`, in the order in which transactions were decided. Leaves: the same
rings and states as if each statement had been applied by itself. Statements of one row, of which a
log may have millions, are collected and applied together.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.catalog.image import StateEntry
from engine.log.replay import DAMAGED, LoggedRows
from engine.streams.stream import Stream, arrived, with_missing_before
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.pages.log_rows import decode_rows, decode_single_rows, is_single_row
from ringbuffer.pages.pages import DamagedPagesError, read_pages
from sql.errors import SqlError
from views.model.steps import pipeline_expressions
from views.model.trees import uses_now
from views.upkeep.chain import Chain
from views.upkeep.join_tables import rows_from_bytes

COLLECTED_ROWS_MAX = 8192


class ReplayedRelations:
    """The streams and views on which a replay has its effects: those that exist at its end.

    A view counts from its own creation on, which is in the checkpoint (`attached`) or in the log;
    the oid of its state identifies it. states: with those that take no rows now.
    """

    def __init__(
        self,
        states: Mapping[int, StateEntry],
        streams: Mapping[int, Stream],
        attached: Collection[int],
    ) -> None:
        self._states = states
        self._streams = streams
        self._attached: set[int] = set()
        # By stream: the views that meet its rows now; rows for them that were put off.
        self._met: dict[int, StreamRows] = {}
        self.attach(tuple(attached))

    def apply_rows(self, stream_oid: int, rows: Iterable[LoggedRows], views: Collection[int] | None) -> None:
        """Apply one statement's rows."""
        stream = self._streams.get(stream_oid)
        if stream is None:
            return
        met = self._met.get(stream_oid)
        if met is None or views is not None:
            self.finish()
            met = StreamRows(stream, self._counting(stream, self._attached if views is None else views))
        if views is None:
            self._met[stream_oid] = met
        for logged in rows:
            met.add(logged)
        if met.is_gated:
            met.flush()
        for view in met.views:
            view.state.groups.note_commit()
        if views is not None:
            met.flush()

    def attach(self, oids: Sequence[int]) -> None:
        """Attach streams and views that were created."""
        self._forget_met()
        self._attached.update(oid for oid in oids if oid in self._states)

    def detach(self, oids: Sequence[int]) -> None:
        """Detach streams and views that were dropped."""
        self._forget_met()
        self._attached.difference_update(oids)

    def join(self, state_oid: int, probe: int, rows: bytes) -> None:
        """Exchange the rows with which a view joins its stream. Raises SqlError XX001."""
        state = self._states.get(state_oid)
        if state is None:
            return
        self.finish()
        try:
            program = state.chain.state.program
            program.join_with(probe, rows_from_bytes(rows, program.pipeline.probes[probe]))
        except (ValueError, IndexError) as error:
            name = state.chain.name
            raise SqlError(DAMAGED, f'the log has rows that the view "{name}" can not join: {error}') from None

    def begin(self, state_oid: int, groups: Iterable[memoryview]) -> None:
        """Let a state begin with groups. Raises SqlError XX001."""
        state = self._states.get(state_oid)
        if state is None:
            return
        self.finish()
        pages = (page for piece in groups for page in read_pages(io.BytesIO(piece).read))
        try:
            form = state.chain.state.stored_form(next(pages).name)
            if form is None:
                raise ValueError("they mean something else")
            state.chain.state.load(pages, form)
        except (ValueError, DamagedPagesError) as error:
            name = state.chain.name
            raise SqlError(DAMAGED, f'the log has groups that the view "{name}" can not begin with: {error}') from None

    def keep_newest(self, stream_oid: int, count: int) -> None:
        """Forget all but the newest tuples of a stream whose ring was made anew."""
        self.finish()
        if stream_oid in self._streams:
            self._streams[stream_oid].ring.keep_newest(count)

    def finish(self) -> None:
        """Apply what was put off."""
        for met in self._met.values():
            met.flush()

    def _forget_met(self) -> None:
        self.finish()
        self._met.clear()

    def _counting(self, stream: Stream, oids: Collection[int]) -> list[Chain]:
        states = self._states.items()
        return [state.chain for oid, state in states if oid in oids and state.stream_name == stream.name]


class StreamRows:
    """Rows for one stream and the same views; rows of one-row statements are collected first.

    Attributes:
        is_gated: the rows of each statement are to be applied by themselves.
    """

    def __init__(self, stream: Stream, views: Sequence[Chain]) -> None:
        self.views = views
        # Which rows are late depends on the statements before.
        self.is_gated = any(view.state.groups.watermark is not None for view in views)
        self._stream = stream
        self._collected: list[bytes] = []
        self._arrivals_us: list[int] = []
        # Rows that were committed at different times can be applied together unless a pipeline asks
        # for the time.
        self._at_one_time = any(uses_now(part) for view in views for part in pipeline_expressions(view.plan.maintained))
        self._now_us = 0
        self._layout = stream.layout

    def add(self, logged: LoggedRows) -> None:
        """Apply the rows of a record, or collect its only row. Raises SqlError XX001."""
        if logged.columns_count != len(self._layout):
            self.flush()
            if not 0 < logged.columns_count <= len(self._stream.layout):
                raise self._unreadable(f"{logged.columns_count} columns instead of {len(self._stream.layout)}")
            # Columns were added since.
            self._layout = self._stream.layout[: logged.columns_count]
        if logged.arrival_us is None or not is_single_row(logged.rows):
            self.flush()
            try:
                if logged.arrival_us is None:
                    morsel = decode_rows(logged.rows, (*self._layout, self._stream.row_layout[-1]))
                else:
                    morsel = arrived(decode_rows(logged.rows, self._layout), logged.arrival_us)
            except ValueError as error:
                raise self._unreadable(str(error)) from None
            self._apply(morsel, logged.now_us)
            return
        is_other_time = self._at_one_time and logged.now_us != self._now_us
        if is_other_time or len(self._collected) == COLLECTED_ROWS_MAX:
            self.flush()
        self._now_us = logged.now_us
        self._collected.append(bytes(logged.rows))
        self._arrivals_us.append(logged.arrival_us)

    def flush(self) -> None:
        """Apply the collected rows. Raises SqlError XX001."""
        if not self._collected:
            return
        collected, self._collected = self._collected, []
        arrivals_us, self._arrivals_us = self._arrivals_us, []
        try:
            morsel = decode_single_rows(collected, self._layout)
        except ValueError as error:
            raise self._unreadable(str(error)) from None
        self._apply(arrived(morsel, arrivals_us), self._now_us)

    def _apply(self, rows: Morsel, now_us: int) -> None:
        morsel = with_missing_before(self._stream, rows)
        for view in self.views:
            try:
                view.state.apply(morsel, now_us)
            except RowError as error:
                name = view.name
                message = f'the log has rows that the view "{name}" can\'t evaluate any more'
                raise SqlError(DAMAGED, message, detail=view.state.program.expression_text(error.expression)) from None
        self._stream.ring.append(morsel)

    def _unreadable(self, why: str) -> SqlError:
        return SqlError(DAMAGED, f'the log has rows of the stream "{self._stream.name}" that can\'t be read: {why}')
