"""Functions of bytea: parts, positions, single bytes, hashes. Errors are PostgreSQL's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from sql.errors import SqlError, not_supported
from sql.functions.rows import Function
from sql.values.encodings import Encoding, encoding_named, invalid_bytes, is_known


def part(data: bytes, start: int, length: int) -> bytes:
    """Return SUBSTRING, which counts from 1 even when it starts before the bytes. Raises 22011."""
    if length < 0:
        raise SqlError("22011", "negative substring length not allowed")
    end = start + length - 1
    return data[max(start - 1, 0) : max(end, 0)]


def position(data: bytes, wanted: bytes) -> int:
    """Return where bytes are in others, from 1; 0 for nowhere."""
    return data.find(wanted) + 1


def byte_at(data: bytes, index: int) -> int:
    """Return get_byte. Raises 2202E."""
    if not 0 <= index < len(data):
        raise SqlError("2202E", f"index {index} out of valid range, 0..{len(data) - 1}")
    return data[index]


def with_byte(data: bytes, index: int, value: int) -> bytes:
    """Return set_byte, which takes the lowest eight bits. Raises 2202E."""
    byte_at(data, index)
    return data[:index] + bytes([value & 0xFF]) + data[index + 1 :]


def overlaid(data: bytes, replacement: bytes, start: int, length: int | None = None) -> bytes:
    """Return OVERLAY; without a length, of as many bytes as replace them.

    Raises 22011, 22003.
    """
    if start <= 0:
        raise SqlError("22011", "negative substring length not allowed")
    end = start + (len(replacement) if length is None else length)
    if not -(1 << 31) <= end < 1 << 31:
        raise SqlError("22003", "integer out of range")
    return data[: start - 1] + replacement + data[max(end, 1) - 1 :]


def characters(data: bytes, name: str) -> int:
    """Return length(bytea, encoding). Raises 22023, 0A000, 22021."""
    return len(text_in(data, name, ""))


def md5(data: bytes) -> str:
    """Return the digits of the hash."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def bits_set(data: bytes) -> int:
    """Return bit_count: how many bits are 1."""
    return int.from_bytes(data, "big").bit_count()


def bit_at(data: bytes, index: int) -> int:
    """Return get_bit: bits count from the lowest of the first byte. Raises 2202E."""
    if not 0 <= index < 8 * len(data):
        raise SqlError("2202E", f"index {index} out of valid range, 0..{8 * len(data) - 1}")
    return data[index // 8] >> index % 8 & 1


def with_bit(data: bytes, index: int, value: int) -> bytes:
    """Return set_bit. Raises 2202E, 22023."""
    bit_at(data, index)
    if value not in (0, 1):
        raise SqlError("22023", "new bit must be 0 or 1")
    byte = data[index // 8] & ~(1 << index % 8) | value << index % 8
    return data[: index // 8] + bytes([byte]) + data[index // 8 + 1 :]


def trimmed(data: bytes, removed: bytes) -> bytes:
    """Return btrim: without the bytes at both ends that are among `removed`."""
    return data.strip(removed) if removed else data


def trimmed_left(data: bytes, removed: bytes) -> bytes:
    """Return ltrim."""
    return data.lstrip(removed) if removed else data


def trimmed_right(data: bytes, removed: bytes) -> bytes:
    """Return rtrim."""
    return data.rstrip(removed) if removed else data


def text_in(data: bytes, name: str, role: str = "source ") -> str:
    """Return convert_from. Raises 22023, 0A000, 22021."""
    encoding = _encoding(name, role)
    text = encoding.decoded(data)
    if "\0" in text:
        raise invalid_bytes(b"\0", encoding.name)
    return text


def _encoding(name: str, role: str) -> Encoding:
    found = encoding_named(name)
    if found is not None:
        return found
    if is_known(name):
        raise not_supported(f"the encoding {name}")
    raise SqlError("22023", f'invalid {role}encoding name "{name}"')


def bytes_in(text: str, name: str) -> bytes:
    """Return convert_to. Raises 22023, 0A000, 22P05."""
    return _encoding(name, "destination ").encoded(text)


def recoded(data: bytes, source: str, target: str) -> bytes:
    """Return convert. Raises 22023, 0A000, 22021, 22P05."""
    return _encoding(target, "destination ").encoded(text_in(data, source))


def _sha(name: str) -> Callable[[bytes], bytes]:
    return lambda data: hashlib.new(name, data).digest()


FUNCTIONS = (
    Function(
        "bytea_length", "length octet_length", "bytea > int4", ("length('\\x123456'::bytea)", "3"),
        duckdb="CAST(octet_length({0}) AS INTEGER)", plain={"bytea": len},
    ),
    Function(
        "bytea_bits", "bit_length", "bytea > int4", ("bit_length('\\x1234'::bytea)", "16"),
        duckdb="CAST(8 * octet_length({0}) AS INTEGER)", plain={"bytea": lambda value: 8 * len(value)},
    ),
    Function("get_byte", "get_byte", "bytea int4 > int4", ("get_byte('\\x123456'::bytea, 1)", "52"), python=byte_at),
    Function(
        "set_byte", "set_byte", "bytea int4 int4 > bytea", ("set_byte('\\x123456'::bytea, 1, 255)", "\\x12ff56"),
        python=with_byte,
    ),
    Function(
        "sha224", "sha224", "bytea > bytea",
        ("sha224('abc'::bytea)", "\\x23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"), python=_sha("sha224"),
    ),
    Function(
        "sha256", "sha256", "bytea > bytea",
        ("sha256('abc'::bytea)", "\\xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        python=_sha("sha256"),
    ),
    Function(
        "sha384", "sha384", "bytea > bytea",
        ("length(sha384('abc'::bytea))", "48"),
        python=_sha("sha384"),
    ),
    Function(
        "sha512", "sha512", "bytea > bytea",
        ("length(sha512('abc'::bytea))", "64"),
        python=_sha("sha512"),
    ),
    Function(
        "bytea_part", "substring substr", "bytea int4 > bytea; bytea int4 int4 > bytea",
        ("substring('\\x123456'::bytea, 2)", "\\x3456"), python=part, defaults={2: 2**31 - 1},
    ),
    Function(
        "bytea_overlay", "overlay", "bytea bytea int4 > bytea",
        ("overlay('\\x123456'::bytea placing '\\xff'::bytea from 2)", "\\x12ff56"), python=overlaid,
    ),
    Function(
        "bytea_overlay_for", "overlay", "bytea bytea int4 int4 > bytea",
        ("overlay('\\x123456'::bytea placing '\\xff'::bytea from 2 for 2)", "\\x12ff"), python=overlaid,
    ),
    Function(
        "bytea_characters", "length", "bytea name > int4", ("length('\\xc3a9'::bytea, 'utf8')", "1"), python=characters,
    ),
    Function(
        "bytea_position", "position", "bytea bytea > int4", ("position('\\x34'::bytea in '\\x123456'::bytea)", "2"),
        python=position,
    ),
    Function("bytea_md5", "md5", "bytea > text", ("md5('abc'::bytea)", "900150983cd24fb0d6963f7d28e17f72"), python=md5),
    Function(
        "encode", "encode", "bytea text > text", ("encode('\\x123456'::bytea, 'base64')", "EjRW"), python="text.encode",
    ),
    Function("decode", "decode", "text text > bytea", ("decode('MTIz', 'base64')", "\\x313233"), python="text.decode"),
    Function("bit_count", "bit_count", "bytea > int8", ("bit_count('\\x1234'::bytea)", "5"), python=bits_set),
    Function("get_bit", "get_bit", "bytea int8 > int4", ("get_bit('\\x1234'::bytea, 4)", "1"), python=bit_at),
    Function(
        "set_bit", "set_bit", "bytea int8 int4 > bytea", ("set_bit('\\x1234'::bytea, 0, 1)", "\\x1334"),
        python=with_bit,
    ),
    Function(
        "bytea_trim_both", "btrim", "bytea bytea > bytea", ("btrim('\\x001200'::bytea, '\\x00'::bytea)", "\\x12"),
        python=trimmed,
    ),
    Function(
        "bytea_trim_left", "ltrim", "bytea bytea > bytea", ("ltrim('\\x001200'::bytea, '\\x00'::bytea)", "\\x1200"),
        python=trimmed_left,
    ),
    Function(
        "bytea_trim_right", "rtrim", "bytea bytea > bytea", ("rtrim('\\x001200'::bytea, '\\x00'::bytea)", "\\x0012"),
        python=trimmed_right,
    ),
    Function(
        "convert_from", "convert_from", "bytea name > text", ("convert_from('\\xe9'::bytea, 'latin1')", "é"),
        python=text_in,
    ),
    Function("convert_to", "convert_to", "text name > bytea", ("convert_to('é', 'latin1')", "\\xe9"), python=bytes_in),
    Function(
        "convert", "convert", "bytea name name > bytea", ("convert('\\xe9'::bytea, 'latin1', 'utf8')", "\\xc3a9"),
        python=recoded,
    ),
)  # fmt: skip
