"""Every storage event of a fixed sequence fails, fails from then on, or is the moment of a power
loss; then the database is started again.

All that was acknowledged is there once, nothing else, and nothing by half: in rings, views and
tables. In the running server reading goes on, and writers are told 53100 or 58030. That the test
would see a sync that is missing is tested as well.
"""

from __future__ import annotations

import errno
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from engine.log.commit_log import CommitLog
from tests.faults.history import History, Outcome
from tests.faults.machine import Machine, fast_starts
from tests.faults.operations import Operation, short_sequence, whole_sequence
from tests.faults.simulated_storage import TAKE_ROOM, Event, Failure, PowerLossError
from tests.oracle.evidence import Evidence

pytestmark = pytest.mark.slow

# Shares of --seconds and --cases.
SECONDS_SHARE = 1 / 40
CASES_SHARE = 1 / 2
IMAGES_COUNT = 2
FAILURES_MAX = 10
GOOD = (Outcome.COUNTS, Outcome.LOOSE)


@dataclass(frozen=True)
class Way:
    """Fault at an event. is_end: the process ends there; keeps_writes: the machine does
    not, so that all it wrote is there.
    """

    name: str
    failure: Failure
    code: int = 0
    is_end: bool = False
    keeps_writes: bool = False

    @property
    def lasts(self) -> bool:
        """True when all later events fail as well."""
        return self.failure is Failure.FROM_THEN_ON


BEFORE, AFTER = Failure.POWER_LOSS_BEFORE, Failure.POWER_LOSS_AFTER
LOST = Way("power lost after it", AFTER, is_end=True)
WAYS = (
    Way("EIO once", Failure.ONCE, errno.EIO),
    Way("ENOSPC once", Failure.ONCE, errno.ENOSPC),
    LOST,
    Way("EIO from then on", Failure.FROM_THEN_ON, errno.EIO),
    Way("killed after it", AFTER, is_end=True, keeps_writes=True),
    Way("ENOSPC from then on", Failure.FROM_THEN_ON, errno.ENOSPC),
    Way("power lost before it", BEFORE, is_end=True),
    Way("killed before it", BEFORE, is_end=True, keeps_writes=True),
)
# A busy machine may write apart what an idle one writes at once.
WRITTEN_APART_MAX = 3
# Numbers of operations after a start.
LATER, LATEST = 100, 200


@dataclass(frozen=True)
class Case:
    """Fault of the event `number`. seed: of what a failure leaves, and of what comes after
    it.
    """

    number: int
    way: Way
    seed: int

    def __str__(self) -> str:
        return f"event {self.number}: {self.way.name}, seed {self.seed}"


@pytest.fixture(scope="module", autouse=True)
def _fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with fast_starts(tmp_path_factory.mktemp("kernels")):
        yield


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, _fast: None) -> list[Event]:
    """The events of the sequence that nothing fails in."""
    machine = Machine(tmp_path_factory.mktemp("untouched") / "machine")
    history = History(machine)
    run_all(history, whole_sequence(), None)
    found = list(machine.disk.trace)
    assert not history.problems
    machine.end()
    return found


@pytest.mark.timeout(0)  # --seconds is its bound
def test_every_event(trace: list[Event], tmp_path: Path, evidence: Evidence, request: pytest.FixtureRequest) -> None:
    option = request.config.getoption
    cases_max, seconds_max = option("--cases") * CASES_SHARE, option("--seconds") * SECONDS_SHARE
    began_s = time.monotonic()
    tried = 0
    failures: list[str] = []
    for case in all_cases(trace, option("--seed")):
        if tried >= cases_max or time.monotonic() - began_s > seconds_max or len(failures) >= FAILURES_MAX:
            break
        tried += 1
        found = problems_of(case, tmp_path / str(tried))
        evidence.histogram[f"{trace[case.number - 1].kind}: {case.way.name}"] += 1
        if found:
            failures.append("\n  ".join((str(case), *found)))
            print(f"\n{failures[-1]}", flush=True)
    evidence.cases += tried
    evidence.failures += failures
    print(f"{tried} cases of {len(trace)} events in {time.monotonic() - began_s:.0f} s, seed {option('--seed')}")
    assert tried
    assert not failures, f"{len(failures)} of {tried} cases:\n\n" + "\n\n".join(failures)


def all_cases(trace: list[Event], seed: int) -> Iterator[Case]:
    """Yield cases without end: every event once before any comes again, and that in another way."""
    for round_number in itertools.count():
        numbers = list(range(1, len(trace) + 1))
        Random(seed + round_number).shuffle(numbers)
        for number in numbers:
            way = WAYS[(number + seed + round_number) % len(WAYS)]
            if way.code != errno.ENOSPC or way.lasts or trace[number - 1].kind in TAKE_ROOM:
                yield Case(number, way, seed + round_number * IMAGES_COUNT)


def test_the_sequence_has_everything(trace: list[Event], tmp_path: Path) -> None:
    """There are events of all kinds, and after the last ones there is none."""
    machine = Machine(tmp_path / "machine")
    machine.disk.fail_at(len(trace) + WRITTEN_APART_MAX + 1, BEFORE)
    run_all(History(machine), whole_sequence(), None)
    machine.end()
    kinds = {event.kind for event in trace}
    assert kinds >= {"write", "sync", "create", "rename", "remove", "make_folder", "sync_folder", "commit_tables"}
    renamed = [event.path for event in trace if event.kind == "rename"]
    assert sum(path.suffix == ".log" for path in renamed) >= 3 and sum(path.suffix == ".pages" for path in renamed) >= 3
    removed = [event.path for event in trace if event.kind == "remove"]
    assert {path.suffix for path in removed} >= {".log", ".pages"}


# What is left out on purpose. near: kind of the events at which a power loss shows it first.


@dataclass(frozen=True)
class Mutation:
    """Something that is left out on purpose. near: the kind of event at which a power loss shows it
    soonest.
    """

    name: str
    do: Callable[[Machine, pytest.MonkeyPatch], None]
    near: str

    def __str__(self) -> str:
        return self.name

    def applied(self, patch: pytest.MonkeyPatch) -> Callable[[Machine], None]:
        """Return what leaves it out on a machine."""
        return lambda machine: self.do(machine, patch)


def without_sync(matches: Callable[[Path], bool]) -> Callable[[Machine, pytest.MonkeyPatch], None]:
    return lambda machine, _: machine.disk.ignore_sync(matches)


def commit_late(machine: Machine, _: pytest.MonkeyPatch) -> None:
    machine.disk.commits_late = True


def prepare_late(_: Machine, patch: pytest.MonkeyPatch) -> None:
    """Let what is prepared in the log be durable some time after the COMMIT of the table engine."""
    flush = CommitLog.flush
    # Nobody else appends while a transaction is prepared.
    patch.setattr(CommitLog, "flush", lambda self, sync=False: flush(self, sync and self.takes))


MUTATIONS = (
    Mutation("log segment", without_sync(lambda path: path.parent.name == "log"), "sync"),
    Mutation("log folder", without_sync(lambda path: path.name == "log"), "write"),
    Mutation("checkpoint", without_sync(lambda path: ".pages" in path.name), "remove"),
    Mutation("checkpoints folder", without_sync(lambda path: path.name == "checkpoints"), "remove"),
    Mutation("tables folder", without_sync(lambda path: path.name.startswith("process_")), "commit_tables"),
    Mutation("COMMIT of the tables", commit_late, "write"),
    Mutation("PREPARE before COMMIT", prepare_late, "commit_tables"),
)


@pytest.mark.turns(4)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_missing_sync_is_seen(
    mutation: Mutation, trace: list[Event], tmp_path: Path, request: pytest.FixtureRequest, evidence: Evidence
) -> None:
    seed = request.config.getoption("--seed")
    numbers = list(range(1, len(trace) + 1))
    Random(seed).shuffle(numbers)
    numbers.sort(key=lambda number: trace[number - 1].kind != mutation.near)
    for tried, number in enumerate(numbers):
        case = Case(number, LOST, seed)
        with pytest.MonkeyPatch.context() as patch:
            found = problems_of(case, tmp_path / str(tried), mutation.applied(patch))
        if found:
            assert not problems_of(case, tmp_path / "whole"), "with all syncs there is nothing to be seen"
            evidence.histogram[f"without {mutation}: seen in case"] = tried + 1
            return
    pytest.fail(f"nothing shows that {mutation} is missing")


# One case.


def problems_of(case: Case, folder: Path, mutate: Callable[[Machine], None] | None = None) -> list[str]:
    """Run the sequence with one failure, and start again; return what is wrong. A mutated machine
    may have fewer events.
    """
    machine = Machine(folder, case.seed)
    if mutate is not None:
        mutate(machine)
    machine.disk.fail_at(case.number, case.way.failure, case.way.code)
    history = History(machine)
    try:
        run_all(history, whole_sequence(), case)
        assert mutate is not None or not case.way.is_end, f"{case}: there was no such event"
    except PowerLossError:
        assert case.way.is_end, f"{case}: the power went off"
    if case.way.is_end and not case.way.keeps_writes:
        for seed in range(case.seed, case.seed + IMAGES_COUNT):
            if not history.problems:
                image = History(machine.image(seed), history.begun, list(history.steps), history.problems)
                check_starts(image, seed, f"power lost, seed {seed}")
                image.machine.end()
    else:
        machine.kill()
        check_starts(history, case.seed, "killed")
    machine.end()
    return history.problems


def run_all(history: History, operations: tuple[Operation, ...], case: Case | None) -> None:
    """Start, and run the operations; what a failing disk has refused is tried again. Raises
    PowerLossError.
    """
    lasts = case is not None and case.way.lasts
    if not history.start() and (lasts or not history.start_again()):
        return
    has_failed = False
    for operation in operations:
        if not history.is_possible(operation) or history.run(operation) in GOOD:
            continue
        assert case is not None, f"{operation.name} fails: {history}"
        if history.client is None and (lasts or not history.start_again()):
            return
        if not has_failed:
            history.check_running(f"{operation.name} has failed")
        has_failed = True
        if not lasts:
            history.try_again(operation)
    history.check_running("at the end")


def check_starts(history: History, seed: int, moment: str) -> None:
    """Start, look at what is there, go on, lose the power, and do so again; now and then it goes
    off earlier, as in the start.
    """
    machine = history.machine
    chance = Random(f"{seed} {moment}")
    if chance.random() < 0.4:
        machine.disk.fail_at(machine.disk.events + chance.randint(1, 10), chance.choice((BEFORE, AFTER)))
    try:
        if not history.start_again() or not history.check_started(moment):
            return
        go_on(history, short_sequence(LATER))
    except PowerLossError:
        moment += ", and soon again"
    machine.lose_power(seed)
    if history.start_again() and history.check_started(f"{moment}, power lost after that"):
        go_on(history, short_sequence(LATEST))
        history.check_running(f"{moment}, after the second start")


def go_on(history: History, operations: tuple[Operation, ...]) -> None:
    """Run operations that nothing hinders."""
    for operation in operations:
        if history.is_possible(operation) and history.run(operation) not in GOOD:
            history.problems.append(f"{operation.name} fails after the start: {history.told}")
