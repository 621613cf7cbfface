"""Random regular expressions: every function of ours gives PostgreSQL's answers, and RE2 the same
as our matcher to what it is given.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import duckdb
import psycopg
import pytest

from engine.embedded.functions import regular_expressions as functions
from sql.errors import SqlError
from sql.patterns.grammar import parsed
from sql.patterns.re2 import re2_text
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster
from tests.randomized.regular_patterns import RandomPattern

QUERY = """
SELECT %(text)s ~ %(pattern)s, regexp_like(%(text)s, %(pattern)s, %(letters)s), regexp_match(%(text)s, %(pattern)s, %(letters)s),
    ARRAY(SELECT array_to_json(m)::text FROM regexp_matches(%(text)s, %(pattern)s, %(letters)s || 'g') m),
    regexp_replace(%(text)s, %(pattern)s, '<\\1|\\2|\\&>', %(letters)s || 'g'),
    regexp_split_to_array(%(text)s, %(pattern)s, %(letters)s), regexp_count(%(text)s, %(pattern)s, 1, %(letters)s),
    regexp_substr(%(text)s, %(pattern)s), regexp_instr(%(text)s, %(pattern)s), substring(%(text)s from %(pattern)s)
"""
# PostgreSQL's compiler gives up where empty parts are nested in one another; ours does not.
BEYOND_POSTGRES = "regular expression is too complex"
Answer = list[Any] | tuple[str, str]


def ours(case: RandomPattern) -> Answer:
    """Return what our functions say."""
    text, pattern, letters = case.text, case.pattern, case.letters
    calls: list[Callable[[], Any]] = [
        lambda: functions.matches(text, pattern, ""),
        lambda: functions.like(text, pattern, letters),
        lambda: functions.first_match(text, pattern, letters),
        lambda: [written(parts) for parts in functions.every_match(text, pattern, letters + "g")],
        lambda: functions.replace(text, pattern, "<\\1|\\2|\\&>", letters + "g"),
        lambda: functions.split(text, pattern, letters),
        lambda: functions.count(text, pattern, 1, letters),
        lambda: functions.substring(text, pattern, 1, 1, "", 0),
        lambda: functions.position(text, pattern, 1, 1, 0, "", 0),
        lambda: functions.part(text, pattern),
    ]
    try:
        return [call() for call in calls]
    except SqlError as error:
        return error.sqlstate, error.message


def written(parts: list[str | None]) -> str:
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def theirs(connection: psycopg.Connection[Any], case: RandomPattern) -> Answer:
    """Return what PostgreSQL says."""
    values = {"text": case.text, "pattern": case.pattern, "letters": case.letters}
    try:
        found = connection.execute(QUERY, values).fetchone()
        assert found is not None
        return list(found)
    except psycopg.Error as error:
        assert error.sqlstate is not None
        return error.sqlstate, error.diag.message_primary or ""


def native_difference(engine: duckdb.DuckDBPyConnection, case: RandomPattern) -> str | None:
    """Return what RE2 says otherwise than our matcher, if it takes the pattern."""
    try:
        text = re2_text(parsed(case.pattern, case.letters))
    except SqlError:
        return None
    if text is None:
        return None
    found = engine.execute("SELECT regexp_matches(?, ?)", [case.text, text]).fetchall()[0][0]
    return None if found == functions.matches(case.text, case.pattern, case.letters) else f"RE2: {text!r} is {found}"


@pytest.mark.slow
@pytest.mark.timeout(0)  # --seconds is its bound
def test_random_patterns_equal_postgres(postgres: PostgresCluster, request: pytest.FixtureRequest) -> None:
    option = request.config.getoption
    evidence = Evidence("regular_expressions", option("--seed"))
    began_s = time.monotonic()
    with postgres.connect() as connection, duckdb.connect() as engine:
        for seed in range(evidence.seed, evidence.seed + option("--cases")):
            if time.monotonic() - began_s > option("--seconds") or len(evidence.failures) > 10:
                break
            case = RandomPattern(seed)
            expected, found = theirs(connection, case), ours(case)
            evidence.cases += 1
            kind = "refused" if isinstance(expected, tuple) else "matched" if expected[0] else "not matched"
            if isinstance(expected, tuple) and expected[1].endswith(BEYOND_POSTGRES):
                kind, expected = "beyond PostgreSQL", found
            evidence.histogram[kind] += 1
            difference = native_difference(engine, case)
            if found != expected or difference is not None:
                evidence.failures.append(
                    f"seed {seed}: {case.pattern!r} on {case.text!r} with {case.letters!r}\n"
                    f"PostgreSQL: {expected}\nhere:       {found}\n{difference or ''}"
                )
    evidence.seconds = time.monotonic() - began_s
    if option("--write-evidence"):
        evidence.write()
    print(f"{evidence.cases} cases from seed {evidence.seed} in {evidence.seconds:.0f} s: {dict(evidence.histogram)}")
    assert not evidence.failures, "\n\n".join(evidence.failures)
    share = evidence.cases / 10
    assert evidence.histogram["matched"] > share and evidence.histogram["not matched"] > share
    assert evidence.histogram["beyond PostgreSQL"] < share / 10
