"""Queries whose texts, or shapes, have come before: answered as by a session that hears them for
the first time, which parses and binds each.
"""

from __future__ import annotations

from itertools import count
from time import process_time

import pytest

from engine.execution.names import PLANS_BYTES_MAX
from engine.execution.shapes import SHAPE_CHARACTERS_MAX, SHAPED
from tests.engine.session_client import SessionClient, World

SETUP = (
    (
        "CREATE TABLE t (i int, b bigint, s smallint, x float8, n numeric(10,2), a text, v varchar(3), c char(4), d date, "
        "z timestamptz, u uuid, f boolean)"
    ),
    (
        "INSERT INTO t SELECT i, i * 10, i, i / 2.0, i * 1.25, 'a' || i, 'v' || i, 'c' || i, '2024-01-01'::date + i, "
        "'2024-01-01 00:00:00+00'::timestamptz + i * interval '1 hour', NULL, i % 2 = 0 FROM generate_series(1, 9) AS r(i)"
    ),
)
# Conditions with values that a column of the type has, might have, and can't have.
VALUES = {
    "i": ("3", "-3", "99999999999", "'3'", "' 3 '", "'x'", "123456789012345678"),
    "b": ("30", "99999999999", "'30'"),
    "s": ("3", "70000", "'70000'"),
    "x": ("3", "'1.5'", "'NaN'"),
    "n": ("5", "'3.75'", "'3.755'"),
    "a": ("'a3'", "'a3 '", "''", "3"),
    "v": ("'v3'", "'v34567'"),
    "c": ("'c3'", "'c3  '", "'c3456789'"),
    "d": ("'2024-01-04'", "'20240104'", "'x'", "'today'"),
    "z": ("'2024-01-01 03:00:00'", "'2024-01-01 03:00:00+00'", "'now'"),
    "u": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'a0'"),
    "f": ("'t'", "'x'", "1"),
}
SHAPES = (
    "SELECT i, a FROM t WHERE {} = {} ORDER BY i",
    "SELECT count(*), min(a) AS least FROM t WHERE {} >= {}",
    "SELECT f, count(*) FROM t WHERE {}<{} AND i <> 4 GROUP BY f ORDER BY 1 LIMIT 5;",
)
NUMBERS = count()


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(*SETUP)


def ask_anew(client: SessionClient, text: str) -> list[str]:
    """Return the answer to a text of which the session knows neither the shape nor an answer."""
    client.session.reads.shapes._once.clear()
    return client.ask(text.rstrip(";") + f" -- {next(NUMBERS)}")


@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_read_as_constants_are(client: SessionClient, world: World, shape: str) -> None:
    client.run("SET TimeZone = 'Asia/Kolkata'")
    fresh = world.client().after("SET TimeZone = 'Asia/Kolkata'")
    for column, values in VALUES.items():
        for value in (*values, *values):
            text = shape.format(column, value)
            answer = client.ask(text)
            assert answer == ask_anew(fresh, text), text


def test_a_text_is_bound_anew_after_what_it_depends_on(client: SessionClient, world: World) -> None:
    texts = (
        "SELECT * FROM t WHERE i < 3 ORDER BY i LIMIT 4",
        "SELECT a || '!' AS told, i FROM t ORDER BY i",
        "SELECT relname, pg_table_is_visible(oid) FROM pg_class WHERE relname IN ('t', 'o') ORDER BY 1, 2",
        "SELECT current_schema() AS name, z FROM t ORDER BY z LIMIT 1",
    )
    client.run(
        "CREATE SCHEMA o", "CREATE TABLE o.t (i text, a text, z text)", "INSERT INTO o.t VALUES ('1', 'of o', 'z')"
    )
    client.run("CREATE ROLE reader", "GRANT SELECT ON t TO reader")
    for change in (
        "SET search_path = public",
        "ALTER TABLE t DROP COLUMN x",
        "ALTER TABLE t RENAME COLUMN v TO w",
        "ALTER TABLE t ALTER COLUMN d TYPE text",
        "SET DateStyle = 'German'",
        "SET TimeZone = 'Asia/Tokyo'",
        "SET search_path = o, public",
        "INSERT INTO o.t VALUES ('2', 'more', 'y')",
        "SET search_path = public",
        "SET ROLE reader",
        "RESET ROLE",
        "REVOKE SELECT ON t FROM reader",
        "SET ROLE reader",
        "RESET ROLE",
        "ALTER TABLE t ALTER COLUMN i TYPE text",
        "DROP TABLE t",
        "SET search_path = o",
    ):
        client.run(change)
        for text in texts:
            answers = [client.ask(text) for _ in range(3)]
            assert answers == [ask_anew(client, text)] * 3, (change, text)


def test_a_block_sees_its_own_definitions_and_rows(client: SessionClient) -> None:
    text, shape = "SELECT a || '' AS a FROM t WHERE i = 1", "SELECT a FROM t WHERE i = {} LIMIT 9"
    for number in (1, 2, 3):
        client.ask(text)
        client.ask(shape.format(number))
    client.run("BEGIN", "UPDATE t SET a = 'new' WHERE i = 1")
    assert client.rows(text) == client.rows(shape.format(1)) == ["D [b'new']"]
    client.run("ALTER TABLE t ALTER COLUMN a TYPE int USING 7", "ALTER TABLE t ALTER COLUMN i TYPE text")
    assert client.rows("SELECT a FROM t WHERE i = '1' LIMIT 9") == ["D [b'7']"]
    assert any("42883" in line for line in client.ask(shape.format(1)))
    client.run("ROLLBACK")
    assert client.rows(text) == client.rows(shape.format(1)) == ["D [b'a1']"]


def test_a_sequence_of_another_schema_is_called_beside_a_parameter(client: SessionClient) -> None:
    client.run("CREATE SCHEMA o", "CREATE SEQUENCE o.numbers")
    for number in (1, 2, 3, 4):
        assert client.rows(f"SELECT nextval('o.numbers'), a FROM t WHERE i = {number}") == [
            f"D [b'{number}', b'a{number}']"
        ]
    client.run("PREPARE p(int) AS SELECT nextval('o.numbers'), a FROM t WHERE i = $1")
    assert client.rows("EXECUTE p(5)") == ["D [b'5', b'a5']"]


def test_an_answer_of_a_shape_is_kept_for_its_text(client: SessionClient) -> None:
    for number in (1, 2, 3, 3):
        answer = client.ask(f"SELECT a FROM t WHERE i >= {number} ORDER BY i LIMIT 1")
        assert answer[1] == f"D [b'a{number}']"
    assert len(client.session.server.engines.answers._answers) >= 2 * 3
    client.run("UPDATE t SET a = 'b3' WHERE i = 3")
    assert client.rows("SELECT a FROM t WHERE i >= 3 ORDER BY i LIMIT 1") == ["D [b'b3']"]


def test_statements_of_a_session_are_bounded(client: SessionClient) -> None:
    for number in range(8):
        columns = ", ".join(f"random() AS c{number}_{place}" for place in range(300))
        for _ in range(2):
            client.ask(f"SELECT {columns} FROM t LIMIT 0")
        assert client.session.reads.shapes._known.bytes_count <= PLANS_BYTES_MAX
    assert client.session.reads.shapes._known


@pytest.mark.parametrize("operator", ["=", "<>", "!=", "<", ">", "<=", ">="])
def test_a_sign_after_an_operator_is_read_as_the_lexer_does(client: SessionClient, world: World, operator: str) -> None:
    fresh = world.client()
    for number in (3, 4, 5):
        text = f"SELECT i FROM t WHERE i {operator}-{number} ORDER BY i"
        assert client.ask(text) == ask_anew(fresh, text)


@pytest.mark.parametrize("blank", [" ", " , ", "a ", "a=1 AND ", "WHERE ", " WHERE a=1 LIMIT ", "111111111111111111 "])
def test_no_text_takes_long_to_be_found_without_a_shape(blank: str) -> None:
    for begin in ("SELECT ", "SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a = 1 LIMIT ", "SELECT a WHERE "):
        for end in ("(", "; (", "'", ""):
            text = (begin + blank * SHAPE_CHARACTERS_MAX)[: SHAPE_CHARACTERS_MAX - len(end)] + end
            began_s = process_time()
            SHAPED.match(text)
            assert process_time() - began_s < 0.2, text
