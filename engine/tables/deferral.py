"""When a transaction's foreign keys are looked at: at the end of the statement, or at COMMIT, as they and SET CONSTRAINTS say.

Enters: what SET CONSTRAINTS has said, and the checks that can wait. Leaves: those that have waited. Must not look at rows.
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
    """What waits now. everything: what SET CONSTRAINTS ALL has said last; named: what it has said of single ones since then.

    Immutable, so that a savepoint keeps it as it was.
    """

    waiting: tuple[Check, ...] = ()
    everything: bool | None = None
    named: dict[Key, bool] = field(default_factory=dict)

    def waits(self, table_oid: int, constraint: ConstraintDescription) -> bool:
        """Tell whether a foreign key is looked at later."""
        reference = constraint.reference
        if reference is None or not reference.deferrable:
            return False
        default = reference.deferred if self.everything is None else self.everything
        return self.named.get((table_oid, constraint.name), default)

    def with_mode(self, keys: Collection[Key] | None, deferred: bool) -> Deferral[Check]:
        """Return what SET CONSTRAINTS makes of it; keys: of all constraints that it names, None for ALL."""
        if keys is None:
            return replace(self, everything=deferred, named={})
        return replace(self, named=self.named | dict.fromkeys(keys, deferred))

    def with_check(self, check: Check) -> Deferral[Check]:
        """Return it with one more check that waits."""
        return replace(self, waiting=(*self.waiting, check))

    def split(self, waits: Callable[[Check], bool]) -> tuple[Deferral[Check], tuple[Check, ...]]:
        """Return it with those checks alone that go on waiting, and the others."""
        due = tuple(check for check in self.waiting if not waits(check))
        return replace(self, waiting=tuple(check for check in self.waiting if waits(check))), due
