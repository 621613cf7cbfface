"""Bounds of a translation: length, depth, what the library is imported by, and what no text of a
client gets through.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.scheduler.deep_trees import make_room
from sql.dialects.reading import NESTING_MAX, TEXT_MAX
from sql.dialects.translation import translate
from sql.errors import SqlError
from sql.interrupts import interrupted_by
from sql.names.dialects import DIALECTS
from sql.parse.lexer import scan
from tests.hostile_texts import FRAGMENTS

make_room()


def refused(text: str, dialect: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        list(translate(text, dialect))
    return caught.value


def test_a_long_statement_is_refused() -> None:
    assert refused(f"select '{'x' * TEXT_MAX}'", "mysql").sqlstate == "54000"


@pytest.mark.parametrize(
    "text",
    [
        f"select {'(' * 2 * NESTING_MAX}1{')' * 2 * NESTING_MAX}",
        f"select {'not ' * 20_000}a from t",
        f"select {'case when a then ' * 2 * NESTING_MAX}1{' end' * 2 * NESTING_MAX} from t",
        f"select {'- ' * 20_000}a from t",
    ],
)
def test_a_deep_statement_is_refused(text: str) -> None:
    assert refused(text, "mysql").sqlstate == "54001"


def test_names_that_double_are_bounded() -> None:
    items = ", ".join(f"a{place} + a{place} as a{place + 1}" for place in range(60))
    assert refused(f"select {items} from t", "snowflake").sqlstate == "54001"


def test_other_statements_stay_however_long_they_are() -> None:
    text = f"insert into t values ('{'x' * 2 * TEXT_MAX}')"
    (found,) = translate(text, "mysql")
    assert (found.text, found.is_changed) == (text, False)


def test_a_backslash_in_another_statement_is_refused() -> None:
    assert refused(r"insert into t values ('a\'), (''); select 1; --')", "mysql").sqlstate in ("0A000", "42601")
    assert refused(r"update t set a = 'a\b' where b = 'or true'", "snowflake").sqlstate == "0A000"


def test_somebody_ends_the_work() -> None:
    def end() -> None:
        raise SqlError("57014", "canceling statement due to user request")

    with interrupted_by(end):
        assert refused("select 1", "mysql").sqlstate == "57014"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_constant_stays_one_constant(dialect: str) -> None:
    """A text of a client is one constant of the translated text, and means the same."""
    for constant in FRAGMENTS:
        if "\0" in constant or constant == "":
            continue
        written = constant.replace("'", "''").replace("\\", "\\\\")
        if dialect in ("duckdb", "oracle", "trino", "tsql", "risingwave", "materialize"):
            written = constant.replace("'", "''")
        try:
            (found,) = translate(f"select '{written}' as a", dialect)
        except SqlError:
            continue
        texts = [token.value for token in scan(found.text) if token.kind == "string"]
        assert texts == [constant], (dialect, constant, found.text)


@pytest.mark.parametrize("module", ["sql.parse.parse", "engine.sessions.session"])
def test_nothing_imports_the_library_before_a_text(module: str) -> None:
    program = f"import sys, {module}; print('sqlglot' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
