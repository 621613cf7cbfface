"""The one decorator of the compiled functions: nogil, cached on disk, C division semantics.

A kernel takes scalars and arrays that its caller owns, returns scalars and never raises: failures are codes of error_codes.
Must not hold kernels itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` at its first call with given types; it runs without the interpreter lock."""
    compiled: Function = numba.njit(nogil=True, cache=True, error_model="numpy", boundscheck=False)(function)
    return compiled
