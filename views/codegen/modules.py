"""The text of a generated module: header, imports, constants, one kernel.

Enters: the writer of a finished function body. Leaves: a `GeneratedModule`, with what the loader
must know beside the text. Nothing that a client wrote is in the text: columns and joins have
numbers, constants are numbers, long ones lie beside the text, and so does the SQL of expressions
that can fail. The file is never edited.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from sql.errors import SqlError
from sql.tree.expressions import Expression
from views.codegen.parts import in_parts
from views.codegen.writer import FLAT_LINES, KernelWriter

# Nobody can look for two kernels with one fingerprint: 128 bits.
FINGERPRINT_CHARACTERS = 32
# Of a generated file. 1,000 lines take 3 seconds to compile, and time is linear: 3,000 operators,
# 1,000 branches of a CASE.
LINES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class GeneratedModule:
    """A generated module and what the loader must know of it.

    Attributes:
        text: the whole file, in ASCII.
        function: the name of the kernel.
        types: numba's names of its argument types.
        columns: the input columns whose arrays are the last arguments, in order.
        long_texts: bytes of constants, given by address.
        expressions: SQL text of expressions that can fail, by the number that the kernel reports.
        computed: the expressions whose values are the last columns.
    """

    text: str
    fingerprint: str
    function: str
    types: tuple[str, ...]
    columns: tuple[int, ...]
    uses_heap: bool
    uses_scratch: bool
    long_texts: bytes
    expressions: tuple[str, ...]
    computed: tuple[Expression, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file and of the module."""
        return f"{self.function}_{self.fingerprint}"


def smallest(generate: Callable[[bool], GeneratedModule]) -> GeneratedModule:
    """Return the module generated for False, or, if that is long, for True (a flat one).

    Raises SqlError 54001 for a module that would take minutes to compile.
    """
    module = generate(False)
    if module.text.count("\n") < FLAT_LINES:
        return module
    module = generate(True)
    lines_count = module.text.count("\n")
    if lines_count > LINES_MAX:
        detail = f"The code of its rows has {lines_count:,} lines, and can have {LINES_MAX:,}."
        hint = "Compute less per row: constants in IN and CASE cost nothing, operators and branches a few lines each."
        raise SqlError("54001", "statement too complex", detail=detail, hint=hint)
    return module


def module_text(title: str, lines: list[str], types: tuple[str, ...], writer: KernelWriter) -> tuple[str, str]:
    """Return the text of the file, and a fingerprint of what it computes.

    lines: the kernel with its header; types: of its arguments, on which its code depends too.
    """
    lines, parts = in_parts(lines) if writer.is_flat else (lines, [])
    function = "\n\n\n".join("\n".join(one) for one in (*writer.guards.values(), *parts, lines))
    if "real(" in function:
        writer.use("scalar.numbers.narrow", "real")
    body = "\n".join(_preamble(writer, function)) + "\n\n\n" + function + "\n"
    fingerprint = hashlib.sha256("\n".join((body, *types)).encode()).hexdigest()[:FINGERPRINT_CHARACTERS]
    return f'"""{title}, fingerprint {fingerprint}. Generated: do not edit."""\n{body}', fingerprint


def _preamble(writer: KernelWriter, function: str) -> list[str]:
    """Return the lines before a function: its imports, without those of calls that were made while
    it was written, and its constants.
    """
    used = set(re.findall(r"\w+", "\n".join((function, *writer.globals.values()))))
    lines = ["", "import numpy as np", ""] if "np" in used else [""]
    for module in sorted(writer.imports):
        if names := sorted(writer.imports[module] & used):
            lines.append(f"from {module} import {', '.join(names)}")
    if writer.globals:
        lines.append("")
        lines += [f"{name} = {text}" for name, text in writer.globals.items()]
    return lines
