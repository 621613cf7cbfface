"""Compiling of all kernels that the generated kernels of views may call.

Each is compiled for the types of its annotations, so that the list can't miss one. It takes a
minute at set-up (`python -m engine.streams.warm_up`), and is no part of a server's start. Kernels
that are compiled for sizes (`sized_kernel`) are compiled with the view that has these sizes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numba
import numpy as np

import ringbuffer.groups
import ringbuffer.scalar

ROOMS: tuple[ModuleType, ...] = (ringbuffer.groups, ringbuffer.scalar)
SCALARS: dict[Any, Any] = {int: numba.int64, float: numba.float64, bool: numba.boolean, np.uint64: numba.uint64}
ELEMENTS = frozenset({np.int64, np.int32, np.int16, np.uint8, np.uint64, np.float64, np.float32, np.bool_})


def warm_up_called_kernels() -> None:
    """Compile every kernel of the rooms that is not on the disk."""
    for function in called_kernels():
        types = declared_types(function)
        if types is not None and types not in function.overloads:
            function.compile(types)


def called_kernels() -> Iterator[Any]:
    """Yield the compiled functions of the rooms, as numba has them."""
    for room in ROOMS:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(found.name)
            for function in vars(module).values():
                if hasattr(function, "py_func") and function.py_func.__module__ == module.__name__:
                    yield function


def declared_types(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """Return numba's types for the annotations of a kernel, None where these don't tell them.

    An array has one dimension, or those that Annotated says, and is in order.
    """
    compiled: Any = function
    hints = get_type_hints(compiled.py_func, include_extras=True)
    hints.pop("return", None)
    types = tuple(map(declared_type, hints.values()))
    # What is compiled for sizes, or inlined, sees the constants that it is given.
    return types if None not in types and "get_call_template" in vars(compiled) else None


def declared_type(hint: Any) -> Any:
    """Return numba's type for an annotation, None where it does not tell one."""
    dimensions = 1
    if get_origin(hint) is Annotated:
        hint, dimensions = get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) is np.ndarray:
        (element,) = get_args(get_args(hint)[1])
        return numba.types.Array(numba.from_dtype(np.dtype(element)), dimensions, "C") if element in ELEMENTS else None
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = [declared_type(one) for one in get_type_hints(hint, include_extras=True).values()]
        tuples: Any = numba.types.NamedTuple
        return None if None in fields else tuples(fields, hint)
    return None
