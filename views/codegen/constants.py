"""Calls of kernels over constants: their results are constants, found while the code is written.

Enters: the source text of a call. Leaves: the words of its result. The kernel itself computes them,
so that they are what it would have returned for each row. Must not know expressions.
"""

from __future__ import annotations

import importlib
import re

from ringbuffer.memory.error_codes import OK
from views.codegen.writer import KernelWriter

CALL = re.compile(r"(\w+)\((-?\d+(?:, -?\d+)*)\)")


def constant_result(writer: KernelWriter, call: str, is_fallible: bool) -> tuple[str, ...]:
    """Return the words that a call returns, without its error code.

    None are returned for a call that fails, that has other arguments than whole numbers or another
    result, or is of a kernel that is compiled for its constants.
    """
    match = CALL.fullmatch(call)
    module = writer.module_of(match[1]) if match else None
    if match is None or module is None:
        return ()
    kernel = getattr(importlib.import_module(module), match[1])
    # Others are not compiled when the database is set up.
    if "get_call_template" not in vars(kernel):
        return ()
    result = kernel(*map(int, match[2].split(", ")))
    words = result if isinstance(result, tuple) else (result,)
    if not all(type(word) is int for word in words) or (is_fallible and words[-1] != OK):
        return ()
    return tuple(map(str, words[:-1] if is_fallible else words))
