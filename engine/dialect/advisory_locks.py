"""pg_advisory_lock and its relatives: locks on numbers that mean something to clients alone.

DuckDB's SQL calls the functions, by way of `engine.tables.session_functions`. Enters: numbers, one
lock per row. Leaves: locks of the session or of its transaction, in the modes SHARE and EXCLUSIVE.
"""

from __future__ import annotations

import pyarrow as pa

from engine.tables.locks import Key, SessionLocks
from engine.tables.session_functions import AnsweringSession, answers, answers_rows
from sql.errors import SqlError
from sql.functions.advisory_locks import ADVISORY_CALLS

# Advisory locks of one session; PostgreSQL has room for some thousands of all sessions.
ADVISORY_MAX = 20_000
KIND = "advisory"


def register(name: str) -> None:
    """Register the function that takes or releases locks as its name says."""
    shared, tries = "_shared" in name, "_try_" in name
    mode, is_lasting = "SHARE" if shared else "EXCLUSIVE", "_xact_" not in name

    tells = "unlock" in name or tries

    def released(session: AnsweringSession, key: Key) -> bool:
        found = session.backend.locks.give_back(key, mode)
        if not found:
            session.backend.warn(f"you don't own a lock of type {'ShareLock' if shared else 'ExclusiveLock'}")
        return found

    def taken(session: AnsweringSession, key: Key) -> bool | str:
        locks = session.backend.locks
        if not locks.has(key, mode):
            require_room(locks)
        found = locks.take(key, mode, not tries, is_lasting)
        # void is an empty text.
        return found if tells else ""

    act = released if "unlock" in name else taken

    def of_one(session: AnsweringSession, number: int) -> bool | str:
        return act(session, (KIND, number))

    def of_pair(session: AnsweringSession, high: int, low: int) -> bool | str:
        return act(session, (KIND, high, low))

    is_pair, result = name.endswith("_pair"), "BOOLEAN" if tells else "VARCHAR"
    answers_rows(name, "INTEGER INTEGER" if is_pair else "BIGINT", result)(of_pair if is_pair else of_one)


def require_room(locks: SessionLocks) -> None:
    """Raise 53200 when the session has as many advisory locks as a session may have."""
    if len(locks.passing) + len(locks.lasting) >= ADVISORY_MAX and locks.count(KIND) >= ADVISORY_MAX:
        hint = f"A session has at most {ADVISORY_MAX:,} advisory locks."
        raise SqlError("53200", "out of shared memory", hint=hint)


@answers("pg_advisory_unlock_all", "", "VARCHAR")
def unlock_all(session: AnsweringSession) -> pa.Array:
    """Release all advisory locks of the session; void is an empty text."""
    session.backend.locks.give_all_back()
    return pa.array([""])


for call in sorted(ADVISORY_CALLS):
    register(call)
