"""Functions of advisory locks, which the session answers."""

from __future__ import annotations

from sql.functions.rows import Function
from sql.functions.session import of_session


def advisory(name: str, result: str) -> tuple[Function, ...]:
    """Return the rows of a function of one advisory lock, which one number names or two."""
    waits = "try" not in name and "unlock" not in name
    return (
        of_session(name, f"int8 > {result}", waits=waits),
        of_session(f"{name}_pair", f"int4 int4 > {result}", name, waits=waits),
    )


LOCKS = (
    *(
        (f"pg_{verb}advisory_{scope}lock{form}", result)
        for verb, result in (("", "void"), ("try_", "bool"))
        for scope in ("", "xact_")
        for form in ("", "_shared")
    ),
    *((f"pg_advisory_unlock{form}", "bool") for form in ("", "_shared")),
)
OF_LOCKS = tuple(row for name, result in LOCKS for row in advisory(name, result))
FUNCTIONS = (*OF_LOCKS, of_session("pg_advisory_unlock_all", "> void"))
# Calls of one lock.
ADVISORY_CALLS = frozenset(row.canonical for row in OF_LOCKS)
