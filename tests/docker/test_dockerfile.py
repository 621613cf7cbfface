"""The image without a container engine: what its steps need is there, and the server that they make
runs and stops.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
STEPS = [line.split() for line in (TREE / "docker" / "Dockerfile").read_text().splitlines() if line[:1].isupper()]


def test_everything_that_is_copied_exists_and_is_sent_to_the_engine() -> None:
    sent = {line[1:] for line in (TREE / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {source for step in STEPS if step[0] == "COPY" for source in step[1:-1]}
    assert copied == sent
    assert all((TREE / source).exists() for source in copied)


def test_it_runs_without_root_and_its_files_are_not_its_own() -> None:
    instructions = [step[0] for step in STEPS]
    assert instructions.index("USER") < instructions.index("CMD")
    assert ["USER", "antumbra"] in STEPS
    assert "HEALTHCHECK" in instructions
    assert "VOLUME" in instructions


def test_a_new_volume_has_the_machine_code_of_kernels() -> None:
    instructions = [step[0] for step in STEPS]
    warm = next(place for place, step in enumerate(STEPS) if "engine.embedded.warm_up" in step)
    assert "engine.streams.warm_up" in STEPS[warm]
    # What root made would not be found, and what comes after VOLUME is not kept.
    assert instructions.index("USER") < warm < instructions.index("VOLUME")


def test_a_dead_server_is_not_healthy() -> None:
    probe = subprocess.run(
        [sys.executable, str(TREE / "docker" / "healthcheck.py"), "1"], capture_output=True, text=True, check=False
    )
    assert probe.returncode == 1
    assert probe.stderr.startswith("not healthy: ")


@pytest.mark.turns(3, 1)
@pytest.mark.slow
@pytest.mark.timeout(650)
def test_the_steps_make_a_server_that_gets_healthy_and_stops() -> None:
    script = TREE / "docker" / "run_steps.py"
    result = subprocess.run(
        [sys.executable, str(script), "--reuse"], capture_output=True, text=True, check=False, timeout=600
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.endswith("The server started, was healthy, and stopped.\n")
