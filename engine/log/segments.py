"""The files of the log: preallocated segments that hold records, and reading them up to a torn
tail.

Enters: positions (bytes of the endless log) and bytes. Leaves: verified records, in order. A
segment begins with a page that has the number and position of its first record; a record lies in
one segment. Page and name of a segment are durable before its first record is written, and so are
all segments before it, so that only the end of the last segment can be torn. A record that does not
verify is the tail, unless a record after it says that the log was durable up to there. What was
given up on purpose (`antumbra recover`) is a file <first record>.skipped that says where the log
goes on. Must not know transactions.
"""

from __future__ import annotations

import itertools
import logging
import math
import struct
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.log.records import Bytes, Record, later_records, record_at
from engine.storage.storage import Storage, StoredFile
from ringbuffer.pages.log_rows import ALIGNMENT

log = logging.getLogger(__name__)

SUFFIX = ".log"
SPARE_NAME = "next.tmp"
SKIPPED_SUFFIX = ".skipped"
PAGE_BYTES = 4096
FORMAT_VERSION = 1
# Magic, format version, checksum of what follows, sequence number of the first record, its
# position.
PAGE = struct.Struct("<8sIIQQ")
PAGE_MAGIC = b"ANTUMLOG"
PAGE_CHECKED = struct.Struct("<QQ")
FIRST_SEQUENCE = 1
# A file of a gap: magic, checksum of the rest, the first record that was given up, the first record
# after it.
GAP = struct.Struct("<8sIQQ")
GAP_MAGIC = b"ANTUMGAP"
# A segment that is filled faster is filled by much at once.
FAST_BYTES_PER_S = 32 << 20
# Numbers of records, and bytes, that are skipped after a gap at the end of the log: more than a
# segment can have.
GIVEN_UP = 1 << 40


class CorruptLogError(Exception):
    """A part of the log that had been synced can't be read; the text tells a person the way out.

    Attributes:
        file, offset: where the damage is.
    """

    def __init__(self, file: Path, offset: int, reason: str) -> None:
        super().__init__(
            f"the log is corrupt in {file} at offset {offset}: {reason}; restore the file, or give up what it holds with "
            f"antumbra recover --data-dir {file.parent.parent} --skip-segment {file.name}"
        )
        self.file = file
        self.offset = offset
        self.reason = reason


@dataclass
class Segment:
    """A file of the log.

    Attributes:
        first: the sequence number of its first record.
        position: where that record begins in the log.
        size: of the file.
    """

    path: Path
    first: int
    position: int
    size: int

    @property
    def room(self) -> int:
        """Bytes for records in the file."""
        return self.size - PAGE_BYTES

    def offset(self, position: int) -> int:
        """Return where a position of the log lies in the file."""
        return PAGE_BYTES + position - self.position

    def place(self, offset: int) -> int:
        """Return the position of the log that lies at an offset of the file."""
        return self.position + offset - PAGE_BYTES


@dataclass(frozen=True)
class Gap:
    """Records that were given up.

    Attributes:
        first: the first of them.
        next_first: the first record after them, with which the next segment begins.
    """

    first: int
    next_first: int


def gap_bytes(gap: Gap) -> bytes:
    """Return the contents of the file of a gap."""
    content = PAGE_CHECKED.pack(gap.first, gap.next_first)
    return GAP.pack(GAP_MAGIC, zlib.crc32(content), gap.first, gap.next_first)


def read_gap(storage: Storage, path: Path) -> Gap:
    """Return the gap that a file describes. Raises CorruptLogError, OSError."""
    with closing(storage.open(path)) as file:
        content = file.read(0, GAP.size)
    if len(content) == GAP.size:
        magic, checksum, first, next_first = GAP.unpack(content)
        if magic == GAP_MAGIC and checksum == zlib.crc32(PAGE_CHECKED.pack(first, next_first)):
            return Gap(first, next_first)
    raise CorruptLogError(path, 0, "it does not say which records were given up")


def load_segment(storage: Storage, path: Path) -> tuple[Segment, memoryview]:
    """Return a segment and all of its bytes. Raises CorruptLogError, OSError.

    The page of a segment was durable before the segment got its name.
    """
    with closing(storage.open(path)) as file:
        try:
            data = memoryview(file.read(0, file.size))
        except OSError as error:
            raise CorruptLogError(path, 0, f"it can't be read: {error.strerror}") from error
    if len(data) < PAGE_BYTES:
        raise CorruptLogError(path, len(data), "its first page is not whole")
    magic, version, checksum, first, position = PAGE.unpack_from(data, 0)
    if magic != PAGE_MAGIC or checksum != zlib.crc32(PAGE_CHECKED.pack(first, position)):
        raise CorruptLogError(path, 0, "its first page does not verify")
    if version != FORMAT_VERSION:
        raise CorruptLogError(path, 0, f"it has format {version}, but this server reads format {FORMAT_VERSION}")
    if first != number_of(path.name):
        raise CorruptLogError(path, 0, f"it says that it begins with record {first}")
    return Segment(path, first, position, len(data)), data


def parts_of(names: list[str]) -> list[tuple[int, str]]:
    """Return the segments and gaps among the files of a folder, in order, each with its first
    record.

    A gap takes the place of a segment.
    """
    found = {number_of(name): name for name in names if name.endswith(SUFFIX)}
    found.update({number_of(name): name for name in names if name.endswith(SKIPPED_SUFFIX)})
    return sorted(found.items())


def is_blank(data: memoryview, offset: int) -> bool:
    """Tell whether the rest of a segment was never written."""
    return not np.any(np.frombuffer(data[offset:], dtype=np.uint8))


def number_of(name: str) -> int:
    """Return the number of a segment's first record, which the name of the segment tells."""
    return int(name.partition(".")[0], 16)


def segment_path(folder: Path, first: int) -> Path:
    """Return the path of the segment that begins with the record `first`."""
    return folder / f"{first:016x}{SUFFIX}"


class Segments:
    """The segments in one folder.

    `read`, to its end, finds the position at which `write`, `sync` and `roll` go on.

    Attributes:
        position, sequence: of the next record.
    """

    def __init__(self, storage: Storage, folder: Path, segment_bytes: int) -> None:
        self.folder = folder
        self.position = 0
        self.sequence = FIRST_SEQUENCE
        self._storage = storage
        self._segment_bytes = segment_bytes
        self._kept: list[Segment] = []
        self._file: StoredFile | None = None
        self._spare: tuple[Segment, StoredFile] | None = None
        self._preparing = threading.Lock()
        self._begun_s = -math.inf
        # Segments that lie before what was read, and the last records that were read: they may not
        # have reached the disk.
        self._earlier: list[Path] = []
        self._unsure: tuple[int, Bytes] = (0, b"")

    # Reading, at the start.

    def read(self, position: int, sequence: int) -> Iterator[Record]:
        """Yield the records from `position` on, and cut off a torn tail.

        Raises CorruptLogError, OSError.

        sequence: number of the first of these records.
        """
        self._storage.make_folder(self.folder)
        self.position, self.sequence = position, sequence
        names = self._storage.list(self.folder)
        if SPARE_NAME in names:
            self._storage.remove(self.folder / SPARE_NAME)
        found = parts_of(names)
        earlier = sum(first <= sequence for first, _ in found[1:])
        self._earlier = [self.folder / name for _, name in found[:earlier]]
        gap: Gap | None = None
        for (first, name), (following, _) in itertools.pairwise([*found[earlier:], (None, "")]):
            assert first is not None
            if first > self.sequence and (gap is None or gap.next_first != first):
                missing = segment_path(self.folder, self.sequence)
                raise CorruptLogError(missing, 0, f"there is no such file, and the next one begins with record {first}")
            if name.endswith(SKIPPED_SUFFIX):
                gap = read_gap(self._storage, self.folder / name)
                continue
            segment, data = load_segment(self._storage, self.folder / name)
            if first > self.sequence:
                log.warning("records %d to %d of the log were given up, and are skipped", self.sequence, first - 1)
            if first >= self.sequence:
                self.position, self.sequence = segment.position, first
            gap = None
            self._kept.append(segment)
            yield from self._records(segment, data, following)
        if gap is not None and self.sequence < gap.next_first:
            if gap.next_first != gap.first + GIVEN_UP:
                raise CorruptLogError(segment_path(self.folder, gap.next_first), 0, "there is no such file")
            # How far the log reached is not known. What comes now must not look like a part of what
            # was given up.
            self.sequence = gap.next_first
            self.position += GIVEN_UP

    def first_logged(self) -> int | None:
        """Return the number of the first record of the first segment, skipped or not.

        None without any.

        Raises OSError.
        """
        return min((first for first, _ in parts_of(self._storage.list(self.folder))), default=None)

    def _records(self, segment: Segment, data: memoryview, following: int | None) -> Iterator[Record]:
        """Yield the records of one segment that are due.

        Records that a checkpoint has are not checked: damage there does no harm. following: number
        of the first record of the next segment, None at the end.
        """
        offset, durable = segment.offset(self.position), self.position
        while (record := record_at(data, offset, self.position)) is not None and record.sequence == self.sequence:
            self.position, self.sequence = record.end, record.sequence + 1
            durable = max(durable, record.durable)
            yield record
            offset = segment.offset(self.position)
        if following == self.sequence:
            return
        if following is not None and is_blank(data, offset):
            missing = segment_path(self.folder, self.sequence)
            raise CorruptLogError(missing, 0, f"there is no such file, and the next one begins with record {following}")
        if following is not None:
            raise CorruptLogError(segment.path, offset, f"record {self.sequence} does not verify")
        self._unsure = (durable, data[segment.offset(durable) : offset])
        later = [one for one in later_records(data, offset, self.position) if one.sequence > self.sequence]
        if any(one.durable > self.position for one in later):
            raise CorruptLogError(
                segment.path, offset, f"record {self.sequence} does not verify, though it was durable"
            )
        if not is_blank(data, offset):
            log.warning(
                "the log ends with a record that is not whole, which is cut off: %s, offset %d", segment.path, offset
            )
            with closing(self._storage.open(segment.path)) as file:
                file.write(offset, bytes(len(data) - offset))
                file.sync()

    # Writing.

    def open(self) -> None:
        """Prepare the last segment, or a new one, for writing, and make durable what was read.

        The server that wrote it may have died before or because of a failed sync, after which a
        later sync reports nothing. So the bytes are written, and the file named, again. Raises
        OSError.
        """
        last = self._kept[-1] if self._kept else None
        if last is not None and last.position == self.position:
            self._kept.pop()
            self._storage.rename(last.path, self.folder / SPARE_NAME)
            self._spare = (last, self._storage.open(self.folder / SPARE_NAME))
        if last is not None and last.position < self.position <= last.position + last.room:
            self._file = self._storage.open(last.path)
            self.write(*self._unsure)
            self.sync()
            self._storage.sync_folder(self.folder)
        else:
            self.roll(0)
        self._unsure = (0, b"")

    @property
    def room(self) -> int:
        """Bytes that the present segment has for records from `position` on."""
        segment = self._kept[-1]
        return segment.position + segment.room - self.position

    @property
    def bytes_count(self) -> int:
        """Bytes of records in all segments of the folder."""
        return self.position - self._kept[0].position if self._kept else 0

    def take(self, size: int) -> int:
        """Advance the next position by a record of `size` bytes with its padding, for which there
        is room.
        """
        position = self.position
        self.position += size
        self.sequence += 1
        return position

    def write(self, position: int, data: Bytes) -> None:
        """Write records of the present segment at their position. Raises OSError."""
        assert self._file is not None, "the log is not open"
        self._file.write(self._kept[-1].offset(position), data)

    def write_pieces(self, position: int, pieces: Sequence[Bytes]) -> None:
        """Write records, given in pieces, as `write` does."""
        assert self._file is not None, "the log is not open"
        self._file.write_pieces(self._kept[-1].offset(position), pieces)

    def write_durably(self, position: int, data: Bytes) -> None:
        """Write records right after what is durable, and make them durable; see StoredFile.

        Raises OSError.
        """
        assert self._file is not None, "the log is not open"
        self._file.write_durably(self._kept[-1].offset(position), data)

    def sync(self) -> None:
        """Make durable what was written. Raises OSError."""
        assert self._file is not None, "the log is not open"
        self._file.sync()

    def prepare(self, size: int = 0) -> None:
        """Make the file of the next segment ahead of time, with room for `size` bytes.

        Any thread may call while others write. Raises OSError, and leaves no file then.
        """
        with self._preparing:
            self._prepare(size)

    def _prepare(self, size: int) -> None:
        if self._spare is not None and self._spare[0].room >= size:
            return
        self._drop_spare()
        # A file of this name is emptied.
        whole = max(self._segment_bytes, PAGE_BYTES + size + ALIGNMENT)
        path = self.folder / SPARE_NAME
        file = self._storage.create(path, whole, for_little=not self._fills_fast())
        self._spare = (Segment(path, 0, 0, whole), file)

    def _fills_fast(self) -> bool:
        """Tell whether the present segment was filled so fast that the next one will be, too."""
        if not self._kept:
            return False
        filled = self.position - self._kept[-1].position
        return filled > FAST_BYTES_PER_S * (time.monotonic() - self._begun_s)

    def roll(self, size: int) -> None:
        """Go on in a new segment with room for `size` bytes, after all is written and synced.

        Raises OSError.
        """
        with self._preparing:
            self._prepare(size)
            self._take_spare()

    def _take_spare(self) -> None:
        assert self._spare is not None
        spare, file = self._spare
        path = segment_path(self.folder, self.sequence)
        page = PAGE_CHECKED.pack(self.sequence, self.position)
        file.write(0, PAGE.pack(PAGE_MAGIC, FORMAT_VERSION, zlib.crc32(page), self.sequence, self.position))
        file.sync()
        self._storage.rename(self.folder / SPARE_NAME, path)
        self._spare = None
        self._storage.sync_folder(self.folder)
        if self._file is not None:
            self._file.close()
        self._file = file
        self._kept.append(Segment(path, self.sequence, self.position, spare.size))
        self._begun_s = time.monotonic()

    def remove_before(self, position: int) -> None:
        """Remove the segments that end before `position`, but not the present one.

        Raises OSError.
        """
        while self._earlier or (len(self._kept) > 1 and self._kept[1].position <= position):
            self._storage.remove(self._earlier[0] if self._earlier else self._kept[0].path)
            (self._earlier or self._kept).pop(0)
            self._storage.sync_folder(self.folder)

    def close(self) -> None:
        """Close the files."""
        if self._spare is not None:
            self._drop_spare()
            try:
                self._storage.remove(self.folder / SPARE_NAME)
            except OSError as error:
                log.warning("a segment that is not needed can't be removed; the next start will: %s", error)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _drop_spare(self) -> None:
        if self._spare is not None:
            _, file = self._spare
            self._spare = None
            file.close()
