"""Statements of every kind, as their dataclasses."""

from __future__ import annotations

import sys

import pytest

from sql.bind import bind_query
from sql.errors import SqlError
from sql.names.relation_keys import as_written
from sql.parse.parse import parse
from sql.parse.statements.checkpoint import Checkpoint
from sql.parse.statements.copy import CopyFrom, CopyTo
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from sql.parse.statements.session_state import Deallocate, Discard
from sql.parse.statements.transaction import Transaction
from sql.parse.statements.variables import SetVariable, Show
from sql.parse.syntax import Query
from sql.types.datatypes import INT4, TEXT, SqlType, numeric
from tests.sql.sample_catalog import SETTINGS, SampleCatalog


def one(text: str) -> Statement:
    (statement,) = parse(text)
    return statement


def selected(text: str) -> Query:
    statement = one(text)
    assert isinstance(statement, Select)
    return statement.query


def error(text: str) -> SqlError:
    with pytest.raises(SqlError) as raised:
        parse(text)
    return raised.value


def test_several_statements_keep_their_own_text_and_positions_in_the_whole() -> None:
    first, second = parse("select 1 ; ;\n insert into s values (2);")
    assert (first.text, second.text) == ("select 1", "insert into s values (2)")
    assert isinstance(second, Insert)
    assert second.name_position == 27
    assert parse("") == (Empty(),)
    assert parse(" ; -- nothing") == (Empty(),)


def test_create_foreign_table() -> None:
    statement = one(
        "CREATE FOREIGN TABLE IF NOT EXISTS Public.S (A int NOT NULL DEFAULT 1 + 2, b varchar(10), c decimal(10,2), "
        "d timestamp (6) with time zone NULL, \"E\" character varying) SERVER stream OPTIONS (capacity '100')"
    )
    assert isinstance(statement, CreateStream)
    assert (statement.name, statement.if_not_exists, dict(statement.options)) == (
        as_written(("public", "s")),
        True,
        {"capacity": "100"},
    )
    assert [(column.name, column.type) for column in statement.columns] == [
        ("a", INT4),
        ("b", SqlType("varchar", length=10)),
        ("c", numeric(10, 2)),
        ("d", SqlType("timestamptz", precision=6)),
        ("E", SqlType("varchar")),
    ]
    assert [column.not_null for column in statement.columns] == [True, False, False, False, False]
    assert statement.columns[0].default_text == "1 + 2"


@pytest.mark.parametrize(
    ("text", "sqlstate", "message"),
    [
        ("create foreign table s (a int) server other", "42704", 'server "other" does not exist'),
        ("create foreign table s (a int)", "42601", "syntax error at end of input"),
        ("create foreign table s (a int, a text) server stream", "42701", 'column "a" specified more than once'),
        (
            "create foreign table s (a numeric(50,2)) server stream",
            "0A000",
            "the type numeric(50,2) is not supported yet",
        ),
        ("create foreign table s (a point) server stream", "0A000", "the type point is not supported yet"),
        (
            "create foreign table s (a int primary key) server stream",
            "0A000",
            "PRIMARY KEY in a stream is not supported yet",
        ),
        ("create foreign table s (a int) server stream options (size '1')", "HV00D", 'invalid option "size"'),
        ("create foreign table s (a varchar(0)) server stream", "22023", "length for type varchar must be at least 1"),
    ],
)
def test_create_foreign_table_errors(text: str, sqlstate: str, message: str) -> None:
    raised = error(text)
    assert (raised.sqlstate, raised.message) == (sqlstate, message)


def test_create_view() -> None:
    text = "create view v (x, y) with (on_error = skip) as select a, count(*) from s group by 1"
    statement = one(text)
    assert isinstance(statement, CreateView)
    assert (statement.name, statement.column_names, dict(statement.options)) == ("v", ("x", "y"), {"on_error": "skip"})
    assert statement.query_text == "select a, count(*) from s group by 1"
    assert text[statement.query_offset :] == statement.query_text
    assert error("create view v with (on_error = stop) as select 1").sqlstate == "22023"
    assert error("create view v with (fast) as select 1").sqlstate == "22023"
    assert error("create view v as select $1").sqlstate == "42P02"


def test_drop() -> None:
    assert one("drop foreign table if exists a, b cascade") == DropRelation(
        "drop foreign table if exists a, b cascade", "stream", (("a", 30), ("b", 33)), True, True
    )
    statement = one("drop view v restrict")
    assert isinstance(statement, DropRelation)
    assert (statement.kind, statement.cascade) == ("view", False)


def test_insert() -> None:
    statement = one("insert into s (a, b) values (1, default), (-2, 'x')")
    assert isinstance(statement, Insert)
    assert statement.columns == (("a", 16), ("b", 19))
    assert [[item is None for item in row] for row in statement.rows] == [[False, True], [False, False]]
    empty = one("insert into s default values")
    assert isinstance(empty, Insert)
    assert empty.rows == ((),)
    query = one("with q as (select 1) insert into s select * from q returning *")
    assert isinstance(query, Insert)
    assert query.query is not None
    assert query.returning


def test_copy() -> None:
    statement = one("copy s (a, b) from stdin with (format csv, header, delimiter '|', force_null (a), publish '1.5s')")
    assert isinstance(statement, CopyFrom)
    assert statement.columns == (("a", 9), ("b", 12))
    options = statement.options
    assert (options.format, options.header, options.delimiter, options.null) == ("csv", True, "|", "")
    assert (options.force_null, options.publish_ms) == (("a",), 1500)
    old = one("copy s from stdin with delimiter as ',' null as '' csv quote as '''' force not null a, b")
    assert isinstance(old, CopyFrom)
    assert (old.options.format, old.options.quote, old.options.escape) == ("csv", "'", "'")
    assert old.options.force_not_null == ("a", "b")
    to = one("copy (select 1) to stdout (format text)")
    assert isinstance(to, CopyTo)
    assert to.query is not None
    columns = one("copy s (b) to '/tmp/file'")
    assert isinstance(columns, CopyTo)
    assert (columns.query, columns.name, columns.columns) == (None, "s", (("b", 9),))
    assert columns.file == "/tmp/file"


@pytest.mark.parametrize(
    ("text", "action", "chain", "modes"),
    [
        ("begin", "begin", False, ()),
        (
            "begin work isolation level serializable, read only",
            "begin",
            False,
            ("isolation level serializable", "read only"),
        ),
        ("start transaction not deferrable", "begin", False, ("not deferrable",)),
        ("commit and chain", "commit", True, ()),
        ("end transaction and no chain", "commit", False, ()),
        ("abort", "rollback", False, ()),
        ("rollback work", "rollback", False, ()),
    ],
)
def test_transactions(text: str, action: str, chain: bool, modes: tuple[str, ...]) -> None:
    assert one(text) == Transaction(text, action, chain, modes)


@pytest.mark.parametrize(
    ("text", "name", "value", "local"),
    [
        ("set timezone = 'UTC'", "timezone", "UTC", False),
        ("set TimeZone to default", "timezone", None, False),
        ("set time zone 'Europe/Berlin'", "timezone", "Europe/Berlin", False),
        ("set time zone local", "timezone", None, False),
        ("set session statement_timeout to 100", "statement_timeout", "100", False),
        ("set local search_path = a, \"B\", 'c d'", "search_path", 'a, "B", "c d"', True),
        ("set search_path = 'a,b'", "search_path", '"a,b"', False),
        ('set search_path to "B"', "search_path", '"B"', False),
        ("set search_path = ''", "search_path", '""', False),
        ("set schema 'a, b'", "search_path", '"a, b"', False),
        ("set extra_float_digits = -3", "extra_float_digits", "-3", False),
        ("set names 'utf8'", "client_encoding", "utf8", False),
        ("set my.own = on", "my.own", "on", False),
        (
            "set transaction isolation level read committed, read only",
            "transaction",
            "isolation level read committed, read only",
            True,
        ),
        ("set session characteristics as transaction read write", "session characteristics", "read write", False),
        ("set session authorization default", "session_authorization", None, False),
        ("reset all", "all", None, False),
        ("reset time zone", "timezone", None, False),
        ("reset jit", "jit", None, False),
    ],
)
def test_set_and_reset(text: str, name: str, value: str | None, local: bool) -> None:
    assert one(text) == SetVariable(text, name, value, local)


def test_show_deallocate_discard() -> None:
    assert one("show all") == Show("show all", "all")
    assert one("show time zone") == Show("show time zone", "timezone")
    assert one("show transaction isolation level") == Show("show transaction isolation level", "transaction_isolation")
    assert one("deallocate prepare x") == Deallocate("deallocate prepare x", "x")
    assert one("deallocate all") == Deallocate("deallocate all", None)
    assert one("discard temporary") == Discard("discard temporary", "temp")


def test_checkpoint() -> None:
    assert parse(" checkpoint; CHECKPOINT") == (Checkpoint("checkpoint"), Checkpoint("CHECKPOINT"))
    assert error("checkpoint now").message == 'syntax error at or near "now"'


def test_explain() -> None:
    statement = one("explain (analyze, verbose off) select 1")
    assert isinstance(statement, Explain)
    assert (statement.statement.text, dict(statement.options)) == ("select 1", {"analyze": "true", "verbose": "off"})
    view = one("explain create view v as select 1")
    assert isinstance(view, Explain)
    assert isinstance(view.statement, CreateView)
    parenthesised = one("explain (select 1)")
    assert isinstance(parenthesised, Explain)
    assert isinstance(parenthesised.statement, Select)


@pytest.mark.parametrize(
    "text",
    [
        "create temp recursive view t (a) as select 1",
        "create or replace procedure f() as 'x'",
        "do $$x$$",
        "explain insert into s values (1)",
        "select a into t from s",
        "with q as (delete from s returning a) select * from q",
    ],
)
def test_what_postgres_knows_and_we_do_not_is_refused_by_name(text: str) -> None:
    raised = error(text)
    assert raised.sqlstate == "0A000"
    assert "is not supported yet" in raised.message


def test_syntax_error_before_a_lexical_one_is_reported_first() -> None:
    assert error("foo 'abc").message == 'syntax error at or near "foo"'


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    known = sys.getrecursionlimit()
    # As the server has it.
    sys.setrecursionlimit(40_000)
    try:
        assert error("select " + "(" * 5000 + "1" + ")" * 5000).sqlstate == "54001"
        assert error("select " + "not " * 5000 + "true").sqlstate == "54001"
        assert len(parse("select " + "(" * 900 + "1" + ")" * 900)) == 1
    finally:
        sys.setrecursionlimit(known)


def test_long_chains_are_no_nesting() -> None:
    assert len(parse("select " + "+".join(["1"] * 5000))) == 1
    assert error("select " + "+".join(["1"] * 7000)).sqlstate == "54001"
    assert len(parse("select " + " and ".join(["true"] * 5000))) == 1


def test_text_is_kept_on_types() -> None:
    statement = one("create foreign table s (a text) server stream")
    assert isinstance(statement, CreateStream)
    assert statement.columns[0].type == TEXT


@pytest.mark.parametrize(
    ("text", "position", "hint"),
    [
        ("select lenght(a) from s", 8, 'the function "length"'),
        ("select cuont(*) from s", 8, 'the function "count"'),
        ("select rnak() over () from s", 8, 'the function "rank"'),
        ("select * from generate_serie(1, 2)", 15, 'the function "generate_series"'),
        ("select a::intger from s", 11, 'the type "integer"'),
        ("select a::string from s", 11, 'the type "text"'),
        ("select a::dubble from s", 11, None),
        ("select a::double from s", 11, 'the type "double precision"'),
        ("copy s from stdin with (delimeter ',')", 25, 'the option "delimiter"'),
        ("create view v with (on_eror = skip) as select 1", 21, 'the parameter "on_error"'),
    ],
)
def test_did_you_mean(text: str, position: int, hint: str | None) -> None:
    with pytest.raises(SqlError) as caught:
        bind_query(selected(text), SampleCatalog(), SETTINGS)
    assert caught.value.position == position
    assert caught.value.hint == (None if hint is None else f"Perhaps you meant {hint}.")
