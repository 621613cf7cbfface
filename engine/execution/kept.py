"""The values that a session keeps by name, and about how much memory they take: prepared
statements, portals with rows.

Enters: values with the bytes that they take. Leaves: the same values, by name, and 53200 where they
would be too many. Must not know messages.
"""

from __future__ import annotations

from typing import Protocol, TypeVar, overload

from sql.errors import SqlError

# Bytes of an object without text or values.
OBJECT_BYTES = 2_048
# Bytes of a word or sign in a text: its nodes in a tree that is read, and in one that is bound.
# Measured: 300 to 750.
WORD_BYTES = 500
# Bytes of a parameter beside its own.
VALUE_BYTES = 256
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
BLANKS = b" \t\r\n"


class Weighed(Protocol):
    """A value that knows about how many bytes it takes.

    The number stays as long as the value has its name.
    """

    kept_bytes: int


V = TypeVar("V", bound=Weighed)
D = TypeVar("D")


class Kept(dict[str, V]):
    """Values by their names.

    Attributes:
        bytes_count: the bytes of all values.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes_count = 0

    def __setitem__(self, name: str, value: V) -> None:
        self.pop(name, None)
        self.bytes_count += value.kept_bytes
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self.pop(name)

    @overload
    def pop(self, name: str, /) -> V: ...

    @overload
    def pop(self, name: str, default: D, /) -> V | D: ...

    def pop(self, name: str, *default: D) -> V | D:
        """Forget a name, and return what it had."""
        if default and name not in self:
            return default[0]
        value = super().pop(name)
        self.bytes_count -= value.kept_bytes
        return value

    def clear(self) -> None:
        """Forget all names."""
        super().clear()
        self.bytes_count = 0

    def grow(self, name: str, more: int) -> None:
        """Let the value of a name take more bytes, or less."""
        self[name].kept_bytes += more
        self.bytes_count += more

    def keep(self, names: frozenset[str]) -> None:
        """Forget all but these names."""
        for name in self.keys() - names:
            del self[name]


def statement_bytes(name: str, text: str) -> int:
    """Return about what a prepared statement takes."""
    written = text.encode(errors="replace")
    signs = len(written.translate(None, LETTERS + BLANKS))
    blanks = sum(written.count(blank) for blank in BLANKS)
    # Between two signs there is a word, between two blanks a word or a sign.
    return OBJECT_BYTES + len(name) + 2 * len(written) + WORD_BYTES * (signs + max(signs, blanks))


def portal_bytes(name: str, payload: bytes, values_count: int) -> int:
    """Return about what a portal takes before it has rows."""
    return OBJECT_BYTES + len(name) + 2 * len(payload) + VALUE_BYTES * values_count


def require_room(taken: int, more: int, bytes_max: int) -> None:
    """Raise 53200 where a session would keep too much."""
    if taken + more > bytes_max:
        detail = f"Prepared statements and portals of a session may take {bytes_max:,} bytes: {taken:,} and {more:,} are more."
        hint = "Close those that are not used any more (DEALLOCATE, CLOSE); session_memory_bytes limits them."
        raise SqlError("53200", "out of memory", detail=detail, hint=hint)
