"""Functions of ours on Python's values, by the names that DuckDB has for them.

Enters: a name. Leaves: a function of values. Raises LookupError for what only DuckDB has.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from engine.embedded.functions.kernels import KERNELS
from engine.embedded.functions.registration import either
from engine.embedded.functions.routines import implementation, physical, special_of
from engine.embedded.functions.type import TYPE_SPECIFICATIONS, reader
from engine.embedded.kernel_functions import READERS, KernelFunction, bytes_at, kernel_functions, kind_of, word_at
from engine.embedded.value_limits import VALUES_BYTES_MAX
from ringbuffer.memory.columns import INLINE_BYTES_MAX
from ringbuffer.memory.error_codes import OUT_OF_MEMORY, SCRATCH_FULL, TEXT_TOO_LONG
from ringbuffer.vectors import driver
from ringbuffer.vectors.loops import NAMED, STRING, VARIABLE
from sql.functions.table import ROUTINES
from sql.types.datatypes import JSON, JSONB

RowFunction = Callable[[Sequence[Any]], Any]
release = ctypes.CDLL(None).free
release.argtypes, release.restype = [ctypes.c_void_p], None
LOOP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
# Of a value of a row, when there is one row alone.
VALUE_BYTES = 3 * driver.W
CODES = {"BOOL": "?", "INT16": "h", "INT32": "i", "INT64": "q", "FLOAT32": "f", "FLOAT64": "d"}
KERNEL_ROWS = {row.name: row for row in KERNELS}
ROUTINES_BY_NAME = {routine.name: routine for routine in ROUTINES}
# Functions that have no rows.
TYPES = {name: (arguments, result, function) for name, arguments, result, function in TYPE_SPECIFICATIONS}
TYPES |= {f"{kind.family}_from_text": (["VARCHAR"], "VARCHAR", reader(kind)) for kind in (JSON, JSONB)}


@cache
def own_function(name: str) -> tuple[Callable[..., Any], bool]:
    """Return a function that DuckDB's text calls, on Python's values, and whether it is strict.

    Raises LookupError where there is none.
    """
    routine = ROUTINES_BY_NAME.get(name)
    if routine is not None and routine.is_volatile:
        raise LookupError(name)
    if name in KERNEL_ROWS:
        return of_kernel(name), True
    if routine is None:
        return TYPES[name][2], True
    function = implementation(routine)
    numerics = [place for place, family in enumerate(routine.arguments) if family == "numeric"]
    special = special_of(routine)
    return either(function, special, numerics) if special is not None and numerics else function, routine.is_strict


def types_of(name: str) -> tuple[Sequence[str], str]:
    """Return DuckDB's types of a function's arguments and of its value. Raises LookupError."""
    if name in KERNEL_ROWS:
        return KERNEL_ROWS[name].arguments, KERNEL_ROWS[name].result
    if name in TYPES:
        return TYPES[name][:2]
    routine = ROUTINES_BY_NAME[name]
    return [physical(family) for family in routine.arguments], physical(routine.result)


@cache
def of_kernel(name: str) -> Callable[..., Any]:
    """Return a function that is a kernel as one of Python's values."""
    row = KERNEL_ROWS[name]
    return one_row(row, kernel_functions().code_of(row.loop))


def one_row(function: KernelFunction, code: int) -> Callable[..., Any]:
    """Return a function of Python's values, none of them NULL, that runs the loop at an address
    over one row. It raises SqlError.

    The values are those of `values_of`.
    """
    kinds, result = [kind_of(name) for name in function.arguments], kind_of(function.result)
    loop, block_bytes = LOOP(code), driver.ARGUMENTS + driver.ARGUMENT_BYTES * len(kinds)
    head = struct.Struct(f"{block_bytes // driver.W}q")
    # The values lie after the block, three words for each: a part a word, or 16 bytes and a scale.
    size = block_bytes + VALUE_BYTES * (len(kinds) + 1)
    words = [0] * (block_bytes // driver.W)

    def run(*values: Any) -> Any:
        memory = ctypes.create_string_buffer(size)
        start, kept, given = ctypes.addressof(memory), [], words.copy()
        given[driver.NUMBER // driver.W] = function.number
        for part in range(3):
            given[driver.RESULT // driver.W + part] = start + block_bytes + part_offset(result, part)
        for index, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            at, place = block_bytes + VALUE_BYTES * (index + 1), (driver.ARGUMENTS // driver.W) + 4 * index
            given[place], given[place + 1] = start + at, start + at + part_offset(kind, 1)
            given[place + 3] = start + at + part_offset(kind, 2)
            kept.append(put_value(memory, at, kind, value))
        head.pack_into(memory, 0, *given)
        try:
            while loop(0, 1, start) == 0:
                error = word_at(start + driver.ERROR)
                needed = word_at(start + driver.SCRATCH_NEEDED)
                if error != SCRATCH_FULL or needed > VALUES_BYTES_MAX:
                    return failed(function, TEXT_TOO_LONG if error == SCRATCH_FULL else error, values)
                kept.append(ctypes.create_string_buffer(needed))
                scratch = (ctypes.addressof(kept[-1]), ctypes.sizeof(kept[-1]), 0)
                struct.pack_into("3q", memory, driver.SCRATCH, *scratch)
            return value_at(start + block_bytes, result, function.result)
        finally:
            heap = word_at(start + driver.HEAP)
            while heap:
                heap, released = word_at(heap), heap
                release(released)

    return run


def part_offset(kind: str, part: int) -> int:
    """Return where a part of a value lies after its beginning: parts have a word each, a scale
    follows 16 bytes.
    """
    return driver.W * part if " " in kind else driver.TEXT_BYTES * min(part, 1)


def put_value(memory: Any, at: int, kind: str, value: Any) -> Any:
    """Put a value of a row into memory; return what has to live as long."""
    if kind == STRING or kind in NAMED:
        data = value if isinstance(value, bytes) else value.encode()
        if len(data) <= INLINE_BYTES_MAX:
            struct.pack_into("<I12s", memory, at, len(data), data)
            return None
        kept = ctypes.create_string_buffer(data, len(data))
        struct.pack_into("<I4sq", memory, at, len(data), data[:4], ctypes.addressof(kept))
        return kept
    if kind == VARIABLE:
        memory[at : at + 16] = value[0].to_bytes(16, "little", signed=True)
        struct.pack_into("<h", memory, at + 16, value[1])
        return None
    parts = value if " " in kind else (value,)
    for place, (name, part) in enumerate(zip(kind.split(), parts, strict=True)):
        struct.pack_into(f"<{CODES[name]}", memory, at + driver.W * place, part)
    return None


def value_at(address: int, kind: str, name: str) -> Any:
    """Return the value of a row at an address, as `put_value` puts it there."""
    if kind == STRING:
        return bytes_at(address) if name == "BLOB" else bytes_at(address).decode()
    if kind == VARIABLE:
        unscaled = int.from_bytes(ctypes.string_at(address, 16), "little", signed=True)
        return unscaled, ctypes.c_int16.from_address(address + 16).value
    parts = [READERS[part].from_address(address + driver.W * place).value for place, part in enumerate(kind.split())]
    return tuple(parts) if " " in kind else bool(parts[0]) if kind == "BOOL" else parts[0]


def failed(function: KernelFunction, code: int, values: Sequence[Any]) -> Any:
    """Return the value of a row that its kernel has refused, or raise its error."""
    if code != OUT_OF_MEMORY and function.computes and function.explain is not None:
        return int(function.explain(*values))
    raise function.error(code, lambda: values, VALUES_BYTES_MAX)


def called_with(function: Callable[..., Any], parts: Sequence[RowFunction], strict: bool) -> RowFunction:
    """Return a function of parts of a row; a strict one is NULL where a part is."""
    if not strict:
        return lambda row: function(*(part(row) for part in parts))
    if len(parts) == 1:
        (only,) = parts

        def of_one(row: Sequence[Any]) -> Any:
            value = only(row)
            return None if value is None else function(value)

        return of_one

    def of_several(row: Sequence[Any]) -> Any:
        values = [part(row) for part in parts]
        return None if None in values else function(*values)

    return of_several
