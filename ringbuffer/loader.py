"""Generated kernels as files: written once per fingerprint, loaded under a name of their own, compiled for exact types.

What runs is the text that was just generated, never what lies on the disk; the file is for numba, which caches machine code beside it, and
for people. So a view that is created again or after a restart is compiled once. A file is never rewritten in place: its name carries the
fingerprint of its text. What the disk refuses is a KernelFileError. Must not know what the kernels compute.
"""

from __future__ import annotations

import sys
import types
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

from ringbuffer.kernel_text import kernel_tree

Kernel = Callable[..., int]

PACKAGE = "antumbra_kernels"


class KernelFileError(Exception):
    """A generated file, or the machine code beside it, can't be written or read. error: what the system said."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: {error.strerror}")
        self.error = error


def load_kernel(
    folder: Path, name: str, text: str, function: str, argument_types: Sequence[str]
) -> tuple[Kernel, Path]:
    """Write `text` to folder/name.py unless it is there, run it, and return its kernel, compiled for these types, with the path.

    name: an identifier, with the text's fingerprint in it. Raises KernelFileError, and KernelTextError for what is no kernel.
    """
    assert name.isidentifier() and name.isascii(), name
    path = folder / f"{name}.py"
    code = compile(kernel_tree(text), str(path), "exec", dont_inherit=True)
    try:
        _write(path, text.encode())
        return _compiled(path, code, function, argument_types), path
    except OSError as error:
        raise KernelFileError(path, error) from error


def _write(path: Path, text: bytes) -> None:
    """Make the file what it should be; after a power loss it may be anything."""
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Other processes and threads see either no file or all of it.
    unfinished = path.with_suffix(f".{uuid.uuid4().hex}.unfinished")
    try:
        unfinished.write_bytes(text)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _compiled(path: Path, code: types.CodeType, function: str, argument_types: Sequence[str]) -> Kernel:
    module_name = f"{PACKAGE}.{path.stem}"
    module = types.ModuleType(module_name)
    module.__file__ = str(path)
    # numba asks for the module by name when it loads cached code.
    sys.modules[module_name] = module
    try:
        # `kernel_tree` has looked at all of it.
        exec(code, module.__dict__)  # noqa: S102
        kernel: Any = getattr(module, function)
        kernel.compile(f"int64({', '.join(argument_types)})")
    except OSError:
        del sys.modules[module_name]
        raise
    # From here on other types are an error of ours, not a reason to compile for a second.
    kernel.disable_compile()
    result: Kernel = kernel
    return result


def release_kernel(kernel: Kernel) -> object:
    """Let numba forget a kernel. Return what has to live for as long as somebody may still call it.

    numba never does by itself: its tables hold the entry point, whose globals hold the kernel, and its engine holds the module. A view
    that was dropped left 5 MB behind, one that is released 2 MB: the engine does not give back machine code.
    """
    released: Any = kernel
    name = released.py_func.__module__
    with global_compiler_lock:
        if getattr(sys.modules.get(name), released.py_func.__name__, None) is kernel:
            del sys.modules[name]
        # The attributes are private, but numba offers no hook; test_loader fails when they go away.
        released._make_finalizer()()
        overloads = list(released.overloads.values())
        for overload in overloads:
            overload.library._codegen._engine._ee.remove_module(overload.library._final_module)
        released.overloads.clear()
    return [overload.entry_point for overload in overloads]
