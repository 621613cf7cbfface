"""The server under test: a process of its own, forked from one that has everything imported or
started by the command as users do, and reached through its port only.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import psycopg

from tests.oracle.forked import ForkedServer

READY = re.compile(r"ready on (\S+):(\d+)")
# A first start compiles the kernels that all views share.
START_WAIT_S_MAX = 300.0
STOP_WAIT_S_MAX = 60.0
# A machine that runs tests side by side takes its time to stop a server in order.
SHUTDOWN_WAIT_S = 40
LOG_CHARACTERS = 4000


class AntumbraServer:
    """`antumbra serve` on a free port with its data in `folder`. Its standard error is kept in
    `folder`.log.

    is_forked: the process is a fork of one that has everything imported, where its environment is
    that of the tests.
    """

    def __init__(
        self, folder: Path, *options: str, environment: Mapping[str, str] | None = None, is_forked: bool = True
    ) -> None:
        self.folder = folder
        self.port = 0
        self.ready_line = ""
        self._options = options
        self._environment = environment
        self._is_forked = is_forked and environment is None
        self._process: subprocess.Popen[str] | ForkedServer | None = None

    @property
    def dsn(self) -> str:
        """Connection string of the superuser that there is with and without other roles."""
        return f"host=127.0.0.1 port={self.port} user=antumbra dbname=antumbra"

    @property
    def log_path(self) -> Path:
        """The file of the process's standard error."""
        return self.folder.with_name(self.folder.name + ".log")

    @property
    def has_ended(self) -> bool:
        """True when the process is no more."""
        assert self._process is not None
        return self._process.poll() is not None

    @property
    def last_words(self) -> str:
        """How a process that is no more has ended, and the end of its log; nothing of one that
        runs.
        """
        if not self.has_ended:
            return ""
        assert self._process is not None
        log = self.log_path.read_text()[-LOG_CHARACTERS:]
        return f"the server has ended with status {self._process.returncode}:\n{log}"

    @property
    def output(self) -> IO[str]:
        """The process's standard output."""
        assert self._process is not None and self._process.stdout is not None
        return self._process.stdout

    @property
    def process_id(self) -> int:
        """The operating system's number of the server process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> AntumbraServer:
        """Start the process and wait for its ready line. Raises RuntimeError with what it said
        instead.
        """
        self.launch()
        return self.wait_ready()

    def launch(self) -> None:
        """Start the process and return at once."""
        arguments = ["serve", "--port", str(self.port), "--data-dir", str(self.folder)]
        # A JVM takes seconds of processor time to start, and few tests need one; those wait for it.
        arguments += ["--set", f"shutdown_wait_s_max={SHUTDOWN_WAIT_S}", "--set", "spark_preload=off"]
        arguments += ["--set", "cold_upper_groups=0", *self._options]
        if self._is_forked:
            self._process = ForkedServer(arguments, self.log_path)
            return
        environment = None if self._environment is None else {**os.environ, **self._environment}
        with self.log_path.open("a") as log_file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "engine", *arguments],
                stdout=subprocess.PIPE,
                stderr=log_file,
                text=True,
                env=environment,
            )

    def wait_ready(self) -> AntumbraServer:
        """Wait for the ready line of a launched process. Raises RuntimeError with what it said
        instead.
        """
        assert self._process is not None
        watchdog = threading.Timer(START_WAIT_S_MAX, self._process.kill)
        watchdog.start()
        try:
            for line in self.output:
                found = READY.search(line)
                if found:
                    self.ready_line = line.strip()
                    self.port = int(found.group(2))
                    return self
        finally:
            watchdog.cancel()
        raise RuntimeError(f"the server did not get ready:\n{self.log_path.read_text()[-LOG_CHARACTERS:]}")

    def stop(self) -> int:
        """Ask the server to shut down and return its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_WAIT_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def kill(self) -> None:
        """Kill the process without warning, as a power loss would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def connect(self, autocommit: bool = True) -> psycopg.Connection[tuple[object, ...]]:
        """Return a new connection. Raises AssertionError with the last words of a server that is no
        more.
        """
        try:
            return psycopg.connect(self.dsn, autocommit=autocommit)
        except psycopg.OperationalError as error:
            if not self.has_ended:
                raise
            raise AssertionError(f"{error}\n{self.last_words}") from error
