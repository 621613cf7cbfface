"""The commit of one whole row that is a transaction of its own.

Enters: the memory of a row, the views that take it. Leaves: a commit that is used again and again.
Must not know messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from engine.log.commits import Commit
from ringbuffer.groups.known_groups import StateSize
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.pages.log_rows import RowRecord
from ringbuffer.ring.ring import RowWriter
from sql.errors import SqlError
from views.upkeep.caps import RowParts, StateCaps
from views.upkeep.chain import Chain
from views.upkeep.computed import ComputedRow
from views.upkeep.group_state import GroupState

Views = Sequence[Chain]


class RowCommit(Commit):
    """A commit of one whole row of a stream that lies in the same memory each time.

    The object is used again and again; neither the object nor the memory of the row changes between
    a commit and its answer.

    Attributes:
        arrival: the last column of the row.
        most: how much the row may add to each state that has a cap: None without any, and empty
            where only folding tells.
        caps: those in which this much is reserved.
        tell_time: is called with now() before the row is used, where columns have it.
    """

    __slots__ = (
        "arrival", "caps", "checks", "counts", "folds", "most", "now_us", "record", "ring_row", "room", "row",
        "string_bytes_max", "tell_time", "views",
    )  # fmt: skip

    def __init__(
        self, row: Morsel, record: RowRecord, ring_row: RowWriter, tell_time: Callable[[int], None] | None = None
    ) -> None:
        super().__init__(ignore, waits=False)
        self.row = row
        self.arrival: npt.NDArray[Any] = row.data[-1]
        self.record = record
        self.ring_row = ring_row
        self.room = ring_row.string_room
        self.string_bytes_max = row.heap.nbytes
        self.tell_time = tell_time
        self.views: Views = ()
        self.checks: list[Callable[[Morsel, int], None]] = []
        self.folds: list[Callable[[int], None]] = []
        self.counts: list[Callable[[], None]] = []
        self.most: RowParts | None = None
        self.caps: StateCaps | None = None
        self.now_us = 0

    def meet(self, views: Views, caps: StateCaps) -> None:
        """Exchange the views that take the row. The caller calls between two commits of the row."""
        self.views = views
        self.checks, self.folds = [], []
        self.counts = [view.state.groups.note_commit for view in views]
        most = most_of(views, self.row)
        self.most = None if most is None else caps.parts_of(most)
        for view in views:
            state = view.state
            if state.program.computed is not None:
                computed = ComputedRow(state, self.row, state.program.computed)
                self.checks.append(computed.check)
                self.folds.append(computed.fold)
                continue
            if state.program.can_fail:
                self.checks.append(state.program.check)
            self.folds.append(state.row_fold(self.row))

    def arrive(self, now_us: int, newest_us: int) -> int:
        """Set and return the time of arrival in us: now, or the newest row's if that is later."""
        if self.tell_time is not None:
            self.tell_time(now_us)
        self.arrival[0] = self.now_us = now_us = max(now_us, newest_us)
        return now_us

    def passes(self) -> bool:
        """Tell whether all views can take the row, whose arrival is set."""
        try:
            for check in self.checks:
                check(self.row, self.now_us)
        except (RowError, SqlError):
            # The general way tells it.
            return False
        return True

    def reserve(self, caps: StateCaps) -> bool:
        """Reserve room in the states that have caps, where the row is sure to have room."""
        if not self.most or not caps.reserve_row(self.most):
            return False
        self.caps = caps
        return True

    def end_reserving(self, is_applied: bool) -> None:
        """Give back the room, or note that it is taken."""
        if self.caps is not None:
            assert self.most is not None
            self.caps.row_ends(self.most, is_applied)
            self.caps = None

    def apply(self) -> None:
        """Bring the row into the views; see Commit."""
        for fold in self.folds:
            fold(self.now_us)
        for count in self.counts:
            count()
        if self.caps is not None:
            self.end_reserving(is_applied=True)

    def publish(self) -> None:
        """Bring the row into the ring; see Commit."""
        self.ring_row.append()


def most_of(views: Views, row: Morsel) -> dict[GroupState, StateSize] | None:
    """Return how much a row may add to each state that has a cap; see `RowCommit.most`."""
    found: dict[GroupState, StateSize] | None = None
    is_known = True
    for view in views:
        for groups in view.state.groups.together:
            if groups.is_capped:
                found = {} if found is None else found
                most = view.state.program.most_of_row(row)
                is_known = is_known and most is not None
                found[groups] = most or StateSize()
    return found if is_known or found is None else {}


def ignore(_: SqlError | None) -> None:
    """Take an answer for which no thread waits."""
