"""Large states as partitions: each has its own groups, is stored by itself, and all of them are one
state.
"""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from engine.storage.mapped_files import map_new_file
from ringbuffer.groups.hash_table import FAR_ROWS, ROWS_IN, GroupTable
from ringbuffer.groups.known_groups import StateSize
from ringbuffer.groups.partitions import PARTITIONS_COUNT, partition_of
from ringbuffer.memory.spilled_memory import MappedFile, SpilledMemory
from ringbuffer.pages.pages import Page
from sql.errors import SqlError
from sql.tree.expressions import Call, Cast, Expression
from sql.types.datatypes import scaled_numeric
from tests.views.random_expressions import python_rows
from tests.views.upkeep.test_state import (
    column,
    exported,
    make_aggregate,
    make_plan,
    rows_with,
    split_early,
    stream_morsel,
)
from tests.views.upkeep.test_state_pages import form_of, pages_of, through_bytes
from views.plan.deferred import unmade_schema
from views.upkeep.partitions import KeyPlace, Partitions, read_together
from views.upkeep.state import ViewState

LONG = "a text of more than twelve bytes, number "
COUNTED = make_aggregate("", None)


def fold(state: ViewState, first: int, count: int) -> None:
    """Let a statement bring one row for each of some keys, and a refresh merge them."""
    table = state.program.new_table()
    rows = rows_with(count, t=lambda number: f"{LONG}{first + number}", i4=lambda number: first + number)
    state.program.fold(stream_morsel(rows), table, 0)
    state.groups.absorb(table)
    state.groups.merge(state.groups.swap())


def counted(tmp_path: Path) -> ViewState:
    return ViewState(make_plan([], [column("t")], [COUNTED, make_aggregate("max", column("t"))]), tmp_path)


def shown(state: ViewState) -> dict[str, int]:
    """Return the count of each key, which is its largest text as well."""
    rows = exported(state)
    assert all(key == largest for key, _, largest in rows)
    found = {key.removeprefix(LONG): count for key, count, _ in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("names", [("i4", "i8"), ("t", "b")])
def test_groups_that_are_far_from_each_other_are_those_of_a_dict(tmp_path: Path, names: tuple[str, str]) -> None:
    keys: list[Expression] = [column(name) for name in names]
    largest = make_aggregate("max", column("i2"))
    state = ViewState(make_plan([], keys, [COUNTED, largest]), tmp_path)
    draw, expected = random.Random(5), dict[tuple[object, ...], list[int]]()
    seconds: list[object] = [None, 7] if names[1] == "i8" else [None, False, True]
    for _ in range(3):
        firsts: list[object] = [draw.choice((None, draw.randrange(10_000))) for _ in range(30_000)]
        if names[0] == "t":
            firsts = [n if n is None else f"{LONG if draw.getrandbits(1) else ''}{n}" for n in firsts]
        rest = [draw.choice(seconds) for _ in firsts]
        columns = dict(zip(names, (firsts, rest), strict=True))
        rows = rows_with(
            len(firsts), i2=lambda at: at % 100, **{name: found.__getitem__ for name, found in columns.items()}
        )
        table = state.program.new_table()
        state.program.fold(stream_morsel(rows), table, 0)
        state.groups.absorb(table)
        state.groups.merge(state.groups.swap())
        for at, key in enumerate(zip(firsts, rest, strict=True)):
            expected.setdefault(key, []).append(at % 100)
    assert len(expected) > 2 * FAR_ROWS
    assert {(a, b): (count, most) for a, b, count, most in exported(state)} == {
        key: (len(values), max(values)) for key, values in expected.items()
    }


def test_a_small_state_has_one_partition_and_a_large_one_has_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.upkeep.partitions.SPLIT_GROUPS", 1000)
    state = counted(tmp_path)
    fold(state, 0, 1000)
    assert len(state.groups.merged.tables) == 1
    fold(state, 500, 1000)
    tables = state.groups.merged.tables
    assert [partition_of(table) for table in tables] == list(range(PARTITIONS_COUNT))
    assert all(table.groups_count for table in tables)
    assert state.groups.counts.groups == 1500 and state.groups.counts.tuples_in == 2000
    assert shown(state) == {str(number): 1 + (500 <= number < 1000) for number in range(1500)}
    state.groups.reset()
    assert (state.groups.counts.groups, len(state.groups.merged.tables)) == (0, 1)


@pytest.mark.parametrize("was_split", [False, True])
def test_stored_partitions_go_on(was_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that was stored as one table gets its partitions at the next merge."""
    written, loaded = counted(tmp_path), counted(tmp_path)
    if was_split:
        split_early(monkeypatch)
    fold(written, 0, 300)
    pages = through_bytes(pages_of(written))
    assert sum(page.name == "counters" for page in pages) == (1 if not was_split else PARTITIONS_COUNT)
    loaded.load(pages, form_of(written))
    assert len(loaded.groups.merged.tables) == (PARTITIONS_COUNT if was_split else 1)
    assert loaded.groups.counts == written.groups.counts
    split_early(monkeypatch)
    fold(loaded, 200, 300)
    assert [partition_of(table) for table in loaded.groups.merged.tables] == list(range(PARTITIONS_COUNT))
    assert shown(loaded) == {str(number): 1 + (200 <= number < 300) for number in range(500)}
    assert loaded.groups.counts.tuples_in == 600


@pytest.mark.parametrize("was_split", [False, True])
def test_what_is_exported_stays_while_merges_go_on(
    was_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge copies the partitions that have not been read yet, and no others."""
    if was_split:
        split_early(monkeypatch)
    state, loaded = counted(tmp_path), counted(tmp_path)
    fold(state, 0, 300)
    before = list(state.groups.merged.tables)
    read: list[Page] = []
    with state.groups.pages() as pages:
        for page in pages:
            if page.name == "counters" and len(read) in (0, 30):
                fold(state, 100, 300)
            read += through_bytes([page])
        tables = state.groups.merged.tables
        same = [table is other for table, other in zip(before, tables, strict=True)]
        assert not any(same), "all of them were unread at the first merge"
        fold(state, 100, 300)
        assert state.groups.merged.tables == tables
    assert state.groups.merged.exports == []
    loaded.load(read, form_of(state))
    assert shown(loaded) == {str(number): 1 for number in range(300)}
    merges = 3 if was_split else 2
    assert shown(state) == {str(number): (number < 300) + (number >= 100) * merges for number in range(400)}


def test_small_partitions_without_texts_in_a_heap_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of few bytes have none; a partition that has one is read alone."""
    split_early(monkeypatch)
    monkeypatch.setattr("views.upkeep.partitions.READ_GROUPS", 40)
    state = ViewState(make_plan([], [column("t")], [COUNTED, make_aggregate("max", column("i4"))]), tmp_path)
    table = state.program.new_table()
    names = ["", *(f"k{number}" for number in range(1, 999)), LONG]
    rows = rows_with(1000, t=lambda number: names[number], i4=lambda number: number)
    state.program.fold(stream_morsel(rows), table, 0)
    state.groups.absorb(table)
    state.groups.merge(state.groups.swap())
    tables = state.groups.merged.tables
    assert len(tables) == PARTITIONS_COUNT
    (alone,) = [
        number
        for number, one in enumerate(tables)
        if LONG in str(python_rows(state.rows_of(one, 0), state.plan.finish.output))
    ]
    runs = read_together(tables)
    assert [alone] in runs and 25 < len(runs) < 40
    assert all(sum(tables[number].groups_count for number in run) <= 40 for run in runs if run != [alone])
    assert [number for run in runs for number in run] == list(range(PARTITIONS_COUNT))
    assert {key: rest for key, *rest in exported(state)} == {name: [1, number] for number, name in enumerate(names)}


def test_partitions_of_another_number_are_merged(tmp_path: Path) -> None:
    """A version that cuts states in another way stores tables that are of several partitions
    here.
    """
    state = counted(tmp_path)
    tables: list[GroupTable] = []
    for first in (0, 100, 200):
        table = state.program.new_table()
        rows = rows_with(100, t=lambda number, first=first: f"{LONG}{first + number}")
        state.program.fold(stream_morsel(rows), table, 0)
        tables.append(table)
    partitions = Partitions(state.program.new_table(), state.program.merge_steps)
    partitions.import_(tables)
    state.groups.replace(partitions)
    assert [partition_of(table) for table in partitions.tables] == list(range(PARTITIONS_COUNT))
    assert sum(int(table.control[ROWS_IN]) for table in partitions.tables) == 300
    assert shown(state) == {str(number): 1 for number in range(300)}


def test_groups_are_found_by_their_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_early(monkeypatch)
    state = counted(tmp_path)
    fold(state, 0, 300)
    state.apply(stream_morsel(rows_with(100, t=lambda number: f"{LONG}{number + 250}")), 0)
    keys = state.program.new_table()
    state.program.fold(stream_morsel(rows_with(5, t=lambda number: f"{LONG}{number * 70}")), keys, 0)
    found = state.program.new_table()
    assert state.groups.find(keys, found)
    rows = python_rows(state.rows_of(found, 0), state.plan.finish.output)
    assert {key.removeprefix(LONG): count for key, count, _ in rows} == {"0": 1, "70": 1, "140": 1, "210": 1, "280": 2}


@pytest.mark.parametrize("disk_is_full", [False, True])
def test_partitions_that_are_too_large_for_memory_are_in_files(
    disk_is_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions grow there, and are merged and read as others are; a full disk fails nothing."""
    monkeypatch.setattr("ringbuffer.memory.spilled_memory.MAPPED_BYTES_MIN", 1024)
    split_early(monkeypatch)
    files: list[MappedFile] = []

    def map_file(size: int) -> MappedFile:
        if disk_is_full and len(files) == 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        files.append(map_new_file(tmp_path, size))
        return files[-1]

    state = counted(tmp_path)
    state.groups.spill_into(SpilledMemory(map_file, 200_000))
    for first in range(0, 10_000, 2000):
        fold(state, first, 3000)
    merged = state.groups.merged
    kept = [table.used_bytes for number, table in enumerate(merged.tables) if number not in merged.spilled]
    assert 0 < sum(kept) <= 200_000 and merged.spilled
    assert len(files) == 100 if disk_is_full else len(files) > 3 * len(merged.spilled)
    wanted = {
        str(number): 1 + (number >= 2000 and number % 2000 < 1000 and number < 10_000) for number in range(11_000)
    }
    assert shown(state) == shown(state) == wanted
    keys = state.program.new_table()
    state.program.fold(stream_morsel(rows_with(1, t=lambda number: f"{LONG}2500")), keys, 0)
    found = state.program.new_table()
    assert state.groups.find(keys, found) is (partition_of(keys) not in merged.spilled)
    merged.spilled.add(partition_of(keys) or 0)
    assert not state.groups.find(keys, found), "the event loop would read a file"
    with state.groups.refresh_lock:
        assert not state.groups.bring(keys, 0.001), "others merge"
    found = state.program.new_table()
    assert state.groups.bring(keys, 1) and state.groups.find(keys, found, from_files=True)
    assert python_rows(state.rows_of(found, 0), state.plan.finish.output)[0][1] == 2
    loaded = counted(tmp_path)
    loaded.groups.spill_into(state.groups.memory)
    loaded.load(through_bytes(pages_of(state)), form_of(state))
    assert len(loaded.groups.merged.spilled) == len(merged.spilled)
    assert shown(loaded) == wanted


def test_groups_near_a_cap_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    for is_split in (False, True):
        if is_split:
            split_early(monkeypatch)
        state = ViewState(make_plan([], [column("t")], [COUNTED]), tmp_path)
        fold(state, 0, 200)
        state.apply(stream_morsel(rows_with(100, t=lambda number: f"{LONG}{150 + number}")), 0)
        coming = state.program.new_table()
        state.program.fold(stream_morsel(rows_with(100, t=lambda number: f"{LONG}{220 + number}")), coming, 0)
        sizes.append(state.groups.sizes(state.groups.set_apart(), [coming]))
    assert sizes[0] == sizes[1]
    now, more = sizes[0]
    assert (now.groups, more.groups) == (250, 70)
    assert more == StateSize(70, 70 * (state.program.grouping.table.group_bytes + len(LONG) + 3))


def test_aggregates_out_of_range_are_found_in_any_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_early(monkeypatch)
    large = Cast(column("i8"), scaled_numeric(0))
    total = make_aggregate("sum", Call("multiply", (large, large), scaled_numeric(0)))
    state = ViewState(make_plan([], [column("i4")], [COUNTED, total]), tmp_path)
    rows = rows_with(
        1000, i4=lambda number: number % 100, i8=lambda number: 2**63 - 1 if number % 100 in (7, 77) else 1
    )
    state.apply(stream_morsel(rows), 0)
    state.groups.merge(state.groups.swap())
    with pytest.raises(SqlError, match="22003"):
        state.export(0)
    table, unmade = state.export_groups()
    assert unmade == [2]
    found = {row[0]: row[2:] for row in python_rows(table, unmade_schema(state.plan.finish.input, unmade))}
    assert found == {key: (None, 1) if key in (7, 77) else (10, 0) for key in range(100)}


@pytest.mark.parametrize("in_files", [False, True])
def test_groups_whose_key_is_small_or_null_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_files: bool
) -> None:
    monkeypatch.setattr("views.upkeep.partitions.SPLIT_GROUPS", 1000)
    monkeypatch.setattr("ringbuffer.memory.spilled_memory.MAPPED_BYTES_MIN", 1024)
    keys: list[Expression] = [column("t"), column("i4")]
    state = ViewState(make_plan([], keys, [COUNTED, make_aggregate("max", column("t"))]), tmp_path)
    if in_files:
        state.groups.spill_into(SpilledMemory(lambda size: map_new_file(tmp_path, size), 0))
    numbers = [None if number % 10 == 0 else number - 1000 for number in range(3000)]
    table = state.program.new_table()
    rows = rows_with(3000, t=lambda at: f"{LONG}{at}", i4=numbers.__getitem__)
    state.program.fold(stream_morsel(rows), table, 0)
    state.groups.absorb(table)
    state.groups.merge(state.groups.swap())
    merged, slot = state.groups.merged, state.program.grouping.keys[1]
    place = KeyPlace(slot.word, slot.null_bit)
    before = state.bytes_count
    assert len(merged.tables) == PARTITIONS_COUNT and bool(merged.spilled) == in_files
    # Too few have passed.
    assert not merged.forget(place, -1000) and merged.groups_count == 3000
    assert merged.forget(place, 1500)
    left = [number for number in numbers if number is not None and number >= 1500]
    assert sorted(exported(state)) == [(f"{LONG}{n + 1000}", n, 1, f"{LONG}{n + 1000}") for n in left]
    assert state.groups.counts.tuples_in == 3000 and state.bytes_count < before * 0.6
    assert bool(merged.spilled) == in_files
