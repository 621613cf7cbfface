"""Checkpoint files on a disk that fails, and read back when they are damaged, too old or of another
version.
"""

from __future__ import annotations

import errno
import itertools
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.log.batches import Batch
from engine.log.checkpoint import (
    JOINED_BYTES,
    PREFIX,
    Checkpoint,
    CheckpointedStream,
    CheckpointedView,
    checkpoint_path,
    restore_newest,
    write_checkpoint,
)
from engine.storage.storage import DiskStorage, Storage
from ringbuffer.pages.pages import Page
from sql.errors import SqlError
from tests.faults.simulated_storage import Failure, PowerLossError, SimulatedStorage

FOLDER = Path("/data/checkpoints")
VIEWS = (CheckpointedView(16390, 7, 3, "0123"), CheckpointedView(16391, 0, 0, "4567"))
STREAMS = (CheckpointedStream(16384, 12, ("INT64", "NUMERIC(12,2)")),)
BATCHES = ((Batch(10, "ä:1", 7, bytes(range(16))).to_bytes().hex(), 1_600_000_000_000_000),)


def header(position: int) -> Checkpoint:
    return Checkpoint(
        position,
        position // 10,
        position - 8,
        position // 10 - 1,
        5,
        16392,
        1_700_000_000_000_000,
        VIEWS,
        STREAMS,
        BATCHES,
    )


def pages(position: int) -> list[Page]:
    """Return two pages that tell the position."""
    return [Page("a", np.full(50, position)), Page("b", np.arange(position, dtype=np.uint8))]


def write(storage: Storage, folder: Path, position: int) -> int:
    return write_checkpoint(storage, folder, header(position), pages(position))


class Restored:
    """Contents that `restore_newest` hands over; several times if the first ones are damaged."""

    def __init__(self) -> None:
        self.tried: list[int] = []
        self.pages: list[Page] = []

    def __call__(self, checkpoint: Checkpoint, found: Iterator[Page]) -> None:
        self.tried.append(checkpoint.position)
        self.pages = []
        self.pages.extend(found)


def newest(storage: Storage, folder: Path = FOLDER, first_logged: int | None = 1) -> int | None:
    """Return the position of the newest checkpoint after checking all of it."""
    restored = Restored()
    found = restore_newest(storage, folder, first_logged, restored)
    if found is None:
        return None
    assert found == header(found.position)
    for page, wanted in zip(restored.pages, pages(found.position), strict=True):
        assert page.name == wanted.name
        assert page.array.tolist() == wanted.array.tolist()
    return found.position


def test_on_a_real_disk(tmp_path: Path) -> None:
    storage, folder = DiskStorage(), tmp_path / "checkpoints"
    assert newest(storage, folder) is None
    sizes = [write(storage, folder, position) for position in (40, 300, 80)]
    assert newest(storage, folder) == 80, "what was written last, not what lies furthest"
    (file,) = folder.iterdir()
    assert (file.name, file.stat().st_size, file.stat().st_mode & 0o777) == ("0000000000000050.pages", sizes[-1], 0o600)


def test_large_contents_are_synced_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.log.checkpoint.SYNCED_BYTES", 4 * JOINED_BYTES)
    storage = SimulatedStorage(1)
    content = np.arange(2 * JOINED_BYTES, dtype=np.int64)
    write_checkpoint(storage, FOLDER, header(20), [Page("a", content)])
    kinds = [event.kind for event in storage.trace if event.path.suffix == ".tmp"]
    assert (kinds.count("sync"), kinds.count("write")) == (5, 17)
    restored = Restored()
    restore_newest(storage.crash(), FOLDER, 1, restored)
    assert (restored.pages[0].array == content).all()


@pytest.mark.parametrize("failure", [Failure.POWER_LOSS_BEFORE, Failure.POWER_LOSS_AFTER])
def test_a_power_loss_at_any_event(failure: Failure) -> None:
    outcomes = set()
    for number in itertools.count(1):
        storage = SimulatedStorage(number)
        write(storage, FOLDER, 40)
        storage.fail_at(storage.events + number, failure)
        answered = False
        try:
            write(storage, FOLDER, 80)
            answered = True
        except PowerLossError:
            pass
        for seed in range(20):
            after = storage.crash(seed)
            found = newest(after)
            assert found == 80 or (found == 40 and not answered), (number, seed)
            write(after, FOLDER, 90)
            assert newest(after.crash()) == 90
            outcomes.add(found)
        if answered:
            assert number > 5
            break
    assert outcomes == {40, 80}


@pytest.mark.parametrize("failure", [Failure.ONCE, Failure.FROM_THEN_ON])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_a_failure_at_any_event(failure: Failure, code: int) -> None:
    refusals = 0
    for number in itertools.count(1):
        storage = SimulatedStorage(number)
        write(storage, FOLDER, 40)
        first = storage.events + number
        storage.fail_at(first, failure, code)
        answered = False
        try:
            write(storage, FOLDER, 80)
            answered = True
        except OSError as error:
            assert error.errno == code
            refusals += 1
        if answered and storage.events < first:
            break
        if failure is Failure.ONCE:
            assert newest(storage) in (40, 80)
            write(storage, FOLDER, 90)
            assert list(storage.list(FOLDER)) == [checkpoint_path(FOLDER, 90).name]
            assert newest(storage.crash()) == 90
        else:
            assert newest(storage.crash()) in ((80,) if answered else (40, 80))
    assert refusals >= 3


def mutated(matches: Callable[[Path], bool]) -> bool:
    """Tell whether a power loss after a checkpoint does harm when the syncs of some paths do
    nothing.
    """
    for seed in range(200):
        storage = SimulatedStorage(seed)
        write(storage, FOLDER, 40)
        storage.ignore_sync(matches)
        write(storage, FOLDER, 80)
        try:
            if newest(storage.crash()) != 80:
                return True
        except SqlError:
            return True
    return False


def test_each_sync_is_needed() -> None:
    assert not mutated(lambda path: False)
    assert mutated(lambda path: path.suffix == ".tmp")
    assert mutated(lambda path: path == FOLDER)


def test_what_the_pages_raise_leaves_no_file() -> None:
    def failing() -> Iterator[Page]:
        yield pages(80)[0]
        raise SqlError("57014", "canceled")

    storage = SimulatedStorage(1)
    write(storage, FOLDER, 40)
    with pytest.raises(SqlError):
        write_checkpoint(storage, FOLDER, header(80), failing())
    assert storage.list(FOLDER) == [checkpoint_path(FOLDER, 40).name]


def two_checkpoints(folder: Path) -> Path:
    """Write two checkpoints, as a crash before the removal of the older one leaves them, and return
    the path of the newer one.
    """
    storage = DiskStorage()
    write(storage, folder, 40)
    older = checkpoint_path(folder, 40).read_bytes()
    write(storage, folder, 80)
    checkpoint_path(folder, 40).write_bytes(older)
    return checkpoint_path(folder, 80)


def test_a_damaged_one_gives_way_to_the_older_one_if_the_log_reaches_back(tmp_path: Path) -> None:
    path = two_checkpoints(tmp_path)
    whole = path.read_bytes()
    # Its prefix says where it begins, so a wrong version there is another matter.
    for place in [0, *range(12, len(whole), 7), len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        assert newest(DiskStorage(), tmp_path, 3) == 40
    for size in (0, 3, PREFIX.size, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert newest(DiskStorage(), tmp_path, 3) == 40
    for first_logged in (4, None):
        with pytest.raises(SqlError) as raised:
            newest(DiskStorage(), tmp_path, first_logged)
        assert raised.value.sqlstate == "XX001"
        assert str(path) in raised.value.message
        assert str(checkpoint_path(tmp_path, 40)) in raised.value.message
    path.write_bytes(whole)
    assert newest(DiskStorage(), tmp_path, 7) == 80
    assert newest(DiskStorage(), tmp_path, None) == 80
    with pytest.raises(SqlError, match="needs the log from record 7 on, which begins only with 8"):
        newest(DiskStorage(), tmp_path, 8)


def test_the_only_one_is_damaged(tmp_path: Path) -> None:
    write(DiskStorage(), tmp_path, 40)
    path = checkpoint_path(tmp_path, 40)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SqlError, match="no older one") as raised:
        newest(DiskStorage(), tmp_path)
    assert (raised.value.sqlstate, str(path) in raised.value.message) == ("XX001", True)


def test_a_restorer_that_finds_damage_is_asked_again(tmp_path: Path) -> None:
    path = two_checkpoints(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    restored = Restored()
    assert restore_newest(DiskStorage(), tmp_path, 1, restored) == header(40)
    assert restored.tried == [80, 40]


def test_none_at_all(tmp_path: Path) -> None:
    assert newest(DiskStorage(), tmp_path, None) is None
    assert newest(DiskStorage(), tmp_path, 1) is None
    with pytest.raises(SqlError, match="begins only with record 2") as raised:
        newest(DiskStorage(), tmp_path, 2)
    assert raised.value.sqlstate == "XX001"


def test_other_versions_are_refused_and_nothing_else_is_tried(tmp_path: Path) -> None:
    path = two_checkpoints(tmp_path)
    whole = path.read_bytes()
    magic, version, checksum, size = PREFIX.unpack_from(whole)
    told = json.loads(whole[PREFIX.size : PREFIX.size + size])
    told["forms"]["rows"] += 1
    content = json.dumps(told).encode()
    rest = whole[PREFIX.size + size :]
    for other in (
        PREFIX.pack(magic, version + 1, checksum, size) + whole[PREFIX.size :],
        PREFIX.pack(magic, version, zlib.crc32(content), len(content)) + content + rest,
    ):
        path.write_bytes(other)
        with pytest.raises(SqlError, match="another version of Antumbra") as raised:
            newest(DiskStorage(), tmp_path)
        assert raised.value.sqlstate == "0A000"


def test_what_did_not_become_one_is_removed_at_the_start(tmp_path: Path) -> None:
    write(DiskStorage(), tmp_path, 40)
    rest = tmp_path / f"{checkpoint_path(tmp_path, 80).name}.tmp"
    rest.write_bytes(b"half")
    assert newest(DiskStorage(), tmp_path) == 40
    assert not rest.exists()


def test_the_header_keeps_everything() -> None:
    storage = SimulatedStorage(1)
    for checkpoint in (header(40), replace(header(1 << 40), views=(), streams=())):
        write_checkpoint(storage, FOLDER, checkpoint, [])
        assert restore_newest(storage, FOLDER, 1, Restored()) == checkpoint
