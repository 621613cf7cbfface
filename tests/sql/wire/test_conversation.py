"""Framing and states, from byte strings alone."""

from __future__ import annotations

import random
import re
import struct

import pytest

from sql.errors import SqlError
from sql.values.encodings import UTF8, Encoding
from sql.wire.conversation import JOINED_BYTES_MAX, Conversation, State
from sql.wire.messages import (
    COPY_DONE,
    FLUSH,
    SYNC,
    TERMINATE,
    Bind,
    CopyData,
    CopyFail,
    Describe,
    Execute,
    FrontendMessage,
    Malformed,
    Parse,
    Query,
    Startup,
    Sync,
    Violation,
)
from tests.sql.wire.frames import (
    COPY_DONE_FRAME,
    FLUSH_FRAME,
    MESSAGE_BYTES_MAX,
    SYNC_FRAME,
    TERMINATE_FRAME,
    bind,
    comparable,
    frame,
    opening,
    query,
    ready_conversation,
    startup,
)

# A client's whole life: every kind of message, with NULLs, empty strings, and characters of several
# bytes.
LIFE = b"".join(
    [
        startup(user="ann", database="antumbra", application_name="größe"),
        query("SELECT 'ä', ''"),
        frame(b"P", b"s1\0INSERT INTO t VALUES ($1, $2)\0" + struct.pack("!hII", 2, 23, 0)),
        bind([b"1", None, b""], results=[1], statement="s1"),
        bind([b"\0\0\0\1"], [1], [0, 1, 0], statement="s1"),
        frame(b"D", b"P\0"),
        frame(b"D", b"Ss1\0"),
        frame(b"E", b"\0\0\0\0\x07"),
        frame(b"C", b"Ss1\0"),
        FLUSH_FRAME,
        SYNC_FRAME,
        frame(b"d", b"1\tone\n"),
        frame(b"d", b""),
        frame(b"d", b"2\ttwo\n"),
        COPY_DONE_FRAME,
        frame(b"f", b"no more\0"),
        frame(b"F", struct.pack("!I", 1234) + b"rest"),
        TERMINATE_FRAME,
    ]
)


def violation(messages: list[FrontendMessage]) -> SqlError:
    last = messages[-1]
    assert isinstance(last, Violation)
    assert last.error.severity == "FATAL"
    return last.error


def test_a_split_at_any_byte_changes_nothing() -> None:
    whole = comparable(Conversation(MESSAGE_BYTES_MAX).receive(LIFE))
    assert len(whole) == 16
    for at in range(len(LIFE) + 1):
        conversation = Conversation(MESSAGE_BYTES_MAX)
        messages = conversation.receive(LIFE[:at]) + conversation.receive(LIFE[at:])
        assert comparable(messages) == whole, at


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 7])
def test_small_pieces_change_nothing(piece_bytes: int) -> None:
    conversation = Conversation(MESSAGE_BYTES_MAX)
    messages: list[FrontendMessage] = []
    for at in range(0, len(LIFE), piece_bytes):
        messages += conversation.receive(LIFE[at : at + piece_bytes])
    assert comparable(messages) == comparable(Conversation(MESSAGE_BYTES_MAX).receive(LIFE))


def test_random_bytes_end_in_at_most_one_violation() -> None:
    random_bytes = random.Random(20_261_120)
    for case in range(2000):
        conversation = ready_conversation()
        noise = bytearray(LIFE[random_bytes.randrange(100) : 400])
        for _ in range(random_bytes.randrange(1, 6)):
            noise[random_bytes.randrange(len(noise))] = random_bytes.randrange(256)
        messages = conversation.receive(bytes(noise))
        violations = [message for message in messages if isinstance(message, Violation)]
        assert len(violations) <= 1, case
        if violations:
            assert messages[-1] is violations[0]
            assert conversation.receive(SYNC_FRAME) == []


def test_binds_received_together_share_their_bytes() -> None:
    messages = ready_conversation().receive(bind([b"1"]) + bind([b"2"]))
    first, second = messages
    assert comparable([first]) != comparable([second])
    assert isinstance(first, Bind) and isinstance(second, Bind)
    assert first.payload is second.payload


def test_data_of_an_endless_copy_message_is_passed_on() -> None:
    conversation = ready_conversation()
    conversation.begin_copy_in()
    [first] = conversation.receive(b"d" + struct.pack("!i", 2_000_000_000) + b"abc")
    [second] = conversation.receive(b"def")
    assert (first, second) == (CopyData(b"abc"), CopyData(b"def"))


@pytest.mark.parametrize(("size", "joined"), [(100, True), (JOINED_BYTES_MAX - 1, True), (JOINED_BYTES_MAX, False)])
def test_short_neighbouring_copy_data_are_one_and_long_ones_stay_where_they_are(size: int, joined: bool) -> None:
    conversation = ready_conversation()
    conversation.begin_copy_in()
    bodies = [bytes([number]) * size for number in range(3)]
    received = b"".join(frame(b"d", body) for body in bodies)
    messages = [message for message in conversation.receive(received) if isinstance(message, CopyData)]
    assert [bytes(message.data) for message in messages] == ([b"".join(bodies)] if joined else bodies)
    assert all(isinstance(one.data, memoryview) and (one.data.obj is received) != joined for one in messages)


class TestStates:
    def test_a_failed_pipeline_is_skipped_until_sync(self) -> None:
        conversation = ready_conversation()
        messages = conversation.receive(query("a") + frame(b"E", b"\0\0\0\0\0") + query("b") + SYNC_FRAME + query("c"))
        admitted = []
        for message in messages:
            if conversation.admit(message):
                admitted.append(message)
                if message == Query("a"):
                    conversation.fail_until_sync()
        assert admitted == [Query("a"), SYNC, Query("c")]

    def test_malformed_messages_are_skipped_too(self) -> None:
        conversation = ready_conversation()
        [message] = conversation.receive(frame(b"P", b"no end"))
        assert isinstance(message, Malformed)
        conversation.fail_until_sync()
        assert not conversation.admit(message)

    def test_flush_and_sync_are_ignored_while_copying(self) -> None:
        conversation = ready_conversation()
        conversation.begin_copy_in()
        assert not conversation.admit(SYNC)
        assert not conversation.admit(FLUSH)
        assert conversation.admit(CopyData(b"x"))
        assert conversation.state is State.COPY_IN
        assert conversation.admit(COPY_DONE)
        assert conversation.admit(SYNC)

    def test_copy_fail_ends_the_copy(self) -> None:
        conversation = ready_conversation()
        conversation.begin_copy_in()
        assert conversation.admit(CopyFail("why"))
        assert conversation.state is State.READY

    def test_data_behind_a_failed_copy_is_ignored(self) -> None:
        conversation = ready_conversation()
        conversation.begin_copy_in()
        conversation.end_copy_in()
        assert not conversation.admit(CopyData(b"x"))
        assert not conversation.admit(COPY_DONE)
        assert conversation.admit(Query("SELECT 1"))

    @pytest.mark.parametrize("message", [Query("SELECT 1"), Parse("", "SELECT 1"), Execute("")])
    def test_other_messages_while_copying_end_the_connection(self, message: FrontendMessage) -> None:
        conversation = ready_conversation()
        conversation.begin_copy_in()
        with pytest.raises(SqlError, match=r"unexpected message type 0x.. during COPY from stdin") as caught:
            conversation.admit(message)
        assert (caught.value.sqlstate, caught.value.severity) == ("08P01", "FATAL")

    def test_terminate_is_admitted_everywhere(self) -> None:
        conversation = ready_conversation()
        conversation.begin_copy_in()
        assert conversation.admit(TERMINATE)
        conversation.fail_until_sync()
        assert conversation.admit(TERMINATE)

    def test_a_password_is_not_expected(self) -> None:
        conversation = ready_conversation()
        [message] = conversation.receive(frame(b"p", b"secret\0"))
        with pytest.raises(SqlError, match="unexpected password message"):
            conversation.admit(message)

    def test_messages_before_a_violation_are_still_handled(self) -> None:
        conversation = ready_conversation()
        first, last = conversation.receive(query("a") + b"?\0\0\0\4")
        assert conversation.admit(first)
        assert conversation.admit(last)
        assert conversation.state is State.CLOSED


class TestViolations:
    def test_unknown_type(self) -> None:
        error = violation(ready_conversation().receive(b"?\0\0\0\4"))
        assert (error.sqlstate, error.message) == ("08P01", "invalid frontend message type 63")

    @pytest.mark.parametrize(
        "head", [b"Q\0\0\0\3", b"Q\xff\xff\xff\xff", b"d\0\0\0\0", b"S\0\0\0\5", b"X\0\0\0\x08", b"E\0\1\0\0"]
    )
    def test_impossible_length(self, head: bytes) -> None:
        error = violation(ready_conversation().receive(head))
        assert (error.sqlstate, error.message) == ("08P01", "invalid message length")

    def test_too_large(self) -> None:
        error = violation(ready_conversation().receive(b"Q" + struct.pack("!i", MESSAGE_BYTES_MAX + 1)))
        assert error.sqlstate == "54000"
        assert str(MESSAGE_BYTES_MAX) in error.message

    def test_largest(self) -> None:
        text = "x" * (MESSAGE_BYTES_MAX - 5)
        assert ready_conversation().receive(query(text)) == [Query(text)]

    @pytest.mark.parametrize(
        "packet", [struct.pack("!iI", 7, 196608), struct.pack("!iI", 10_001, 196608), b"GET / HTTP/1.1\r\n\r\n"]
    )
    def test_impossible_startup_length(self, packet: bytes) -> None:
        error = violation(Conversation(MESSAGE_BYTES_MAX).receive(packet))
        assert (error.sqlstate, error.message) == ("08P01", "invalid length of startup packet")


def test_what_follows_the_startup_at_once_is_read() -> None:
    messages = Conversation(MESSAGE_BYTES_MAX).receive(startup(user="ann") + query("SELECT 1"))
    assert [type(message) for message in messages] == [Startup, Query]


SSL, GSS = opening(80877103), opening(80877104)


@pytest.mark.parametrize(
    ("packets", "expected"),
    [
        ([SSL, SSL], "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.0"),
        ([GSS, GSS], "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.0"),
        ([SSL, GSS, SSL], "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.0"),
        ([GSS, SSL, GSS], "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.0"),
        ([SSL + startup(user="ann")], "received unencrypted data after SSL request"),
        ([GSS + startup(user="ann")], "received unencrypted data after GSSAPI encryption request"),
        ([GSS, SSL + GSS], "received unencrypted data after SSL request"),
        ([SSL * 1000], "received unencrypted data after SSL request"),
    ],
)
def test_encryption_is_asked_for_once_each_and_waited_for(packets: list[bytes], expected: str) -> None:
    conversation = Conversation(MESSAGE_BYTES_MAX)
    for packet in packets[:-1]:
        assert len(conversation.receive(packet)) == 1
    assert violation(conversation.receive(packets[-1])).message == expected


@pytest.mark.parametrize("packets", [[SSL, GSS], [GSS, SSL], [SSL], [GSS]])
def test_after_each_request_once_the_client_may_say_who_it_is(packets: list[bytes]) -> None:
    conversation = Conversation(MESSAGE_BYTES_MAX)
    for packet in packets:
        assert len(conversation.receive(packet)) == 1
    assert isinstance(conversation.receive(startup(user="ann"))[0], Startup)


def test_who_is_encrypted_asks_for_no_encryption() -> None:
    for request in (SSL, GSS):
        conversation = Conversation(MESSAGE_BYTES_MAX)
        conversation.grant_encryption()
        assert "unsupported frontend protocol 1234." in violation(conversation.receive(request)).message


def test_nothing_is_read_behind_a_cancel_request() -> None:
    conversation = Conversation(MESSAGE_BYTES_MAX)
    assert len(conversation.receive(opening(80877102, struct.pack("!iI", 1, 2)) + query("SELECT 1"))) == 1
    assert conversation.receive(query("SELECT 1")) == []


def test_strings_in_the_encoding_of_the_client() -> None:
    conversation = ready_conversation()
    latin1 = Encoding("LATIN1", "iso8859-1")
    received = conversation.receive(frame(b"P", b"\xe9\0SELECT '\xfc'\0\0\0") + query("SELECT 'é'") + SYNC_FRAME)
    assert [type(message) for message in received] == [Malformed, Query, Sync]
    again = conversation.read_again(received, latin1)
    assert again == [Parse("é", "SELECT 'ü'", ()), Query("SELECT 'Ã©'"), SYNC]
    described = conversation.receive(frame(b"D", b"S\xe9\0") + frame(b"E", b"\xe9\0\0\0\0\0") + frame(b"f", b"\xe9\0"))
    assert described == [Describe("S", "é"), Execute("é"), CopyFail("é")]
    (bound,) = conversation.receive(frame(b"B", b"\xe9\0\xfc\0\0\0\0\1\0\0\0\1\xe9\0\0"))
    assert isinstance(bound, Bind)
    assert (bound.portal, bound.statement, bound.parameters()) == ("é", "ü", [b"\xe9"])
    turned = conversation.read_again([*described, bound], Encoding("LATIN2", "iso8859-2"))
    assert [type(message) for message in turned] == [Describe, Execute, CopyFail, Bind]


def test_a_change_of_encoding_that_what_waits_does_not_fit() -> None:
    conversation = ready_conversation()
    (waiting,) = conversation.receive(query("SELECT 'é'"))
    (refused,) = conversation.read_again([waiting], Encoding("EUC_CN", "gb2312", re.compile(rb"[\xa1-\xfe]{2}")))
    assert refused == Query("SELECT '茅'")
    (refused,) = conversation.read_again([Describe("S", "茅a")], Encoding("WIN1252", "cp1252"))
    assert isinstance(refused, Describe)
    (refused,) = conversation.read_again([Query("ı")], UTF8)
    assert isinstance(refused, Malformed) and refused.error.sqlstate == "22P05"
    assert conversation.read_again([refused], UTF8) == [refused]
