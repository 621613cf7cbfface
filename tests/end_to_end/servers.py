"""Antumbra and PostgreSQL side by side, with the same relations, and what may differ in their
answers.
"""

from __future__ import annotations

import re
from collections import Counter

from tests.end_to_end.raw_client import RawClient, query
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

POSITION = re.compile(r"(E \w+ \w+) at \d+(?=:)")
VIEWS = (
    "CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k",
    "CREATE VIEW u AS SELECT count(*) AS total FROM s",
)


class Pair:
    """Both servers. s (k integer, t text) is a stream in one and a table in the other; v counts its
    rows by k, u all of them.
    """

    def __init__(self, server: AntumbraServer, postgres: PostgresCluster) -> None:
        self._server = server
        self._postgres = postgres
        for text in ("DROP TABLE IF EXISTS s CASCADE", "CREATE TABLE s (k int, t text)", *VIEWS):
            theirs = self.theirs().say_all([query(text)])
            assert theirs[-1] == "Z I", theirs
        for text in ("CREATE FOREIGN TABLE s (k int, t text) SERVER stream", *VIEWS):
            ours = self.ours().say_all([query(text)])
            assert ours[0].startswith("C "), ours

    def ours(self) -> RawClient:
        """Return a new connection to Antumbra."""
        return RawClient(self._server.port, "postgres", "postgres")

    def theirs(self) -> RawClient:
        """Return a new connection to PostgreSQL."""
        return RawClient(self._postgres.port, "postgres", "postgres")

    def kept(self) -> tuple[Counter[str], Counter[str]]:
        """Return the rows by key in Antumbra and in PostgreSQL."""
        rows = query("SELECT k, n FROM v ORDER BY k")
        return Counter(self.ours().ask(rows)), Counter(self.theirs().ask(rows))

    def drop(self) -> None:
        """Drop our side; the oracle is thrown away at the end of the run."""
        self.ours().say_all([query("DROP FOREIGN TABLE s CASCADE")])


def comparable(ours: list[str], theirs: list[str]) -> list[str]:
    """Return our lines without positions that PostgreSQL does not tell, and without what only a
    continuous view can lose.
    """
    ours = [line for line in ours if not (line.startswith("N NOTICE") and " had counted " in line)]
    return [
        POSITION.sub(r"\1", line)
        if POSITION.match(line) and index < len(theirs) and not POSITION.match(theirs[index])
        else line
        for index, line in enumerate(ours)
    ]
