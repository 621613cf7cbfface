"""Calls of numba's functions from a kernel's IR, by numba's calling convention.

Enters: a function that numba has compiled, or does now, and the values that it is given. Leaves:
the lines of a call, and the libraries that the kernel is linked with. A status that a function
returns is not looked at: kernels never raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numba
from numba.core.extending import _Intrinsic

from ringbuffer.compile.jit import OPTIONS
from ringbuffer.compile.kernel_values import ArrayValue, Value, Write, llvm_type, types


class Callees:
    """The functions that a module calls.

    Attributes:
        libraries: numba's, by the names of their functions.
    """

    def __init__(self) -> None:
        self.libraries: dict[str, Any] = {}
        self._declarations: dict[str, str] = {}

    @property
    def declarations(self) -> list[str]:
        """Lines for the beginning of the module."""
        return list(self._declarations.values())

    def declare(self, name: str, line: str) -> None:
        """Let the module call a function by a name."""
        self._declarations[name] = line

    def call(
        self, function: Any, arguments: Sequence[Value | ArrayValue], write: Write, room: Write
    ) -> tuple[Value, ...]:
        """Return the results of a call. room: makes room for a type, and returns its address."""
        given = tuple(
            types.literal(one.literal) if isinstance(one, Value) and one.literal is not None else one.type
            for one in arguments
        )
        if isinstance(function, _Intrinsic):
            function = _as_function(function)
        _, _, exact, _ = function.get_call_template(given, {})
        compiled = function.overloads[tuple(exact)]
        name = compiled.fndesc.llvm_func_name
        result = compiled.signature.return_type
        operands = ["ptr " + (place := room(_result_type(result))), "ptr " + room("ptr")]
        for one in arguments:
            operands += _flat(one, write)
        if name not in self.libraries:
            self.libraries[name] = compiled.library
            kinds = ", ".join(operand.partition(" ")[0] for operand in operands)
            self.declare(name, f'declare i32 @"{name}"({kinds})')
        write(f'call i32 @"{name}"({", ".join(operands)})')
        return _results(result, place, write)


def _flat(value: Value | ArrayValue, write: Write) -> list[str]:
    """Return the operands that a value is to numba."""
    if isinstance(value, Value):
        if value.type == types.boolean:
            return ["i8 " + write(f"zext {value.operand} to i8")]
        return [value.operand]
    item_bytes = value.type.dtype.bitwidth // 8
    strides = [str(item_bytes)]
    count = value.sizes[-1]
    for size in reversed(value.sizes[:-1]):
        strides.insert(0, write(f"mul i64 {item_bytes}, {count}"))
        count = write(f"mul i64 {count}, {size}")
    words = [count, str(item_bytes)], [*value.sizes, *strides]
    return ["ptr null", "ptr null", *_words(words[0]), f"ptr {value.data}", *_words(words[1])]


def _words(operands: Sequence[str]) -> list[str]:
    return [f"i64 {operand}" for operand in operands]


def _result_type(result: Any) -> str:
    if result == types.none:
        return "ptr"
    if isinstance(result, types.UniTuple):
        return f"[{len(result)} x {llvm_type(result.dtype, is_kept=True)}]"
    if isinstance(result, types.BaseTuple):
        return "{" + ", ".join(llvm_type(one, is_kept=True) for one in result) + "}"
    return llvm_type(result, is_kept=True)


def _results(result: Any, place: str, write: Write) -> tuple[Value, ...]:
    """Return the values that a call has left at an address."""
    if result == types.none:
        return ()
    kind = _result_type(result)
    found = write(f"load {kind}, ptr {place}")
    if not isinstance(result, types.BaseTuple):
        return (_loaded(found, result, write),)
    return tuple(
        _loaded(write(f"extractvalue {kind} {found}, {number}"), one, write) for number, one in enumerate(result)
    )


def _loaded(text: str, kind: Any, write: Write) -> Value:
    return Value(write(f"trunc i8 {text} to i1") if kind == types.boolean else text, types.unliteral(kind))


def is_sized(function: Any) -> bool:
    """Tell whether numba compiles a function anew for each set of constants that it is given."""
    return "get_call_template" not in vars(function)


@cache
def _as_function(intrinsic: Any) -> Any:
    """Return a function of numba's that does what an intrinsic does."""
    options: dict[str, Any] = {**OPTIONS, "cache": False, "no_cpython_wrapper": True}
    return numba.njit(**options)(lambda *given: intrinsic(*given))
