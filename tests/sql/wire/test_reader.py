"""Bodies of messages: what a client may get wrong, and agreement with another implementation's
encoder.
"""

from __future__ import annotations

import random
import struct

import pygwire.messages as theirs
import pytest

from sql.errors import SqlError
from sql.wire.messages import Close, CopyFail, Describe, Execute, FunctionCall, Malformed, Parse, Password, Query
from tests.sql.wire.frames import bind, comparable, frame, query, ready_conversation


def malformed(data: bytes) -> tuple[SqlError, bool]:
    [message] = ready_conversation().receive(data)
    assert isinstance(message, Malformed)
    assert message.error.severity == "ERROR"
    return message.error, message.extended


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (frame(b"Q", b"SELECT 1"), "invalid string in message"),
        (frame(b"Q", b""), "invalid string in message"),
        (frame(b"Q", b"SELECT 1\0SELECT 2\0"), "invalid message format"),
        (frame(b"P", b"name"), "invalid string in message"),
        (frame(b"P", b"\0text"), "invalid string in message"),
        (frame(b"P", b"\0text\0"), "insufficient data left in message"),
        (frame(b"P", b"\0text\0\0\1\0"), "insufficient data left in message"),
        (frame(b"P", b"\0text\0\0\0x"), "invalid message format"),
        (frame(b"P", b"\0text\0\xff\xff"), "insufficient data left in message"),
        (frame(b"B", b"\0\0"), "insufficient data left in message"),
        (frame(b"B", b"\0\0\0\0\0\1"), "insufficient data left in message"),
        (frame(b"B", b"\0\0\0\0\0\1\0\0\0\5abc\0\0"), "insufficient data left in message"),
        (frame(b"B", b"\0\0\0\0\0\1\xff\xff\xff\xfe\0\0"), "invalid parameter length in bind message"),
        (bind([b"1"])[:-2] + b"\0\5", "insufficient data left in message"),
        (bind([b"1"], formats=[0, 0]), "bind message has 2 parameter formats but 1 parameters"),
        (bind([b"1"], formats=[2]), "unsupported format code: 2"),
        (bind([b"1"], results=[0, 7]), "unsupported format code: 7"),
        (frame(b"D", b""), "insufficient data left in message"),
        (frame(b"D", b"Xname\0"), "invalid DESCRIBE message subtype 88"),
        (frame(b"C", b"?name\0"), "invalid CLOSE message subtype 63"),
        (frame(b"D", b"Sname\0more"), "invalid message format"),
        (frame(b"E", b"\0\0\0"), "insufficient data left in message"),
        (frame(b"E", b"\0\0\0\0\0\0"), "invalid message format"),
        (frame(b"f", b"reason"), "invalid string in message"),
        (frame(b"F", b"\0"), "insufficient data left in message"),
    ],
)
def test_malformed(data: bytes, text: str) -> None:
    error, extended = malformed(data)
    assert error.message == text
    assert error.sqlstate == ("22023" if "format code" in text else "08P01")
    assert extended is (data[0] in b"PBDEC")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"\xff\0", "0xff"),
        (b"a\xc3\0", "0xc3"),
        (b"a\xc3(\0", "0xc3 0x28"),
        (b"\xe2\x82x\0", "0xe2 0x82 0x78"),
        (b"\xed\xa0\x80\0", "0xed 0xa0 0x80"),
        (b"\xf4\x90\x80\x80\0", "0xf4 0x90 0x80 0x80"),
    ],
)
def test_invalid_utf8_in_a_query(body: bytes, shown: str) -> None:
    error, extended = malformed(frame(b"Q", body))
    assert (error.sqlstate, error.message) == ("22021", f'invalid byte sequence for encoding "UTF8": {shown}')
    assert not extended


def test_invalid_utf8_in_an_extended_message() -> None:
    error, extended = malformed(frame(b"P", b"\0SELECT '\xff'\0\0\0"))
    assert error.sqlstate == "22021"
    assert extended


def test_a_negative_row_limit_means_all_rows() -> None:
    assert ready_conversation().receive(frame(b"E", b"p\0\xff\xff\xff\xff")) == [Execute("p", 0)]


def test_password() -> None:
    assert ready_conversation().receive(frame(b"p", b"secret\0")) == [Password(b"secret\0")]


def test_long_lists() -> None:
    values = [str(index).encode() for index in range(1000)]
    [message] = ready_conversation().receive(bind(values, [1] * 1000, [0, 1] * 100))
    assert comparable([message]) == [("", "", (1,) * 1000, values, (0, 1) * 100)]
    parse = frame(b"P", b"\0\0" + struct.pack("!h1000I", 1000, *range(1000)))
    assert ready_conversation().receive(parse) == [Parse("", "", tuple(range(1000)))]


def random_text(source: random.Random) -> str:
    return "".join(source.choice("ab'\"\\ äß€😀\n") for _ in range(source.randrange(8)))


def test_agrees_with_another_encoder() -> None:
    source = random.Random(1)
    for _ in range(500):
        name, text, limit = random_text(source), random_text(source), source.randrange(1000)
        oids = [source.randrange(2**31) for _ in range(source.randrange(5))]
        values = [source.choice([None, b"", b"\0\1\2", text.encode()]) for _ in range(source.randrange(5))]
        formats = source.choice([[], [1], [source.randrange(2) for _ in values]])
        kind = source.choice(["S", "P"])
        pairs: list[tuple[theirs.PGMessage, object]] = [
            (theirs.Query(query_string=text), Query(text)),
            (theirs.Parse(statement=name, query=text, param_types=oids), Parse(name, text, tuple(oids))),
            (
                theirs.Bind(
                    portal=name, statement=text, param_formats=formats, param_values=values, result_formats=[1, 0]
                ),
                (name, text, tuple(formats), values, (1, 0)),
            ),
            (theirs.Describe(kind=kind, name=name), Describe(kind, name)),  # type: ignore[arg-type]
            (theirs.Close(kind=kind, name=name), Close(kind, name)),  # type: ignore[arg-type]
            (theirs.Execute(portal=name, max_rows=limit), Execute(name, limit)),
            (theirs.CopyFail(error_message=text), CopyFail(text)),
            (theirs.FunctionCall(function_oid=limit), FunctionCall(limit)),
        ]
        received = ready_conversation().receive(b"".join(message.to_wire() for message, _ in pairs))
        assert comparable(received) == [expected for _, expected in pairs]


def test_the_empty_query() -> None:
    assert ready_conversation().receive(query("")) == [Query("")]
