"""Functions of the embedded engine that are kernels: DuckDB calls machine code, not Python.

Enters: a `KernelFunction`, which names a kernel of `ringbuffer.scalar` and DuckDB's types. Leaves:
the function, registered through DuckDB's C interface (`c_interface`); its loop is made at set-up
(`python -m engine.embedded.warm_up`), and loaded at its first call. A failure carries today's text
of PostgreSQL's error through DuckDB, as `error_mark` writes it. Must not know SQL's names.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CFUNCTYPE, c_double, c_float, c_int16, c_int32, c_int64, c_uint8
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedded.c_interface import CFunctions, address_of, kernel_symbols, set_error
from engine.embedded.error_mark import marked
from engine.embedded.value_limits import too_long
from ringbuffer.compile.code_cache import safe_place
from ringbuffer.compile.loader import c_code, define_symbol, load_c_function
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.memory.error_codes import (
    MESSAGES,
    NUMERIC_DIGITS,
    NUMERIC_OVERFLOW,
    OUT_OF_MEMORY,
    TEXT_TOO_LONG,
    UNKNOWN_NAME,
)
from ringbuffer.scalar.calendars.fields import FIELD_CODES
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.texts.format_time import template_program
from ringbuffer.vectors import driver
from ringbuffer.vectors.loops import (
    DECIMAL,
    FIELD,
    FORMS,
    FUNCTION,
    INTERVAL,
    NAMED,
    STRING,
    TEMPLATE,
    VARIABLE,
    ZONE,
    ZONED_TIME,
    Loop,
)
from sql.errors import SqlError
from sql.types.datatypes import FAMILIES
from views.codegen.functions.templates import program_of

VARIABLE_TYPE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"
KINDS = {
    "BOOLEAN": "BOOL",
    "SMALLINT": "INT16",
    "INTEGER": "INT32",
    "BIGINT": "INT64",
    "FLOAT": "FLOAT32",
    "DOUBLE": "FLOAT64",
    "VARCHAR": STRING,
    "BLOB": STRING,
    "DATE": "INT32",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), "INT64"),
    FAMILIES["interval"].duckdb: INTERVAL,
    FAMILIES["timetz"].duckdb: ZONED_TIME,
    VARIABLE_TYPE: VARIABLE,
    ZONE: ZONE,
    FIELD: FIELD,
    TEMPLATE: TEMPLATE,
}
READERS: dict[str, Any] = {
    "BOOL": c_uint8,
    "INT16": c_int16,
    "INT32": c_int32,
    "INT64": c_int64,
    "FLOAT32": c_float,
    "FLOAT64": c_double,
}
ENTRY_TEXT = """\
from ringbuffer.compile.jit import kernel
from ringbuffer.vectors.driver import run


@kernel
def entry(call, chunk, result):
    return run(call, chunk, result)
"""
DIGITS_DETAIL = "A numeric holds at most 38 digits."
allocate = ctypes.CDLL(None).malloc
allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
# The text of a kernel's error: raises SqlError, for the values of the row, or returns its value.
Explain = Callable[..., Any]


@dataclass(frozen=True)
class KernelFunction:
    """A function of the embedded engine.

    Attributes:
        kernel: below `ringbuffer.scalar`, such as `texts.text_functions.text_left`.
        arguments, result: names of DuckDB's types.
        constants: source text of the kernel's last arguments, `number` for the number of the row.
        explain: raises the error of a row that the kernel refuses, where it has more to say than
            the kernel's code.
        computes: what explains such a row returns its value where there is one, a number.
        refusal: the error of a text that is too long, where it is PostgreSQL's own.
    """

    name: str
    kernel: str
    arguments: tuple[str, ...]
    result: str
    constants: tuple[str, ...] = ()
    explain: Explain | None = None
    computes: bool = False
    is_volatile: bool = False
    number: int = 0
    refusal: Callable[[], SqlError] | None = None

    @property
    def loop(self) -> Loop:
        """The loop of the kernel over vectors of these types."""
        return Loop(self.kernel, tuple(map(kind_of, self.arguments)), kind_of(self.result), self.constants)

    def slot(self, number: int, bytes_max: int) -> npt.NDArray[np.int64]:
        """Return the words that the driver is handed."""
        words = [0, number, bytes_max, len(self.arguments), self.number]
        words.append(FORMS.get(kind_of(self.result), driver.PLAIN))
        for kind in self.arguments:
            words += [FORMS.get(kind_of(kind), driver.PLAIN), scale_of(kind)]
        return np.array(words, np.int64)

    def error(self, code: int, row: Callable[[], Sequence[Any]], bytes_max: int) -> SqlError:
        """Return the error of a row."""
        if code == TEXT_TOO_LONG:
            return too_long(bytes_max) if self.refusal is None else self.refusal()
        if self.explain is not None and code != OUT_OF_MEMORY:
            try:
                self.explain(*row())
            except SqlError as error:
                return error
        is_digits = code in (NUMERIC_OVERFLOW, NUMERIC_DIGITS)
        sqlstate, message = MESSAGES[NUMERIC_OVERFLOW if is_digits else code]
        return SqlError(sqlstate, message, detail=DIGITS_DETAIL if is_digits else None)


def kind_of(name: str) -> str:
    """Return the kind of vector of a type."""
    return DECIMAL if name.startswith("DECIMAL") else KINDS[name]


def scale_of(name: str) -> int:
    """Return the scale of a decimal type."""
    return int(name[name.index(",") + 1 : -1]) if name.startswith("DECIMAL") else 0


class KernelFunctions:
    """The functions of this process, with their code."""

    def __init__(self) -> None:
        place = safe_place(Path(driver.__file__).parent / "__pycache__")
        self.folder = place or Path(mkdtemp(prefix="antumbra-"))
        self._lock = threading.Lock()
        self._functions: list[KernelFunction] = []
        self._loops: dict[Loop, int] = {}
        self._slots: dict[tuple[KernelFunction, int], npt.NDArray[np.int64]] = {}
        self._callbacks = {
            "antumbra_load": CFUNCTYPE(c_int64, c_int64)(self._load),
            "antumbra_fail": CFUNCTYPE(c_int64, *[c_int64] * 4)(self._fail),
            "antumbra_look_up": CFUNCTYPE(c_int64, c_int64, c_int64, c_int64)(look_up),
        }
        symbols = kernel_symbols() | {name: address_of(function) for name, function in self._callbacks.items()}
        for name, address in symbols.items():
            define_symbol(name, address)
        self._entry = load_c_function(self.folder, "entry_of_vectors", ENTRY_TEXT, "entry", 3)

    def register(self, functions: CFunctions, rows: Sequence[KernelFunction], bytes_max: int) -> None:
        """Make functions known to a database whose texts of one call may have `bytes_max` bytes."""
        for row in rows:
            with self._lock:
                slot = self._slots.get((row, bytes_max))
                if slot is None:
                    self._functions.append(row)
                    slot = self._slots[row, bytes_max] = row.slot(len(self._functions) - 1, bytes_max)
            functions.register(row.name, row.arguments, row.result, self._entry, slot.ctypes.data, row.is_volatile)

    def code_of(self, loop: Loop) -> int:
        """Return the address of a loop, compiled if it has not been before."""
        with self._lock:
            if loop not in self._loops:
                self._loops[loop] = load_c_function(self.folder, loop.name, loop.text, FUNCTION, 3)
            return self._loops[loop]

    def compile(self, loop: Loop) -> None:
        """Compile a loop if it has not been before."""
        c_code(self.folder, loop.name, loop.text, FUNCTION, 3)

    def _load(self, slot: int) -> int:
        """Put the address of its loop into a slot."""
        address = self.code_of(self._functions[word_at(slot + driver.SLOT_FUNCTION)].loop)
        c_int64.from_address(slot + driver.SLOT_LOOP).value = address
        return 0

    def _fail(self, call: int, slot: int, block: int, row: int) -> int:
        """Let a call fail with the error of a row, or give the row its value and return 1."""
        function = self._functions[word_at(slot + driver.SLOT_FUNCTION)]
        code = word_at(block + driver.ERROR) if block else OUT_OF_MEMORY
        if code != OUT_OF_MEMORY and function.computes and function.explain is not None:
            with suppress(SqlError):
                value = function.explain(*values_of(function, block, row))
                reader = READERS[kind_of(function.result)]
                reader.from_address(word_at(block + driver.RESULT) + ctypes.sizeof(reader) * row).value = int(value)
                return 1
        bytes_max = word_at(slot + driver.SLOT_BYTES_MAX)
        set_error(call, marked(function.error(code, lambda: values_of(function, block, row), bytes_max)))
        return 0


@cache
def kernel_functions() -> KernelFunctions:
    """Return the functions of this process."""
    return KernelFunctions()


def values_of(function: KernelFunction, block: int, row: int) -> list[Any]:
    """Return the arguments of a row, of which none is NULL."""
    found: list[Any] = []
    for index, name in enumerate(function.arguments):
        place = block + driver.ARGUMENTS + driver.ARGUMENT_BYTES * index
        data, kind = word_at(place), kind_of(name)
        if " " in kind or kind in READERS:
            starts = (data, word_at(place + driver.W), word_at(place + 3 * driver.W))
            pairs = zip(starts, (READERS[part] for part in kind.split()), strict=False)
            parts = tuple(reader.from_address(start + ctypes.sizeof(reader) * row).value for start, reader in pairs)
            found.append(parts if " " in kind else parts[0])
            continue
        word = data + 16 * row
        if kind == STRING or kind in NAMED:
            found.append(bytes_at(word) if name == "BLOB" else bytes_at(word).decode())
            continue
        unscaled = int.from_bytes(ctypes.string_at(word, 16), "little", signed=True)
        scale = scale_of(name) if kind == DECIMAL else c_int16.from_address(word_at(place + driver.W) + 2 * row).value
        found.append((unscaled, scale))
    return found


def bytes_at(address: int) -> bytes:
    """Return a string of DuckDB's."""
    length = word_at(address) & LENGTH_MASK
    return ctypes.string_at(address + 4 if length <= INLINE_BYTES_MAX else word_at(address + 8), length)


def look_up(address: int, what: int, block: int) -> int:
    """Return the number of a field, or the address of a zone's words or of a template's program; an
    error code below zero for a name of nothing, and where there is no room.

    Must not raise: C calls it.
    """
    name = bytes_at(address).decode()
    try:
        if what == NAMED[TEMPLATE]:
            return kept_words(program_words(name), block)
        return FIELD_CODES[name] if what == NAMED[FIELD] else int(zone_words(name).ctypes.data)
    except (LookupError, SqlError):
        return -UNKNOWN_NAME
    except MemoryError:
        return -OUT_OF_MEMORY


@lru_cache(maxsize=256)
def program_words(template: str) -> npt.NDArray[np.int64]:
    """Return a template as the words that loops read: how many there are, then the program.

    Raises 0A000.
    """
    program = template_program(*program_of(template))
    return np.concatenate(([len(program)], program)).astype(np.int64)


def kept_words(words: npt.NDArray[np.int64], block: int) -> int:
    """Return the address of a copy of words that lives as long as the call.

    Raises MemoryError.
    """
    heap: int | None = allocate(words.nbytes + driver.W)
    if heap is None:
        raise MemoryError
    c_int64.from_address(heap).value = word_at(block + driver.HEAP)
    c_int64.from_address(block + driver.HEAP).value = heap
    ctypes.memmove(heap + driver.W, words.ctypes.data, words.nbytes)
    return heap + driver.W


@cache
def zone_words(name: str) -> npt.NDArray[np.int64]:
    """Return a zone as the words that loops read: how many changes there are, when they are, and
    the offsets from then on. Raises LookupError.
    """
    transitions, offsets = zone_table(name)
    return np.concatenate(([len(transitions)], transitions, offsets)).astype(np.int64)


def word_at(address: int) -> int:
    """Return the word at an address."""
    return c_int64.from_address(address).value
