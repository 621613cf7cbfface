"""The same messages to Antumbra and to PostgreSQL: the same answers, message by message, and the
same rows kept afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import zip_longest

import pytest

from tests.end_to_end.protocol_cases import CASES, message
from tests.end_to_end.raw_client import COPY_DONE, FLUSH, SYNC
from tests.end_to_end.servers import Pair, comparable
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

FAILS = "SELECT 1 / x FROM (VALUES (0), (0)) AS q(x)"
QUERIES = (
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SELECT 1",
    FAILS,
    "SELEC",
    "",
    "INSERT INTO s VALUES (1)",
    "INSERT INTO s VALUES (2, 'b'), (3, 'c')",
    "INSERT INTO s VALUES ('x')",
    "COPY s FROM STDIN",
    "INSERT INTO s VALUES (4); SELECT 2",
    f"INSERT INTO s VALUES (5); {FAILS}",
    "BEGIN; INSERT INTO s VALUES (6)",
    "INSERT INTO s VALUES (7); COPY s FROM STDIN; SELECT 3",
    "ROLLBACK; INSERT INTO s VALUES (8)",
    "SELECT 1; COMMIT; SELECT 2",
    "BEGIN; COMMIT AND CHAIN",
    "SET TimeZone = 'Asia/Tokyo'",
    "SET LOCAL TimeZone = 'Europe/Paris'",
    "SHOW TimeZone",
    "DEALLOCATE ALL",
)
STATEMENTS = (
    "",
    "SELECT 1 AS a",
    "SELECT * FROM (VALUES (1), (2), (3), (4), (5)) AS q(x) ORDER BY x",
    "INSERT INTO s VALUES ($1, $2)",
    "INSERT INTO s VALUES (9)",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    FAILS,
    "COPY s FROM STDIN",
    "SELECT $1::int, $2::text",
    "SHOW TimeZone",
    "SET TimeZone = 'Asia/Tokyo'",
)
VALUES = ("", " : b'1' b't'", " : b'77' NULL", " : b'x' NULL", " : NULL NULL", " : b'1'")
DATA = ("d b'10\\ta\\n'", "d b'x\\ty\\n'", "d b'11\\tb\\n12\\tc\\n'", "f no")


@pytest.fixture(scope="module")
def pair(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[Pair]:
    both = Pair(server, postgres)
    yield both
    both.drop()


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", CASES)
def test_same_answers_as_postgresql(pair: Pair, name: str) -> None:
    messages = CASES[name]
    before = pair.kept()
    ours, theirs = pair.ours().say_all(messages), pair.theirs().say_all(messages)
    assert comparable(ours, theirs) == theirs
    after = pair.kept()
    assert after[0] - before[0] == after[1] - before[1]
    assert before[0] - after[0] == before[1] - after[1]


def test_random_conversations(pair: Pair, request: pytest.FixtureRequest) -> None:
    first: int = request.config.getoption("--seed")
    count: int = request.config.getoption("--cases")
    for seed in range(first, first + count):
        draw = random.Random(seed)
        messages = [random_message(draw) for _ in range(draw.randint(3, 16))]
        before = pair.kept()
        answers = pair.ours().say_all([*messages, SYNC]), pair.theirs().say_all([*messages, SYNC])
        ours, theirs = without_noise(*answers)
        assert ours == theirs, (seed, messages)
        after = pair.kept()
        if not any("during COPY" in line for answer in answers for line in answer):
            assert after[0] - before[0] == after[1] - before[1], (seed, messages)


def random_message(draw: random.Random) -> bytes:
    """Return any message; what makes sense after what is up to chance."""
    statement, portal = draw.choice(("", "", "p")), draw.choice(("", "", "c"))
    kind = draw.random()
    if kind < 0.22:
        return message(f"Q {draw.choice(QUERIES)}")
    if kind < 0.40:
        return message(f"P name={statement} : {draw.choice(STATEMENTS)}")
    if kind < 0.60:
        results = draw.choice(("", "", "0", "1"))
        return message(f"B statement={statement} portal={portal} results={results}{draw.choice(VALUES)}")
    if kind < 0.76:
        return message(f"E portal={portal} limit={draw.choice((0, 0, 1, 2))}")
    if kind < 0.82:
        return message(draw.choice((f"D statement {statement}", f"D portal {portal}", f"C portal {portal}")))
    if kind < 0.90:
        return SYNC
    return draw.choice((FLUSH, COPY_DONE, COPY_DONE, message(draw.choice(DATA))))


def without_noise(ours: list[str], theirs: list[str]) -> tuple[list[str], list[str]]:
    """Leave out what may differ.

    PostgreSQL describes rows before the first one fails. In a failed block, it still has the
    unnamed portal of a Query. A message that has no place in a COPY is fatal here, and in
    PostgreSQL an error first, or none if the data before it were bad.
    """
    ours, theirs = described_when_rows_follow(ours), described_when_rows_follow(theirs)
    for index, lines in enumerate(zip_longest(ours, theirs, fillvalue="")):
        if any("during COPY" in line for line in lines):
            ours, theirs = ours[:index], theirs[:index]
            break
    ours = comparable(ours, theirs)
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine.startswith('E ERROR 34000: portal ""') and other.startswith("E ERROR 25P02"):
            ours[index] = other
    return ours, theirs


def described_when_rows_follow(lines: list[str]) -> list[str]:
    """Return the lines without the descriptions that an error follows."""
    return [line for line, after in zip(lines, [*lines[1:], ""], strict=True) if line[0] != "T" or after[:1] != "E"]
