"""The text of a generated module: header, imports, constants, one kernel. What the loader must know travels beside it.

Enters: the writer of a finished function body. Leaves: a `GeneratedModule`. The file is made to be read: it names the view, says what
the kernel computes, and is never edited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from views.codegen.writer import KernelWriter

FINGERPRINT_CHARACTERS = 12
LINE_CHARACTERS_MAX = 110


@dataclass(frozen=True, slots=True)
class GeneratedModule:
    """text: the whole file. function: the kernel's name; types: numba's names of its argument types.

    columns: the input columns whose arrays are the last arguments, in order. long_texts: bytes of constants, given by address.
    expressions: SQL text of what can fail, by the number that the kernel reports.
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


def module_text(title: str, summary: Sequence[str], function: str, writer: KernelWriter) -> tuple[str, str]:
    """Return (text of the file, fingerprint of what it computes). function: the lines of the kernel with its header."""
    if "real(" in function:
        writer.use("arithmetic", "real")
    body = "\n".join(_preamble(writer, "np." in function)) + "\n\n\n" + function + "\n"
    fingerprint = hashlib.sha256((title + body).encode()).hexdigest()[:FINGERPRINT_CHARACTERS]
    header = [f'"""{title}, fingerprint {fingerprint}. Generated from the view\'s definition: do not edit.', ""]
    header += [_comment(line) for line in summary]
    header += ['"""', ""]
    return "\n".join(header) + body, fingerprint


def _comment(line: str) -> str:
    """Return a line that may stand in a docstring, cut where it is too long to read."""
    safe = line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').replace("\n", " ")
    return safe if len(safe) <= LINE_CHARACTERS_MAX else safe[: LINE_CHARACTERS_MAX - 3].rstrip("\\") + "..."


def _preamble(writer: KernelWriter, uses_numpy: bool) -> list[str]:
    lines = ["", "import numpy as np", ""] if uses_numpy else [""]
    for module in sorted(writer.imports):
        lines.append(f"from {module} import {', '.join(sorted(writer.imports[module]))}")
    if writer.globals:
        lines.append("")
        lines += [f"{name} = {text}" for name, text in writer.globals.items()]
    return lines
