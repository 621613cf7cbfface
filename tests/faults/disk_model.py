"""Bytes and names that a power loss may leave: the plain model that the simulated
disk is held against.

Enters: what was done, in order. Leaves: for each byte of each file all values that may be found,
for each name all files. It has no histories and no chance: a byte, or a name, has what it may be,
and whether it was touched since the last sync that was tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.storage.storage import Storage

# A byte that the file ends before, and a name that no file has.
NOTHING = None


@dataclass
class Cell:
    """One byte or one name. now: as a program finds it; may_be: as the next start may; was_set:
    since the last sync, and not as a gap.
    """

    now: object = NOTHING
    may_be: set[object] = field(default_factory=lambda: {NOTHING})
    was_touched: bool = False
    was_set: bool = False
    is_doubtful: bool = False

    def set(self, value: object, is_gap: bool = False) -> None:
        self.now = value
        self.may_be.add(value)
        self.was_touched = True
        self.was_set = self.was_set or not is_gap

    def sync(self) -> None:
        """Bytes that were set are sure. A gap beside a doubtful size is not: nobody wrote it."""
        if self.was_touched and (self.was_set or not self.is_doubtful):
            self.may_be = {self.now}
            self.is_doubtful = False
        self.was_touched = self.was_set = False

    def fail_to_sync(self) -> None:
        """Bytes that were touched are in doubt until they are set and synced again."""
        self.is_doubtful = self.is_doubtful or self.was_touched
        self.was_touched = self.was_set = False


class ModelFile:
    """The bytes of a file, and of what lies after its end."""

    def __init__(self, data: bytes, bytes_max: int) -> None:
        values = [*data, *[NOTHING] * (bytes_max - len(data))]
        self.cells = [Cell(value, {value}) for value in values]

    @property
    def size(self) -> int:
        return sum(cell.now is not NOTHING for cell in self.cells)

    @property
    def now(self) -> bytes:
        return bytes(cell.now for cell in self.cells if isinstance(cell.now, int))

    def write(self, position: int, data: bytes) -> None:
        if not data:
            return
        self._extend(position + len(data))
        for cell, value in zip(self.cells[position:], data, strict=False):
            cell.set(value)

    def write_some(self, position: int, data: bytes, found: bytes) -> None:
        """A write failed, after which `found` was read: it may have written a beginning."""
        count = next(count for count in range(len(data), -1, -1) if found == self.after(position, data[:count]))
        self.write(position, data[:count])

    def after(self, position: int, data: bytes) -> bytes:
        """Return the contents after a write."""
        now = self.now
        return now if not data else now[:position].ljust(position, b"\0") + data + now[position + len(data) :]

    def truncate(self, size: int) -> None:
        self._extend(size)
        for cell in self.cells[size:]:
            cell.set(NOTHING)

    def may_be(self, data: bytes) -> bool:
        """Tell whether a start may find the file so."""
        found = [*data, *[NOTHING] * (len(self.cells) - len(data))]
        return all(value in cell.may_be for value, cell in zip(found, self.cells, strict=True))

    def _extend(self, size: int) -> None:
        for cell in self.cells[:size]:
            if cell.now is NOTHING:
                cell.set(0, is_gap=True)


class ModelDisk:
    """The names of one folder and their files."""

    def __init__(self, names: tuple[str, ...], found: dict[str, bytes], bytes_max: int) -> None:
        self._bytes_max = bytes_max
        files = {name: ModelFile(data, bytes_max) for name, data in found.items()}
        self.names = {name: Cell(files.get(name), {files.get(name)}) for name in names}

    def file(self, name: str) -> ModelFile:
        file = self.names[name].now
        assert isinstance(file, ModelFile), name
        return file

    def create(self, name: str, size: int) -> None:
        if self.names[name].now is NOTHING:
            self.names[name].set(ModelFile(b"", self._bytes_max))
        file = self.file(name)
        if file.size:
            file.truncate(0)
        file.write(0, bytes(size))

    def fail_to_create(self, name: str, size: int) -> None:
        """Begin the file, and remove it again."""
        self.create(name, size)
        self.names[name].set(NOTHING)

    def rename(self, old: str, new: str) -> None:
        file = self.file(old)
        self.names[old].set(NOTHING)
        self.names[new].set(file)

    def may_be(self, found: dict[str, bytes]) -> bool:
        """Tell whether a start may find the folder so."""
        for name, cell in self.names.items():
            fits = (
                file.may_be(found[name]) if isinstance(file, ModelFile) and name in found else name not in found
                for file in cell.may_be
                if (file is NOTHING) == (name not in found)
            )
            if not any(fits):
                return False
        return True


def contents(storage: Storage, path: Path) -> bytes:
    """Return what is in a file."""
    file = storage.open(path)
    data = file.read(0, file.size)
    file.close()
    return data


def everything(storage: Storage, folder: Path) -> dict[str, bytes]:
    """Return all names and contents."""
    return {name: contents(storage, folder / name) for name in storage.list(folder)}
