"""Comparisons in catalog queries: texts, integers and OIDs by the embedded engine, all others as in
any other query.
"""

from __future__ import annotations

from dataclasses import replace

from engine.system_catalog.printed import ARRAYS_FROM_0, DOMAINS, INTEGERS, REGISTERED, VECTORS, Printed
from engine.system_catalog.queries import ordinary
from engine.system_catalog.queries.ordinary import as_plain_oids
from engine.system_catalog.queries.printing import Printing
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Distinctness, Expression, FunctionCall

OPERATORS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
EQUALITIES = frozenset({"=", "<>", "!="})
# The embedded engine compares the values of each set as PostgreSQL does, whichever two of its types
# they have.
ALIKE = (INTEGERS, frozenset({"text", "name", "varchar", "char"}), frozenset({"bool"}), REGISTERED | {"oid"})
ITSELF = frozenset({"aclitem", "aclitem[]", "xid", "cid", "xid8"})
# Types of which PostgreSQL can only tell whether values are equal.
EQUAL_ONLY = frozenset({"xid", "cid", "aclitem", *VECTORS})


def is_alike(left: str, right: str) -> bool:
    """Tell whether the embedded engine compares values of two types as PostgreSQL does."""
    left, right = DOMAINS.get(left, left), DOMAINS.get(right, right)
    return any(left in group and right in group for group in ALIKE) or (left == right and left in ITSELF)


def comparison(printing: Printing, operator: str, left: Printed, right: Printed, position: int) -> Printed:
    """Return a comparison of two values."""
    left, right = printing.pair(left, right, position)
    if left.type == "xid" and right.type == "int4":
        right = Printed(right.text, "xid")
    if EQUAL_ONLY & {left.type, right.type} and operator not in EQUALITIES:
        if left.type in VECTORS:
            raise not_supported(f"the operator {operator} of {left.type} in a query on the catalog", position)
        raise SqlError("42883", f"operator does not exist: {left.type} {operator} {right.type}", position)
    if ARRAYS_FROM_0.keys() & {left.type, right.type}:
        raise not_supported("comparing an array made of a vector in a query on the catalog", position)
    if VECTORS.keys() & {left.type, right.type} and left.type != right.type:
        raise SqlError("42883", f"operator does not exist: {left.type} {operator} {right.type}", position)
    if is_alike(left.type, right.type):
        return Printed(f"({left.text} {operator} {right.text})", "bool")
    left, right = as_plain_oids(left), as_plain_oids(right)
    return ordinary.operation(printing, operator, (left, right), position, "")


def inside(printing: Printing, value: Printed, low: Printed, high: Printed, position: int) -> str:
    """Return whether a value is between two bounds."""
    first = comparison(printing, ">=", value, low, position)
    second = comparison(printing, "<=", value, high, position)
    return f"({first.text} AND {second.text})"


def distinctness(printing: Printing, node: Distinctness, left: Printed, right: Printed) -> Printed:
    """Return IS [NOT] DISTINCT FROM."""
    left, right = printing.pair(left, right, node.position)
    if is_alike(left.type, right.type):
        word = "IS NOT DISTINCT FROM" if node.negated else "IS DISTINCT FROM"
        return Printed(f"({left.text} {word} {right.text})", "bool")
    values = (as_plain_oids(left), as_plain_oids(right))
    return ordinary.ordinary(printing, values, lambda one, two: replace(node, left=one, right=two), node.position)


def nullif(printing: Printing, left: Printed, right: Printed, position: int) -> Printed:
    """Return NULLIF of two values."""
    left, right = printing.pair(left, right, position)
    if left.type != right.type and ordinary.is_ordinary(left.type) and ordinary.is_ordinary(right.type):

        def build(*nodes: Expression) -> Expression:
            return FunctionCall("nullif", nodes, position, "", "nullif")

        return ordinary.ordinary(printing, (left, right), build, position)
    equal = comparison(printing, "=", left, right, position)
    kind = "oid" if {left.type, right.type} & REGISTERED else left.type
    return Printed(f"(CASE WHEN {equal.text} THEN NULL ELSE {left.text} END)", kind)
