"""The table of what computes the catalog's functions, whose signatures are in
`sql.functions.catalog`.

Each function is called for a row with the session's context first. Functions of objects by OID give
NULL, or PostgreSQL's error, where there is no such object. Must not know DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sql.functions.catalog import BY_CANONICAL, PREFIX

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

# An argument that is an 'object' comes as '#123' or '=name'; one that was left out is None.
Run = Callable[..., Any]

# By the names that calls have in trees.
RUNS: dict[str, Run] = {}


def catalog_function(run: Run) -> Run:
    """Enter the decorated function into the table."""
    return named(run.__name__)(run)


def named(*names: str) -> Callable[[Run], Run]:
    """Enter a function under other names than its own."""

    def enter(run: Run) -> Run:
        for name in names:
            assert PREFIX + name in BY_CANONICAL, name
            RUNS[PREFIX + name] = run
        return run

    return enter


def constant(value: Any, names: str) -> None:
    """Enter functions whose value is always the same."""

    def run(_: SessionContext, *__: Any) -> Any:
        return value

    named(*names.split())(run)
