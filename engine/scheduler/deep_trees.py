"""Room for deep trees: Python's recursion limit, and stacks of threads that are large enough for
it.

A statement nests as far as `sql.parse.grammar.cursor` says, and every pass over its tree recurses.
A function that is called through C takes up to half a kilobyte of C's stack beside Python's own
frame. A tree that is deeper all the same is the client's error (54001), never a crash.
"""

from __future__ import annotations

import ctypes
import resource
import sys
import threading

from sql.errors import SqlError

RECURSION_MAX = 40_000
# Of address space; what is not used takes no memory.
STACK_BYTES = 64 * 1024 * 1024


def make_room() -> None:
    """Make room in this process, for this thread, which runs the event loop, and for later
    threads.
    """
    sys.setrecursionlimit(RECURSION_MAX)
    threading.stack_size(STACK_BYTES)
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft != resource.RLIM_INFINITY and soft < STACK_BYTES:
        wanted = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    # The embedded engine's threads evaluate deep expressions by recursion, too; they have the C
    # library's default.
    library = ctypes.CDLL(None)
    if hasattr(library, "pthread_setattr_default_np"):
        attributes = ctypes.create_string_buffer(256)
        library.pthread_attr_init(attributes)
        library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(STACK_BYTES))
        library.pthread_setattr_default_np(attributes)


def too_deep() -> SqlError:
    """Return the error for a statement whose tree is deeper than there is room for."""
    hint = "Nest fewer expressions, subqueries, WITH queries or views in each other."
    return SqlError("54001", "stack depth limit exceeded", hint=hint)
