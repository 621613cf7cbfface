"""Constants that a kernel gets with each call: their places in its block of constants.

Enters: a `Parameter` of a pipeline; the values for one statement. Leaves: the words of the
parameter, loaded once before the loop; the block. The first bytes of a block are the parameters,
PARAMETER_BYTES each; the bytes of long texts follow.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sql.tree.expressions import Literal, Parameter
from views.codegen.literals import CONSTANTS, numeric_words, text_words
from views.codegen.values import FLOATS, TEXTS, Value, is_string
from views.codegen.writer import KernelWriter

PARAMETER_BYTES = 16


@dataclass(slots=True)
class ParameterLoads:
    """The parameters that a kernel uses.

    Attributes:
        lines: of its prologue.
    """

    lines: list[str] = field(default_factory=list)
    _values: dict[int, Value] = field(default_factory=dict)

    def value(self, writer: KernelWriter, parameter: Parameter) -> Value:
        """Return the words of a parameter, which are loaded in the prologue."""
        number = parameter.number
        if number not in self._values:
            self._values[number] = Value(self._words(writer, parameter))
        return self._values[number]

    def _words(self, writer: KernelWriter, parameter: Parameter) -> tuple[str, ...]:
        kind, place = parameter.type, PARAMETER_BYTES * (parameter.number - 1)
        stem = f"parameter_{parameter.number}"
        if kind.family in FLOATS:
            bits = writer.use("memory.addresses", "float_from_bits")
            value = f"{bits}({self._word(writer, place)})"
            return (self._load(writer, stem, value if kind.family == "float8" else f"real({value})"),)
        if kind.family == "numeric":
            assert kind.display_scale is not None
            lo, hi = (self._load(writer, stem, self._word(writer, place + offset)) for offset in (0, 8))
            return lo, hi, str(kind.display_scale)
        if is_string(kind):
            w0, w1 = (self._load(writer, stem, self._word(writer, place + offset)) for offset in (0, 8))
            return w0, w1, CONSTANTS
        return (self._load(writer, stem, self._word(writer, place)),)

    def _word(self, writer: KernelWriter, place: int) -> str:
        return f"{writer.use('memory.addresses', 'load_word')}({CONSTANTS} + {place})"

    def _load(self, writer: KernelWriter, stem: str, text: str) -> str:
        name = writer.name(stem)
        self.lines.append(f"{name} = {text}")
        return name


def block_of(constants: bytes, values: Sequence[Literal]) -> bytes:
    """Return a kernel's block of constants with the values of its parameters."""
    block = bytearray(constants)
    for number, literal in enumerate(values):
        words = _words(literal, block)
        block[PARAMETER_BYTES * number : PARAMETER_BYTES * (number + 1)] = words
    return bytes(block)


def _words(literal: Literal, block: bytearray) -> bytes:
    """Return the words of a value; the bytes of a long text are appended to the block."""
    value, family = literal.value, literal.type.family
    if family in FLOATS:
        assert isinstance(value, float | int)
        return struct.pack("<dq", value, 0)
    if family == "numeric":
        assert isinstance(value, Decimal | int)
        lo, hi, _ = numeric_words(Decimal(value), literal.type.display_scale)
        return struct.pack("<qq", int(lo), int(hi))
    if family in TEXTS:
        assert isinstance(value, str)
        w0, w1, _ = text_words(value, block)
        return struct.pack("<qq", int(w0), int(w1))
    assert isinstance(value, int)
    return struct.pack("<qq", value, 0)
