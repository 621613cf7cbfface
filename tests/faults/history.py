"""Acknowledgements that a client of a failing machine got, and what therefore must, may and must
not be there after the next start.

Enters: operations, run one after the other on a machine. Leaves: problems, as texts: a refusal with
another SQLSTATE than the disk's, a server that does not read any more, or states that are none of
those that are possible. What was acknowledged counts, what was refused does not, and of what was
neither, everything or nothing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import Enum, auto

from engine.log.commit_log import CommitLog
from engine.log.segments import CorruptLogError
from sql.errors import SqlError
from tests.faults.expected import Answers, Expected, observe
from tests.faults.machine import Machine, MachineClient
from tests.faults.operations import Kind, Operation

DISK_ERRORS = ("53100", "58030")
# What an answer says when its transaction may still be there, and when nothing but a restart helps.
UNDECIDED = "decided at the next start"
LASTING = "the server"


class Outcome(Enum):
    """COUNTS, or not, or OPEN: may count after the next start. LOOSE: counts in the running server,
    but may be lost with it.
    """

    COUNTS = auto()
    REFUSED = auto()
    OPEN = auto()
    LOOSE = auto()


@dataclass
class Step:
    """An operation that was tried."""

    operation: Operation
    outcome: Outcome


@dataclass
class History:
    """Operations on one machine so far.

    begun: what was there before; problems: what should not have happened; told: the text of the
    last error.
    """

    machine: Machine
    begun: Expected = field(default_factory=Expected)
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    client: MachineClient | None = None
    told: str = ""

    # Running.

    def start(self) -> bool:
        """Start the server; return whether it runs. Raises PowerLossError."""
        self.client = None
        try:
            self.machine.start()
        except (SqlError, OSError, CorruptLogError) as error:
            self.told = str(error)
            self._require(self.told.strip() != "", f"the server does not start, and does not say why: {error!r}")
            self.machine.restart()
            return False
        self.client = self.machine.client()
        return True

    def start_again(self) -> bool:
        """Start the server on a disk that does not fail now."""
        started = self.start()
        self._require(started, f"the server does not start: {self.told}")
        return started

    def run(self, operation: Operation) -> Outcome:
        """Do an operation and keep what came of it. Raises PowerLossError when the power goes
        off.
        """
        step = Step(operation, Outcome.OPEN)
        self.steps.append(step)
        step.outcome = self._outcome(operation)
        if step.outcome is Outcome.COUNTS and operation.is_durable:
            self._settle()
        return step.outcome

    def try_again(self, operation: Operation) -> None:
        """Do once more what the disk has refused once: it succeeds, or it is said that a restart is
        needed.
        """
        told = self.told
        if self.is_possible(operation) and self.run(operation) is Outcome.REFUSED:
            self._require(DISK_ERRORS[0] not in told, f"{operation.name} fails again, after {told}: {self.told}")
            self._require(LASTING in self.told, f"{operation.name} fails again without need: {self.told}")

    def is_possible(self, operation: Operation) -> bool:
        """Tell whether what an operation needs is there."""
        return self.client is not None and operation.needs <= self.running().names

    def _outcome(self, operation: Operation) -> Outcome:
        if operation.kind is Kind.RESTART:
            return self._restarted()
        assert self.machine.world is not None and self.client is not None
        log = self.machine.world.database.log
        took = log.takes
        if operation.kind is Kind.TURN:
            log.tend(sync=True)
            self.told = failure_of(log)
            return Outcome.REFUSED if self.told else Outcome.COUNTS
        error: tuple[str, str] | None = None
        for message in operation.messages:
            error = error or self._error(message)
        if error is not None and self.client.session.block.open is not None:
            self.client.run("ROLLBACK")
        if error is None:
            self._require(not operation.sqlstate, f"{operation.name} succeeds")
            return Outcome.LOOSE if operation.is_loose else Outcome.COUNTS
        sqlstate, self.told = error
        if sqlstate == operation.sqlstate:
            return Outcome.COUNTS
        self._require(sqlstate in DISK_ERRORS, f"{operation.name}: {self.told}")
        return Outcome.OPEN if took and UNDECIDED in self.told else Outcome.REFUSED

    def _restarted(self) -> Outcome:
        """Stop and start, and look at what is there."""
        assert self.machine.world is not None
        log = self.machine.world.database.log
        self.client = None
        try:
            self.machine.stop()
        except (SqlError, OSError) as error:
            self.problems.append(f"the server does not stop in order: {error!r}")
        if not failure_of(log):
            self._settle()
        self.machine.restart()
        if not self.start():
            return Outcome.REFUSED
        self.check_started("stopped and started")
        return Outcome.COUNTS

    def _error(self, message: bytes) -> tuple[str, str] | None:
        """Send a message; return SQLSTATE and the whole text of the error that it is answered
        with.
        """
        assert self.client is not None
        for text, fields in self.client.say(message):
            if text.startswith("E "):
                return text.split()[1].rstrip(":"), f"{text} {fields}"
        return None

    def _settle(self) -> None:
        """Take what was acknowledged as durable."""
        for step in self.steps:
            if step.outcome is Outcome.LOOSE:
                step.outcome = Outcome.COUNTS

    def _require(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)

    # What must be there.

    def running(self) -> Expected:
        """Return what the running server must show."""
        counting = {Outcome.COUNTS, Outcome.LOOSE}
        expected = self._after([step.outcome in counting for step in self.steps])
        assert expected is not None
        return expected

    def possible(self) -> list[Expected]:
        """Return all that the next start may find."""
        choices = [
            (True,)
            if step.outcome is Outcome.COUNTS
            else (False,)
            if step.outcome is Outcome.REFUSED
            else (True, False)
            for step in self.steps
        ]
        found = (self._after(choice) for choice in itertools.product(*choices))
        return [expected for expected in found if expected is not None]

    def check_running(self, moment: str) -> None:
        """Compare what the running server shows with what it must show."""
        assert self.client is not None
        self._require_equal(observe(self.client), self.running().answers(), f"{moment}, in the running server")

    def check_started(self, moment: str) -> bool:
        """Compare what a start has found with what it may find, and go on from there. Return
        whether it is one of these.
        """
        assert self.client is not None
        found = observe(self.client)
        possible = self.possible()
        for expected in possible:
            if expected.answers() == found:
                self.begun, self.steps = expected, []
                return True
        self._require_equal(
            found, possible[0].answers(), f"{moment}, after the start, in the likeliest of {len(possible)} states"
        )
        return False

    def _after(self, counts: tuple[bool, ...] | list[bool]) -> Expected | None:
        """Return what is there when these of the steps count; None when they can't."""
        expected = self.begun.copy()
        for step, does in zip(self.steps, counts, strict=True):
            if does and not step.operation.sqlstate:
                if not step.operation.needs <= expected.names:
                    return None
                step.operation.effect(expected)
        return expected

    def _require_equal(self, found: Answers, expected: Answers, moment: str) -> None:
        differences = found.differences(expected)
        if differences:
            self.problems.append(f"{moment}: is / should be\n    " + "\n    ".join(differences))


def failure_of(log: CommitLog) -> str:
    """Return what is told to those who write to a log that has failed, nothing for one that has
    not.
    """
    try:
        log.check()
    except SqlError as error:
        return f"{error.sqlstate} {error.message} {error.hint}"
    return ""
