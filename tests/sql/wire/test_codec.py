"""Every message that the other codec knows: it agrees with ours, or this file says why there is
nothing to agree on.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pygwire.messages as theirs
import pytest

from sql.wire import writer
from sql.wire.conversation import Conversation
from sql.wire.messages import (
    CancelRequest,
    CopyData,
    CopyDone,
    Flush,
    FrontendMessage,
    GssRequest,
    Password,
    SslRequest,
    Startup,
    Sync,
    Terminate,
)
from tests.sql.wire.frames import MESSAGE_BYTES_MAX, ready_conversation

# What we neither send nor take, and what is no message but a part or a kind of some.
ABSENT = frozenset(
    """
    Authentication AuthenticationCleartextPassword AuthenticationGSS AuthenticationGSSContinue AuthenticationKerberosV5
    AuthenticationMD5Password AuthenticationSSPI BackendMessage CommonMessage FieldDescription FrontendMessage FunctionCallResponse
    GSSResponse PGMessage SpecialMessage SSLResponse
    """.split()
)
FILES = ("test_codec.py", "test_reader.py", "test_writer.py")


def test_every_message_is_compared() -> None:
    known = {
        name for name, kind in vars(theirs).items() if isinstance(kind, type) and kind.__module__.startswith("pygwire")
    }
    texts = "".join(Path(__file__).with_name(name).read_text() for name in FILES)
    assert sorted(name for name in known - ABSENT if f"theirs.{name}" not in texts) == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (theirs.SSLRequest(), SslRequest()),
        (theirs.GSSEncRequest(), GssRequest()),
        (theirs.CancelRequest(process_id=7, secret_key=b"\xff\0\0\1"), CancelRequest(7, 0xFF000001)),
        (
            theirs.StartupMessage(params={"user": "ä", "database": "d", "application_name": "a b"}),
            Startup({"user": "ä", "database": "d", "application_name": "a b"}),
        ),
    ],
)
def test_openings(message: theirs.PGMessage, expected: FrontendMessage) -> None:
    assert Conversation(MESSAGE_BYTES_MAX).receive(message.to_wire()) == [expected]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (theirs.Sync(), Sync()),
        (theirs.Flush(), Flush()),
        (theirs.CopyDone(), CopyDone()),
        (theirs.Terminate(), Terminate()),
        (theirs.PasswordMessage(password="geheim"), Password(b"geheim\0")),
        (
            theirs.SASLInitialResponse(mechanism="SCRAM-SHA-256", data=b"n,,n=,r=x"),
            Password(b"SCRAM-SHA-256\0\0\0\0\x09n,,n=,r=x"),
        ),
        (theirs.SASLResponse(data=b"c=biws,r=x,p=y"), Password(b"c=biws,r=x,p=y")),
    ],
)
def test_messages_of_a_session(message: theirs.PGMessage, expected: FrontendMessage) -> None:
    assert ready_conversation().receive(message.to_wire()) == [expected]


def test_copy_data() -> None:
    [message] = ready_conversation().receive(theirs.CopyData(data=b"1\tx\n").to_wire())
    assert isinstance(message, CopyData) and bytes(message.data) == b"1\tx\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (writer.authentication_ok(), theirs.AuthenticationOk()),
        (writer.authentication_sasl(["SCRAM-SHA-256", "OTHER"]), theirs.AuthenticationSASL(["SCRAM-SHA-256", "OTHER"])),
        (writer.authentication_sasl_continue(b"r=x,s=y,i=1"), theirs.AuthenticationSASLContinue(b"r=x,s=y,i=1")),
        (writer.authentication_sasl_final(b"v=z"), theirs.AuthenticationSASLFinal(b"v=z")),
    ],
)
def test_authentication(data: bytes, expected: theirs.PGMessage) -> None:
    assert data == expected.to_wire()
    assert struct.unpack("!i", data[1:5])[0] == len(data) - 1
