"""A disk in memory that fails on command, and that a power loss treats as badly as a real one may.

Enters: what `engine.storage.storage.Storage` is asked for, and a plan of failures. Leaves: the same
answers as a disk, and by `crash` the storage that the next start finds. Each file and each folder
has a durable image and the changes since; running programs see all of them, a crash keeps what a
completed sync covers and of the rest what its seed says:

- a write: all, nothing, a beginning cut at any byte, or some byte ranges; a file that grew may have
  its new size and zeros;
- a truncation: happened or not;
- a create, rename or remove: each by itself happened or not, those of different files in any order;
  a rename is one step;
- what a failed sync was to cover: the same, for ever, whatever is synced later. Running programs
  see it until then.

The table engine's file is real, in a folder of the test, and its COMMIT is one event. Paths are
absolute; none of them need exist.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from random import Random

import duckdb

from engine.storage.storage import Bytes, Names, StoredFile, TableConnection
from tests.faults.disk_images import Contents, Folder, Truncation, Write

# Events that a full disk refuses.
TAKE_ROOM = frozenset({"write", "create", "make_folder", "rename", "commit_tables"})
TABLES = Path("tables")


class PowerLossError(BaseException):
    """The machine is off: nothing of the process that is told so can reach the disk any more."""


class Failure(Enum):
    """Fate of an event. A power loss falls before it, or when it has taken effect but
    before anybody hears of it.
    """

    ONCE = auto()
    FROM_THEN_ON = auto()
    POWER_LOSS_BEFORE = auto()
    POWER_LOSS_AFTER = auto()


@dataclass(frozen=True)
class Event:
    """Something that changes what is on the disk.

    kind: write, sync, truncate, create, rename, remove, make_folder, sync_folder or commit_tables.
    """

    kind: str
    path: Path


class SimulatedStorage:
    """Storage in memory; a function of its seed, the calls and the plan of failures. trace: all
    events so far, the first is number 1.

    folder: one that is there from the beginning. bytes_max: the room on the disk, None for no end;
    a test may change it at any time. on_power_loss: called once, by the thread at whose event the
    power goes off; others may wait for it, and event loops swallow errors.
    """

    def __init__(self, seed: int, folder: Path = Path("/"), bytes_max: int | None = None) -> None:
        self.seed = seed
        self.bytes_max = bytes_max
        self.on_power_loss: Callable[[], None] | None = None
        self.trace: list[Event] = []
        self._lock = threading.RLock()
        self._folders = {path: Folder() for path in (folder, *folder.parents)}
        self._unnamed: list[Contents] = []
        self._failures: dict[int, tuple[Failure, int]] = {}
        self._ignored: list[Callable[[Path], bool]] = []
        self._is_off = False

    # The plan

    @property
    def events(self) -> int:
        """How many events there were."""
        return len(self.trace)

    @property
    def is_off(self) -> bool:
        """True from the power loss on."""
        return self._is_off

    def fail_at(self, number: int, failure: Failure, code: int = errno.EIO) -> None:
        """Let the event with that number, of all since the storage was made, fail. A full disk
        refuses only what takes room on it.

        A write that fails has written a beginning, a sync that fails leaves what it was to cover in
        doubt, all others do nothing.
        """
        self._failures[number] = (failure, code)

    def ignore_sync(self, matches: Callable[[Path], bool]) -> None:
        """Let syncs of the files and folders whose path matches do nothing, also after a crash: a
        program that forgets them.
        """
        self._ignored.append(matches)

    def crash(self, seed: int | None = None) -> SimulatedStorage:
        """Return the storage that the next start finds after a power loss now, as `seed` (or our
        own) says. This one is off.
        """
        with self._lock:
            self._is_off = True
            seed = self.seed if seed is None else seed
            chance = Random(f"{seed} {self.events}")
            after = SimulatedStorage(seed, bytes_max=self.bytes_max)
            after._ignored = list(self._ignored)
            for path, folder in sorted(self._folders.items()):
                names = folder.after_power_loss(chance)
                after._folders[path] = Folder(
                    {name: Contents(contents.after_power_loss(chance)) for name, contents in names.items()}
                )
            return after

    # engine.storage.storage.Storage

    def commit_tables(self, connection: TableConnection) -> None:
        try:
            with self._event("commit_tables", TABLES):
                connection.commit()
        except OSError as error:
            raise duckdb.IOException(f"IO Error: Could not write file: {error.strerror}") from error

    def create(self, path: Path, size: int = 0, for_little: bool = True) -> StoredFile:
        with self._event("create", path, lambda chance: self._fail_to_create(path, chance.randrange(size + 1))):
            folder = self._folder_of(path)
            if path in self._folders:
                raise os_error(errno.EISDIR, path)
            contents = folder.now.get(path.name)
            if contents is None:
                contents = Contents()
                folder.name(contents, path.name)
            elif contents.now:
                contents.change(Truncation(0))
            if size > self._room():
                self._fail_to_create(path, self._room())
                raise os_error(errno.ENOSPC, path)
            if size:
                contents.change(Write(0, bytes(size)))
            return SimulatedFile(self, path, contents)

    def open(self, path: Path) -> StoredFile:
        with self._power():
            return SimulatedFile(self, path, self._named(path))

    def temporary(self, folder: Path) -> StoredFile:
        path = folder / "(temporary)"
        with self._event("create", path):
            self._folder_of(path)
            contents = Contents()
            self._unnamed.append(contents)
            return SimulatedFile(self, path, contents)

    def list(self, folder: Path) -> Names:
        with self._power():
            if folder not in self._folders:
                if folder.name in self._folder_of(folder).now:
                    raise os_error(errno.ENOTDIR, folder)
                return []
            below = {path.name for path in self._folders if path.parent == folder and path != folder}
            return sorted({*self._folders[folder].now, *below})

    def make_folder(self, path: Path) -> None:
        for folder in (*reversed(path.parents), path):
            with self._power():
                if folder in self._folders:
                    continue
                if folder.name in self._folder_of(folder).now:
                    raise os_error(errno.EEXIST, folder)
            with self._event("make_folder", folder):
                self._folders[folder] = Folder()

    def rename(self, old: Path, new: Path) -> None:
        assert old.parent == new.parent, "one folder, so that one sync makes it durable"
        with self._power():
            contents = self._named(old)
            if new in self._folders:
                raise os_error(errno.EISDIR, new)
        with self._event("rename", new):
            self._folder_of(old).name(contents, new.name)

    def remove(self, path: Path) -> None:
        with self._power():
            contents = self._named(path)
        with self._event("remove", path):
            self._folder_of(path).name(contents, None)

    def sync_folder(self, path: Path) -> None:
        with self._power():
            folder = self._folders.get(path)
            if folder is None:
                raise os_error(errno.ENOENT, path)
        with self._event("sync_folder", path, lambda _: folder.fail_to_sync()):
            if not self._is_ignored(path):
                folder.sync()

    def sync_files(self, paths: Iterable[Path]) -> None:
        # They are real, and what happens to them is not of this disk.
        with self._power():
            list(paths)

    # What the files share

    @contextmanager
    def _event(self, kind: str, path: Path, fail: Callable[[Random], None] | None = None) -> Iterator[None]:
        """Count an event and let it meet what is planned for it. fail: what a failure leaves
        after.
        """
        with self._power():
            self.trace.append(Event(kind, path))
            failure, code = self._planned(kind)
            if failure is Failure.POWER_LOSS_BEFORE:
                self._lose_power()
            if failure in (Failure.ONCE, Failure.FROM_THEN_ON):
                if fail is not None:
                    fail(Random(f"{self.seed} {self.events} failure"))
                raise os_error(code, path)
            yield
            if failure is Failure.POWER_LOSS_AFTER:
                self._lose_power()

    @contextmanager
    def _power(self) -> Iterator[None]:
        """Hold the lock while the machine is on."""
        with self._lock:
            if self._is_off:
                raise PowerLossError("the power is off")
            yield

    def _lose_power(self) -> None:
        self._is_off = True
        if self.on_power_loss is not None:
            self.on_power_loss()
        raise PowerLossError(f"the power goes off at event {self.events}, {self.trace[-1]}")

    def _planned(self, kind: str) -> tuple[Failure | None, int]:
        """Return what happens to the present event."""
        for number, (failure, code) in self._failures.items():
            begins = number == self.events or (failure is Failure.FROM_THEN_ON and number < self.events)
            refuses = code not in (errno.ENOSPC, errno.EDQUOT) or kind in TAKE_ROOM
            if begins and (refuses or failure not in (Failure.ONCE, Failure.FROM_THEN_ON)):
                return failure, code
        return None, 0

    def _room(self) -> int:
        """Return how many bytes the files may still grow."""
        if self.bytes_max is None:
            return 1 << 62
        named = [contents for folder in self._folders.values() for contents in folder.now.values()]
        held = {id(contents): len(contents.now) for contents in (*named, *self._unnamed)}
        return max(self.bytes_max - sum(held.values()), 0)

    def _fail_to_create(self, path: Path, size: int) -> None:
        """Do what a creation does that runs out of room: it begins, and removes the file again."""
        folder = self._folder_of(path)
        contents = folder.now.get(path.name) or Contents()
        contents.change(Truncation(0))
        contents.change(Write(0, bytes(size)))
        folder.name(contents, path.name)
        folder.name(contents, None)

    def _is_ignored(self, path: Path) -> bool:
        return any(matches(path) for matches in self._ignored)

    def _folder_of(self, path: Path) -> Folder:
        folder = self._folders.get(path.parent)
        if folder is None:
            raise os_error(errno.ENOENT, path)
        return folder

    def _named(self, path: Path) -> Contents:
        if path in self._folders:
            raise os_error(errno.EISDIR, path)
        contents = self._folder_of(path).now.get(path.name)
        if contents is None:
            raise os_error(errno.ENOENT, path)
        return contents


class SimulatedFile:
    """An open file of a SimulatedStorage. Its path is that of its opening, also when it was renamed
    since.
    """

    def __init__(self, storage: SimulatedStorage, path: Path, contents: Contents) -> None:
        self._storage = storage
        self._path = path
        self._contents = contents
        self._is_open = True
        # The page that is written next, and where it is.

    @property
    def size(self) -> int:
        with self._storage._power():
            self._require_open()
            return len(self._contents.now)

    def write(self, position: int, data: Bytes) -> None:
        self._require_open()
        data = bytes(memoryview(data).cast("B")) if memoryview(data).nbytes else b""
        if not data:
            return

        def begin(chance: Random) -> None:
            self._contents.change(Write(position, data[: chance.randrange(len(data))]))

        with self._storage._event("write", self._path, begin):
            room = self._storage._room() + len(self._contents.now) - position
            if len(data) > room:
                self._contents.change(Write(position, data[: max(room, 0)]))
                raise os_error(errno.ENOSPC, self._path)
            self._contents.change(Write(position, data))

    def write_pieces(self, position: int, pieces: Sequence[Bytes]) -> None:
        self.write(position, b"".join(pieces))

    def write_durably(self, position: int, data: Bytes) -> None:
        self.write(position, data)
        self.sync()

    def read(self, position: int, size: int) -> bytes:
        with self._storage._power():
            self._require_open()
            return bytes(self._contents.now[position : position + size])

    def sync(self) -> None:
        self._require_open()
        with self._storage._event("sync", self._path, lambda _: self._contents.fail_to_sync()):
            if not self._storage._is_ignored(self._path):
                self._contents.sync()

    def truncate(self, size: int) -> None:
        self._require_open()
        with self._storage._event("truncate", self._path):
            if size - len(self._contents.now) > self._storage._room():
                raise os_error(errno.ENOSPC, self._path)
            self._contents.change(Truncation(size))

    def close(self) -> None:
        self._is_open = False
        self._storage._unnamed = [one for one in self._storage._unnamed if one is not self._contents]

    def _require_open(self) -> None:
        if not self._is_open:
            raise os_error(errno.EBADF, self._path)


def os_error(code: int, path: Path) -> OSError:
    """Return what the system would raise; its class follows from the code."""
    return OSError(code, os.strerror(code), str(path))
