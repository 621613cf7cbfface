"""Machine code of generated kernels as the bytes of a file: an object file with checksum and stamp.

The stamp is of all that the code was made from and for. Enters: the text of a generated module, and
what a compiler made of it. Leaves: bytes; or the code in them, if it is whole and of this text,
this processor and these versions. A user who can write the file can run code: the checksum finds
damage, not malice.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding
from numba.core import sigutils

from ringbuffer.compile.jit import sources_stamp, stamp_of_text

MAGIC = b"antumbra kernel 1\n"
DIGEST_BYTES = 32
LENGTHS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class KernelCode:
    """An object file.

    Attributes:
        wrapper: the symbol that Python calls.
        environment: the symbol that holds the address of numba's environment; empty: there is none.
    """

    wrapper: str
    object_file: bytes
    environment: str = ""


def stamp_of(text: str, function: str, types: Sequence[str]) -> bytes:
    """Return a digest of all that the code of a kernel depends on."""
    parts = (stamp_of_text(text), function, *types, *_machine())
    return hashlib.sha256("\n".join(parts).encode()).digest()


@cache
def _machine() -> tuple[str, ...]:
    features = binding.get_host_cpu_features().flatten()
    compiler = sources_stamp(Path(__file__).with_name("direct_compiler.py"))
    return compiler, numba.__version__, llvmlite.__version__, binding.get_host_cpu_name(), features


def to_bytes(code: KernelCode, stamp: bytes) -> bytes:
    """Return the bytes of a file."""
    wrapper, environment = code.wrapper.encode(), code.environment.encode()
    lengths = LENGTHS.pack(len(wrapper), len(environment))
    body = b"".join((stamp, lengths, wrapper, environment, code.object_file))
    return MAGIC + hashlib.sha256(body).digest() + body


def from_bytes(data: bytes, stamp: bytes) -> KernelCode | None:
    """Return the code in a file; None: the file is damaged, or has another stamp."""
    start = len(MAGIC) + DIGEST_BYTES
    body = data[start:]
    if data[:start] != MAGIC + hashlib.sha256(body).digest() or body[:DIGEST_BYTES] != stamp:
        return None
    place = DIGEST_BYTES + LENGTHS.size
    wrapper, environment = LENGTHS.unpack(body[DIGEST_BYTES:place])
    middle, end = place + wrapper, place + wrapper + environment
    return KernelCode(body[place:middle].decode(), body[end:], body[middle:end].decode())


def signature(types: Sequence[str]) -> tuple[tuple[Any, ...], Any]:
    """Return numba's types of the arguments of a kernel, and of its result."""
    read: Any = sigutils.normalize_signature
    arguments, result = read(f"int64({', '.join(types)})")
    return arguments, result
