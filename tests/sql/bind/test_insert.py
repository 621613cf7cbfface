"""Bound INSERTs: targets, conversions, parameters, and the errors of assignment."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sql.bind import BoundInsert, bind_default, bind_insert, substitute_now, substitute_parameters
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.insert import Insert
from sql.tree.expressions import Call, Literal
from sql.tree.relations import Values
from sql.types.datatypes import INT4, TEXT, TIMESTAMPTZ, SqlType
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from tests.sql.tree_text import text, tree_text


def insert(statement: str, types: Sequence[SqlType | None] | None = None) -> BoundInsert:
    (parsed,) = parse(statement)
    assert isinstance(parsed, Insert)
    return bind_insert(parsed, SampleCatalog(), SETTINGS, types)


def rows(bound: BoundInsert) -> list[list[str]]:
    assert isinstance(bound.source, Values)
    return [[text(item) for item in row] for row in bound.source.rows]


def test_values_become_the_columns_types() -> None:
    bound = insert(
        "insert into s (c, b, g, h, z) values (1.005, 5, 'ab', '2020-01-02', '2020-01-01'), (default, 'x', 'c', null, now())"
    )
    assert bound.targets == (2, 1, 6, 7, 9)
    assert bound.stable
    assert rows(bound) == [
        ["1.01:numeric", "cast(5:int4 as text)", "ab:varchar", "18263:date", "1577833200000000:timestamptz"],
        ["None:numeric", "x:text", "c:varchar", "None:date", "now()"],
    ]
    assert bound.source.schema[0].type.scale == 2


def test_fewer_values_than_columns_are_the_first_columns() -> None:
    bound = insert("insert into s values (1, 'x')")
    assert bound.targets == (0, 1)
    assert insert("insert into s default values").targets == ()


def test_parameters_take_the_columns_types() -> None:
    bound = insert("insert into s (b, a) values ($1, $2)", ())
    assert [kind.family for kind in bound.parameters] == ["text", "int4"]
    declared = insert("insert into s (a) values ($1)", (SqlType("int8"),))
    root = substitute_parameters(declared.source, (Literal(7, SqlType("int8")),))
    assert tree_text(root) == ["Values cast(7:int8 as integer)"]


@pytest.mark.parametrize(
    ("statement", "sqlstate", "message", "position"),
    [
        ("insert into nope values (1)", "42P01", 'relation "nope" does not exist', 13),
        ("insert into v values (1)", "55000", 'cannot insert into view "v"', None),
        ("insert into s (a, x) values (1, 2)", "42703", 'column "x" of relation "s" does not exist', 19),
        ("insert into s (a, a) values (1, 2)", "42701", 'column "a" specified more than once', 19),
        ("insert into s (a) values (1, 2)", "42601", "INSERT has more expressions than target columns", 30),
        ("insert into s (a, b) values (1)", "42601", "INSERT has more target columns than expressions", 19),
        (
            "insert into s (a) values (true)",
            "42804",
            'column "a" is of type integer but expression is of type boolean',
            27,
        ),
        ("insert into s (a) values ('x')", "22P02", 'invalid input syntax for type integer: "x"', 27),
        ("insert into s (g) values ('abcdef')", "22001", "value too long for type character varying(5)", None),
        ("insert into s (a) values (a)", "42703", 'column "a" does not exist', 27),
        ("insert into s (a) values (count(*))", "42803", "aggregate functions are not allowed in VALUES", 27),
        ("insert into s (a) values ($1)", "42P02", "there is no parameter $1", 27),
    ],
)
def test_errors(statement: str, sqlstate: str, message: str, position: int | None) -> None:
    with pytest.raises(SqlError) as raised:
        insert(statement)
    assert (raised.value.sqlstate, raised.value.message, raised.value.position) == (sqlstate, message, position)


def test_insert_from_a_query_is_converted_by_column() -> None:
    bound = insert("insert into s (b) select n from v")
    assert tree_text(bound.source)[0] == "Project b=cast(#0 as text)"


def test_defaults() -> None:
    (statement,) = parse(
        "create foreign table t (a int default 1.6, z timestamptz default now(), g varchar(2) default 'ab') server stream"
    )
    assert isinstance(statement, CreateStream)
    found = [bind_default(column, SampleCatalog(), SETTINGS) for column in statement.columns]
    assert [text(item) for item in found] == ["cast(1.6:numeric as integer)", "now()", "ab:varchar"]
    catalog = SampleCatalog()
    columns = (ColumnDescription("a", INT4, default=Call("now", (), TIMESTAMPTZ)), ColumnDescription("b", TEXT))
    catalog.relations["t"] = RelationDescription("t", "stream", 20_000, columns)
    (parsed,) = parse("insert into t values (default, default)")
    assert isinstance(parsed, Insert)
    bound = bind_insert(parsed, catalog, SETTINGS)
    assert tree_text(substitute_now(bound.source, 5)) == ["Values 5:timestamptz, None:text"]


@pytest.mark.parametrize(
    ("column", "sqlstate"),
    [
        ("a int default 'x'", "22P02"),
        ("a int default true", "42804"),
        ("a int default b", "0A000"),
        ("a int default sum(1)", "42803"),
    ],
)
def test_bad_defaults(column: str, sqlstate: str) -> None:
    (statement,) = parse(f"create foreign table t ({column}) server stream")
    assert isinstance(statement, CreateStream)
    with pytest.raises(SqlError) as raised:
        bind_default(statement.columns[0], SampleCatalog(), SETTINGS)
    assert raised.value.sqlstate == sqlstate
