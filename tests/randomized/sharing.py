"""A server of each kind with the sessions that random cases use, and which case a seed makes."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psycopg

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster
from tests.randomized.answers import Connection, MismatchError
from tests.randomized.cases import Case, make_case
from tests.randomized.life_cases import LifeCase, make_life_case
from tests.randomized.life_runner import LifeRun
from tests.randomized.mixed_cases import make_mixed_case
from tests.randomized.runner import run_case
from tests.randomized.table_cases import TableCase, make_table_case
from tests.randomized.table_columns import CREATE_ENUM
from tests.randomized.table_runner import run_table_case

# A dropped view's compiled kernels stay with the process, 1.5 MB each.
SERVER_BYTES_MAX = 3 << 30
# What PostgreSQL lacks and its users can make.
CHOICES = """
CREATE FUNCTION first_step(anyarray, anyelement) RETURNS anyarray IMMUTABLE LANGUAGE sql AS 'SELECT coalesce($1, ARRAY[$2])';
CREATE FUNCTION last_step(anyarray, anyelement) RETURNS anyarray IMMUTABLE LANGUAGE sql AS 'SELECT ARRAY[$2]';
CREATE FUNCTION chosen(anyarray) RETURNS anyelement IMMUTABLE LANGUAGE sql AS 'SELECT $1[1]';
CREATE AGGREGATE first(anyelement) (sfunc = first_step, stype = anyarray, finalfunc = chosen);
CREATE AGGREGATE last(anyelement) (sfunc = last_step, stype = anyarray, finalfunc = chosen)
"""
SESSIONS = ("a", "b", "c", "reader", "changer", "admin")


def make_any_case(seed: int) -> Case | TableCase | LifeCase:
    """Return the case of a seed: of seven, four are of tables, one of a stream, one of both, one of
    the lives of views.
    """
    match seed % 7:
        case 0:
            return make_case(seed)
        case 1:
            return make_mixed_case(seed)
        case 2:
            return make_life_case(seed)
    return make_table_case(seed)


class Share:
    """One Antumbra server and sessions of PostgreSQL's, which take one case after the other."""

    def __init__(self, server: AntumbraServer, postgres: PostgresCluster) -> None:
        self._server = server
        self._postgres = postgres
        self._antumbra: dict[str, Connection] = {}
        self._oracle: dict[str, Connection] = {}
        self._connect()

    def run(self, case: Case | TableCase | LifeCase) -> None:
        """Run a case. Raises MismatchError, also when a server has closed a connection."""
        try:
            if isinstance(case, TableCase):
                run_table_case(case, self._antumbra, self._oracle)
            elif isinstance(case, LifeCase):
                LifeRun(case, self._antumbra, self._oracle).run()
            else:
                run_case(case, self._antumbra["a"], self._oracle["a"])
        except (psycopg.Error, AssertionError) as error:
            last_words = self._server.last_words
            self.close()
            if last_words:
                # The other cases go on, and this one is named as what has ended it.
                self._server.start()
            self._connect()
            if isinstance(error, MismatchError) and not last_words:
                raise
            raise MismatchError(f"-- seed {case.seed}\n{type(error).__name__}: {error}\n{last_words}") from error

    def restart_if_large(self) -> None:
        """Start the server anew when dropped views have filled its memory."""
        if resident_bytes(self._server.process_id) < SERVER_BYTES_MAX:
            return
        self.close()
        assert self._server.stop() == 0
        self._server.start()
        self._connect()

    def close(self) -> None:
        """Close all sessions."""
        for connection in (*self._antumbra.values(), *self._oracle.values()):
            connection.close()

    def _connect(self) -> None:
        self._antumbra = {name: self._server.connect() for name in SESSIONS}
        self._oracle = {name: self._postgres.connect() for name in SESSIONS}
        for connection in self._oracle.values():
            # See LOST in the runner; our own server is to be sent prepared statements.
            connection.prepare_threshold = None
        for sessions in (self._antumbra, self._oracle):
            # A server that is connected to again has it, or another share makes it now.
            with contextlib.suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                sessions["a"].execute(CREATE_ENUM)
        with contextlib.suppress(psycopg.errors.DuplicateFunction, psycopg.errors.UniqueViolation):
            self._oracle["a"].execute(CHOICES)


def resident_bytes(process_id: int) -> int:
    """Return how much memory a process holds."""
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
