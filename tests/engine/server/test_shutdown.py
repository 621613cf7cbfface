"""The end by signals, in a process of its own: in order where the event loop hears of it, and in
time where nothing runs any more.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.server.shutdown import END_WAIT_S_MAX

pytestmark = pytest.mark.slow

WAIT_S = 0.5
# Of a process that has nothing to do any more, on a busy machine.
SLACK_S = 20.0

PROGRAM = """
import asyncio, re, subprocess, sys, threading, time
import numpy as np
from engine.server.shutdown import end_by_signals

async def main():
    stop = asyncio.Event()
    child = subprocess.Popen(["sleep", "1000"])
    end_by_signals(stop.set, {wait_s}, np.array([0, child.pid], dtype=np.int64))
    print(child.pid, flush=True)
    {work}
    await stop.wait()
    child.kill()
    print("in order", flush=True)

{runner}
"""
RUNNERS = {
    "asyncio": "asyncio.run(main())",
    "uvloop": "import uvloop\nwith asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner: runner.run(main())",
}
LOOP = "re.match('(a+)+$', 'a' * 100 + '!')"
STUCK = {
    "a regular expression on the event loop": LOOP,
    "a regular expression in a thread": f"threading.Thread(target=lambda: {LOOP}).start()",
    "the event loop sleeps": "time.sleep(1000)",
    "a thread that never ends": "threading.Thread(target=time.sleep, args=(1000,)).start()",
}


class Program:
    """A process that ends by signals, unless it is stuck in `work`."""

    def __init__(self, work: str, runner: str = "uvloop") -> None:
        text = PROGRAM.format(wait_s=WAIT_S, work=work, runner=RUNNERS[runner])
        self.process = subprocess.Popen(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.child = int(self.process.stdout.readline())
        self.began = 0.0

    def signal(self, number: signal.Signals) -> None:
        self.began = self.began or time.monotonic()
        os.kill(self.process.pid, number)

    def end(self) -> tuple[float, int, str, str]:
        """Return after how many seconds it has ended, its status, and what it has said."""
        output, errors = self.process.communicate(timeout=WAIT_S + END_WAIT_S_MAX + SLACK_S)
        return time.monotonic() - self.began, self.process.returncode, output, errors

    def has_child(self) -> bool:
        # The process that reaps it may be slow.
        status = Path(f"/proc/{self.child}/stat")
        return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        if self.has_child():
            os.kill(self.child, signal.SIGKILL)


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    running: list[Program] = []
    yield running
    for program in running:
        program.kill()


@pytest.mark.turns(2)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_in_order(programs: list[Program], runner: str, number: signal.Signals) -> None:
    programs.append(Program("pass", runner))
    programs[0].signal(number)
    _, status, output, errors = programs[0].end()
    assert (status, output, errors) == (0, "in order\n", "")


@pytest.mark.turns(2, 1)
def test_nothing_keeps_it_beyond_its_time(programs: list[Program]) -> None:
    programs += [Program(work) for work in STUCK.values()]
    for program in programs:
        program.signal(signal.SIGTERM)
    # Others of these make it no later.
    time.sleep(1.0)
    for program in programs:
        program.signal(signal.SIGTERM)
        program.signal(signal.SIGINT)
    for name, program in zip(STUCK, programs, strict=True):
        passed_s, status, _, errors = program.end()
        assert WAIT_S + END_WAIT_S_MAX - 0.1 <= passed_s < WAIT_S + END_WAIT_S_MAX + SLACK_S, name
        assert status == 1 and errors.endswith("the next start replays the log\n"), (name, errors)
        assert not program.has_child(), name


@pytest.mark.turns(2, 0)
def test_sigquit_ends_it_at_once_also_after_sigterm(programs: list[Program]) -> None:
    programs += [Program(LOOP), Program("pass"), Program(LOOP)]
    programs[2].signal(signal.SIGTERM)
    for program in programs:
        program.began = time.monotonic()
        program.signal(signal.SIGQUIT)
        passed_s, status, _, _ = program.end()
        assert status == 1 and passed_s < END_WAIT_S_MAX and not program.has_child()
