"""The folder of generated kernels: its files are whole after a power loss, and belong to existing
views.

Enters: the generated files of views; beside each lies its machine code. Leaves: a folder without
the files of other views. The loader writes the files itself, so that they are real whatever
`Storage` is given. Other processes compile. Must not know views.
"""

from __future__ import annotations

import copy
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from engine.storage.storage import Storage
from ringbuffer.compile.kernel_code import KernelCode
from ringbuffer.compile.loader import Kernel, load_kernel
from ringbuffer.compile.processes import CompileError, CompileProcesses
from sql.errors import SqlError

log = logging.getLogger(__name__)

# Where Python and numba put what they make of a file.
COMPILED_FOLDER_NAME = "__pycache__"
# A file that was not replaced or written since has the same inode, size and time of change.
Signature = tuple[int, int, int]


class KernelNeededError(Exception):
    """A kernel that does not exist in a folder, and is not to be compiled now."""

    def __init__(self, folder: Path, name: str, text: str, function: str, types: Sequence[str]) -> None:
        super().__init__(name)
        self.folder = folder
        self.name = name
        self.text = text
        self.function = function
        self.types = types


class KernelFiles:
    """The kernels of one data folder.

    Files found at the beginning were made durable by an earlier server.
    """

    def __init__(self, folder: Path, storage: Storage, compilers: CompileProcesses) -> None:
        self.folder = folder
        self._storage = storage
        self._compilers = compilers
        self._check: Callable[[], None] = lambda: None
        self._is_compiling_later = False
        # By name, those that statements have compiled for views that are not there yet; all copies
        # of this have one.
        self._awaited: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._durable = {path: signature(path) for path in self._all_files()}

    def checked_by(self, check: Callable[[], None]) -> KernelFiles:
        """Return the same files for a statement. check: raises when the statement is cancelled.

        What `check` raises ends the compilations of the statement.
        """
        files = copy.copy(self)
        files._check = check
        return files

    def compiling_later(self) -> KernelFiles:
        """Return the same files for a caller that holds a lock: a missing kernel raises
        KernelNeededError.
        """
        files = copy.copy(self)
        files._is_compiling_later = True
        return files

    @contextmanager
    def awaited(self) -> Iterator[Callable[[KernelNeededError], None]]:
        """Yield a function that compiles a needed kernel, which is not deleted in this context."""
        names: set[str] = set()
        # Loaded, so that nobody does it again.
        kernels: list[Kernel] = []

        def compile_needed(needed: KernelNeededError) -> None:
            with self._lock:
                self._awaited[needed.name] += needed.name not in names
                names.add(needed.name)
            kernel, _ = load_kernel(
                needed.folder, needed.name, needed.text, needed.function, needed.types, self.compile_text
            )
            kernels.append(kernel)

        try:
            yield compile_needed
        finally:
            with self._lock:
                for name in names:
                    self._awaited[name] -= 1
                    if not self._awaited[name]:
                        del self._awaited[name]

    def compile_text(self, name: str, text: str, function: str, types: Sequence[str]) -> KernelCode:
        """Compile as `ringbuffer.compile.kernel_compiler.compile_kernel` does.

        Raises OSError, SqlError 53200, 54001 and 57P01, and what the check raises.
        """
        if self._is_compiling_later:
            raise KernelNeededError(self.folder, name, text, function, types)
        try:
            return self._compilers.compile(name, text, function, types, self._check)
        except CompileError as error:
            raise compile_error(error) from None

    def make_durable(self, kernels: Iterable[Path]) -> None:
        """Sync new generated files and their machine code. Raises OSError."""
        stems = {path.stem for path in kernels}
        new = {
            path: found
            for path in self._all_files()
            if path.name.partition(".")[0] in stems and self._durable.get(path) != (found := signature(path))
        }
        self._storage.sync_files(new)
        self._durable |= new

    def remove_unused(self, used: Iterable[Path]) -> int:
        """Delete every file that is not one of `used` or its machine code; return how many.

        A file that can't be deleted stays until the next time: no statement fails because of it.
        """
        with self._lock:
            stems = {path.stem for path in used} | self._awaited.keys()
        removed = 0
        for path in self._all_files():
            if path.name.partition(".")[0] in stems:
                continue
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                log.warning("can't delete the unused kernel %s: %s", path, error.strerror)
                continue
            self._durable.pop(path, None)
            removed += 1
        return removed

    def _all_files(self) -> Iterator[Path]:
        for folder in (self.folder, self.folder / COMPILED_FOLDER_NAME):
            if folder.is_dir():
                with os.scandir(folder) as entries:
                    yield from [Path(entry.path) for entry in entries if not entry.is_dir()]


def signature(path: Path) -> Signature:
    """Return what tells a file from an earlier state of it."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def compile_error(error: CompileError) -> SqlError:
    """Return the client's error for a compilation that has failed."""
    if error.is_out_of_memory:
        hint = "The setting compile_memory_bytes says how much one may take."
        return SqlError("53200", "out of memory", detail="Compiling the query takes too much.", hint=hint)
    if error.seconds:
        detail = f"Compiling it takes more than {error.seconds:g} seconds of processor time."
        return SqlError(
            "54001", "statement too complex", detail=detail, hint="The setting compile_s_max limits the time."
        )
    return SqlError("57P01", "terminating connection due to administrator command")
