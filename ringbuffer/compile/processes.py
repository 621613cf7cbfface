"""The processes that compile kernels for a server.

Enters: the arguments of `compile_kernel`, and a function that raises when the caller gives up.
Leaves: the code, from a process of its own, which can be ended at any time and has an interpreter
to itself; memory that numba does not give back goes with the process. Any thread may call.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ringbuffer.compile.kernel_code import KernelCode, from_bytes
from ringbuffer.compile.kernel_text import KernelTextError
from ringbuffer.compile.worker import CODE, DISK_ERROR, LENGTH, NO_KERNEL, NO_MEMORY, NO_STAMP

# How often who waits looks whether it still wants the answer.
LOOK_S = 0.02
# numba keeps some 5 MB for each kernel that it compiles, and 0.2 MB of others; a process with so
# much makes room for another one.
COMPILED_MAX = 50
# Times in Linux's table of a process, counted from its state.
USER_TIME, SYSTEM_TIME = 11, 12
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class CompileError(Exception):
    """A kernel that can't be compiled: for want of memory (`is_out_of_memory`), or not in
    `seconds`.
    """

    def __init__(self, text: str, is_out_of_memory: bool = False, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.is_out_of_memory = is_out_of_memory
        self.seconds = seconds


class ProcessEndedError(Exception):
    """A process that ended instead of answering.

    Attributes:
        code: its exit code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"a process that compiles ended with {code}")
        self.code = code


class CompileProcess:
    """A process that compiles, for one request at a time."""

    def __init__(self, memory_bytes_max: int) -> None:
        # Not from the folder that the server was started in: anybody may have put something there.
        command = [sys.executable, "-P", "-m", "ringbuffer.compile.worker", str(memory_bytes_max)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.compiled_count = 0

    @property
    def process_id(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """False where it has ended, as by the system's want of memory."""
        return self._process.poll() is None

    def processor_s(self) -> float:
        """Return how long the process has had a processor, in seconds.

        Where the system does not tell, it is the time by the clock.
        """
        try:
            fields = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[USER_TIME]) + int(fields[SYSTEM_TIME])) / TICKS_PER_S

    def compile(self, request: bytes, check: Callable[[], None]) -> tuple[bytes, bytes]:
        """Return kind and bytes of the answer.

        Raises ProcessEndedError, and what `check` raises to give up.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(LENGTH.pack(len(request)) + request)
        except BrokenPipeError:
            raise ProcessEndedError(self._process.wait()) from None
        head = self._read(LENGTH.size + 1, check)
        (size,) = LENGTH.unpack(head[:-1])
        self.compiled_count += 1
        return head[-1:], self._read(size, check)

    def _read(self, size: int, check: Callable[[], None]) -> bytes:
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(source, select.POLLIN)
        found = bytearray()
        while len(found) < size:
            if not poll.poll(1000 * LOOK_S):
                check()
                continue
            piece = os.read(source, size - len(found))
            if not piece:
                raise ProcessEndedError(self._process.wait())
            found += piece
        return bytes(found)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


class CompileProcesses:
    """At most `count_max` processes of `memory_bytes_max` each, started when they are needed.

    `close` ends them. A compilation that takes more than `seconds_max` of processor time is given
    up; on a busy machine that may be longer by the clock.
    """

    def __init__(self, count_max: int, memory_bytes_max: int, seconds_max: float) -> None:
        self._count_max = count_max
        self._memory_bytes_max = memory_bytes_max
        self._seconds_max = seconds_max
        self._changed = threading.Condition()
        self._free: list[CompileProcess] = []
        self._busy: set[CompileProcess] = set()
        self._is_closed = False

    def prepare(self) -> None:
        """Start a process if there is none, so that the first caller does not wait for it."""
        with self._changed:
            if not self._is_closed and not self._free and not self._busy:
                self._free.append(CompileProcess(self._memory_bytes_max))

    def compile(
        self, name: str, text: str, function: str, types: Sequence[str], check: Callable[[], None]
    ) -> KernelCode:
        """Return the code of a kernel, as `compile_kernel` does.

        Raises OSError, CompileError, KernelTextError, and what `check` raises to give up.
        """
        request = json.dumps([name, text, function, list(types)]).encode()
        kind, data = self._answer(request, check)
        if kind == DISK_ERROR:
            raise OSError(*json.loads(data))
        if kind == NO_MEMORY:
            raise CompileError(f"{name} needs too much memory", is_out_of_memory=True)
        if kind == NO_KERNEL:
            raise KernelTextError(data.decode())
        code = from_bytes(data, NO_STAMP)
        assert kind == CODE and code is not None, "a process that compiles answers with code"
        return code

    def close(self) -> None:
        """End all processes; a caller that waits for one gets CompileError."""
        with self._changed:
            self._is_closed = True
            processes = [*self._free, *self._busy]
            self._free.clear()
            self._changed.notify_all()
        for process in processes:
            process.end()

    def _answer(self, request: bytes, check: Callable[[], None]) -> tuple[bytes, bytes]:
        while True:
            process = self._take(check)
            was_used = process.compiled_count > 0
            try:
                answer = process.compile(request, self._within_time(check, process.processor_s))
            except ProcessEndedError as error:
                self._give_back(process, is_usable=False)
                # One that was used may have no room left; else it was the request that ended it.
                if was_used and not self._is_closed:
                    continue
                text = "the server is shutting down" if self._is_closed else str(error)
                raise CompileError(text, is_out_of_memory=not self._is_closed) from None
            except BaseException:
                self._give_back(process, is_usable=False)
                raise
            is_full = answer[0] == NO_MEMORY
            self._give_back(process, is_usable=not is_full and process.compiled_count < COMPILED_MAX)
            # What other kernels have left in a process that was used may be what has no room.
            if not is_full or not was_used:
                return answer

    def _within_time(self, check: Callable[[], None], taken_s: Callable[[], float]) -> Callable[[], None]:
        end_s = taken_s() + self._seconds_max

        def look() -> None:
            check()
            if taken_s() > end_s:
                raise CompileError("a kernel takes too long to compile", seconds=self._seconds_max)

        return look

    def _take(self, check: Callable[[], None]) -> CompileProcess:
        """Return a process that is free, or a new one, or wait for one."""
        while True:
            with self._changed:
                if self._is_closed:
                    raise CompileError("the server is shutting down")
                while self._free and not self._free[-1].is_running:
                    self._free.pop().end()
                if self._free or len(self._busy) < self._count_max:
                    process = self._free.pop() if self._free else CompileProcess(self._memory_bytes_max)
                    self._busy.add(process)
                    return process
                self._changed.wait(LOOK_S)
            check()

    def _give_back(self, process: CompileProcess, is_usable: bool) -> None:
        with self._changed:
            self._busy.discard(process)
            kept = is_usable and not self._is_closed
            if kept:
                self._free.append(process)
            self._changed.notify()
        if not kept:
            process.end()
            # The next one is ready when somebody asks.
            self.prepare()
