"""The stream that gets the rows of a transform.

Must not know names: the stream may be renamed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class StreamOutput:
    """The stream with an oid, and the numbers of its columns in the order in which rows have
    them.

    Attributes:
        skips: rows that can't be computed are left out and counted.
        kept: what the one who runs the transform has made of it, which goes with it.
        kernels: the files of its kernel.
    """

    oid: int
    columns: tuple[int, ...]
    skips: bool = False
    kept: list[object] = field(default_factory=list, compare=False, repr=False)
    kernels: list[Path] = field(default_factory=list, compare=False, repr=False)
