"""Functions for DuckDB on bytea: parts, positions, single bytes, hashes.

Strict: callers handle NULL. Errors are PostgreSQL's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from sql.errors import SqlError


def part(data: bytes, start: int, length: int) -> bytes:
    """Return SUBSTRING, which counts from 1 even when it starts before the bytes. Raises 22011."""
    if length < 0:
        raise SqlError("22011", "negative substring length not allowed")
    end = start + length - 1
    return data[max(start - 1, 0) : max(end, 0)]


def byte_at(data: bytes, index: int) -> int:
    """Return get_byte. Raises 2202E."""
    if not 0 <= index < len(data):
        raise SqlError("2202E", f"index {index} out of valid range, 0..{len(data) - 1}")
    return data[index]


def with_byte(data: bytes, index: int, value: int) -> bytes:
    """Return set_byte, which takes the lowest eight bits. Raises 2202E."""
    byte_at(data, index)
    return data[:index] + bytes([value & 0xFF]) + data[index + 1 :]


_BYTES = "BLOB"
BYTES_SPECIFICATIONS: list[tuple[str, list[str], str, Callable[..., Any]]] = [
    ("bytes_part", [_BYTES, "INTEGER", "INTEGER"], _BYTES, part),
    ("bytes_position", [_BYTES, _BYTES], "INTEGER", lambda data, wanted: data.find(wanted) + 1),
    ("bytes_get", [_BYTES, "INTEGER"], "INTEGER", byte_at),
    ("bytes_set", [_BYTES, "INTEGER", "INTEGER"], _BYTES, with_byte),
    ("bytes_md5", [_BYTES], "VARCHAR", lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest()),
    ("bytes_sha224", [_BYTES], _BYTES, lambda data: hashlib.sha224(data).digest()),
    ("bytes_sha256", [_BYTES], _BYTES, lambda data: hashlib.sha256(data).digest()),
    ("bytes_sha384", [_BYTES], _BYTES, lambda data: hashlib.sha384(data).digest()),
    ("bytes_sha512", [_BYTES], _BYTES, lambda data: hashlib.sha512(data).digest()),
]
