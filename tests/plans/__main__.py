"""`python -m tests.plans` rewrites all snapshots; the diff is the review."""

from __future__ import annotations

from tests.plans.snapshot import FOLDER, rewritten

for path in sorted(FOLDER.glob("*.txt")):
    before = path.read_text()
    after = rewritten(before)
    if after != before:
        path.write_text(after)
        print(f"rewrote {path.name}")
