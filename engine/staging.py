"""One statement's rows on a stream: staged before COMMIT, applied at COMMIT (architecture page, 'staged, then applied').

Enters: morsels of whole rows. `add` runs them through every attached view's kernel, so that every error a row can cause is raised
before anything shared is touched; `apply` can't fail on data. A small statement only checks its rows at first and folds them when it
is applied; a large one folds into statement-local tables at once. Must not know sockets, SQL text, or other statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.row_errors import view_error
from engine.spill import SpillFile
from engine.stream import Stream
from ringbuffer.columns import Morsel
from ringbuffer.error_codes import RowError
from ringbuffer.hash_table import GroupTable
from ringbuffer.string_room import StringSizes, string_sizes
from views.view import ContinuousView

CHECKED_ROWS_MAX = 1024


class StatementStage:
    """The staged rows of one statement. rows_count: rows so far; now_us: the transaction's now()."""

    __slots__ = (
        "_bytes_count",
        "_checked",
        "_memory_bytes_max",
        "_morsels",
        "_new_spill",
        "_sizes",
        "_spill",
        "_tables",
        "now_us",
        "rows_count",
        "stream",
    )

    def __init__(
        self,
        stream: Stream,
        views: tuple[ContinuousView, ...],
        now_us: int,
        memory_bytes_max: int,
        new_spill: Callable[[], SpillFile],
    ) -> None:
        self.stream = stream
        self.rows_count = 0
        self.now_us = now_us
        self._memory_bytes_max = memory_bytes_max
        self._new_spill = new_spill
        self._morsels: list[Morsel] = []
        self._sizes: list[StringSizes] = []
        self._bytes_count = 0
        self._spill: SpillFile | None = None
        self._checked: tuple[ContinuousView, ...] = views
        self._tables: dict[ContinuousView, GroupTable] | None = None

    def add(self, morsel: Morsel) -> None:
        """Stage one more morsel. Raises SqlError for a row that a view can't evaluate; the caller then drops the stage."""
        self.rows_count += morsel.rows_count
        self._bytes_count += morsel.rows_count * self.stream.row_bytes + morsel.heap.nbytes
        # `apply` reads no file, so rows that go into one are folded as well.
        is_small = self.rows_count <= CHECKED_ROWS_MAX and self._bytes_count <= self._memory_bytes_max
        if self._tables is None and is_small:
            for view in self._checked:
                self._check(view, morsel)
        else:
            self._fold_all(morsel)
        self._keep(morsel)

    @property
    def morsels_count(self) -> int:
        """How many morsels there are."""
        return len(self._morsels) + (0 if self._spill is None else self._spill.count)

    @property
    def string_sizes(self) -> list[StringSizes]:
        """The sizes of the long strings of each morsel; none of a stream without columns of strings."""
        return self._sizes

    def prepare(self, views: tuple[ContinuousView, ...]) -> None:
        """Make ready for the views attached now, at COMMIT: drop those that are gone, evaluate those that are new."""
        if views is self._checked or views == self._checked:
            return
        for view in views:
            if view in self._checked:
                continue
            for morsel in self.morsels():
                if self._tables is None:
                    self._check(view, morsel)
                else:
                    self._fold(view, morsel, self._tables)
        self._checked = views

    def apply(self) -> None:
        """Bring the rows into the views' local state. The caller holds the commit lock; nothing here can fail on data."""
        if self._tables is None:
            for view in self._checked:
                for morsel in self._morsels:
                    view.state.apply(morsel, self.now_us)
                view.note_commit()
            return
        for view in self._checked:
            view.state.absorb(self._tables[view])
            view.note_commit()

    def append_to_ring(self) -> None:
        """Write the rows to the ring, in order."""
        for morsel in self.morsels():
            self.stream.ring.append(morsel)
        self.close()

    def close(self) -> None:
        """Give back what the stage holds outside memory."""
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
            self._spill.write(morsel, self.stream.layout)

    def morsels(self) -> Iterator[Morsel]:
        """Yield the rows in order; may be called again."""
        yield from self._morsels
        if self._spill is not None:
            yield from self._spill.read(self.stream.layout)

    def _fold_all(self, morsel: Morsel) -> None:
        if self._tables is None:
            self._tables = {}
            for view in self._checked:
                for earlier in self._morsels:
                    self._fold(view, earlier, self._tables)
        for view in self._checked:
            self._fold(view, morsel, self._tables)

    def _fold(self, view: ContinuousView, morsel: Morsel, tables: dict[ContinuousView, GroupTable]) -> None:
        table = tables.get(view)
        if table is None:
            table = tables[view] = view.state.new_table()
        try:
            view.state.fold(morsel, table, self.now_us)
        except RowError as error:
            raise view_error(view, error) from None

    def _check(self, view: ContinuousView, morsel: Morsel) -> None:
        try:
            view.state.check(morsel, self.now_us)
        except RowError as error:
            raise view_error(view, error) from None
