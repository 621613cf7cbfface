"""A server of one's own, as a child process: the demo and the benchmarks reach it through its port
as any client does.

Leaves: a process that is ready to be connected to, and is stopped at the end of the `with` block.
Must not import the engine.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import AnyStr

READY = re.compile(r"ready on \S+:(\d+)")
START_WAIT_S_MAX = 120.0
STOP_WAIT_S_MAX = 60.0
HOST = "127.0.0.1"


class ChildError(Exception):
    """The server did not get ready; its stderr says why."""


@dataclass(frozen=True, slots=True)
class Child:
    """A running server.

    Attributes:
        process_id: of the operating system.
    """

    port: int
    process_id: int

    @property
    def dsn(self) -> str:
        """The connection string for psycopg."""
        return f"host={HOST} port={self.port} dbname=antumbra user=antumbra"

    @property
    def psql(self) -> str:
        """The command that connects psql."""
        return f"psql -h {HOST} -p {self.port} antumbra"


@contextmanager
def child_server(data_dir: Path, port: int = 0, options: Sequence[str] = (), module: str = "engine") -> Iterator[Child]:
    """Run `antumbra serve` with its data in `data_dir`; port 0 takes a free one.

    Raises ChildError when it does not start.

    module: the module that is run instead of `engine`, with the same arguments.
    """
    command = [sys.executable, "-m", module, "serve", "--port", str(port), "--data-dir", str(data_dir), *options]
    # A process group of its own: Ctrl-C reaches the parent alone, which then stops the server in
    # order. The parent's session, in which Linux compares priorities.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, process_group=0)
    try:
        yield Child(wait_until_ready(process), process.pid)
    finally:
        end_process(process, STOP_WAIT_S_MAX)
        assert process.stdout is not None
        process.stdout.close()


def end_process(process: subprocess.Popen[AnyStr], wait_s_max: float) -> None:
    """Ask a process to end, and kill it when it has not ended in time."""
    process.terminate()
    try:
        process.wait(wait_s_max)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_ready(process: subprocess.Popen[str]) -> int:
    """Return the port from the server's ready line. Raises ChildError."""
    assert process.stdout is not None
    watchdog = Timer(START_WAIT_S_MAX, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            found = READY.search(line)
            if found is not None:
                return int(found.group(1))
    finally:
        watchdog.cancel()
    raise ChildError("the server did not start")
