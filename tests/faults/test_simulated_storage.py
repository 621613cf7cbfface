"""The simulated disk, one rule after the other: what a power loss leaves, no more and no less, and
the plan of failures.
"""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from engine.storage.storage import StoredFile
from tests.faults.disk_model import contents, everything
from tests.faults.simulated_storage import Event, Failure, PowerLossError, SimulatedStorage

FOLDER = Path("/data")
FILE = FOLDER / "file"
SEEDS = range(400)


@pytest.fixture
def storage() -> SimulatedStorage:
    return SimulatedStorage(0, FOLDER)


def durable(storage: SimulatedStorage, data: bytes = b"", path: Path = FILE) -> StoredFile:
    """Return a new file whose name and contents are durable."""
    file = storage.create(path)
    file.write(0, data)
    file.sync()
    storage.sync_folder(path.parent)
    return file


def left(storage: SimulatedStorage, path: Path = FILE, seeds: range = SEEDS) -> set[bytes | None]:
    """Return all that a power loss may leave of a file; None: not even its name."""
    images = [storage.crash(seed) for seed in seeds]
    return {contents(image, path) if path.name in image.list(path.parent) else None for image in images}


# Contents


def test_what_was_synced_is_there(storage: SimulatedStorage) -> None:
    file = durable(storage, b"abc")
    file.write(1, b"x")
    file.sync()
    assert left(storage) == {b"axc"}


@pytest.mark.slow
def test_what_was_not_synced_may_be_there_by_any_byte(storage: SimulatedStorage) -> None:
    durable(storage, b"....").write(0, b"abcd")
    # Each byte by itself is there or not.
    assert left(storage, seeds=range(4000)) == {bytes(pair) for pair in itertools.product(b".a", b".b", b".c", b".d")}


def test_a_file_that_grew_may_be_short_or_have_zeros(storage: SimulatedStorage) -> None:
    durable(storage, b"ab").write(4, b"cd")
    found = left(storage)
    assert {b"ab", b"ab\0", b"ab\0\0"} < found
    # It has any size, and each byte within it by itself.
    assert {b"ab\0\0cd", b"ab\0\0\0\0", b"ab\0\0c", b"ab\0\0\0", b"ab\0\0\0d", b"ab\0\0c\0"} < found
    assert len(found) == 9


def test_writes_over_one_another_leave_any_of_them(storage: SimulatedStorage) -> None:
    file = durable(storage, b"a")
    file.write(0, b"b")
    file.write(0, b"c")
    assert left(storage) == {b"a", b"b", b"c"}


def test_a_truncation_happened_or_not(storage: SimulatedStorage) -> None:
    file = durable(storage, b"abc")
    file.truncate(1)
    assert left(storage) == {b"a", b"abc"}


def test_a_truncation_is_durable_with_the_file(storage: SimulatedStorage) -> None:
    file = durable(storage, b"abc")
    file.truncate(1)
    file.sync()
    file.write(1, b"d")
    assert left(storage) == {b"a", b"a\0", b"ad"}


def test_a_failed_sync_is_not_made_good_by_a_later_one(storage: SimulatedStorage) -> None:
    file = durable(storage, b"aa")
    file.write(0, b"b")
    storage.fail_at(storage.events + 1, Failure.ONCE)
    with pytest.raises(OSError):
        file.sync()
    file.write(1, b"c")
    file.sync()
    assert contents(storage, FILE) == b"bc"
    assert left(storage) == {b"ac", b"bc"}


def test_what_is_written_again_after_a_failed_sync_is_durable_with_the_next(storage: SimulatedStorage) -> None:
    file = durable(storage, b"a")
    file.write(0, b"b")
    storage.fail_at(storage.events + 1, Failure.ONCE)
    with pytest.raises(OSError):
        file.sync()
    file.write(0, b"b")
    file.sync()
    assert left(storage) == {b"b"}


# Names


def test_a_name_is_durable_with_its_folder_only(storage: SimulatedStorage) -> None:
    file = storage.create(FILE)
    file.write(0, b"a")
    file.sync()
    assert left(storage) == {None, b"a"}


def test_a_name_that_is_durable_may_have_any_contents(storage: SimulatedStorage) -> None:
    file = storage.create(FILE)
    file.write(0, b"a")
    storage.sync_folder(FOLDER)
    assert left(storage) == {b"", b"\0", b"a"}


def test_zeros_of_a_new_file_are_not_durable_by_themselves(storage: SimulatedStorage) -> None:
    storage.create(FILE, 3)
    storage.sync_folder(FOLDER)
    assert contents(storage, FILE) == bytes(3)
    assert left(storage) == {b"", bytes(1), bytes(2), bytes(3)}


def test_a_rename_is_one_step(storage: SimulatedStorage) -> None:
    old, new = FOLDER / "old", FOLDER / "new"
    durable(storage, b"1", old)
    durable(storage, b"2", new)
    storage.rename(old, new)
    assert left(storage, old) == {b"1", None} and left(storage, new) == {b"1", b"2"}
    assert {tuple(storage.crash(seed).list(FOLDER)) for seed in SEEDS} == {("new",), ("new", "old")}
    for seed in SEEDS:
        image = storage.crash(seed)
        assert contents(image, new) == (b"2" if "old" in image.list(FOLDER) else b"1")


def test_a_rename_before_the_sync_of_the_file_may_show_an_empty_file(storage: SimulatedStorage) -> None:
    file = storage.create(FOLDER / "new")
    file.write(0, b"a")
    storage.rename(FOLDER / "new", FILE)
    storage.sync_folder(FOLDER)
    assert left(storage) == {b"", b"\0", b"a"}


def test_a_removed_file_may_come_back(storage: SimulatedStorage) -> None:
    durable(storage, b"a")
    storage.remove(FILE)
    assert storage.list(FOLDER) == []
    assert left(storage) == {None, b"a"}


def test_a_removal_is_durable_with_the_folder(storage: SimulatedStorage) -> None:
    durable(storage, b"a")
    storage.remove(FILE)
    storage.sync_folder(FOLDER)
    assert left(storage) == {None}


def test_names_are_lost_in_any_subset(storage: SimulatedStorage) -> None:
    for name in "abc":
        storage.create(FOLDER / name)
    assert len({tuple(storage.crash(seed).list(FOLDER)) for seed in SEEDS}) == 8


def test_names_come_and_go_in_any_order(storage: SimulatedStorage) -> None:
    for name in ("one", "two"):
        durable(storage, name.encode(), FOLDER / name)
    for name in ("one", "two"):
        storage.rename(FOLDER / name, FILE)
    found = {tuple(everything(storage.crash(seed), FOLDER).items()) for seed in SEEDS}
    # The last is the first: both happened, the second rename before the first.
    assert found == {
        (("one", b"one"), ("two", b"two")),
        (("file", b"one"), ("two", b"two")),
        (("file", b"two"), ("one", b"one")),
        (("file", b"two"),),
        (("file", b"one"),),
    }


def test_a_failed_sync_of_a_folder_is_not_made_good_by_a_later_one(storage: SimulatedStorage) -> None:
    storage.create(FOLDER / "a")
    storage.fail_at(storage.events + 1, Failure.ONCE)
    with pytest.raises(OSError):
        storage.sync_folder(FOLDER)
    storage.create(FOLDER / "b")
    storage.sync_folder(FOLDER)
    assert {tuple(storage.crash(seed).list(FOLDER)) for seed in SEEDS} == {("b",), ("a", "b")}


def test_folders_are_durable_at_once(storage: SimulatedStorage) -> None:
    storage.make_folder(FOLDER / "one" / "two")
    assert {tuple(storage.crash(seed).list(FOLDER / "one")) for seed in SEEDS} == {("two",)}


def test_a_file_without_a_name_is_gone(storage: SimulatedStorage) -> None:
    file = storage.temporary(FOLDER)
    file.write(0, b"abc")
    file.sync()
    assert file.read(1, 5) == b"bc"
    storage.sync_folder(FOLDER)
    assert storage.list(FOLDER) == [] == storage.crash().list(FOLDER)


# The plan of failures


def test_an_event_fails_once() -> None:
    found = set()
    for seed in SEEDS:
        storage = SimulatedStorage(seed, FOLDER)
        file = durable(storage, b"....")
        storage.fail_at(storage.events + 2, Failure.ONCE, errno.ENOSPC)
        file.write(0, b"a")
        with pytest.raises(OSError) as caught:
            file.write(0, b"bcde")
        assert caught.value.errno == errno.ENOSPC
        found.add(contents(storage, FILE))
        file.write(0, b"bcde")
        assert contents(storage, FILE) == b"bcde"
    # Any beginning of it is there, but not all.
    assert found == {b"a...", b"b...", b"bc..", b"bcd."}


def test_all_events_fail_from_then_on(storage: SimulatedStorage) -> None:
    file = durable(storage, b"a")
    storage.fail_at(storage.events + 1, Failure.FROM_THEN_ON)
    calls: list[Callable[[], object]] = [
        lambda: file.write(0, b"b"),
        file.sync,
        lambda: file.truncate(0),
        lambda: storage.create(FOLDER / "new", 9),
        lambda: storage.temporary(FOLDER),
        lambda: storage.rename(FILE, FOLDER / "new"),
        lambda: storage.remove(FILE),
        lambda: storage.make_folder(FOLDER / "below"),
        lambda: storage.sync_folder(FOLDER),
    ]
    for call in calls:
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == errno.EIO
    assert storage.list(FOLDER) == ["file"] and contents(storage, FILE) == b"a"
    assert [event.kind for event in storage.trace[-9:]] == [
        *("write", "sync", "truncate", "create", "create", "rename", "remove", "make_folder", "sync_folder")
    ]


@pytest.mark.parametrize(
    ("failure", "found"), [(Failure.POWER_LOSS_BEFORE, {b"a", b"b"}), (Failure.POWER_LOSS_AFTER, {b"b"})]
)
def test_a_power_loss_is_the_end(storage: SimulatedStorage, failure: Failure, found: set[bytes | None]) -> None:
    file = durable(storage, b"a")
    file.write(0, b"b")
    storage.fail_at(storage.events + 1, failure)
    told: list[bool] = []
    storage.on_power_loss = lambda: told.append(storage.is_off)
    with pytest.raises(PowerLossError):
        file.sync()
    assert storage.is_off
    for call in (file.sync, lambda: file.read(0, 1), lambda: storage.list(FOLDER), lambda: storage.create(FILE)):
        with pytest.raises(PowerLossError):
            call()
    file.close()
    assert told == [True]
    assert left(storage) == found


def test_the_machine_is_off_after_a_crash(storage: SimulatedStorage) -> None:
    after = storage.crash()
    with pytest.raises(PowerLossError):
        storage.create(FILE)
    after.create(FILE)
    assert after.trace == [Event("create", FILE)]


def test_forgotten_syncs(storage: SimulatedStorage) -> None:
    storage.ignore_sync(lambda path: path.suffix == ".log")
    for path in (FOLDER / "a.log", FOLDER / "b"):
        durable(storage, b"a", path)
    assert left(storage, FOLDER / "b") == {b"a"}
    assert left(storage, FOLDER / "a.log") == {b"", b"\0", b"a"}
    assert [event.kind for event in storage.trace].count("sync") == 2
    after = storage.crash()
    durable(after, b"c", FOLDER / "c.log")
    assert left(after, FOLDER / "c.log") == {b"", b"\0", b"c"}


def test_forgotten_syncs_of_a_folder(storage: SimulatedStorage) -> None:
    storage.ignore_sync(lambda path: path == FOLDER)
    durable(storage, b"a")
    assert left(storage) == {None, b"a"}


@pytest.mark.parametrize("size", [0, 5])
def test_a_file_that_has_no_room_is_removed_again(storage: SimulatedStorage, size: int) -> None:
    storage.bytes_max = 8
    file = storage.create(FILE, size)
    with pytest.raises(OSError) as caught:
        storage.create(FOLDER / "other", 9 - size)
    assert caught.value.errno == errno.ENOSPC
    assert storage.list(FOLDER) == ["file"]
    # What has room already can be written.
    file.write(0, bytes(size))
    with pytest.raises(OSError):
        file.write(0, b"x" * 9)
    assert file.size == 8
    storage.bytes_max = None
    file.write(0, b"x" * 9)
    file.close()
    storage.bytes_max = 9
    storage.remove(FILE)
    storage.create(FOLDER / "other", 9)


def test_a_full_disk_refuses_only_what_takes_room(storage: SimulatedStorage) -> None:
    file = durable(storage, b"a")
    storage.fail_at(1, Failure.FROM_THEN_ON, errno.ENOSPC)
    file.sync()
    file.truncate(0)
    storage.sync_folder(FOLDER)
    with pytest.raises(OSError):
        file.write(0, b"b")
    storage.remove(FILE)


@pytest.mark.parametrize(
    ("failure", "count"),
    [(None, 1), (Failure.ONCE, 0), (Failure.POWER_LOSS_BEFORE, 0), (Failure.POWER_LOSS_AFTER, 1)],
)
def test_the_commit_of_tables_is_one_event(tmp_path: Path, failure: Failure | None, count: int) -> None:
    storage = SimulatedStorage(0)
    if failure is not None:
        storage.fail_at(1, failure, errno.ENOSPC)
    connection = duckdb.connect(str(tmp_path / "tables.duckdb"))
    connection.execute("CREATE TABLE t (a int)")
    connection.begin()
    connection.execute("INSERT INTO t VALUES (1)")
    try:
        storage.commit_tables(connection)
    except duckdb.IOException as error:
        assert "No space left" in str(error)
        connection.rollback()
    except PowerLossError:
        assert storage.is_off
    connection.close()
    with duckdb.connect(str(tmp_path / "tables.duckdb")) as again:
        assert again.execute("SELECT * FROM t").fetchall() == [(1,)] * count
    assert storage.trace == [Event("commit_tables", Path("tables"))]
