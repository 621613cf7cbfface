"""Locks on tables (LOCK TABLE, writers), on rows (FOR UPDATE, writers), and on whatever else has a
key.

The modes are PostgreSQL's. Enters: the lock that a session asks for, and how long it waits. Leaves:
the lock, or PostgreSQL's error: 55P03, 40P01, 57014. Locks only make sessions wait for each other;
the snapshots of the table file decide what a transaction may write. A waiting session blocks a
thread of its own. Must not know SQL.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from sql.errors import SqlError

TABLE_MODES = (
    "ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE",
    "ACCESS EXCLUSIVE",
)  # fmt: skip
_ALL = frozenset(TABLE_MODES)
_FROM_SHARE = frozenset(TABLE_MODES[4:])
# Mode -> those that others may not have meanwhile.
CONFLICTS: dict[str, frozenset[str]] = {
    "ACCESS SHARE": frozenset({"ACCESS EXCLUSIVE"}),
    "ROW SHARE": frozenset({"EXCLUSIVE", "ACCESS EXCLUSIVE"}),
    "ROW EXCLUSIVE": _FROM_SHARE,
    "SHARE UPDATE EXCLUSIVE": _FROM_SHARE | {"SHARE UPDATE EXCLUSIVE"},
    "SHARE": frozenset(TABLE_MODES[2:4]) | frozenset(TABLE_MODES[5:]),
    "SHARE ROW EXCLUSIVE": frozenset(TABLE_MODES[2:]),
    "EXCLUSIVE": frozenset(TABLE_MODES[1:]),
    "ACCESS EXCLUSIVE": _ALL,
    "FOR KEY SHARE": frozenset({"FOR UPDATE"}),
    "FOR SHARE": frozenset({"FOR NO KEY UPDATE", "FOR UPDATE"}),
    "FOR NO KEY UPDATE": frozenset({"FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"}),
    "FOR UPDATE": frozenset({"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE"}),
}
# More rows than this are locked as all rows of their table.
ROWS_MAX = 1024
# DuckDB gives rows that are not committed numbers from here; nobody else sees them.
UNCOMMITTED_ROWS = 36_028_797_018_960_000
# How often a waiting session looks whether its statement was cancelled.
LOOK_S = 0.05

# ("table", oid), ("row", oid, rowid or -1 for all rows of the table), or a kind of its own with
# numbers.
Key = tuple[str | int, ...]


@dataclass(eq=False)
class SessionLocks:
    """The locks of one session.

    Attributes:
        locks: of the server.
        wait_ms_max: lock_timeout now, 0 for none.
        check_cancelled: raises when the statement is to end.
        passing: locks of its transaction, which are released at its end.
        lasting: locks that the session keeps beyond it, and how often it has each.
    """

    locks: Locks
    process_id: int
    wait_ms_max: Callable[[], int]
    check_cancelled: Callable[[], None]
    passing: Counter[tuple[Key, str]] = field(default_factory=Counter)
    lasting: Counter[tuple[Key, str]] = field(default_factory=Counter)

    def has(self, key: Key, mode: str) -> bool:
        """Tell whether the session has exactly this lock."""
        return bool(self.passing[key, mode] or self.lasting[key, mode])

    def count(self, kind: str) -> int:
        """Return how many locks of a kind the session has."""
        return sum(key[0] == kind for key, _ in chain(self.passing, self.lasting))

    def take(self, key: Key, mode: str, waits: bool = True, lasting: bool = False) -> bool:
        """Take a lock, or wait for it. Raises 40P01, 55P03, 57014.

        False: another session has it, and `waits` is false.
        """
        return self.locks.take(self, [key], mode, waits, lasting)

    def take_rows(self, table: int, rowids: Sequence[int], mode: str, waits: bool = True) -> bool:
        """Take the locks of all these rows of a table, or none of them. Raises as `take` does."""
        keys: list[Key] = [("row", table, number) for number in rowids if number < UNCOMMITTED_ROWS]
        if len(keys) > ROWS_MAX:
            keys = [("row", table, -1)]
        return self.locks.take(self, keys, mode, waits, lasting=False)

    def others_rows(self, table: int) -> int | None:
        """Return how many rows of a table other sessions have locked; None: perhaps all."""
        return self.locks.rows_of_others(self, table)

    def give_back(self, key: Key, mode: str) -> bool:
        """Release a lock of the session once; False: the session does not have it."""
        if not self.lasting[key, mode]:
            return False
        self.lasting[key, mode] -= 1
        if not self.lasting[key, mode]:
            del self.lasting[key, mode]
        self.locks.release(self, [(key, mode)])
        return True

    def end_transaction(self) -> None:
        """Release the locks of the transaction."""
        if self.passing:
            gone, self.passing = self.passing, Counter()
            self.locks.release(self, gone)

    def give_all_back(self) -> None:
        """Release the locks that do not end with a transaction."""
        gone, self.lasting = self.lasting, Counter()
        self.locks.release(self, gone)

    def end(self) -> None:
        """Release all locks: the session is over."""
        self.end_transaction()
        self.give_all_back()


class Locks:
    """All locks of a server. Any thread may call it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # Key -> those that have it, and in which modes.
        self._holders: defaultdict[Key, dict[SessionLocks, set[str]]] = defaultdict(dict)
        # Table -> the numbers of its locked rows.
        self._rows: defaultdict[int, set[int]] = defaultdict(set)
        # Those that wait, and for what.
        self._waiting: dict[SessionLocks, tuple[list[Key], str]] = {}

    def take(self, owner: SessionLocks, keys: list[Key], mode: str, waits: bool, lasting: bool) -> bool:
        """Take locks for a session; see SessionLocks.take and take_rows."""
        limit_ms = owner.wait_ms_max()
        end_s = time.monotonic() + limit_ms / 1000 if limit_ms else None
        with self._changed:
            try:
                while self._blockers(owner, keys, mode):
                    if not waits:
                        return False
                    if owner not in self._waiting:
                        self._waiting[owner] = (keys, mode)
                        self._refuse_circle(owner)
                    self._changed.wait(LOOK_S)
                    owner.check_cancelled()
                    if end_s is not None and time.monotonic() >= end_s and self._blockers(owner, keys, mode):
                        raise SqlError("55P03", "canceling statement due to lock timeout")
            finally:
                self._waiting.pop(owner, None)
            for key in keys:
                self._holders[key].setdefault(owner, set()).add(mode)
                if key[0] == "row":
                    self._rows[int(key[1])].add(int(key[2]))
            # Taken once or often, a transaction's locks go at once.
            if lasting:
                owner.lasting.update((key, mode) for key in keys)
            else:
                owner.passing.update({(key, mode): 1 for key in keys if (key, mode) not in owner.passing})
        return True

    def release(self, owner: SessionLocks, gone: Iterable[tuple[Key, str]]) -> None:
        """Take locks from a session that has no reason to have them any more.

        A mode that it has for another reason stays.
        """
        with self._changed:
            for key, mode in gone:
                modes = self._holders[key].get(owner)
                if modes is None or owner.has(key, mode):
                    continue
                modes.discard(mode)
                if not modes:
                    del self._holders[key][owner]
                if not self._holders[key]:
                    self._forget(key)
            self._changed.notify_all()

    def told(self) -> tuple[list[tuple[int, Key, str, bool]], dict[int, list[int]]]:
        """Return (process, key, mode, whether it has the lock) of locks on tables and of other
        kinds, and for each process that waits those that it waits for.
        """
        with self._changed:
            held = [
                (owner.process_id, key, mode, True)
                for key, owners in self._holders.items()
                if key[0] != "row"
                for owner, modes in owners.items()
                for mode in sorted(modes)
            ]
            awaited = [
                (owner.process_id, key, mode, False)
                for owner, (keys, mode) in self._waiting.items()
                for key in keys
                if key[0] != "row"
            ]
            blocking = {
                owner.process_id: sorted(other.process_id for other in self._blockers(owner, keys, mode))
                for owner, (keys, mode) in self._waiting.items()
            }
            return held + awaited, blocking

    def rows_of_others(self, owner: SessionLocks, table: int) -> int | None:
        """Return how many rows other sessions have locked; see SessionLocks.others_rows."""
        with self._changed:
            rows = [row for row in self._rows.get(table, ()) if self._holders[self._row(table, row)].keys() - {owner}]
            return None if -1 in rows else len(rows)

    @staticmethod
    def _row(table: int, row: int) -> Key:
        return ("row", table, row)

    def _forget(self, key: Key) -> None:
        del self._holders[key]
        if key[0] == "row":
            rows = self._rows[int(key[1])]
            rows.discard(int(key[2]))
            if not rows:
                del self._rows[int(key[1])]

    def _blockers(self, owner: SessionLocks, keys: list[Key], mode: str) -> set[SessionLocks]:
        """Return the sessions with locks that conflict with the ones asked for."""
        conflicting = CONFLICTS[mode]
        return {
            other
            for key in keys
            for near in self._overlapping(key)
            for other, modes in self._holders.get(near, {}).items()
            if other is not owner and not conflicting.isdisjoint(modes)
        }

    def _overlapping(self, key: Key) -> list[Key]:
        """Return the keys whose locks include those of `key`, or are included in them."""
        if key[0] != "row":
            return [key]
        table = int(key[1])
        rows = self._rows.get(table, set())
        return [self._row(table, row) for row in (rows if key[2] == -1 else (int(key[2]), -1))]

    def _refuse_circle(self, owner: SessionLocks) -> None:
        """Raise 40P01 when a session for which the owner waits waits for the owner."""
        path: dict[SessionLocks, SessionLocks] = {}
        left = [owner]
        while left:
            waiting = left.pop()
            if waiting not in self._waiting:
                continue
            for other in self._blockers(waiting, *self._waiting[waiting]):
                if other is owner:
                    raise SqlError("40P01", "deadlock detected", detail=self._story(owner, waiting, path))
                if other not in path:
                    path[other] = waiting
                    left.append(other)

    def _story(self, owner: SessionLocks, last: SessionLocks, path: dict[SessionLocks, SessionLocks]) -> str:
        members = [last]
        while members[-1] is not owner:
            members.append(path[members[-1]])
        members.reverse()
        lines = []
        for one, other in zip(members, [*members[1:], owner], strict=True):
            keys, mode = self._waiting[one]
            what = " ".join(str(part) for part in keys[0])
            lines.append(f"Process {one.process_id} waits for {mode} on {what}; blocked by process {other.process_id}.")
        return "\n".join(lines)
