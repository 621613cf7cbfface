"""The replay of a log against a plain model that knows from the beginning what becomes of each
transaction.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from engine.log.batches import Batches
from engine.log.records import COMMIT, COMMITTED, PREPARE, ROWS, STATEMENT_SHIFT, Record
from engine.log.replay import RECORDS_COUNT, LoggedRows, Replay
from engine.log.undecided_rows import UndecidedRowsStore
from engine.storage.storage import DiskStorage
from ringbuffer.pages.log_rows import FLAG_COMMITS, GROUPS_FORM, JOINED_FORM, ROW_FORM, ROWS_HEAD
from sql.errors import SqlError

Effect = tuple[Any, ...]


class Effects:
    """A target that writes down what happens to it."""

    def __init__(self) -> None:
        self.seen: list[Effect] = []
        self.arrivals_us: list[int | None] = []

    def apply_rows(self, stream_oid: int, rows: Iterable[LoggedRows], views: Collection[int] | None) -> None:
        told = []
        for each in rows:
            told.append((bytes(each.rows), each.now_us, each.columns_count))
            self.arrivals_us.append(each.arrival_us)
        self.seen.append(("rows", stream_oid, told, None if views is None else list(views)))

    def attach(self, oids: Sequence[int]) -> None:
        self.seen.append(("attach", list(oids)))

    def detach(self, oids: Sequence[int]) -> None:
        self.seen.append(("detach", list(oids)))

    def join(self, state_oid: int, probe: int, rows: bytes) -> None:
        self.seen.append(("join", state_oid, probe, rows))

    def begin(self, state_oid: int, groups: Iterable[memoryview]) -> None:
        self.seen.append(("begin", state_oid, b"".join(groups)))

    def keep_newest(self, stream_oid: int, count: int) -> None:
        self.seen.append(("keep newest", stream_oid, count))

    def finish(self) -> None:
        self.seen.append(("finish",))


class Log:
    """Records as they are read back. Positions grow by 64 bytes and the payload."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.position = 0

    def add(self, kind: int, transaction: int, payload: bytes = b"", flags: int = 0) -> Record:
        end = self.position + 64 + len(payload)
        sequence = len(self.records) + 1
        record = Record(
            self.position, end, kind, flags, sequence, self.position, transaction, sequence, memoryview(payload)
        )
        self.records.append(record)
        self.position = end
        return record

    def rows(self, transaction: int, stream: int, content: bytes, statement: int = 0, commits: bool = False) -> Record:
        payload = ROWS_HEAD.pack(stream, ROW_FORM, 3, 1000 + transaction) + content
        return self.add(ROWS, transaction, payload, statement << STATEMENT_SHIFT | FLAG_COMMITS * commits)

    def prepare(self, transaction: int, **told: object) -> Record:
        return self.add(PREPARE, transaction, json.dumps(told).encode())


def keeper(tmp_path: Path, bytes_max: int = 1 << 20) -> UndecidedRowsStore:
    return UndecidedRowsStore(bytes_max, lambda: DiskStorage().temporary(tmp_path))


def replayed(
    records: Iterable[Record],
    tmp_path: Path,
    numbers: Collection[int] = (),
    position: int = 0,
    bytes_max: int = 1 << 20,
) -> tuple[list[Effect], Replay]:
    """Return the effects of some records, and the machine at their end."""
    target = Effects()
    replay = Replay(target, numbers, position, 1, keeper(tmp_path, bytes_max), Batches(0))
    for record in records:
        replay.take(record)
    return target.seen, replay


def row(content: bytes, transaction: int) -> tuple[bytes, int, int]:
    return content, 1000 + transaction, 3


def test_a_row_by_itself(tmp_path: Path) -> None:
    log = Log()
    log.rows(7, 100, b"a", commits=True)
    seen, replay = replayed(log.records, tmp_path)
    assert seen == [("rows", 100, [row(b"a", 7)], None)]
    assert (replay.highest_transaction, replay.highest_sequence, replay.applied_count) == (7, 1, 1)


def test_rows_arrive_when_their_transaction_is_decided(tmp_path: Path) -> None:
    log, target = Log(), Effects()
    log.rows(1, 100, b"a")
    log.rows(2, 100, b"b", commits=True)
    log.rows(3, 100, b"c")
    log.rows(1, 100, b"d")
    log.add(COMMIT, 1)
    log.prepare(3, records=1)
    log.rows(4, 100, b"never")
    replay = Replay(target, (3,), 0, 1, keeper(tmp_path), Batches(0))
    for record in log.records:
        replay.take(record)
    # The time of a record is its number here.
    assert target.arrivals_us == [2, 5, 5, 6]
    assert replay.newest_us == 7


def test_interleaved_transactions_count_at_their_commits(tmp_path: Path) -> None:
    log = Log()
    log.rows(1, 100, b"a")
    log.rows(2, 100, b"b")
    log.rows(1, 100, b"c")
    log.rows(3, 100, b"never")
    log.rows(1, 101, b"d", statement=1)
    log.add(COMMIT, 2)
    log.rows(1, 101, b"e", statement=2)
    log.add(COMMIT, 1)
    seen, replay = replayed(log.records, tmp_path)
    assert seen == [
        ("rows", 100, [row(b"b", 2)], None),
        ("rows", 100, [row(b"a", 1), row(b"c", 1)], None),
        ("rows", 101, [row(b"d", 1)], None),
        ("rows", 101, [row(b"e", 1)], None),
    ]
    assert (replay.open_count, replay.oldest_open) == (1, (log.records[3].position, 4))
    replay.finish()
    assert (replay.open_count, replay.oldest_open) == (0, None)


def test_what_a_view_joins_with_counts_with_its_transaction_and_before_its_rows(tmp_path: Path) -> None:
    log = Log()
    for number in (1, 2):
        log.rows(number, 100, b"a")
        for probe, piece in ((0, b"first "), (0, b"side"), (1, b"second side")):
            log.add(ROWS, number, ROWS_HEAD.pack(200, JOINED_FORM, probe, 0) + piece)
        log.prepare(number, records=4)
    seen, replay = replayed(log.records, tmp_path, {2})
    assert seen == [
        ("join", 200, 0, b"first side"),
        ("join", 200, 1, b"second side"),
        ("rows", 100, [row(b"a", 2)], None),
    ]
    assert replay.open_count == 0


def test_the_tables_decide_what_is_prepared(tmp_path: Path) -> None:
    log = Log()
    for number in (1, 2):
        log.rows(number, 100, b"a")
        log.rows(number, 100, b"b", statement=1)
        log.prepare(number, created=[200, 201], dropped=[199], views=[[198], [198, 200]], kept=[[100, 8]])
    log.add(COMMITTED, 2)
    seen, _ = replayed(log.records, tmp_path, {2})
    assert seen == [
        ("attach", [200, 201]),
        ("rows", 100, [row(b"a", 2)], [198]),
        ("rows", 100, [row(b"b", 2)], [198, 200]),
        ("keep newest", 100, 8),
        ("detach", [199]),
    ]


def test_definitions_alone_are_prepared_without_rows(tmp_path: Path) -> None:
    log = Log()
    log.prepare(1, created=[200], dropped=[])
    assert replayed(log.records, tmp_path, {1})[0] == [("attach", [200])]


def test_tables_older_than_the_log(tmp_path: Path) -> None:
    log = Log()
    log.prepare(1, created=[200], dropped=[])
    log.add(COMMITTED, 1)
    with pytest.raises(SqlError, match="transaction 1 is committed") as raised:
        replayed(log.records, tmp_path)
    assert raised.value.sqlstate == "XX001"


def test_what_was_decided_before_the_position_is_in_the_checkpoint(tmp_path: Path) -> None:
    log = Log()
    log.rows(1, 100, b"a")
    log.rows(2, 100, b"b")
    log.rows(3, 100, b"c", commits=True)
    log.prepare(4, created=[200], dropped=[], views=[])
    log.add(COMMIT, 1)
    position = log.position
    log.add(COMMITTED, 4)
    log.add(COMMIT, 2)
    seen, replay = replayed(log.records, tmp_path, (), position)
    assert seen == [("rows", 100, [row(b"b", 2)], None)]
    assert (replay.highest_transaction, replay.open_count) == (4, 0)


@pytest.mark.parametrize("payload", [b"", b"[]", b"nothing", b'{"created": 3}', b'{"views": [["x"]]}'])
def test_a_prepared_transaction_that_nobody_can_read(payload: bytes, tmp_path: Path) -> None:
    log = Log()
    log.add(PREPARE, 1, payload)
    with pytest.raises(SqlError, match="record 1 of the log prepares something unreadable"):
        replayed(log.records, tmp_path, {1})


def test_rows_of_another_form_or_too_short(tmp_path: Path) -> None:
    for payload in (ROWS_HEAD.pack(100, GROUPS_FORM + 1, 3, 0), b"12"):
        log = Log()
        log.add(ROWS, 1, payload)
        with pytest.raises(SqlError, match="record 1 of the log"):
            replayed(log.records, tmp_path)


def test_a_transaction_with_another_number_of_records_than_it_says(tmp_path: Path) -> None:
    log = Log()
    log.rows(1, 100, b"a")
    log.add(COMMIT, 1, RECORDS_COUNT.pack(1))
    log.rows(2, 100, b"b")
    log.add(COMMIT, 2, RECORDS_COUNT.pack(2))
    target = Effects()
    replay = Replay(target, (), 0, 1, keeper(tmp_path), Batches(0))
    for record in log.records[:3]:
        replay.take(record)
    assert len(target.seen) == 1
    with pytest.raises(SqlError, match="transaction 2 of the log has 1 records of rows, not 2"):
        replay.take(log.records[3])


def test_after_a_gap_transactions_that_may_be_half_there_are_left_out(tmp_path: Path) -> None:
    log = Log()
    log.rows(1, 100, b"a")
    log.rows(1, 100, b"lost")
    log.rows(2, 100, b"lost")
    log.rows(2, 100, b"b")
    log.rows(3, 100, b"lost")
    log.prepare(3, created=[200], dropped=[], records=1)
    log.rows(4, 100, b"d")
    log.add(COMMIT, 4, RECORDS_COUNT.pack(1))
    log.add(COMMIT, 1, RECORDS_COUNT.pack(2))
    log.add(COMMIT, 2, RECORDS_COUNT.pack(2))
    log.rows(5, 100, b"lost")
    log.rows(6, 100, b"e")
    log.rows(7, 100, b"f")
    log.rows(8, 100, b"lost")
    log.add(COMMIT, 6, RECORDS_COUNT.pack(1))
    log.add(COMMIT, 7)
    kept = [record for record in log.records if not bytes(record.payload).endswith(b"lost")]
    seen, replay = replayed(kept, tmp_path, {3})
    assert seen == [("attach", [200]), ("rows", 100, [row(b"d", 4)], None), ("rows", 100, [row(b"e", 6)], None)]
    assert replay.lost == [3, 1, 2, 7], "the last one does not say how many records it has"


@dataclass
class Plan:
    """A transaction of the random history: what it does, and what becomes of it. effects: what
    replay must do at its last record.
    """

    number: int
    steps: list[tuple[int, int, bytes]]
    outcome: str
    created: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)

    @property
    def views(self) -> list[list[int]]:
        """A number per statement that no other statement has."""
        statements = 1 + max((statement for _, statement, _ in self.steps), default=-1)
        return [[1000 * self.number + statement] for statement in range(statements)]

    def effects(self) -> list[Effect]:
        found: list[Effect] = [("attach", self.created)] if self.created else []
        for (stream, statement), steps in groupby(self.steps, lambda step: step[:2]):
            views = self.views[statement] if self.outcome.startswith("prepare") else None
            found.append(("rows", stream, [row(content, self.number) for _, _, content in steps], views))
        return [*found, *([("detach", self.dropped)] if self.dropped else [])]


def random_plan(choose: random.Random, number: int) -> Plan:
    outcome = choose.choice(["single", "single", "commit", "commit", "commit", "abort", "prepare", "prepare lost"])
    pieces_count = 1 if outcome == "single" else choose.randint(0, 6)
    statement, steps = 0, []
    stream = choose.choice((100, 101))
    for piece in range(pieces_count):
        if piece and choose.random() < 0.5:
            statement, stream = statement + 1, choose.choice((100, 101))
        steps.append((stream, statement, f"{number}.{piece}".encode() * choose.randint(1, 20)))
    plan = Plan(number, steps, outcome)
    if outcome.startswith("prepare"):
        plan.created = [choose.randint(200, 300) for _ in range(choose.randint(0, 2))]
        plan.dropped = [choose.randint(200, 300) for _ in range(choose.randint(0, 2))]
    return plan


@pytest.mark.turns(2)
@pytest.mark.parametrize("seed", range(200))
def test_any_history_from_any_position(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    plans = [random_plan(choose, number) for number in range(1, choose.randint(2, 30))]
    log = Log()
    waiting, running = list(plans), dict[int, tuple[Plan, int]]()
    # After each record: the effects so far, and where the oldest undecided transaction begins.
    effects: list[Effect] = []
    firsts: dict[int, tuple[int, int]] = {}
    states = [(0, 0, (0, 1))]
    while waiting or running:
        if waiting and (not running or choose.random() < 0.4):
            plan = waiting.pop(0)
            running[plan.number] = (plan, 0)
        number = choose.choice(list(running))
        plan, done = running[number]
        first = log.position, len(log.records) + 1
        if done < len(plan.steps):
            stream, statement, content = plan.steps[done]
            log.rows(number, stream, content, statement, commits=plan.outcome == "single")
            running[number] = (plan, done + 1)
            if plan.outcome == "single":
                effects += plan.effects()
                del running[number]
            else:
                firsts.setdefault(number, first)
        else:
            del running[number]
            firsts.pop(number, None)
            if plan.outcome == "commit":
                log.add(COMMIT, number, choose.choice([b"", RECORDS_COUNT.pack(len(plan.steps))]))
                effects += plan.effects()
            elif plan.outcome.startswith("prepare"):
                log.prepare(
                    number, created=plan.created, dropped=plan.dropped, views=plan.views, records=len(plan.steps)
                )
                if plan.outcome == "prepare":
                    effects += plan.effects()
                    if choose.random() < 0.5:
                        log.add(COMMITTED, number)
        states.append((len(effects), log.position, min(firsts.values(), default=(log.position, len(log.records) + 1))))
    numbers = {plan.number for plan in plans if plan.outcome == "prepare"}
    bytes_max = choose.choice((0, 50, 1 << 20))
    for done, position, (_, sequence) in choose.sample(states, min(5, len(states))):
        target = Effects()
        kept = keeper(tmp_path, bytes_max)
        replay = Replay(target, numbers, position, sequence, kept, Batches(0))
        for record in log.records[sequence - 1 :]:
            replay.take(record)
        assert target.seen == effects[done:], f"seed {seed} from {position}"
        assert replay.highest_sequence == len(log.records)
        replay.finish()
        assert (kept.bytes_count, replay.open_count) == (0, 0)
