"""Opening packets and their options."""

from __future__ import annotations

import struct

import pytest

from sql.errors import SqlError
from sql.wire.conversation import Conversation
from sql.wire.messages import CancelRequest, FrontendMessage, GssRequest, SslRequest, Startup, Violation
from sql.wire.startup import split_options
from tests.sql.wire.frames import MESSAGE_BYTES_MAX, opening, startup


def receive(data: bytes) -> FrontendMessage:
    [message] = Conversation(MESSAGE_BYTES_MAX).receive(data)
    return message


def refused(data: bytes) -> SqlError:
    message = receive(data)
    assert isinstance(message, Violation)
    return message.error


def test_requests() -> None:
    assert receive(opening(80877103)) == SslRequest()
    assert receive(opening(80877104)) == GssRequest()
    assert receive(opening(80877102, struct.pack("!iI", 7, 0xFFFFFFFF))) == CancelRequest(7, 0xFFFFFFFF)


def test_parameters() -> None:
    message = receive(startup(user="ann", database="antumbra", application_name="psql", DateStyle="ISO"))
    assert message == Startup({"user": "ann", "database": "antumbra", "application_name": "psql", "DateStyle": "ISO"})


def test_the_database_is_the_user_by_default() -> None:
    message = receive(startup(user="ann"))
    assert isinstance(message, Startup)
    assert message.parameters["database"] == "ann"


def test_newer_minor_version_and_protocol_options() -> None:
    pairs = {"user": "ann", "_pq_.command_compression": "lz4", "database": "antumbra"}
    message = receive(startup(version=0x30002, **pairs))
    assert message == Startup({"user": "ann", "database": "antumbra"}, 2, ("_pq_.command_compression",))


def test_settings_of_their_own_win_over_options() -> None:
    message = receive(startup(user="ann", TimeZone="UTC", options="-c TimeZone=Europe/Berlin -c search_path=public"))
    assert isinstance(message, Startup)
    assert message.parameters == {"user": "ann", "database": "ann", "TimeZone": "UTC", "search_path": "public"}


@pytest.mark.parametrize(
    ("data", "sqlstate", "text"),
    [
        (
            startup(version=0x20000, user="ann"),
            "0A000",
            "unsupported frontend protocol 2.0: server supports 3.0 to 3.0",
        ),
        (
            startup(version=1234 << 16 | 5, user="ann"),
            "0A000",
            "unsupported frontend protocol 1234.5: server supports 3.0 to 3.0",
        ),
        (startup(database="antumbra"), "28000", "no PostgreSQL user name specified in startup packet"),
        (startup(user=""), "28000", "no PostgreSQL user name specified in startup packet"),
        (opening(0x30000, b"user\0ann\0"), "08P01", "invalid startup packet layout: expected terminator as last byte"),
        (opening(0x30000, b"user\0ann"), "08P01", "invalid startup packet layout: expected terminator as last byte"),
        (
            opening(0x30000, b"user\0ann\0\0more"),
            "08P01",
            "invalid startup packet layout: expected terminator as last byte",
        ),
        (opening(0x30000), "08P01", "invalid startup packet layout: expected terminator as last byte"),
        (opening(0x30000, b"user\0\xff\0\0"), "22021", 'invalid byte sequence for encoding "UTF8": 0xff'),
        (startup(user="ann", replication="database"), "0A000", "replication connections are not supported"),
        (startup(user="ann", options="-x"), "42601", "invalid command-line argument for server process: -x"),
        (startup(user="ann", options="-c"), "42601", "invalid command-line argument for server process: -c"),
        (startup(user="ann", options="-c geqo"), "42601", "-c geqo requires a value"),
        (startup(user="ann", options="--geqo"), "42601", "--geqo requires a value"),
        (opening(80877102, b"\0\0\0\1"), "08P01", "invalid length of cancel request packet"),
    ],
)
def test_refused(data: bytes, sqlstate: str, text: str) -> None:
    error = refused(data)
    assert (error.sqlstate, error.message, error.severity) == (sqlstate, text, "FATAL")


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("", {}),
        ("   ", {}),
        ("-c a=1", {"a": "1"}),
        ("-ca=1", {"a": "1"}),
        ("  -c   a=1\t--statement-timeout=5s ", {"a": "1", "statement_timeout": "5s"}),
        ("-c a=x=y", {"a": "x=y"}),
        ("-c a=", {"a": ""}),
        (r"-c a=two\ words", {"a": "two words"}),
        (r"-c a=back\\slash", {"a": "back\\slash"}),
        ("-c a=1 -c a=2", {"a": "2"}),
        ("-c a=end\\", {"a": "end"}),
    ],
)
def test_options(options: str, settings: dict[str, str]) -> None:
    assert split_options(options) == settings
