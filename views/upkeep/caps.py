"""The caps of states: how many groups and bytes a view, and all views together, may have.

Enters: the tables that commits are about to add. Leaves: reservations; 53200 for what would pass a
cap. A state's size is known as an upper bound, which every reservation raises: a commit that keeps
below the caps by that bound asks nothing more. Only where the bound passes a cap are the different
groups counted, outside of all locks that commits need. What is reserved stays counted until it is
applied or given back, so that commits at one time can't pass a cap together. Must not know
sessions, streams or the log.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.groups.join_table import JoinTable
from ringbuffer.groups.known_groups import StateSize, size_of
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from views.model.definition import ViewDefinition
from views.upkeep.chain import Chain
from views.upkeep.group_state import GroupState
from views.upkeep.join_tables import Joins

NOTHING = StateSize()
# What one row may add at most, by state.
RowParts = tuple[tuple["Account", StateSize], ...]
# What a statement would add, by state.
Wanted = Mapping[GroupState, Sequence[GroupTable]]
# So often a statement counts again after others have reserved room that they may not need; and so
# long it waits each time until they are applied.
TRIES_MAX = 3
WAIT_S = 1.0


@dataclass(eq=False)
class Account:
    """The size of one state, as far as caps ask for it.

    Attributes:
        counted: at most so much with all that is reserved; None: not counted yet.
        reserved: by commits that are not applied.
        moved: all that was ever reserved, without what was given back; counting does not change it.
        caps: those that the state is under.
    """

    groups: GroupState
    joins: Joins
    counted: StateSize | None = None
    reserved: StateSize = NOTHING
    moved: StateSize = NOTHING
    caps: list[Cap] = field(default_factory=list)

    def count(self, counted: StateSize | None) -> None:
        """Exchange the bound, here and in the sums of the caps."""
        for cap in self.caps:
            cap.exchange(self.counted, counted)
        self.counted = counted

    def give_back(self, size: StateSize) -> None:
        """Give back what was reserved; it may be counted no more."""
        self.reserved = self.reserved.minus(size)
        self.moved = self.moved.minus(size)
        if self.counted is not None:
            self.count(self.counted.minus(size))

    def grow(self, groups: int, bytes_count: int) -> None:
        """Reserve so much, or give it back."""
        assert self.counted is not None
        self.counted = StateSize(self.counted[0] + groups, self.counted[1] + bytes_count)
        self.reserved = StateSize(self.reserved[0] + groups, self.reserved[1] + bytes_count)
        self.moved = StateSize(self.moved[0] + groups, self.moved[1] + bytes_count)
        for cap in self.caps:
            cap.counted = StateSize(cap.counted[0] + groups, cap.counted[1] + bytes_count)


@dataclass(eq=False)
class Cap:
    """The largest size of some states together.

    Attributes:
        name: the view whose states they are; empty: those of all views.
        groups_max, bytes_max: 0: no limit.
        counted: the sum of the bounds of the states that are counted.
        uncounted: how many states are not.
    """

    name: str
    groups_max: int
    bytes_max: int
    accounts: list[Account] = field(default_factory=list)
    counted: StateSize = NOTHING
    uncounted: int = 0

    def add(self, account: Account) -> None:
        """Put a state under the cap."""
        self.accounts.append(account)
        account.caps.append(self)
        self.uncounted += 1
        self.exchange(None, account.counted)

    def exchange(self, before: StateSize | None, after: StateSize | None) -> None:
        """Exchange the bound of one state."""
        self.uncounted += (after is None) - (before is None)
        self.counted = self.counted.minus(before or NOTHING).plus(after or NOTHING)

    def is_less_than(self, size: StateSize) -> bool:
        """Tell whether a size passes the cap."""
        return 0 < self.groups_max < size.groups or 0 < self.bytes_max < size.bytes

    def has_room(self, more: StateSize) -> bool:
        """Tell whether the states may grow so. What does not grow passes no cap."""
        groups, bytes_count = self.counted.plus(more)
        return not self.is_less_than(StateSize(groups if more.groups > 0 else 0, bytes_count if more.bytes > 0 else 0))

    def error(self, before: StateSize, more: StateSize) -> SqlError:
        """Return the error of a statement that would pass the cap."""
        is_of_groups = bool(self.groups_max) and before.groups + more.groups > self.groups_max and more.groups > 0
        number = 0 if is_of_groups else 1
        option, unit = ("max_groups", "groups") if is_of_groups else ("max_bytes", "bytes")
        most = self.groups_max if is_of_groups else self.bytes_max
        now, added = before[number], more[number]
        if not self.name:
            return SqlError(
                "53200",
                f"the continuous views would have {now + added:,} bytes, more than view_bytes_max of {most:,}",
                detail=f"They have {now:,} bytes, and the statement adds {added:,}.",
                hint="Raise view_bytes_max in antumbra.conf, drop views, or forget what a view has counted by "
                "SELECT truncate_continuous_view('...').",
            )
        view = name_of(self.name)
        return SqlError(
            "53200",
            f'view "{view}" would have {now + added:,} {unit}, more than its {option} of {most:,}',
            detail=f"It has {now:,} {unit}, and the statement adds {added:,}.",
            hint=f"Raise {option} by ALTER VIEW {view} SET ({option} = ...), or forget what the view has counted by "
            f"SELECT truncate_continuous_view('{view}').",
        )


@dataclass(frozen=True)
class Reservation:
    """Room in states for a commit, until the commit is applied or given up."""

    caps: StateCaps
    parts: tuple[tuple[Account, StateSize], ...]

    def applied(self) -> None:
        """Note that the tables are in the buffers of their states."""
        with self.caps.changed:
            for account, size in self.parts:
                account.reserved = account.reserved.minus(size)
            self.caps.changed.notify_all()

    def give_back(self) -> None:
        """Give the room back: nothing will be applied."""
        with self.caps.changed:
            for account, size in self.parts:
                account.give_back(size)
            self.caps.changed.notify_all()


class StateCaps:
    """The caps of all views of a server.

    Attributes:
        changed: guards all accounts, and tells of reservations that end.

    Arguments:
        bytes_max: of all states together, 0: no limit.
        commit_lock: held while tables move.
    """

    def __init__(self, bytes_max: int, commit_lock: AbstractContextManager[object]) -> None:
        self.changed = threading.Condition()
        self._bytes_max = bytes_max
        self._commit_lock = commit_lock
        self._accounts: dict[GroupState, Account] = {}
        self._waiting = 0

    def follow(self, chains: Iterable[Chain]) -> None:
        """Take up the views of a new catalog. The caller holds the commit lock."""
        caps: dict[str, Cap] = {}
        accounts: dict[GroupState, Account] = {}
        total = Cap("", 0, self._bytes_max)
        with self.changed:
            for chain in chains:
                state, limits = chain.state, chain.definition.caps
                account = self._accounts.get(state.groups) or Account(state.groups, state.program.joins)
                account.caps.clear()
                if limits.groups_max or limits.bytes_max:
                    name = chain.definition.name
                    caps.setdefault(name, Cap(name, limits.groups_max, limits.bytes_max)).add(account)
                if total.bytes_max:
                    total.add(account)
                state.groups.is_capped = bool(account.caps)
                if account.caps:
                    accounts[state.groups] = account
            self._accounts = accounts

    def reserve_quickly(self, wanted: Wanted) -> Reservation | None:
        """Reserve room where the bounds allow it; None: only `reserve` can tell."""
        sizes = {groups: groups.most_of(tables) for groups, tables in wanted.items()}
        with self.changed:
            return self._reserved(sizes, must=False)

    def parts_of(self, most: Mapping[GroupState, StateSize]) -> RowParts:
        """Return what a row may add at most, for `reserve_row`; nothing while caps change."""
        accounts = self._accounts
        if not all(groups in accounts for groups in most):
            return ()
        return tuple((accounts[groups], size) for groups, size in most.items())

    def reserve_row(self, parts: RowParts) -> bool:
        """Reserve room for one row if there is room for sure, until `row_ends`."""
        with self.changed:
            for number, (account, (groups, bytes_count)) in enumerate(parts):
                for cap in account.caps:
                    now = cap.counted
                    if (
                        cap.uncounted
                        or 0 < cap.groups_max < now[0] + groups
                        or 0 < cap.bytes_max < now[1] + bytes_count
                    ):
                        for earlier, size in parts[:number]:
                            earlier.grow(-size.groups, -size.bytes)
                        return False
                account.grow(groups, bytes_count)
        return True

    def row_ends(self, parts: RowParts, is_applied: bool) -> None:
        """Note that a row is in the buffers of its states, or never will be."""
        with self.changed:
            for account, size in parts:
                if is_applied:
                    account.reserved = account.reserved.minus(size)
                else:
                    account.give_back(size)
            if self._waiting:
                self.changed.notify_all()

    def reserve(self, wanted: Wanted, waits: bool = True) -> Reservation:
        """Reserve room. Raises SqlError 53200.

        The caller holds no lock that other commits need. waits: for commits that may have reserved
        more than they need.
        """
        found = self.reserve_quickly(wanted)
        tries = 0
        while found is None:
            tries += 1
            sizes = self._counted(wanted)
            with self.changed:
                others = any(account.reserved != NOTHING for account in self._beside(sizes))
                found = self._reserved(sizes, must=tries >= TRIES_MAX or not others or not waits)
                if found is None and others:
                    self._waiting += 1
                    self.changed.wait(WAIT_S)
                    self._waiting -= 1
        return found

    def require_alone(self, states: Iterable[GroupState], table: GroupTable) -> None:
        """Raise 53200 where the groups of a statement that goes on pass a cap by themselves."""
        size = size_of([table])
        for groups in states:
            for cap in self._caps_of(groups) if groups.is_capped else ():
                if cap.is_less_than(size):
                    raise cap.error(NOTHING, size)

    def forget(self, groups: GroupState) -> None:
        """Count a state anew at the next need: its join tables are others."""
        with self.changed:
            if groups in self._accounts:
                self._accounts[groups].count(None)

    def require_joins(self, states: Iterable[GroupState], tables: Iterable[JoinTable]) -> None:
        """Raise 53200 where other join tables, common to some states, would pass a cap.

        No commit may be applied from here until the tables are exchanged.
        """
        capped, size = [groups for groups in states if groups.is_capped], bytes_of(tables)
        if not capped:
            return
        self._counted(dict.fromkeys(capped, ()))
        with self.changed:
            more = {groups: StateSize(0, size - bytes_of(self._accounts[groups].joins.tables)) for groups in capped}
            found = self._reserved(more, must=True)
            if found is not None:
                found.give_back()

    def _beside(self, sizes: Mapping[GroupState, StateSize]) -> list[Account]:
        """Return the accounts under a cap of one of these states."""
        caps = {id(cap): cap for groups in sizes for cap in self._caps_of(groups)}
        return list({id(account): account for cap in caps.values() for account in cap.accounts}.values())

    def _caps_of(self, groups: GroupState) -> Sequence[Cap]:
        account = self._accounts.get(groups)
        return () if account is None else account.caps

    def _counted(self, wanted: Wanted) -> dict[GroupState, StateSize]:
        """Count the states whose caps these tables touch, and return what the tables would add."""
        with self.changed:
            accounts = self._beside(dict.fromkeys(wanted, NOTHING))
        return {
            account.groups: more
            for account, more in [(one, self._count(one, wanted.get(one.groups, ()))) for one in accounts]
            if account.groups in wanted
        }

    def _count(self, account: Account, coming: Sequence[GroupTable]) -> StateSize:
        groups = account.groups
        for buffer in groups.buffers:
            # Groups that wait twice take memory twice.
            buffer.compact()
        with self.changed:
            reserved, before = account.reserved, account.moved
        with self._commit_lock:
            unmerged = groups.set_apart()
        now, more = groups.sizes(unmerged, coming)
        with self.changed:
            # With what was reserved or given back meanwhile, and with the join tables of this
            # moment; others may have counted it anew.
            since = account.moved.minus(before).plus(StateSize(0, bytes_of(account.joins.tables)))
            account.count(now.plus(reserved).plus(since))
        return more

    def _reserved(self, sizes: Mapping[GroupState, StateSize], must: bool) -> Reservation | None:
        """Reserve room under all caps; None, or SqlError if it `must` be, without room.

        The caller holds `changed`.
        """
        wanted: dict[int, tuple[Cap, StateSize]] = {}
        parts = []
        for groups, size in sizes.items():
            account = self._accounts.get(groups)
            if account is None:
                continue
            parts.append((account, size))
            for cap in account.caps:
                wanted[id(cap)] = (cap, wanted.get(id(cap), (cap, NOTHING))[1].plus(size))
        for cap, more in wanted.values():
            if cap.uncounted or not cap.has_room(more):
                if must and not cap.uncounted:
                    raise cap.error(cap.counted, more)
                return None
        for account, size in parts:
            account.grow(*size)
        return Reservation(self, tuple(parts))


def require_room(definition: ViewDefinition, tables: Iterable[JoinTable]) -> None:
    """Raise 53200 where the join tables of a new view alone pass its cap."""
    size, most = bytes_of(tables), definition.caps.bytes_max
    if 0 < most < size:
        message = f'view "{definition.shown}" would have {size:,} bytes, more than its max_bytes of {most:,}'
        hint = "Raise max_bytes, or join the view with fewer rows or columns."
        raise SqlError("53200", message, detail="These are the bytes of the tables that it joins.", hint=hint)


def bytes_of(tables: Iterable[JoinTable]) -> int:
    """Return the bytes of join tables."""
    return sum(table.bytes_count for table in tables)
