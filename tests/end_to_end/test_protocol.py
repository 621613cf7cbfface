"""The same messages to Antumbra and to PostgreSQL: the same answers, message by message, and the same rows kept afterwards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.end_to_end.protocol_cases import CASES
from tests.end_to_end.raw_client import RawClient, query
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

POSITION = re.compile(r"(E \w+ \w+) at \d+(?=:)")
VIEWS = (
    "CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k",
    "CREATE VIEW u AS SELECT count(*) AS total FROM s",
)


class Pair:
    """Both servers, with the same relations."""

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


@pytest.fixture(scope="module")
def pair(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[Pair]:
    both = Pair(server, postgres)
    yield both
    both.drop()


@pytest.mark.parametrize("name", CASES)
def test_same_answers_as_postgresql(pair: Pair, name: str) -> None:
    messages = CASES[name]
    before = pair.kept()
    ours, theirs = pair.ours().say_all(messages), pair.theirs().say_all(messages)
    assert [comparable(line, other) for line, other in zip(ours, theirs, strict=False)] == theirs[: len(ours)]
    assert len(ours) == len(theirs)
    after = pair.kept()
    assert after[0] - before[0] == after[1] - before[1]
    assert before[0] - after[0] == before[1] - after[1]


def comparable(ours: str, theirs: str) -> str:
    """Return our line without the position of an error whose position PostgreSQL does not tell."""
    return POSITION.sub(r"\1", ours) if POSITION.match(ours) and not POSITION.match(theirs) else ours
