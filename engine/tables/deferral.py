"""When the foreign keys of a transaction are checked: at the end of the statement, or at COMMIT.

The keys and SET CONSTRAINTS decide. Enters: SET CONSTRAINTS, and checks that can wait. Leaves: the
checks that have waited. Must not look at rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sql.catalog.catalog import ConstraintDescription

Check = TypeVar("Check")
# A constraint: its table's oid, and its name there.
Key = tuple[int, str]


@dataclass(frozen=True)
class Deferral(Generic[Check]):
    """The checks that wait, and the modes of constraints; immutable, so that a savepoint keeps it.

    Attributes:
        everything: the mode of the last SET CONSTRAINTS ALL.
        named: modes of single constraints that were set after that.
    """

    waiting: tuple[Check, ...] = ()
    everything: bool | None = None
    named: dict[Key, bool] = field(default_factory=dict)

    def waits(self, table_oid: int, constraint: ConstraintDescription) -> bool:
        """Tell whether the check of a foreign key is deferred."""
        reference = constraint.reference
        if reference is None or not reference.deferrable:
            return False
        default = reference.deferred if self.everything is None else self.everything
        return self.named.get((table_oid, constraint.name), default)

    def with_mode(self, keys: Collection[Key] | None, deferred: bool) -> Deferral[Check]:
        """Return the deferral after SET CONSTRAINTS. keys: of the named constraints, None for
        ALL.
        """
        if keys is None:
            return replace(self, everything=deferred, named={})
        return replace(self, named=self.named | dict.fromkeys(keys, deferred))

    def with_check(self, check: Check) -> Deferral[Check]:
        """Return the deferral with one more check that waits."""
        return replace(self, waiting=(*self.waiting, check))

    def split(self, waits: Callable[[Check], bool]) -> tuple[Deferral[Check], tuple[Check, ...]]:
        """Return the deferral with the checks that go on waiting, and the other checks."""
        due = tuple(check for check in self.waiting if not waits(check))
        return replace(self, waiting=tuple(check for check in self.waiting if waits(check))), due
