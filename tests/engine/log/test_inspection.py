"""Logs as `antumbra recover` finds them, and what it gives up: whole and damaged ones, and
transactions over several files.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from engine.commands import recover
from engine.log.batches import Batches
from engine.log.checkpoint import Checkpoint, write_checkpoint
from engine.log.inspection import Inspection, inspect
from engine.log.inspection_text import inspection_lines, loss_lines
from engine.log.log_repair import NoSuchSegmentError, give_up, loss_of
from engine.log.records import COMMIT, COMMITTED, PREPARE
from engine.log.replay import RECORDS_COUNT, Replay
from engine.log.segments import GIVEN_UP, PAGE_BYTES
from engine.storage.storage import DiskStorage, FolderLock
from tests.engine.log.logs import LogWriter, damage, read_log
from tests.engine.log.test_replay import Effects, keeper

STORAGE = DiskStorage()


def look(folder: Path) -> Inspection:
    return inspect(STORAGE, folder)


def text(inspection: Inspection) -> list[str]:
    return list(inspection_lines(inspection, None, {100: "clicks"}))


@pytest.fixture
def writer(tmp_path: Path) -> LogWriter:
    return LogWriter(STORAGE, tmp_path / "log")


def test_a_whole_log(writer: LogWriter) -> None:
    for number in range(1, 21):
        writer.rows(number, 100 + number % 2, 3, commits=True)
    writer.close()
    inspection = look(writer.folder)
    assert inspection.damaged is None
    assert sum(file.content.records_count for file in inspection.files) == 20
    assert sum((file.content.rows for file in inspection.files), Counter()) == {100: 30, 101: 30}
    assert [file.path.name for file in inspection.files] == writer.names
    lines = text(inspection)
    assert lines[0] == "no checkpoint: a start reads the log from its beginning"
    assert lines[1] == f"{writer.names[0]}: positions 0 to 960, records 1 to 6, 6 transactions (1 to 6)"
    assert lines[2:4] == ['    "clicks": 9 rows', "    oid 101: 9 rows"]
    assert lines[-1] == "The log is whole."


def test_a_torn_end(writer: LogWriter) -> None:
    writer.rows(1, 100, 3, commits=True)
    end = look(writer.folder).files[0].end
    writer.durable = end
    writer.rows(2, 100, 3, commits=True)
    writer.close()
    damage(writer.folder / writer.names[0], PAGE_BYTES + end + 30)
    inspection = look(writer.folder)
    assert inspection.damaged is None
    assert inspection.files[0].torn == PAGE_BYTES + end
    assert text(inspection)[-2:] == [
        f"  a record at offset {PAGE_BYTES + end} is not whole",
        "The log ends with a record that was never answered, as after a power loss; the next start cuts it off.",
    ]


def test_nothing_at_all(tmp_path: Path) -> None:
    inspection = look(tmp_path / "log")
    assert inspection.files == []
    assert text(inspection)[-1] == "The log is whole."


def small_log(writer: LogWriter) -> dict[str, list[int]]:
    """Write segments with transactions over several of them; return the records of each."""
    writer.rows(1, 100, 2)
    for number in range(10, 14):
        writer.rows(number, 100, 1, commits=True)
    writer.rows(2, 100, 3)
    writer.rows(3, 101, 4)
    writer.rows(14, 100, 1, commits=True)
    writer.rows(15, 100, 1, commits=True)
    writer.add(COMMIT, 3, [RECORDS_COUNT.pack(1)])
    writer.add(PREPARE, 4, [json.dumps({"created": [200], "dropped": [], "records": 0}).encode()])
    writer.add(COMMITTED, 4)
    for number in range(16, 30):
        writer.rows(number, 100, 1, commits=True)
    writer.add(COMMIT, 2, [RECORDS_COUNT.pack(1)])
    writer.add(COMMIT, 1, [RECORDS_COUNT.pack(1)])
    writer.close()
    found: dict[str, list[int]] = {}
    firsts = [int(name.partition(".")[0], 16) for name in writer.names]
    for first, following, name in zip(firsts, [*firsts[1:], 29], writer.names, strict=True):
        found[name] = list(range(first, following))
    return found


def test_damage_in_the_middle(writer: LogWriter) -> None:
    records = small_log(writer)
    name = writer.names[1]
    folder = writer.folder
    assert records[name] == list(range(8, 18)), "the test is about these"
    offset = PAGE_BYTES + read_log(STORAGE, folder)[8].position - read_log(STORAGE, folder)[7].position
    damage(folder / name, offset + 60)
    inspection = look(folder)
    file = inspection.damaged
    assert file is not None and file.damage is not None
    assert (file.path.name, file.damage.offset, file.damage.first) == (name, offset, 9)
    assert file.damage.after.records_count == 8
    lines = text(inspection)
    assert f"  DAMAGED at offset {offset}: record 9 does not verify" in lines
    assert lines[-1] == f"  antumbra recover --data-dir {folder.parent} --skip-segment {name}"
    loss = loss_of(inspection, name, ())
    assert (loss.gap.first, loss.gap.next_first, loss.renames, loss.unreadable_count) == (9, 18, False, 1)
    assert list(loss_lines(loss, None, {100: "clicks"})) == [
        f"To give up of {name}: records 9 to 17",
        "  1 record can't be read: nobody knows which transactions and streams they belong to",
        "  lost: 5 transactions of one record, numbers between 3 and 20",
        '    "clicks": 5 rows',
        "  lost: 1 transaction of several records: 4",
        "  left out as a whole, though some of their records lie elsewhere: 1 transaction of several records: 3",
        "    oid 101: 4 rows",
        "  left out if any of their rows is lost: 1, 2",
        "  created in it: oid 200; continuous views among them count only what comes after the next start",
        "  Tables stay as they are, also where a transaction has changed them together with streams.",
    ]
    assert give_up(STORAGE, loss).name == "0000000000000009.skipped"
    assert [record.sequence for record in read_log(STORAGE, folder)] == [*range(1, 9), *range(18, 29)]
    after = look(folder)
    assert after.damaged is None
    assert "0000000000000009.skipped: records 9 to 17 were given up" in text(after)
    assert text(after)[-1] == "The log is whole but for what was given up."
    with pytest.raises(NoSuchSegmentError, match="given up already"):
        loss_of(after, "0000000000000009.skipped", ())


@pytest.mark.parametrize("how", ["page", "missing", "whole", "cut"])
def test_a_whole_segment(writer: LogWriter, how: str) -> None:
    records = small_log(writer)
    folder, name = writer.folder, writer.names[1]
    path = folder / name
    if how == "page":
        damage(path, 20)
    elif how == "missing":
        path.unlink()
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:100])
    inspection = look(folder)
    if how != "whole":
        assert inspection.damaged is not None and inspection.damaged.path == path
    loss = loss_of(inspection, name.removesuffix(".log"), ())
    assert (loss.gap.first, loss.gap.next_first) == (8, 18)
    assert loss.renames is (how != "missing")
    lines = list(loss_lines(loss, None, {}))
    if how == "whole":
        assert loss.unreadable_count == 0
        assert "    oid 100: 7 rows" in lines
    else:
        assert loss.unreadable_count == 10
        assert "  10 records can't be read: nobody knows which transactions and streams they belong to" in lines
    give_up(STORAGE, loss)
    assert not path.exists()
    assert path.with_suffix(".damaged").exists() is (how != "missing")
    kept = [number for first, numbers in records.items() if first != name for number in numbers]
    assert [record.sequence for record in read_log(STORAGE, folder)] == kept
    assert look(folder).damaged is None


def test_the_end_of_the_log(writer: LogWriter) -> None:
    small_log(writer)
    folder, name = writer.folder, writer.names[-1]
    path = folder / name
    first = int(name.partition(".")[0], 16)
    damage(path, PAGE_BYTES + 20)
    inspection = look(folder)
    # The writer of the records after it knew that it was durable.
    assert inspection.damaged is not None and inspection.damaged.path == path
    loss = loss_of(inspection, name, ())
    assert (loss.gap.first, loss.gap.next_first, loss.is_last) == (first, first + GIVEN_UP, True)
    lines = list(loss_lines(loss, None, {}))
    assert lines[:2] == [
        f"To give up of {name}: records {first} on, to the end of the log",
        "  an unknown number of records can't be read: nobody knows which transactions and streams they belong to",
    ]
    assert lines[-1] == f"  The file is kept as {path.stem}.damaged."
    give_up(STORAGE, loss)
    writer = LogWriter(STORAGE, folder)
    assert writer.rows(1000, 100, 1, commits=True) == first + GIVEN_UP
    writer.close()
    assert look(folder).damaged is None


def test_a_gap_that_can_not_be_read_is_given_up_again(writer: LogWriter) -> None:
    small_log(writer)
    folder = writer.folder
    path = give_up(STORAGE, loss_of(look(folder), writer.names[1], ()))
    path.write_bytes(b"?")
    inspection = look(folder)
    assert inspection.damaged is not None and inspection.damaged.path == path
    loss = loss_of(inspection, path.name, ())
    assert (loss.gap.first, loss.gap.next_first, loss.renames) == (8, 18, False)
    assert give_up(STORAGE, loss) == path
    assert look(folder).damaged is None


def test_names_that_are_none(writer: LogWriter) -> None:
    small_log(writer)
    with pytest.raises(NoSuchSegmentError, match=f"no segment nothing; there are {writer.names[0]}"):
        loss_of(look(writer.folder), "nothing", ())


def test_what_the_checkpoint_has_is_not_lost(writer: LogWriter, tmp_path: Path) -> None:
    small_log(writer)
    inspection = look(writer.folder)
    loss = loss_of(inspection, writer.names[1], ())
    path = tmp_path / "0000000000000064.pages"
    for sequence, told in (
        (9, "not lost is what was decided before record 9"),
        (18, "nothing is lost: all of it is in the checkpoint"),
    ):
        newest = path, Checkpoint(100, sequence, 100, sequence, 1, 1, 0, (), ())
        assert any(told in line for line in loss_lines(loss, newest, {}))
        assert next(inspection_lines(inspection, newest, {})).endswith(f"from record {sequence} on")


def test_prepared_transactions_are_lost_only_if_the_tables_have_them(writer: LogWriter) -> None:
    writer.rows(5, 100, 3)
    writer.add(PREPARE, 5, [b'{"created": [], "records": 1}'])
    writer.rows(6, 100, 4, commits=True)
    writer.close()
    inspection = look(writer.folder)
    assert loss_of(inspection, writer.names[0], ()).whole.numbers == []
    assert loss_of(inspection, writer.names[0], {5}).whole.rows == {100: 3}


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(60))
def test_giving_up_costs_what_it_says(seed: int, writer: LogWriter, tmp_path: Path) -> None:
    """Objects that replay does not find have a record in the gap; of that all is named but what
    can't be read. The oid is the number.
    """
    choose = random.Random(seed)
    records: dict[int, list[int]] = {}
    running: dict[int, int] = {}
    committed: set[int] = set()
    for number in range(1, 80):
        action = choose.random()
        if action < 0.5 or not running:
            single = choose.random() < 0.5
            records[number] = [writer.rows(number, number, choose.randint(1, 3), commits=single)]
            if single:
                committed.add(number)
            else:
                running[number] = 1
            continue
        other = choose.choice(list(running))
        if action < 0.75:
            records[other].append(writer.rows(other, other, choose.randint(1, 3)))
            running[other] += 1
        else:
            records[other].append(writer.add(COMMIT, other, [RECORDS_COUNT.pack(running.pop(other))]))
            committed.add(other)
    writer.close()
    name = choose.choice(writer.names[:-1])
    damage(
        writer.folder / name, choose.choice((20, *(choose.randrange(PAGE_BYTES, PAGE_BYTES + 700) for _ in range(3))))
    )
    inspection = look(writer.folder)
    loss = loss_of(inspection, name, ())
    give_up(STORAGE, loss)
    target = Effects()
    replay = Replay(target, (), 0, 1, keeper(tmp_path), Batches(0))
    for record in read_log(STORAGE, writer.folder):
        replay.take(record)
    found = {effect[1] for effect in target.seen}
    inside = {
        number
        for number, found_in in records.items()
        if any(loss.gap.first <= one < loss.gap.next_first for one in found_in)
    }
    assert found == committed - inside
    sure = {*loss.content.single_rows, *loss.whole.numbers, *loss.torn.numbers}
    assert sure <= inside & committed
    named = sure | {*loss.unknown.numbers, *loss.undecided}
    before = {number for number, found_in in records.items() if min(found_in) < loss.gap.first}
    assert inside & committed & before <= named
    if loss.unreadable_count == 0:
        assert inside & committed <= named


def test_the_command(writer: LogWriter, capsys: pytest.CaptureFixture[str]) -> None:
    data_dir = writer.folder.parent
    small_log(writer)
    assert recover(data_dir, None, False) == 0
    assert capsys.readouterr().out.endswith("The log is whole.\n")
    damage(writer.folder / writer.names[1], 20)
    assert recover(data_dir, None, False) == 1
    assert "DAMAGED at offset 0: its first page does not verify" in capsys.readouterr().out
    assert recover(data_dir, writer.names[1], False) == 1
    assert capsys.readouterr().out.endswith("Nothing has been changed. To give it up, say so with --yes.\n")
    assert look(writer.folder).damaged is not None
    assert recover(data_dir, writer.names[1], True) == 0
    assert capsys.readouterr().out.endswith("Given up: " + str(writer.folder / "0000000000000008.skipped") + "\n")
    assert recover(data_dir, None, False) == 0


def test_reasons_not_to_recover(writer: LogWriter, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data_dir = writer.folder.parent
    small_log(writer)

    def refusal(*arguments: object) -> tuple[int, str]:
        status = recover(*arguments)  # type: ignore[arg-type]  # each call below has the three
        output = capsys.readouterr()
        assert output.out == ""
        return status, output.err

    assert refusal(tmp_path / "other", None, False) == (1, f"antumbra: there is no log in {tmp_path / 'other'}\n")
    assert not (tmp_path / "other").exists()
    status, line = refusal(data_dir, "nothing", True)
    assert (status, line.startswith("antumbra: the log has no segment nothing; there are ")) == (2, True)
    lock = FolderLock(data_dir)
    lock.acquire()
    assert refusal(data_dir, None, False)[1].startswith(
        f"antumbra: the data folder {data_dir} is in use by another server"
    )
    lock.release()
    folder = data_dir / "checkpoints"
    write_checkpoint(STORAGE, folder, Checkpoint(1, 1, 1, 1, 1, 1, 0, (), ()), [])
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:8] + b"\x63" + path.read_bytes()[9:])
    assert "another version of Antumbra" in refusal(data_dir, None, False)[1]


def test_damage_that_no_start_needs(writer: LogWriter) -> None:
    records = small_log(writer)
    folder, name = writer.folder, writer.names[1]
    needed = read_log(STORAGE, folder)[records[name][4] - 1]
    damage(folder / name, PAGE_BYTES + 20)
    assert look(folder).damaged is not None
    inspection = inspect(STORAGE, folder, (needed.position, needed.sequence))
    assert inspection.damaged is None
    assert f"  damaged at offset {PAGE_BYTES}, before what a start reads" in text(inspection)
    assert inspection.files[1].content.records_count == len(records[name]) - 4
    later = read_log(STORAGE, folder, needed.position, needed.sequence)[-1]
    (folder / writer.names[0]).unlink()
    for offset in (20, PAGE_BYTES + 20):
        damage(folder / name, offset)
        assert inspect(STORAGE, folder, (later.position, later.sequence)).damaged is None
