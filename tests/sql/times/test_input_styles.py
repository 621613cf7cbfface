"""Texts that sessions with a DateStyle or IntervalStyle of their own can't say, since their meaning
others would not know.
"""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.settings.settings import Settings
from tests.sql.sample_catalog import SampleCatalog


def settings_with(date_style: str, interval_style: str = "postgres") -> SessionSettings:
    settings = Settings()
    settings.set("DateStyle", date_style)
    settings.set("IntervalStyle", interval_style)
    return settings.captured()


def refusal(query: str, settings: SessionSettings) -> str:
    """Return the message of the error that binding raises, '' for none."""
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    try:
        bind_query(statement.query, SampleCatalog(), settings)
    except SqlError as error:
        assert error.sqlstate == "0A000"
        return error.message
    return ""


@pytest.mark.parametrize(
    ("text", "kind", "styles", "is_refused"),
    [
        ("01/02/03", "date", ("ISO, DMY",), True), ("01/02/03", "date", ("SQL, MDY",), False), ("01/02/03", "date", ("YMD",), True),
        ("2003-01-02", "date", ("German, DMY",), False), ("13/12/2003", "timestamp", ("DMY",), True),
        ("1 feb 2003", "timestamp", ("DMY",), False),
        ("{2000-01-01,1/2/3}", "date[]", ("DMY",), True), ("-1 day 2 hours", "interval", ("ISO", "sql_standard"), True),
        ("1 day 2 hours", "interval", ("ISO", "sql_standard"), False), ("-1 day 2 hours", "interval", ("ISO", "iso_8601"), False),
    ],
)  # fmt: skip
def test_constants_of_definitions(text: str, kind: str, styles: tuple[str, ...], is_refused: bool) -> None:
    settings = settings_with(*styles)
    query = f"SELECT '{text}'::{kind}"
    assert refusal(query, settings) == ""
    assert refusal(query, settings.shared()) == (f'"{text}" in a definition is not supported yet' if is_refused else "")


@pytest.mark.parametrize(
    ("expression", "styles", "what"),
    [
        ("b::date", ("DMY",), 'text to date with datestyle = "ISO, DMY"'),
        ("b::timestamptz", ("SQL, YMD",), 'text to timestamp with time zone with datestyle = "SQL, YMD"'),
        ("b::interval", ("ISO", "sql_standard"), 'text to interval with intervalstyle = "sql_standard"'),
        ("h::text", ("German",), 'date to text with datestyle = "German, DMY"'),
        ("'x' || d", ("SQL",), 'timestamp without time zone to text with datestyle = "SQL, MDY"'),
        ("h::text", ("DMY",), ""), ("b::date", ("SQL",), ""), ("b::int", ("German",), ""), ("b::interval", ("German",), ""),
    ],
)  # fmt: skip
def test_casts_of_columns(expression: str, styles: tuple[str, ...], what: str) -> None:
    message = refusal(f"SELECT {expression} FROM s", settings_with(*styles))
    assert message == (f"a cast of {what} is not supported yet" if what else "")
