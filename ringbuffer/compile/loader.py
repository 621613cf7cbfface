"""Generated kernels from files, each in an engine of LLVM's own, which is freed with its kernel.

Enters: the text of a generated module, and a function that compiles it if its code is not beside it
yet. Leaves: a `Kernel`. What runs is the text that was just generated, never a text from the disk;
that file is for people. A file is never rewritten in place: its name carries the fingerprint of its
text. A disk that refuses is a KernelFileError. Nothing is compiled here. Must not know what the
kernels compute.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numba
from llvmlite import binding
from numba.core.registry import cpu_target
from numba.core.typeconv.rules import default_type_manager

from ringbuffer.compile.code_cache import FILE_MODE, is_owned
from ringbuffer.compile.kernel_code import KernelCode, from_bytes, signature, stamp_of, to_bytes
from ringbuffer.compile.kernel_compiler import compile_kernel

# Takes the name and the text of a generated module, its function and its types, as `compile_kernel`
# does, which is that of tests and tools.
Compile = Callable[[str, str, str, Sequence[str]], KernelCode]

# numba is without types, or says that it has none of these.
DISPATCHER: Any = importlib.import_module("numba._dispatcher").Dispatcher
MACHINE_FUNCTIONS: Any = importlib.import_module("numba._dynfunc")
TYPES: Any = default_type_manager
typeof: Callable[[object], Any] = numba.typeof

CODE_SUFFIX = ".code"
# Of a stamp, in the name of a file: nobody can look for two.
STAMP_CHARACTERS = 32


class KernelFileError(Exception):
    """A generated file, or the machine code beside it, can't be written or read.

    Attributes:
        error: of the system.
    """

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: {error.strerror}")
        self.error = error


class Kernel(DISPATCHER):  # type: ignore[misc]
    """A compiled function for exactly one list of types; it runs without the interpreter lock.

    A call raises TypeError for other types.

    Attributes:
        entry: the machine code, for callers whose arguments are of these types, arrays also of this
            layout: nothing checks that.
    """

    if TYPE_CHECKING:

        def __call__(self, *arguments: object) -> int: ...

    def __init__(self, function: str, types: tuple[Any, ...], entry: Callable[..., int]) -> None:
        names = tuple(f"argument_{number}" for number in range(len(types)))
        # numba's own tables look up the types: as fast as a call of a function that it has
        # compiled. test_loader fails when they go away.
        super().__init__(TYPES.get_pointer(), len(types), True, names, (), False, False, True)
        self.function = function
        self.types = types
        self.entry = entry
        self._insert([kind._code for kind in types], entry)
        self._can_compile = False

    def entry_for(self, *arguments: object) -> Callable[..., int]:
        """Return the machine code for arguments of the types of these. Raises TypeError."""
        if tuple(map(numba.typeof, arguments)) != self.types:
            raise TypeError(self._explain_matching_error(*arguments))
        return self.entry

    def typeof_pyval(self, value: object) -> Any:
        """Return numba's type of a value that its tables do not have."""
        return typeof(value)

    def _search_new_conversions(self, *_: object, **__: object) -> bool:
        return False

    def _explain_matching_error(self, *arguments: object, **__: object) -> str:
        given = ", ".join(str(typeof(argument)) for argument in arguments)
        raise TypeError(f"{self.function} takes ({', '.join(map(str, self.types))}), not ({given})")


log = logging.getLogger(__name__)

# A kernel is loaded once for all that have the same text.
_loaded: WeakValueDictionary[bytes, Kernel] = WeakValueDictionary()
_loading = threading.Lock()
# Code that C may call as long as the process lives, and what it refers to.
C_ENGINES: list[Any] = []


def load_kernel(
    folder: Path, name: str, text: str, function: str, types: Sequence[str], compile_text: Compile = compile_kernel
) -> tuple[Kernel, Path]:
    """Write `text` to folder/name.py unless it is there.

    Return its kernel for `types`, and the path.

    name: an identifier that contains the fingerprint of the text. Raises KernelFileError,
    KernelTextError, and what `compile_text` raises.
    """
    assert name.isidentifier() and name.isascii(), name
    path = folder / f"{name}.py"
    stamp = stamp_of(text, function, types)
    # This looks at the text before it is run.
    code = _code_of(path, stamp, lambda: compile_text(path.stem, text, function, types))
    try:
        _write(path, text.encode())
    except OSError as error:
        raise KernelFileError(path, error) from error
    with _loading:
        kernel = _loaded.get(stamp)
        if kernel is None:
            kernel = _loaded[stamp] = load_code(code, function, types)
    return kernel, path


def load_c_function(folder: Path, name: str, text: str, function: str, words_count: int) -> int:
    """Return the address of a function of so many words (int64) that C calls; the result is a word.

    Its code stays loaded. name: how the names of its files begin. Raises KernelTextError.
    """
    code = c_code(folder, name, text, function, words_count)
    engine, environment = _load_object(code)
    C_ENGINES.append((engine, environment))
    address: int = engine.get_function_address(code.wrapper)
    return address


def c_code(folder: Path, name: str, text: str, function: str, words_count: int) -> KernelCode:
    """Return the code of `load_c_function`, compiled if the folder has none.

    A disk that refuses to keep the code is a warning: nobody who calls the function from C can be
    told.
    """
    types = ["int64"] * words_count
    stamp = stamp_of(text, "C", types)
    beside = folder / f"{name}_{stamp.hex()[:STAMP_CHARACTERS]}"
    made: list[KernelCode] = []

    def compile_now() -> KernelCode:
        made.append(compile_kernel(name, text, function, types, is_for_c=True))
        return made[0]

    try:
        return _code_of(beside, stamp, compile_now)
    except KernelFileError as error:
        log.warning("machine code is not kept: %s", error)
        return made[0] if made else compile_now()


def define_symbol(name: str, address: int) -> None:
    """Let kernels call a C function by a name, `jit.external`."""
    binding.add_symbol(name, address)


def _code_of(path: Path, stamp: bytes, compile_now: Callable[[], KernelCode]) -> KernelCode:
    """Return the code beside a file; it is compiled and written there if it is missing."""
    try:
        code = _known_code(path, stamp)
        if code is None:
            code = compile_now()
            _write(path.with_suffix(CODE_SUFFIX), to_bytes(code, stamp))
    except OSError as error:
        raise KernelFileError(path, error) from error
    return code


def _known_code(path: Path, stamp: bytes) -> KernelCode | None:
    """Return the code beside a file; None: it is missing, damaged, of something else, or not
    ours.
    """
    beside = path.with_suffix(CODE_SUFFIX)
    if not beside.is_file():
        return None
    if not is_owned(beside.stat()):
        log.warning("the machine code in %s is made anew: another user may have written it", beside)
        return None
    code = from_bytes(beside.read_bytes(), stamp)
    if code is None:
        log.warning("the machine code in %s is made anew: it is damaged, or of another version", beside)
    return code


def _write(path: Path, data: bytes) -> None:
    """Write a file unless it has these bytes; after a power loss it may have any."""
    if path.is_file() and is_owned(path.stat()) and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Other processes and threads see either no file or all of it.
    unfinished = path.with_suffix(f".{uuid.uuid4().hex}.unfinished")
    try:
        unfinished.write_bytes(data)
        unfinished.chmod(FILE_MODE)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def load_code(code: KernelCode, function: str, types: Sequence[str]) -> Kernel:
    """Return the kernel of an object file, in an engine of its own.

    This takes a millisecond. numba has one engine, which never gives back machine code: a dropped
    view left 0.8 MB.
    """
    engine, environment = _load_object(code)
    address = engine.get_function_address(code.wrapper)
    # The function holds the engine: who still calls it when its view is gone goes on.
    entry = MACHINE_FUNCTIONS.make_function(sys.modules[__name__], function, function, address, environment, (engine,))
    arguments, _ = signature(types)
    return Kernel(function, arguments, entry)


def _load_object(code: KernelCode) -> tuple[Any, Any]:
    """Return the engine of an object file, and the environment that its code refers to."""
    _register_symbols()
    module = binding.parse_assembly(f'target triple = "{binding.get_process_triple()}"')
    engine = binding.create_mcjit_compiler(module, _target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code.object_file))
    engine.finalize_object()
    environment = MACHINE_FUNCTIONS.Environment({})
    if code.environment:
        place = engine.get_global_value_address(code.environment)
        ctypes.c_void_p.from_address(place).value = id(environment)
    return engine, environment


@cache
def _register_symbols() -> None:
    """Let numba tell LLVM the addresses of its runtime's functions, which code calls by name."""
    cpu_target.target_context.refresh()


def _target_machine() -> Any:
    target = binding.Target.from_triple(binding.get_process_triple())
    # As numba's own: code of an object file refers to its data by addresses of 32 bits, relative
    # ones.
    return target.create_target_machine(reloc="static", codemodel="jitdefault", jit=True)
