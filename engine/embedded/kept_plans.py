"""The plans that a cursor of DuckDB keeps for texts that come again.

DuckDB reads, binds and optimizes a query on the catalog for longer than it runs it. Its plan holds
the inputs that it was made for, and the values of functions of constants: so it is run again for
the very same inputs, and for the same state of what these functions tell. Enters: a text, that
state, the inputs. Leaves: the text of what to run. Must not see inputs whose rows may change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import pyarrow as pa

PLANS_MAX = 32
# A shorter text is read, bound and optimized in the time in which a plan is found to be right.
CHARACTERS_MIN = 256


@dataclass(frozen=True, eq=False)
class KeptPlan:
    """A plan, by its name in DuckDB; none: the text has come once."""

    name: str
    state: Hashable
    inputs: Sequence[pa.Table]

    def holds(self, state: Hashable, inputs: Sequence[pa.Table]) -> bool:
        """Tell whether the plan is right."""
        alike = len(self.inputs) == len(inputs) and all(map(lambda one, other: one is other, self.inputs, inputs))
        return alike and self.state == state


class KeptPlans:
    """The plans of one cursor. execute: runs a statement on it."""

    def __init__(self, execute: Callable[[str], object]) -> None:
        self._execute = execute
        self._plans: OrderedDict[str, KeptPlan] = OrderedDict()
        self._made_count = 0

    def statement(self, text: str, state: Hashable, inputs: Sequence[pa.Table]) -> str:
        """Return what is to be run for a text: the text, or the call of its plan.

        state: all but the inputs that the answer depends on. Raises duckdb.Error.
        """
        if len(text) < CHARACTERS_MIN:
            return text
        known = self._plans.pop(text, None)
        has_come = known is not None and known.holds(state, inputs)
        if known is not None and known.name and not has_come:
            self._execute(f"DEALLOCATE {known.name}")
        if not has_come:
            known = KeptPlan("", state, inputs)
        elif known is not None and not known.name:
            self._made_count += 1
            known = KeptPlan(f"plan_{self._made_count}", state, inputs)
            self._execute(f"PREPARE {known.name} AS {text}")
        assert known is not None
        self._plans[text] = known
        if len(self._plans) > PLANS_MAX:
            _, oldest = self._plans.popitem(last=False)
            if oldest.name:
                self._execute(f"DEALLOCATE {oldest.name}")
        return f"EXECUTE {known.name}" if known.name else text
