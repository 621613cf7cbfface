"""Executes the Dockerfile's steps in a clean folder, for machines without a container engine, and
checks the server that comes out.

FROM becomes this machine, absolute paths move below the folder, and steps that would change the
machine (packages, users) are shown but not run. Then CMD is started on a free port, HEALTHCHECK
must succeed, and STOPSIGNAL must end it with status 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
DOCKERFILE = TREE / "docker" / "Dockerfile"
CHANGES_THE_MACHINE = re.compile(r"\b(apt-get|useradd|groupadd)\b")
START_WAIT_S_MAX = 300.0
STOP_WAIT_S_MAX = 60.0
POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction of a Dockerfile and its text, with continued lines joined."""

    instruction: str
    text: str


@dataclass(slots=True)
class Image:
    """The results of the steps so far. root: stands for the container's /."""

    root: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)
    stop_signal: str = "SIGTERM"

    def inside(self, text: str) -> str:
        """Return `text` with the container's absolute paths moved below the root."""
        return re.sub(r"(?<![\w.])/(opt|var/lib/antumbra)\b", lambda match: f"{self.root}/{match.group(1)}", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all steps and the server; print what is done."""
    parser = argparse.ArgumentParser(prog="docker/run_steps.py", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--reuse",
        action="store_true",
        help="take .venv and the compiled kernels of this tree instead of making them anew",
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="antumbra-image-") as name:
        image = Image(root=Path(name), folder=Path(name))
        for step in read_steps(DOCKERFILE.read_text()):
            run_step(step, image, options.reuse)
        run_container(image)
    print("The server started, was healthy, and stopped.")
    return 0


def read_steps(text: str) -> Iterator[Step]:
    """Yield the instructions of a Dockerfile."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        instruction, _, rest = line.strip().partition(" ")
        yield Step(instruction, rest.strip())


def run_step(step: Step, image: Image, reuse: bool) -> None:
    """Execute one instruction."""
    print(f"{step.instruction} {step.text}"[:120], flush=True)
    if step.instruction == "RUN":
        run_shell(step.text, image, reuse)
    elif step.instruction == "COPY":
        *sources, target = step.text.split()
        copy(sources, image.folder / target, reuse)
    elif step.instruction == "WORKDIR":
        image.folder = Path(image.inside(step.text))
        image.folder.mkdir(parents=True, exist_ok=True)
    elif step.instruction == "ENV":
        image.environment.update(dict(part.split("=", 1) for part in shlex.split(step.text)))
    elif step.instruction == "CMD":
        image.command = json.loads(image.inside(step.text))
    elif step.instruction == "HEALTHCHECK":
        image.healthcheck = json.loads(step.text[step.text.index("[") :])
    elif step.instruction == "STOPSIGNAL":
        image.stop_signal = step.text
    else:
        assert step.instruction in ("FROM", "USER", "VOLUME", "EXPOSE"), f"{step.instruction} is not known here"


def run_shell(text: str, image: Image, reuse: bool) -> None:
    """Run a shell command in the image's folder, unless it would change this machine."""
    if CHANGES_THE_MACHINE.search(text):
        print("  (not run: it changes the machine)")
        return
    if reuse and "pip install" in text:
        link = image.folder / ".venv"
        if not link.exists():
            link.symlink_to(Path(sys.prefix), target_is_directory=True)
        print("  (not run: .venv is this tree's)")
        return
    subprocess.run(["sh", "-c", image.inside(text)], cwd=image.folder, env=environment(image), check=True)


def copy(sources: Sequence[str], target: Path, reuse: bool) -> None:
    """Copy files, or the contents of a folder, as COPY does. reuse: with the machine code that
    numba keeps beside them.
    """
    left_out = () if reuse else ("__pycache__",)
    for source in sources:
        path = TREE / source
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*left_out))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def run_container(image: Image) -> None:
    """Start CMD on a free port, wait until HEALTHCHECK succeeds, and stop it with STOPSIGNAL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [*image.command, "--port", port]
    print("CMD", shlex.join(command), flush=True)
    process = subprocess.Popen(command, cwd=image.folder, env=environment(image))
    try:
        wait_until_healthy(image, port, process)
        process.send_signal(signal.Signals[image.stop_signal])
        status = process.wait(STOP_WAIT_S_MAX)
        assert status == 0, f"the server ended with status {status}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_until_healthy(image: Image, port: str, process: subprocess.Popen[bytes]) -> None:
    """Repeat HEALTHCHECK as a container engine does.

    Raises AssertionError when the server ends or takes too long.
    """
    deadline_s = time.monotonic() + START_WAIT_S_MAX
    while time.monotonic() < deadline_s:
        assert process.poll() is None, f"the server ended with status {process.returncode}"
        probe = subprocess.run(
            [*image.healthcheck, port], cwd=image.folder, env=environment(image), capture_output=True, check=False
        )
        if probe.returncode == 0:
            return
        time.sleep(POLL_S)
    raise AssertionError("the server did not become healthy")


def environment(image: Image) -> dict[str, str]:
    """Return the variables of a command in the image.

    The folder's code comes first, whatever .venv says.
    """
    return {**os.environ, **image.environment, "PYTHONPATH": str(image.folder)}


if __name__ == "__main__":
    sys.exit(main())
