"""Kernels of views that run as Python, so that tests of hundreds of expressions need not compile
them: what the kernels call is compiled as ever.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.extending import _Intrinsic

DECORATOR = re.compile(r"^@\w+$", re.MULTILINE)


def interpreted(folder: Path, name: str, text: str, function: str, *_: object) -> tuple[Callable[..., int], Path]:
    """Return the function of a generated module as Python, in place of
    `views.upkeep.kernels.load_kernel`.
    """
    path = folder / f"{name}.py"
    folder.mkdir(exist_ok=True)
    path.write_text(DECORATOR.sub("", text))
    found: Callable[..., int] = runpy.run_path(str(path))[function]
    known = found.__globals__
    known.update({name: compiled(value) for name, value in known.items() if isinstance(value, _Intrinsic)})
    return found, path


@cache
def compiled(intrinsic: Any) -> Callable[..., Any]:
    """Return a compiled function of what only compiled code may call."""
    called: Callable[..., Any] = njit(lambda *arguments: intrinsic(*arguments))
    return called
