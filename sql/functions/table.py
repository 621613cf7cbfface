"""The table of all functions and operators: the rows of each family, and what is asked of all.

Enters: rows. Leaves: signatures by the names that clients write, rules by canonical names and
forms, and what `sql` knows of a canonical name. Aggregates have a table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sql.functions import (
    addresses,
    advisory_locks,
    arrays,
    bytes,
    catalog,
    comparisons,
    enums,
    intervals,
    json,
    mathematics,
    numbers,
    patterns,
    records,
    session,
    texts,
    times,
)
from sql.functions.aggregates import SCALED_AGGREGATES
from sql.functions.missing import missing
from sql.functions.printing import Rule
from sql.functions.rows import IMMUTABLE, Function, Kernel, Routine, of_family
from sql.functions.signatures import Signature
from sql.tree.expressions import Expression

FAMILIES = (
    *(comparisons.FUNCTIONS, numbers.FUNCTIONS, mathematics.FUNCTIONS, texts.FUNCTIONS, patterns.FUNCTIONS),
    *(bytes.FUNCTIONS, times.FUNCTIONS, intervals.FUNCTIONS, json.FUNCTIONS, arrays.FUNCTIONS, addresses.FUNCTIONS),
    *(enums.FUNCTIONS, records.FUNCTIONS, session.FUNCTIONS, advisory_locks.FUNCTIONS, catalog.FUNCTIONS),
)
ROWS: Mapping[str, Function] = {row.canonical: row for family in FAMILIES for row in family}
# Calls that the session answers, as they are in a tree.
OF_SESSION = frozenset(row.canonical for row in ROWS.values() if row.of_session)
WAITING = frozenset(row.canonical for row in ROWS.values() if row.waits)
ROUTINES: tuple[Routine, ...] = (
    *(routine for row in ROWS.values() for routine in row.routines.values()),
    *addresses.ROUTINES,
    *json.ROUTINES,
)
# Functions of ours that Spark has as well.
JAVA_ROUTINES = tuple(routine for row in ROWS.values() if row.java for routine in row.routines.values())
DUCKDB_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.duckdb_rules()
}
SPARK_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.spark_rules()
}


def _named(is_operator: bool, is_prefix: bool = False) -> dict[str, tuple[Signature, ...]]:
    """Return the overloads by the names that clients write, missing ones as well."""
    found: dict[str, list[Signature]] = {}
    for row in ROWS.values():
        for names, overload in row.named_overloads:
            for name in names:
                if is_symbol(name) == is_operator and (len(overload.arguments) == 1 or not is_prefix):
                    found.setdefault(name, []).append(overload)
    if is_operator and not is_prefix:
        found = {name: [one for one in overloads if len(one.arguments) == 2] for name, overloads in found.items()}
    return {name: (*overloads, *missing(name)) for name, overloads in found.items() if overloads}


def is_symbol(name: str) -> bool:
    """Tell whether a name is an operator's."""
    return not (name[0].isalpha() or name[0] == "_")


FUNCTIONS = _named(is_operator=False)
BINARY_OPERATORS = _named(is_operator=True)
PREFIX_OPERATORS = _named(is_operator=True, is_prefix=True)


def volatility(canonical: str) -> str:
    """Return how long the value of a function lasts; an aggregate's is immutable."""
    row = ROWS.get(canonical)
    return IMMUTABLE if row is None else row.volatility


def is_strict(canonical: str) -> bool:
    """Tell whether a function is NULL where an operand is."""
    row = ROWS.get(canonical)
    return row is not None and row.strict


def is_lazy(canonical: str) -> bool:
    """Tell whether a function evaluates later operands only where earlier ones do not decide."""
    row = ROWS.get(canonical)
    return row is not None and row.is_lazy


def can_fail(canonical: str) -> bool:
    """Tell whether a function may raise on operands that have values."""
    row = ROWS.get(canonical)
    return row is None or row.can_fail


def result_scale(canonical: str, operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the display scale of a numeric call's value."""
    row = ROWS.get(canonical)
    rule = SCALED_AGGREGATES.get(canonical) if row is None else row.scale
    return None if rule is None else rule(operands, position)


def kernel_of(canonical: str, family: str) -> Kernel | None:
    """Return the kernel of a function for the family of its first operand, if its row has one."""
    row = ROWS.get(canonical)
    found: Kernel | None = None if row is None else of_family(row.kernel, family)
    return found
