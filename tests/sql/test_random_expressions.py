"""Random expressions over the sample stream: name, type and typmod of the result, or SQLSTATE, as
PostgreSQL has them.

The tables are empty. What PostgreSQL finds by evaluating constants while it plans is left out, as
is what we refuse with 0A000.
"""

from __future__ import annotations

import random

from tests.oracle.postgres import PostgresCluster
from tests.sql.answers import our_answer, postgres_answer
from tests.sql.sample_catalog import POSTGRES_TABLES

CASES = 1200
SEED = 20_261_120
EVALUATED = frozenset({"22P02", "22003", "22007", "22008", "22012", "2201E", "2201F"})

COLUMNS = list("abcdefghiz")
LITERALS = (
    "1",
    "2.5",
    "null",
    "true",
    "1e3",
    "3000000000",
    "date '2020-01-01'",
    "1.5::float4",
    "2::smallint",
    "''::varchar(2)",
    "-1",
)
TYPES = (
    "int int2 bigint numeric numeric(5,2) float8 real text varchar varchar(3) date timestamp timestamptz bool".split()
)
OPERATORS = "+ - * / % ^ = <> < >= || and or".split()
ONE = "abs ceil floor round sign sqrt lower upper length btrim reverse count sum avg min max bool_and every".split()
TWO = "round trunc power mod left right strpos repeat lpad starts_with".split()


class Generator:
    """Draws expressions from a seeded source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expression(self, depth: int) -> str:
        """Return an expression of at most this depth."""
        pick = self.random.choice
        if depth <= 0 or self.random.random() < 0.15:
            return pick(COLUMNS) if self.random.random() < 0.75 else pick(LITERALS)
        one, two, three = (self.expression(depth - 1) for _ in range(3))
        forms = (
            f"({one} {pick(OPERATORS)} {two})",
            f"({one} {pick(OPERATORS)} {two})",
            f"({one} {pick(OPERATORS)} {two})",
            f"{pick(ONE)}({pick(COLUMNS)})",
            f"{pick(TWO)}({pick(COLUMNS)}, {one})",
            f"({one})::{pick(TYPES)}",
            f"case when {one} then {two} else {three} end",
            f"{pick(('coalesce', 'greatest', 'least'))}({one}, {two})",
            f"nullif({one}, {two})",
            f"({one} in ({two}, {three}))",
            f"({one} between ({two}) and ({three}))",
            f"({one} is distinct from {two})",
            f"({one} like {two})",
            f"extract({pick(('year', 'epoch', 'second'))} from {pick(COLUMNS)})",
            f"date_trunc('{pick(('hour', 'month'))}', {pick(COLUMNS)})",
            f"(not {one})",
            f"({one} is true)",
        )
        return pick(forms)


def test_types_and_errors_are_those_of_postgres(postgres: PostgresCluster) -> None:
    generator = Generator(SEED)
    wrong = []
    compared = 0
    with postgres.connect() as connection:
        connection.execute(POSTGRES_TABLES)
        for _ in range(CASES):
            query = f"select {generator.expression(generator.random.choice((1, 1, 2, 3)))} from s"
            ours, expected = our_answer(query), postgres_answer(connection, query)
            if (ours[0], ours[1]) == ("error", "0A000") or (expected[0] == "error" and expected[1] in EVALUATED):
                continue
            compared += 1
            same = ours[:2] == expected[:2] if expected[0] == "error" else ours == expected
            if not same:
                wrong.append(f"{query}\n  ours:         {ours}\n  PostgreSQL's: {expected}")
        connection.execute("DROP TABLE s, v")
    assert not wrong, f"seed {SEED}\n" + "\n".join(wrong)
    assert compared > CASES // 2
