"""docs/locks.md names every lock of the process, and no thread takes two of them in another order.

The page is a table of locks, outermost first. Locks of one line are never held together.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.session_client import World

TREE = Path(__file__).parents[1]
PACKAGES = ("engine", "views", "sql", "ringbuffer")
MAKERS = ("threading.Lock", "threading.RLock", "threading.Condition", "asyncio.Lock", "asyncio.Condition", "Lock")
MADE = re.compile(r"\b(Lock|RLock|Condition)\(")


def locks_of_page() -> dict[str, int]:
    """Return each lock of the page with the number of its line in the table."""
    found: dict[str, int] = {}
    for number, line in enumerate((TREE / "docs" / "locks.md").read_text().splitlines()):
        names = re.findall(r"`([a-z_/]+\.py: \w+)`", line) if line.startswith("|") else []
        for name in names:
            assert name not in found, f"{name} is named twice"
            found[name] = number
    return found


def locks_of_code() -> set[str]:
    """Return the locks that the code makes: file and attribute."""
    found = set()
    for package in PACKAGES:
        for path in (TREE / package).rglob("*.py"):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if MADE.search(text) else ():
                if not isinstance(node, ast.Assign):
                    continue
                calls = (part for part in ast.walk(node.value) if isinstance(part, ast.Call))
                # A condition over a lock that has a name is no other lock.
                if any(ast.unparse(call.func) in MAKERS and not call.args for call in calls):
                    found.add(f"{path.relative_to(TREE)}: {ast.unparse(node.targets[0]).rpartition('.')[2]}")
    return found


class Recorder:
    """Notes in which order locks of the code are taken while others are held."""

    def __init__(self) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self._held = threading.local()

    def held(self) -> list[Tracked]:
        locks: list[Tracked] = self._held.__dict__.setdefault("locks", [])
        return locks

    def maker(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that makes tracked locks for our code, and plain ones for others."""

        def made(*arguments: Any) -> Any:
            frame = sys._getframe(1)
            path = Path(frame.f_code.co_filename)
            if arguments or not path.is_relative_to(TREE) or path.relative_to(TREE).parts[0] not in PACKAGES:
                return make(*arguments)
            (attribute,) = re.findall(r"(\w+)(?:: [^=]+)? = ", path.read_text().splitlines()[frame.f_lineno - 1])
            name = f"{path.relative_to(TREE)}: {attribute}"
            tracked: Any = Tracked(REENTRANT() if make is CONDITION else make(), name, self)
            return CONDITION(tracked) if make is CONDITION else tracked

        return made


class Tracked:
    """A lock that tells its recorder what its thread holds when it is taken."""

    def __init__(self, lock: Any, name: str, recorder: Recorder) -> None:
        self.lock, self.name, self.recorder = lock, name, recorder

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        taken = self.lock.acquire(blocking, timeout)
        if taken:
            self._note()
        return bool(taken)

    def _note(self) -> None:
        held = self.recorder.held()
        if self not in held:
            self.recorder.pairs |= {(other.name, self.name) for other in held}
        held.append(self)

    def release(self) -> None:
        held = self.recorder.held()
        if self in held:
            held.remove(self)
        self.lock.release()

    def locked(self) -> bool:
        return bool(self.lock.locked())

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    # For conditions.

    def _is_owned(self) -> bool:
        if hasattr(self.lock, "_is_owned"):
            return bool(self.lock._is_owned())
        return bool(self.lock.locked())

    def _release_save(self) -> object:
        held = self.recorder.held()
        held[:] = [other for other in held if other is not self]
        if hasattr(self.lock, "_release_save"):
            return self.lock._release_save()
        return self.lock.release()

    def _acquire_restore(self, state: object) -> None:
        if hasattr(self.lock, "_acquire_restore"):
            self.lock._acquire_restore(state)
        else:
            self.lock.acquire()
        self._note()


CONDITION, REENTRANT = threading.Condition, threading.RLock

ROWS_OF = "SELECT k, count(*) AS {1} FROM {0} GROUP BY k"
SETUP = (
    "CREATE TABLE t (k int PRIMARY KEY, name text)",
    "INSERT INTO t VALUES (1, 'one'), (2, 'two')",
    "CREATE FOREIGN TABLE s (k int, x int, note text) SERVER stream",
    "CREATE FOREIGN TABLE r (k int) SERVER stream",
    "CREATE VIEW a AS SELECT k, count(*) AS n, sum(x) FROM s GROUP BY k",
    "CREATE VIEW b AS SELECT k, sum(x), count(*) AS n FROM s GROUP BY k HAVING count(*) > 0",
    "CREATE VIEW c WITH (max_groups = 9, max_bytes = '1 MB') AS SELECT k, count(*) FROM s GROUP BY k",
    "CREATE VIEW j WITH (stream_join = arrival) AS SELECT name, count(*) FROM s JOIN t USING (k) GROUP BY name",
    f"CREATE VIEW p AS SELECT k, n, m FROM ({ROWS_OF.format('s', 'n')}) x JOIN ({ROWS_OF.format('r', 'm')}) y USING (k)",
)
WORK = (
    "INSERT INTO s SELECT i % 9, i, 'a note that is longer than twelve bytes' FROM generate_series(1, 300) AS i",
    "INSERT INTO s VALUES (1, 2, 'short'), (2, 3, NULL)",
    "INSERT INTO r VALUES (1), (2)",
    "SELECT * FROM p",
    "SELECT a.k, b.n FROM a JOIN b ON a.k = b.k",
    "SELECT name, count FROM j ORDER BY 1",
    "SELECT k, count(*) FROM s GROUP BY k",
    "UPDATE t SET name = name || regexp_replace('x', 'x', 'y')",
    "BEGIN",
    "SELECT count(*) FROM a",
    "INSERT INTO t VALUES (3, 'three')",
    "SAVEPOINT one",
    "INSERT INTO s VALUES (3, 3, 'in a block')",
    "ROLLBACK TO one",
    "SELECT * FROM p",
    "COMMIT",
    "DELETE FROM t WHERE k = 3",
    "SELECT relname, tuples_in FROM pg_stat_continuous_views",
    "CREATE OR REPLACE VIEW a AS SELECT k, count(*) AS n, sum(x), max(n) FROM (SELECT k, x, 1 AS n FROM s) q GROUP BY k",
    "CREATE OR REPLACE VIEW b AS SELECT k, sum(x), count(*) AS n, avg(x) FROM s GROUP BY k",
    "SELECT truncate_continuous_view('b')",
    "ALTER FOREIGN TABLE r ADD COLUMN y int DEFAULT 7",
    "CHECKPOINT",
)


def test_the_page_names_every_lock() -> None:
    assert locks_of_code() == set(locks_of_page())


def test_locks_are_taken_in_the_order_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    for name in ("Lock", "RLock", "Condition"):
        monkeypatch.setattr(threading, name, recorder.maker(getattr(threading, name)))
    for _ in range(2):
        world = World(tmp_path)
        client = world.client()
        if not world.database.catalog.image.entries:
            client.run(*SETUP)
        for text in WORK:
            client.ask(text)
        world.database.checkpoints.make()
        world.close()
    order = locks_of_page()
    pairs = recorder.pairs
    assert [f"{one}, then {other}" for one, other in sorted(pairs) if order[one] >= order[other]] == []
    assert len(pairs) > 10, "the work takes locks together"
