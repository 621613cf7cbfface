"""Records that were given up: the log goes on after them, and nothing else may be missing."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from engine.log.segments import GIVEN_UP, PAGE_BYTES, CorruptLogError, Gap, Segments, gap_bytes, read_gap
from engine.storage.storage import DiskStorage
from tests.engine.log.logs import SEGMENT_BYTES, LogWriter, damage, read_log

COUNT = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    writer = LogWriter(DiskStorage(), tmp_path / "log")
    for number in range(1, COUNT + 1):
        assert writer.rows(number, 100, 3, commits=True) == number
    writer.close()
    return writer.folder


def firsts(folder: Path) -> list[int]:
    return sorted(int(path.stem, 16) for path in folder.iterdir() if path.suffix == ".log")


def path_of(folder: Path, first: int) -> Path:
    return folder / f"{first:016x}.log"


def give_up(folder: Path, first: int, next_first: int) -> None:
    path_of(folder, first).with_suffix(".skipped").write_bytes(gap_bytes(Gap(first, next_first)))


def numbers(folder: Path, position: int = 0, sequence: int = 1) -> list[int]:
    return [record.sequence for record in read_log(DiskStorage(), folder, position, sequence)]


def refusal(folder: Path, sequence: int = 1) -> CorruptLogError:
    with pytest.raises(CorruptLogError) as raised:
        numbers(folder, 0, sequence)
    return raised.value


def test_any_segment_but_the_last(folder: Path) -> None:
    starts = firsts(folder)
    assert len(starts) > 4
    for start, following in itertools.pairwise(starts):
        path = path_of(folder, start)
        path.rename(path.with_suffix(".damaged"))
        assert refusal(folder).file in (path, path_of(folder, starts[max(starts.index(start) - 1, 0)]))
        give_up(folder, start, following)
        assert numbers(folder) == [number for number in range(1, COUNT + 1) if not start <= number < following]
        assert Segments(DiskStorage(), folder, SEGMENT_BYTES).first_logged() == 1
        for sequence in range(start, following):
            assert numbers(folder, 10, sequence) == list(range(following, COUNT + 1))
        path.with_suffix(".skipped").unlink()
        path.with_suffix(".damaged").rename(path)


def test_only_the_end_of_a_segment(folder: Path) -> None:
    start, following = firsts(folder)[1:3]
    records = read_log(DiskStorage(), folder)
    for number in range(start, following):
        path = path_of(folder, start)
        content = path.read_bytes()
        offset = PAGE_BYTES + records[number - 1].position - records[start - 1].position
        damage(path, offset + 20)
        error = refusal(folder)
        assert (error.file, error.offset) == (path, offset)
        assert path.name in str(error)
        give_up(folder, number, following)
        assert numbers(folder) == [*range(1, number), *range(following, COUNT + 1)]
        path_of(folder, number).with_suffix(".skipped").unlink()
        path.write_bytes(content)


def test_several_in_a_row(folder: Path) -> None:
    starts = firsts(folder)
    for start, following in ((starts[1], starts[2]), (starts[2], starts[3])):
        path_of(folder, start).unlink()
        give_up(folder, start, following)
    assert numbers(folder) == [*range(1, starts[1]), *range(starts[3], COUNT + 1)]
    assert numbers(folder, 10, starts[2] - 1) == list(range(starts[3], COUNT + 1))


def test_a_damaged_first_page(folder: Path) -> None:
    start = firsts(folder)[2]
    damage(path_of(folder, start), 20)
    error = refusal(folder)
    assert (error.file, error.offset) == (path_of(folder, start), 0)


def test_nothing_else_may_be_missing(folder: Path) -> None:
    starts = firsts(folder)
    path_of(folder, starts[1]).unlink()
    path_of(folder, starts[2]).unlink()
    give_up(folder, starts[1], starts[2])
    error = refusal(folder)
    assert error.file == path_of(folder, starts[1])
    assert f"the next one begins with record {starts[3]}" in str(error)
    path_of(folder, starts[0]).unlink()
    assert refusal(folder).file == path_of(folder, 1)


def test_the_records_before_must_be_whole(folder: Path) -> None:
    starts = firsts(folder)
    path_of(folder, starts[2]).unlink()
    give_up(folder, starts[2], starts[3])
    damage(path_of(folder, starts[1]), PAGE_BYTES + 20)
    error = refusal(folder)
    assert (error.file, error.offset) == (path_of(folder, starts[1]), PAGE_BYTES)


def test_a_file_of_a_gap_that_is_damaged_itself(folder: Path) -> None:
    starts = firsts(folder)
    give_up(folder, starts[1], starts[2])
    path = path_of(folder, starts[1]).with_suffix(".skipped")
    assert read_gap(DiskStorage(), path) == Gap(starts[1], starts[2])
    content = path.read_bytes()
    for broken in (b"", content[:-1], content[:-1] + b"\1"):
        path.write_bytes(broken)
        with pytest.raises(CorruptLogError):
            read_gap(DiskStorage(), path)


@pytest.mark.parametrize("whole", [False, True])
def test_behind_a_given_up_end_numbers_and_positions_are_new(folder: Path, whole: bool) -> None:
    last = firsts(folder)[-1]
    if whole:
        path_of(folder, last).unlink()
        first = last
    else:
        damage(path_of(folder, last), PAGE_BYTES + 200)
        first = last + 1
    give_up(folder, first, first + GIVEN_UP)
    before = numbers(folder)
    assert before == list(range(1, first))
    assert numbers(folder) == before
    writer = LogWriter(DiskStorage(), folder)
    added = writer.rows(100, 100, 3, commits=True)
    writer.close()
    assert added == first + GIVEN_UP
    after = read_log(DiskStorage(), folder)
    assert [record.sequence for record in after] == [*before, added]
    assert after[-1].position > GIVEN_UP
    # The same from a checkpoint within what was given up, and from one after it.
    assert numbers(folder, 10, COUNT) == [added]
    assert numbers(folder, after[-1].end, added + 1) == []


def test_a_segment_that_should_follow_a_gap_is_missing(folder: Path) -> None:
    last = firsts(folder)[-1]
    path_of(folder, last).unlink()
    give_up(folder, last, last + 7)
    assert refusal(folder).file == path_of(folder, last + 7)


def test_everything_given_up(folder: Path) -> None:
    for start in firsts(folder):
        path_of(folder, start).unlink()
    give_up(folder, 1, 1 + GIVEN_UP)
    assert numbers(folder) == []
    writer = LogWriter(DiskStorage(), folder)
    assert writer.rows(100, 100, 3, commits=True) == 1 + GIVEN_UP
    writer.close()
    assert numbers(folder) == [1 + GIVEN_UP]


def test_a_gap_takes_the_place_of_a_segment_that_still_has_its_name(folder: Path) -> None:
    starts = firsts(folder)
    damage(path_of(folder, starts[1]), 20)
    give_up(folder, starts[1], starts[2])
    assert numbers(folder) == [*range(1, starts[1]), *range(starts[2], COUNT + 1)]


def test_damage_before_what_a_checkpoint_needs_harms_nobody(folder: Path) -> None:
    records = read_log(DiskStorage(), folder)
    start = firsts(folder)[1]
    damage(path_of(folder, start), PAGE_BYTES + 20)
    assert refusal(folder).file == path_of(folder, start)
    for record in records[start:]:
        assert numbers(folder, record.position, record.sequence) == list(range(record.sequence, COUNT + 1))
    end = records[-1].end
    assert numbers(folder, end, COUNT + 1) == []
