"""Keys of relations: made of schema and name, taken apart, shown."""

from __future__ import annotations

import pytest

from sql.names.relation_keys import (
    as_written,
    described,
    dotted,
    name_of,
    quoted,
    quoted_key,
    relation_key,
    schema_of,
    shown,
    written_schema,
)
from sql.parse.grammar.cursor import read_name

NAMES = ("t", "T", "a.b", '"', "s t", "é", "s\x01t", "public", "pg_temp")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("schema", ["public", "s", "S", "a b", 'x"y', "a.b"])
def test_a_key_is_taken_apart_again(schema: str, name: str) -> None:
    key = relation_key(schema, name)
    assert (schema_of(key), name_of(key), shown(key)) == (schema, name, name)
    assert read_name(quoted_key(key)) == as_written((schema, name))
    whole = quoted(name) if schema == "public" else f"{quoted(schema)}.{quoted(name)}"
    assert shown(f'relation "{key}" of {described(key)}') == f'relation "{name}" of {whole}'


def test_no_two_relations_have_one_key() -> None:
    places = [(schema, name) for schema in ("public", *NAMES) for name in NAMES]
    assert len({relation_key(*place) for place in places}) == len(set(places))


def test_a_bare_name_is_a_key_of_schema_public_only() -> None:
    """Names that a client can write between quotes have no zero byte, which the keys of other
    schemas begin with.
    """
    assert all(relation_key("public", name) == name for name in NAMES)
    assert all(relation_key("s", name).startswith("\0") for name in NAMES)


def test_a_name_as_written_keeps_its_schema() -> None:
    assert (written_schema("t"), dotted("t")) == (None, "t")
    written = as_written(("public", "t"))
    assert (written_schema(written), dotted(written), name_of(written)) == ("public", "public.t", "t")
