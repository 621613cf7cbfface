"""INSERTs of one row into a stream whose values are expressions: computed without the embedded
engine, and stored as the general way stores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from tests.end_to_end.raw_client import SYNC, bind, describe, execute, frame, parse
from tests.engine.session_client import SessionClient, World
from tests.faults.machine import shared_kernels

SETUP = (
    "CREATE FOREIGN TABLE s (k bigint, n integer, t text, u uuid, w varchar(3), d timestamptz DEFAULT now()) SERVER stream",
    "CREATE SEQUENCE q",
    """CREATE VIEW v AS SELECT k, count(*) AS times, max(n) AS n, max(t) AS t, max(u::text) AS u, max(w) AS w
    FROM s GROUP BY k""",
)
# What is inserted as k, n, t, and what is stored, as PostgreSQL computes it; with {} in the place
# of a number of the row.
TEXTS: Mapping[str, Callable[[int], tuple[int | None, str | None]]] = {
    "(k, n, t) VALUES ({} + 0, 1 + {}, 'x')": lambda i: (1 + i, "x"),
    "(k, n, t) VALUES ({}, -{} - 2147483000, upper('aé{}'))": lambda i: (-i - 2147483000, f"Aé{i}"),
    "(k, n, t) VALUES ({}, length('ab{}') * -3, lower('AÉ') || 'it''s{}')": lambda i: (
        -3 * len(f"ab{i}"),
        f"aÉit's{i}",
    ),
    "(k, n, t) VALUES ({}, 5 - {}, 'n' || {})": lambda i: (5 - i, f"n{i}"),
    "(k, n, t) VALUES ({}, NULL, md5(NULL) || '{}')": lambda i: (None, None),
}
# Prepared: the statement, the types of its parameters, and what is stored for two of them.
PREPARED: Mapping[str, Callable[[int, str], tuple[int, str]]] = {
    "(k, n, t) VALUES ($1, $1 + 1, upper($2))": lambda i, t: (i + 1, t.upper()),
    "(t, n, k) VALUES ($2 || '-' || $2, 7 - $1, $1)": lambda i, t: (7 - i, f"{t}-{t}"),
    "(k, t, n) VALUES ($1 * 1, $2, length($2))": lambda i, t: (len(t), t),
}


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


@pytest.fixture
def client(tmp_path: Path) -> Iterator[SessionClient]:
    world = World(tmp_path)
    client = world.client()
    client.run(*SETUP)
    yield client
    world.close()


def row(number: int, n: int | None, t: str | None) -> str:
    """Return what a client reads of the view."""
    return f"D {[str(number).encode(), None if n is None else str(n).encode(), None if t is None else t.encode()]}"


def at_once(client: SessionClient, text: str) -> bool:
    """Run a text if it needs no parser, and tell whether that was possible."""
    return client.at_once(frame(b"Q", text.encode() + b"\0")) is not None


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_comes_again(client: SessionClient, text: str) -> None:
    expected = []
    for number in range(10, 14):
        written = f"INSERT INTO s {text.format(*[number] * 4)}"
        if number < 12 or not written.isascii():
            # Twice it is parsed. A packet that needs decoding is staged without a parser later on.
            client.run(written)
        else:
            assert at_once(client, written), written
        expected.append(row(number, *TEXTS[text](number)))
    client.run("BEGIN", f"INSERT INTO s {text.format(*[14] * 4)}", "COMMIT")
    expected.append(row(14, *TEXTS[text](14)))
    assert client.rows("SELECT k, n, t FROM v ORDER BY k") == expected


@pytest.mark.parametrize("statement", PREPARED)
def test_prepared(client: SessionClient, statement: str) -> None:
    client.ask(parse(f"INSERT INTO s {statement}", "p", [23, 25]), SYNC)
    expected = []
    for number, text in enumerate(("a", "bc", "d" * 40), 1):
        values = (str(number).encode(), text.encode())
        packet = bind(values, "p", "", results=(0,)) + describe("P", "") + execute("", 0) + SYNC
        assert client.at_once(packet) is not None
        expected.append(row(number, *PREPARED[statement](number, text)))
    # In a transaction, and with a value that the general way alone has.
    client.run("BEGIN")
    client.ask(bind((b"4", b"x"), "p", "", results=(0,)), execute("", 0), SYNC)
    client.run("COMMIT")
    expected.append(row(4, *PREPARED[statement](4, "x")))
    assert client.rows("SELECT k, n, t FROM v ORDER BY k") == expected
    assert client.at_once(bind((b"4x", b"x"), "p", "", results=(0,)) + execute("", 0) + SYNC) is None


def test_each_row_has_its_own_value_of_a_volatile_function(client: SessionClient) -> None:
    for number in range(4):
        text = f"INSERT INTO s (k, u) VALUES ({number}, gen_random_uuid())"
        assert at_once(client, text) == (number > 0)
        if number == 0:
            client.run(text)
    found = client.rows("SELECT u FROM v ORDER BY k")
    assert len({UUID(one[5:-2]) for one in found}) == 4


def test_sequences_go_on(client: SessionClient) -> None:
    for number in range(70):
        text = f"INSERT INTO s (n, k) VALUES ({number}, nextval('q'))"
        if not at_once(client, text):
            client.run(text)
    expected = [f"D {[str(number + 1).encode(), str(number).encode()]}" for number in range(70)]
    assert client.rows("SELECT k, n FROM v ORDER BY k") == expected
    assert client.rows("SELECT currval('q'), lastval()") == ["D [b'70', b'70']"]


def test_errors_are_those_of_the_general_way(client: SessionClient) -> None:
    for number in (1, 2, 3):
        client.run(f"INSERT INTO s (k, n, w) VALUES ({number}, {number} + 1, 'abc')")
    assert not at_once(client, "INSERT INTO s (k, n, w) VALUES (4, 2 + 2147483647, 'abc')")
    overflow = client.ask("INSERT INTO s (k, n, w) VALUES (4, 4 + 2147483647, 'abc')")[0]
    assert "22003" in overflow and "integer out of range" in overflow
    assert "22001" in client.ask("INSERT INTO s (k, n, w) VALUES (4, 1 + 1, 'abcd')")[0]
    # The same shape, but a number that is a bigint.
    assert not at_once(client, "INSERT INTO s (k, n, w) VALUES (4, 1 + 2147483648, 'abc')")
    # A text that is another shape's, whose constants are negative where the operator has a meaning.
    client.run(*(f"INSERT INTO s (k, n) VALUES (5, - {number})" for number in (1, 2, 3)))
    assert client.rows("SELECT n FROM v WHERE k = 5") == ["D [b'-1']"]
    client.run(
        "DROP VIEW v", "DROP FOREIGN TABLE s", "CREATE FOREIGN TABLE s (k bigint, n bigint, w text) SERVER stream"
    )
    client.run("INSERT INTO s (k, n, w) VALUES (4, 1 + 2147483648, 'abcd')")


def test_rights_and_settings_are_looked_at_for_each_row(client: SessionClient) -> None:
    text = "INSERT INTO s (k, n) VALUES ({}, 1 + {})"
    for number in range(3):
        client.run(text.format(number, number))
    assert at_once(client, text.format(3, 3))
    client.run("CREATE ROLE r", "SET ROLE r")
    assert not at_once(client, text.format(4, 4))
    client.run("RESET ROLE", "SET default_transaction_read_only = on")
    assert not at_once(client, text.format(4, 4))
