"""Compiles what every server needs, before a client waits for it: half a minute the first time, then half a second from numba's cache.

`python -m engine.warm_up` does it at set-up. Kernels of views are not among these: each view compiles its own at CREATE VIEW.
"""

from __future__ import annotations

import sys
from threading import Timer

from ringbuffer.decode_warm_up import warm_up_decoders
from ringbuffer.encode_warm_up import warm_up_encoders
from ringbuffer.merge import warm_up_merging

SILENCE_S_MAX = 3.0
NOTICE = "antumbra: compiling kernels, about half a minute; they are kept for the next start"


def warm_up() -> None:
    """Compile or load the decoders, the ring, the encoders and the merge of groups; says so on stderr when it takes long."""
    notice = Timer(SILENCE_S_MAX, sys.stderr.write, (NOTICE + "\n",))
    notice.daemon = True
    notice.start()
    try:
        warm_up_decoders()
        warm_up_encoders()
        warm_up_merging()
    finally:
        notice.cancel()


if __name__ == "__main__":
    warm_up()
