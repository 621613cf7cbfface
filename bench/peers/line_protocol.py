"""The protocol of the race's peers: a line of JSON for each call, and one for its answer.

A call is [name, argument, ...]. An answer is {"answer": value, "seconds": in this process} or
{"error": text}; the first line is an answer with the peer's version. Nothing but Python's own
library is imported here: it runs in the environment of each peer.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Calls = Mapping[str, Callable[..., Any]]


def serve(version: str, calls: Calls, refusals: tuple[type[Exception], ...]) -> None:
    """Answer calls until standard input ends. What others print goes to standard error.

    refusals: what a peer raises for a call that it refuses; another exception ends the process.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content, default=str) + "\n")
        answers.flush()

    answer({"answer": version, "seconds": 0.0})
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        began_s = time.perf_counter()
        try:
            value = calls[name](*arguments)
        except refusals as error:
            answer({"error": f"{type(error).__name__}: {error}"[:2000]})
        else:
            answer({"answer": value, "seconds": time.perf_counter() - began_s})
