"""Texts of generated kernels are read by several threads at once."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from ringbuffer.compile.kernel_text import kernel_tree

THREADS = 4
TEXTS_COUNT = 8
TEXT = "def kernel(a):\n" + f"    a = {' + '.join(['a'] * 40)}\n" * 60 + "    return a\n"


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns often, also in the middle of what Python does in C: what is collected
    there is code that runs.
    """
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


class Finalised:
    """Garbage that is collected by running code."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        return


def read_often(read: Callable[[str], object]) -> int:
    """Return how often it was read."""
    count = 0
    for _ in range(TEXTS_COUNT):
        Finalised()
        with suppress(SystemError):
            read(TEXT)
            count += 1
    return count


def counts(read: Callable[[str], object]) -> list[int]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(read_often, [read] * THREADS))


@pytest.mark.slow
def test_by_threads_at_once(hasty: None) -> None:
    assert counts(kernel_tree) == [TEXTS_COUNT] * THREADS


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="mended there")
@pytest.mark.slow
def test_threads_that_parse_at_once_would_fail(hasty: None) -> None:
    assert any(sum(counts(ast.parse)) < THREADS * TEXTS_COUNT for _ in range(20))
