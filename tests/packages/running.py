"""Clients of others' packages: each is a program in `clients/`, run in an environment of its own
with the packages that the file of its name pins.

A program gets the port as its argument, does its steps with asserts of its own, and ends with 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.environments import TREE, python_with
from tests.oracle.antumbra import AntumbraServer

HERE = Path(__file__).parent
ENVIRONMENTS = TREE / "build" / "clients"


def run_client(server: AntumbraServer, packages: str, *arguments: str, program: str = "") -> str:
    """Run the program of a client against a server, and return what it prints."""
    python = python_with(HERE / f"{packages}.txt", ENVIRONMENTS / packages)
    command = [str(python), str(HERE / "clients" / f"{program or packages}_client.py"), str(server.port), *arguments]
    return run(command)


def run(command: list[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """Run a command without this process's Python settings, and return what it prints."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PG"))}
    done = subprocess.run(
        command, cwd=folder, env=inherited | (environment or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=280, check=False,
    )  # fmt: skip
    print(done.stdout, file=sys.stderr)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout
