"""The rows of one statement on a stream: staged before COMMIT, applied at COMMIT.

Enters: morsels of whole rows. `add` runs the rows through the kernel of every attached view, so
that every error which a row can cause is raised before anything shared is touched; `apply` can't
fail on data. A small statement only checks its rows at first, and folds them when it is applied; a
large one folds into tables of its own at once. The time of arrival is set at COMMIT only, by
`arrive`: for views that look at the time, rows are evaluated with a guess before. Rows that
transforms make of them go into stages of other streams, one for each, which commit with this one as
if the statement had written these rows, too. Must not know sockets, SQL text, or other statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from engine.catalog.image import ViewEntry
from engine.commit.logged_ahead import LoggedAhead
from engine.commit.spill import SpillFile
from engine.streams.row_errors import view_error
from engine.streams.stream import Stream, arrived, has_arrival
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.pages.log_rows import ARRIVED_FORMS, ROW_FORMS, ROWS_HEAD, encode_rows
from ringbuffer.pages.packed_rows import PACKED_ROWS_MAX, pack_rows
from ringbuffer.ring.string_room import StringSizes, string_sizes
from views.upkeep.caps import Reservation, StateCaps
from views.upkeep.chain import Chain
from views.upkeep.commit_buffers import MERGED_BYTES_MAX, CommitBuffer, is_large
from views.upkeep.computed import ComputedRows
from views.upkeep.group_state import GroupState

# So many rows and bytes are folded under the commit lock; more of them into a table before.
CHECKED_ROWS_MAX = 1024
CHECKED_BYTES_MAX = MERGED_BYTES_MAX
# Transactions of more rows or bytes are in the log before their turn comes to be decided.
AT_ONCE_ROWS_MAX = 4096
AT_ONCE_BYTES_MAX = 256 * 1024
# Of fewer rows in a record, how each column is packed would take more room than packing saves.
PACKED_ROWS_MIN = 64


class RowTransform(Protocol):
    """The transform of rows of one stream to rows of another; thread-safe."""

    def rows(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows of the other stream, which may be none. Raises SqlError."""


@dataclass(frozen=True)
class Derived:
    """The rows that one transform makes of a stage's rows.

    Attributes:
        view: the transform in the catalog.
        transform: what it does.
        stage: takes the rows.
    """

    view: ViewEntry
    transform: RowTransform
    stage: StatementStage


class StatementStage:
    """The staged rows of one statement.

    Attributes:
        rows_count: rows so far.
        now_us: now() of the transaction.
        arrival_us: when the rows arrive, a guess until `arrive`; a statement that gives the time
            has it as a column of its rows.
        reserved: the room for its groups in states that have caps, from COMMIT on.
        ahead: its rows that are in the log before COMMIT, if any are.
        transforms: of its stream.
        derived: of a client's statement, the stages of all rows that are derived from its rows,
            directly or through others.
    """

    __slots__ = (
        "_arrival_given",
        "_bytes_count",
        "_caps",
        "_checked",
        "_extended",
        "_joined",
        "_memory_bytes_max",
        "_morsels",
        "_new_spill",
        "_rooms",
        "_sizes",
        "_spill",
        "_tables",
        "ahead",
        "arrival_us",
        "derived",
        "now_us",
        "reserved",
        "rows_count",
        "stream",
        "transforms",
    )

    def __init__(
        self,
        stream: Stream,
        views: tuple[Chain, ...],
        now_us: int,
        memory_bytes_max: int,
        new_spill: Callable[[], SpillFile],
        caps: StateCaps,
    ) -> None:
        self.stream = stream
        self.rows_count = 0
        self.now_us = self.arrival_us = now_us
        self._arrival_given = False
        self._memory_bytes_max = memory_bytes_max
        self._new_spill = new_spill
        self._caps = caps
        self._morsels: list[Morsel] = []
        self._sizes: list[StringSizes] = []
        self._bytes_count = 0
        self._spill: SpillFile | None = None
        self._checked: tuple[Chain, ...] = views
        self._tables: dict[Chain, GroupTable] | None = None
        # Of views for which the embedded engine computes columns: the rows with these, until they
        # are applied.
        self._extended: dict[Chain, list[Morsel]] = {}
        self._rooms: list[CommitBuffer] = []
        self.reserved: Reservation | None = None
        self.ahead: LoggedAhead | None = None
        self.transforms: tuple[Derived, ...] = ()
        self.derived: tuple[StatementStage, ...] = ()
        # Of views whose joined tables may change: the version of these that rows have met first.
        self._joined: dict[Chain, int] = {}

    def add(self, morsel: Morsel) -> None:
        """Stage one more morsel.

        Raises SqlError for a row that a view can't evaluate; the caller then drops the stage.
        """
        self.rows_count += morsel.rows_count
        self._bytes_count += morsel.rows_count * self.stream.row_bytes + morsel.heap.nbytes
        self._arrival_given = has_arrival(morsel, self.stream)
        # `apply` reads no file, so rows that go into one are folded as well.
        bytes_max = min(self._memory_bytes_max, CHECKED_BYTES_MAX)
        is_small = self.rows_count <= CHECKED_ROWS_MAX and self._bytes_count <= bytes_max
        if self._tables is None and is_small:
            for view in self._checked:
                self._evaluate(view, morsel)
        else:
            self._fold_all(morsel)
        self._keep(morsel)
        for one in self.transforms:
            rows = one.transform.rows(morsel, self.now_us)
            if rows.rows_count:
                one.stage.add(rows)

    def has_transforms(self, views: Sequence[ViewEntry]) -> bool:
        """Tell whether these transforms derive the rows that were derived."""
        if len(views) != len(self.transforms):
            return False
        pairs = zip(self.transforms, views, strict=True)
        return all(
            one.view is view
            or (one.view.output == view.output and one.view.description.query == view.description.query)
            for one, view in pairs
        )

    @property
    def views_count(self) -> int:
        """How many views take the rows."""
        return len(self._checked)

    @property
    def morsels_count(self) -> int:
        """How many morsels are staged."""
        return len(self._morsels) + (0 if self._spill is None else self._spill.count)

    @property
    def is_many(self) -> bool:
        """True when so much is staged that it goes into the log before its turn to be decided."""
        return self.rows_count > AT_ONCE_ROWS_MAX or self._bytes_count > AT_ONCE_BYTES_MAX

    @property
    def string_sizes(self) -> list[StringSizes]:
        """The sizes of the long strings of each morsel.

        Empty for a stream without columns of strings.
        """
        return self._sizes

    def prepare(self, views: tuple[Chain, ...]) -> None:
        """Prepare the rows for the views that are attached at COMMIT.

        Groups of views that are gone are dropped, and rows are evaluated for views that are new.
        """
        stale = [view for view, version in self._joined.items() if view.state.program.joins.version != version]
        if not stale and (views is self._checked or views == self._checked):
            return
        for view in stale:
            # Its tables have changed since.
            del self._joined[view]
            self._extended.pop(view, None)
            if self._tables is not None:
                self._tables.pop(view, None)
        for view in views:
            if view in self._checked and view not in stale:
                continue
            for morsel in self.morsels():
                self._evaluate(view, morsel)
        self._checked = views

    @property
    def folds_on_arrival(self) -> bool:
        """True when `arrive` has many rows to evaluate."""
        return self._tables is not None and any(self._awaits_arrival(view) for view in self._checked)

    def arrive(self, arrival_us: int) -> None:
        """Set the time of arrival, after `prepare`.

        Raises SqlError for a row that a view can't evaluate with this time.
        """
        self.arrival_us = arrival_us
        for view in self._checked:
            if self._awaits_arrival(view):
                if self._tables is not None:
                    # A commit that was put off is tried again.
                    self._tables.pop(view, None)
                before = self._extended.pop(view, [])
                for number, morsel in enumerate(self.morsels()):
                    if self._tables is None:
                        self._check(view, morsel, before[number] if before else None)
                    else:
                        self._fold(view, morsel, self._tables)

    @property
    def needs_room(self) -> bool:
        """True when the caller has to call `make_room` before the commit."""
        return any(is_large(table) for table in (self._tables or {}).values())

    def make_room(self) -> None:
        """Make room for the groups in the queues of the views: tables that wait are merged if they
        are too many.

        The caller holds no lock.
        """
        self._leave_rooms()
        for view, table in (self._tables or {}).items():
            if is_large(table):
                self._rooms.append(view.state.groups.make_room())

    def capped(self) -> Iterator[tuple[GroupState, GroupTable]]:
        """Yield each state that has a cap, with the groups that the rows would add to it.

        Raises SqlError for a row that a view can't evaluate.
        """
        for view in self._checked:
            states = [state for state in view.state.groups.together if state.is_capped]
            if states:
                table = self._table_of(view)
                yield from ((state, table) for state in states)

    def _table_of(self, view: Chain) -> GroupTable:
        """Return the groups of the rows; those of rows that wait for their arrival are a guess."""
        if self._tables is not None and view in self._tables:
            return self._tables[view]
        tables: dict[Chain, GroupTable] = {}
        for morsel in self._extended.get(view) or self.morsels():
            self._fold(view, morsel, tables)
        return tables.get(view) or view.state.program.new_table()

    def _leave_rooms(self) -> None:
        while self._rooms:
            self._rooms.pop().leave_room()

    def apply(self) -> None:
        """Bring the rows into the local states of the views; this can't fail on data.

        The caller holds the commit lock.
        """
        if self._tables is None:
            for view in self._checked:
                for morsel in self._extended.get(view) or self._morsels:
                    view.state.apply(self._seen(view, morsel), self.now_us)
                view.state.groups.note_commit()
        else:
            for view in self._checked:
                view.state.groups.absorb(self._tables[view])
                view.state.groups.note_commit()
            self._leave_rooms()
        if self.reserved is not None:
            self.reserved.applied()
            self.reserved = None

    def give_back(self) -> None:
        """Give back the room in states."""
        if self.reserved is not None:
            self.reserved.give_back()
            self.reserved = None

    def append_to_ring(self) -> None:
        """Write the rows to the ring, in order."""
        for morsel, sizes in zip_longest(self.morsels(), self._sizes):
            self.stream.ring.append(morsel, self.arrival_us, None if sizes is None else sizes.total)
        self._end()

    def close(self) -> None:
        """Give back memory, files, and the room in queues and states of the views, those of derived
        rows, too.
        """
        for stage in (self, *self.derived):
            stage._end()

    def _end(self) -> None:
        self._leave_rooms()
        self.give_back()
        if self.ahead is not None:
            self.ahead.end()
            self.ahead = None
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def _keep(self, morsel: Morsel) -> None:
        texts = self.stream.ring.texts
        if texts:
            self._sizes.append(string_sizes(morsel, texts))
        if self._spill is None and self._bytes_count > self._memory_bytes_max:
            self._spill = self._new_spill()
        if self._spill is None:
            self._morsels.append(morsel)
        else:
            self._spill.write(morsel, self.stream.layout_of(morsel))

    def morsels(self) -> Iterator[Morsel]:
        """Yield the rows in order; may be called again."""
        yield from self._morsels
        if self._spill is not None:
            yield from self._spill.read(self.stream.row_layout if self._arrival_given else self.stream.layout)

    def payload(self, morsel: Morsel) -> list[bytes | memoryview]:
        """Return a morsel as the payload of a record of rows."""
        stream = self.stream
        layout = stream.layout_of(morsel)
        is_packed = PACKED_ROWS_MIN <= morsel.rows_count <= PACKED_ROWS_MAX
        form = (ARRIVED_FORMS if layout is stream.row_layout else ROW_FORMS)[is_packed]
        head = ROWS_HEAD.pack(stream.oid, form, len(stream.layout), self.now_us)
        return [head, pack_rows(morsel, layout)] if is_packed else [head, *encode_rows(morsel, layout)]

    def _fold_all(self, morsel: Morsel) -> None:
        if self._tables is None:
            self._tables = {}
            for view in self._checked:
                for earlier in self._morsels:
                    self._evaluate(view, earlier)
        for view in self._checked:
            self._evaluate(view, morsel)

    def _awaits_arrival(self, view: Chain) -> bool:
        """Tell whether the view looks at the time of arrival, and the rows have none before
        COMMIT.
        """
        return view.uses_arrival and not self._arrival_given

    def _seen(self, view: Chain, morsel: Morsel) -> Morsel:
        """Return the rows in the form that the view's kernel takes."""
        if isinstance(morsel, ComputedRows):
            return morsel
        return arrived(morsel, self.arrival_us) if self._awaits_arrival(view) else morsel

    def _evaluate(self, view: Chain, morsel: Morsel) -> None:
        """Fold the rows if that is possible before COMMIT, otherwise check them."""
        if view.joins_at_arrival:
            self._joined.setdefault(view, view.state.program.joins.version)
        if self._tables is None or self._awaits_arrival(view):
            self._check(view, morsel)
        else:
            self._fold(view, morsel, self._tables)

    def _fold(self, view: Chain, morsel: Morsel, tables: dict[Chain, GroupTable]) -> None:
        table = tables.get(view)
        if table is None:
            table = tables[view] = view.state.program.new_table()
        try:
            view.state.program.fold(self._seen(view, morsel), table, self.now_us)
        except RowError as error:
            raise view_error(view, error) from None
        if is_large(table):
            self._caps.require_alone(view.state.groups.together, table)

    def _check(self, view: Chain, morsel: Morsel, before: Morsel | None = None) -> None:
        """Check rows. before: the same rows with computed columns and a guess of their arrival."""
        rows, computed = self._seen(view, morsel), view.state.program.computed
        if computed is not None:
            rows = (
                computed.extended(rows, self.now_us) if before is None else computed.arrived(before, rows, self.now_us)
            )
            self._extended.setdefault(view, []).append(rows)
        try:
            view.state.program.check(rows, self.now_us)
        except RowError as error:
            raise view_error(view, error) from None
