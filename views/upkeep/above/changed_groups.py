"""The groups of a state that merges have changed, as they were before and as they are after.

Enters: tables that are merged, and the partitions that they are merged into. Leaves: pairs of small
tables, to be applied one after the other: a group that two merges have changed is in both pairs.
Only so many groups are noted as are cheaper than all of them. The owner holds the refresh lock of
the state. Must not know plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ringbuffer.groups.hash_table import GroupTable, Words
from ringbuffer.groups.merge import merge_tables
from views.upkeep.partitions import Partitions

# So many are noted of a small state, and of a large one of so many groups one.
CHANGED_MIN = 1 << 8
CHANGED_SHARE = 4


class Change(NamedTuple):
    """The groups that a merge has changed; what was not there is not in `before`."""

    before: GroupTable
    after: GroupTable


class Coming(NamedTuple):
    """The groups that a merge is about to change: their keys, they as they are, and how many parts
    there are.
    """

    keys: GroupTable
    before: GroupTable
    parts_count: int


class ChangedGroups:
    """The changes of a state since they were taken.

    Attributes:
        groups_count: how many groups are in `changes`, each as often as it has changed.
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.groups_count = 0

    @property
    def bytes_count(self) -> int:
        """Bytes of the groups."""
        return sum(table.bytes_count for change in tuple(self.changes) for table in change)

    def take(self) -> list[Change]:
        """Return the changes, which are noted no more."""
        taken, self.changes, self.groups_count = self.changes, [], 0
        return taken

    def coming(self, merged: Partitions, tables: Sequence[GroupTable], program: Words) -> Coming | None:
        """Return what a merge of tables will change, None where that is too much."""
        count = sum(table.groups_count for table in tables)
        if self.groups_count + count > max(CHANGED_MIN, merged.groups_count // CHANGED_SHARE):
            return None
        keys = tables[0]
        if len(tables) > 1:
            keys = GroupTable(keys.layout)
            for table in tables:
                merge_tables(keys, table, program)
        return Coming(keys, merged.found(keys), len(merged.tables))

    def note(self, coming: Coming, merged: Partitions) -> bool:
        """Note what has changed; False: all groups have been merged anew."""
        if len(merged.tables) != coming.parts_count:
            return False
        if coming.keys.groups_count:
            self.changes.append(Change(coming.before, merged.found(coming.keys)))
            self.groups_count += coming.keys.groups_count
        return True
