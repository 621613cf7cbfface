"""A process that compiles kernels for a server: `python -m ringbuffer.compile.worker BYTES_MAX`.

Enters by stdin: requests, which are lengths and JSON with name, text, function and types. Leaves by
stdout: a length, a kind and bytes: the code, or JSON of an OSError. The process ends when stdin
ends, also in the middle of its work, and when it needs more than BYTES_MAX of memory.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import struct
import sys
import threading
from typing import BinaryIO

from ringbuffer.compile.kernel_code import to_bytes
from ringbuffer.compile.kernel_compiler import compile_kernel
from ringbuffer.compile.kernel_text import KernelTextError

LENGTH = struct.Struct("<I")
CODE, DISK_ERROR, NO_MEMORY, NO_KERNEL = b"c", b"d", b"m", b"t"
NO_STAMP = bytes(32)
# A kernel that does a little of what kernels of views do.
FIRST_TEXT = """
import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import float_key, float_word, text_heap_bytes, text_key
from ringbuffer.groups.hash_table import ENTRY, HEAP_USED, find_group, find_recent
from ringbuffer.memory.addresses import element
from ringbuffer.scalar.numbers.int128 import int128_add, signed_word


@kernel
def first(start, end, control, slots, rows, heap, texts, nulls, numbers, days):
    input_heap = signed_word(heap.ctypes.data)
    for row in range(start, end):
        w0 = element(texts, 2 * row)
        control[HEAP_USED] += text_heap_bytes(w0)
        control[ENTRY] = 1 * (element(nulls, row) != 0)
        control[ENTRY + 1] = w0
        control[ENTRY + 2] = text_key(w0, element(texts, 2 * row + 1), input_heap)
        group = find_recent(control, slots, rows, 3, 3, 6, 2)
        if group < 0:
            return row
        control[ENTRY + 1] = signed_word(element(days, row))
        if find_group(control, slots, rows, control, ENTRY, 0, 2, 2, 3, 0) < 0:
            return row
        value = np.float64(element(numbers, row))
        rows[group] = float_key(value) + float_word(value)
        rows[group + 4], rows[group + 5], _ = int128_add(rows[group + 4], rows[group + 5], w0, w0 >> 63)
    return end
"""
WORDS, FLOATS = "int64[::1]", "float64[::1]"
FIRST_TYPES = ["int64", "int64", WORDS, WORDS, WORDS, "uint8[::1]", "int64[:,::1]", "uint8[::1]", FLOATS, "int32[::1]"]
# Compiling gives way to what clients wait for at the moment.
NICENESS = 2


def main(memory_bytes_max: int) -> None:
    """Answer requests until there are no more."""
    # What anybody prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    # Ctrl-C in a terminal reaches it too; the server says when it is to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes_max, memory_bytes_max))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.dont_write_bytecode = True
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=read_requests, args=(sys.stdin.buffer, requests), daemon=True).start()
    if requests.empty():
        warm_up()
    while True:
        kind, data = answer(requests.get())
        answers.write(LENGTH.pack(len(data)) + kind + data)
        answers.flush()


def warm_up() -> tuple[bytes, bytes]:
    """Compile a kernel that nobody has asked for; return the answer.

    Who asks first then finds numba, and what most kernels call, loaded.
    """
    return answer(json.dumps(["first", FIRST_TEXT, "first", FIRST_TYPES]).encode())


def read_requests(source: BinaryIO, requests: queue.Queue[bytes]) -> None:
    """Pass requests on, and end the process after the last one."""
    while True:
        head = source.read(LENGTH.size)
        if len(head) < LENGTH.size:
            # Not by returning: the interpreter aborts where another thread still reads.
            os._exit(0)
        requests.put(source.read(*LENGTH.unpack(head)))


def answer(request: bytes) -> tuple[bytes, bytes]:
    """Return kind and bytes of an answer."""
    name, text, function, types = json.loads(request)
    try:
        return CODE, to_bytes(compile_kernel(name, text, function, types), NO_STAMP)
    except OSError as error:
        return DISK_ERROR, json.dumps([error.errno, error.strerror]).encode()
    except MemoryError:
        return NO_MEMORY, b""
    except KernelTextError as error:
        return NO_KERNEL, str(error).encode()


if __name__ == "__main__":
    main(int(sys.argv[1]))
