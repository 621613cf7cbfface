"""The module of a kernel that goes over rows: parameters, prologue and loop around a finished body.

Enters: what the writers of a pipeline and of a finish step have of their own. Leaves: the module.
Must not know what the body does.
"""

from __future__ import annotations

from collections.abc import Iterable

from views.codegen.columns import InputColumns
from views.codegen.expressions import ExpressionWriter
from views.codegen.modules import GeneratedModule, module_text
from views.codegen.writer import INDENT

Parameters = Iterable[tuple[str, str]]


def row_kernel(
    title: str,
    function: str,
    parameters: Parameters,
    results: Parameters,
    prologue: Iterable[str],
    body: Iterable[str],
    columns: InputColumns,
    expressions: ExpressionWriter,
) -> GeneratedModule:
    """Return the module of a kernel.

    parameters, results: names and types, which come before and after those of the input columns.
    """
    writer = expressions.writer
    arguments, start = list(parameters), list(prologue)
    if writer.uses_scratch:
        arguments.append(("scratch", "int64[::1]"))
    if columns.has_texts:
        arguments.append(("heap", "uint8[::1]"))
        start.append(f"input_heap = {writer.use('scalar.numbers.int128', 'signed_word')}(heap.ctypes.data)")
    arguments += [*columns.parameters(), *results]
    start += expressions.parameters.lines
    writer.use("compile.jit", "kernel")
    lines = ["@kernel", f"def {function}(", *(f"{INDENT}{name}," for name, _ in arguments)]
    lines += ["):", *(INDENT + line for line in start), f"{INDENT}for row in range(start, end):"]
    if writer.uses_scratch:
        lines.append(f"{INDENT * 2}scratch[{writer.use('scalar.texts.text_functions', 'USED')}] = 0")
    lines += [*body, f"{INDENT}return end"]
    types = tuple(kind for _, kind in arguments)
    text, fingerprint = module_text(title, lines, types, writer)
    return GeneratedModule(
        text,
        fingerprint,
        function,
        types,
        tuple(columns.used),
        columns.has_texts,
        writer.uses_scratch,
        bytes(expressions.long_texts),
        writer.texts,
    )
