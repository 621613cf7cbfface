"""Signatures, and the helpers that make signatures of a kind.

The tables: `scalars`, `operators`, `aggregates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

INTEGERS = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")
NUMBERS = ("int2", "int4", "int8", "numeric", "float4", "float8")
TIMES = ("date", "timestamp", "timestamptz")
ORDERED = (
    *NUMBERS,
    "text",
    "bpchar",
    "bool",
    *TIMES,
    "time",
    "timetz",
    "interval",
    "uuid",
    "bytea",
    "jsonb",
    "inet",
    "oid",
    "name",
    "char",
)

# Pseudo-types. 'any': every type. 'element' and 'array': all elements of one call are of one type.
# 'enum': all are of one enum. 'record': records that have the same fields.
PSEUDO = frozenset({"any", "element", "enum", "array", "record"})


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload of a function or operator.

    Attributes:
        canonical: '' means that PostgreSQL has the overload and Antumbra does not have it yet.
        arguments: families, or 'any', 'element', 'enum' or 'array'.
        result: a family, 'element', 'enum' or 'array'.
        operands: the families that the arguments are cast to, where these differ.
        variadic: the last argument may come again, any number of times.
    """

    canonical: str
    arguments: tuple[str, ...]
    result: str
    operands: tuple[str, ...] = ()
    variadic: bool = False

    @property
    def cast_to(self) -> tuple[str, ...]:
        """The families that the operands have after binding."""
        return self.operands or self.arguments

    @property
    def is_polymorphic(self) -> bool:
        """True when the arguments decide the result."""
        return bool({"element", "enum", "array"} & {*self.arguments, self.result})


def wider(left: str, right: str, order: tuple[str, ...]) -> str:
    """Return the later of two families in `order`."""
    return order[max(order.index(left), order.index(right))]


def arithmetic(canonical: str, families: tuple[str, ...]) -> list[Signature]:
    """Return the overloads of a binary arithmetic operator, with PostgreSQL's across integer and
    across float sizes.
    """
    found = [Signature(canonical, (family, family), family) for family in families]
    for group in (INTEGERS, FLOATS):
        for left, right in product(group, group):
            if left != right and left in families and right in families:
                result = wider(left, right, group)
                found.append(Signature(canonical, (left, right), result, (result, result)))
    return found


def comparison(canonical: str) -> tuple[Signature, ...]:
    """Return the overloads of a comparison."""
    found = [Signature(canonical, (family, family), "bool") for family in ORDERED]
    for group in (INTEGERS, FLOATS, TIMES):
        for left, right in product(group, group):
            if left != right:
                result = wider(left, right, group)
                found.append(Signature(canonical, (left, right), "bool", (result, result)))
    return (*found, *(Signature(canonical, (kind, kind), "bool") for kind in ("array", "enum", "record")))


def unary(canonical: str, families: tuple[str, ...]) -> list[Signature]:
    """Return the overloads of a function from each family to itself."""
    return [Signature(canonical, (family,), family) for family in families]


def one(canonical: str, *arguments: str, result: str, variadic: bool = False) -> tuple[Signature, ...]:
    """Return a single overload."""
    return (Signature(canonical, arguments, result, variadic=variadic),)


def text_function(canonical: str, *arguments: str, result: str = "text") -> tuple[Signature, ...]:
    """Return the overload of a function whose first argument is a text."""
    return (Signature(canonical, ("text", *arguments), result),)
