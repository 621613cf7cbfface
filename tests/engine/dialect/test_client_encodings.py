"""Every encoding says of every character what PostgreSQL says; names; the errors of bytes that are
no text.
"""

from __future__ import annotations

import random

import pytest

from engine.dialect.client_encodings import SQL_ASCII
from sql.errors import SqlError
from sql.values.encodings import (
    ENCODINGS,
    REFUSED,
    UTF8,
    Encoding,
    ReceivedText,
    encoding_named,
    is_known,
)
from tests.oracle.postgres import PostgresCluster

CONVERTED = sorted({encoding.name for encoding in ENCODINGS.values() if encoding.converts})
# What is beyond the basic plane is the same rule of GB18030 for all.
CHARACTERS = [chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x10000), 0x1F600, 0x2000B, 0x10FFFF)]
# One answer for all of them: a conversion that fails would end the statement.
QUIET_FUNCTIONS = """
CREATE FUNCTION pg_temp.text_of(data bytea, encoding name) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RETURN convert_from(data, encoding); EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$;
CREATE FUNCTION pg_temp.bytes_of(data text, encoding name) RETURNS bytea LANGUAGE plpgsql AS
$$ BEGIN RETURN convert_to(data, encoding); EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$;
"""


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", CONVERTED)
def test_characters(postgres: PostgresCluster, name: str) -> None:
    encoding = encoding_named(name)
    assert encoding is not None
    own = [text for text in CHARACTERS if has(encoding.codec, text)]
    # All characters that it has, and a part of the others, since PostgreSQL takes long to refuse
    # them.
    asked = (
        own + random.Random(name).sample(CHARACTERS, 60) if len(own) < 40_000 else random.Random(name).sample(own, 4000)
    )
    sequences = [bytes((first,)) for first in range(1, 256)]
    if name in ("EUC_CN", "EUC_JP", "GB18030"):
        sequences = [bytes((first, second)) for first in range(0x7F, 256, 3) for second in range(1, 256)]
    if name == "EUC_JP":
        sequences += [bytes((0x8F, first, second)) for first in range(0xA0, 0x100) for second in range(0xA0, 0x100, 2)]
        sequences += [bytes((first, second)) for first in (0x8E, 0xA1, 0xAD) for second in range(0xA0, 0x100)]
    with postgres.connect() as connection:
        connection.execute(QUIET_FUNCTIONS)
        found = connection.execute(
            "SELECT text, pg_temp.bytes_of(text, %s) FROM unnest(%s::text[]) text", (name, asked)
        ).fetchall()
        assert [row for row in found if row[1] != text_bytes(encoding, str(row[0]))] == []
        found = connection.execute(
            "SELECT data, pg_temp.text_of(data, %s) FROM unnest(%s::bytea[]) data", (name, sequences)
        ).fetchall()
        assert [row for row in found if row[1] != bytes_text(encoding, row[0])] == []


def has(codec: str, text: str) -> bool:
    """Tell whether Python can write a character, without the cost of our error."""
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def text_bytes(encoding: Encoding, text: str) -> bytes | None:
    try:
        return encoding.encoded(text)
    except SqlError:
        return None


def bytes_text(encoding: Encoding, data: object) -> str | None:
    assert isinstance(data, bytes)
    try:
        return encoding.decoded(data)
    except SqlError:
        return None


def test_names(postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        for name in (*ENCODINGS, *REFUSED):
            row = connection.execute("SELECT pg_encoding_to_char(pg_char_to_encoding(%s))", (name,)).fetchone()
            known = encoding_named(name)
            assert row is not None and row[0], name
            assert known is None or row == (known.name,), name
        # The names of the server's own list are all known, in whatever way they are written.
        query = "SELECT pg_encoding_to_char(number) FROM generate_series(0, 41) number"
        names = [str(row[0]) for row in connection.execute(query)]
        assert all(is_known(name.replace("_", "-").lower()) for name in names)
        assert not is_known("latin11") and not is_known("")
    assert encoding_named("SQL_ASCII") is SQL_ASCII and not SQL_ASCII.converts


ERRORS = [
    ("WIN1252", b"x\x81", "22P05", 'character with byte sequence 0x81 in encoding "WIN1252" has no equivalent in encoding "UTF8"'),
    ("EUC_CN", b"\xa1", "22021", 'invalid byte sequence for encoding "EUC_CN": 0xa1'),
    ("EUC_CN", b"\xa1 x", "22021", 'invalid byte sequence for encoding "EUC_CN": 0xa1 0x20'),
    ("EUC_CN", b"\xaa\xa1", "22P05", 'character with byte sequence 0xaa 0xa1 in encoding "EUC_CN" has no equivalent in encoding "UTF8"'),
    ("EUC_JP", b"\x8f\xa1", "22021", 'invalid byte sequence for encoding "EUC_JP": 0x8f 0xa1'),
    ("EUC_JP", b"\x8f\xa1 x", "22021", 'invalid byte sequence for encoding "EUC_JP": 0x8f 0xa1 0x20'),
    ("EUC_JP", b"x\xf9\xa1", "22P05", 'character with byte sequence 0xf9 0xa1 in encoding "EUC_JP" has no equivalent in encoding "UTF8"'),
    ("GB18030", b"\x81\x30\x81", "22021", 'invalid byte sequence for encoding "GB18030": 0x81 0x30 0x81'),
    ("UTF8", b"\xe2\x82", "22021", 'invalid byte sequence for encoding "UTF8": 0xe2 0x82'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "sqlstate", "message"), ERRORS)
def test_bytes_that_are_no_text(postgres: PostgresCluster, name: str, data: bytes, sqlstate: str, message: str) -> None:
    encoding = encoding_named(name)
    assert encoding is not None
    with pytest.raises(SqlError) as caught:
        encoding.decoded(data)
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)
    with postgres.connect() as connection:
        result = connection.pgconn.exec_params(b"SELECT convert_from($1, $2)", [data, name.encode()], [17, 19], [1, 0])
        assert message in result.error_message.decode()


def test_a_text_without_equivalent() -> None:
    latin1 = encoding_named("latin1")
    assert latin1 is not None
    with pytest.raises(SqlError) as caught:
        latin1.encoded("é€")
    message = 'character with byte sequence 0xe2 0x82 0xac in encoding "UTF8" has no equivalent in encoding "LATIN1"'
    assert (caught.value.sqlstate, caught.value.message) == ("22P05", message)


@pytest.mark.parametrize(("name", "text"), [("gb18030", "aé€\U0001f600z"), ("euc-jp", "aあｱ丂ⅷz"), ("latin1", "aéz")])
def test_pieces_are_cut_anywhere(name: str, text: str) -> None:
    encoding = encoding_named(name)
    assert encoding is not None and not UTF8.converts
    data = encoding.encoded(text)
    for size in range(1, len(data)):
        stream = ReceivedText(encoding)
        pieces = [stream.feed(data[start : start + size]) for start in range(0, len(data), size)]
        pieces.append(stream.feed(b"", is_end=True))
        assert (b"".join(piece for piece, _ in pieces), {error for _, error in pieces}) == (text.encode(), {None})


def test_what_is_good_in_a_piece_comes_before_its_error() -> None:
    stream = ReceivedText(ENCODINGS["euccn"])
    good, error = stream.feed(b"ab\xa3")
    assert (good, error) == (b"ab", None)
    good, error = stream.feed(b"\xc1c\xff")
    assert (good, error) == ("Ａc".encode(), None)
    good, error = stream.feed(b"\n")
    assert (
        good == b"" and error is not None and error.message == 'invalid byte sequence for encoding "EUC_CN": 0xff 0x0a'
    )
