"""A database that is killed again and again equals its twin that never was: same views, same rings,
same tables, to the byte.

Both are told the same at the same times of day, so that views whose rows' expressions use now()
count alike. They are read and make their checkpoints at different moments, which must not be seen.
What was under way at a power loss is there or not, and is then told again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from engine.catalog.image import StreamEntry
from ringbuffer.memory.arrow import morsel_to_arrow
from tests.end_to_end.raw_client import query
from tests.faults.machine import Machine, MachineClient, shared_kernels
from tests.faults.random_operations import Drawing, Operation
from tests.faults.simulated_storage import Failure, PowerLossError
from tests.oracle.evidence import Evidence

pytestmark = pytest.mark.slow

# Shares of --seconds and --cases.
SECONDS_SHARE = 1 / 60
CASES_SHARE = 1 / 25
OPERATIONS_COUNT = 50
FIRST_US = 1_772_500_000_000_000
ENDS = ("kill", "power loss", "stop")


@dataclass
class TestClock:
    """A time of day that stands still until it is set."""

    __test__ = False

    time_us: int = FIRST_US

    def now_us(self) -> int:
        return self.time_us

    def monotonic_s(self) -> float:
        return time.monotonic()


class Twin:
    """One of the two."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.clock = TestClock()
        self.machine = Machine(folder, seed, self.clock)
        self.client: MachineClient | None = None
        self.start()

    def start(self) -> None:
        self.machine.start()
        self.client = self.machine.client()

    def tell(self, operation: Operation) -> list[object]:
        """Send the messages and return all answers. Raises PowerLossError."""
        assert self.client is not None
        answers: list[object] = []
        for time_us, message in operation.messages:
            self.clock.time_us = time_us
            answers.append(self.client.say(message))
        return answers

    def make_durable(self) -> None:
        """Do what the log's thread does after some time."""
        assert self.machine.world is not None
        self.machine.world.database.log.tend(sync=True)

    def end(self, how: str, seed: int) -> None:
        """End the process, and start the next one."""
        if how == "power loss":
            self.machine.lose_power(seed)
        elif how == "stop":
            self.machine.disk._failures.clear()
            self.machine.stop()
            self.machine.restart()
        else:
            self.machine.kill()
        self.start()

    def contents(self, time_us: int) -> dict[str, object]:
        """Return everything that there is, by name."""
        assert self.client is not None
        self.clock.time_us = time_us
        found: dict[str, object] = {}
        for name, entry in self.client.session.server.catalog.image.entries.items():
            if isinstance(entry, StreamEntry):
                ring = entry.stream.ring
                morsel = ring.read(ring.oldest_tid, ring.tuples_count - ring.oldest_tid)
                found[name] = (ring.tuples_count, morsel_to_arrow(morsel, ring.layout))
            else:
                found[name] = sorted(self.client.rows(f"SELECT * FROM {name}"))
        return found


@dataclass
class Pair:
    """A database that is killed, and its twin. story: the events so far, for a person who looks for
    a difference.
    """

    killed: Twin
    spared: Twin
    chance: Random
    story: list[str] = field(default_factory=list)
    ends_count: int = 0

    def do(self, operation: Operation) -> None:
        """Tell both, whatever happens to the one."""
        before = None
        if self.killed.machine.disk._failures:
            before = self.spared.contents(operation.messages[0][0])
        try:
            answers = self.killed.tell(operation)
            if before is not None and operation.is_loose:
                self.killed.make_durable()
        except PowerLossError:
            assert before is not None
            self.end(self.chance.choice(ENDS[:2]), f"during {operation.name}")
            time_us = operation.messages[-1][0]
            if self.killed.contents(operation.messages[0][0]) != before:
                self.spared.tell(operation)
                self.compare(time_us)
                return
            answers = self.killed.tell(operation)
        assert answers == self.spared.tell(operation), self.told(f"answers to {operation}")

    def end(self, how: str, moment: str) -> None:
        """End the process of the one."""
        self.story.append(f"{how} {moment}")
        self.ends_count += 1
        self.killed.end(how, self.chance.randrange(1 << 30))

    def may_end(self) -> None:
        """End the process of the one now, or in the midst of what comes, or not at all."""
        kind = self.chance.random()
        if kind < 0.12:
            if not self.killed.machine.disk._failures:
                # What nobody has waited for may be lost.
                self.killed.make_durable()
            self.end(self.chance.choice(ENDS), "between operations")
        elif kind < 0.25 and not self.killed.machine.disk._failures:
            self.killed.make_durable()
            disk = self.killed.machine.disk
            failure = self.chance.choice((Failure.POWER_LOSS_BEFORE, Failure.POWER_LOSS_AFTER))
            disk.fail_at(disk.events + self.chance.randint(1, 6), failure)

    def look(self, message: bytes, time_us: int) -> None:
        """Let one of them do something that must not be seen."""
        twin = self.chance.choice((self.killed, self.spared))
        try:
            twin.tell(Operation("look", ((time_us, message),)))
        except PowerLossError:
            self.end(self.chance.choice(ENDS[:2]), "during a look")

    def compare(self, time_us: int) -> None:
        """Raise AssertionError where the two differ."""
        ours, theirs = (twin.contents(time_us) for twin in (self.killed, self.spared))
        differing = [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)]
        shown = "\n".join(f"{name}:\n  {ours.get(name)!s:.1500}\n  {theirs.get(name)!s:.1500}" for name in differing)
        assert not differing, self.told(shown)

    def told(self, what: str) -> str:
        return f"{what}\nafter\n  " + "\n  ".join(self.story[-40:])


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


@pytest.mark.turns(2, 1)
@pytest.mark.timeout(0)  # --seconds is its bound
def test_a_killed_database_equals_its_twin(tmp_path: Path, evidence: Evidence, request: pytest.FixtureRequest) -> None:
    option = request.config.getoption
    cases_max, seconds_max = max(option("--cases") * CASES_SHARE, 1), option("--seconds") * SECONDS_SHARE
    began_s = time.monotonic()
    tried = 0
    while tried < cases_max and time.monotonic() - began_s < seconds_max:
        seed = option("--seed") + tried
        print(f"seed {seed}", flush=True)
        evidence.histogram["twin: ends"] += run_case(seed, tmp_path / str(tried))
        tried += 1
    evidence.histogram["twin: cases"] += tried
    print(f"{tried} pairs in {time.monotonic() - began_s:.0f} s")


def run_case(seed: int, folder: Path) -> int:
    """Run a pair; return how often the one was killed."""
    folder.mkdir()
    chance = Random(seed)
    pair = Pair(Twin(folder / "killed", seed), Twin(folder / "spared", seed), chance)
    drawing = Drawing(Random(seed + 1), FIRST_US)
    for operation in drawing.setup():
        pair.do(operation)
    for _ in range(OPERATIONS_COUNT):
        operation = drawing.next()
        pair.story.append(f"{operation.name}: {[message[:200] for _, message in operation.messages]}")
        pair.do(operation)
        if chance.random() < 0.3:
            pair.look(query("CHECKPOINT") if chance.random() < 0.3 else drawing.view(), drawing.now_us)
        pair.may_end()
        if chance.random() < 0.1:
            pair.compare(drawing.now_us)
    pair.compare(drawing.now_us)
    for twin in (pair.killed, pair.spared):
        twin.machine.end()
    return pair.ends_count
