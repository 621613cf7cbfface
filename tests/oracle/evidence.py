"""What a long random run leaves behind: a JSON file that says what was tried, with which seed, and what failed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "evidence"


@dataclass
class Evidence:
    """The account of one suite. histogram: how often each construct was drawn; failures: one text per failed case."""

    suite: str
    seed: int
    cases: int = 0
    seconds: float = 0.0
    histogram: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def write(self) -> Path:
        """Write tests/evidence/<suite>.json and return its path."""
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=FOLDER.parent, capture_output=True, text=True, check=False
        ).stdout.strip()
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"{self.suite}.json"
        content = {
            "suite": self.suite,
            "commit": commit,
            "seed": self.seed,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "histogram": dict(sorted(self.histogram.items())),
            "failures": self.failures,
        }
        path.write_text(json.dumps(content, indent=1) + "\n")
        return path
