"""Writes the text of one generated function: lines, blocks, names, imports, failures, and what has been computed already.

A value computed in a block is known in that block only; `remember` and `recall` follow the blocks, so that a common subexpression is
computed once where that is right, and never where its errors would come too early. Must not know expressions, nor any text of a client:
names are made here from stems that are ours, and constants are numbers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from views.codegen.values import Value

INDENT = "    "
STEM = re.compile(r"[a-z][a-z0-9_]*")
RUNTIME = "ringbuffer."


class KernelWriter:
    """The body of a function under construction.

    failure: lines that leave the row at hand, given the source text of the error code and the number of the expression.
    """

    def __init__(self, depth: int, failure: Callable[[str, int], list[str]]) -> None:
        self.lines: list[str] = []
        self.imports: dict[str, set[str]] = {}
        self.globals: dict[str, str] = {}  # name -> source text of a module-level constant
        self.texts: list[str] = []  # SQL text of the expressions that can fail, by number
        self.uses_scratch = False
        self._failure = failure
        self._depth = depth
        self._names: set[str] = {"row", "error"}
        self._scopes: list[dict[Hashable, Value]] = [{}]

    def line(self, text: str) -> None:
        """Append a line at the current depth."""
        self.lines.append(self.indented(text))

    def indented(self, text: str) -> str:
        """Return a line as it would be appended now."""
        return INDENT * self._depth + text

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Write `header` and indent what follows; what is computed in it is forgotten after it."""
        self.line(header)
        self._depth += 1
        self._scopes.append({})
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._scopes.pop()
        self._depth -= 1

    def name(self, stem: str) -> str:
        """Return a new name that begins with `stem`, a word of our own."""
        assert STEM.fullmatch(stem), f"{stem!r} is not a stem"
        name, number = stem, 1
        while name in self._names or keyword.iskeyword(name):
            number += 1
            name = f"{stem}_{number}"
        self._names.add(name)
        return name

    def use(self, module: str, function: str) -> str:
        """Import `function` of ringbuffer's `module`, and return its name."""
        known = self.imports.setdefault(RUNTIME + module, set())
        assert function in known or function not in self._names, f"{function} is the name of a variable"
        known.add(function)
        self._names.add(function)
        return function

    def constant(self, stem: str, text: str) -> str:
        """Return the name of a module-level constant with this source text."""
        for name, known in self.globals.items():
            if known == text:
                return name
        name = self.name(stem)
        self.globals[name] = text
        return name

    def assign(self, stem: str, text: str) -> str:
        """Write an assignment to a new variable and return its name."""
        name = self.name(stem)
        self.line(f"{name} = {text}")
        return name

    def fail_if_error(self, text: str) -> None:
        """Write the exit from this row that is taken when the variable `error` is not 0. text: the SQL of what failed."""
        with self.block("if error != 0:"):
            self.fail("error", text)

    def fail(self, error: str, text: str) -> None:
        """Write the exit from this row with an error code."""
        if text not in self.texts:
            self.texts.append(text)
        for line in self._failure(error, self.texts.index(text)):
            self.line(line)

    def remember(self, key: Hashable, value: Value) -> Value:
        """Note that `key` is computed from here to the end of the block."""
        self._scopes[-1][key] = value
        return value

    def recall(self, key: Hashable) -> Value | None:
        """Return the value of `key` if it has been computed on the way here."""
        for scope in reversed(self._scopes):
            if key in scope:
                return scope[key]
        return None
