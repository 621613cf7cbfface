"""Generated kernels as files: written once per fingerprint, imported under a name of their own, compiled for exact types.

numba caches machine code beside the file, so a view that is created again or after a restart is compiled once. A file is never rewritten
in place: its name carries the fingerprint of its text. What the disk refuses is a KernelFileError. Must not know what the kernels compute.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

Kernel = Callable[..., int]

PACKAGE = "antumbra_kernels"
NAME_CHARACTERS_MAX = 100


class KernelFileError(Exception):
    """A generated file, or the machine code beside it, can't be written or read. error: what the system said."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: {error.strerror}")
        self.error = error


def load_kernel(folder: Path, name: str, text: str, function: str, types: Sequence[str]) -> tuple[Kernel, Path]:
    """Write `text` to folder/name.py unless it is there, import it, and return its kernel, compiled for `types`, with the path.

    Raises KernelFileError.
    """
    path = folder / f"{file_name(name)}.py"
    try:
        _write(path, text.encode())
        return _compiled(path, function, types), path
    except OSError as error:
        raise KernelFileError(path, error) from error


def _write(path: Path, text: bytes) -> None:
    """Make the file what it should be; after a power loss it may be anything."""
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Other processes and threads see either no file or all of it.
    unfinished = path.with_suffix(f".{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(text)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _compiled(path: Path, function: str, types: Sequence[str]) -> Kernel:
    module_name = f"{PACKAGE}.{path.stem}"
    specification = importlib.util.spec_from_file_location(module_name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # numba asks for the module by name when it loads cached code.
    sys.modules[module_name] = module
    try:
        specification.loader.exec_module(module)
        kernel: Any = getattr(module, function)
        kernel.compile(f"int64({', '.join(types)})")
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


def file_name(name: str) -> str:
    """Return a name that is safe on every file system and as a module."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)[:NAME_CHARACTERS_MAX]
