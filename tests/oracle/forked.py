"""A server as a fork of a process that has everything imported: it is ready in a fifth of the
processor time that one of its own takes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from engine.__main__ import end_process, main
from tests.kept_kernels import VARIABLE, kept_kernels

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.oracle.preloaded", "tests.faults.worker"])


class ForkedServer:
    """`antumbra` with arguments, with what the tests use of a `subprocess.Popen`.

    Its standard error goes to the end of a file.
    """

    def __init__(self, arguments: Sequence[str], log_path: Path) -> None:
        # For what refuses to start processes.
        sys.audit("subprocess.Popen", sys.executable, [sys.executable, "-m", "engine", *arguments], None, None)
        reading, writing = CONTEXT.Pipe(duplex=False)
        self.args = arguments
        self._process = CONTEXT.Process(
            target=_serve, args=(list(arguments), writing, log_path, dict(os.environ), os.getcwd()), daemon=True
        )
        self._process.start()
        writing.close()
        self.stdout = os.fdopen(os.dup(reading.fileno()))
        reading.close()

    @property
    def pid(self) -> int:
        """The operating system's number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The status with which it has ended; minus the number of the signal that ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the status, None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status once it has ended. Raises TimeoutExpired."""
        self._process.join(timeout)
        status = self.returncode
        if status is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        self.stdout.close()
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal to a process that runs."""
        # It may end between the question and the signal.
        with suppress(ProcessLookupError):
            if self.returncode is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process without warning."""
        self.send_signal(signal.SIGKILL)


def _serve(arguments: list[str], output: Connection, log_path: Path, environment: dict[str, str], folder: str) -> None:
    """Become the server, in the forked process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with log_path.open("a") as log_file:
        os.dup2(log_file.fileno(), sys.stderr.fileno())
    os.dup2(output.fileno(), sys.stdout.fileno())
    output.close()
    kept = environment.get(VARIABLE)
    with nullcontext() if kept is None else kept_kernels(Path(kept)):
        end_process(main(arguments))
