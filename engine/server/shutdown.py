"""The end of the server by SIGTERM, SIGINT or SIGQUIT: in order if that can be, and in time always.

Enters: signals. Leaves: a set event on the event loop, and some seconds later no process, whatever
its threads and the interpreter's lock are at. Acknowledged rows are in the log by then, so the next
start loses nothing; it has more to replay. A second SIGTERM or SIGINT changes nothing. SIGQUIT ends
the process at once, as PostgreSQL's immediate shutdown does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from engine.server.signal_watch import SIGNALS_BYTES, warm_up_watch, watch_signals

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
# After the wait for statements: for a last checkpoint, and for Spark.
END_WAIT_S_MAX = 5.0


def end_by_signals(stop: Callable[[], None], wait_s_max: float, process_ids: npt.NDArray[np.int64]) -> None:
    """Call `stop` on the running loop at each signal, and end the process `wait_s_max` +
    END_WAIT_S_MAX after the first one.

    process_ids int64[n]: processes that are killed then, 0: none. For the main thread, once; to the
    end of the process.
    """
    loop = asyncio.get_running_loop()
    warm_up_watch()
    signals, signals_end = os.pipe()
    told, told_end = os.pipe()
    for descriptor in (signals_end, told):
        os.set_blocking(descriptor, False)

    def hear() -> None:
        if os.read(told, SIGNALS_BYTES):
            stop()

    loop.add_reader(told, hear)
    wait_ms = int((wait_s_max + END_WAIT_S_MAX) * 1000)
    text = f"antumbra: ended after {wait_ms / 1000:g} s of shutdown, or by SIGQUIT: the next start replays the log\n"
    last_words = np.frombuffer(text.encode(), dtype=np.uint8).copy()
    arguments = (signals, told_end, wait_ms, process_ids, last_words)
    threading.Thread(target=watch_signals, args=arguments, name="antumbra-signals", daemon=True).start()
    for number in SIGNALS:
        # Python's own part of the work, which writes into the pipe; the rest is done there.
        signal.signal(number, lambda number, frame: None)
        signal.siginterrupt(number, False)
    signal.set_wakeup_fd(signals_end, warn_on_full_buffer=False)
