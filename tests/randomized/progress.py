"""How far a random run has come: seeds go out to several shares, finished cases come in.

The evidence counts those that have none before them that is unfinished, so a run that was cut off
goes on where its evidence ends.
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from tests.oracle.evidence import Evidence

FAILURES_MAX = 10
PROGRESS_CASES = 100


class Progress:
    """Seeds from that of the evidence on, `cases_max` of them, for `seconds_max` in all.
    Thread-safe.

    writes: the evidence is written now and then. is_over: a share has failed.
    """

    def __init__(self, evidence: Evidence, cases_max: int, seconds_max: float, writes: bool) -> None:
        self.evidence = evidence
        self._end = evidence.seed + cases_max
        self._seconds_max = seconds_max
        self._writes = writes
        self._next = evidence.seed + evidence.cases
        self._finished: dict[int, Counter[str]] = {}
        self._lock = threading.Lock()
        self._began_s = time.monotonic() - evidence.seconds
        self.is_over = False

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began_s

    def take(self) -> int | None:
        """Return the seed of the next case, None at the end."""
        with self._lock:
            is_enough = self._next >= self._end or len(self.evidence.failures) >= FAILURES_MAX
            if self.is_over or is_enough or self.seconds > self._seconds_max:
                return None
            self._next += 1
            return self._next - 1

    def stop(self) -> None:
        """Give no more seeds."""
        self.is_over = True

    def finish(self, seed: int, counts: Counter[str], failure: str | None) -> None:
        """Count a case; failure: how it differs."""
        with self._lock:
            evidence = self.evidence
            evidence.seconds = self.seconds
            if failure is not None:
                evidence.failures.append(failure)
                print(f"\n{failure}\n", flush=True)
            self._finished[seed] = counts
            while (counted := self._finished.pop(evidence.seed + evidence.cases, None)) is not None:
                evidence.histogram += counted
                evidence.cases += 1
                if evidence.cases % PROGRESS_CASES == 0:
                    print(f"{evidence.cases} cases in {evidence.seconds:.0f} s", flush=True)
                    if self._writes:
                        evidence.write()
