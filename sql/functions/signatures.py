"""Signatures, and helpers that write those of a kind for a row (`rows.signature` reads them)."""

from __future__ import annotations

from collections.abc import Iterable
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


def alike(families: Iterable[str], result: str = "") -> str:
    """Return the signatures of two values of one family, for each family; without a result, the
    family's own.
    """
    return "; ".join(f"{family} {family} > {result or family}" for family in families)


def across(group: tuple[str, ...], result: str = "") -> str:
    """Return the signatures of values of two sizes, which become the wider one."""
    pairs = ((left, right, wider(left, right, group)) for left, right in product(group, group) if left != right)
    return "; ".join(f"{left} {right} > {result or wide} as {wide} {wide}" for left, right, wide in pairs)


def unary(families: Iterable[str]) -> str:
    """Return the signatures of a function from each family to itself."""
    return "; ".join(f"{family} > {family}" for family in families)
