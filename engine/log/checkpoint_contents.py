"""The contents of a checkpoint: from running views and streams to header and pages, and back.

Enters: what belongs to a position (`Noted`), or header and pages of a file. Leaves: a checkpoint on
the disk, or views and rings as they were. The pages of a view are those of its state, named
view/<oid>/... A stream has one page per piece of its ring, stream/<oid>/<first tid>, with rows in
the form that the log has for them. Must not know when a checkpoint is due, nor segments of the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from engine.catalog.image import StateEntry
from engine.log.checkpoint import (
    Checkpoint,
    CheckpointedStream,
    CheckpointedView,
    DamagedCheckpointError,
    of_other_version,
    write_checkpoint,
)
from engine.storage.storage import Storage
from engine.streams.stream import Stream, with_missing_before
from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel
from ringbuffer.pages.log_rows import decode_rows, encode_rows
from ringbuffer.pages.pages import Page
from views.model.protocols import Clock
from views.upkeep.chain import Chain
from views.upkeep.older_states import StoredForm
from views.upkeep.snapshot import Snapshot, snapshot

log = logging.getLogger(__name__)

VIEW = "view"
STREAM = "stream"


@dataclass(frozen=True)
class Noted:
    """The states, streams and numbers of one position between two commits.

    Attributes:
        numbers: a checkpoint without a time, views and streams.
        streams: the streams, each with the number of its published tuples.
        newest_us: the time of the newest record of the log.
    """

    numbers: Checkpoint
    states: Sequence[StateEntry]
    streams: Sequence[tuple[Stream, int]]
    newest_us: int


def make_checkpoint(
    storage: Storage,
    folder: Path,
    clock: Clock,
    commit_lock: AbstractContextManager[object],
    note: Callable[[], Noted],
    make_log_durable: Callable[[], None],
    check_cancelled: Callable[[], None],
) -> Checkpoint:
    """Write a checkpoint of what `note` returns, and remove older ones.

    `note` is called under the commit lock. make_log_durable: called after the cut and before there
    is a checkpoint, since a log that ended before its checkpoint would take new records at
    positions that a replay takes for old ones. check_cancelled: called again and again. Raises
    OSError, and what these two raise; there is no new checkpoint then, and no row is lost.
    """
    began_s = clock.monotonic_s()
    found: list[Noted] = []

    def note_views() -> Sequence[Chain]:
        found.append(note())
        return [state.chain for state in found[0].states]

    with snapshot(commit_lock, note_views, check_cancelled, clock) as taken:
        (noted,) = found
        make_log_durable()
        checkpoint = header_of(noted, taken, max(clock.now_us(), noted.newest_us))
        size = write_checkpoint(storage, folder, checkpoint, contents(noted, taken, check_cancelled))
    log.info(
        "checkpoint at position %d of the log: %d bytes in %.1f s",
        checkpoint.position,
        size,
        clock.monotonic_s() - began_s,
    )
    return checkpoint


def header_of(noted: Noted, taken: Snapshot, time_us: int) -> Checkpoint:
    """Return the header of a checkpoint."""
    return replace(
        noted.numbers,
        time_us=time_us,
        views=tuple(
            CheckpointedView(
                state.chain.state_oid,
                taken.positions[state.chain],
                state.chain.upkeep.versions_count,
                state.chain.state.program.fingerprint,
                state.active,
            )
            for state in noted.states
        ),
        streams=tuple(
            CheckpointedStream(stream.oid, tuples_count, column_forms(stream.ring.layout))
            for stream, tuples_count in noted.streams
        ),
    )


def contents(noted: Noted, taken: Snapshot, check_cancelled: Callable[[], None]) -> Iterator[Page]:
    """Yield all pages, those of rings last.

    No reader waits for rings, and for tuples that are overwritten meanwhile the log has newer ones.
    """
    for view, pages in taken.states():
        for page in pages:
            check_cancelled()
            yield Page(f"{VIEW}/{view.state_oid}/{page.name}", page.array)
    for stream, tuples_count in noted.streams:
        for first, morsel in stream.ring.tail(tuples_count):
            check_cancelled()
            rows = b"".join(encode_rows(morsel, stream.ring.layout))
            yield Page(f"{STREAM}/{stream.oid}/{first}", np.frombuffer(rows, dtype=np.uint8))


def column_forms(layout: Layout) -> tuple[str, ...]:
    """Return how the columns of a stream are stored in its rows, without their names."""
    return tuple(column_form(column) for column in layout)


def column_form(column: ColumnLayout) -> str:
    """Return how the values of a column are stored."""
    return f"{column.physical}({column.precision},{column.scale})" if column.precision else str(column.physical)


@dataclass(frozen=True)
class Restoring:
    """A function that puts the contents of a checkpoint into views and streams that no client uses
    yet.

    States and streams are found by oid; contents of those that were dropped since are left out.
    path: of the folder, for messages.
    """

    folder: Path
    states: Mapping[int, StateEntry]
    streams: Mapping[int, Stream]

    def __call__(self, checkpoint: Checkpoint, pages: Iterator[Page]) -> None:
        """Replace the contents of all views and streams.

        Raises DamagedCheckpointError, DamagedPagesError, and SqlError 0A000 for a state of another
        version.
        """
        forms = self._forms(checkpoint)
        self._forget()
        tuples_counts = {stream.oid: stream.tuples_count for stream in checkpoint.streams if stream.oid in self.streams}
        columns_counts = {stream.oid: len(stream.columns) for stream in checkpoint.streams}
        missing = {(VIEW, view.oid) for view in checkpoint.views if view.oid in self.states}
        try:
            for (kind, oid), owned in groupby(pages, owner_of):
                if kind == VIEW and oid in forms:
                    found = (Page(page.name.split("/", 2)[2], page.array) for page in owned)
                    self.states[oid].chain.state.load(found, forms[oid])
                    missing.discard((VIEW, oid))
                elif kind == STREAM and oid in tuples_counts:
                    stream = self.streams[oid]
                    count = tuples_counts.pop(oid)
                    stream.ring.restore(count, tail_pieces(owned, stream, columns_counts[oid], count))
        except ValueError as error:
            raise DamagedCheckpointError(str(error)) from error
        if missing:
            raise DamagedCheckpointError(
                f"it has no state of the views with the oids {sorted(oid for _, oid in missing)}"
            )
        for oid, tuples_count in tuples_counts.items():
            self.streams[oid].ring.restore(tuples_count, ())
        for each in checkpoint.views:
            state = self.states.get(each.oid)
            if state is not None:
                view = state.chain
                view.state.groups.committed = view.state.groups.swapped = each.committed
                view.upkeep.versions_count = each.versions_count

    def _forms(self, checkpoint: Checkpoint) -> dict[int, StoredForm]:
        """Return the form of each state.

        Raises SqlError 0A000 for any part that this version can't read, before anything is
        restored.
        """
        forms: dict[int, StoredForm] = {}
        for each in checkpoint.views:
            state = self.states.get(each.oid)
            if state is None:
                continue
            view = state.chain
            form = view.state.stored_form(each.fingerprint)
            if form is None:
                raise of_other_version(
                    self.folder, f'the state of the view "{view.definition.shown}" means something else'
                )
            forms[each.oid] = form
        for stored in checkpoint.streams:
            stream = self.streams.get(stored.oid)
            # Columns may have been added since, before the last one, the arrival.
            if stream is not None and column_forms(layout_then(stream, len(stored.columns))) != stored.columns:
                raise of_other_version(self.folder, f'the rows of the stream "{stream.name}" have another form')
        return forms

    def _forget(self) -> None:
        """Remove what a damaged checkpoint may have left in views and streams."""
        for state in self.states.values():
            state.chain.state.groups.reset()
        for stream in self.streams.values():
            stream.ring.restore(0, ())


def owner_of(page: Page) -> tuple[str, int]:
    """Return kind and oid of the relation to which a page belongs.

    Raises ValueError for another name.
    """
    kind, oid, _ = page.name.split("/", 2)
    return kind, int(oid)


def tail_pieces(
    pages: Iterable[Page], stream: Stream, columns_count: int, tuples_count: int
) -> Iterator[tuple[int, Morsel]]:
    """Yield the pieces of a ring as `Ring.tail` did, with as many of the newest tuples as fit
    today.

    columns_count: how many columns the stream had then; tuples_count: how many tuples it had
    published. Raises ValueError.
    """
    oldest = tuples_count - stream.ring.capacity
    for page in pages:
        first = int(page.name.split("/")[2])
        rows = decode_rows(page.array.tobytes(), layout_then(stream, columns_count))
        if first < oldest:
            rows = slice_morsel(rows, min(oldest - first, rows.rows_count), max(first + rows.rows_count - oldest, 0))
            first = oldest
        if rows.rows_count:
            yield first, with_missing_before(stream, rows)


def layout_then(stream: Stream, columns_count: int) -> Layout:
    """Return the layout of a ring's rows when they had so many columns, the arrival included."""
    return (*stream.layout[: columns_count - 1], stream.row_layout[-1])
