"""The peers of the race: each runs as a process, in an environment of its own.

bench/peers/<name>.txt pins a peer's packages, and bench/peers/<name>.py is its process, which
answers lines of JSON (bench/peers/line_protocol.py). PostgreSQL is not among them: it is a server
with a protocol of its own. A peer that cannot be installed or started is left out, with one line
that says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.environments import TREE, PackagesError, last_line, python_with

PACKAGES = TREE / "bench" / "peers"
ENVIRONMENTS = TREE / "build" / "peers"
POSTGRES = "postgres"
STOP_S_MAX = 20
# The parts of a time: as the client sees it, and inside the process.
ROUND_TRIP, INSIDE = "", ", inside"


class PeerError(Exception):
    """A peer could not be had, or has refused what it was asked."""


def names() -> list[str]:
    """Return the names of all peers."""
    return [POSTGRES, *sorted(path.stem for path in PACKAGES.glob("*.txt"))]


def environment(name: str) -> Path:
    """Return the Python of a peer's environment. Raises PeerError."""
    try:
        return python_with(PACKAGES / f"{name}.txt", ENVIRONMENTS / name)
    except PackagesError as error:
        raise PeerError(str(error)) from error


class Peer:
    """The process of a peer. Its protocol has one question at a time."""

    def __init__(self, name: str, python: Path, folder: Path) -> None:
        """Start it, and wait for its first line. Raises PeerError."""
        folder.mkdir(parents=True, exist_ok=True)
        self._errors = (folder / "errors.txt").open("w+")
        self._process = subprocess.Popen(
            [str(python), "-m", f"bench.peers.{name}", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=TREE,
            # An environment of its own, whatever this one says of Python and Spark.
            env={key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK_"))},
        )
        # What the last timed call has answered.
        self.last: Any = None
        self.version = str(self._answer()["answer"])

    def ask(self, call: str, *arguments: Any) -> Any:
        """Return the answer to a call. Raises PeerError."""
        return self._called(call, arguments)["answer"]

    def seconds(self, call: str, *arguments: Any) -> float:
        """Return the seconds of a call in the process, without the way to it and back."""
        return float(self._called(call, arguments)["seconds"])

    def both_ms(self, call: str, *arguments: Any) -> dict[str, float]:
        """Return the milliseconds of a call as its client sees them, and in the process."""
        began_s = time.perf_counter()
        answer = self._called(call, arguments)
        self.last, inside_s = answer["answer"], float(answer["seconds"])
        return {ROUND_TRIP: (time.perf_counter() - began_s) * 1000, INSIDE: inside_s * 1000}

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _called(self, call: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([call, *arguments]) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise PeerError(f"it has ended: {last_line(self._errors.read())}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer


class Peers:
    """The peers of one part of a contest, each started when it is first asked for."""

    def __init__(self, chosen: Collection[str], folder: Path) -> None:
        self._chosen = chosen
        self._folder = folder
        self._peers: dict[str, Peer | None] = {}

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, *_: object) -> None:
        for peer in self._peers.values():
            if peer is not None:
                peer.stop()

    def __contains__(self, name: str) -> bool:
        return name in self._chosen

    @property
    def there(self) -> tuple[str, ...]:
        """The chosen peers but for those that were asked for and could not be had."""
        return tuple(sorted(name for name in self._chosen if self._peers.get(name, name) is not None))

    def get(self, name: str) -> Peer | None:
        """Return a peer, or None where it was not chosen or cannot be had."""
        if name not in self._chosen:
            return None
        if name not in self._peers:
            try:
                self._peers[name] = Peer(name, environment(name), self._folder / name)
            except PeerError as error:
                print(f"{name} is left out: {error}", file=sys.stderr, flush=True)
                self._peers[name] = None
        return self._peers[name]
