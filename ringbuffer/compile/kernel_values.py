"""Values of a kernel as LLVM's IR has them: numba's types, and how one type becomes another.

Enters: operands with their types. Leaves: lines of IR and operands. The rules are numba's, as far
as kernels need them; what they do not need is NotCoveredError. Must not know statements.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

types: Any = numba.types

WORD, FLOAT, BOOL = types.int64, types.float64, types.boolean
# Writes the right side of an assignment, and returns the name that it has been given.
Write = Callable[[str], str]


class NotCoveredError(Exception):
    """Something that a kernel may say, but that is left to numba."""


class Value(NamedTuple):
    """A number.

    Attributes:
        text: LLVM's operand.
        type: numba's type.
        literal: the number of an integer that is written in the kernel.
    """

    text: str
    type: Any
    literal: int | None = None

    @property
    def operand(self) -> str:
        """The operand with LLVM's type."""
        return f"{llvm_type(self.type)} {self.text}"


class ArrayValue(NamedTuple):
    """An array in order.

    Attributes:
        data: operand, the address of its first item.
        sizes: operands, of each dimension.
    """

    type: Any
    data: str
    sizes: tuple[str, ...]


def llvm_type(kind: Any, is_kept: bool = False) -> str:
    """Return LLVM's name of a numba type. is_kept: as it lies in memory and goes into calls."""
    if isinstance(kind, types.Integer):
        return f"i{kind.bitwidth}"
    if isinstance(kind, types.Boolean):
        return "i8" if is_kept else "i1"
    if kind == FLOAT:
        return "double"
    if kind == types.float32:
        return "float"
    raise NotCoveredError(str(kind))


def constant(value: object) -> Value:
    """Return a number that a kernel or a module names."""
    if isinstance(value, bool):
        return Value("true" if value else "false", BOOL)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return Value(str(value), WORD, value)
    if isinstance(value, float):
        return Value("0x" + struct.pack(">d", value).hex().upper(), FLOAT)
    if isinstance(value, np.uint64):
        return Value(str(value), types.uint64)
    raise NotCoveredError(str(type(value)))


def joined(kind: Any, other: Any) -> Any:
    """Return the type that holds values of both."""
    if kind == other:
        return kind
    if isinstance(kind, types.Float) and isinstance(other, types.Float):
        return FLOAT
    if is_word(kind) and is_word(other):
        return WORD
    raise NotCoveredError(f"{kind} and {other} in one place")


def is_word(kind: Any) -> bool:
    """Tell whether int64 holds all values of a type."""
    return isinstance(kind, types.Boolean) or (
        isinstance(kind, types.Integer) and (kind.signed or kind.bitwidth < WORD.bitwidth)
    )


def converted(value: Value, kind: Any, write: Write) -> Value:
    """Return a value as another type has it."""
    if value.type == kind:
        return value
    if kind == BOOL:
        if isinstance(value.type, types.Integer):
            return Value(write(f"icmp ne {value.operand}, 0"), BOOL)
        raise NotCoveredError(f"{value.type} as boolean")
    operation = _conversion(value.type, kind)
    if not operation:
        return Value(value.text, kind)
    return Value(write(f"{operation} {value.operand} to {llvm_type(kind)}"), kind)


def _conversion(kind: Any, wanted: Any) -> str:
    """Return LLVM's instruction; empty: the bits are the same."""
    is_unsigned = not getattr(kind, "signed", False)
    if isinstance(wanted, types.Float):
        if isinstance(kind, types.Float):
            return "fpext" if wanted == FLOAT else "fptrunc"
        return "uitofp" if is_unsigned else "sitofp"
    if isinstance(kind, types.Float):
        return "fptosi" if wanted.signed else "fptoui"
    bits = 1 if kind == BOOL else kind.bitwidth
    if wanted.bitwidth == bits:
        return ""
    if wanted.bitwidth < bits:
        return "trunc"
    return "zext" if is_unsigned else "sext"
