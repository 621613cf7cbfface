"""The one decorator of compiled functions: nogil, cached on disk, C division semantics.

A kernel takes scalars and arrays that its caller owns, returns scalars and never raises: failures
are codes of error_codes. numba's cache looks only at the file of the kernel, so that a change in a
file that it imports would leave old machine code in use. Here the cache is stamped with the
contents of all files of ringbuffer that the kernel reaches, and its files have checksums. Must not
hold kernels itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numba

from ringbuffer.compile.code_cache import CheckedCacheFile

Function = TypeVar("Function", bound=Callable[..., object])

# Python and other kernels call a kernel, so it needs no entry for C. Its caller keeps the arrays
# alive, and it makes none, so nothing needs to be counted: with numba's runtime, references are
# counted atomically wherever an array is passed on.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "boundscheck": False,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
PACKAGE = Path(__file__).resolve().parents[1]
IMPORT = re.compile(r"^from ringbuffer\.([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
NAME = re.compile(r"\w+")


def kernel(function: Function) -> Function:
    """Compile `function` at its first call with given types; it runs without the interpreter
    lock.
    """
    compiled: Any = _compiled(function, inlined=False)
    compiled.get_call_template = _typing_without_constants(compiled.get_call_template)
    result: Function = compiled
    return result


def sized_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, but anew for each set of constants that it is given.

    Its loops over sizes are a third faster so.
    """
    return _compiled(function, inlined=False)


def inlined_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, but always inline it.

    Each array that is passed costs seven words on the stack, more than a short loop does.
    """
    return _compiled(function, inlined=True)


def _compiled(function: Function, inlined: bool) -> Function:
    compiled: Any = numba.njit(**OPTIONS, forceinline=inlined)(function)
    # The attributes are private, but numba offers no hook; test_jit fails when they go away.
    kept = compiled._cache
    stamp = sources_stamp(Path(function.__code__.co_filename))
    kept._cache_file = CheckedCacheFile(kept._cache_path, kept._impl.filename_base, stamp)
    result: Function = compiled
    return result


def external(name: str, result: str, *arguments: str) -> Callable[..., Any]:
    """Return a function of the C library, which only kernels can call.

    result, arguments: names of numba's types.
    """
    types: Any = numba.types
    given = [getattr(types, argument) for argument in arguments]
    function: Callable[..., Any] = types.ExternalFunction(name, getattr(types, result)(*given))
    return function


def entry_of(function: Callable[..., Any], *arguments: object) -> Callable[..., Any]:
    """Return a kernel's machine code for arguments of the types of these, compiled now if need be.

    It is for callers that give the same types each time: a kernel finds out at each call which
    types they are, which takes as long as the work of a short kernel. Later arguments must be of
    these types, arrays also of this layout: nothing checks that.
    """
    compiled: Any = function
    signature = tuple(map(numba.typeof, arguments))
    if signature not in compiled.overloads:
        compiled.compile(signature)
    # Of C: there is no other way to it. test_jit fails when it goes away.
    entry: Callable[..., Any] = compiled.overloads[signature].entry_point
    return entry


def _typing_without_constants(template: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dispatcher's typing of a call that ignores constants.

    numba would compile a callee anew for every constant that it is given: a comparison with a text
    compiled text_equal for that text.
    """

    unliteral: Callable[[Any], Any] = numba.types.unliteral

    def typed(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return template(tuple(map(unliteral, arguments)), {name: unliteral(kind) for name, kind in keywords.items()})

    return typed


@cache
def sources_stamp(path: Path) -> str:
    """Return a digest of the file at `path` and of every file of ringbuffer that it imports,
    directly or not.
    """
    return stamp_of_text(path.read_text()) if path.is_file() else ""


def stamp_of_text(text: str) -> str:
    """Return a digest of the text of a module and of every file of ringbuffer that it imports,
    directly or not.
    """
    reached: set[str] = set()
    waiting = _imported(text)
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting += _source(place).imported
    digest = hashlib.sha256(text.encode())
    for place in sorted(reached):
        digest.update(_source(place).digest)
    return digest.hexdigest()


def _imported(text: str) -> list[str]:
    """Return the modules of ringbuffer that a module's text imports, or imports from."""
    named = [
        place
        for package, names in IMPORT.findall(text)
        for place in (package, *(f"{package}.{name}" for name in NAME.findall(names)))
    ]
    return [place for place in named if place in _files()]


@cache
def _files() -> dict[str, Path]:
    """Return the files of ringbuffer by the names of their modules in it."""
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}


class _Source(NamedTuple):
    """A module of ringbuffer."""

    digest: bytes
    imported: list[str]


@cache
def _source(place: str) -> _Source:
    """Return a module as it was when it was first read here, since that was imported."""
    text = _files()[place].read_bytes()
    return _Source(hashlib.sha256(text).digest(), _imported(text.decode()))
