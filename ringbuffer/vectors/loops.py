"""The loop of a kernel over vectors, as the text of a module.

Enters: a kernel of `ringbuffer.scalar` and the kinds of its vectors. Leaves: a function
`loop(start, end, block) -> rows done`, whose block is that of `ringbuffer.vectors.driver`. Strict:
a NULL gives NULL. What a kernel takes and returns stands in its annotations: the words of its
arguments, then `scratch` where it makes texts, then zones and constants; the words of the result,
and one more is an error code. Must not know SQL names.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass

from ringbuffer.vectors import driver

FUNCTION = "loop"
# Kinds of vectors: those of a single word with the bytes of a value, its load and its store; and
# those of several words.
PLAIN: dict[str, tuple[int, str, str]] = {
    "BOOL": (1, "load_byte({}) != 0", "store_byte({}, 1 if {} else 0)"),
    "INT16": (2, "signed_word(load_int16({}))", "store_int16({}, {})"),
    "INT32": (4, "signed_word(load_int32({}))", "store_int32({}, {})"),
    "INT64": (8, "load_word({})", "store_word({}, {})"),
    "FLOAT32": (4, "load_float32({})", "store_float32({}, {})"),
    "FLOAT64": (8, "load_float64({})", "store_float64({}, {})"),
}
# An int128 whose scale is the vector's, one with a scale of its own, a string of 16 bytes.
DECIMAL, VARIABLE, STRING = "DECIMAL", "VARIABLE", "TEXT"
# Texts that are alike in all rows, such as the name of a zone: looked up when the text changes. A
# zone is its arrays, a field its number, a template of times its program.
ZONE, FIELD, TEMPLATE = "ZONE", "FIELD", "TEMPLATE"
NAMED = {ZONE: 0, FIELD: 1, TEMPLATE: 2}
# Structs of values of a single word each: an interval, a time with time zone.
INTERVAL, ZONED_TIME = "INT32 INT32 INT64", "INT64 INT32"
RESULT_WORDS = {DECIMAL: 2, VARIABLE: 3, STRING: 3, INTERVAL: 3, ZONED_TIME: 2}
FORMS = {
    VARIABLE: driver.PAIR,
    ZONED_TIME: driver.PAIR,
    INTERVAL: driver.TRIPLE,
    STRING: driver.TEXT,
    **dict.fromkeys(NAMED, driver.TEXT),
}
# The words of a block that tell of the parts of a struct.
PARTS = ("", "_scales", "_scale")
HEAD = """\
from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, load_float32, load_float64, load_int16, load_int32, load_word
from ringbuffer.memory.addresses import signed_word, store_byte, store_float32, store_float64, store_int16
from ringbuffer.memory.addresses import store_int32, store_word
from ringbuffer.scalar.{module} import {function}
from ringbuffer.scalar.texts.text_values import words_at
from ringbuffer.vectors.driver import look_up
from ringbuffer.vectors.values import is_valid, store_null, store_text


@kernel
def loop(start, end, block):"""


@dataclass(frozen=True)
class Loop:
    """The loop of a kernel.

    Attributes:
        kernel: module and function below `ringbuffer.scalar`, as `texts.text_functions.text_left`.
        arguments, result: kinds of vectors.
        constants: source text of the kernel's last arguments, `number` for a word of the slot.
    """

    kernel: str
    arguments: tuple[str, ...]
    result: str
    constants: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The module."""
        module, _, function = self.kernel.rpartition(".")
        lines = [HEAD.format(module=module, function=function), *(f"    {line}" for line in self._prologue())]
        lines.append("    for row in range(start, end):")
        lines += [f"        {line}" for line in self._row(module, function)]
        return "\n".join([*lines, "    return end", ""])

    @property
    def name(self) -> str:
        """How the name of the module begins."""
        return self.kernel.rpartition(".")[2]

    def _prologue(self) -> list[str]:
        places = {
            "result": driver.RESULT,
            "result_scales": driver.RESULT_SCALES,
            "result_scale": driver.RESULT_THIRD,
            "result_valid": driver.RESULT_VALID,
            **{f"result{part}_known": driver.PARTS_VALID + driver.W * place for place, part in enumerate(PARTS)},
            "number": driver.NUMBER,
        }
        for index in range(len(self.arguments)):
            for word, suffix in enumerate(("", "_scales", "_valid", "_scale")):
                places[f"a{index}{suffix}"] = driver.ARGUMENTS + driver.ARGUMENT_BYTES * index + driver.W * word
        loads = [f"{name} = load_word(block + {place})" for name, place in places.items()]
        named = [index for index, kind in enumerate(self.arguments) if kind in NAMED]
        # No string has such a first word.
        loads += [f"a{index}_{word} = -1" for index in named for word in ("w0", "w1", "found")]
        return [*loads, f"scratch = words_at(block + {driver.SCRATCH}, 4)"]

    def _row(self, module: str, name: str) -> list[str]:
        known = " and ".join(f"is_valid(a{index}_valid, row)" for index in range(len(self.arguments)))
        lines = [f"if not ({known}):", "    store_null(result_valid, row)"]
        if self.result == STRING:
            lines.append("    store_text(result + 16 * row, 0, 0, 0)")
        if " " in self.result:
            # The engine takes a part out of a struct without a look at the struct.
            lines += [f"    store_null(result{part}_known, row)" for part in PARTS[: RESULT_WORDS[self.result]]]
        lines.append("    continue")
        signature = inspect.signature(getattr(importlib.import_module(f"ringbuffer.scalar.{module}"), name).py_func)
        words: list[str] = []
        zones: list[str] = []
        for index, kind in enumerate(self.arguments):
            if kind in NAMED:
                lines += looked_up(f"a{index}", NAMED[kind])
            (zones if kind == ZONE else words).extend(argument_words(f"a{index}", kind))
        scratch = ["scratch"] if "scratch" in signature.parameters else []
        results = [f"r{number}" for number in range(RESULT_WORDS.get(self.result, 1))]
        count = str(signature.return_annotation).count(",") + 1
        is_checked = count == len(results) + 1
        targets = ", ".join([*results, "error"] if is_checked else results[:count])
        lines.append(f"{targets} = {name}({', '.join([*words, *scratch, *zones, *self.constants])})")
        if is_checked:
            lines += ["if error != 0:", f"    store_word(block + {driver.ERROR}, error)", "    return row"]
        if count < len(results):
            # The kernel leaves the scale as it is.
            results[2] = words[2]
        return [*lines, *stores(self.result, results)]


def argument_words(stem: str, kind: str) -> list[str]:
    """Return source text of the words of an argument."""
    if kind == ZONE:
        count = f"load_word({stem}_found)"
        return [f"words_at({stem}_found + 8, {count})", f"words_at({stem}_found + 8 + 8 * {count}, {count})"]
    if kind == FIELD:
        return [f"{stem}_found"]
    if kind == TEMPLATE:
        return [f"words_at({stem}_found + 8, load_word({stem}_found))"]
    if kind in PLAIN or " " in kind:
        loads = zip(PARTS, (PLAIN[part] for part in kind.split()), strict=False)
        return [load.format(f"{stem}{part} + {size} * row") for part, (size, load, _) in loads]
    pair = [f"load_word({stem} + 16 * row)", f"load_word({stem} + 16 * row + 8)"]
    if kind == STRING:
        return [*pair, "0"]
    return [*pair, f"{stem}_scale" if kind == DECIMAL else f"signed_word(load_int16({stem}_scales + 2 * row))"]


def looked_up(stem: str, what: int) -> list[str]:
    """Return the lines that look up a text which is not that of the row before."""
    return [
        f"if load_word({stem} + 16 * row) != {stem}_w0 or load_word({stem} + 16 * row + 8) != {stem}_w1:",
        f"    {stem}_w0, {stem}_w1 = load_word({stem} + 16 * row), load_word({stem} + 16 * row + 8)",
        f"    {stem}_found = look_up({stem} + 16 * row, {what}, block)",
        f"    if {stem}_found < 0:",
        f"        store_word(block + {driver.ERROR}, -{stem}_found)",
        "        return row",
    ]


def stores(kind: str, words: list[str]) -> list[str]:
    """Return the lines that store a result."""
    if kind in PLAIN or " " in kind:
        parts = zip(PARTS, words, (PLAIN[part] for part in kind.split()), strict=False)
        return [store.format(f"result{part} + {size} * row", word) for part, word, (size, _, store) in parts]
    if kind == STRING:
        return [f"store_text(result + 16 * row, {', '.join(words)})"]
    lines = [f"store_word(result + 16 * row, {words[0]})", f"store_word(result + 16 * row + 8, {words[1]})"]
    return lines if kind == DECIMAL else [*lines, f"store_int16(result_scales + 2 * row, {words[2]})"]
