"""Checkpoint files: the states of all views and the newest tuples of all streams at one position.

A start reads the log from that position on. Enters: a header and pages. Leaves: a file <position,
16 hex digits>.pages that is whole or not there, and the newest one read back. The file is PREFIX
(magic, format, CRC-32 of the header, size of the header), the header as JSON, and
ringbuffer.pages.pages. The file gets its name after it is synced, and older files are removed after
the name is synced. Must not know what the pages hold: engine.log.checkpoint_contents does.
"""

from __future__ import annotations

import json
import logging
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.storage.storage import TEMPORARY_SUFFIX, Storage, StoredFile, replacing
from ringbuffer.pages.log_rows import ROW_FORM
from ringbuffer.pages.pages import PAGES_FORM, DamagedPagesError, Page, read_pages, write_pages
from sql.errors import SqlError

log = logging.getLogger(__name__)

SUFFIX = ".pages"
MAGIC = b"ANTUMCKP"
FORMAT_VERSION = 1
PREFIX = struct.Struct("<8sIII")
HEADER_BYTES_MAX = 256 << 20
# Smaller pieces are written together.
JOINED_BYTES = 1 << 18
# So much is synced at a time: one sync of all would hold up those of the log.
SYNCED_BYTES = 16 << 20

DAMAGED = "XX001"
OTHER_VERSION = "0A000"


@dataclass(frozen=True)
class CheckpointedView:
    """A view in the header of a checkpoint.

    Attributes:
        oid: of its state.
        committed: how many statements it had seen.
        fingerprint: of the words of its state, see ViewState.
        attached: true if it took rows then.
    """

    oid: int
    committed: int
    versions_count: int
    fingerprint: str
    attached: bool = True


@dataclass(frozen=True)
class CheckpointedStream:
    """A stream in the header of a checkpoint.

    Attributes:
        tuples_count: how many tuples were published until then.
        columns: the physical types of its columns.
    """

    oid: int
    tuples_count: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Checkpoint:
    """The header of a checkpoint.

    The pages have all that was decided before `position`, and nothing that was decided later.

    Attributes:
        sequence: number of the record at `position`.
        read_position, read_sequence: where a start begins to read the log: at the first record of a
            transaction that was undecided at `position`.
        next_transaction: number of the next transaction.
        next_oid: next oid of the catalog.
        time_us: when the checkpoint was made, not before any time in it.
        batches: the last batch of each producer as hexadecimal digits, and its time.
    """

    position: int
    sequence: int
    read_position: int
    read_sequence: int
    next_transaction: int
    next_oid: int
    time_us: int = 0
    views: tuple[CheckpointedView, ...] = ()
    streams: tuple[CheckpointedStream, ...] = ()
    batches: tuple[tuple[str, int], ...] = ()


class DamagedCheckpointError(Exception):
    """A checkpoint can't be read back; the text says why."""


def checkpoint_path(folder: Path, position: int) -> Path:
    """Return the path of the checkpoint at `position`."""
    return folder / f"{position:016x}{SUFFIX}"


def write_checkpoint(storage: Storage, folder: Path, checkpoint: Checkpoint, pages: Iterable[Page]) -> int:
    """Make a checkpoint durable, remove older ones, and return its size in bytes.

    Raises OSError and what `pages` raises; the folder is as before then.
    """
    storage.make_folder(folder)
    path = checkpoint_path(folder, checkpoint.position)
    with replacing(storage, path) as file:
        output = Output(file)
        output.write(header_bytes(checkpoint))
        write_pages(output.write, pages)
        output.write_out()
    storage.sync_folder(folder)
    ending = (SUFFIX, SUFFIX + TEMPORARY_SUFFIX)
    remove(storage, folder, [name for name in storage.list(folder) if name != path.name and name.endswith(ending)])
    return output.position


def remove(storage: Storage, folder: Path, names: Iterable[str]) -> None:
    """Remove files that are not needed any more.

    A file that can't be removed only wastes room.
    """
    for name in names:
        try:
            storage.remove(folder / name)
        except OSError as error:
            log.warning("an old checkpoint can't be removed: %s: %s", folder / name, error.strerror)


class Output:
    """A file that is written from the beginning to the end. position: bytes so far."""

    def __init__(self, file: StoredFile) -> None:
        self.position = 0
        self._file = file
        self._joined = bytearray()
        self._synced = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append `data`. Raises OSError."""
        self._joined += data
        if len(self._joined) >= JOINED_BYTES:
            self.write_out()

    def write_out(self) -> None:
        """Write what was joined."""
        self._file.write(self.position, self._joined)
        self.position += len(self._joined)
        self._joined = bytearray()
        if self.position - self._synced >= SYNCED_BYTES:
            self._file.sync()
            self._synced = self.position


def header_bytes(checkpoint: Checkpoint) -> bytes:
    """Return the bytes with which the file of a checkpoint begins."""
    told = {"forms": {"pages": PAGES_FORM, "rows": ROW_FORM}, **asdict(checkpoint)}
    content = json.dumps(told).encode()
    return PREFIX.pack(MAGIC, FORMAT_VERSION, zlib.crc32(content), len(content)) + content


def restore_newest(
    storage: Storage,
    folder: Path,
    first_logged: int | None,
    restore: Callable[[Checkpoint, Iterator[Page]], None],
) -> Checkpoint | None:
    """Call `restore` with the newest checkpoint, and return its header.

    None when there is no checkpoint.

    first_logged: the first record that the log has, None when it has none. After a damaged
    checkpoint, `restore` is called again with the one before, if the log reaches back to it;
    `restore` has to begin anew then. Raises SqlError XX001 that names the damaged file, 0A000 for a
    file of another version, and OSError.
    """
    names = storage.list(folder)
    remove(storage, folder, [name for name in names if name.endswith(SUFFIX + TEMPORARY_SUFFIX)])
    damages: list[str] = []
    for name in sorted((name for name in names if name.endswith(SUFFIX)), reverse=True):
        path = folder / name
        try:
            return restore_one(storage, path, first_logged, restore, is_newest=not damages)
        except (DamagedCheckpointError, DamagedPagesError) as error:
            log.warning("the checkpoint %s is damaged: %s", path, error)
            damages.append(f"{path}: {error}")
    if not damages:
        if first_logged is not None and first_logged > 1:
            raise SqlError(
                DAMAGED,
                f"there is no checkpoint in {folder}, but the log begins only with record {first_logged}",
                hint="Put the files of the checkpoints folder back.",
            )
        return None
    raise SqlError(
        DAMAGED,
        f"the newest checkpoint is damaged, and there is no older one from which the log could be read: {'; '.join(damages)}",
        hint="Put back the data directory as it was saved last.",
    )


def restore_one(
    storage: Storage,
    path: Path,
    first_logged: int | None,
    restore: Callable[[Checkpoint, Iterator[Page]], None],
    is_newest: bool,
) -> Checkpoint:
    """Call `restore` with one file.

    Raises DamagedCheckpointError, DamagedPagesError, SqlError, OSError.
    """
    with closing(storage.open(path)) as file:
        source = Source(file)
        checkpoint = read_header(source, path)
        if first_logged is None and not is_newest:
            raise DamagedCheckpointError("it is older than the damaged one, and there is no log")
        if first_logged is not None and checkpoint.read_sequence < first_logged:
            raise DamagedCheckpointError(
                f"it needs the log from record {checkpoint.read_sequence} on, which begins only with {first_logged}"
            )
        restore(checkpoint, read_pages(source.read))
    return checkpoint


def newest_header(storage: Storage, folder: Path) -> tuple[Path, Checkpoint] | None:
    """Return the newest header that can be read, without a look at the pages.

    Raises SqlError 0A000, OSError.
    """
    for name in reversed(storage.list(folder)):
        if name.endswith(SUFFIX):
            with closing(storage.open(folder / name)) as file:
                try:
                    return folder / name, read_header(Source(file), folder / name)
                except DamagedCheckpointError as error:
                    log.warning("the checkpoint %s is damaged: %s", folder / name, error)
    return None


class Source:
    """A file that is read from the beginning to the end."""

    def __init__(self, file: StoredFile) -> None:
        self._file = file
        self._position = 0

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end. Raises OSError."""
        data = self._file.read(self._position, size)
        self._position += len(data)
        return data


def read_header(source: Source, path: Path) -> Checkpoint:
    """Return the header of a file.

    Raises DamagedCheckpointError, and SqlError 0A000 for a file of another version.
    """
    prefix = source.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        raise DamagedCheckpointError("it ends within its first bytes")
    magic, version, checksum, size = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise DamagedCheckpointError("it is no checkpoint")
    if version != FORMAT_VERSION:
        raise of_other_version(path, f"it has format {version}, this server reads format {FORMAT_VERSION}")
    if size > HEADER_BYTES_MAX:
        raise DamagedCheckpointError("its header does not have its checksum")
    content = source.read(size)
    if len(content) != size or zlib.crc32(content) != checksum:
        raise DamagedCheckpointError("its header does not have its checksum")
    told = json.loads(content)
    forms = told.pop("forms")
    if forms != {"pages": PAGES_FORM, "rows": ROW_FORM}:
        raise of_other_version(path, f"it has pages and rows of the forms {forms}")
    views = tuple(CheckpointedView(**view) for view in told.pop("views"))
    streams = tuple(
        CheckpointedStream(stream["oid"], stream["tuples_count"], tuple(stream["columns"]))
        for stream in told.pop("streams")
    )
    batches = tuple((text, time_us) for text, time_us in told.pop("batches", ()))
    return Checkpoint(**told, views=views, streams=streams, batches=batches)


def of_other_version(path: Path, reason: str) -> SqlError:
    """Return the error for a file that another version of the software has written."""
    return SqlError(
        OTHER_VERSION,
        f"the checkpoint {path} was written by another version of Antumbra: {reason}",
        hint="Start the version that wrote it.",
    )
