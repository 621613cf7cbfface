"""Backend messages in the encoding of a client: which of their bytes are text."""

from __future__ import annotations

import struct

import pytest

from sql.errors import SqlError
from sql.types.datatypes import BYTEA, INT4, JSONB, TEXT, array_of
from sql.values.encodings import Encoding
from sql.wire import writer
from sql.wire.recoding import sent, sent_copy, sent_rows

LATIN1 = Encoding("LATIN1", "iso8859-1")


def test_messages_that_tell_where_their_text_is() -> None:
    error = SqlError("42P01", 'relation "é" does not exist', hint="ü", position=15)
    in_utf8 = (
        writer.row_description([("é", TEXT, 0, (0, 0)), ("b", INT4, 1, (16384, 2)), ("ü", INT4, 1, (0, 0))])
        + writer.error_response(error)
        + writer.parameter_status("application_name", "é")
        + writer.notification_response(233, "é", "ü")
        + writer.command_complete("SELECT 1")
    )
    messages = in_utf8.decode("latin1").encode("latin1")
    told = sent(messages, LATIN1)
    assert told.count(b"\xe9\0") == 3 and told.count(b"\xfc\0") == 3 and b"\xc3" not in told
    assert struct.unpack_from("!i", told, 1)[0] == struct.unpack_from("!i", messages, 1)[0] - 2
    assert b'relation "\xe9" does' in told and told.endswith(writer.command_complete("SELECT 1"))


def test_an_error_whose_text_has_no_equivalent_is_that_of_its_text() -> None:
    told = sent(writer.error_response(SqlError("42P01", 'relation "€" does not exist')), LATIN1)
    assert b"C22P05\0" in told and b"0xe2 0x82 0xac" in told and b"42P01" not in told
    with pytest.raises(SqlError) as caught:
        sent(writer.notice_response(SqlError("00000", "€", severity="NOTICE")), LATIN1)
    assert caught.value.sqlstate == "22P05"


def test_rows() -> None:
    array = (
        struct.pack("!iiiii", 1, 1, TEXT.oid, 3, 1)
        + struct.pack("!i", 2)
        + "é".encode()
        + b"\xff\xff\xff\xff"
        + struct.pack("!i", 0)
    )
    values = ["é".encode(), b"\0\0\0\xe9", b"\xc3\xa9", "\x01é".encode(), array, None]
    types = [TEXT, INT4, BYTEA, JSONB, array_of(TEXT), TEXT]
    in_latin1 = array.replace(struct.pack("!i", 2) + "é".encode(), struct.pack("!i", 1) + b"\xe9")
    expected = [b"\xe9", b"\0\0\0\xe9", b"\xc3\xa9", b"\x01\xe9", in_latin1, None]
    row = writer.data_row(values)
    assert sent_rows(row + row, types, [1] * 6, LATIN1) == writer.data_row(expected) * 2
    texts = [b"\xc3\xa9", b"1", b"\\xc3a9", b'"\xc3\xa9"', b"{\xc3\xa9,NULL}", None]
    found = sent_rows(writer.data_row(texts), types, [0] * 6, LATIN1)
    assert found == writer.data_row([None if text is None else text.decode().encode("latin1") for text in texts])


def test_data_of_copy() -> None:
    assert sent_copy(writer.copy_data("é\tü\n".encode()), None, LATIN1) == writer.copy_data(b"\xe9\t\xfc\n")
    header = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8
    row = struct.pack("!h", 2) + struct.pack("!i", 2) + "é".encode() + struct.pack("!ii", 4, 233)
    recoded = struct.pack("!h", 2) + struct.pack("!i", 1) + b"\xe9" + struct.pack("!ii", 4, 233)
    messages = writer.copy_data(header + row) + writer.copy_data(row) + writer.copy_data(b"\xff\xff")
    expected = writer.copy_data(header + recoded) + writer.copy_data(recoded) + writer.copy_data(b"\xff\xff")
    assert sent_copy(messages, [TEXT, INT4], LATIN1) == expected
