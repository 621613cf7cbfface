"""Processes that compile: an answer as from this one; given up, out of memory or killed, they are
replaced; they end with who asks.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ringbuffer.compile import processes as compile_process
from ringbuffer.compile.loader import load_code
from ringbuffer.compile.processes import CompileError, CompileProcess, CompileProcesses
from ringbuffer.compile.worker import CODE, NO_MEMORY, warm_up
from tests.ringbuffer.compile.test_loader import TEXT, TYPES

pytestmark = pytest.mark.slow

DATA = np.array([1, 2, 4])
# Machine code that takes minutes.
SLOW = TEXT.format(start=0).replace(
    "        found += data[row]\n",
    "".join(
        f"        if data[row] % {number + 2} == {number}:\n            found += {number}\n" for number in range(3000)
    ),
)
GIB = 1 << 30
WAIT_S_MAX = 60.0


class GivenUpError(Exception):
    """Nobody wants the code any more."""


class Patience:
    """A check that gives up once a process works. Called from the thread that waits."""

    def __init__(self, seconds: float) -> None:
        self.end_s = time.monotonic() + seconds

    def __call__(self) -> None:
        if time.monotonic() > self.end_s:
            raise GivenUpError


def never() -> None:
    """Give up never."""


@pytest.fixture
def processes() -> Iterator[CompileProcesses]:
    made = CompileProcesses(1, 2 * GIB, WAIT_S_MAX)
    yield made
    made.close()


def total(processes: CompileProcesses, start: int) -> int:
    code = processes.compile("some", TEXT.format(start=start), "total", TYPES, never)
    return load_code(code, "total", TYPES)(0, 3, DATA)


def only_process(processes: CompileProcesses) -> int:
    (process,) = processes._free
    return process.process_id


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_code_is_made_in_one_process_for_many(processes: CompileProcesses) -> None:
    assert total(processes, 0) == 7
    process_id = only_process(processes)
    assert total(processes, 10) == 17
    assert only_process(processes) == process_id
    processes.close()
    assert not is_alive(process_id)


def test_the_first_kernel_is_one() -> None:
    kind, _ = warm_up()
    assert kind == CODE


@pytest.mark.turns(2, 1)
def test_after_so_many_kernels_another_process_goes_on(
    processes: CompileProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_process, "COMPILED_MAX", 3)
    seen = []
    for start in range(7):
        assert total(processes, start) == 7 + start
        seen.append(only_process(processes))
    # The last one of each three has ended when its answer is there, and the next one is ready.
    assert seen[0] == seen[1] != seen[2] and seen[2] == seen[3] == seen[4] != seen[5] and seen[5] == seen[6]
    assert [is_alive(process_id) for process_id in (seen[0], seen[2], seen[5])] == [False, False, True]


def test_what_is_given_up_ends_at_once_and_the_next_one_is_answered(processes: CompileProcesses) -> None:
    assert total(processes, 0) == 7
    process_id = only_process(processes)
    began_s = time.monotonic()
    with pytest.raises(GivenUpError):
        processes.compile("slow", SLOW, "total", TYPES, Patience(0.5))
    assert time.monotonic() - began_s < 5
    assert not is_alive(process_id)
    assert total(processes, 0) == 7


@pytest.mark.turns(2, 1)
def test_who_waits_for_a_process_can_give_up_too(processes: CompileProcesses) -> None:
    first = threading.Thread(target=give_up, args=(processes, 4.0))
    first.start()
    while not processes._busy:
        time.sleep(0.01)
    began_s = time.monotonic()
    give_up(processes, 0.2)
    assert time.monotonic() - began_s < 3
    first.join()


def give_up(processes: CompileProcesses, seconds: float) -> None:
    with pytest.raises(GivenUpError):
        processes.compile("slow", SLOW, "total", TYPES, Patience(seconds))


def test_a_process_that_was_killed_is_replaced(processes: CompileProcesses) -> None:
    assert total(processes, 0) == 7
    os.kill(only_process(processes), signal.SIGKILL)
    assert total(processes, 10) == 17


def test_a_process_that_was_killed_before_anybody_asked_is_replaced(processes: CompileProcesses) -> None:
    processes.prepare()
    killed = only_process(processes)
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    assert total(processes, 0) == 7


def test_what_ends_its_process_is_refused(processes: CompileProcesses) -> None:
    """As the system does when it has no memory left."""

    def kill() -> None:
        for process in processes._busy:
            os.kill(process.process_id, signal.SIGKILL)

    with pytest.raises(CompileError) as found:
        processes.compile("slow", SLOW, "total", TYPES, kill)
    assert found.value.is_out_of_memory
    assert total(processes, 0) == 7


@pytest.mark.turns(2, 1)
def test_a_process_that_others_have_filled_is_replaced(
    processes: CompileProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert total(processes, 0) == 7
    full = only_process(processes)
    compile_in = CompileProcess.compile

    def without_room(process: CompileProcess, request: bytes, check: Callable[[], None]) -> tuple[bytes, bytes]:
        return (NO_MEMORY, b"") if process.process_id == full else compile_in(process, request, check)

    monkeypatch.setattr(CompileProcess, "compile", without_room)
    assert total(processes, 10) == 17
    assert only_process(processes) != full


def test_memory_and_time_have_limits() -> None:
    small = CompileProcesses(1, 100 << 20, WAIT_S_MAX)
    with pytest.raises(CompileError) as found:
        small.compile("any", TEXT.format(start=0), "total", TYPES, never)
    small.close()
    assert found.value.is_out_of_memory
    short = CompileProcesses(1, 2 * GIB, seconds_max=0.5)
    with pytest.raises(CompileError) as found:
        short.compile("slow", SLOW, "total", TYPES, never)
    short.close()
    assert found.value.seconds == 0.5
    with pytest.raises(CompileError):
        short.compile("late", TEXT.format(start=0), "total", TYPES, never)


def test_the_time_is_that_of_the_processor(processes: CompileProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no time for the process makes no kernel too long: here each look at the
    clock is a day later.
    """
    days = itertools.count(1)
    monkeypatch.setattr(compile_process, "time", SimpleNamespace(monotonic=lambda: next(days) * 86_400.0))
    assert total(processes, 0) == 7
    process_id = only_process(processes)
    os.kill(process_id, signal.SIGSTOP)
    (process,) = processes._free
    before = process.processor_s()
    time.sleep(0.1)
    assert 0 < before == process.processor_s() < WAIT_S_MAX


# Compiles what takes long, and is killed meanwhile.
ASKING = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.ringbuffer.compile.test_compile_process import SLOW, TYPES, CompileProcesses
processes = CompileProcesses(1, 2 << 30, 100.0)
def check():
    for process in processes._busy:
        print(process.process_id, flush=True)
processes.compile("slow", SLOW, "total", TYPES, check)
"""


def test_a_process_ends_with_who_asked() -> None:
    asking = subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True)
    assert asking.stdout is not None
    process_id = int(asking.stdout.readline())
    time.sleep(1)
    asking.kill()
    asking.wait()
    asking.stdout.close()
    end_s = time.monotonic() + WAIT_S_MAX
    while is_alive(process_id) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not is_alive(process_id)
