"""Definitions: options of CREATE VIEW, and the plain form that outlives the process."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from views.model.definition import JoinChoice, ViewDefinition, define_view

SETTINGS = SessionSettings(time_zone="Europe/Berlin", search_path="public").shared()


def statement(**options: str) -> CreateView:
    (parsed,) = parse("CREATE VIEW v (a) AS SELECT count(*) FROM s;")
    assert isinstance(parsed, CreateView)
    return replace(parsed, options=options)


def test_the_plain_form_survives_json() -> None:
    definition = define_view(statement(on_error="SKIP"), 16400, SETTINGS)
    assert definition.on_error == "skip"
    assert definition.column_names == ("a",)
    assert definition.query_text == "SELECT count(*) FROM s"
    assert definition.text[definition.query_offset :] == definition.query_text
    assert ViewDefinition.from_dict(json.loads(json.dumps(definition.to_dict()))) == definition


@pytest.mark.parametrize("options", [{"on_error": "ignore"}, {"check_option": "local"}])
def test_an_option_that_does_not_exist_is_22023(options: dict[str, str]) -> None:
    with pytest.raises(SqlError) as failure:
        define_view(statement(**options), 16400, SETTINGS)
    assert failure.value.sqlstate == "22023"


def test_how_tables_are_joined_is_an_option_or_the_settings_default() -> None:
    assert define_view(statement(), 1, SETTINGS).joins == JoinChoice(True, "frozen")
    assert define_view(statement(eager_grouping="OFF"), 1, SETTINGS).joins == JoinChoice(False, "frozen")
    later = replace(SETTINGS, variables=(("default_stream_join", "retroactive"),))
    definition = define_view(statement(), 1, later)
    assert definition.joins == JoinChoice(True, "retroactive")
    assert ViewDefinition.from_dict(json.loads(json.dumps(definition.to_dict()))).joins == definition.joins
    assert define_view(statement(stream_join="frozen"), 1, later).joins.stream_join == "frozen"
    with pytest.raises(SqlError) as failure:
        define_view(statement(eager_grouping="off", stream_join="retroactive"), 1, SETTINGS)
    assert failure.value.sqlstate == "22023"
