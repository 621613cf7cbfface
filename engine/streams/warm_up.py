"""Compiling of all kernels that every server needs, before a client waits for them.

It takes half a minute the first time, then half a second, from numba's cache. `python -m
engine.streams.warm_up` does it at set-up, and compiles what the kernels of views may call, too. The
kernels of views are not among these: each view compiles its own at CREATE VIEW.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Timer

from ringbuffer.groups.found_groups import warm_up_finding
from ringbuffer.groups.known_groups import warm_up_counting
from ringbuffer.groups.merge import warm_up_merging
from ringbuffer.patterns.automata import warm_up_automata
from ringbuffer.patterns.automaton_symbols import warm_up_symbols
from ringbuffer.warm_up.called_kernels import warm_up_called_kernels
from ringbuffer.warm_up.decoders import warm_up_decoders
from ringbuffer.warm_up.encoders import warm_up_encoders
from views.upkeep.point_reads import warm_up_point_reads

SILENCE_S_MAX = 3.0
STEPS = (
    warm_up_decoders,
    warm_up_encoders,
    warm_up_merging,
    warm_up_counting,
    warm_up_finding,
    warm_up_automata,
    warm_up_symbols,
    warm_up_point_reads,
)
NOTICE = "antumbra: compiling kernels, about a minute; they are kept for the next start"


def warm_up(*others: Callable[[], None]) -> None:
    """Compile or load decoders, encoders, the ring, the merge of groups, and automata, then
    `others`.

    Says so on stderr when it takes long.
    """
    notice = Timer(SILENCE_S_MAX, sys.stderr.write, (NOTICE + "\n",))
    notice.daemon = True
    notice.start()
    try:
        for step in (*STEPS, *others):
            step()
    finally:
        notice.cancel()


if __name__ == "__main__":
    warm_up(warm_up_called_kernels)
