"""Encodings of texts, and the registry of those that a client may ask for.

Enters: bytes of a client, texts for a client, encodings with their names. Leaves: texts, bytes, and
PostgreSQL's errors where a character has no equivalent. UTF8 is always there; the engine's dialect
registers others. Must not know messages.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sql.errors import SqlError


@dataclass(frozen=True)
class Encoding:
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

    def __init__(self, encoding: Encoding) -> None:
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


def register_encodings(encodings: Mapping[str, Encoding], refused: Iterable[str]) -> None:
    """Make encodings known by their names in small letters, without punctuation.

    refused: names of encodings that PostgreSQL has and Antumbra has not.
    """
    ENCODINGS.update(encodings)
    REFUSED.update(refused)


def encoding_named(text: str) -> Encoding | None:
    """Return the encoding that `text` names, by any of PostgreSQL's names.

    None for an encoding that nobody has registered.
    """
    return ENCODINGS.get(_plain(text))


def is_known(text: str) -> bool:
    """Tell whether PostgreSQL has an encoding of this name."""
    return _plain(text) in ENCODINGS or _plain(text) in REFUSED


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


UTF8 = Encoding("UTF8", "utf-8")
ENCODINGS = {"utf8": UTF8, "unicode": UTF8}
REFUSED: set[str] = set()
