"""A shape of a statement: a text by the number of its parts, or the calls of a connection, and the
answer of PostgreSQL.

Leaves: `Table`, which the modules beside this one fill. Must not connect by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[object, ...]]
Make = Callable[[int], str]

# Whatever is answered, as long as it is an answer or an error of the client's.
ANY = object()
# What may be answered besides what is expected: a limit, memory, what is refused by name.
LIMITS = ("54", "53200", "0A000")
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of statement. size: the number of its parts in the bench. answer: of so many parts: a
    value, an SQLSTATE, or ANY.

    limited: one of LIMITS may be the answer as well. make: the text; act: what is done instead of
    sending one.
    """

    size: int
    answer: Any
    limited: bool
    make: Make | None = None
    act: Callable[[Connection, int], object] | None = None

    def expected(self, size: int) -> Any:
        """Return the answer to one of `size` parts."""
        return self.answer(size) if callable(self.answer) else self.answer


@dataclass(frozen=True, slots=True)
class Table:
    """Shapes by name."""

    shapes: dict[str, Shape] = field(default_factory=dict)

    def text(self, name: str, size: int, make: Make, answer: Any = ANY, limited: bool = False) -> None:
        """Add a text."""
        assert name not in self.shapes, name
        self.shapes[name] = Shape(size, answer, limited, make=make)

    def act(
        self, name: str, size: int, act: Callable[[Connection, int], object], answer: Any = ANY, limited: bool = False
    ) -> None:
        """Add what a connection does."""
        assert name not in self.shapes, name
        self.shapes[name] = Shape(size, answer, limited, act=act)


def listed(part: Callable[[int], str], n: int, between: str = ", ") -> str:
    """Return `n` parts in a row."""
    return between.join(map(part, range(n)))
