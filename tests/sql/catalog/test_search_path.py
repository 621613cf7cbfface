"""Names resolved along a search_path: which keys they may mean, and what is refused."""

from __future__ import annotations

import pytest

from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key, keys_of
from sql.catalog.search_path import path_names, path_text
from sql.errors import SqlError
from sql.names.relation_keys import as_written, relation_key, shown


@pytest.mark.parametrize(
    ("search_path", "names"),
    [
        ('"$user", public', ("me", "public")),
        ("a, b,  a", ("a", "b")),
        ('"A b", "x""y", "c,d"', ("A b", 'x"y', "c,d")),
        ("", ()),
        ('""', ()),
    ],
)
def test_a_search_path_is_read(search_path: str, names: tuple[str, ...]) -> None:
    assert path_names(search_path, "me") == names
    assert path_names(path_text(names), "you") == names


def test_a_name_means_the_first_schema_that_has_it() -> None:
    settings = SessionSettings(search_path="a, public, b")
    assert list(keys_of("t", settings)) == [relation_key("a", "t"), "t", relation_key("b", "t")]
    there = {"t", relation_key("b", "t"), relation_key("b", "u")}
    assert found_key("t", settings, there.__contains__) == "t"
    assert found_key("u", settings, there.__contains__) == relation_key("b", "u")
    assert found_key(as_written(("b", "t")), settings, there.__contains__) == relation_key("b", "t")
    missing = found_key(as_written(("c", "t")), settings, there.__contains__)
    assert missing not in there and shown(missing) == "c.t"


def test_a_schema_that_may_not_be_used_is_gone_past_or_refused() -> None:
    settings = SessionSettings(search_path="a, public", unusable=frozenset({"a"}))
    assert list(keys_of("t", settings)) == ["t"]
    with pytest.raises(SqlError) as raised:
        list(keys_of(as_written(("a", "t")), settings, 15))
    assert (raised.value.sqlstate, raised.value.position) == ("42501", 15)


def test_temporary_relations_are_those_of_the_session() -> None:
    written = as_written(("pg_temp", "t"))
    (one,), (other,) = (
        keys_of(written, SessionSettings(search_path="public", process_id=process_id)) for process_id in (7, 8)
    )
    assert one != other and "t" not in (one, other)
