"""Backend messages: another implementation's decoder reads back what was meant."""

from __future__ import annotations

import struct
from typing import TypeVar

import pygwire.messages as theirs
import pytest

from sql.errors import SqlError
from sql.types import datatypes
from sql.wire import writer

M = TypeVar("M", bound=theirs.PGMessage)


def decoded(kind: type[M], data: bytes) -> M:
    assert data[:1] == kind.identifier
    assert struct.unpack("!i", data[1:5])[0] == len(data) - 1
    message: M = kind.decode(memoryview(data)[5:])
    return message


def test_startup_messages() -> None:
    assert writer.authentication_ok() == b"R\0\0\0\x08\0\0\0\0"
    status = decoded(theirs.ParameterStatus, writer.parameter_status("TimeZone", "Größe"))
    assert (status.name, status.value) == ("TimeZone", "Größe")
    key = decoded(theirs.BackendKeyData, writer.backend_key_data(7, 0xFFFFFFFE))
    assert (key.process_id, bytes(key.secret_key)) == (7, b"\xff\xff\xff\xfe")
    negotiate = decoded(
        theirs.NegotiateProtocolVersion, writer.negotiate_protocol_version(3 << 16, ["_pq_.a", "_pq_.b"])
    )
    assert (negotiate.newest_minor, negotiate.unrecognized) == (3 << 16, ["_pq_.a", "_pq_.b"])


@pytest.mark.parametrize("status", ["I", "T", "E"])
def test_ready_for_query(status: str) -> None:
    assert decoded(theirs.ReadyForQuery, writer.ready_for_query(status)).status.value == status


def test_row_description() -> None:
    fields = [
        ("n", datatypes.numeric(10, 2), 1, (16_384, 3)),
        ("größe", datatypes.SqlType("varchar", length=7), 0, (0, 0)),
        ("b", datatypes.BOOL, 0, (0, 0)),
        ("?column?", datatypes.UNKNOWN, 0, (0, 0)),
    ]
    description = decoded(theirs.RowDescription, writer.row_description(fields))
    read = [
        (
            field.name,
            field.table_oid,
            field.column_attr,
            field.type_oid,
            field.type_size,
            field.type_modifier,
            field.format_code,
        )
        for field in description.fields
    ]
    assert read == [
        ("n", 16_384, 3, 1700, -1, (10 << 16 | 2) + 4, 1),
        ("größe", 0, 0, 1043, -1, 11, 0),
        ("b", 0, 0, 16, 1, -1, 0),
        ("?column?", 0, 0, 705, -2, -1, 0),
    ]


def test_rows() -> None:
    row = decoded(theirs.DataRow, writer.data_row([b"1", None, b""]))
    assert [None if value is None else bytes(value) for value in row.columns] == [b"1", None, b""]
    assert decoded(theirs.CommandComplete, writer.command_complete("SELECT 1")).tag == "SELECT 1"


def test_parameter_description() -> None:
    assert decoded(theirs.ParameterDescription, writer.parameter_description([23, 25])).type_oids == [23, 25]
    assert decoded(theirs.ParameterDescription, writer.parameter_description([])).type_oids == []


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (writer.NO_DATA, theirs.NoData),
        (writer.PARSE_COMPLETE, theirs.ParseComplete),
        (writer.BIND_COMPLETE, theirs.BindComplete),
        (writer.CLOSE_COMPLETE, theirs.CloseComplete),
        (writer.EMPTY_QUERY_RESPONSE, theirs.EmptyQueryResponse),
        (writer.PORTAL_SUSPENDED, theirs.PortalSuspended),
        (writer.COPY_DONE, theirs.CopyDone),
    ],
)
def test_messages_without_a_body(data: bytes, kind: type[theirs.PGMessage]) -> None:
    assert data == kind.identifier + b"\0\0\0\4"


def test_copy() -> None:
    copy_in = decoded(theirs.CopyInResponse, writer.copy_in_response(0, 3))
    assert (copy_in.overall_format, copy_in.col_formats) == (0, [0, 0, 0])
    copy_out = decoded(theirs.CopyOutResponse, writer.copy_out_response(1, 2))
    assert (copy_out.overall_format, copy_out.col_formats) == (1, [1, 1])
    assert bytes(decoded(theirs.CopyData, writer.copy_data(b"1\n")).data) == b"1\n"


def test_an_error_carries_all_its_fields() -> None:
    error = SqlError("22P02", "bad ä", position=7, detail="why", hint="do", context="COPY t, line 1", routine="made_up")
    fields = decoded(theirs.ErrorResponse, writer.error_response(error)).fields
    assert fields == {
        "S": "ERROR",
        "V": "ERROR",
        "C": "22P02",
        "M": "bad ä",
        "D": "why",
        "H": "do",
        "P": "7",
        "W": "COPY t, line 1",
        "R": "made_up",
    }


def test_a_statement_may_have_more_parameters_than_a_signed_word_counts() -> None:
    assert writer.parameter_description([23] * 40_000)[5:9] == (40_000).to_bytes(2, "big") + b"\0\0"


def test_a_notice_has_only_the_fields_it_needs() -> None:
    notice = SqlError("00000", "done", severity="NOTICE")
    fields = decoded(theirs.NoticeResponse, writer.notice_response(notice)).fields
    assert fields == {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": "done"}


def test_strings_can_not_break_the_framing() -> None:
    fields = decoded(theirs.ErrorResponse, writer.error_response(SqlError("XX000", "a\0b\ud800"))).fields
    assert fields["M"] == "a?b?"


def test_notification() -> None:
    message = decoded(theirs.NotificationResponse, writer.notification_response(7, "news", "ä"))
    assert (message.process_id, message.channel, message.payload) == (7, "news", "ä")
