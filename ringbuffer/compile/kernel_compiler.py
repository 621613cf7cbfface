"""From the text of a generated kernel to machine code: the only place where numba compiles one.

Enters: a generated module, its function and its types. Leaves: a `KernelCode`. numba holds the
interpreter lock while it works, and never gives back the memory that it needed, so a server has
this done in another process (`ringbuffer.compile.processes`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, ModuleType
from typing import Any

import numba

from ringbuffer.compile.direct_compiler import compile_directly
from ringbuffer.compile.jit import OPTIONS
from ringbuffer.compile.kernel_code import KernelCode, signature
from ringbuffer.compile.kernel_text import kernel_tree
from ringbuffer.compile.kernel_values import NotCoveredError

log = logging.getLogger(__name__)
PACKAGE = "antumbra_kernels"


def compile_kernel(name: str, text: str, function: str, types: Sequence[str], is_for_c: bool = False) -> KernelCode:
    """Return the code of a function of the module with this text, for exactly these types.

    name: of the module; is_for_c: C calls the function, not Python. Raises OSError, and
    KernelTextError for a text that is no kernel.
    """
    tree = kernel_tree(text)
    if not is_for_c:
        try:
            return KernelCode(*compile_directly(tree, name, function, signature(types)[0]))
        except NotCoveredError as reason:
            log.debug("numba compiles %s: %s", name, reason)
    # numba wants a file. Only this process knows this one, and nobody reads it.
    with TemporaryDirectory(prefix="antumbra-") as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text(text)
        return _compiled(path, compile(tree, str(path), "exec", dont_inherit=True), function, types, is_for_c)


def _compiled(path: Path, program: CodeType, function: str, types: Sequence[str], is_for_c: bool) -> KernelCode:
    name = f"{PACKAGE}.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    # numba asks for the module by name.
    sys.modules[name] = module
    try:
        # `kernel_tree` has looked at all of it.
        exec(program, module.__dict__)  # noqa: S102
        options = {key: value for key, value in OPTIONS.items() if key != "cache"}
        options |= {"no_cfunc_wrapper": not is_for_c, "no_cpython_wrapper": is_for_c}
        compiled: Any = numba.njit(**options)(getattr(module, function).py_func)
        arguments, result = signature(types)
        # The attributes are private, but numba has no other way to an object file;
        # test_kernel_compiler fails when they go away.
        found = compiled._compiler.compile(arguments, result)
        assert not found.environment.consts, "a kernel has no objects of Python"
        object_file = found.library._get_compiled_object()
    finally:
        del sys.modules[name]
    names = found.fndesc
    wrapper = names.llvm_cfunc_wrapper_name if is_for_c else names.llvm_cpython_wrapper_name
    return KernelCode(wrapper, bytes(object_file), names.env_name)
