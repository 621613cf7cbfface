"""Evidence of a long random run: a JSON file that says what was tried, with which seed, on
which tree, and what failed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "evidence"
# What an answer depends on: the server, its packages, and the tests. Neither documents nor the
# evidence itself.
SOURCES = ("engine", "ringbuffer", "sql", "views", "tests", "requirements.lock")


@dataclass
class Evidence:
    """The account of one suite. histogram: how often each construct was drawn; failures: one text
    per failed case.
    """

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
        """Take over what a run of this tree from this seed has left that was cut off and had no
        failure.
        """
        known = json.loads(self.path.read_text()) if self.path.is_file() else {}
        if (known.get("tree"), known.get("seed"), known.get("failures")) == (tree_digest(), self.seed, []):
            self.cases, self.seconds = known["cases"], known["seconds"]
            self.histogram = Counter(known["histogram"])

    def write(self) -> Path:
        """Write tests/evidence/<suite>.json and return its path."""
        FOLDER.mkdir(exist_ok=True)
        content = {
            "suite": self.suite,
            "tree": tree_digest(),
            "seed": self.seed,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "histogram": dict(sorted(self.histogram.items())),
            "failures": self.failures,
        }
        self.path.write_text(json.dumps(content, indent=1) + "\n")
        return self.path


def tree_digest(sources: Sequence[str] = SOURCES) -> str:
    """Return a SHA-256 over the names and contents of all files of `sources` that git knows, as
    they are in the work tree.
    """
    root = FOLDER.parent.parent
    command = ["git", "ls-files", "-z", "--", *sources, ":!tests/evidence", ":!*.md"]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    digest = hashlib.sha256()
    for name in sorted(filter(None, names)):
        content = root / name
        if content.is_file():
            digest.update(f"{name}\0{hashlib.sha256(content.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
