"""The writer of one generated function: lines, blocks, names, imports, failures, computed values.

A value computed in a block is known in that block only. `remember` and `recall` follow the blocks,
so that a common subexpression is computed once where that is right, and never where its errors
would come too early. Must not know expressions, nor any text of a client: names are made here from
stems that are ours, and constants are numbers.

A long function is *flat*: a call that can fail goes through a guard, a small function that does
nothing for a NULL or after a failure, so that there is one branch per block instead of two for each
call. numba takes a time that grows with the branches times the variables.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from sql import interrupts
from views.codegen.values import NEVER, Value

INDENT = "    "
STEM = re.compile(r"[a-z][a-z0-9_]*")
RUNTIME = "ringbuffer."
# A failure in one word: the error code, and above it the number of the expression.
ERROR_BITS = 8
# From so many lines on a function is flat.
FLAT_LINES = 400


class KernelWriter:
    """The body of a function under construction.

    Attributes:
        failure: returns the lines that leave the row at hand, for the source text of the error code
            and of the number of the expression.
    """

    def __init__(self, depth: int, failure: Callable[[str, str], list[str]], is_flat: bool = False) -> None:
        self.is_flat = is_flat
        self.guards: dict[str, list[str]] = {}  # name -> lines of a function of its own
        self.lines: list[str] = []
        self.imports: dict[str, set[str]] = {}
        self.globals: dict[str, str] = {}  # name -> source text of a module-level constant
        self._numbers: dict[str, int] = {}
        self.uses_scratch = False
        self._failure = failure
        self._depth = depth
        self._names: set[str] = {"row", "error"}
        self._stems: dict[str, int] = {}  # stem -> the last number that was given to it
        self._scopes: list[dict[Hashable, Value]] = [{}]
        # The variable that has the first failure since the last look.
        self._failed = ""
        # Source text that is true where guarded calls are not wanted.
        self._skipped = NEVER
        self._block_scope = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """SQL text of the expressions that can fail, by number."""
        return tuple(self._numbers)

    def line(self, text: str) -> None:
        """Append a line at the current depth."""
        self.lines.append(self.indented(text))

    def indented(self, text: str) -> str:
        """Return a line with the present indentation."""
        return INDENT * self._depth + text

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Write `header`, indent the lines of the context, and forget after it what they have
        computed.
        """
        self.leave_if_failed()
        self.line(header)
        self._depth += 1
        outer, self._block_scope = self._block_scope, len(self._scopes)
        self._scopes.append({})
        start = len(self.lines)
        yield
        self.leave_if_failed()
        if len(self.lines) == start:
            self.line("pass")
        self._scopes.pop()
        self._block_scope = outer
        self._depth -= 1

    @contextmanager
    def skipped(self, condition: str) -> Iterator[None]:
        """Let nothing that can fail be computed where `condition` is true.

        A block of a flat function.
        """
        outer = self._skipped
        if condition != NEVER:
            self._skipped = self.assign("skipped", condition if outer == NEVER else f"{outer} | ({condition})")
        self._scopes.append({})
        yield
        self._scopes.pop()
        self._skipped = outer

    def wanted(self, condition: str) -> str:
        """Return the condition of a block inside of skipped ones."""
        return condition if self._skipped == NEVER else f"not {self._skipped} and ({condition})"

    def name(self, stem: str) -> str:
        """Return a new name that begins with `stem`, a word of our own.

        Ends with cancel and timeouts.
        """
        interrupts.check()
        assert STEM.fullmatch(stem), f"{stem!r} is not a stem"
        name, number = stem, self._stems.get(stem, 1)
        while name in self._names or keyword.iskeyword(name):
            number += 1
            name = f"{stem}_{number}"
        self._names.add(name)
        self._stems[stem] = number
        return name

    def use(self, module: str, function: str) -> str:
        """Import `function` of ringbuffer's `module`, and return its name."""
        known = self.imports.setdefault(RUNTIME + module, set())
        assert function in known or function not in self._names, f"{function} is the name of a variable"
        known.add(function)
        self._names.add(function)
        return function

    def module_of(self, function: str) -> str | None:
        """Return the module from which a function is imported."""
        return next((module for module, known in self.imports.items() if function in known), None)

    def scratch(self) -> str:
        """Return the scratch heap as an argument, and note that the function needs it."""
        self.uses_scratch = True
        return "scratch"

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
        """Write the exit from this row for an `error` that is not 0. text: the SQL of the failed
        expression.
        """
        with self.block("if error != 0:"):
            self.fail("error", text)

    def fail(self, error: str, text: str, leave: Callable[[str, str], list[str]] | None = None) -> None:
        """Write the exit from this row with an error code.

        leave: how, None: as at any failure.
        """
        for line in (leave or self._failure)(error, str(self._number(text))):
            self.line(line)

    def guarded_call(
        self, call: str, targets: list[str], kept: list[str], zeros: list[str], null: str, text: str
    ) -> None:
        """Write `targets, error = call` in a flat function.

        The targets are `zeros` where `null` is true, or after a failure. kept: the targets that are
        not dropped. text: the SQL of the expression that can fail.
        """
        function, arguments = call.removesuffix(")").split("(", 1)
        count = arguments_count(arguments)
        places = [targets.index(name) for name in kept]
        guard = f"guarded_{function}_{len(targets)}_{'_'.join(map(str, places))}"
        if guard not in self.guards:
            assert guard not in self._names, f"{guard} is the name of a variable"
            self._names.add(guard)
            self.guards[guard] = guard_lines(guard, function, count, len(targets), places, zeros)
        if self._skipped != NEVER:
            null = self._skipped if null == NEVER else f"{self._skipped} | ({null})"
        failed = self.name("failed")
        before = self._failed or "0"
        self.line(f"{', '.join([*kept, failed])} = {guard}({before}, {self._number(text)}, {null}, {arguments})")
        self._failed = failed

    def leave_if_failed(self) -> None:
        """Write the exit from this row after failed guarded calls, before effects that must not
        happen then.
        """
        failed, self._failed = self._failed, ""
        if failed:
            with self.block(f"if {failed} != 0:"):
                for line in self._failure(f"({failed} & {(1 << ERROR_BITS) - 1})", f"{failed} >> {ERROR_BITS}"):
                    self.line(line)

    def _number(self, text: str) -> int:
        """Return the number of an expression that can fail."""
        return self._numbers.setdefault(text, len(self._numbers))

    def remember(self, key: Hashable, value: Value) -> Value:
        """Note that `key` is computed from here to the end of the block, or of the skipped
        lines.
        """
        self._scopes[-1][key] = value
        return value

    def remember_loaded(self, key: Hashable, value: Value) -> Value:
        """Note that `key` is computed from here to the end of the block, whatever lines are skipped
        in it.
        """
        self._scopes[self._block_scope][key] = value
        return value

    def recall(self, key: Hashable) -> Value | None:
        """Return the value of `key` if every way to this line has computed it."""
        for scope in reversed(self._scopes):
            if key in scope:
                return scope[key]
        return None


def arguments_count(text: str) -> int:
    """Return how many arguments the source text of a call has between its parentheses."""
    depth, count = 0, 1
    for character in text:
        depth += (character in "([") - (character in ")]")
        count += character == "," and depth == 0
    return count


def guard_lines(
    guard: str, function: str, arguments_count: int, results_count: int, places: list[int], zeros: list[str]
) -> list[str]:
    """Return the guard that calls `function` unless the call is not wanted.

    places: which of its results are returned.
    """
    arguments = ", ".join(f"argument_{number}" for number in range(arguments_count))
    results = [f"result_{number}" for number in range(results_count)]
    nothing = ", ".join(zeros)
    return [
        "@kernel",
        f"def {guard}(failed, number, null, {arguments}):",
        f"{INDENT}if failed != 0 or null:",
        f"{INDENT * 2}return {nothing}, failed",
        f"{INDENT}{', '.join(results)}, error = {function}({arguments})",
        f"{INDENT}if error != 0:",
        f"{INDENT * 2}return {nothing}, number << {ERROR_BITS} | error",
        f"{INDENT}return {', '.join(results[place] for place in places)}, failed",
    ]
