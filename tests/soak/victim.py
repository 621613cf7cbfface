"""The server that is killed: started with settings of the moment, looked at from outside, ended in
several ways.

Enters: a data folder. Leaves: a process, what files it has open (Linux tells), and how long its
recovery took. Spark is kept from starting: no view here needs it, and its start would take both
cores away from what is looked at.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.oracle.antumbra import READY, AntumbraServer

POLL_S = 0.001
# A Java that is new enough and never starts Spark.
JAVA = """#!/bin/sh
case "$1" in -version) echo 'openjdk version "17.0.1"' >&2 ;; *) exit 1 ;; esac
"""


class Victim:
    """A server on `folder`. recovery_s: how long its starts lately took from the first file of the
    log to the ready line.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recovery_s = 0.2
        java = folder.parent / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(JAVA)
        java.chmod(0o755)
        self._environment = {"JAVA_HOME": str(java.parent.parent)}
        self._server = AntumbraServer(folder)

    @property
    def dsn(self) -> str:
        """Connection string of the server that runs."""
        return self._server.dsn

    def launch(self, settings: dict[str, str]) -> None:
        """Start a process and return at once."""
        options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        self._server = AntumbraServer(self.folder, *options, environment=self._environment)
        self._server.launch()

    def wait_ready(self) -> None:
        """Wait until it takes connections, and learn how long recovery takes. Raises RuntimeError
        with what it said instead.
        """
        begun = self.wait_for(self.is_recovering, lambda: self.has_spoken or self.has_ended)
        begun_s = time.monotonic()
        self._server.wait_ready()
        if begun:
            self.recovery_s += (time.monotonic() - begun_s - self.recovery_s) / 4

    def kill(self) -> None:
        """End it without warning."""
        self._server.kill()

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        os.kill(self._server.process_id, signal.SIGTERM)

    def wait_stopped(self) -> int:
        """Wait until it has stopped by itself, and return its exit status."""
        return self._server.stop()

    # What can be seen of it.

    @property
    def has_ended(self) -> bool:
        """True when the process is no more."""
        return self._server.has_ended

    @property
    def has_spoken(self) -> bool:
        """True when something is on its standard output that nobody has read, which is its ready
        line.
        """
        readable, _, _ = select.select([self._server.output], [], [], 0)
        return bool(readable) and not self.has_ended

    def was_ready(self) -> bool:
        """Tell of a process that has ended whether it had got ready."""
        return READY.search(self._server.output.read()) is not None

    def is_recovering(self) -> bool:
        """Tell whether it has a file of the log or a checkpoint open, which a server that is not
        ready yet has only in recovery.
        """
        return any(
            path.startswith((f"{self.folder}/log/", f"{self.folder}/checkpoints/")) for path in self._open_files()
        )

    def is_writing_checkpoint(self) -> bool:
        """Tell whether a checkpoint's file is open that has not got its name yet."""
        return any(path.startswith(f"{self.folder}/checkpoints/") and ".tmp" in path for path in self._open_files())

    def wait_for(self, condition: Callable[[], bool], otherwise: Callable[[], bool]) -> bool:
        """Wait until the condition holds (True) or something else does."""
        while True:
            if condition():
                return True
            if otherwise():
                return False
            time.sleep(POLL_S)

    def wait_until(self, moment_s: float, otherwise: Callable[[], bool]) -> bool:
        """Wait until a moment of time.monotonic() (True) or until something else happens."""
        return self.wait_for(lambda: time.monotonic() >= moment_s, otherwise)

    def _open_files(self) -> list[str]:
        found = []
        # It may end, and close files, while we look.
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{self._server.process_id}/fd"):
                with suppress(OSError):
                    found.append(os.readlink(entry.path))
        return found
