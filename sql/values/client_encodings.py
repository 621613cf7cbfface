"""The encodings of client_encoding and of COPY's ENCODING: PostgreSQL's names, and texts from and
to their bytes.

Enters: bytes of a client, texts for a client. Leaves: texts, bytes, and PostgreSQL's errors where a
character has no equivalent. An encoding is here if its Python codec says of every character what
PostgreSQL says; the others are known by name, and refused. Must not know messages.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from sql.errors import SqlError
from sql.values import euc_jp


@dataclass(frozen=True)
class ClientEncoding:
    """One encoding.

    Attributes:
        codec: Python's name of the encoding.
        form: the form of a character that is not ASCII, whether or not the bytes stand for a
            character.
        begun: as many bytes of a character as its first byte announces and are there, for errors.
    """

    name: str
    codec: str
    form: re.Pattern[bytes] = re.compile(rb"[\x80-\xff]")
    begun: re.Pattern[bytes] = re.compile(rb".{1,2}", re.DOTALL)

    @property
    def converts(self) -> bool:
        """False where the bytes are those of UTF8."""
        return self.codec != "utf-8"

    def decoded(self, data: bytes) -> str:
        """Return the text of `data`.

        Raises 22021 for bytes that are no character, 22P05 for a character that Unicode does not
        have.
        """
        try:
            return data.decode(self.codec)
        except UnicodeDecodeError as error:
            raise self.refused(data, error.start) from None

    def encoded(self, text: str) -> bytes:
        """Return the bytes of `text`.

        Raises 22P05 for a character that the encoding does not have.
        """
        try:
            return text.encode(self.codec)
        except UnicodeEncodeError as error:
            raise _without_equivalent(text[error.start].encode(), "UTF8", self.name) from None

    def refused(self, data: bytes, start: int) -> SqlError:
        """Return the error for bytes from `start` on that are no text."""
        if not self.converts:
            return invalid_bytes(data[start : start + _announced(data[start])], self.name)
        found = self.form.match(data, start)
        if found is not None:
            return _without_equivalent(found[0], self.name, "UTF8")
        begun = self.begun.match(data, start)
        return invalid_bytes(begun[0] if begun is not None else b"", self.name)


class ReceivedText:
    """A text that arrives in pieces, cut anywhere: each piece is returned as UTF-8 as far as its
    characters are whole.
    """

    def __init__(self, encoding: ClientEncoding) -> None:
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding.codec)()

    def feed(self, data: bytes | memoryview, is_end: bool = False) -> tuple[bytes, SqlError | None]:
        """Return the whole characters in UTF-8, and the error of the bytes after them."""
        try:
            return self._decoder.decode(data, is_end).encode(), None
        except UnicodeDecodeError as error:
            whole = bytes(error.object)
            return whole[: error.start].decode(self._encoding.codec).encode(), self._encoding.refused(
                whole, error.start
            )


def invalid_bytes(data: bytes, encoding: str) -> SqlError:
    """Return PostgreSQL's 22021 for bytes that are no character."""
    return SqlError("22021", f'invalid byte sequence for encoding "{encoding}": {_hexadecimal(data)}')


def encoding_named(text: str) -> ClientEncoding | None:
    """Return the encoding that `text` names, by any of PostgreSQL's names.

    None for an encoding that is not here.
    """
    return ENCODINGS.get(_plain(text))


def is_known(text: str) -> bool:
    """Tell whether PostgreSQL has an encoding of this name."""
    return _plain(text) in ENCODINGS or _plain(text) in OTHER_ENCODINGS


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _announced(first: int) -> int:
    """Return the number of bytes of a UTF8 character by its first byte."""
    return 2 if 0xC0 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF8 else 1


def _without_equivalent(data: bytes, source: str, target: str) -> SqlError:
    shown = _hexadecimal(data)
    message = f'character with byte sequence {shown} in encoding "{source}" has no equivalent in encoding "{target}"'
    return SqlError("22P05", message)


def _hexadecimal(data: bytes) -> str:
    return " ".join(f"0x{byte:02x}" for byte in data)


UTF8 = ClientEncoding("UTF8", "utf-8")
# No encoding: bytes are not converted, so they are those of UTF8.
SQL_ASCII = ClientEncoding("SQL_ASCII", "utf-8")
_GB18030 = ClientEncoding(
    "GB18030",
    "gb18030",
    re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])"),
    re.compile(rb".[0-9].{0,2}|.{1,2}", re.DOTALL),
)
_EUC_JP = ClientEncoding(
    "EUC_JP",
    euc_jp.NAME,
    re.compile(rb"\x8e[\xa1-\xdf]|\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}"),
    re.compile(rb"\x8f.{0,2}|.{1,2}", re.DOTALL),
)
_LATIN = {1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 7: 13, 8: 14, 9: 15, 10: 16}
_ALIASES = {"win": "win1251", "alt": "win866", "koi8": "koi8r"} | dict.fromkeys(
    ("abc", "tcvn", "tcvn5712", "vscii"), "win1258"
)


def _table() -> dict[str, ClientEncoding]:
    """Return the encodings by their names without punctuation."""
    found = {"utf8": UTF8, "unicode": UTF8, "sqlascii": SQL_ASCII, "gb18030": _GB18030, "eucjp": _EUC_JP}
    found["euccn"] = ClientEncoding("EUC_CN", "gb2312", re.compile(rb"[\xa1-\xfe]{2}"))
    found["koi8r"] = ClientEncoding("KOI8R", "koi8-r")
    found["koi8u"] = ClientEncoding("KOI8U", "koi8-u")
    for number, part in _LATIN.items():
        found[f"latin{number}"] = found[f"iso8859{part}"] = ClientEncoding(f"LATIN{number}", f"iso8859-{part}")
    for part in (5, 6, 7, 8):
        found[f"iso8859{part}"] = ClientEncoding(f"ISO_8859_{part}", f"iso8859-{part}")
    for page in (866, 874, *range(1250, 1259)):
        found[f"win{page}"] = found[f"windows{page}"] = ClientEncoding(f"WIN{page}", f"cp{page}")
    return found | {alias: found[name] for alias, name in _ALIASES.items()}


ENCODINGS = _table()
OTHER_ENCODINGS = frozenset(
    """
    big5 eucjis2004 euckr euctw gbk johab mskanji muleinternal shiftjis shiftjis2004 sjis uhc win932 win936 win949 win950
    windows932 windows936 windows949 windows950
    """.split()
)
