"""PostgreSQL's EUC_JP as a Python codec.

Python's own EUC_JP has another table: there the wave of a1c1 is U+301C, here U+FF5E. JIS X 0208 and
NEC's row 13 are those of Windows' code page 932, JIS X 0212 is Python's but for two places. After
JIS X 0212 come the characters that IBM added to code page 932 and neither of the two standards has,
in the order of the code page; NEC's characters are there once more.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

NAME = "antumbra_euc_jp"
CHARACTERS = re.compile(rb"(?P<ascii>[\x00-\x7f]+)|\x8e[\xa1-\xdf]|\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}")
# The bytes that may be the beginning of a character of which the rest is still to come.
BEGUN = re.compile(rb"\x8e|\x8f[\xa1-\xfe]?|[\xa1-\xfe]")
ROWS = range(0xA1, 0xFF)
# The last row in which code page 932 has JIS X 0208.
ROW_LAST = 0xF8
HALF_WIDTH_FIRST = 0xFF61
# 8FA2B7 is a tilde in Python's table, 8FA2C3 another bar.
OTHER_PLACES = {b"\x8f\xa2\xb7": None, b"\x8f\xa2\xc3": "\uffe4"}
ADDED_FIRST = 0xF3F3
NEC_ROW = 0xAD


@lru_cache(maxsize=1)
def tables() -> tuple[dict[bytes, str], dict[str, bytes]]:
    """Return the character of each sequence, and the sequence of each character: the first one of
    several.
    """
    found = {bytes((0x8E, 0xA1 + place)): chr(HALF_WIDTH_FIRST + place) for place in range(0xE0 - 0xA1)}
    for row in ROWS:
        for cell in ROWS:
            if row <= ROW_LAST:
                keep(found, bytes((row, cell)), text_of(code_page_932(row, cell), "cp932"))
    for row in ROWS:
        for cell in ROWS:
            sequence = bytes((0x8F, row, cell))
            keep(found, sequence, OTHER_PLACES.get(sequence, text_of(sequence, "euc_jp")))
    nec = {text for sequence, text in found.items() if sequence[0] == NEC_ROW}
    known = {text for sequence, text in found.items() if len(sequence) == 2 and sequence[0] != NEC_ROW}
    known |= {text for sequence, text in found.items() if len(sequence) == 3 and text not in nec}
    place = ADDED_FIRST
    for lead in (0xFA, 0xFB, 0xFC):
        for trail in (*range(0x40, 0x7F), *range(0x80, 0xFD)):
            text = text_of(bytes((lead, trail)), "cp932")
            if text is not None and text not in known:
                found[bytes((0x8F, place >> 8, place & 0xFF))] = text
                place += 1 if place & 0xFF < 0xFE else 0x100 - 0xFE + 0xA1
    sequences: dict[str, bytes] = {}
    for sequence, text in found.items():
        sequences.setdefault(text, sequence)
    return found, sequences


def keep(found: dict[bytes, str], sequence: bytes, text: str | None) -> None:
    if text is not None:
        found[sequence] = text


def text_of(sequence: bytes, codec: str) -> str | None:
    """Return one character, None where the codec has none."""
    try:
        return sequence.decode(codec)
    except UnicodeDecodeError:
        return None


def code_page_932(row: int, cell: int) -> bytes:
    """Return the bytes of code page 932 for a character of JIS X 0208."""
    row, cell = row - 0xA0, cell - 0xA0
    lead = (row + 1) // 2 + (0x80 if row <= 62 else 0xC0)
    trail = cell + 0x3F + (cell >= 0x40) if row % 2 else cell + 0x9E
    return bytes((lead, trail))


def decode(data: Buffer, errors: str = "strict", final: bool = True) -> tuple[str, int]:
    """Return the text, and the number of bytes that were decoded.

    final: False leaves a character that is cut off at the end.
    """
    data = memoryview(data).tobytes()
    found, _ = tables()
    parts: list[str] = []
    place = 0
    while place < len(data):
        match = CHARACTERS.match(data, place)
        if match is None and not final and BEGUN.fullmatch(data, place):
            break
        text = None if match is None else match[0].decode("ascii") if match["ascii"] else found.get(match[0])
        if match is None or text is None:
            raise UnicodeDecodeError(NAME, data, place, place + 1, "no character")
        parts.append(text)
        place = match.end()
    return "".join(parts), place


def encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    """Return the bytes, and the number of characters that were encoded."""
    _, sequences = tables()
    parts: list[bytes] = []
    for place, character in enumerate(text):
        sequence = character.encode() if character.isascii() else sequences.get(character)
        if sequence is None:
            raise UnicodeEncodeError(NAME, text, place, place + 1, "no such character")
        parts.append(sequence)
    return b"".join(parts), len(text)


class IncrementalDecoder(codecs.BufferedIncrementalDecoder):
    """A decoder of pieces that are cut anywhere."""

    def _buffer_decode(self, data: Buffer, errors: str, final: bool) -> tuple[str, int]:
        return decode(data, errors, final)


def search(name: str) -> codecs.CodecInfo | None:
    """Return the codec if `name` is its name."""
    return codecs.CodecInfo(encode, decode, incrementaldecoder=IncrementalDecoder, name=NAME) if name == NAME else None


codecs.register(search)
