"""Types of $n: given by the client, or found where a parameter is first used as something."""

from __future__ import annotations

from collections.abc import Sequence

from sql.errors import SqlError
from sql.tree.expressions import Parameter
from sql.types.datatypes import UNKNOWN, SqlType


class ParameterTypes:
    """The parameters of one statement, from 1. given: the types that the client declared; None: the statement can have no parameters."""

    def __init__(self, given: Sequence[SqlType | None] | None = None) -> None:
        self.types: dict[int, SqlType] = {}
        self.used: set[int] = set()
        self.allowed = given is not None
        for index, kind in enumerate(given or ()):
            if kind is not None and kind.family != "unknown":
                self.types[index + 1] = kind
        self.given_count = len(given or ())

    def use(self, number: int, position: int) -> Parameter:
        """Return the parameter with the type known so far."""
        if not self.allowed:
            raise SqlError("42P02", f"there is no parameter ${number}", position)
        self.used.add(number)
        return Parameter(number, self.types.get(number, UNKNOWN), position)

    def decide(self, parameter: Parameter, kind: SqlType) -> Parameter:
        """Give an untyped parameter the type that its place asks for."""
        plain = kind.without_modifier()
        if plain.family == "numeric":
            plain = SqlType("numeric")
        known = self.types.setdefault(parameter.number, plain)
        if known.family != plain.family:
            message = f"inconsistent types deduced for parameter ${parameter.number}"
            detail = f"{known.sql_name} versus {plain.sql_name}"
            raise SqlError("42P08", message, parameter.position, detail=detail)
        return Parameter(parameter.number, known, parameter.position)

    def finish(self) -> tuple[SqlType, ...]:
        """Return the types of all parameters; one that nothing decided is 42P18."""
        count = max([self.given_count, *self.used, *self.types], default=0)
        found = []
        for number in range(1, count + 1):
            kind = self.types.get(number)
            if kind is None:
                raise SqlError("42P18", f"could not determine data type of parameter ${number}")
            found.append(kind)
        return tuple(found)
