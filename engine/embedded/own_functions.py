"""Functions of ours on Python's values, by the names that DuckDB has for them, and texts for DuckDB
that consist of nothing else.

Enters: a name, or a printed call. Leaves: a function of values, or of the values of a row. Raises
LookupError for what only DuckDB has. Must not know the trees that texts are printed of.
"""

from __future__ import annotations

import ctypes
import operator
import re
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from engine.embedded.functions.kernels import KERNELS
from engine.embedded.functions.registration import either
from engine.embedded.functions.routines import implementation, special_of
from engine.embedded.functions.type import TYPE_SPECIFICATIONS
from engine.embedded.kernel_functions import READERS, KernelFunction, bytes_at, kernel_functions, kind_of, word_at
from engine.embedded.value_limits import VALUES_BYTES_MAX
from ringbuffer.memory.columns import INLINE_BYTES_MAX
from ringbuffer.memory.error_codes import OUT_OF_MEMORY, SCRATCH_FULL, TEXT_TOO_LONG
from ringbuffer.vectors import driver
from ringbuffer.vectors.loops import NAMED, STRING, VARIABLE
from sql.functions.arguments import RUN
from sql.functions.table import ROUTINES
from sql.tree.expressions import Expression

RowFunction = Callable[[Sequence[Any]], Any]
Made = Callable[[Expression], RowFunction | None]
Found = TypeVar("Found")
release = ctypes.CDLL(None).free
release.argtypes, release.restype = [ctypes.c_void_p], None
LOOP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
# Of a value of a row, when there is one row alone.
VALUE_BYTES = 3 * driver.W
CODES = {"BOOL": "?", "INT16": "h", "INT32": "i", "INT64": "q", "FLOAT32": "f", "FLOAT64": "d"}
INTEGERS = frozenset({"int2", "int4", "int8"})
FLOATS = frozenset({"float4", "float8"})
KERNEL_ROWS = {row.name: row for row in KERNELS}
ROUTINES_BY_NAME = {routine.name: routine for routine in ROUTINES}
# Functions that have no rows, and DuckDB's own which are the same ones in Python.
OTHERS: dict[str, Callable[..., Any]] = {
    **{name: function for name, _, _, function in TYPE_SPECIFICATIONS},
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "starts_with": str.startswith,
    "trim": str.strip,
    "ltrim": str.lstrip,
    "rtrim": str.rstrip,
}
# What DuckDB's texts consist of; operands are written so.
GIVES_TEXT = {row.name for row in KERNELS if row.result == "VARCHAR"} | {
    name for name, _, result, _ in TYPE_SPECIFICATIONS if result == "VARCHAR"
}
GIVES_TEXT |= {routine.name for routine in ROUTINES if routine.result in ("text", "json", "jsonb")}
# What DuckDB makes of an integer.
READ_INTEGERS: dict[str, Callable[[int], Any]] = {"VARCHAR": str, "DOUBLE": float}
OPERAND = "operand_{}"
TOKEN = re.compile(
    r"operand_(?P<place>\d+)|'(?P<text>(?:[^']|'')*)'|(?P<number>-?\d+)(?![\w.])|NULL\b|(?P<cast>CAST)\("
    r"|(?P<name>\w+)\(|(?P<open>\[)|(?P<two>\()"
)
CLOSING = re.compile(r"\)")
COMPARISON = re.compile(r" (=|<>|<=|>=|<|>) ")
ORDERS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
TARGET = re.compile(r" AS (VARCHAR\[\]|VARCHAR|DOUBLE)\)")


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
        return OTHERS[name], name != "coalesce"
    function = implementation(routine)
    numerics = [place for place, family in enumerate(routine.arguments) if family == "numeric"]
    special = special_of(routine)
    return either(function, special, numerics) if special is not None and numerics else function, routine.is_strict


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


class PrintedText:
    """A text for DuckDB, which is read as a function of a row.

    Arguments:
        operands: what stands for `OPERAND` in the text.
        made: makes the function of an operand.
    """

    def __init__(self, text: str, operands: Sequence[Expression], made: Made) -> None:
        self._text, self._operands, self._place, self._made = text, operands, 0, made
        # Whether the value that was read last is a text, or a list of texts.
        self._is_text = True

    @property
    def is_read(self) -> bool:
        """Tell whether nothing is left."""
        return self._place == len(self._text)

    def value(self) -> RowFunction:
        """Read a value. Raises LookupError for what no function of ours computes."""
        token = self._next(TOKEN)
        if token["place"] is not None:
            operand = self._operands[int(token["place"])]
            made = self._known(self._made(operand))
            self._is_text = operand.type.family in ("text", "varchar")
            return made
        if token["cast"] is not None:
            return self._cast()
        if token["two"] is not None:
            return self._compared()
        if token["open"] is not None:
            items = self._items("]")
            return lambda row: [item(row) for item in items]
        if token["name"] is not None:
            function, strict = own_function(token["name"])
            made = called_with(function, self._items(")"), strict)
            self._is_text = token["name"] in GIVES_TEXT
            return made
        text, number = token["text"], token["number"]
        given = text.replace("''", "'") if text is not None else None if number is None else int(number)
        self._is_text = number is None
        return lambda row: given

    def _cast(self) -> RowFunction:
        operand = self._known(TOKEN.match(self._text, self._place))
        value, target = self.value(), self._next(TARGET)[1]
        place, is_text = operand["place"], self._is_text
        is_whole = operand["number"] is not None
        if place is not None:
            is_whole = self._operands[int(place)].type.family in INTEGERS
        if is_whole and target in READ_INTEGERS:
            value, is_text = called_with(READ_INTEGERS[target], [value], True), target == "VARCHAR"
        elif not is_text or target == "DOUBLE":
            raise LookupError(target)
        self._is_text = is_text
        return value

    def _compared(self) -> RowFunction:
        """Read a comparison of two values of one type."""
        families = {operand.type.family for operand in self._operands}
        if not families <= INTEGERS and (len(families) != 1 or families & {"numeric", "record"}):
            raise LookupError(str(families))
        if any(operand.type.is_array for operand in self._operands):
            raise LookupError("arrays")
        left = self.value()
        compare = ORDERS[self._next(COMPARISON)[1]]
        right = self.value()
        self._next(CLOSING)
        self._is_text = False
        if not families & FLOATS:
            return called_with(compare, [left, right], True)
        return called_with(lambda one, other: compare(placed(one), placed(other)), [left, right], True)

    def _items(self, end: str) -> list[RowFunction]:
        found: list[RowFunction] = []
        are_texts = True
        while not self._text.startswith(end, self._place):
            if self._text.startswith(", ", self._place):
                self._place += 2
            if self._text.startswith(RUN, self._place):
                self._place += len(RUN)
            else:
                found.append(self.value())
            are_texts &= self._is_text
        self._place += 1
        self._is_text = are_texts
        return found

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = self._known(pattern.match(self._text, self._place))
        self._place = match.end()
        return match

    def _known(self, found: Found | None) -> Found:
        if found is None:
            raise LookupError(self._text[self._place :])
        return found


def placed(value: float) -> tuple[bool, float]:
    """Return what orders a float as PostgreSQL does: NaN is equal to itself, and the largest."""
    return (True, 0.0) if value != value else (False, value)


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
