"""The wait for signals beside the interpreter, which ends the process when that has not ended in
time by itself.

Enters: the end of a pipe into which Python writes the numbers of signals (signal.set_wakeup_fd),
which it does without its lock. Leaves: these numbers in another pipe; or nothing ever more, since
neither the interpreter's lock nor a thread that hangs keeps this wait from ending the process. Must
not know what is lost with the process: nothing, where what was acknowledged is in a log.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, external, kernel

poll = external("poll", "int32", "int64", "uint64", "int32")
read = external("read", "int64", "int32", "int64", "uint64")
write = external("write", "int64", "int32", "int64", "uint64")
kill = external("kill", "int32", "int32", "int32")
exit_at_once = external("_exit", "void", "int32")
clock_gettime = external("clock_gettime", "int32", "int32", "int64")

SIGKILL, SIGQUIT = 9, 3
CLOCK_MONOTONIC = 1
EXIT_FAILED = 1
STDERR = 2
POLLIN = 1
# The places of a struct pollfd (0), a struct timespec, and signals as they were read.
TIME, SIGNALS, WORDS_COUNT = 1, 3, 4
SIGNALS_BYTES = 8


def watch_signals(
    signals: int, told: int, wait_ms: int, process_ids: npt.NDArray[np.int64], last_words: npt.NDArray[np.uint8]
) -> None:
    """Wait for signals for ever: tell of each, and end the process `wait_ms` after the first one.

    In a thread of its own.

    signals, told: descriptors, to read from and to write to. process_ids: processes that are killed
    as well, 0: none; they may change. last_words: the text on stderr then. SIGQUIT ends the process
    at once.
    """
    words = np.zeros(WORDS_COUNT, dtype=np.int64)
    entry_of(watch, 0, 0, 0, process_ids, last_words, words)(signals, told, wait_ms, process_ids, last_words, words)


def warm_up_watch() -> None:
    """Compile or load the kernel."""
    entry_of(watch, 0, 0, 0, np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros(WORDS_COUNT, np.int64))


@kernel
def watch(
    signals: int,
    told: int,
    wait_ms: int,
    process_ids: npt.NDArray[np.int64],
    last_words: npt.NDArray[np.uint8],
    words: npt.NDArray[np.int64],
) -> int:
    """Return 0 when the pipe of signals is closed.

    The arguments are those of `watch_signals`; words int64[WORDS_COUNT]: memory for calls.
    """
    base = words.ctypes.data
    room = base + 8 * SIGNALS
    time = words[TIME : TIME + 2]
    end_ns = 0
    while True:
        left_ms = -1
        if end_ns != 0:
            left_ms = (end_ns - now_ns(time)) // 1_000_000
            if left_ms <= 0:
                break
        # events are above the 32 bits of the descriptor, revents above those of events.
        words[0] = signals | (POLLIN << 32)
        if poll(base, 1, left_ms) <= 0:
            continue
        size = read(signals, room, SIGNALS_BYTES)
        if size <= 0:
            return 0
        quits = False
        for at in range(size):
            quits = quits or (words[SIGNALS] >> (8 * at)) & 0xFF == SIGQUIT
        if quits:
            break
        if end_ns == 0:
            end_ns = now_ns(time) + wait_ms * 1_000_000
        write(told, room, size)
    write(STDERR, last_words.ctypes.data, last_words.shape[0])
    for at in range(process_ids.shape[0]):
        if process_ids[at] > 0:
            kill(process_ids[at], SIGKILL)
    exit_at_once(EXIT_FAILED)
    return 0


@kernel
def now_ns(time: npt.NDArray[np.int64]) -> int:
    """Return nanoseconds of the monotonic clock.

    time int64[2]: memory for a struct timespec.
    """
    clock_gettime(CLOCK_MONOTONIC, time.ctypes.data)
    now: int = time[0] * 1_000_000_000 + time[1]
    return now
