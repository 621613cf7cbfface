"""The queries that one JVM holds planned, the least recently used first, to be run again.

Enters: what a query was planned from. Leaves: its name in the JVM, for one run at a time. Must not
call the JVM.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Set
from dataclasses import dataclass

PREPARED_MAX = 128
# Of queries that have run once, which may never be asked again.
ONCE_MAX = 16
# Of the names of queries, which are those of files too.
NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class QueryKey:
    """The text and the forms of inputs from which a query is planned.

    Attributes:
        sql: over inputs that are named by their places, and views of tables.
        inputs: of each input, Spark's schema, the number of partitions, and about how many bytes it
            is planned for.
    """

    sql: str
    inputs: tuple[tuple[str, int, int], ...]


@dataclass(eq=False, slots=True)
class PreparedQuery:
    """A query that the JVM has planned.

    Attributes:
        name: in the JVM.
        views: the views of tables that it reads.
        input_names: the starts of the names of the files of its inputs.
        is_kept: what executes it is run again; else each run executes a copy of the plan.
        runs: how many have ended.
    """

    name: str
    views: Set[str]
    input_names: tuple[str, ...]
    is_kept: bool = False
    runs: int = 0


class PreparedQueries:
    """The queries of one JVM that are not running; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Those that have run once, and those that were asked again.
        self._once: dict[QueryKey, PreparedQuery] = {}
        self._queries: dict[QueryKey, PreparedQuery] = {}

    def take(self, key: QueryKey) -> PreparedQuery | None:
        """Return a query for a run, and nobody else has it until `give`; None: there is none that
        is not running.
        """
        with self._lock:
            return self._queries.pop(key, None) or self._once.pop(key, None)

    def give(self, key: QueryKey, query: PreparedQuery) -> list[PreparedQuery]:
        """Put a query back after its run, unless another has put one; return those to forget."""
        query.runs += 1
        kept, places = (self._once, ONCE_MAX) if query.runs == 1 else (self._queries, PREPARED_MAX)
        with self._lock:
            if key in self._once or key in self._queries:
                return [query]
            kept[key] = query
            return [kept.pop(next(iter(kept))) for _ in range(len(kept) - places)]

    def take_readers(self, view: str) -> list[PreparedQuery]:
        """Return the queries that read a view of a table, to be forgotten."""
        with self._lock:
            gone = []
            for kept in (self._once, self._queries):
                gone += [kept.pop(key) for key, query in list(kept.items()) if view in query.views]
            return gone
