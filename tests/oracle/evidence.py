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

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return FOLDER / f"{self.suite}.json"

    def go_on(self) -> None:
        """Take over what a run of this commit from this seed has left that was cut off and had no failure."""
        known = json.loads(self.path.read_text()) if self.path.is_file() else {}
        if (known.get("commit"), known.get("seed"), known.get("failures")) == (head_commit(), self.seed, []):
            self.cases, self.seconds = known["cases"], known["seconds"]
            self.histogram = Counter(known["histogram"])

    def write(self) -> Path:
        """Write tests/evidence/<suite>.json and return its path."""
        FOLDER.mkdir(exist_ok=True)
        content = {
            "suite": self.suite,
            "commit": head_commit(),
            "seed": self.seed,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "histogram": dict(sorted(self.histogram.items())),
            "failures": self.failures,
        }
        self.path.write_text(json.dumps(content, indent=1) + "\n")
        return self.path


def head_commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False).stdout.strip()
