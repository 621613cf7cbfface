"""Names, types, typmods and errors of hundreds of statements, compared with PostgreSQL's answers to
the same text.

data/queries.sql, data/select.sql and data/statements.sql hold one statement per line. Where we
differ on purpose (0A000, a position or a hint more), data/differences.json holds our answer;
`python -m tests.sql.rewrite_differences` writes it anew, and the diff is the review.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.postgres import PostgresCluster
from tests.sql.answers import our_answer, postgres_answer
from tests.sql.sample_catalog import POSTGRES_TABLES

DATA = Path(__file__).parent / "data"
FILES = ("queries.sql", "select.sql", "statements.sql")


def statements(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text().splitlines() if line.strip()]


@pytest.mark.parametrize("name", FILES)
def test_answers_are_those_of_postgres(name: str, postgres: PostgresCluster) -> None:
    differences: dict[str, list[object]] = json.loads((DATA / "differences.json").read_text())
    wrong = []
    with postgres.connect() as connection:
        connection.execute(POSTGRES_TABLES)
        for statement in statements(name):
            ours = our_answer(statement)
            expected = differences.get(statement) or postgres_answer(connection, statement)
            if ours != expected:
                wrong.append(f"{statement}\n  ours:     {ours}\n  expected: {expected}")
        connection.execute("ROLLBACK")
        connection.execute("DROP TABLE s, v, items CASCADE")
    assert not wrong, "\n".join(wrong)


def test_every_difference_is_a_refusal_or_said_on_purpose() -> None:
    differences: dict[str, list[object]] = json.loads((DATA / "differences.json").read_text())
    known = {statement for name in FILES for statement in statements(name)}
    assert set(differences) <= known
    assert all(answer == our_answer(statement) for statement, answer in differences.items())
