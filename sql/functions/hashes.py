"""The functions of PostgreSQL that hash values for its hash indexes and partitions: hashtext and
its like, of 32 bits, and with a seed, of 64.

The function is Bob Jenkins' lookup3 ("hash functions and block ciphers", burtleburtle.net) as
PostgreSQL has it on machines that are little endian (hash_bytes of hashfn.c).
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable

from sql.functions.rows import Function
from sql.times.civil import EPOCH_2000_US, is_infinite

WORD = (1 << 32) - 1
START = 0x9E3779B9 + 3923095
BLOCK = struct.Struct("<III")
# The rotations of a round: which word is changed by which other, and by how many bits.
MIXED = ((4, 0, 2, 1), (6, 1, 0, 2), (8, 2, 1, 0), (16, 0, 2, 1), (19, 1, 0, 2), (4, 2, 1, 0))
LAST = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
Words = list[int]


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & WORD


def _mix(words: Words) -> None:
    for bits, one, other, third in MIXED:
        words[one] = ((words[one] - words[other]) & WORD) ^ _turned(words[other], bits)
        words[other] = (words[other] + words[third]) & WORD


def _finish(words: Words) -> Words:
    for one, other, bits in LAST:
        words[one] = ((words[one] ^ words[other]) - _turned(words[other], bits)) & WORD
    return words


def _begun(length: int, seed: int) -> Words:
    words = [(START + length) & WORD] * 3
    if seed:
        words[0] = (words[0] + (seed >> 32 & WORD)) & WORD
        words[1] = (words[1] + (seed & WORD)) & WORD
        _mix(words)
    return words


def _of_bytes(data: bytes, seed: int = 0) -> Words:
    words, whole = _begun(len(data), seed), len(data) // BLOCK.size * BLOCK.size
    for place in range(0, whole, BLOCK.size):
        words[:] = [(word + more) & WORD for word, more in zip(words, BLOCK.unpack_from(data, place), strict=True)]
        _mix(words)
    rest = data[whole:]
    # The lowest byte of the last word is that of the length.
    rest = rest[:8].ljust(8, b"\0") + b"\0" + rest[8:].ljust(3, b"\0")
    return _finish([(word + more) & WORD for word, more in zip(words, BLOCK.unpack(rest), strict=True)])


def _of_word(value: int, seed: int = 0) -> Words:
    words = _begun(4, seed)
    words[0] = (words[0] + value) & WORD
    return _finish(words)


def _of_long(value: int, seed: int = 0) -> Words:
    high = value >> 32
    return _of_word((value ^ (high if value >= 0 else ~high)) & WORD, seed)


def _of_moment(us: int, seed: int = 0) -> Words:
    # PostgreSQL counts from 2000 on, and has an infinity of its own at both ends.
    return _of_long(us - (us < 0) if is_infinite(us) else us - EPOCH_2000_US, seed)


def _of_float(value: float, seed: int = 0) -> Words:
    if value == 0:
        # Zero and minus zero are equal.
        return [0, seed >> 32 & WORD, seed & WORD]
    return _of_bytes(struct.pack("<d", float("nan") if value != value else value), seed)


def _of_text(text: str, seed: int = 0) -> Words:
    return _of_bytes(text.encode(), seed)


def _of_padded(text: str, seed: int = 0) -> Words:
    return _of_text(text.rstrip(" "), seed)


def _of_char(text: str, seed: int = 0) -> Words:
    # A byte with its sign.
    return _of_word((ord(text or "\0") ^ 128) - 128, seed)


def _of_uuid(text: str, seed: int = 0) -> Words:
    return _of_bytes(uuid.UUID(text).bytes, seed)


# By type: the function's name, what hashes a value, and an example with its hash, and that with the
# seed 7.
HASHED: dict[str, tuple[str, Callable[..., Words], str, str, str]] = {
    "text": ("hashtext", _of_text, "'abc'::text", "-785388649", "1967049030278966041"),
    "name": ("hashname", _of_text, "'abc'::name", "-785388649", "1967049030278966041"),
    "bpchar": ("hashbpchar", _of_padded, "'abc  '::char(5)", "-785388649", "1967049030278966041"),
    "char": ("hashchar", _of_char, "'a'::\"char\"", "463612535", "-9036076911657839185"),
    "int2": ("hashint2", _of_word, "1::int2", "-1905060026", "-6563890024097284161"),
    "int4": ("hashint4", _of_word, "'-1'::int4", "385747274", "8228280636233252028"),
    "int8": ("hashint8", _of_long, "'12345678901'::int8", "-431047693", "-4630867815881042195"),
    "oid": ("hashoid", _of_word, "1::oid", "-1905060026", "-6563890024097284161"),
    "float4": ("hashfloat4", _of_float, "1.5::real", "630860146", "5076885761154526455"),
    "float8": ("hashfloat8", _of_float, "'-0'::float8", "0", "7"),
    "uuid": ("uuid_hash", _of_uuid, "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "1154666245", "-7831945923156934305"),
    "time": ("time_hash", _of_long, "time '12:00'", "-239764610", "8774098165842927742"),
    "timestamp": ("timestamp_hash", _of_moment, "timestamp '2024-01-02'", "95334596", "-117032979218601254"),
}  # fmt: skip


def _short(words: Words) -> int:
    return (words[2] ^ 1 << 31) - (1 << 31)


def _long(words: Words) -> int:
    return ((words[1] << 32 | words[2]) ^ 1 << 63) - (1 << 63)


def _rows(
    family: str, name: str, function: Callable[..., Words], example: str, shown: str, seeded: str
) -> tuple[Function, Function]:
    extended = f"{name}{'_extended' if '_' in name else 'extended'}"
    return (
        Function(
            name, name, f"{family} > int4", (f"{name}({example})", shown), python=lambda value: _short(function(value)),
            can_fail=False,
        ),
        Function(
            extended, extended, f"{family} int8 > int8", (f"{extended}({example}, 7)", seeded),
            python=lambda value, seed: _long(function(value, seed)), can_fail=False,
        ),
    )  # fmt: skip


FUNCTIONS = tuple(row for family, told in HASHED.items() for row in _rows(family, *told))
